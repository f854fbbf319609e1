"""What the cross-encoder reads of an answer, and what it says: log-odds that people accept it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from markscheme.models.local import OnnxPairClassifier, positions

_REFERENCES, _ANSWER = 600, 1200
"""Characters read of all references and of the answer."""
_MARKERS = re.compile(r"\[(?=(?:SEP|CLS|PAD|UNK|MASK)\])", re.IGNORECASE)
"""Begin what the tokenizer takes for its own marks: in a text they are only text."""
MOST_TOKENS = 256
"""Tokens read of a question, its references and an answer together, by weights that can."""
_CERTAIN = 1e-6


def pair_of(question: str, references: Sequence[str], answer: str) -> tuple[str, str]:
    """The two texts that the cross-encoder reads: question with references, and answer."""
    question_text, wanted, answer_text = (
        _MARKERS.sub("(", text)
        for text in (question, " ; ".join(references)[:_REFERENCES], answer[:_ANSWER])
    )
    return f"{question_text} [SEP] {wanted}", answer_text


def cross_encode(
    folder: Path, rows: Iterable[tuple[str, Sequence[str], str]]
) -> npt.NDArray[np.float64]:
    """Log-odds of acceptance of (question, references, answer), within about -14 and 14.

    A row's figure does not depend on the other rows.

    Raises:
        ModelError: the folder does not hold a cross-encoder.
    """
    from scipy.special import logit  # loaded when used: it would slow every command's start

    most = min(MOST_TOKENS, positions(folder) or MOST_TOKENS)
    reader = OnnxPairClassifier(folder=folder, max_tokens=most)
    likely = reader.scores([pair_of(*row) for row in rows])[:, 0].astype(np.float64)
    likely = np.clip(likely, _CERTAIN, 1 - _CERTAIN)
    return np.asarray(logit(likely))
