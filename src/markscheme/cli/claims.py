"""`markscheme claims`: one long answer, claim by claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli import model_options
from markscheme.cli.app import app, console

if TYPE_CHECKING:
    from markscheme.results import Table


@app.command("claims")
def claims(
    question: Annotated[str, typer.Option("--question", "-q", help="The question.")],
    reference: Annotated[
        list[str], typer.Option("--reference", "-r", help="A reference; several may be given.")
    ],
    answer: Annotated[str, typer.Option("--answer", "-a", help="What a system said.")],
    context: Annotated[
        str | None, typer.Option(help="A passage that may support claims as well.")
    ] = None,
    judge: Annotated[
        str, typer.Option("--judge", "-j", help="The judge, with parameters where wanted.")
    ] = "claims",
    model: model_options.Model = None,
    base_url: model_options.BaseUrl = None,
    api_key_env: model_options.ApiKeyEnv = "OPENAI_API_KEY",
    ledger: model_options.LedgerPlace = None,
) -> None:
    """Split an answer into claims; say which are supported, contradicted or extra, and the marks.

    A file of answers is judged by `markscheme judge FILE --judge claims`.
    """
    import orjson

    from markscheme.contract import parse_judge
    from markscheme.errors import JudgeError
    from markscheme.judges.entailment import Claims
    from markscheme.tables import read_answers

    chosen = parse_judge(judge)
    if not isinstance(chosen, Claims):
        raise JudgeError(f"--judge {judge!r} is not the judge claims, as in claims(test=chat)")
    row: dict[str, Any] = {"question": question, "references": reference, "answer": answer}
    answers = read_answers([row | ({"context": context} if context else {})])
    models = model_options.open_models(
        model=model, base_url=base_url, api_key_env=api_key_env, ledger=ledger
    )
    found = chosen.judge(answers, models).row(0, named=True)
    models.close()
    console.print(_verdict(found), markup=False)
    if not found["raw"]:
        console.print(found["explanation"], markup=False)
    else:
        table = _table(orjson.loads(found["raw"])["claims"])
        console.print()
        console.print(table.rich())
        for note in table.notes:
            console.print(note, markup=False, soft_wrap=True)


def _verdict(found: dict[str, Any]) -> str:
    if found["status"] != "judged":
        return f"not judged ({found['status']})"
    verdict = "accepted" if found["verdict"] else "not accepted"
    return f"{verdict}, marks {found['marks']:.2f}, relation {found['relation']}"


def _table(listed: list[dict[str, Any]]) -> Table:
    from markscheme.results import Table

    def chance(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    with_context = any(one["context_entails"] is not None for one in listed)
    header: tuple[str, ...] = (
        "outcome",
        "claim",
        "nearest reference",
        "says it",
        "follows from it",
    )
    header += ("follows from context",) if with_context else ()
    rows = tuple(
        (
            one["outcome"],
            one["claim"],
            one["nearest_reference"] or "-",
            chance(one["entails_reference"]),
            chance(one["reference_entails"]),
            *([chance(one["context_entails"])] if with_context else []),
        )
        for one in listed
    )
    return Table(
        title="Claims",
        header=header,
        rows=rows,
        numeric=frozenset(header[3:]),
        notes=(
            "says it: probability that the claim entails a reference; follows from it: that a "
            "reference entails the claim.",
        ),
    )
