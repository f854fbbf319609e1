"""Verdicts, labels, grades and scores as people and tools write them, as numbers.

The words are listed here once: `judge` and `agree`, labels, judgments and annotators' lists are all
read by them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from markscheme.errors import AgreementError, BadValuesError, DataError
from markscheme.flags import typed_columns
from markscheme.text import words_of

_LABELS = words_of(__file__)
YES: tuple[str, ...] = _LABELS["yes"]
NO: tuple[str, ...] = _LABELS["no"]
PARTLY = ("partially correct", "partly correct", "partial", "teilweise richtig", "half")
BLANK = ("", "null", "none", "na", "n/a", "nan", "-", "?")
NO_ERROR = (*BLANK, "0", "0.0", "false", "no", "no error", "ok", "[]", "{}")
"""What a column of errors says of a call that did not fail."""
_LARGEST = 1e100
_TRAILING = ".!,;:"
_DECIMAL_COMMA = re.compile(r"-?(\d+,\d{1,2}|0,\d+)%?")
"""A comma before three digits may be one of thousands, but behind a lone 0."""
_WORDS: dict[str, float | None] = (
    dict.fromkeys(YES, 1.0)
    | dict.fromkeys(NO, 0.0)
    | dict.fromkeys(PARTLY, 0.5)
    | dict.fromkeys(BLANK)
)


def value_of(text: str) -> float | None:
    """1 for yes, 0 for no, 0.5 for partly, None for a blank, else the number.

    It may have a decimal comma or be in per cent; case and a full stop do not matter.

    Raises:
        ValueError: it is none of these.
    """
    plain = text.strip().lower().rstrip(".")
    plain = plain.rstrip(_TRAILING) or plain
    if plain in _WORDS:
        return _WORDS[plain]
    if _DECIMAL_COMMA.fullmatch(plain):
        plain = plain.replace(",", ".")
    number = float(plain[:-1]) / 100 if plain.endswith("%") else float(plain)
    return None if math.isnan(number) else number


def label_of(text: str) -> float | None:
    """As `value_of`, without infinite numbers, which are no label.

    Raises:
        ValueError: it is no label.
    """
    value = value_of(text)
    if value is not None and math.isinf(value):
        raise ValueError(f"{text!r} is not a finite number")
    return value


def blank_words(texts: pl.Series, column: str = "") -> Counter[str]:
    """Words of a column that are read as no value, though they say something: `?`, `n/a`, ...

    With the number of rows that each is in; quoted, and followed by the column's name if that is
    given: `'?' of 'rater_A'`.
    """
    of = f" of {column!r}" if column else ""
    plain = texts.str.strip_chars()
    written = plain.filter(plain.str.len_chars().is_between(1, 8))
    counted = written.value_counts(name="rows", sort=True)
    found = Counter[str]()
    for word, rows in counted.iter_rows():
        with suppress(ValueError):
            if value_of(word) is None:
                found[f"{word!r}{of}"] = rows
    return found


def text_values(texts: pl.Series) -> tuple[pl.Series, list[str]]:
    """Texts as Float64 by `value_of`, and the distinct texts that are no value (null), in order."""
    numbers = texts.cast(pl.Float64, strict=False)
    known: dict[str, float | None] = {}
    strange: list[str] = []
    for text in texts.filter(numbers.is_null()).drop_nulls().unique(maintain_order=True):
        try:
            known[text] = value_of(text)
        except ValueError:
            strange.append(text)
    words = texts.replace_strict(known, default=None, return_dtype=pl.Float64)
    return numbers.fill_nan(None).zip_with(numbers.is_not_null(), words), strange


def parse_values(column: pl.Series) -> pl.Series:
    """A column of verdicts, labels, grades or scores as Float64: 1 for yes, 0 for no, else numbers.

    Blanks (empty text, `null`, `n/a`, `?` and the like) and NaN become null.

    Raises:
        DataError: a text that is none of these; the message names up to five of them. It is a
            BadValuesError where other texts are.
    """
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Float64).fill_nan(None)
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        raise DataError(
            f"column {column.name!r} holds {column.dtype}, not verdicts; expected yes/no, "
            "true/false, 0/1 or numbers"
        )
    texts = column.cast(pl.String)
    values, strange = text_values(texts)
    if strange:
        shown = ", ".join(map(repr, strange[:5]))
        rows = texts.is_in(strange).fill_null(value=False)
        raise (BadValuesError if values.count() else DataError)(
            f"column {column.name!r} has {rows.sum()} values that are not verdicts, "
            f"such as {shown}, the first in row {(rows.arg_max() or 0) + 1:,}; expected yes/no, "
            "true/false, correct/incorrect, 0/1 or numbers. Empty the cells that have none"
        )
    return values.alias(column.name)


def parse_labels(column: pl.Series) -> pl.Series:
    """As `parse_values`, for labels, which are finite, as their squares are.

    Raises:
        DataError: as `parse_values`, or a number is infinite or larger than that.
    """
    values = parse_values(column)
    beyond = (values.abs() > _LARGEST).fill_null(value=False)
    if beyond.any():
        raise DataError(
            f"column {column.name!r} has {beyond.sum():,} infinite numbers, or beyond "
            f"{_LARGEST:g}, the first in row {(beyond.arg_max() or 0) + 1:,}; a label is yes/no, "
            "true/false, correct/incorrect, 0/1 or a finite number"
        )
    return values


def looks_like_values(column: pl.Series) -> bool:
    """Whether a column can be read by `parse_values` and is not empty."""
    try:
        return parse_values(column).null_count() < len(column)
    except DataError:
        return False


def is_binary(values: pl.Series) -> bool:
    """Whether all values are 0 or 1 (nulls apart)."""
    return bool(values.drop_nulls().is_in([0.0, 1.0]).all())


def as_binary(labels: pl.Series, *, positive_from: float | None = None) -> pl.Series:
    """Labels as `accepted` or not: 1 and 0, or grades from `positive_from` upwards; nulls stay.

    Raises:
        AgreementError: grades without `positive_from`.
    """
    values = labels.cast(pl.Float64).fill_nan(None)
    if positive_from is None and not is_binary(values):
        grades = ", ".join(f"{grade:g}" for grade in values.drop_nulls().unique().sort()[:8])
        raise AgreementError(
            f"the labels are grades ({grades}), not verdicts; say from which grade an answer is "
            "acceptable with --positive-from (Python: positive_from=...)"
        )
    return (values >= (1.0 if positive_from is None else positive_from)).alias("accepted")


_MOST_WORDS = 8
"""Different texts up to which a column may hold labels: right/wrong in some spellings."""


_OF_ERRORS = re.compile(
    r"(?i)incorrect|wrong|false|err|fail|hallu|fabricat|unsupport|bad|answerable|refus|missing|toxic"
)
"""Names of columns in which yes says that something is amiss, or is of the question."""


@dataclass
class LabelOffers:
    """Counts the words of columns that are not read, and forgets those of what holds no labels.

    Attributes:
        words: columns to their words and the number of rows that each is in; None for a column
            with other texts.
        rows: how many were seen.
        keys: what `--columns` calls each column as labels.
    """

    words: dict[str, dict[str, int] | None] = field(default_factory=dict)
    rows: int = 0
    keys: dict[str, str] = field(default_factory=dict)

    def see(
        self,
        columns: Mapping[str, Sequence[Any] | pl.Series],
        names: Mapping[str, str],
        rows: int,
    ) -> None:
        """Take in a batch: the source's columns; those not read, with what ours would be; rows."""
        self.rows += rows
        self.keys.update(names)
        for name in names:
            if name in columns and not _OF_ERRORS.search(name):
                texts = map(_text, columns[name])
                self._count(name, ((one, 1) for one in texts if one and one.lower() not in BLANK))

    def add(
        self, words: Mapping[str, dict[str, int] | None], rows: int, keys: Mapping[str, str]
    ) -> None:
        """Take in the attributes of offers of a later part of the same source."""
        self.rows += rows
        self.keys.update(keys)
        for name, counts in words.items():
            if counts is None:
                self.words[name] = None
            else:
                self._count(name, counts.items())

    def _count(self, name: str, texts: Iterable[tuple[str, int]]) -> None:
        found = self.words.setdefault(name, {})
        if found is None:
            return
        for text, rows in texts:
            if text not in found and (len(found) == _MOST_WORDS or not is_verdict(text)):
                self.words[name] = None
                return
            found[text] = found.get(text, 0) + rows

    def said(self) -> list[str]:
        """A sentence for each column with verdicts of both kinds, and the option that reads it."""
        return [
            f"{name}: {'/'.join(both)} on {sum(words.values()):,} of {self.rows:,} rows: "
            f"people's labels? {typed_columns({self.keys[name]: name})} reads them"
            for name, words in self.words.items()
            if words is not None and len(both := _both(Counter(words))) > 1
        ]


def _both(words: Counter[str]) -> list[str]:
    """The most frequent word of either kind, yes first, as far as there are any."""
    kinds = {label_of(word): word for word, _ in reversed(words.most_common())}
    return [kinds[kind] for kind in (1.0, 0.0) if kind in kinds]


def _text(value: Any) -> str | None:
    """A cell's text; None where it holds nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(value).strip() or None


def is_label(text: str) -> bool:
    """Whether a text is a verdict, a grade or a blank."""
    try:
        label_of(text)
    except ValueError:
        return False
    return True


def is_verdict(text: str) -> bool:
    """Whether a text is yes or no in some word."""
    try:
        return label_of(text) in (1.0, 0.0)
    except ValueError:
        return False
