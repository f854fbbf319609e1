"""`markscheme references build`: lists of references of several grades, stored for reuse."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markscheme.cli.app import app, console
from markscheme.cli.model_options import ApiKeyEnv, BaseUrl, LedgerPlace, Model, open_models

references = typer.Typer(help="Lists of graded references.", no_args_is_help=True)
app.add_typer(references, name="references")


@references.callback()
def group() -> None:
    """Lists of graded references for questions that have one reference or none."""


@references.command("build")
def build(
    answers: Annotated[Path, typer.Argument(help="Answers; their first reference is the golden.")],
    out: Annotated[Path, typer.Option("--out", help="JSONL file for the lists.")],
    model: Model = None,
    more: Annotated[
        list[str] | None,
        typer.Option("--also", help="A further model for the worse references (may be repeated)."),
    ] = None,
    composition: Annotated[
        str, typer.Option(help="A digit a reference, 3 (best) to 0, such as 33221100.")
    ] = "3210",
    seed: Annotated[int, typer.Option(help="Which technique and model writes what.")] = 0,
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = "OPENAI_API_KEY",
    ledger: LedgerPlace = None,
) -> None:
    """Have chat models write a list of references for each question.

    The golden answer is written anew (or written, where there is none), then worse ones by named
    techniques. The file has a line a question, with grades, techniques, models and a version.
    """
    from markscheme.answers import read_answers, write_table
    from markscheme.judges.listwise_references import build_lists

    models = open_models(model=model, base_url=base_url, api_key_env=api_key_env, ledger=ledger)
    chats = [models.chat(), *(models.chat(name) for name in more or ())]
    table = build_lists(read_answers(str(answers)), chats, composition=composition, seed=seed)
    models.close()
    write_table(table, out)
    good = int((table["status"] == "ok").sum())
    console.print(f"{good} of {table.height} lists complete: {out}", markup=False)
    for status in table.filter(table["status"] != "ok")["status"].unique().sort():
        console.print(f"  not complete: {status}", markup=False)
