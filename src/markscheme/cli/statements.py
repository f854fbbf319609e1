"""`markscheme statements`: questions and answers as statements, and how good the statements are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from markscheme.cli.app import console, notes
from markscheme.cli.models import AskedModels, opened
from markscheme.cli.options import Out, Shown, command
from markscheme.cli.output import Format
from markscheme.options import Argument, Columns, Fields, Option

if TYPE_CHECKING:
    import polars as pl

SHOWN = 12


@command("statements")
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
            "rules, chat (needs --model) or seq2seq:NAME_OR_FOLDER; several may be given.",
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
    references: Annotated[bool, Option("Make statements of the references too.")] = False,
    out: Out = None,
) -> None:
    """Turn question-answer pairs into statements; compare makers with people's statements.

    With people's statements at hand, prints BLEU and ROUGE of every maker (Yao & Barbosa 2024,
    Table 8); without, some of the statements. What could not be made has a status and is counted.
    """
    from markscheme.analysis import check_ending, make_statements

    if out is not None:
        check_ending(out)
    with opened(models) as asked:
        found = make_statements(
            file, makers, gold=gold, references=references, columns=columns, models=asked
        )
    if out is not None:
        notes.print(f"written to {found.write(out)}", markup=False)
    if shown.format is not Format.TABLE:
        shown.show(found)
        return
    for table in found.tables:
        console.print(table.rich())
        for note in table.notes:
            console.print(note, markup=False, soft_wrap=True)
        console.print()
    if not found.tables:
        _show(found.made)
    for name, counts in found.counts.items():
        _count(name, dict(counts))


def _show(made: Mapping[str, pl.DataFrame]) -> None:
    """Some pairs, each with every maker's statement."""
    first = next(iter(made.values()))
    for place, (question, answer) in enumerate(
        first.select("question", "answer").head(SHOWN).iter_rows()
    ):
        console.print(f"{question}  |  {answer}", markup=False, soft_wrap=True, style="dim")
        for name, table in made.items():
            row = table.row(place, named=True)
            said = row["statement"] or f"[{row['status']}: {row['reason']}]"
            lead = f"{name}: " if len(made) > 1 else ""
            console.print(f"  {lead}{said}", markup=False, soft_wrap=True)
    if first.height > SHOWN:
        console.print(
            f"... and {first.height - SHOWN:,} more; --out FILE writes all of them\n",
            markup=False,
        )


def _count(name: str, counts: dict[str, int]) -> None:
    total = sum(counts.values())
    done = counts.pop("judged", 0)
    rest = "".join(f", {count:,} {status}" for status, count in counts.items())
    console.print(f"{name}: {done:,} of {total:,} statements made{rest}", markup=False)
