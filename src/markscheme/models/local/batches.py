"""Cutting token sequences into batches that need no padding, and running them side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

TOKENS_A_BATCH = 1024
"""Enough rows to keep the matrix products busy, few enough that activations stay in the cache."""

CHARACTERS_A_TOKEN = 32
"""Characters read of a text for each token, so that megabytes cost no more than a page."""


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
    *,
    threads: int | None,
) -> None:
    """Call `run` for every batch on `threads` threads (all available cores where None)."""
    workers = min(threads or available_cores(), len(batches))
    if workers <= 1:
        for batch in batches:
            run(batch)
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="markscheme-onnx") as pool:
        for _ in pool.map(run, reversed(batches)):
            pass
