"""Vectors of texts and of their tokens from the MiniLM that ships: no network, no torch, no GPU."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from markscheme.errors import ModelError
from markscheme.models.local.weights import (
    CHARACTERS_A_TOKEN,
    MINILM,
    equal_length_batches,
    model_file,
    open_session,
    open_tokenizer,
    read_json,
    revision,
    run_batches,
)

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Vectors = npt.NDArray[np.float32]

_TEXTS_AT_ONCE = 4096
_loading = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class MiniLM:
    """all-MiniLM-L6-v2 (Wang et al. 2020; Reimers & Gurevych 2019) with 8-bit weights.

    A text's vector depends on that text alone: the same text gives the same vector to within 1e-6
    whatever the other texts, in whatever order and on however many threads.

    Parameters
    ----------
    folder
        Folder with `model.onnx`, `tokenizer.json` and `config.json`. The shipped weights by
        default.
    max_tokens
        Tokens read of each text at most, counting the two that frame it. The rest is not seen.
        Only the first `max_tokens` times 32 characters are looked at in any case, so that a text
        of megabytes costs no more than a page. At most what the model's positions allow (256).
    threads
        Batches run side by side. None takes every core this process may use.
    """

    folder: Path = MINILM
    max_tokens: int = 128
    threads: int | None = None

    @property
    def revision(self) -> str:
        """Short hash of the weights, for signatures."""
        return revision(self.folder)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; distinct ones once each.

        Returns an array of shape (len(texts), 384) whose rows have length one, so that a dot
        product is a cosine in [-1, 1]. The empty string has a vector too. Raises ModelError where
        the weights cannot be loaded or `max_tokens` does not fit them.
        """
        position: dict[str, int] = {}
        rows = [position.setdefault(text, len(position)) for text in texts]
        return self._encode_distinct(list(position))[rows]

    def _encode_distinct(self, texts: list[str]) -> Vectors:
        session, tokenizer, width = _load(self.folder, self.max_tokens)
        tokens: list[npt.NDArray[np.int64]] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            some = [text[: self._characters] for text in texts[start : start + _TEXTS_AT_ONCE]]
            tokens += [np.array(one.ids, np.int64) for one in tokenizer.encode_batch(some)]
        vectors = np.empty((len(texts), width), np.float32)

        def run(batch: npt.NDArray[np.int64]) -> None:
            ids = np.stack([tokens[row] for row in batch])
            vectors[batch] = session.run(["embedding"], {"input_ids": ids})[0]

        lengths = np.array([len(one) for one in tokens], np.int64)
        run_batches(list(equal_length_batches(lengths)), run, threads=self.threads)
        return vectors

    @property
    def _characters(self) -> int:
        return self.max_tokens * CHARACTERS_A_TOKEN


def _load(folder: Path, max_tokens: int) -> tuple[InferenceSession, Tokenizer, int]:
    with _loading:  # lru_cache alone would let two threads load the same weights twice
        session = _session(folder)
        tokenizer, width = _tokenizer(folder, max_tokens)
    return session, tokenizer, width


@lru_cache(maxsize=4)
def _session(folder: Path) -> InferenceSession:
    return open_session(folder)


@lru_cache(maxsize=4)
def _tokenizer(folder: Path, max_tokens: int) -> tuple[Tokenizer, int]:
    config = read_json(folder, "config.json")
    longest = int(config["max_position_embeddings"])
    if not 2 < max_tokens <= longest:
        raise ModelError(
            f"max_tokens={max_tokens} does not fit the weights in {folder}: "
            f"choose from 3 to {longest}."
        )
    tokenizer = open_tokenizer(folder)
    tokenizer.enable_truncation(max_length=max_tokens)
    return tokenizer, int(config["hidden_size"])


# --- MiniLM's vectors of every token and of its middle layer, from the same shipped file ----------


Array = npt.NDArray[Any]

_LAST, _MIDDLE = "LayerNormalization_261", "LayerNormalization_135"
"""What the graph calls the token vectors after its sixth and its third layer."""
_CACHED_TOKENS = 131_072
_opening = threading.Lock()


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
    """MiniLM with more outputs; texts that come again (references) are cached, within bounds.

    Args:
        folder: with `model.onnx`, written by `markscheme_research.training.export_onnx` from a
            model of six layers, and `tokenizer.json`.
        max_tokens: tokens read of each text at most, counting the two that frame it.
        threads: batches run side by side; None takes every core.
    """

    def __init__(
        self, *, folder: Path = MINILM, max_tokens: int = 128, threads: int | None = None
    ) -> None:
        self.max_tokens = max_tokens
        self.threads = threads
        self._session = _open(folder)
        self._tokenizer: Tokenizer = open_tokenizer(folder)
        self._tokenizer.enable_truncation(max_length=max_tokens)
        self._cached: OrderedDict[str, TextVectors] = OrderedDict()
        self._cached_tokens = 0
        self._keeping = threading.Lock()
        self.revision: str = revision(folder)

    def vocabulary(self) -> list[str]:
        """The word pieces, in the order of their ids."""
        found = self._tokenizer.get_vocab()
        return sorted(found, key=found.__getitem__)

    def encode(self, texts: Sequence[str], *, keep: Collection[str] = ()) -> list[TextVectors]:
        """The vectors of each text, in order; each depends on its text alone.

        Args:
            texts: distinct ones are encoded once.
            keep: those that are likely to come again, cached for later calls.
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
        cut = self.max_tokens * CHARACTERS_A_TOKEN
        coded = self._tokenizer.encode_batch([text[:cut] for text in texts])
        ids = [np.array(one.ids, np.int64) for one in coded]
        found: dict[int, TextVectors] = {}

        def run(batch: npt.NDArray[np.int64]) -> None:
            stacked = np.stack([ids[row] for row in batch])
            sentence, middle, last = self._session.run(
                ["embedding", _MIDDLE, _LAST], {"input_ids": stacked}
            )
            mean = middle.mean(axis=1)
            last /= np.maximum(np.linalg.norm(last, axis=2, keepdims=True), 1e-9)
            tokens = last.astype(np.float16)
            for place, row in enumerate(batch.tolist()):
                found[row] = TextVectors(
                    sentence=sentence[place], middle=mean[place], tokens=tokens[place],
                    ids=ids[row],
                )  # fmt: skip

        lengths = np.array([len(one) for one in ids], np.int64)
        run_batches(list(equal_length_batches(lengths)), run, threads=self.threads)
        return [found[row] for row in range(len(texts))]


@cache
def _shared(folder: Path) -> TokenEncoder:
    return TokenEncoder(folder=folder)


def token_encoder(folder: Path = MINILM) -> TokenEncoder:
    """The encoder of this process, opened once."""
    with _opening:
        return _shared(folder)


def _open(folder: Path) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    path = model_file(folder)
    try:
        return onnxruntime.InferenceSession(
            path.read_bytes() + _outputs(_MIDDLE, _LAST), options,
            providers=["CPUExecutionProvider"],
        )  # fmt: skip
    except Exception as error:  # onnxruntime's own exceptions share no base below Exception
        raise ModelError(
            f"{path} cannot be loaded with the vectors of its tokens ({error}). It must be a "
            "sentence encoder of six layers that markscheme_research.training.export_onnx wrote."
        ) from error


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
