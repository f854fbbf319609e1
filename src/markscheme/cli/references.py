"""`markscheme references`: lists of references of several grades, written, drawn, stored, used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markscheme.cli import model_options
from markscheme.cli.app import app, console, notes

if TYPE_CHECKING:
    import polars as pl

    from markscheme.analysis import Material

references = typer.Typer(help="Lists of graded references.", no_args_is_help=True)
app.add_typer(references, name="references")

Out = Annotated[Path, typer.Option("--out", "-o", help="File to write (JSONL).")]
Columns = Annotated[
    str, typer.Option(help="Columns with unusual names: question=q,references=gold.")
]
Seed = Annotated[int, typer.Option(help="Of whatever is chosen at random.")]
Graded = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="antique, trec-dl-nf, webglm, or a file with question, answer and a grade in label.",
    ),
]
DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Folder with the datasets.")]


@references.callback()
def group() -> None:
    """Lists of graded references: build, draw, apply, and solved examples (shots)."""


@references.command("build")
def build(
    questions: Annotated[
        str,
        typer.Argument(
            metavar="QUESTIONS", help="A file; the first reference, if any, is the golden answer."
        ),
    ],
    out: Out,
    model: model_options.Model = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--also", help="A further model for the worse references; may be repeated."),
    ] = None,
    composition: Annotated[
        str, typer.Option("--composition", "-c", help="A digit a reference, 3 (best) to 0.")
    ] = "3210",
    examples: Annotated[
        str | None,
        typer.Option(help="Lists of other questions to show: what is a 2, a 1, a 0?"),
    ] = None,
    show: Annotated[int, typer.Option(min=1, help="How many of them.")] = 3,
    max_tokens: Annotated[int, typer.Option(min=1, help="Of one reference.")] = 300,
    seed: Seed = 0,
    columns: Columns = "",
    base_url: model_options.BaseUrl = None,
    api_key_env: model_options.ApiKeyEnv = "OPENAI_API_KEY",
    ledger: model_options.LedgerPlace = None,
    max_calls: model_options.MaxCalls = None,
    max_cost: model_options.MaxCost = None,
) -> None:
    """Have chat models write a list of references for each question, once and for all.

    The golden answer is written anew, so that all are of one style (or written, where there is
    none), then worse ones by named techniques, spread over the models. A line a question, with
    grades, techniques, models and a version; 'references apply' puts the lists beside answers.
    """
    from markscheme.analysis import read_loosely
    from markscheme.judges.listwise import build_lists, read_lists
    from markscheme.options import parse_columns
    from markscheme.tables import write_table

    models = model_options.open_models(
        model=model, base_url=base_url, api_key_env=api_key_env, ledger=ledger,
        max_calls=max_calls, max_cost=max_cost,
    )  # fmt: skip
    try:
        chats = [models.chat(), *(models.chat(name) for name in also or ())]
        shown = read_lists(examples)[:show] if examples is not None else []
        table = build_lists(
            read_loosely(questions, parse_columns(columns)),
            chats,
            composition=composition,
            seed=seed,
            examples=shown,
            max_tokens=max_tokens,
        )
    finally:
        models.close()
    write_table(table, out)
    good = int((table["status"] == "ok").sum())
    console.print(f"{good} of {table.height} lists complete: {out}", markup=False, soft_wrap=True)
    for (status,), part in table.filter(table["status"] != "ok").group_by("status"):
        console.print(f"  {part.height} not complete: {status}", markup=False)
    notes.print(f"language models: {models.budget.spending}", markup=False)


@references.command("draw")
def draw(
    data: Graded,
    out: Out,
    composition: Annotated[
        str | None,
        typer.Option("--composition", "-c", help="Such as 33221100; top, none. [default: usual]"),
    ] = None,
    butref: Annotated[
        bool, typer.Option("--butref", help="Leave references among the candidates (leaks).")
    ] = False,
    seed: Seed = 0,
    columns: Columns = "",
    data_dir: DataDir = None,
) -> None:
    """Draw references out of graded answers; the rest, with these lists, are to be judged.

    The file is one of answers, for 'markscheme judge' and 'agree'. The order is random.
    """
    from markscheme.agreement import Draw
    from markscheme.tables import content_ids, write_answers

    material = _material(data, columns, data_dir)
    made = composition or material.usual
    rule = "butref" if butref else "rest"
    table = material.table(Draw(composition=made, seed=seed, protocol=rule))  # type: ignore[arg-type]
    write_answers(table.with_columns(answer_id=content_ids(table)).unique(
        "answer_id", maintain_order=True), out)  # fmt: skip
    many = table["question"].n_unique()
    lengths = table["references"].list.len().to_list()
    console.print(
        f"{table.height:,} answers to {many:,} questions, lists of {min(lengths)} to "
        f"{max(lengths)} references ({made}, {rule}, seed {seed}): {out}",
        markup=False,
        soft_wrap=True,
    )


@references.command("shots")
def shots(
    data: Graded,
    out: Out,
    count: Annotated[int, typer.Option(min=1, max=64, help="How many examples.")] = 3,
    composition: Annotated[
        str | None, typer.Option("--composition", "-c", help="Of their lists. [default: usual]")
    ] = None,
    apart: Annotated[
        list[str] | None,
        typer.Option(
            help="What is to be judged: its questions are not taken. A file or a dataset; may be "
            "repeated."
        ),
    ] = None,
    seed: Seed = 0,
    columns: Columns = "",
    data_dir: DataDir = None,
) -> None:
    """Choose solved examples for listwise: question, list, answer, and the rank people give it.

    Each comes from a question of its own, and grades take turns, so that no rank is favoured. Use
    them with listwise(examples='FILE'), which refuses examples of a question that it judges.
    """
    from markscheme.agreement import Draw
    from markscheme.errors import DataError
    from markscheme.judges.listwise import solved_examples
    from markscheme.text import normalise_series

    material = _material(data, columns, data_dir)
    table = material.table(Draw(composition=composition or material.usual, seed=seed))
    plain = normalise_series(table["question"])
    for other in apart or ():
        theirs = _questions(other, columns, data_dir)
        keep = ~plain.is_in(normalise_series(theirs).implode())
        table, plain = table.filter(keep), plain.filter(keep)
    if table.is_empty():
        raise DataError(f"every question of {data} is among those of --apart; nothing to choose")
    chosen = solved_examples(table, count=count, seed=seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    chosen.write_ndjson(out)
    for row in chosen.iter_rows(named=True):
        places = len(row["references"]) + 1
        console.print(f"rank {row['rank']} of {places}  {row['question']}", markup=False)
    console.print(
        f"{chosen.height} examples: {out}; use them as listwise(examples='{out}'), on other "
        f"questions ({table['question'].n_unique() - chosen.height:,} of {data} are left)",
        markup=False,
        soft_wrap=True,
    )


@references.command("apply")
def apply(
    lists: Annotated[str, typer.Argument(help="What 'references build' wrote.")],
    answers: Annotated[str, typer.Argument(help="Answers to the same questions.")],
    out: Out,
    columns: Columns = "",
) -> None:
    """Put stored lists beside answers, by question, for 'markscheme judge'."""
    from markscheme.analysis import read_loosely
    from markscheme.errors import DataError
    from markscheme.judges.listwise import read_lists, with_lists
    from markscheme.options import parse_columns
    from markscheme.tables import write_answers

    table, missing = with_lists(read_loosely(answers, parse_columns(columns)), read_lists(lists))
    if missing == table.height:
        raise DataError(f"no question of {answers} has a complete list in {lists}")
    write_answers(table, out)
    console.print(f"{table.height - missing:,} answers with a list: {out}", markup=False)
    if missing:
        notes.print(
            f"{missing:,} answers to questions without a complete list keep what references they "
            "had",
            markup=False,
        )


def _material(data: str, columns: str, data_dir: Path | None) -> Material:
    from markscheme.analysis import open_material
    from markscheme.options import parse_columns

    folder = None if data_dir is None else str(data_dir)
    return open_material(data, data_dir=folder, columns=parse_columns(columns))


def _questions(source: str, columns: str, data_dir: Path | None) -> pl.Series:
    """The questions of a dataset or file, graded or not."""
    from markscheme.analysis import read_loosely
    from markscheme.datasets import catalog, load

    if source in catalog():
        return load(source, data_dir=data_dir)["question"].unique()
    from markscheme.options import parse_columns

    return read_loosely(source, parse_columns(columns))["question"].unique()
