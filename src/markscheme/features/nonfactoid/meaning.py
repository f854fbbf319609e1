"""Everything that a sentence encoder tells of rows: features, and what the style model reads."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from markscheme.features.nonfactoid.features import vector_features
from markscheme.features.nonfactoid.rows import (
    Integers,
    Matrix,
    Rows,
    by_level,
    compared,
    kernel,
    matrix,
)
from markscheme.features.nonfactoid.words import STEM, Rarity

if TYPE_CHECKING:
    from markscheme.models.local import TextVectors

# --- How well the words of two texts find each other: late interaction over token vectors ---------
# Every token looks for the token of the other text that it is most like, as in ColBERT's MaxSim
# (Khattab & Zaharia 2020); the mean over a text's tokens, rare ones weighing more, is how far it is
# covered by the other.


Floats = npt.NDArray[np.float64]
_MARK = 0.3


@dataclass(frozen=True, kw_only=True)
class TokenTable:
    """The token vectors of n texts.

    Attributes:
        vectors: of length one, shape (tokens, width), those of a text are contiguous.
        starts: where each text's begin; one more than there are texts.
        weights: how much each token counts, shape (tokens,).
    """

    vectors: npt.NDArray[Any]
    starts: Integers
    weights: Floats


def token_weights(vocabulary: Sequence[str], rarity: Rarity) -> Floats:
    """The weight of every word piece: its rarity, little for marks, none for the framing tokens."""
    weights = rarity.of([piece.removeprefix("##")[:STEM] for piece in vocabulary])
    for place, piece in enumerate(vocabulary):
        if piece in ("[CLS]", "[SEP]", "[PAD]"):
            weights[place] = 0.0
        elif not any(letter.isalnum() for letter in piece):
            weights[place] = _MARK
    return weights


def cover(table: TokenTable, left: Integers, right: Integers) -> tuple[Floats, Floats]:
    """How far texts `left[i]` and `right[i]` cover each other, distinct pairs once each.

    Returns:
        Recall (of the right text's tokens in the left) and precision (of the left's in the
        right), each of shape (len(left),), about 0 to 1.
    """
    if not len(left):
        return np.zeros(0), np.zeros(0)
    base = len(table.starts)
    pairs, inverse = np.unique(right * base + left, return_inverse=True)
    rights, lefts = pairs // base, pairs % base
    recall, precision = np.zeros(len(pairs)), np.zeros(len(pairs))
    bounds = np.append(np.unique(rights, return_index=True)[1], len(pairs))
    for start, end in itertools.pairwise(bounds):
        recall[start:end], precision[start:end] = _one(table, lefts[start:end], int(rights[start]))
    return recall[inverse], precision[inverse]


def _one(table: TokenTable, lefts: Integers, right: int) -> tuple[Floats, Floats]:
    """Recall and precision of some texts alongside one."""
    inside = slice(int(table.starts[right]), int(table.starts[right + 1]))
    sizes = table.starts[lefts + 1] - table.starts[lefts]
    begins = np.cumsum(sizes) - sizes
    tokens = np.repeat(table.starts[lefts] - begins, sizes) + np.arange(int(sizes.sum()))
    like = table.vectors[tokens].astype(np.float32) @ table.vectors[inside].astype(np.float32).T
    own, theirs = table.weights[tokens], table.weights[inside]
    best = like.max(axis=1) * own
    precision = np.add.reduceat(best, begins) / np.maximum(np.add.reduceat(own, begins), 1e-9)
    found = np.maximum.reduceat(like, begins, axis=0).astype(np.float64)
    return found @ theirs / max(float(theirs.sum()), 1e-9), precision


def token_features(rows: Rows, table: TokenTable) -> tuple[list[str], Matrix]:
    """Names, and values of shape (rows, names), of what late interaction tells.

    Args:
        rows: the rows.
        table: of `rows.texts`.
    """
    found: dict[str, Floats] = {}
    recall, precision = cover(table, rows.answer, rows.question)
    their_recall, their_precision = cover(table, rows.reference, rows.question[rows.owner])
    found["token_question_recall"], found["token_question_precision"] = recall, precision
    found |= compared(rows, "token_question_recall", recall, their_recall, width=0.03)
    found |= compared(rows, "token_question_precision", precision, their_precision, width=0.03)
    recall, precision = cover(table, rows.answer[rows.owner], rows.reference)
    both = 2 * recall * precision / np.maximum(recall + precision, 1e-9)
    for name, pair in (("recall", recall), ("precision", precision), ("f", both)):
        found |= by_level(rows, f"token_{name}", pair)
    found |= kernel(rows, "token_f", both, (0.03, 0.08))
    return matrix(found)


# --- Everything that a sentence encoder tells of rows: features, and what the style model reads ---


def meaning_features(
    rows: Rows, encoded: Sequence[TextVectors], weights: npt.NDArray[np.float64]
) -> tuple[list[str], Matrix]:
    """Names, and values of shape (rows, names), of what embeddings and token vectors tell.

    Args:
        rows: the rows.
        encoded: vectors of each of `rows.texts`.
        weights: of every word piece (`token_weights`).
    """
    names, sentences = vector_features(rows, np.stack([one.sentence for one in encoded]))
    ids = np.concatenate([one.ids for one in encoded])
    table = TokenTable(
        vectors=np.concatenate([one.tokens for one in encoded]),
        starts=np.concatenate([[0], np.cumsum([len(one.ids) for one in encoded])]).astype(np.int64),
        weights=weights[ids],
    )
    more, tokens = token_features(rows, table)
    return names + more, np.hstack([sentences, tokens])


def style_inputs(encoded: Sequence[TextVectors]) -> npt.NDArray[np.float32]:
    """What the style model reads of each text: embedding and middle layer, shape (texts, 768)."""
    return np.stack([np.concatenate([one.sentence, one.middle]) for one in encoded])
