"""Options of studies of lists."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from markscheme.flags import Columns, Option
from markscheme_research.options import DRAWN, DRAWS, DataDir, Part


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Which answers and which draws of references are studied.

    Attributes:
        draws: draws of reference lists.
        protocol: `rest`: drawn references leave the candidates; `butref`: only the first of each
            list does, which leaks the others.
        questions: only so many questions, at random; None for all.
        per_question: only so many answers of each question; None for all.
        part: of ANTIQUE.
        columns: columns with unusual names, ours to the file's.
        data_dir: folder with the datasets.
    """

    draws: Annotated[int, DRAWS] = 1
    protocol: Annotated[
        Literal["rest", "butref"],
        DRAWN,
    ] = "rest"
    questions: Annotated[
        int | None,
        Option("Use only this many questions, drawn at random, for a quick trial.", minimum=1),
    ] = None
    per_question: Annotated[
        int | None,
        Option(
            "Use only this many answers per question.",
            ("--answers-per-question",),
            aliases=("--per-question",),
            minimum=1,
        ),
    ] = None
    part: Part = "auto"
    columns: Columns = field(default_factory=dict)
    data_dir: DataDir = None
