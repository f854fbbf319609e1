"""The place of an answer among its references: by their levels, by nearness, against their mean.

Used by every family of features. What a row has not (no worse references, say) is `MISSING`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from markscheme.features.nonfactoid.rows import Rows

Floats = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float32]

MISSING = -2.0
_DECIMALS = 3
_QUARTERS = ((-0.01, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01))


def by_level(rows: Rows, name: str, pair: Floats) -> dict[str, Floats]:
    """Likeness to references of each quarter of the levels, and of the better and the worse."""
    level = rows.level
    everyone = level < 2
    better, worse = level >= 0.5, level < 0.5
    found = {
        f"{name}_max": rows.per_row(pair, everyone, how="max"),
        f"{name}_mean": rows.per_row(pair, everyone, how="mean"),
        f"{name}_max_better": rows.per_row(pair, better, how="max"),
        f"{name}_max_worse": rows.per_row(pair, worse, how="max"),
        f"{name}_mean_better": rows.per_row(pair, better, how="mean"),
        f"{name}_mean_worse": rows.per_row(pair, worse, how="mean"),
    }
    for place, (low, high) in enumerate(_QUARTERS):
        inside = (level > low) & (level <= high)
        found[f"{name}_quarter{place}"] = rows.per_row(pair, inside, how="mean")
    found[f"{name}_gap_max"] = found[f"{name}_max_better"] - found[f"{name}_max_worse"]
    found[f"{name}_gap_mean"] = found[f"{name}_mean_better"] - found[f"{name}_mean_worse"]
    found[f"{name}_gap_ends"] = found[f"{name}_quarter3"] - found[f"{name}_quarter0"]
    count = np.bincount(rows.owner, minlength=rows.height)
    centred = (
        level - (np.bincount(rows.owner, level, rows.height) / np.maximum(count, 1))[rows.owner]
    )
    slope = np.bincount(rows.owner, centred * pair, minlength=rows.height)
    spread = np.bincount(rows.owner, centred**2, minlength=rows.height)
    found[f"{name}_slope"] = np.where(spread > 1e-9, slope / np.maximum(spread, 1e-9), np.nan)
    return found


def kernel(rows: Rows, name: str, pair: Floats, widths: tuple[float, ...]) -> dict[str, Floats]:
    """Mean level of the references, those weighing more that the answer is more like."""
    found = {}
    for place, width in enumerate(widths):
        weight = np.exp(np.clip(pair / width, -30, 30))
        total = np.bincount(rows.owner, weight, minlength=rows.height)
        level = np.bincount(rows.owner, weight * rows.level, minlength=rows.height)
        found[f"{name}_level{place}"] = np.where(
            total > 0, level / np.maximum(total, 1e-30), np.nan
        )
    return found


def compared(
    rows: Rows, name: str, own: Floats, theirs: Floats, *, width: float
) -> dict[str, Floats]:
    """Where a value of the answer lies among the same values of its references."""
    better, worse = rows.level >= 0.5, rows.level < 0.5
    mean_better = rows.per_row(theirs, better, how="mean")
    mean_worse = rows.per_row(theirs, worse, how="mean")
    apart = np.abs(own[rows.owner] - theirs)
    return {
        f"{name}_less_better": own - mean_better,
        f"{name}_less_worse": own - mean_worse,
        f"{name}_less_all": own - rows.per_row(theirs, rows.level < 2, how="mean"),
        f"{name}_above": rows.per_row(
            (own[rows.owner] > theirs).astype(np.float64), rows.level < 2, how="mean"
        ),
        **kernel(rows, f"{name}_near", -apart, (width,)),
    }


def matrix(found: dict[str, Floats]) -> tuple[list[str], Matrix]:
    """Rounded, so that a row's values cannot depend on the rows judged with it."""
    stacked = np.stack(list(found.values()), axis=1)
    filled = np.where(np.isnan(stacked), MISSING, np.round(stacked, _DECIMALS))
    return list(found), filled.astype(np.float32)
