"""How charts look: one palette with a dark twin, one theme, and the marks that several share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import polars as pl

from markscheme.engine import ALL_SYSTEMS
from markscheme.errors import MissingExtraError
from markscheme.reports.material import PEOPLE
from markscheme.results import Figure

PALETTE: dict[str, tuple[str, str]] = {
    "ink": ("#1c1e21", "#e9e7e2"),
    "quiet": ("#5a5f66", "#a6abb1"),
    "grid": ("#e4e2dc", "#30363c"),
    "blue": ("#0a6cb0", "#6db8f0"),
    "orange": ("#c25e00", "#f29d4b"),
    "green": ("#0b7d5e", "#4cc9a0"),
    "purple": ("#9a4f96", "#d79ad3"),
    "ochre": ("#8a6d00", "#d9b84a"),
    "teal": ("#147f8e", "#5fc7d6"),
    "red": ("#b3261e", "#f28b82"),
    "grey": ("#6b7077", "#a9aeb5"),
    "light blue": ("#9cc7e7", "#2f5d80"),
    "light orange": ("#ecb479", "#8f5a22"),
    "dark orange": ("#a63a00", "#ff8f52"),
}
"""Each colour on a light and on a dark ground; the page swaps one for the other by its value."""

SERIES = ("blue", "orange", "green", "purple", "ochre", "teal", "red", "grey")
SHAPES = tuple(
    """
    circle square triangle-up cross triangle-down triangle-right triangle-left arrow
    """.split()
)
WIDTH = 420
POINTED = {"tooltip": "text:N", "description": "text:N"}
"""What a mark says when pointed at, and to who cannot see it: its column `text`, written as the
table writes the figure. The renderer's own words round otherwise and call shares counts."""
PADDING = {"left": 14, "top": 4, "right": 14, "bottom": 4}
FONT = "Arial, Helvetica, Liberation Sans, sans-serif"
"""Fonts of equal widths, so that texts fit wherever the chart is shown."""


def light(*names: str) -> list[str]:
    """Palette colours as a chart is drawn with them."""
    return [PALETTE[name][0] for name in names]


def altair() -> Any:
    """The chart library.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import altair as library
        import vl_convert  # noqa: F401  (draws what altair describes, offline)
    except ImportError:
        raise MissingExtraError("the report", "report") from None
    library.data_transformers.disable_max_rows()
    return library


def themed(chart: Any) -> Any:
    """A chart with the report's fonts, colours and quiet axes."""
    ink, quiet, grid = light("ink", "quiet", "grid")
    return (
        chart.configure(background="transparent", font=FONT, padding=PADDING)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=quiet,
            titleColor=quiet,
            gridColor=grid,
            domainColor=grid,
            tickColor=grid,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            labelLimit=200,
        )
        .configure_legend(
            labelColor=ink,
            titleColor=quiet,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            orient="top",
            direction="horizontal",
            columns=3,
            labelLimit=WIDTH,
            columnPadding=18,
            symbolSize=90,
            title=None,
        )
        .configure_header(
            labelColor=ink,
            titleColor=quiet,
            labelFontSize=13,
            labelFontWeight=600,
            labelAnchor="start",
            labelLimit=WIDTH,
            title=None,
        )
    )


def by_judge(names: Sequence[str], *, people: bool = False) -> dict[str, Any]:
    """Colour and shape of each judge, the same in every chart; people are dark diamonds."""
    alt = altair()
    every = [*names, *([PEOPLE] if people else [])]
    turns = [divmod(place, len(SERIES)) for place in range(len(names))]
    colours = [SERIES[place] for _, place in turns] + ["ink"] * people
    # After eight judges colours begin again, with another shape each.
    shapes = [SHAPES[(place + turn) % len(SHAPES)] for turn, place in turns]
    shapes += ["diamond"] * people
    return {
        "color": alt.Color("judge:N", sort=None)
        .scale(domain=every, range=light(*colours))
        .legend(columns=_columns(every)),
        "shape": alt.Shape("judge:N", sort=None).scale(domain=every, range=shapes),
    }


def _columns(names: Sequence[str]) -> int:
    """As many columns of a legend as these names leave room for."""
    return max(1, min(3, 54 // max(map(len, names))))


def address(state: Mapping[str, str]) -> str:
    """Where the page shows the answers of a filter's state."""
    return f"#{urlencode(state)}"


def with_links(
    table: pl.DataFrame, state: Callable[..., Mapping[str, str]], *names: str
) -> pl.DataFrame:
    """The table with `link`: the address of each row's answers, by the values of these columns."""
    found = [address(state(*row)) for row in table.select(names).iter_rows()]
    return table.with_columns(pl.Series("link", found, dtype=pl.String))


def dot(
    system: str | None,
    judge: str,
    share: Figure,
    *,
    x: str,
    **more: Any,
) -> dict[str, Any]:
    """A row of `dots` with its share, called `x`, and its interval; `more` may have a link."""
    system = system or ALL_SYSTEMS
    return {
        "system": system,
        "judge": judge,
        x: share.value,
        "low": share.low,
        "high": share.high,
        "text": f"{judge}, {system}: {share.text(scale=100, digits=1, unit='%', words=True)}",
        **more,
    }


def dots(
    rows: pl.DataFrame | Sequence[dict[str, Any]],
    *,
    y: str,
    x: str,
    x_title: str,
    judges: Sequence[str],
    people: bool,
    width: int = WIDTH,
    step: int = 34,
) -> Any:
    """A row of dots for each `y`: one dot a judge, and one for people.

    Where the table has `low` and `high`, each judge has a line of its own with its interval;
    where it has `link`, a dot leads to its answers. `text` is what a dot says when pointed at.
    """
    alt = altair()
    table = rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(rows, infer_schema_length=None)
    bounds = "low" in table.columns
    base = alt.Chart(table).encode(y=alt.Y(f"{y}:N", sort=None, title=None))
    every = [*judges, *([PEOPLE] if people else [])]
    if bounds:
        base = base.encode(yOffset=alt.YOffset("judge:N", sort=every).scale(domain=every))
        look = by_judge(judges, people=people)
        line = base.mark_rule(strokeWidth=1.5).encode(
            x=alt.X("low:Q"), x2="high:Q", color=look["color"], **POINTED
        )
        step = max(step, 15 * len(every))
    else:
        line = base.mark_rule(strokeWidth=3, aria=False, stroke=light("grid")[0]).encode(
            x=alt.X(f"min({x}):Q"), x2=f"max({x}):Q"
        )
    points = base.encode(
        x=alt.X(f"{x}:Q", title=x_title).scale(domain=[0, 1]).axis(format="%", tickCount=6),
        **POINTED,
        **({"href": "link:N"} if "link" in table.columns else {}),
        **by_judge(judges, people=people),
    )
    # People's larger diamond lies below, so that a judge that agrees with them is seen on it.
    below = points.transform_filter(alt.datum.judge == PEOPLE).mark_point(
        size=160 if bounds else 300, filled=True, opacity=1
    )
    above = points.transform_filter(alt.datum.judge != PEOPLE).mark_point(
        size=80 if bounds else 95, filled=True, opacity=1
    )
    height = {"step": step, "for": "position"}
    return themed((line + below + above).properties(width=width, height=height))


def shares(
    table: pl.DataFrame,
    *,
    colour: str,
    order: Sequence[str],
    colours: Sequence[str],
    judges: Sequence[str],
    systems: Sequence[str],
) -> Any:
    """A bar of the whole for each system, split by `colour`; a panel for each judge."""
    alt = altair()
    ranks = {name: place for place, name in enumerate(order)}
    ranked = table.with_columns(
        rank=pl.col(colour).replace_strict(ranks),
        text=pl.format("{}, {}, {}: {}", "judge", "system", colour, "answers"),
    )
    bars = (
        alt.Chart(ranked)
        .mark_bar(height={"band": 0.72})
        .encode(
            y=alt.Y("system:N", sort=list(systems), title=None),
            x=alt.X("answers:Q", stack="normalize", title=None).axis(format="%", tickCount=5),
            color=alt.Color(f"{colour}:N", sort=None).scale(
                domain=list(order), range=light(*colours)
            ),
            order=alt.Order("rank:Q"),
            **POINTED,
            **({"href": "link:N"} if "link" in ranked.columns else {}),
        )
        .properties(width=WIDTH, height=alt.Step(20))
    )
    return themed(panels(bars, judges))


def panels(chart: Any, judges: Sequence[str]) -> Any:
    """The chart once for each judge, many in two columns; alone as it is."""
    if len(judges) < 2:
        return chart
    facet = altair().Facet("judge:N", sort=list(judges), title=None)
    return chart.facet(facet=facet, columns=1 if len(judges) < 5 else 2, spacing=14)
