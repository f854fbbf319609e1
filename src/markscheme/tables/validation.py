"""Raw columns become typed ones; every value that cannot is a problem with its line.

Columns are converted whole. Only where that fails are values looked at one by one, to say which.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import orjson
import polars as pl

from markscheme.errors import DataError, Problem
from markscheme.flags import columns_option
from markscheme.tables.files import RawBatch, check_characters
from markscheme.tables.final_answers import MORE, WORKED, final_answers
from markscheme.tables.label_values import (
    NO_ERROR,
    blank_words,
    label_of,
    parse_values,
    text_values,
)
from markscheme.tables.list_literals import is_number_list, parse_list_literals
from markscheme.tables.objects import number_text
from markscheme.tables.read_options import ReadOptions
from markscheme.text import in_rows, normalise_series

_LARGEST_GRADE = 2**53
_AUTO_SEPARATORS = (" || ", "||", " | ")
_OTHER_SEPARATORS = {"|": "'|'", ";": "';'", "\n": "line breaks", "/": "'/'"}
"""What people put between references too, and what is part of many answers: reported, not split."""

_INSEPARABLE = "references in which '/' separates no answers"
_SEPARABLE_SHARE = 0.8
"""Share of the references with `/` that must look like several for a note to suggest a split."""

_NO_SEPARATOR = re.compile(
    r"(?ix) \d/\d | \b[^\W\d_]{1,2}/[^\W\d_]{1,2}\b | \b[^\W\d_]{1,3}/\d | \band/or\b | // "
    r"| \bs?he/s?he\b |"
    r"/(sec(ond)? | min(ute)? | hour | day | night | week | month | year | annum | kwh | "
    r"lit(er|re) | gallon | met(er|re) | mile | person | capita | user | mol | inch | foot)s?\b"
)
"""A `/` in a fraction, a date, a unit ("km/h", "euros/month"), "and/or" or an address."""

_UNANSWERABLE = (
    "an empty list of references: a question without an answer, where declining is right"
)
_NUMBERS = (
    'a list of numbers in a text, such as [0, 1], is read as one reference; ["0", "1"] is read as '
    "two, and --reference-separator none says that they are one"
)
_WORDS_OF_ONE = 8
_AT_ONCE = 4096
"""Values that are converted at once: until it has them all, Polars takes 5 kB for each list."""
_NAMED_SEPARATORS = {"newline": "\n", "\\n": "\n", "tab": "\t", "\\t": "\t"}
"""Separators that cannot be typed, by name."""

_PERHAPS_NO_WORD = r"(?i)^(?:\s|[[:punct:]]|\b(?:a|an|the)\b)+$"
"""What may normalise to nothing: a look that spares normalising every reference."""

Trouble = dict[int, str]
"""Row (in the batch) to what is wrong with it; the first finding remains."""


@dataclass(frozen=True, kw_only=True)
class ValidatedRows:
    """Typed rows, the lines they came from, what was wrong with the others, notes, and words that
    are no label (`blank_words`)."""

    frame: pl.DataFrame
    lines: np.ndarray[Any, Any]
    problems: list[Problem]
    notes: Counter[str]
    no_labels: Counter[str]


def validate_rows(
    raw: RawBatch,
    given: Mapping[str, Sequence[Any] | pl.Series],
    options: ReadOptions,
    *,
    schema: Mapping[str, Any],
    default_system: str,
    more_references: Sequence[Sequence[Any] | pl.Series] = (),
    again: bool = False,
) -> ValidatedRows:
    """The rows of a raw batch under our column names and types, without the malformed ones.

    Args:
        raw: rows as they stood.
        given: our columns to their raw values, as many as the batch has lines.
        options: how. A row whose label cannot be read is a problem, and remains without it.
        schema: our columns and their types; those not given are null.
        default_system: for rows without a system, or with a blank one.
        more_references: further columns of references, which are added to the first; graded
            references stay as they are.
        again: whether these rows were validated before, with another system's answers, so that
            notes on their references are counted already.
    """
    height = len(raw.lines)
    separator = options.reference_separator
    trouble: Trouble = {}
    unlabelled: Trouble = {}
    notes: Counter[str] = Counter()
    no_labels: Counter[str] = Counter()
    of_references: Counter[str] = Counter()
    columns: dict[str, pl.Series] = {}
    for ours, kind in schema.items():
        if ours not in given:
            columns[ours] = pl.repeat(None, height, dtype=kind, eager=True)
            continue
        values = given[ours]
        if ours == "references":
            columns[ours] = _references(values, separator, trouble, of_references)
            _settle_slashes(of_references)
            for more in more_references if "reference_grades" not in given else ():
                columns[ours] = _together(
                    columns[ours], _references(more, separator, trouble, of_references)
                )
        elif ours in ("reference_grades", "annotator_labels"):
            columns[ours] = number_lists(
                values, ours, unlabelled if ours == "annotator_labels" else trouble
            ).cast(kind)
        elif ours == "label":
            columns[ours] = labels(values, unlabelled, no_labels)
        else:
            columns[ours] = _texts(values, ours, trouble)
        _check_text(columns[ours], ours, options.max_bytes, trouble)
    system = columns["system"]
    known = system.fill_null("" if "system" in given else default_system)
    nameless = (system.str.strip_chars() == "").fill_null(value=True)  # an empty cell of CSV
    columns["system"] = system.zip_with(~nameless, pl.Series([default_system]))
    frame = pl.DataFrame({name: column.alias(name) for name, column in columns.items()})
    frame = frame.with_columns(  # An empty cell of CSV is what null is in JSON.
        pl.when(~is_blank(name)).then(name)
        for name, kind in frame.schema.items()
        if kind == pl.String and name not in _PLAIN
    )
    if options.references != "required":
        unknown = frame["reference_kind"].null_count()
        frame = with_unanswerable(frame)
        of_references[_UNANSWERABLE] += unknown - frame["reference_kind"].null_count()
    needs_references = options.references != "optional"
    bare = _check_rows(
        frame, given_ids="answer_id" in given, trouble=trouble, needs_references=needs_references
    )
    of_references["rows without references"] += bare
    frame = frame.with_columns(pl.col("references").fill_null([]))
    frame = _drop_blank_references(frame, of_references)
    if not again:
        notes += of_references
    lines = np.asarray(raw.lines)
    drop_blank = options.blank_answers == "drop" and "answer" in given
    keep = _kept(frame, trouble, notes, drop_blank=drop_blank)
    problems = [
        Problem(raw.source, int(lines[row]), message, raw.unit, row not in trouble, known[row])
        for row, message in sorted((unlabelled | trouble).items())
    ]
    if not keep.all():
        frame, lines = frame.filter(keep), lines[keep]
    frame = with_final_answers(frame, notes)
    if "answer" in given:
        notes.update(_silent(frame))
    return ValidatedRows(
        frame=frame, lines=lines, problems=problems, notes=+notes, no_labels=no_labels
    )


def with_final_answers(frame: pl.DataFrame, notes: Counter[str]) -> pl.DataFrame:
    """The table as judges read it: see `final_answers`; an error that is none (`NO_ERROR`) is
    null."""
    frame = frame.with_columns(_error())
    # A look that spares more.
    found = frame.select(
        pl.col("answer").str.contains(MORE).any().alias("answer"),
        pl.col("references").explode().str.contains("####", literal=True).any().alias("solved"),
    )
    return final_answers(frame, notes) if any(found.row(0)) else frame


def _error() -> pl.Expr:
    """`answer_error`, null where it says that the call did not fail (`NO_ERROR`)."""
    said = pl.col("answer_error").str.strip_chars().str.to_lowercase()
    return pl.when(~said.is_in(NO_ERROR)).then("answer_error")


def labels(values: Sequence[Any] | pl.Series, trouble: Trouble, words: Counter[str]) -> pl.Series:
    """Human labels as numbers, read as `label_values` says; what is no label goes to `trouble`.

    Words that say that there is no label are counted in `words`.
    """
    series = values if isinstance(values, pl.Series) else _as_series(values)
    if series is not None and (series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null)):
        found, shown = parse_values(series), series
        wrong = found.is_infinite()
    else:
        shown = _texts(values, "label", trouble)
        found, strange = text_values(shown)
        words += blank_words(shown)
        wrong = shown.is_in(strange) | found.is_infinite()
    for row in np.flatnonzero(wrong.fill_null(value=False).to_numpy()):
        trouble.setdefault(
            int(row),
            f"label {shown[int(row)]!r} is none of yes/no, true/false, correct/incorrect, "
            f"a number or blank; {columns_option({'label': 'none'})} leaves the column out",
        )
    return found.zip_with(~wrong.fill_null(value=False), pl.Series([None], dtype=pl.Float64))


def no_label_remarks(words: Mapping[str, int]) -> list[str]:
    """What to say of words that are read as no label, as `blank_words` counts them."""
    return [f"label {word} is read as no label ({in_rows(rows)})" for word, rows in words.items()]


def _as_series(values: Sequence[Any], dtype: Any = None) -> pl.Series | None:
    """Values of one type as they are, or None where they are not of it."""
    try:
        return pl.Series(values, strict=True) if dtype is None else _column(values, dtype)
    except (TypeError, OverflowError, ValueError, pl.exceptions.PolarsError):
        return None


def _column(values: Sequence[Any], dtype: Any) -> pl.Series:
    """Values that are all of a type, or null; a TypeError or an error of Polars for any other."""
    starts = range(0, len(values), _AT_ONCE) or (0,)
    parts = [pl.Series(values[start : start + _AT_ONCE], dtype=dtype) for start in starts]
    return pl.concat(parts, rechunk=True)


def _texts(values: Sequence[Any] | pl.Series, ours: str, trouble: Trouble) -> pl.Series:
    if isinstance(values, pl.Series):
        kind = values.dtype
        if kind.is_nested() or kind.is_float() or kind in (pl.Object, pl.Binary):
            values = values.to_list()
        elif kind == pl.Boolean:
            return values.replace_strict({True: "true", False: "false"}, return_dtype=pl.String)
        else:
            return values.cast(pl.String)
    texts = _as_series(values, pl.String)
    return _converted(values, lambda value: _text(value, ours), trouble) if texts is None else texts


def _converted(
    values: Iterable[Any],
    convert: Callable[[Any], Any],
    trouble: Trouble,
    dtype: Any = pl.String,
) -> pl.Series:
    """The values converted; null where that is a ValueError, whose message is the row's trouble."""

    def attempt(row: int, value: Any) -> Any:
        try:
            return convert(value)
        except ValueError as error:
            trouble.setdefault(row, str(error))
            return None

    return _column([attempt(*pair) for pair in enumerate(values)], dtype)


_PLAIN = ("question", "references", "answer", "answer_id", "system")
"""Columns whose values are texts; others, such as a context, may be lists of texts, and are null
where they are blank."""


def _text(value: Any, ours: str) -> str | None:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):  # Parquet that does not say that its texts are UTF-8.
        value = value.decode("utf-8", "surrogateescape")
    if value is None or isinstance(value, str):
        check_characters(value or "", ours)
        return value
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, list) and ours not in _PLAIN:
        parts = [_text(part, ours) for part in value]  # Passages, as retrieval gives them.
        return "\n\n".join(part for part in parts if part and part.strip())
    raise ValueError(f"the {ours} must be text, not {type(value).__name__} {str(value)[:40]!r}")


def _references(
    values: Sequence[Any] | pl.Series, separator: str, trouble: Trouble, notes: Counter[str]
) -> pl.Series:
    if isinstance(values, pl.Series):
        if values.dtype == pl.List(pl.String):
            return values
        if values.dtype != pl.String:
            values = values.to_list()
    if not isinstance(values, pl.Series):
        are_lists = all(isinstance(value, list) for value in values)
        series = _as_series(values, pl.List(pl.String) if are_lists else pl.String)
        if series is None:
            convert = partial(_reference_list, separator=separator, notes=notes)
            return _converted(values, convert, trouble, pl.List(pl.String))
        if are_lists:
            return series
        values = series
    # Texts, as CSV gives them: distinct ones once, since systems share questions.
    counted = values.value_counts(name="rows", sort=False)
    distinct, wrong = counted.to_series(0), Trouble()
    rows_of = iter(counted["rows"])

    def split(text: str | None) -> list[str] | None:
        said, rows = Counter[str](), next(rows_of)
        try:
            return _reference_list(text, separator, said)
        finally:
            notes.update(dict.fromkeys(said, rows))

    lists = _converted(distinct, split, wrong, pl.List(pl.String))
    if wrong:
        messages = {distinct[row]: message for row, message in wrong.items()}
        for row in np.flatnonzero(values.is_in(list(messages)).to_numpy()):
            trouble.setdefault(int(row), messages[values[int(row)]])
    table = pl.DataFrame({"text": distinct, "list": lists})
    return values.to_frame("text").join(
        table, on="text", how="left", nulls_equal=True, maintain_order="left"
    )["list"]


def _together(references: pl.Series, more: pl.Series) -> pl.Series:
    """The lists of both columns, each text once; null only where both are."""
    both = pl.DataFrame({"a": references, "b": more}).select(
        pl.when(pl.col("a").is_null() & pl.col("b").is_null())
        .then(None)
        .otherwise(pl.col("a").fill_null([]).list.concat(pl.col("b").fill_null([])))
        .list.unique(maintain_order=True)
    )
    return both.to_series()


def reference_texts(value: Any, separator: str = "auto") -> list[str]:
    """The references in one value, as files and objects have them; none where it is None.

    Args:
        value: a list, SQuAD's object, or a text: a list in JSON or as Python prints it, several
            texts with a separator between them, or one reference. A list of bare numbers in a text,
            `[0, 1]`, is one reference.
        separator: as in `ReadOptions`.

    Raises:
        DataError: a value that cannot be read.
    """
    try:
        return _reference_list(value, separator, Counter()) or []
    except ValueError as error:
        raise DataError(str(error)) from None


def _reference_list(value: Any, separator: str, notes: Counter[str]) -> list[str] | None:
    if value is None:
        return None
    if isinstance(value, Mapping) and isinstance(value.get("text"), list):
        value = value["text"]  # SQuAD: {"text": [...], "answer_start": [...]}
    if isinstance(value, list | tuple | np.ndarray):
        texts = [_text(item, "references") for item in value]
        return [text for text in texts if text is not None]
    if isinstance(value, Mapping):
        raise ValueError(f"the references must be a list or text, not an object {str(value)[:40]}")
    text = _text(value, "references") or ""
    if is_number_list(text):
        if separator == "auto":
            notes[_NUMBERS] += 1
        return [text]
    written = parse_list_literals(text, notes)
    if written is not None:
        return _reference_list(written, separator, notes)
    named = _NAMED_SEPARATORS.get(separator, separator)
    if "####" in text and re.match(WORKED, text):
        return [text]  # A working may have line breaks and bars.
    choices = _AUTO_SEPARATORS if separator == "auto" else (named,)
    for mark in choices:
        if separator != "none" and mark in text:
            if separator == "auto":
                note = (
                    f"references split at {mark.strip()!r}; --reference-separator none keeps them"
                )
                notes[note] += 1
            return [part.strip() for part in text.split(mark)]
    if separator == "auto":
        _note_separators(text, notes)
    return [text]


def _note_separators(text: str, notes: Counter[str]) -> None:
    """Count a text that may be several references, under the separator that it has."""
    for mark in _OTHER_SEPARATORS:
        if mark == "/" and _NO_SEPARATOR.search(text):
            notes[_INSEPARABLE] += 1
        elif mark in text and _may_be_several(text.split(mark)):
            notes[_separator_note(mark)] += 1


def _separator_note(mark: str) -> str:
    typed = "newline" if mark == "\n" else mark
    return (
        f"references with {_OTHER_SEPARATORS[mark]} are read as one; --reference-separator "
        f"'{typed}' splits them, and none says that they are one"
    )


def _settle_slashes(notes: Counter[str]) -> None:
    """Suggest no split at `/` that damages units and fractions; else count all rows it changes."""
    damaged, note = notes.pop(_INSEPARABLE, 0), _separator_note("/")
    if damaged and notes[note] < _SEPARABLE_SHARE * (notes[note] + damaged):
        del notes[note]
    elif damaged:
        notes[note] += damaged


def _may_be_several(parts: list[str]) -> bool:
    """Whether what lies between separators may be an answer each: some words, not sentences."""
    filled = [part for part in parts if part.strip()]
    return len(filled) > 1 and all(len(part.split()) <= _WORDS_OF_ONE for part in filled)


def number_lists(values: Sequence[Any] | pl.Series, ours: str, trouble: Trouble) -> pl.Series:
    """Lists of numbers, or of words for labels; also as JSON text, as in CSV.

    What cannot be read goes to `trouble` and is null. Grades (`ours` is `reference_grades`) must be
    whole numbers.
    """
    whole = ours == "reference_grades"
    if isinstance(values, pl.Series):
        inner = getattr(values.dtype, "inner", pl.String)
        if inner.is_integer() if whole else inner.is_numeric():
            return values.cast(pl.List(pl.Float64)).list.eval(pl.element().fill_nan(None))
        values = values.to_list()
    convert = partial(_numbers, ours=ours, whole=whole)
    return _converted(values, convert, trouble, pl.List(pl.Float64))


def _numbers(value: Any, ours: str, *, whole: bool) -> list[float | None] | None:
    if isinstance(value, str):
        if not value.strip():
            return None
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            raise ValueError(f"the {ours} must be a JSON list, not {value[:40]!r}") from None
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise ValueError(f"the {ours} must be a list, not {str(value)[:40]!r}")
    found: list[float | None] = []
    for item in value:
        try:
            found.append(None if item is None else label_of(str(item)))
        except ValueError:
            raise ValueError(f"{str(item)[:40]!r} in the {ours} is not a number") from None
        if whole and not _is_whole(found[-1]):
            raise ValueError(f"{str(item)[:40]!r} in the {ours} is not a whole number")
    return found


def _is_whole(grade: float | None) -> bool:
    return grade is not None and abs(grade) <= _LARGEST_GRADE and grade.is_integer()


def _check_text(column: pl.Series, ours: str, max_bytes: int, trouble: Trouble) -> None:
    if column.dtype == pl.List(pl.String):
        column = column.list.join("\n")
    if column.dtype != pl.String:
        return
    nul = column.str.contains("\x00", literal=True)
    if nul.any():
        for row in np.flatnonzero(nul.fill_null(value=False).to_numpy()):
            trouble.setdefault(int(row), f"a NUL byte in the {ours}; remove it")
    sizes = column.str.len_bytes()
    longest = sizes.max()
    if isinstance(longest, int) and longest > max_bytes:
        for row in np.flatnonzero((sizes > max_bytes).fill_null(value=False).to_numpy()):
            trouble.setdefault(
                int(row),
                f"the {ours} has {sizes[int(row)]:,} bytes; the limit is {max_bytes:,} "
                "(--max-bytes raises it)",
            )


def with_unanswerable(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows whose list of references is given and empty are of the kind `none`: the question has no
    answer, as in SQuAD 2.0. A null (a blank cell) says nothing of the kind."""
    empty = (pl.col("references").list.len() == 0) & pl.col("reference_kind").is_null()
    kind = pl.when(empty).then(pl.lit("none")).otherwise("reference_kind")
    return frame.with_columns(reference_kind=kind)


def _check_rows(
    frame: pl.DataFrame, *, given_ids: bool, trouble: Trouble, needs_references: bool
) -> int:
    """Note malformed rows; how many rows have no references where none are needed."""
    grades = pl.col("reference_grades").list.len()
    has_text = pl.col("references").list.eval(pl.element().str.strip_chars() != "").list.any()
    wanted = pl.col("reference_kind").fill_null("") != "none"
    checks: Iterable[tuple[pl.Expr, str]] = [
        (is_blank("question"), "no question"),
        (~has_text.fill_null(value=False) & wanted, "no references"),
        (
            (grades != pl.col("references").list.len()).fill_null(value=False),
            "as many reference_grades as references are needed",
        ),
        (
            ~pl.col("reference_kind").fill_null("text").is_in(["text", "regex", "none"]),
            "reference_kind must be text or regex, or none for a question without an answer",
        ),
    ]
    if given_ids:
        checks = [*checks, (is_blank("answer_id"), "no id, though other rows have one")]
    found = frame.select(check.alias(message) for check, message in checks)
    bare = 0 if needs_references else int(found["no references"].sum())
    for message in found.columns:
        if message == "no references" and not needs_references:
            continue
        for row in np.flatnonzero(found[message].to_numpy()):
            trouble.setdefault(int(row), message)
    return bare


def is_blank(text: str | pl.Expr) -> pl.Expr:
    """Whether a column, by its name or not, has no text: null, or nothing but spaces.

    A blank answer is none.
    """
    column = pl.col(text) if isinstance(text, str) else text
    return (column.str.strip_chars() == "").fill_null(value=True)


def _kept(
    frame: pl.DataFrame, trouble: Trouble, notes: Counter[str], *, drop_blank: bool
) -> np.ndarray[Any, Any]:
    """Which rows are no malformed ones; nor, to drop, without an answer and a failed call."""
    keep = np.ones(frame.height, dtype=bool)
    keep[list(trouble)] = False
    if drop_blank:
        blank = frame.select(is_blank("answer") & _error().is_null()).to_series()
        notes["rows without an answer, left out"] += int((blank.to_numpy() & keep).sum())
        keep &= ~blank.to_numpy()
    return keep


SILENT = "rows without an answer, judged as wrong"
"""The note on rows without an answer."""


def _silent(frame: pl.DataFrame) -> dict[str, int]:
    """Rows without an answer, of calls that did not fail, to questions that have one."""
    has_answer = ~pl.col("reference_kind").eq_missing("none")
    silent = is_blank("answer") & pl.col("answer_error").is_null() & has_answer
    return {SILENT: frame.select(silent.sum()).item()}


def _drop_blank_references(frame: pl.DataFrame, notes: Counter[str]) -> pl.DataFrame:
    """Blank references would match anything; they leave the list, counted, with their grades."""
    filled = pl.element().str.strip_chars() != ""
    kept = frame["references"].list.eval(pl.element().filter(filled))
    dropped = int(frame["references"].list.len().sum() or 0) - int(kept.list.len().sum() or 0)
    if dropped:
        notes["blank references left out"] += dropped
        places = pl.col("references").list.eval(filled.arg_true())
        grades = pl.col("reference_grades").list.gather(places, null_on_oob=True)
        frame = frame.with_columns(kept, grades)
    candidates = (
        pl.DataFrame({"row": pl.int_range(len(kept), eager=True), "text": kept})
        .explode("text")
        .filter(pl.col("text").str.contains(_PERHAPS_NO_WORD))
    )
    if candidates.is_empty():
        return frame
    bare = candidates.filter(normalise_series(candidates["text"]) == "")["row"].n_unique()
    notes["a reference is an article or signs alone: lexical judges take it as written"] += bare
    return frame
