"""Keeping an error rate below a limit, with a guarantee that holds for any finite sample.

A family of settings is ordered from the most cautious to the boldest (for a cascade: from asking
the dear judge about everything to asking it about nothing). Each setting has a loss from 0 to 1 for
each of n exchangeable units (questions). Two ways to choose the boldest setting that is safe:

* on average (conformal risk control, Angelopoulos et al. 2024, theorem 1): the expected loss on a
  new unit is at most the limit, the expectation being over the labelled units too, and counting
  none where nothing could be chosen;
* with probability (Learn then Test, Angelopoulos et al. 2021, by fixed-sequence testing): with
  probability at least 1 - delta over the labelled units, the expected loss is at most the limit.

Both need the family fixed before the units are looked at: it may be learned from others, or from
what carries no label.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from markscheme.errors import AgreementError

Array = npt.NDArray[np.float64]


def safe_on_average(losses: Array, limit: float) -> int | None:
    """The boldest setting whose expected loss is at most `limit` (conformal risk control).

    The method needs losses that never fall as settings grow bolder; where they do, the highest so
    far stands in, which keeps the guarantee and costs some boldness.

    Args:
        losses: (settings, units), from 0 to 1, the most cautious setting first.
        limit: from 0 to 1.

    Returns:
        Its place, or None if not even the first is safe: that takes n units with
        (n * mean loss + 1) / (n + 1) <= limit.

    Raises:
        AgreementError: no units, or losses or a limit outside 0 to 1.
    """
    units = _checked(losses, limit)
    risks = np.maximum.accumulate(losses, axis=0).mean(axis=1)
    safe = (units * risks + 1) / (units + 1) <= limit
    return int(safe.sum()) - 1 if safe[0] else None


def safe_with_probability(
    losses: Array, limit: float, *, delta: float, seed: int = 0
) -> int | None:
    """The boldest setting reached before one cannot be shown to be safe (Learn then Test).

    Settings are tested in order, each at level `delta`, and the first that fails ends it; so the
    chance that any setting passed on the way has an expected loss above `limit` is at most `delta`.

    Args:
        losses: as in `safe_on_average`; they may rise and fall.
        limit: from 0 to 1.
        delta: the chance of being wrong.
        seed: of the order in which units are looked at.

    Returns:
        Its place, or None if not even the first can be shown to be safe.

    Raises:
        AgreementError: as `safe_on_average`; or `delta` not between 0 and 1.
    """
    _checked(losses, limit)
    if not 0 < delta < 1:
        raise AgreementError(f"delta={delta:g} must lie between 0 and 1, such as 0.1")
    passed = risk_p_values(losses, limit, delta=delta, seed=seed) <= delta
    stop = int(np.argmin(passed)) if not passed.all() else len(passed)
    return stop - 1 if stop else None


def risk_p_values(losses: Array, limit: float, *, delta: float, seed: int = 0) -> Array:
    """(settings,) p-values of "the expected loss exceeds `limit`", whatever its distribution.

    A bet against that claim, unit by unit: the stake grows where losses vary little, and by Ville's
    inequality the capital reaches 1 / p with a chance of at most p (Waudby-Smith & Ramdas 2024;
    Bates et al. 2021, section 3.1). Valid for any number of independent units, at any level;
    `delta` only says at which one stakes are best. Units are looked at in random order, since one
    that hangs together with the losses would spoil the bet.

    Args:
        losses: (settings, units), from 0 to 1.
        limit: the claim's bound.
        delta: the level that stakes are made for.
        seed: of the order.
    """
    units = losses.shape[1]
    drawn = losses[:, np.random.default_rng(seed).permutation(units)]
    seen = np.arange(1, units + 1)
    means = (0.5 + np.cumsum(drawn, axis=1)) / (seen + 1)
    spreads = (0.25 + np.cumsum((drawn - means) ** 2, axis=1)) / (seen + 1)
    # A stake may depend only on what was seen before it.
    before = np.hstack([np.full((len(losses), 1), 0.25), spreads[:, :-1]])
    stakes = np.minimum(1.0, np.sqrt(2 * np.log(1 / delta) / (units * before)))
    with np.errstate(divide="ignore"):
        capital = np.cumsum(np.log1p(-stakes * (drawn - limit)), axis=1)
    return np.asarray(np.minimum(1.0, np.exp(-capital.max(axis=1))))


def _checked(losses: Array, limit: float) -> int:
    if losses.ndim != 2 or not losses.size:
        raise AgreementError("there are no labelled questions to choose by")
    if not 0 <= limit <= 1 or losses.min() < 0 or losses.max() > 1:
        raise AgreementError(f"losses and their limit ({limit:g}) must lie between 0 and 1")
    return int(losses.shape[1])
