"""A batch as judges read it: each distinct item once, with or without chat formatting."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from markscheme.contract import (
    PLAIN,
    Judge,
    ModelSource,
    asks_chat,
    plain_answers,
    reads_plain,
    signature,
)
from markscheme.engine.execute import plan
from markscheme.errors import DataError
from markscheme.text import clean_series, without_formatting

CLEANINGS = ("formatting", "chat", "none")
"""How answers are cleaned. `formatting`: citation marks, lists of sources and closing offers go,
for judges that ask no chat model (see `markscheme.text.without_formatting`). `chat`: symbols and
links as well, for every judge (see `markscheme.text.clean`). `none`: as they stand."""

CLEANING = "formatting"
"""How answers are cleaned unless the user says otherwise."""

CLEANED_NOTE = (
    "judged without citation marks, list of sources or closing offer ('--clean none' keeps them)"
)


def kept_cleaning(clean: str, judges: Sequence[Judge]) -> str | None:
    """What a run's plan holds of its cleaning: None where no judge sees another text for it.

    Raises:
        DataError: no such cleaning.
    """
    if clean not in CLEANINGS:
        raise DataError(f"no cleaning named {clean!r}; there are {', '.join(CLEANINGS)}")
    if clean == "none" or (clean == "formatting" and not any(map(reads_plain, judges))):
        return None
    return clean


def signed(judge: Judge, models: ModelSource | None, clean: str) -> str:
    """The judge's signature, and the cleaning of what it reads."""
    found = signature(judge, models)
    cleaning = kept_cleaning(clean, [judge])
    return found if cleaning is None else f"{found} clean={cleaning}"


def with_plain(answers: pl.DataFrame) -> pl.DataFrame:
    """The table with a column `answer_plain`, where formatting is taken out of some answer."""
    plain = without_formatting(*answers["answer", "question", "references"])
    return answers if plain is None else answers.with_columns(plain.alias(PLAIN))


class Readings:
    """The distinct items of a batch, and what each judge reads of them.

    Attributes:
        items: the items in order of first appearance, with a column `answer_plain` where formatting
            was taken out of one.
        item: for each row of the batch, its item's number.
        cleaned: how many rows of the batch have an answer without its formatting.
    """

    def __init__(self, batch: pl.DataFrame, clean: str) -> None:
        if clean == "chat":
            batch = batch.with_columns(clean_series(batch["answer"]).alias("answer"))
        items, self.item = plan(batch)
        self.items = with_plain(items) if clean == "formatting" else items
        self.cleaned = 0
        self._plain: pl.DataFrame | None = None
        if self.items is not items:
            self.cleaned = int(self.items[PLAIN].is_not_null()[self.item].sum())

    def of(self, judge: Judge) -> pl.DataFrame:
        """What a judge reads: one and the same table for all judges that read the same."""
        if asks_chat(judge):
            return self.items
        if self._plain is None:
            self._plain = plain_answers(self.items)
        return self._plain
