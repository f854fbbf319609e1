"""`markscheme research statements`: questions and answers as statements, and how good these are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from markscheme.cli import AskedModels, Out, Shown, command, console, notes, opened
from markscheme.flags import Argument, Columns, Fields, Option

if TYPE_CHECKING:
    from markscheme_research.studies import StatementsResult

SHOWN = 12


@command("research statements", example="markscheme research statements answers.jsonl")
def statements(
    file: Annotated[
        str,
        Argument(
            "Questions and answers (JSONL, JSON, CSV, TSV, Parquet): a file of answers, or one "
            "like QA2D with people's statements.",
            metavar="FILE",
        ),
    ],
    columns: Columns,
    models: AskedModels,
    shown: Annotated[Shown, Fields(only=("format",))],
    makers: Annotated[
        tuple[str, ...],
        Option(
            "rules, chat (requires --model) or seq2seq:NAME_OR_FOLDER; several may be given.",
            ("--maker",),
        ),
    ] = ("rules",),
    gold: Annotated[
        str | None,
        Option(
            "People's statements to compare with: a column of FILE, or another file with "
            "question, answer and statement. [default: a column statement or turker_answer]",
            ("--gold-statements",),
            aliases=("--gold",),
        ),
    ] = None,
    references: Annotated[bool, Option("Also make statements of the references.")] = False,
    out: Out = None,
) -> None:
    """Turn question-answer pairs into statements, and compare them with people's statements.

    With people's statements, prints BLEU and ROUGE of every maker (Yao & Barbosa 2024, Table 8);
    without, some of the statements. Statements that could not be made are counted by status.
    """
    from markscheme.results import check_ending
    from markscheme_research.studies import WRITERS, make_statements

    if out is not None:
        check_ending(out, WRITERS)
    with opened(models) as asked:
        found = make_statements(
            file, makers, gold=gold, references=references, columns=columns, models=asked
        )
    if out is not None:
        notes.print(f"written to {found.write(out)}", markup=False)
    if shown.format != "table":
        shown.show(found)
        return
    for table in found.tables:
        console.print(table.rich())
        for note in table.notes:
            console.print(note, markup=False, soft_wrap=True)
        console.print()
    if not found.tables:
        _print_some(found)
    for line in found.outcomes:
        console.print(line, markup=False)


def _print_some(found: StatementsResult) -> None:
    for pair, statements in found.excerpt(SHOWN):
        console.print(pair, markup=False, soft_wrap=True, style="dim")
        for statement in statements:
            console.print(f"  {statement}", markup=False, soft_wrap=True)
    if found.pairs > SHOWN:
        console.print(
            f"... and {found.pairs - SHOWN:,} more; --out FILE writes all of them\n", markup=False
        )
