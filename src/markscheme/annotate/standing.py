"""What the labels so far say of all answers, for the admin: whether there are enough of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import polars as pl
from sqlalchemy import Connection, func, select

from markscheme.agreement import HumanAccuracy, human_accuracy
from markscheme.annotate import tables as t
from markscheme.annotate.project import Project
from markscheme.annotate.ratings import answered, labels_so_far
from markscheme.annotate.scales import verdicts
from markscheme.options import EstimateOptions
from markscheme.results import BY_ANNOTATORS, Figure, population

MARGIN = 0.03
"""The margin that is wanted: 3 points either way."""
MOST_WATCHED = 2000
"""Labels up to which the interval that always holds is computed: 1,000 take about a second."""

_NONE_YET = Figure(reason="no labels yet")


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The estimate so far.

    Attributes:
        answers: how many answers it is of; an item represents all that are equal.
        reason: why there can be no estimate; empty if there is one, or will be with more labels.
        labelled: items with their label.
        pending: items without one before the last that has one.
        drawn: whether these are a sample that plan-labels drew, of which alone the estimate is.
        helped: whether a judge's scores narrow the interval.
        figure: the estimate, or why there is none yet.
        watched: whether its interval holds however often one looks, and allows for either label of
            pending items; it does up to `MOST_WATCHED` labels.
        enough: whether it is known to the margin that is wanted.
        more: about how many more items that takes; None if that is not known.
        note: whose labels these are, where one person has labelled in a project that asks for more.
    """

    answers: int
    reason: str = ""
    labelled: int = 0
    pending: int = 0
    drawn: bool = False
    helped: bool = False
    figure: Figure = _NONE_YET
    watched: bool = True
    enough: bool = False
    more: int | None = None
    note: str = ""

    @property
    def about(self) -> str:
        """Of what the interval speaks: of these answers alone, or also of further questions."""
        return population(BY_ANNOTATORS, answers=self.answers, further=not self.watched)


def standing(connection: Connection, project: Project) -> Standing:
    """What the labels so far say of all answers of the project."""
    items = _items(connection)
    answers = int(items["answers"].sum())
    reason = _reason(items, project)
    if reason:
        return Standing(answers=answers, reason=reason)
    known, note = labels_so_far(connection, project, answered(connection, project))
    finals = items["item"].replace_strict(known, default=None, return_dtype=pl.Float64)
    labels = finals if project.scale == "verdict" else verdicts(finals)
    items = items.with_columns(labels.alias("label")).with_row_index("n")
    places = items.filter(pl.col("label").is_not_null())["n"]
    least = items["least"].min()
    about = Standing(
        answers=answers,
        labelled=len(places),
        pending=places[-1] + 1 - len(places) if len(places) else 0,
        drawn=isinstance(least, float) and least < 1,
        helped=items["score"].count() > 0,
        note=note,
    )
    if not about.labelled:
        return about
    watched = about.labelled <= MOST_WATCHED
    found = _estimated(items, helped=about.helped, half=MARGIN if watched else None)
    # Without a judge's scores, what looks once is by the labels alone, which come last.
    figure = found.estimates[0 if watched or about.helped else -1].figure
    more = found.more_labels
    return replace(
        about,
        figure=figure,
        watched=watched,
        enough=(1.0 if figure.high is None else figure.high) - (figure.low or 0.0) <= 2 * MARGIN,
        more=None if more is None else math.ceil(more * items.height / answers),
    )


def _estimated(items: pl.DataFrame, *, helped: bool, half: float | None) -> HumanAccuracy:
    """What `estimate` gives for these labels: at every look, for a half-width, or once."""
    rows = items.select(pl.all().repeat_by("answers").explode()).with_row_index("answer_id")
    rows = rows.cast({"answer_id": pl.String, "n": pl.String})
    score = pl.col("score") if helped else pl.lit(0.5).alias("score")
    judgments = rows.select(
        "answer_id", "question", score, answer="n", judge=pl.lit("scores"), verdict=score >= 0.5
    )
    # The order is random by itself, so it is no question whether the labelled answers are.
    options = EstimateOptions(trust_sample=True, anytime=half is not None, half_width=half)
    return human_accuracy(judgments, rows.select("answer_id", "label"), options)[0]


def _items(connection: Connection) -> pl.DataFrame:
    """Items in their order, with how many answers each represents and how those were drawn."""
    drawn = (
        select(
            t.sources.c.item_id,
            func.count().label("answers"),
            func.min(t.sources.c.inclusion_probability).label("least"),
            func.max(t.sources.c.inclusion_probability).label("most"),
        )
        .group_by(t.sources.c.item_id)
        .subquery()
    )
    rows = connection.execute(
        select(
            t.items.c.id,
            t.items.c.question,
            t.items.c.score,
            drawn.c.answers,
            drawn.c.least,
            drawn.c.most,
        )
        .join(drawn, drawn.c.item_id == t.items.c.id)
        .where(t.items.c.stage != "gold")
        .order_by(t.items.c.place)
    )
    names = ("item", "question", "score", "answers", "least", "most")
    whole = dict.fromkeys(("item", "answers"), pl.Int64)
    schema = dict.fromkeys(names, pl.Float64) | whole | {"question": pl.String}
    return pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")


def _reason(items: pl.DataFrame, project: Project) -> str:
    """Why no share can be estimated while labelling; empty if one can."""
    if project.scale not in ("verdict", "relation"):
        return (
            "these labels are not verdicts or relations, so nothing is estimated here; export them "
            "for other commands"
        )
    if project.order != "shuffled":
        return "the items' order is not random, so the first labels say nothing of the rest"
    least, most = items["least"].min(), items["most"].max()
    if project.known and least is None:
        return (
            "some answers had a label before, and whether these are a random sample is not known, "
            "so nothing is estimated here; 'markscheme estimate' on the exported labels checks it"
        )
    if least != most:
        return (
            "plan-labels drew these answers with different chances; 'markscheme estimate' on the "
            "exported labels weighs them"
        )
    return ""
