"""BERTScore from token vectors (Zhang et al. 2020, ICLR, section 3)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Tokens = tuple[Vectors, Bools]


def bertscore_f1(answer: Tokens, reference: Tokens) -> float:
    """Greedy matching of tokens by cosine: the harmonic mean of precision and recall.

    Each is the mean, over the tokens of one text, of the highest cosine with any token of the
    other. Tokens that only frame a text may be matched but have no weight, as in the authors'
    code without idf weights.

    Args:
        answer, reference: (tokens, width) vectors of length one, and which tokens are of the text.

    Returns:
        From -1 to 1; 0 where a text has no token of its own.
    """
    cosines = answer[0] @ reference[0].T
    if not answer[1].any() or not reference[1].any():
        return 0.0
    precision = float(cosines.max(axis=1)[answer[1]].mean())
    recall = float(cosines.max(axis=0)[reference[1]].mean())
    total = precision + recall
    return 2 * precision * recall / total if total > 0 else 0.0
