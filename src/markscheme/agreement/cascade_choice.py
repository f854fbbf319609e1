"""`choose_cascade`: agreement against calls of a strong judge, and thresholds from labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from markscheme.agreement.cascades import ChosenCascade, choose_setting
from markscheme.agreement.options import CascadeOptions
from markscheme.agreement.sources import (
    JudgmentsSource,
    TableSource,
    judged_and_labelled,
)
from markscheme.contract import parse_judge
from markscheme.errors import AgreementError, MarkschemeError
from markscheme.flags import with_keywords
from markscheme.results import (
    Column,
    Format,
    Table,
    TableResult,
    columns,
    interval,
    population,
    share_text,
)
from markscheme.tables import as_binary, join_labels, one_judge

SHOWN = 16
"""Rows of the curve in the table; the frame and JSON have all."""
GOAL = ("agreement", "calls", "share", "seed")
"""What a setting is chosen by: the options that are written down with the choice."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CascadeResult(TableResult):
    """What `choose_cascade` gives: the frame is the curve, one row per setting.

    Columns: `accept` and `reject` (thresholds of the first judge's score), `calls` (share of
    answers that go to the second), `agreement` (share, 0 to 1), on held-out questions.

    Attributes:
        chosen: the setting and what it is worth.
        judge: the chosen cascade as a judge's name; None where nothing was chosen.
    """

    chosen: ChosenCascade
    judge: str | None


def choose_cascade(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: CascadeOptions | None = None,
    *,
    first: str,
    then: str,
    answers: TableSource | None = None,
    **keywords: Any,
) -> CascadeResult:
    """Measure a cascade's agreement against its calls, and choose its thresholds by labels.

    The first judge decides where it is sure, the second sees the rest. No judge is called: both
    must have judged the labelled answers.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: people's labels, likewise; None for those in the same table.
        options: what to choose by; the defaults if None.
        first: the cheap judge, by its name in the judgments.
        then: the strong judge, by its name in the judgments.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `CascadeOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        UnknownNameError: no such judge in the judgments.
        AgreementError: no labelled answer was judged by both.
    """
    wanted = with_keywords(CascadeOptions, options, keywords)
    rows, known = judged_and_labelled(judgments, labels, wanted, answers=answers)
    data, matched = _recorded(rows, known, first, then, wanted.positive_from)
    chosen = choose_setting(data, wanted)
    name = _name(chosen, first, then)
    return CascadeResult(
        frame=chosen.curve,
        tables=(_table(chosen, wanted, first, then, matched),),
        data={
            "command": "cascade",
            "first": first,
            "then": then,
            "matched": matched,
            "goal": {name: getattr(wanted, name) for name in GOAL},
            "chosen": chosen,
            "judge": name,
        },
        chosen=chosen,
        judge=name,
    )


def _recorded(
    rows: pl.DataFrame, known: pl.DataFrame, first: str, then: str, positive_from: float | None
) -> tuple[pl.DataFrame, list[str]]:
    """The labelled answers that both judged, as the table of `cascades`, and notes."""
    names = dict.fromkeys((first, then))
    joined = join_labels(pl.concat([one_judge(rows, name) for name in names]), known)
    cheap, second = (joined.rows.filter(pl.col("judge") == name) for name in (first, then))
    score = pl.coalesce("score", pl.col("verdict").cast(pl.Float64)).fill_null(np.nan)
    other = pl.col("verdict").cast(pl.Float64).fill_null(np.nan).alias("then")
    both = cheap.select(*joined.identity, score.alias("first"), "label", "cluster").join(
        second.select(*joined.identity, other),
        on=joined.identity,
        nulls_equal=True,
        maintain_order="left",
    )
    if both.is_empty():
        raise AgreementError(f"no labelled answer was judged by both {first!r} and {then!r}")
    alone = max(cheap.height, second.height) - both.height
    matched = [*joined.notes()]
    matched += [f"{alone} answers that only one of the two judged are left out"] if alone else []
    data = both.select(
        scores="first",
        then="then",
        labels=as_binary(both["label"], positive_from=positive_from),
        clusters="cluster",
    )
    return data, matched


def _table(
    chosen: ChosenCascade, goal: CascadeOptions, first: str, then: str, matched: list[str]
) -> Table:
    marked = -1
    if chosen.accept is not None:
        same = (chosen.curve["accept"] == chosen.accept) & (chosen.curve["reject"] == chosen.reject)
        marked = int(same.arg_true()[0]) if same.any() else -1
    shown = _spread(chosen.curve.height, marked)
    columns_shown = (
        *columns(_THRESHOLD, ("accept from", "accept"), ("reject to", "reject")),
        *columns("share", ("calls %", "calls"), ("agreement %", "agreement")),
        Column("against second", lambda row: row["agreement"] - chosen.dear_agreement, "change"),
        Column("", lambda row: "chosen" if row["place"] == marked else ""),
    )
    return Table.of(
        f"Cascade of {first}, then {then}: {chosen.held_out_questions} held-out questions",
        columns_shown,
        chosen.curve.with_row_index("place")[shown],
        (*matched, *_said(chosen, goal, first, then)),
    )


def _said(chosen: ChosenCascade, goal: CascadeOptions, first: str, then: str) -> list[str]:
    """What was chosen, how, and what it is worth, in sentences."""
    said = [
        f"alone on the held-out questions: {then} agrees with people on "
        f"{share_text(chosen.dear_agreement)}%, {first} on {share_text(chosen.cheap_agreement)}%",
        f"questions: {chosen.path_questions} to order the settings by"
        + (f", {chosen.test_questions} to test them on" if chosen.test_questions else "")
        + f", {chosen.held_out_questions} held out for the figures; seed {goal.seed}",
    ]
    if goal.agreement is None and goal.calls is None:
        said.append("no thresholds are chosen: pass --agreement or --calls")
    elif chosen.accept is None and goal.agreement is not None:
        said.append(
            f"an agreement of {goal.agreement:g} cannot be guaranteed from these labels, even by "
            f"sending everything to {then}: require less, or label more questions"
        )
    elif chosen.accept is None:
        said.append(
            f"no setting keeps within {goal.calls:g} of the calls: {first} is nowhere sure enough"
        )
    if chosen.gap is not None and chosen.calls is not None:
        about = population(
            "according to the labels",
            questions=chosen.held_out_questions,
            answers=chosen.held_out_answers,
        )
        gap, against = chosen.gap, share_text(chosen.gap.value, signed=True)
        several = chosen.held_out_answers > chosen.held_out_questions
        mean = f" ({share_text(chosen.question_agreement)}% on the average question)"
        said.append(
            f"chosen: {share_text(chosen.calls)}% of the calls, agreement on "
            f"{share_text(chosen.agreement)}% of the answers{mean if several else ''}, {against} "
            f"points against {then}, 95% interval {interval(gap.low, gap.high, signed=True)} "
            f"({gap.method}), of {about}"
        )
        if goal.agreement is not None:
            said.append(
                f"guaranteed: agreement of at least {goal.agreement:g} on the average new question "
                "like these, each question counted once, on average over sets of labels (conformal "
                "risk control)"
            )
        said += _ready(_name(chosen, first, then))
    return said


def _ready(name: str | None) -> list[str]:
    """The judge to ask for, if its parts are judges here and not only names in the file."""
    if name is None:
        return []
    try:
        parse_judge(name)
    except MarkschemeError:
        return [f"judge: {name}", "(names as recorded; put judges that exist here in their place)"]
    return [f"judge: {name}"]


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


_THRESHOLD = Format(lambda value: "never" if math.isinf(value) else f"{value:.4g}")
