"""`markscheme research bench`: judges on public sets that people labelled."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.cli import AskedModels, Shown, command, opened
from markscheme.flags import Argument, Option
from markscheme_research.options import DataDir
from markscheme_research.papers import BenchOptions


@command("research bench", example="markscheme research bench nq301 --judge examiner")
def bench(
    names: Annotated[
        list[str],
        Argument(
            "Labelled sets: nq301, evouna-nq, evouna-tq, efficientqa, scientsbank, ...",
            metavar="SET...",
        ),
    ],
    options: BenchOptions,
    shown: Shown,
    models: AskedModels,
    data_dir: DataDir = None,
    judgments: Annotated[
        str | None,
        Option("File of judgments made elsewhere, matched by answer_id or by question and answer."),
    ] = None,
    replies: Annotated[
        Path | None,
        Option(
            "File of a model's raw replies (question, answer, reply); yes or no is read from each.",
            rare=True,
        ),
    ] = None,
    details: Annotated[
        Path | None,
        Option("Write every tagged answer to this file: .jsonl, .csv or .parquet.", output=True),
    ] = None,
    picture: Annotated[
        Path | None,
        Option(
            "Draw F1 by threshold to this file (.svg, .png, .pdf); requires --thresholds.",
            rare=True,
            output=True,
        ),
    ] = None,
) -> None:
    """Run judges on public sets with people's labels, and compare with the judges published there.

    Prints agreement with people, Kendall's tau of the systems' ranking, accuracy by system, failure
    modes and cost. Equal answers are judged once. Without --judge, --judgments and --replies: every
    built-in judge that needs no key, model or extra. Questions that shipped weights were trained on
    are left out.
    """
    from markscheme.errors import MarkschemeError
    from markscheme.results import check_ending
    from markscheme_research.papers import PICTURES
    from markscheme_research.papers import bench as run_bench

    # Judging may take hours and money: what is wrong with the files to write is found before it.
    if details is not None:
        check_ending(details, (".jsonl", ".json", ".csv", ".tsv", ".parquet"))
    if picture is not None:
        check_ending(picture, PICTURES)
        if not options.thresholds:
            raise MarkschemeError("--picture requires --thresholds")
    with opened(models) as asked:
        found = run_bench(
            names, options, judgments=judgments, replies=replies, data_dir=data_dir, models=asked
        )
    shown.show(found)
    if details is not None:
        shown.note(f"written to {found.write_verdicts(details)}")
    if picture is not None:
        shown.note(f"drawn in {found.write_picture(picture)}")
