"""`markscheme research reliability`: does a judge say the same thing twice?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from markscheme.cli import AskedModels, Shown, command, notes, opened
from markscheme.flags import CLEANING, JUDGE, Argument, Labels, Option
from markscheme_research.studies import ReliabilityOptions


@command(
    "research reliability",
    example="markscheme research reliability answers.jsonl --judge llm_grader --samples 3",
    reads_answers=True,
)
def reliability(
    files: Annotated[
        list[str],
        Argument(
            "Answers to judge several times; or, without --judge, judgments or folders of two or "
            "more existing runs.",
            metavar="FILE...",
        ),
    ],
    options: ReliabilityOptions,
    shown: Shown,
    models: AskedModels,
    judge: Annotated[str | None, replace(JUDGE, aliases=())] = None,
    runs: Annotated[
        Path | None,
        Option(
            "Folder for the runs; interrupted runs resume there. [default: runs/ and a name made "
            "from file and judge]"
        ),
    ] = None,
    labels: Labels = None,
) -> None:
    """Run a judge several times, or take existing runs, and measure how far they agree.

    Prints Cohen's kappa of verdicts and relations for every two runs and, with labels, the spread
    of F1 and accuracy; for the entailment judge also the agreement of statements (BLEU and
    identical ones) and of entailment tests (Yao & Barbosa 2024, appendix A.2, Tables 4 to 7).
    """
    from markscheme_research import studies

    if judge is None:
        found = studies.reliability(files, labels, options)
    else:
        from markscheme.cli import progress
        from markscheme.contract import parse_judge
        from markscheme.engine import default_folder
        from markscheme.tables import count_rows

        rows = None if shown.quiet else count_rows(files)
        total = rows and rows * options.repetitions
        with (
            progress("judging", total=total, quiet=shown.quiet) as advance,
            opened(models) as asked,
        ):
            # Not the folder of 'markscheme judge' on the same file, which is a run's own.
            once = default_folder(
                files, [parse_judge(judge)], CLEANING, asked,
                read=options.reading(columns=options.named),
            )  # fmt: skip
            found = studies.reliability(
                files, labels, options, judge=judge, models=asked, on_progress=advance,
                folder=runs or once.with_name(f"{once.name}-repeated"),
            )  # fmt: skip
        shown.note(f"language models: {asked.budget.spending}")
    for note in found.notes:
        notes.print(note, markup=False)
    shown.show(found)
