"""Why answers were not judged, in a line for each of a judge's commonest reasons."""

from __future__ import annotations

import polars as pl

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
            # A reason may quote a reference or a reply: nothing in it may steer a terminal.
            said = "".join(sign if sign.isprintable() else " " for sign in explanation or "")
            said = f"{said[:_LONGEST]}..." if len(said) > _LONGEST else said
            lines.append(f"not judged by {judge}: {count:,} {status}: {said or 'no reason given'}")
        if reasons.height > _MOST:
            left = reasons["len"][_MOST:].sum()
            lines.append(f"not judged by {judge}: {left:,} more, for other reasons")
    return lines
