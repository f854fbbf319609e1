"""`markscheme research tune-judge`: the judge that agrees best with people, for its price."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.cli import Shown, command, opened
from markscheme.flags import Argument, Judges, Labels, Option
from markscheme.models import ModelOptions
from markscheme_research.studies import TuneOptions


@command(
    "research tune-judge",
    example="markscheme research tune-judge labelled.jsonl -j llm_grader -j llm_evouna "
    "-m gpt-4o-mini --try-samples 1,5 --max-cost 5 --dry-run",
    reads_answers=True,
)
def tune_judge(
    file: Annotated[str, Argument("Answers that people have labelled.")],
    options: TuneOptions,
    models: ModelOptions,
    shown: Shown,
    judge: Judges = (),
    labels: Labels = None,
    chart: Annotated[
        Path | None,
        Option(
            "Draw agreement by price to this file: .svg, .html, .png or .json (extra report).",
            output=True,
        ),
    ] = None,
    save_map: Annotated[
        Path | None,
        Option(
            'Write the calibration map to this file, for calibrated(base=..., map="FILE").',
            output=True,
        ),
    ] = None,
) -> None:
    """Choose a judge's wording, examples, model, samples and threshold; report on unseen questions.

    Candidates are the --judge options, with each model and number of samples. They are compared by
    successive halving on a share of the questions: all on a few, the better half on twice as many,
    and so on. Figures are for the other questions, which no choice has seen, with intervals that
    hold for all finalists together. --max-cost and --max-calls end the search early enough for the
    report; replies are stored in the ledger, so the same command resumes where it stopped.
    """
    from markscheme.cli import progress
    from markscheme.results import check_ending
    from markscheme_research import studies

    if chart is not None:
        check_ending(chart, studies.CHARTS)
    with (
        progress("judging", total=None, quiet=shown.quiet or models.dry_run) as advance,
        opened(models, advance) as asked,
    ):
        found = studies.tune_judge(
            file, labels, options, judges=judge, models=asked, on_progress=advance
        )
        shown.note(f"language models: {asked.budget.spending}")
    shown.show(found)
    if save_map is not None and not models.dry_run:
        name = found.save_map(save_map)
        shown.note(f"judge: {name}")
    if chart is not None and not models.dry_run:
        shown.note(f"chart written to {found.save_chart(chart)}")
