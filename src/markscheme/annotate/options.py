"""Options of a labelling project: how it is made or opened, and how its labels are exported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from markscheme.errors import DataError
from markscheme.flags import (
    JUDGE,
    Argument,
    Default,
    Option,
    PositiveFrom,
    Seed,
    Title,
)
from markscheme.tables import FileOptions

ScaleName = Literal["verdict", "relation", "grade", "rank"]
"""What annotators may say."""
References = Literal["shown", "on-request", "hidden"]
"""Whether annotators see the references; `on-request` is one key away."""
Order = Literal["shuffled", "by-question", "file"]
"""In which order items come."""
Kind = Literal["labels", "ratings", "training", "gold", "audit"]
"""What is exported."""
ACCEPTED = ("superior", "equivalent")
"""Relations that count as acceptable."""
CHANGEABLE = ("guidelines", "references", "title", "gold_every", "per_item", "adjudicate")
"""Settings that a project can change later."""


def read_guidelines(path: str) -> str:
    """The text of a file of guidelines.

    Raises:
        DataError: it cannot be read.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the guidelines {path} cannot be read: {error}") from None


@dataclass(frozen=True, kw_only=True)
class AnnotateOptions(FileOptions):
    """How a project is made from a file, or opened.

    Settings that are None are the project's own, or the usual ones of a new project. Files are read
    as the fields of `FileOptions` say.

    Attributes:
        file: answers to label, or the folder of a run; None opens an existing project.
        annotators: names.
        adjudicators: names; none: an annotator who has not seen the item.
        scale: what annotators may say.
        per_item: annotators per item; of a new project 1, or 2 where several are named.
        adjudicate: whether a third person resolves disagreements.
        references: whether annotators see them.
        order: of the items: `shuffled`, `by-question` (questions shuffled, their answers together),
            or as in the `file`.
        guidelines: the text that annotators read.
        relabel: whether answers that have a label in the file are shown too, for a second opinion:
            their labels are then not exported. Otherwise they are shown to nobody, and exported.
        gold: file of answers with known labels to mix in.
        gold_every: one known item after this many others.
        suggest: run whose judgments are shown after a person's own verdict.
        scores: run whose judge's scores narrow the running estimate; nobody is shown them.
        judge: which of its judges, for both.
        title: shown on every page.
        seed: of the order; 0 leaves an existing project as it is.
        new_links: whether everybody gets a new link; old ones stop working.
    """

    file: Annotated[
        str | None,
        Argument(
            "File of answers to label, as plan-labels writes it, or a run. Not needed to continue "
            "a project.",
            metavar="FILE",
        ),
    ] = None
    annotators: Annotated[
        tuple[str, ...], Option("An annotator's name; repeatable.", ("--annotator", "-a"))
    ] = ()
    adjudicators: Annotated[
        tuple[str, ...],
        Option(
            "Name of a person who resolves disagreements; repeatable. "
            "[default: an annotator who has not seen the item]",
            ("--adjudicator",),
            rare=True,
        ),
    ] = ()
    scale: Annotated[
        ScaleName | None,
        Option(
            "verdict: correct or not. relation: superior, equivalent, inferior, incorrect. "
            "grade: 1 to 5. rank: the answers to a question in order. "
            "[default: verdict]"
        ),
    ] = None
    per_item: Annotated[
        int | None,
        Option(
            "Annotators per item; can change later. [default: 1; 2 where several are named]",
            minimum=1,
        ),
    ] = None
    adjudicate: Annotated[
        bool | None,
        Option("Have a third person resolve disagreements. [default: adjudicate]", rare=True),
    ] = None
    references: Annotated[
        References | None,
        Option(
            "Whether annotators see the references: shown, on-request (at a key), or hidden. "
            "[default: on-request]",
            ("--show-references",),
            aliases=("--references",),
            rare=True,
        ),
    ] = None
    order: Annotated[
        Order | None,
        Option(
            "Order of the items: shuffled; by-question (answers to one question together); "
            "file (as in FILE). [default: shuffled]",
            rare=True,
        ),
    ] = None
    guidelines: Annotated[
        str | None,
        Option(
            "File with your own guidelines: '# heading', '- point', paragraphs.",
            parse=read_guidelines,
            metavar="PATH",
        ),
    ] = None
    relabel: Annotated[
        bool,
        Option(
            "Also show the answers that have a label in FILE, for a second opinion, and export "
            "only the new labels.",
            rare=True,
        ),
    ] = False
    gold: Annotated[
        str | None,
        Option("File of answers with known labels, mixed in to check the annotators.", rare=True),
    ] = None
    gold_every: Annotated[
        int | None,
        Option("Number of items between two gold items. [default: 10]", minimum=1, rare=True),
    ] = None
    suggest: Annotated[
        str | None,
        Option(
            "Run whose judge's verdict is shown after an annotator's own, if it differs.",
            metavar="RUN",
            rare=True,
        ),
    ] = None
    scores: Annotated[
        str | None,
        Option(
            "Run whose judge's scores make the running estimate narrower; annotators do not see "
            "them.",
            metavar="RUN",
            rare=True,
        ),
    ] = None
    judge: Annotated[str | None, JUDGE, Default("the only one of that run")] = None
    title: Title = None
    seed: Seed = 0
    new_links: Annotated[
        bool, Option("Make new links for everybody; old ones stop working.", rare=True)
    ] = False

    @property
    def settings(self) -> Mapping[str, Any]:
        """Those of a project that were requested."""
        found = {name: getattr(self, name) for name in (*CHANGEABLE, "scale", "order")}
        return {n: v for n, v in (found | {"seed": self.seed or None}).items() if v is not None}


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """How labels become verdicts where a verdict is needed.

    Attributes:
        positive_from: grade from which an answer is acceptable.
        accept: relations that count as acceptable.
    """

    positive_from: PositiveFrom = None
    accept: Annotated[
        tuple[str, ...], Option("Comma-separated relations that count as acceptable.", split=True)
    ] = ACCEPTED
