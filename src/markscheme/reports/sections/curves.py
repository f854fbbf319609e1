"""Scores against labels: ROC curves and reliability diagrams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from markscheme.agreement import expected_calibration_error, reliability_diagram
from markscheme.reports.charts import POINTED, by_judge, light, themed
from markscheme.reports.charts import altair as charts
from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.results import Column, Table, columns, interval_note, number, of_labels

_CORNERS = 200
_SIZE = 300


def _scored(material: Material, *, distinct: int) -> list[tuple[str, pl.DataFrame]]:
    """Judges whose scores on labelled answers take so many values, in both classes."""
    found = []
    for one in material.judges:
        rows = one.rows.select("score").with_columns(material.answers["accepted"]).drop_nulls()
        if rows["score"].n_unique() >= distinct and rows["accepted"].n_unique() == 2:
            found.append((one.name, rows))
    return found


def roc(material: Material) -> Section | None:
    """How well each judge's scores part accepted from rejected answers at every threshold."""
    scored, joined = _scored(material, distinct=3), material.joined
    if not scored or joined is None:
        return None
    auroc = {one.judge: one.left_out["auroc"] for one in material.agreement if one.system is None}
    curves = [_thinned(_corners(rows)).with_columns(judge=pl.lit(name)) for name, rows in scored]
    return Section(
        key="roc",
        title="How well scores part right from wrong",
        caption=(
            "ROC curves: for every threshold, the share of people's accepted answers that the "
            "judge accepts against the share of their rejected ones. Judges with verdicts only "
            "are left out."
        ),
        table=Table.of(
            "Area under the ROC curve, with 95% interval",
            (
                "judge",
                Column("AUROC", format=number(3, words=True)),
                Column("answers", format="count"),
            ),
            [(name, auroc[name], rows.height) for name, rows in scored],
            interval_note((("", auroc[name]) for name, _ in scored), of_labels(joined)),
        ),
        chart=lambda: _lines(
            pl.concat(curves),
            x="rejected_share",
            y="accepted_share",
            judges=material.names,
            x_title="of rejected answers, accepted",
            y_title="of accepted answers, accepted",
            points=False,
        ),
    )


def reliability_curves(material: Material) -> Section | None:
    """Does a score of 0.8 mean right in eight of ten?"""
    scored = [
        (name, rows)
        for name, rows in _scored(material, distinct=11)
        if rows["score"].is_between(0, 1).all()
    ]
    if not scored:
        return None
    diagrams = {
        name: reliability_diagram(rows["score"].to_numpy(), rows["accepted"].to_numpy())
        for name, rows in scored
    }
    table = pl.concat([one.with_columns(judge=pl.lit(name)) for name, one in diagrams.items()])
    texts = [
        f"{name}: mean score {score:.3f}, accepted {accepted:.3f}"
        for name, score, accepted in table.select("judge", "mean_score", "accepted").iter_rows()
    ]
    gaps = [f"{name} {expected_calibration_error(one):.3f}" for name, one in diagrams.items()]
    return Section(
        key="reliability",
        title="Whether scores are probabilities",
        caption="Answers in ten bins of score: mean score against the share that people accept. "
        "On the diagonal, 0.8 means right in eight of ten. Expected calibration error: "
        + ", ".join(gaps)
        + ".",
        table=Table.of(
            "Reliability by bin of score",
            (
                "judge",
                Column("score", "{low:.1f} to {high:.1f}".format_map),
                Column("answers", format="count"),
                *columns(3, "mean score", "accepted"),
            ),
            table,
        ),
        chart=lambda: _lines(
            table.with_columns(text=pl.Series(texts)),
            x="mean_score",
            y="accepted",
            judges=material.names,
            x_title="mean score",
            y_title="share people accept",
            points=True,
        ),
    )


def _corners(rows: pl.DataFrame) -> pl.DataFrame:
    """The corners of a ROC curve: `rejected_share` and `accepted_share`, from (0, 0) to (1, 1)."""
    from sklearn.metrics import roc_curve

    rejected, accepted, _ = roc_curve(rows["accepted"].to_numpy(), rows["score"].to_numpy())
    return pl.DataFrame({"rejected_share": rejected, "accepted_share": accepted})


def _thinned(curve: pl.DataFrame) -> pl.DataFrame:
    """A curve with so many corners at the most, its ends among them."""
    if curve.height <= _CORNERS:
        return curve
    kept = np.unique(np.linspace(0, curve.height - 1, _CORNERS).astype(int))
    return curve.filter(pl.Series(np.isin(np.arange(curve.height), kept)))


def _lines(
    table: pl.DataFrame,
    *,
    x: str,
    y: str,
    judges: Sequence[str],
    x_title: str,
    y_title: str,
    points: bool,
) -> Any:
    alt = charts()
    ends = pl.DataFrame({"x": [0.0, 1.0], "y": [0.0, 1.0]})
    diagonal = (
        alt.Chart(ends)
        .mark_line(color=light("quiet")[0], strokeDash=[4, 4], strokeWidth=1)
        .encode(x="x:Q", y="y:Q")
    )
    shown = table["judge"].unique(maintain_order=True).to_list()
    colour = by_judge(judges)["color"].legend(
        values=shown, symbolType="stroke", symbolStrokeWidth=3
    )
    base = alt.Chart(table).encode(
        x=alt.X(f"{x}:Q", title=x_title).scale(domain=[0, 1]).axis(format="%", tickCount=5),
        y=alt.Y(f"{y}:Q", title=y_title).scale(domain=[0, 1]).axis(format="%", tickCount=5),
        color=colour,
    )
    drawn = base.mark_line(strokeWidth=2).encode(order=f"{x}:Q", detail="judge:N")
    layers = diagonal + drawn
    if points:
        layers += base.mark_point(filled=True, size=50, opacity=1).encode(**POINTED)
    return themed(layers.properties(width=_SIZE, height=_SIZE))
