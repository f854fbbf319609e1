"""Reading the next batch while the present one is judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def prefetch(batches: Iterable[T]) -> Iterator[T]:
    """The same batches in the same order, each made in another thread while its forerunner is used.

    An error in making one is raised where that one would have come.
    """
    source = iter(batches)
    with ThreadPoolExecutor(1, thread_name_prefix="reader") as thread:
        coming = thread.submit(lambda: next(source, None))
        while (batch := coming.result()) is not None:
            coming = thread.submit(lambda: next(source, None))
            yield batch
