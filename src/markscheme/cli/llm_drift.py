"""`markscheme llm drift`: anchors judged again, and an alarm when a model judges otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markscheme.agreement import DriftOptions
from markscheme.cli.models import AskedModels, opened
from markscheme.cli.options import Shown, command
from markscheme.flags import Argument, Judges, Option


@command(
    "llm drift",
    example="markscheme llm drift anchors.jsonl -j llm_grader -m gpt-4o-mini --every 7",
)
def drift(
    file: Annotated[str, Argument("Anchors: a fixed file of answers, preferably with labels.")],
    options: DriftOptions,
    models: AskedModels,
    shown: Shown,
    judge: Judges = (),
    checks: Annotated[
        Path | None, Option("Folder of the checks. [default: runs/drift-FILE]")
    ] = None,
) -> None:
    """Judge the same answers again, and test whether the model judges as before.

    Each check calls the model again and stores its replies in the folder of checks; the table
    compares every check with those before it. Exits with code 1 if a judge's last check differs
    from them, or was cut off by a budget. With --every DAYS it can precede each run, or be a daily
    job: no model is called while the last check is recent.
    """
    from markscheme import agreement
    from markscheme.cli.progress_bar import progress

    with (
        progress("judging", total=None, quiet=shown.quiet) as advance,
        opened(models, advance) as asked,
    ):
        found = agreement.drift(
            file, options, judges=judge, models=asked, folder=checks, on_progress=advance
        )
        shown.note(f"language models: {asked.budget.spending}")
    shown.show(found)
    if found.alarm or not found.complete:
        raise typer.Exit(1)
