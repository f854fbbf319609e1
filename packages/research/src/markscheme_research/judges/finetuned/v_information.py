"""Conditional V-information: how much likelier does knowing an answer make a reference?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_MOST = 1000.0
"""Bits beyond which a share is 0 or 1 in double precision."""


def conditional_information(informed: Floats, uninformed: Floats) -> Floats:
    """Pointwise conditional V-information in bits: log2 p(y | x, r) - log2 p(y | x).

    For each y, the information about it that r holds and x does not, to models of the family V
    that were trained to use both or x alone. Hewitt et al. 2021, section 2; Chen et al. 2023
    (REV), equation 3. Here x is a question, r a system's answer, y a reference.

    Args:
        informed: n natural logarithms of the first probability.
        uninformed: n natural logarithms of the second.

    Returns:
        n numbers of bits; negative where r misleads.
    """
    return np.asarray((informed - uninformed) / np.log(2.0), dtype=np.float64)


def informed_share(bits: Floats) -> Floats:
    """The first probability's share of the two, from 0 to 1; a half where r tells nothing.

    p(y | x, r) / (p(y | x, r) + p(y | x)) = 1 / (1 + 2^-bits): the same order as the bits, on the
    scale of a score.
    """
    return np.asarray(1.0 / (1.0 + np.exp2(-np.clip(bits, -_MOST, _MOST))), dtype=np.float64)
