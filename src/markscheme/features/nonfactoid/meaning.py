"""Everything that a sentence encoder tells of rows: features, and what the style model reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from markscheme.features.nonfactoid.features import vector_features
from markscheme.features.nonfactoid.placing import Matrix
from markscheme.features.nonfactoid.rows import Rows
from markscheme.features.nonfactoid.tokens import TokenTable, token_features

Array = npt.NDArray[Any]


class TextVectors(Protocol):
    """What an encoder gives of one text: embedding, mean of the middle layer, tokens, pieces."""

    @property
    def sentence(self) -> Array:
        """Embedding of length one."""

    @property
    def middle(self) -> Array:
        """Mean over tokens of the middle layer."""

    @property
    def tokens(self) -> Array:
        """Token vectors of length one."""

    @property
    def ids(self) -> Array:
        """Word piece of each token."""


def meaning_features(
    rows: Rows, encoded: Sequence[TextVectors], weights: npt.NDArray[np.float64]
) -> tuple[list[str], Matrix]:
    """Names, and values of shape (rows, names), of what embeddings and token vectors tell.

    Args:
        rows: the rows.
        encoded: vectors of each of `rows.texts`.
        weights: of every word piece (`tokens.token_weights`).
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
