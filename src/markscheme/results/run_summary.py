"""Why answers were not judged, in a line for each of a judge's commonest reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markscheme.results.table import Table
from markscheme.tables import LEARNED, OUTSIDE, scope_kind
from markscheme.text import one_line

if TYPE_CHECKING:
    from markscheme.results.figures import Figure
import polars as pl

_NOTE = (
    "Accuracy: share of judged answers with verdict true, in percent, with 95% interval "
    "(Wilson; where questions have several answers, Wilson at their effective number with "
    "Student's t). Mean score: 0 to 100. Answers not judged are in neither."
)


def summary_table(
    records: Sequence[dict[str, Any]],
    *,
    title: str = "Correctness by judge and system",
    by: str = "system",
) -> Table:
    """One row per judge and system, from the records of `engine.summary.summarise`.

    Records of `slice_records` have a slice, `by`, in place of the system.
    """
    costly = any(record["cost_usd"] is not None for record in records)
    rows = []
    for record in records:
        row = [
            record["judge"],
            record["system"].removeprefix(f"{by}="),
            percent(record["accuracy"]),
            interval(record["accuracy_low"], record["accuracy_high"]),
            percent(record["mean_score"]),
            f"{record['judged']:,}",
            not_judged(record["not_judged"]),
        ]
        if costly:
            row.append("" if record["cost_usd"] is None else f"${record['cost_usd']:.4f}")
        rows.append(tuple(row))
    header = ["judge", by, "accuracy", "95% interval", "mean score", "judged", "not judged"]
    header += ["cost"] * costly
    signatures = dict.fromkeys(record["signature"] for record in records)
    return Table(
        title=title,
        header=tuple(header),
        rows=tuple(rows),
        numeric=frozenset({"accuracy", "95% interval", "mean score", "judged", "cost"}),
        notes=(_NOTE, *(f"Signature: `{signature}`" for signature in signatures)),
    )


def percent(share: float | None) -> str:
    """A share as a percentage with one decimal; n/a for None."""
    return "n/a" if share is None else f"{100 * share:.1f}"


def interval(low: float | None, high: float | None) -> str:
    """Two shares as percentages: `61.2 to 68.9`."""
    return "n/a" if low is None or high is None else f"{100 * low:.1f} to {100 * high:.1f}"


def measured(figure: Figure, *, scale: float = 1.0, digits: int = 3) -> str:
    """A figure with its interval: `0.856 (0.844 to 0.866)`; n/a where it is undefined."""
    if figure.value is None:
        return "n/a"
    shown = f"{figure.value * scale:.{digits}f}"
    if figure.low is None or figure.high is None:
        return shown
    return f"{shown} ({figure.low * scale:.{digits}f} to {figure.high * scale:.{digits}f})"


def not_judged(counts: dict[str, int]) -> str:
    """How many were not judged, and why: `3 (2 failed, 1 skipped)`."""
    if not counts:
        return "0"
    reasons = ", ".join(f"{count:,} {status}" for status, count in counts.items())
    return f"{sum(counts.values()):,} ({reasons})"


_MOST = 3
_LONGEST = 160
"""Characters of a reason that are shown."""


def why_not_judged(judgments: pl.LazyFrame) -> list[str]:
    """Each judge's commonest reasons with how often, as lines; none where all was judged."""
    found = (
        judgments.filter(pl.col("status") != "judged")
        .group_by("judge", pl.col("status").cast(pl.String), "explanation")
        .len()
        .sort(["judge", "len", "explanation"], descending=[False, True, False])
        .collect(engine="streaming")
    )
    lines = []
    for (judge,), reasons in found.group_by("judge", maintain_order=True):
        for _, status, explanation, count in reasons.head(_MOST).iter_rows():
            said = one_line(explanation or "")
            said = f"{said[:_LONGEST]}..." if len(said) > _LONGEST else said
            lines.append(f"not judged by {judge}: {count:,} {status}: {said or 'no reason given'}")
        if reasons.height > _MOST:
            left = reasons["len"][_MOST:].sum()
            lines.append(f"not judged by {judge}: {left:,} more, for other reasons")
    return lines


def scope_notes(judgments: pl.LazyFrame) -> list[str]:
    """What the column `scope` says of each judge's judgments, as lines; none if all lie inside.

    How many answers lie outside what a judge learned and why, and how many are to questions that
    trained it, with the share accepted among the others.
    """
    if "scope" not in judgments.collect_schema().names():
        return []
    found = (
        judgments.filter(pl.col("scope").is_not_null())
        .group_by("judge", "scope", maintain_order=True)
        .agg(pl.len(), pl.col("verdict").sum().alias("accepted"), pl.col("verdict").count())
        .with_columns(kind=scope_kind())
        .collect(engine="streaming")
    )
    lines = []
    for (judge,), rows in found.group_by("judge", maintain_order=True):
        total = rows["len"].sum()
        outside = rows.filter(pl.col("kind") == OUTSIDE).sort("len", descending=True)
        learned = rows.filter(pl.col("kind") == LEARNED)["len"].sum()
        if outside.height:
            count, first = outside["len"].sum(), outside.row(0, named=True)
            reason = first["scope"].removeprefix(f"{OUTSIDE}: ")
            lines.append(
                f"{count:,} of {total:,} answers lie outside what {judge} learned "
                f"({reason}: {first['len']:,}); its verdicts there are less to be trusted"
            )
        if learned:
            others = rows.filter(pl.col("kind") != LEARNED)
            verdicts, accepted = int(others["verdict"].sum()), int(others["accepted"].sum())
            rest = f"; of the others it accepts {accepted / verdicts:.1%}" if verdicts else ""
            lines.append(
                f"{learned:,} of {total:,} answers are to questions that trained {judge}{rest}"
            )
    return lines
