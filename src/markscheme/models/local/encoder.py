"""Vectors of texts and of their tokens from the MiniLM that ships: no network, no torch, no GPU."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from markscheme.manifests import revision
from markscheme.models.local.weights import (
    MINILM,
    Feeds,
    in_batches,
    one_at_a_time,
    open_session,
    open_tokenizer,
    required,
)

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Array = npt.NDArray[Any]
Vectors = npt.NDArray[np.float32]

_TOKENS = 128
_WIDTH = 384
_LAST, _MIDDLE = "LayerNormalization_261", "LayerNormalization_135"
"""What the graph calls the token vectors after its sixth and its third layer."""
_CACHED_TOKENS = 131_072


@dataclass(frozen=True, kw_only=True)
class TextVectors:
    """One text.

    Attributes:
        sentence: the embedding, of length one, float32, shape (384,).
        middle: mean over tokens after the third layer, float32, shape (384,).
        tokens: after the last layer, each of length one, float16, shape (tokens, 384).
        ids: the word pieces, shape (tokens,).
    """

    sentence: Array
    middle: Array
    tokens: Array
    ids: Array


class TokenEncoder:
    """all-MiniLM-L6-v2 (Wang et al. 2020; Reimers & Gurevych 2019) with 8-bit weights.

    Of each text at most 128 tokens are read, counting the two that frame it, and only the first
    4,096 characters are looked at, so that a text of megabytes costs no more than a page. A text's
    vectors depend on that text alone: they are the same to within 1e-6 whatever the other texts, in
    whatever order and on however many threads. The weights are loaded when first used.
    """

    def __init__(self) -> None:
        self._cached: OrderedDict[str, TextVectors] = OrderedDict()
        self._cached_tokens = 0
        self._keeping = threading.Lock()

    @property
    def revision(self) -> str:
        """Short hash of the weights, for signatures."""
        return revision(required(MINILM, "model.onnx"))

    def vocabulary(self) -> list[str]:
        """The word pieces, in the order of their ids."""
        _, tokenizer = _loaded()
        found = tokenizer.get_vocab()
        return sorted(found, key=found.__getitem__)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; distinct ones once each.

        Returns:
            An array of shape (len(texts), 384) whose rows have length one, so that a dot product
            is a cosine in [-1, 1]. The empty string has a vector too.

        Raises:
            ModelError: the weights cannot be loaded.
        """
        session, tokenizer = _loaded()
        vectors = in_batches(
            tokenizer,
            texts,
            lambda feeds: session.run(["embedding"], feeds)[0],
            max_tokens=_TOKENS,
        )
        return np.array(vectors, np.float32).reshape(len(texts), _WIDTH)

    def details(self, texts: Sequence[str], *, keep: Collection[str] = ()) -> list[TextVectors]:
        """All vectors of each text, in order; texts that come again are cached, within bounds.

        Args:
            texts: distinct ones are encoded once.
            keep: those that are likely to come again, cached for later calls.

        Raises:
            ModelError: the weights cannot be loaded.
        """
        found: dict[str, TextVectors] = {}
        with self._keeping:
            for text in dict.fromkeys(texts):
                if text in self._cached:
                    self._cached.move_to_end(text)
                    found[text] = self._cached[text]
        new = [text for text in dict.fromkeys(texts) if text not in found]
        found |= zip(new, self._encode(new), strict=True)
        with self._keeping:
            for text in dict.fromkeys(keep):
                if text in found and text not in self._cached:
                    self._cached[text] = found[text]
                    self._cached_tokens += len(found[text].ids)
            while self._cached_tokens > _CACHED_TOKENS:
                _, dropped = self._cached.popitem(last=False)
                self._cached_tokens -= len(dropped.ids)
        return [found[text] for text in texts]

    def forget(self) -> None:
        """Empty the cache."""
        with self._keeping:
            self._cached.clear()
            self._cached_tokens = 0

    def _encode(self, texts: list[str]) -> list[TextVectors]:
        session, tokenizer = _loaded()

        def run(feeds: Feeds) -> Iterator[TextVectors]:
            sentences, middle, last = session.run(["embedding", _MIDDLE, _LAST], feeds)
            last /= np.maximum(np.linalg.norm(last, axis=2, keepdims=True), 1e-9)
            rows = zip(
                sentences,
                middle.mean(axis=1),
                last.astype(np.float16),
                feeds["input_ids"],
                strict=True,
            )
            for sentence, mean, tokens, ids in rows:
                yield TextVectors(sentence=sentence, middle=mean, tokens=tokens, ids=ids)

        return in_batches(tokenizer, texts, run, max_tokens=_TOKENS)


_shared = TokenEncoder()


def token_encoder() -> TokenEncoder:
    """The encoder of this process, with its cache."""
    return _shared


@one_at_a_time
@cache
def _loaded() -> tuple[InferenceSession, Tokenizer]:
    """Session and tokenizer, loaded once a process."""
    path = required(MINILM, "model.onnx")
    session = open_session(path, path.read_bytes() + _outputs(_MIDDLE, _LAST))
    return session, open_tokenizer(MINILM, _TOKENS)


def _outputs(*names: str) -> bytes:
    """A piece of an ONNX model that declares float outputs.

    Protocol-buffer messages that follow each other are merged, so that a file with this
    behind it is the same model with more outputs: no second file of weights, no onnx package.
    """
    content = b""
    for name in names:
        value = _field(1, name.encode()) + _field(2, _field(1, b"\x08\x01"))  # a float tensor
        content += _field(12, value)  # GraphProto.output
    return _field(7, content)  # ModelProto.graph


def _field(number: int, content: bytes) -> bytes:
    """A length-delimited field of fewer than 128 bytes, or of fewer than 16,384."""
    size = len(content)
    length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return bytes([number << 3 | 2]) + length + content
