"""The exchange test: if nothing has changed, it is chance which check of a question was the last.

See Lehmann & Romano (2005), section 5.11.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from markscheme.stats import kinds

Array = npt.NDArray[np.float64]


def exchanged_sums(
    levels: Array, *, resamples: int, seed: int, present: npt.NDArray[np.bool_] | None = None
) -> Array:
    """(resamples, width) differences where chance chose, by question, which side is the first.

    Args:
        levels: (questions, sides, width) what is summed over the questions, of the first side and
            of the others.
        resamples: exchanges drawn.
        seed: of the draws.
        present: (questions, sides) which sides a question has, the first among them; None for all.

    Returns:
        The sums of the first side less those of the others.
    """
    questions, among, width = levels.shape
    has = np.ones((questions, among)) if present is None else present
    distinct, repeats = kinds(np.concatenate([levels.reshape(questions, -1), has], axis=1))
    sides = distinct[:, : among * width].reshape(-1, among, width).astype(np.float64)
    sides = np.roll(sides, -1, axis=1)  # the first side last: what is drawn before, changes
    likely = np.roll(distinct[:, among * width :].astype(np.float64), -1, axis=1)
    likely /= likely.sum(axis=1, keepdims=True)
    total = (sides.sum(axis=1) * repeats[:, None]).sum(axis=0)
    rng = np.random.default_rng(seed)
    step = max(1, 4_000_000 // likely.size)
    found = []
    for begin in range(0, resamples, step):
        size = min(step, resamples - begin)
        drawn = rng.multinomial(repeats, likely, size=(size, len(repeats)))
        found.append(2 * (drawn.reshape(size, -1) @ sides.reshape(-1, width)) - total)
    return np.concatenate(found)


def exchange_p(differences: Array, observed: float, *, larger_only: bool = False) -> float:
    """p of an observed difference among the exchanged ones; two-sided by default.

    (1 + as extreme) / (1 + resamples), so never 0.
    """
    if not larger_only:
        differences, observed = np.abs(differences), abs(observed)
    extreme = int((differences >= observed - 1e-9).sum())
    return (1 + extreme) / (1 + len(differences))
