"""`markscheme statements`: questions and answers as statements, and how good the statements are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markscheme.cli import model_options
from markscheme.cli.app import app, console, notes

if TYPE_CHECKING:
    import polars as pl

    from markscheme.metrics import Nearness

GOLD = ("statement", "turker_answer", "gold_statement", "declarative")
"""Columns that hold people's statements; `turker_answer` is QA2D's."""

PAPER = (
    ("GPT-3.5, two examples", (0.725, 0.925, 0.835, 0.858)),
    ("QA2D-t5-base", (0.727, 0.901, 0.824, 0.858)),
)
"""Yao & Barbosa 2024, Table 8, on the 10,344 pairs of QA2D's development part."""

SHOWN = 12
WRITERS = (".jsonl", ".csv", ".tsv", ".parquet")


@app.command("statements")
def statements(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Questions and answers (JSONL, JSON, CSV, TSV, Parquet): a file of answers, or "
            "one like QA2D with people's statements.",
        ),
    ],
    makers: Annotated[
        list[str] | None,
        typer.Option(
            "--maker",
            help="rules, chat (needs --model) or seq2seq:NAME_OR_FOLDER; several may be given. "
            "[default: rules]",
        ),
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(
            help="People's statements to compare with: a column of FILE, or another file with "
            "question, answer and statement. [default: a column statement or turker_answer]"
        ),
    ] = None,
    references: Annotated[
        bool, typer.Option("--references", help="Make statements of the references too.")
    ] = False,
    columns: Annotated[
        str, typer.Option(help="Columns with unusual names: question=q,answer=pred.")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write every statement: .jsonl, .csv, .tsv or .parquet."),
    ] = None,
    model: model_options.Model = None,
    model_revision: model_options.Revision = "",
    base_url: model_options.BaseUrl = None,
    api_key_env: model_options.ApiKeyEnv = "OPENAI_API_KEY",
    ledger: model_options.LedgerPlace = None,
    concurrency: model_options.Concurrency = 16,
    timeout: model_options.Timeout = 120.0,
    max_cost: model_options.MaxCost = None,
    max_calls: model_options.MaxCalls = None,
    replay: model_options.Replay = False,
) -> None:
    """Turn question-answer pairs into statements; compare makers with people's statements.

    With people's statements at hand, prints BLEU and ROUGE of every maker (Yao & Barbosa 2024,
    Table 8); without, some of the statements. What could not be made has a status and is counted.
    """
    import polars as pl

    from markscheme.judges.entailment import statement_maker

    chosen = {name: statement_maker(name) for name in dict.fromkeys(makers or ["rules"])}
    _check_ending(out)
    pairs = _read(file, gold=gold, columns=columns, references=references)
    models = model_options.open_models(
        model=model,
        revision=model_revision,
        base_url=base_url,
        api_key_env=api_key_env,
        ledger=ledger,
        server={"concurrency": concurrency, "timeout": timeout},
        max_cost=max_cost,
        max_calls=max_calls,
        replay=replay,
    )
    made = {name: maker.make(pairs, models) for name, maker in chosen.items()}
    models.close()
    if out is not None:
        named = [
            table.select(*pairs.columns, pl.lit(name).alias("maker"), *_OUTCOME)
            for name, table in made.items()
        ]
        _write(pl.concat(named), out)
        notes.print(f"written to {out}", markup=False)
    if "gold" in pairs.columns:
        _compare(made)
    else:
        _show(made)
    _count(made)


_OUTCOME = ("statement", "status", "reason", "raw")


def _read(file: str, *, gold: str | None, columns: str, references: bool) -> pl.DataFrame:
    """Question, answer and, where there are any, people's statements as `gold`."""
    import polars as pl

    from markscheme.errors import DataError
    from markscheme.options import parse_columns
    from markscheme.tables import read_table, renamed

    table = read_table(file)
    own = gold if gold in table.columns else None
    if own is None and gold is None:
        own = next((name for name in GOLD if name in table.columns), None)
    if own is not None:
        table = table.rename({own: "gold"} if own != "gold" else {})
    wanted = ("question", "answer")
    mapping = parse_columns(columns)
    table = renamed(table, mapping, wanted, keep=("gold",))
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise DataError(
            f"{file} has no column for {' and '.join(missing)}; its columns are "
            f"{', '.join(table.columns)}. Say which it is with --columns {missing[0]}=NAME"
        )
    kept = [name for name in ("answer_id", "id", "system") if name in table.columns]
    with_gold = ["gold"] if own is not None else []
    pairs = table.select(pl.col(*wanted, *with_gold).cast(pl.String), *kept)
    if references or (gold is not None and own is None):
        pairs = pl.concat([pairs, _references(file, columns)], how="diagonal_relaxed")
    if gold is None or own is not None:
        return pairs
    return _with_gold(pairs, gold)


def _references(file: str, columns: str) -> pl.DataFrame:
    """Every different question and reference, as question and answer; none without references."""
    import polars as pl

    from markscheme.cli.reading import read_options
    from markscheme.errors import DataError
    from markscheme.tables import read_answers

    try:
        answers = read_answers(file, options=read_options(columns=columns))
    except DataError:
        return pl.DataFrame(schema={"question": pl.String, "answer": pl.String})
    return (
        answers.select("question", answer="references")
        .explode("answer")
        .drop_nulls()
        .unique(maintain_order=True)
    )


def _with_gold(pairs: pl.DataFrame, gold: str) -> pl.DataFrame:
    """The pairs of which another file has people's statements.

    Raises:
        DataError: `gold` is neither a column nor a file, or none of the pairs is in it.
    """
    from markscheme.errors import DataError

    if not Path(gold).is_file():
        raise DataError(
            f"--gold {gold!r} is neither a column of the file nor another file; columns that are "
            f"known without being named: {', '.join(GOLD)}"
        )
    people = _read(gold, gold=None, columns="", references=False)
    if "gold" not in people.columns:
        raise DataError(f"{gold} has no column with statements, such as {', '.join(GOLD)}")
    people = people.select("question", "answer", "gold").unique(
        ["question", "answer"], keep="first", maintain_order=True
    )
    found = pairs.unique(["question", "answer"], keep="first", maintain_order=True).join(
        people, on=["question", "answer"], how="inner", maintain_order="left"
    )
    if found.is_empty():
        raise DataError(f"none of the questions and answers of the file is in {gold}")
    return found


def _compare(made: dict[str, pl.DataFrame]) -> None:
    from markscheme.metrics import nearness
    from markscheme.results import Table

    figures = {name: nearness(table["statement"], table["gold"]) for name, table in made.items()}
    rows = [_figures(name, one) for name, one in figures.items()]
    rows += [
        (f"{name} (paper)", *(f"{100 * value:.1f}" for value in values), "-", "-")
        for name, values in PAPER
    ]
    pairs = next(iter(figures.values())).pairs
    header = ("maker", "BLEU", "ROUGE-1", "ROUGE-2", "ROUGE-L", "same", "not made")
    table = Table(
        title=f"Statements beside people's, {pairs:,} pairs, in per cent",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[1:]),
    )
    console.print(table.rich())
    console.print(
        "BLEU of the whole set as sacrebleu has it; ROUGE: mean F-measure without stemming; same: "
        "equal but for case, marks and articles. A statement not made counts as empty.\n"
        "paper: Yao & Barbosa 2024, Table 8, measured on QA2D's 10,344 development pairs; only "
        "figures on those pairs compare.\n",
        markup=False,
        soft_wrap=True,
    )


def _figures(name: str, found: Nearness) -> tuple[str, ...]:
    shares = (found.bleu, found.rouge1, found.rouge2, found.rouge_l, found.exact)
    return (name, *(f"{100 * value:.1f}" for value in shares), f"{found.missing:,}")


def _show(made: dict[str, pl.DataFrame]) -> None:
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


def _count(made: dict[str, pl.DataFrame]) -> None:
    for name, table in made.items():
        counts = dict(table["status"].value_counts(sort=True).iter_rows())
        done = counts.pop("judged", 0)
        rest = "".join(f", {count:,} {status}" for status, count in counts.items())
        console.print(f"{name}: {done:,} of {table.height:,} statements made{rest}", markup=False)


def _check_ending(out: Path | None) -> None:
    from markscheme.errors import MarkschemeError

    if out is not None and out.suffix.lower() not in WRITERS:
        raise MarkschemeError(
            f"--out {str(out)!r}: the endings are {', '.join(WRITERS)}, not {out.suffix!r}"
        )


def _write(table: pl.DataFrame, out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    ending = out.suffix.lower()
    if ending == ".jsonl":
        table.write_ndjson(out)
    elif ending == ".parquet":
        table.write_parquet(out)
    else:
        table.write_csv(out, separator="\t" if ending == ".tsv" else ",")
