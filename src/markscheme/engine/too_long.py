"""A limit to the time that one answer may take: what goes beyond it is `failed: too long`."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

import polars as pl

from markscheme.tables import as_outcomes

T = TypeVar("T")

ROW_SECONDS = 60.0
"""What an answer may take, many times what any judge needs for any that people wrote."""

_USUAL = 0.05
"""Seconds that each further answer of a table adds to the limit of the table."""

_PARTS = 8


class _TooLong(BaseException):
    """Raised in the thread that judges; no `except Exception` of a judge takes it."""


def judged_within(
    judge: Callable[[pl.DataFrame], pl.DataFrame], items: pl.DataFrame, seconds: float
) -> pl.DataFrame:
    """A judge's outcomes, with answers that took longer than `seconds` failed.

    A table that takes too long as a whole is cut into parts until the answers to blame stand
    alone. Time runs out between two steps of Python; a call of native code is waited for.
    """
    try:
        return within(seconds + _USUAL * items.height, lambda: judge(items))
    except TimeoutError:
        if items.height > 1:
            size = -(-items.height // _PARTS)
            parts = [judged_within(judge, part, seconds) for part in items.iter_slices(size)]
            return pl.concat(parts)
    reason = f"too long: not judged within {seconds:g} s"
    return as_outcomes(
        items.select(pl.lit("failed").alias("status"), pl.lit(reason).alias("explanation"))
    )


def within(seconds: float, call: Callable[[], T]) -> T:
    """What `call` returns, if it does so in time.

    Raises:
        TimeoutError: it did not.
    """
    thread, guard, ended = threading.get_ident(), threading.Lock(), False

    def expire() -> None:
        with guard:  # Not after the call has ended: whatever runs then is none of ours.
            if not ended:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(_TooLong)
                )

    timer = threading.Timer(seconds, expire)
    timer.daemon = True
    try:
        try:
            timer.start()
            return call()
        finally:
            with guard:
                ended = True
            timer.cancel()
    except _TooLong:
        raise TimeoutError(f"not done within {seconds:g} s") from None
