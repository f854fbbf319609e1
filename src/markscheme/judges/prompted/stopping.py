"""When enough samples of one item were drawn: the verdict is sure, or cannot change any more.

After Aggarwal et al. 2023 (Adaptive-Consistency, EMNLP): with an even prior on the share of samples
that accept, `a` that accept and `r` that do not, the chance that more than half of all samples ever
drawn would accept is that of Beta(a + 1, r + 1) above one half. Samples that were not judged tell
nothing.
"""

from __future__ import annotations

import math


def certainty(leading: int, trailing: int) -> float:
    """Chance that the side with `leading` samples has the majority in the long run.

    Example:
        >>> [round(certainty(count, 0), 3) for count in (1, 2, 3, 4)]
        [0.75, 0.875, 0.938, 0.969]
    """
    tosses = leading + trailing + 1
    return float(sum(math.comb(tosses, heads) for heads in range(leading + 1)) / 2**tosses)


def further(accepting: int, rejecting: int, *, left: int, sure: float) -> int:
    """How many samples to ask for next: the fewest after which the item could be decided.

    Args:
        accepting, rejecting: samples so far.
        left: samples that may still be drawn.
        sure: certainty from which on an item is decided.

    Returns:
        0 where it is decided, or where what is left cannot turn the majority.
    """
    leading, trailing = max(accepting, rejecting), min(accepting, rejecting)
    if leading - trailing > left:
        return 0
    for count in range(left + 1):
        if leading + count > 0 and certainty(leading + count, trailing) >= sure:
            return count
    return left
