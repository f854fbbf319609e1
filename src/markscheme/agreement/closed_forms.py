"""Statistics of a few lines each, so that a plain install needs no library for them.

Tests hold every one against statsmodels.
"""

from __future__ import annotations

from collections.abc import Sequence

from markscheme.stats import wilson_interval

__all__ = ["holm", "holm_figures", "wilson_interval"]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm-corrected p-values, in order."""
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, (len(p_values) - rank) * p_values[place])
        corrected[place] = min(1.0, largest)
    return corrected


def holm_figures(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm-corrected p-values of those tests that gave a p, in order; None for the others."""
    corrected = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(corrected) for p in p_values]
