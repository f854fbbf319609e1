"""`markscheme research probe`: what moves a judge's verdict that should not."""

from __future__ import annotations

from typing import Annotated

from markscheme.cli import AskedModels, Files, Shown, command, opened
from markscheme.flags import Argument
from markscheme_research.studies import ProbeOptions


@command(
    "research probe", example="markscheme research probe contains answers.jsonl", reads_answers=True
)
def probe(
    judge: Annotated[str, Argument("The judge, such as examiner or llm_grader.")],
    files: Files,
    options: ProbeOptions,
    shown: Shown,
    models: AskedModels,
) -> None:
    """Change answers in ways that should not matter, and count the verdicts that flip.

    Padding, politeness, capitals, a lead-in, a system's name, an instruction to the judge, the
    order of sentences and of references: none of these changes what an answer says.
    """
    from markscheme.cli import progress
    from markscheme_research.studies import probe as run_probes

    with (
        progress("probing", total=None, quiet=shown.quiet) as advance,
        opened(models, advance) as asked,
    ):
        found = run_probes(judge, files, options, models=asked, on_progress=advance)
    shown.show(found)
