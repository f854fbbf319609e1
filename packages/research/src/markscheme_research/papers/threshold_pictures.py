"""F1 by threshold as a picture: how much each system's figure depends on it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.errors import MissingExtraError

POINTS = 200
"""Points of a line; a curve of thousands of thresholds is thinned to these."""


def draw_thresholds(curves: pl.DataFrame, target: Path) -> Path:
    """A panel per set and judge, a line per system.

    Args:
        curves: `dataset`, `judge`, `system`, `threshold`, `f1_positive`.
        target: .svg, .png or .pdf; its folder is made.

    Raises:
        MissingExtraError: the chart library is not installed.
    """
    try:
        alt: Any = import_module("altair")
        import_module("vl_convert")  # draws what altair describes, offline
    except ImportError:
        raise MissingExtraError("a picture", "report") from None
    thinned = pl.concat(
        part.gather_every(max(1, part.height // POINTS))
        for part in curves.partition_by("dataset", "judge", "system")
    ).with_columns(panel=pl.format("{}: {}", "dataset", "judge"), f1=100 * pl.col("f1_positive"))
    chart = (
        alt.Chart(alt.Data(values=thinned.select("panel", "system", "threshold", "f1").to_dicts()))
        .mark_line()
        .encode(
            x=alt.X("threshold:Q"),
            y=alt.Y("f1:Q", title="F1, per cent", scale=alt.Scale(zero=False)),
            color=alt.Color("system:N"),
        )
        .properties(width=260, height=180)
        .facet(facet=alt.Facet("panel:N", title=None), columns=2)
        .resolve_scale(x="independent", y="independent")
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    chart.save(target)
    return target
