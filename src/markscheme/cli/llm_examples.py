"""`markscheme llm-examples`: solved examples for `llm_evouna_icl` from other labelled answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markscheme.cli.app import app, console


@app.command("llm-examples")
def llm_examples(
    labelled: Annotated[
        str,
        typer.Argument(
            metavar="LABELLED",
            help="Answers with labels 0 and 1, of a dataset other than the one to judge.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write them (JSONL).")],
    count: Annotated[int, typer.Option(min=1, max=64, help="How many examples.")] = 4,
    system: Annotated[str | None, typer.Option(help="Take answers of this system only.")] = None,
    columns: Annotated[
        str, typer.Option(help="Columns with unusual names: question=q,answer=pred.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Seed of the clustering and the draw.")] = 0,
) -> None:
    """Choose solved examples by k-means over questions (Wang et al. 2023, section 6.4).

    Use them with `llm_evouna_icl(examples='FILE')`.
    """
    import polars as pl

    from markscheme.cli.reading import read_options
    from markscheme.errors import DataError
    from markscheme.judges.prompted import choose_examples
    from markscheme.models.local import MiniLM
    from markscheme.tables import read_answers, write_table

    answers = read_answers(labelled, read_options(columns=columns))
    if system is not None:
        systems = answers["system"].unique().sort().to_list()
        answers = answers.filter(pl.col("system") == system)
        if answers.is_empty():
            raise DataError(f"no system {system!r} in {labelled}; there are {', '.join(systems)}")
    chosen = choose_examples(answers, MiniLM(), count=count, seed=seed)
    write_table(chosen, out.with_suffix(".jsonl"))
    for row in chosen.iter_rows(named=True):
        console.print(f"{'Yes' if row['label'] else 'No ':3} {row['question']}", markup=False)
    console.print(
        f"{chosen.height} examples in {out.with_suffix('.jsonl')}; "
        f"use them as llm_evouna_icl(examples='{out.with_suffix('.jsonl')}')",
        markup=False,
    )
