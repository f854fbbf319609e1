"""`markscheme research study`: how judges by graded lists behave, against people's grades."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from markscheme.cli import AskedModels, Shown, command, group, notes, opened
from markscheme.flags import Default, Fields, Judges, Option
from markscheme.models import ModelOptions
from markscheme_research.lists import StudyOptions
from markscheme_research.options import Composition, Graded

if TYPE_CHECKING:
    from markscheme_research.lists import Setup

group(
    "research study",
    "Judges of non-factoid answers against people's grades: lists, draws, shots, order, cost.",
)

Three = Annotated[StudyOptions, Fields(defaults={"draws": 3})]
"""The options of studies of the draw, where one draw would show nothing."""
Compositions = Annotated[tuple[str, ...], Composition, Default("the paper's")]


@contextmanager
def _setup(
    data: str, judges: Sequence[str], options: StudyOptions, models: ModelOptions
) -> Iterator[Setup]:
    from markscheme_research.lists import open_study

    with opened(models) as asked:
        yield open_study(data, judges, options, models=asked)


@command("research study lists", example="markscheme research study lists antique")
def lists(
    data: Graded,
    options: Three,
    shown: Shown,
    models: AskedModels,
    judges: Annotated[Judges, Default("listwise_examiner")] = (),
    composition: Compositions = (),
) -> None:
    """Compare lengths and compositions of the reference list, and judges (Yang et al., Table 6).

    Every list is tried on the same answers: those that any list uses as a reference are left out
    for all.
    """
    from markscheme_research.lists import study_lists

    def done(what: str) -> None:
        notes.print(f"{what}: done", markup=False)

    with _setup(data, judges or ("listwise_examiner",), options, models) as setup:
        shown.show(study_lists(setup, composition, on_done=done))


@command("research study seeds", example="markscheme research study seeds antique")
def seeds(
    data: Graded,
    options: Three,
    shown: Shown,
    models: AskedModels,
    judges: Annotated[Judges, Default("listwise_examiner")] = (),
    composition: Annotated[str | None, Composition, Default("the paper's")] = None,
) -> None:
    """Measure how much the draw of references matters: Spearman, mean, SD (Tables 9 and 10)."""
    from markscheme_research.lists import study_seeds

    with _setup(data, judges or ("listwise_examiner",), options, models) as setup:
        shown.show(study_seeds(setup, composition))


@command("research study shots", example="markscheme research study shots antique")
def shots_study(
    data: Graded,
    options: StudyOptions,
    shown: Shown,
    models: AskedModels,
    judges: Annotated[Judges, Default("listwise")] = (),
    shots: Annotated[
        tuple[int, ...],
        Option("Number of solved examples to try; repeatable. [default: 0 1 3 5]", minimum=0),
    ] = (),
    composition: Annotated[str | None, Composition, Default("the paper's")] = None,
) -> None:
    """Measure the effect of solved examples (Tables 7 and 8), for judges that take some: listwise.

    Questions that examples come from are not judged, not even with 0 shots.
    """
    from markscheme_research.lists import study_shots

    with _setup(data, judges or ("listwise",), options, models) as setup:
        shown.show(study_shots(setup, composition, shots))


@command("research study order", example="markscheme research study order antique")
def order(
    data: Graded,
    options: StudyOptions,
    shown: Shown,
    models: AskedModels,
    judges: Annotated[Judges, Default("listwise_examiner")] = (),
    composition: Annotated[str | None, Composition, Default("the paper's")] = None,
) -> None:
    """Measure position bias: whether an answer's score changes with the order of the list.

    listwise and pointwise: order stated (best first), not stated, reversed, shuffled. pairwise: the
    answer first, then last. Other judges: the columns of references reversed and shuffled.
    """
    from markscheme_research.lists import study_order

    with _setup(data, judges or ("listwise_examiner",), options, models) as setup:
        shown.show(study_order(setup, composition))


@command("research study cost", example="markscheme research study cost antique")
def cost(
    data: Graded,
    options: StudyOptions,
    shown: Shown,
    models: AskedModels,
    judges: Judges = (
        "listwise",
        "pairwise",
        "pointwise",
        "pointwise(references=hidden)",
        "listwise_examiner",
    ),
    composition: Annotated[str | None, Composition, Default("the paper's")] = None,
) -> None:
    """Measure calls, tokens, cost and time per answer of each approach, on the same answers.

    Default judges: listwise, pairwise, pointwise with and without the list, listwise_examiner.
    """
    from markscheme_research.lists import study_cost

    with _setup(data, judges, options, models) as setup:
        shown.show(study_cost(setup, composition))
