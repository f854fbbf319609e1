"""Cleaning of answers before they are judged, by name."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from markscheme.errors import DataError

Transform = Callable[[pl.DataFrame], pl.DataFrame]
"""Changes answers before they are judged; the judgments keep the answers as given."""


def cleaner(clean: str | None) -> Transform | None:
    """What `clean` does to a table of answers before judging.

    Raises:
        DataError: no such cleaning.
    """
    if clean is None:
        return None
    if clean != "chat":
        raise DataError(f"no cleaning named {clean!r}; there is 'chat'")
    from markscheme.text import clean_series

    return lambda answers: answers.with_columns(clean_series(answers["answer"]).alias("answer"))
