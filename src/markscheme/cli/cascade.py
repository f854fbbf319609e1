"""`markscheme cascade`: agreement against calls of a dear judge, from recorded judgments."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli.app import app
from markscheme.cli.output import (
    Answers,
    Columns,
    Format,
    Judgments,
    Out,
    PositiveFrom,
    Printed,
    Seed,
    Threshold,
    emit,
    percent,
    read_judged,
    read_labelled,
)

if TYPE_CHECKING:
    from markscheme.agreement import ChosenCascade, Goal, Recorded
    from markscheme.results import Table

SHOWN = 16
"""Rows of the printed curve; `--format csv` and json give all."""


class GuaranteeKind(StrEnum):
    """What a guaranteed agreement means."""

    AVERAGE = "average"
    PROBABILITY = "probability"


@app.command("cascade")
def cascade(
    judgments: Judgments,
    first: Annotated[str, typer.Option(help="The cheap judge, by its name in the judgments.")],
    then: Annotated[str, typer.Option(help="The dear judge, by its name in the judgments.")],
    labels: Annotated[
        str | None,
        typer.Option(help="People's labels: a file with a label column. [default: the same file]"),
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="The column with labels.")] = None,
    agreement: Annotated[
        float | None, typer.Option(help="Agreement with people to guarantee, such as 0.85.")
    ] = None,
    calls: Annotated[
        float | None,
        typer.Option(help="Or a budget: share of answers, at most, for the dear judge."),
    ] = None,
    guarantee: Annotated[
        GuaranteeKind,
        typer.Option(
            help="The agreement holds on average over sets of labels (conformal risk control), or "
            "with probability 1 - delta (Learn then Test)."
        ),
    ] = GuaranteeKind.AVERAGE,
    delta: Annotated[float, typer.Option(help="With probability: the chance of less.")] = 0.1,
    share: Annotated[
        float, typer.Option(help="Of the questions to choose on; figures are of the others.")
    ] = 0.5,
    columns: Columns = "",
    answers: Answers = None,
    threshold: Threshold = 0.5,
    positive_from: PositiveFrom = None,
    seed: Seed = 0,
    output: Printed = Format.TABLE,
    out: Out = None,
) -> None:
    """Agreement against calls of a cascade, and thresholds chosen from labels.

    The cheap judge decides where it is sure, the dear one sees the rest. No judge is asked again:
    both must have judged the labelled answers.
    """
    from markscheme.agreement import Goal, choose_cascade, join_labels
    from markscheme.results import plain

    rows = read_judged(judgments, judges="", columns=columns, answers=answers, threshold=threshold)
    known = read_labelled(labels or judgments, column=label_column, columns=columns)
    data, matched = _recorded(rows, known, first, then, positive_from, join_labels)
    goal = Goal(
        agreement=agreement, calls=calls, guarantee=guarantee.value, delta=delta, share=share,
        seed=seed,
    )  # fmt: skip
    chosen = choose_cascade(data, goal)
    emit(
        [_table(chosen, goal, first, then, matched)],
        {
            "command": "cascade", "first": first, "then": then, "matched": matched,
            "goal": plain(goal), "chosen": plain(chosen) | {"curve": chosen.curve.to_dicts()},
            "judge": _name(chosen, first, then),
        },
        output=output,
        out=out,
    )  # fmt: skip


def _recorded(
    rows: Any, known: Any, first: str, then: str, positive_from: float | None, join_labels: Any
) -> tuple[Recorded, list[str]]:
    """Both judges' rows side by side, one an answer that has a label and that both were given."""
    import numpy as np
    import polars as pl

    from markscheme.agreement import Recorded, as_binary
    from markscheme.errors import AgreementError, UnknownNameError

    names = rows["judge"].unique().sort().to_list()
    for name in (first, then):
        if name not in names:
            listed = f"there are {', '.join(names)}"
            raise UnknownNameError("judge in the judgments", name, names, listed)
    joined = join_labels(rows.filter(pl.col("judge").is_in([first, then])), known)
    keys = [n for n in ("answer_id", "question", "answer", "system") if n in joined.rows.columns]
    keys = ["answer_id"] if joined.key == ("answer_id",) else keys
    cheap = joined.rows.filter(pl.col("judge") == first)
    dear = joined.rows.filter(pl.col("judge") == then)
    score = pl.coalesce("score", pl.col("verdict").cast(pl.Float64)).fill_null(np.nan)
    both = cheap.select(*keys, score.alias("first"), "label", "cluster").join(
        dear.select(*keys, pl.col("verdict").cast(pl.Float64).fill_null(np.nan).alias("then")),
        on=keys, how="inner", nulls_equal=True, maintain_order="left",
    )  # fmt: skip
    if both.is_empty():
        raise AgreementError(f"no labelled answer was judged by both {first!r} and {then!r}")
    alone = max(cheap.height, dear.height) - both.height
    matched = [*joined.notes()]
    matched += [f"{alone} answers that only one of the two judged are left out"] if alone else []
    data = Recorded(
        scores=both["first"].to_numpy(), then=both["then"].to_numpy(),
        labels=as_binary(both["label"], positive_from=positive_from),
        clusters=both["cluster"].to_numpy(),
    )  # fmt: skip
    return data, matched


def _table(chosen: ChosenCascade, goal: Goal, first: str, then: str, matched: list[str]) -> Table:
    from markscheme.results import Table

    marked = -1
    if chosen.accept is not None:
        same = (chosen.curve["accept"] == chosen.accept) & (chosen.curve["reject"] == chosen.reject)
        marked = int(same.arg_true()[0]) if same.any() else -1
    shown = _spread(chosen.curve.height, marked)
    rows = []
    for place in shown:
        row = chosen.curve.row(place, named=True)
        rows.append(
            (
                _threshold(row["accept"]), _threshold(row["reject"]), percent(row["calls"]),
                percent(row["agreement"]),
                percent(row["agreement"] - chosen.dear_agreement, signed=True),
                "chosen" if place == marked else "",
            )
        )  # fmt: skip
    header = ("accept from", "reject to", "calls %", "agreement %", "against dear", "")
    return Table(
        title=f"Cascade of {first}, then {then}: {chosen.held_out_questions} held-out questions",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[:-1]),
        notes=(*matched, *_said(chosen, goal, first, then)),
    )


def _said(chosen: ChosenCascade, goal: Goal, first: str, then: str) -> list[str]:
    """What was chosen, how, and what it is worth, in sentences."""
    said = [
        f"alone on the held-out questions: {then} agrees with people on "
        f"{percent(chosen.dear_agreement)}%, {first} on {percent(chosen.cheap_agreement)}%",
        f"questions: {chosen.path_questions} to order the settings by"
        + (f", {chosen.test_questions} to test them on" if chosen.test_questions else "")
        + f", {chosen.held_out_questions} held out for the figures; seed {goal.seed}",
    ]
    if goal.agreement is None and goal.calls is None:
        said.append("nothing is chosen: pass --agreement to guarantee, or --calls as a budget")
    elif chosen.accept is None and goal.agreement is not None:
        said.append(
            f"an agreement of {goal.agreement:g} cannot be guaranteed from these labels, even by "
            f"asking {then} about everything: ask for less, or label more questions"
        )
    elif chosen.accept is None:
        said.append(
            f"no setting keeps within {goal.calls:g} of the calls: {first} is nowhere sure enough"
        )
    if chosen.gap is not None and chosen.calls is not None:
        mean, low, high = chosen.gap
        said.append(
            f"chosen: {percent(chosen.calls)}% of the calls, agreement "
            f"{percent(chosen.agreement)}%, which is {percent(mean, signed=True)} points against "
            f"{then} (95% interval {percent(low, signed=True)} to {percent(high, signed=True)})"
        )
        said += _promise(goal)
        said += _ready(_name(chosen, first, then))
    return said


def _ready(name: str | None) -> list[str]:
    """The judge to ask for, if its parts are judges here and not only names in the file."""
    from markscheme.contract import parse_judge
    from markscheme.errors import MarkschemeError

    if name is None:
        return []
    try:
        parse_judge(name)
    except MarkschemeError:
        return [f"judge: {name}", "(names as recorded; put judges that exist here in their place)"]
    return [f"judge: {name}"]


def _promise(goal: Goal) -> list[str]:
    if goal.agreement is None:
        return []
    if goal.guarantee == "average":
        return [
            f"guaranteed: on a new question like these, agreement of at least {goal.agreement:g} "
            "on average over sets of labels (conformal risk control)"
        ]
    return [
        f"guaranteed: with probability {1 - goal.delta:g} over sets of labels, agreement of at "
        f"least {goal.agreement:g} on new questions like these (Learn then Test)"
    ]


def _name(chosen: ChosenCascade, first: str, then: str) -> str | None:
    """The chosen cascade as a judge to ask for by name."""
    if chosen.accept is None or chosen.reject is None:
        return None
    accept = min(chosen.accept, 2.0)
    reject = max(chosen.reject, -1.0)
    return f"cascade(first={first}, then={then}, accept={accept!r}, reject={reject!r})"


def _spread(count: int, marked: int) -> list[int]:
    """At most `SHOWN` places of `count`, spread evenly, the ends and the marked one among them."""
    step = max(1, -(-count // SHOWN))
    places = {*range(0, count, step), count - 1}
    return sorted(places | ({marked} if marked >= 0 else set()))


def _threshold(value: float) -> str:
    return "never" if value in (float("inf"), float("-inf")) else f"{value:.4g}"
