"""Folders of ONNX weights: the ones shipped in the package, and any the user points at.

A folder holds `model.onnx`, `tokenizer.json`, `config.json` and, where `markscheme` wrote it,
`manifest.json` with each file's size and SHA-256.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from markscheme.errors import ModelError, reading_weights
from markscheme.manifests import verified

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

P = ParamSpec("P")
T = TypeVar("T")

MINILM = Path(__file__).parent / "minilm"
"""all-MiniLM-L6-v2 with 8-bit weights; its README says where it is from."""


def one_at_a_time(load: Callable[P, T]) -> Callable[P, T]:
    """A function that loads weights, for one thread at a time.

    Around a cache: by itself that would let two threads load the same weights twice.
    """
    loading = threading.Lock()

    @wraps(load)
    def alone(*args: P.args, **named: P.kwargs) -> T:
        with loading:
            return load(*args, **named)

    return alone


def required(folder: Path, name: str) -> Path:
    """The path of the file `name` in `folder`; ModelError says what to do where it is missing."""
    path = folder / name
    if not path.is_file():
        raise ModelError(
            f"{folder} holds no {name}. Pass a folder with model.onnx, tokenizer.json and "
            "config.json; if it is the package's own, install markscheme again."
        )
    return verified(path)


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """A JSON object out of `folder`; ModelError where it is missing or malformed."""
    path = required(folder, name)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelError(f"{path} is not valid JSON ({error}). Export the model again.") from error
    if not isinstance(value, dict):
        raise ModelError(f"{path} is not a JSON object. Export the model again.")
    return value


def open_session(path: Path, content: bytes | None = None) -> InferenceSession:
    """Load an ONNX file for the CPU with one thread a call.

    Callers run several calls side by side instead: that is faster on small batches, leaves no
    thread pool behind for a forked process to trip over, and keeps the order of summation fixed.

    Args:
        path: the file; one whose name ends in `.zst` is decompressed.
        content: what to load in its place.

    Raises:
        ModelError: it cannot be loaded.
    """
    import onnxruntime

    if content is None and path.suffix == ".zst":
        import zstandard

        with reading_weights(path):
            content = zstandard.decompress(path.read_bytes())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # An arena keeps the most that was ever needed at once, of the longest answers, for as long as
    # the process lives; without one a call takes as long.
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 4  # The exception says it.
    try:
        session = onnxruntime.InferenceSession(
            str(path) if content is None else content, options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime's own exceptions share no base below Exception
        raise ModelError(f"{path} cannot be loaded ({error}). Export the model again.") from error
    # Else the model's bytes, which it was made from, are in memory twice for as long as it lives.
    session._model_bytes = None
    return session


def open_tokenizer(folder: Path, max_tokens: int) -> Tokenizer:
    """Load `tokenizer.json`: no padding, and of a pair the longer text is truncated first.

    Raises:
        ModelError: the file is not there or is no tokenizer.
    """
    from tokenizers import Tokenizer

    path = required(folder, "tokenizer.json")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises a bare Exception
        raise ModelError(f"{path} is not a tokenizer ({error}). Export the model again.") from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=max_tokens, strategy="longest_first")
    return tokenizer


# --- Cutting token sequences into batches that need no padding, and running them side by side -----


TOKENS_A_BATCH = 1024
"""Enough rows to keep the matrix products busy, few enough that activations stay in the cache."""

CHARACTERS_A_TOKEN = 32
"""Characters read of a text for each token, so that megabytes cost no more than a page."""

FED = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
"""Inputs of a model, and what the tokenizer's result calls them."""

Text = TypeVar("Text", str, tuple[str, str])
Row = TypeVar("Row")
Feeds = dict[str, npt.NDArray[np.int64]]

_TEXTS_AT_ONCE = 4096


def equal_length_batches(lengths: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    """Yield positions in `lengths`, each array of one length, shortest first.

    Sequences of one length need neither padding nor a mask, so that what a text gets cannot depend
    on the other texts.
    """
    order = np.argsort(lengths, kind="stable")
    _, starts = np.unique(lengths[order], return_index=True)
    for same in np.split(order, starts[1:]):
        if not len(same):
            continue
        rows = max(1, TOKENS_A_BATCH // max(1, int(lengths[same[0]])))
        for start in range(0, len(same), rows):
            yield same[start : start + rows]


def available_cores() -> int:
    """The cores this process may use: its affinity where the system tells, else all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_batches(
    batches: Sequence[npt.NDArray[np.int64]],
    run: Callable[[npt.NDArray[np.int64]], None],
) -> None:
    """Call `run` for every batch, on as many threads as there are cores."""
    workers = min(available_cores(), len(batches))
    if workers <= 1:
        for batch in batches:
            run(batch)
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="markscheme-onnx") as pool:
        for _ in pool.map(run, reversed(batches)):
            pass


def in_batches(
    tokenizer: Tokenizer,
    texts: Sequence[Text],
    run: Callable[[Feeds], Iterable[Row]],
    *,
    max_tokens: int,
    inputs: Sequence[str] = ("input_ids",),
) -> list[Row]:
    """What a model makes of each text or pair of texts, in order; what it reads alike runs once.

    Args:
        tokenizer: truncates by itself; megabytes are cut before it sees them.
        texts: texts, or pairs of them.
        run: gets the model's inputs of a batch, each of shape (rows, tokens), on any thread, and
            gives one result a row.
        max_tokens: read of a text at most.
        inputs: names of the inputs, of `FED`.
    """
    characters = max_tokens * CHARACTERS_A_TOKEN
    read: list[Any] = [
        text[:characters] if isinstance(text, str) else tuple(t[:characters] for t in text)
        for text in texts
    ]
    distinct = list(dict.fromkeys(read))
    tokens: list[Feeds] = []
    for start in range(0, len(distinct), _TEXTS_AT_ONCE):
        coded = tokenizer.encode_batch(distinct[start : start + _TEXTS_AT_ONCE])
        tokens += [
            {name: np.array(getattr(row, FED[name]), np.int64) for name in inputs} for row in coded
        ]
    results: dict[Any, Row] = {}

    def run_batch(batch: npt.NDArray[np.int64]) -> None:
        feeds = {name: np.stack([tokens[row][name] for row in batch]) for name in inputs}
        results.update(zip([distinct[row] for row in batch], run(feeds), strict=True))

    lengths = np.array([len(row[inputs[0]]) for row in tokens], np.int64)
    run_batches(list(equal_length_batches(lengths)), run_batch)
    return [results[text] for text in read]
