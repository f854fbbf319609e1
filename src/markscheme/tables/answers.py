"""The answers table: questions, reference answers and systems' answers, one row per answer.

Whatever the input looks like, the table has all columns of `SCHEMA`; what was not given is null.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import polars as pl

from markscheme.errors import BadRowsError, DataError, Problem, SkippedRowsWarning, gathered
from markscheme.flags import columns_option, typed_columns
from markscheme.tables.atomic_write import whole_file
from markscheme.tables.columns import REQUIRED, label_key
from markscheme.tables.files import RawBatch, Source, iter_raw, sources_of, system_names
from markscheme.tables.joins import repeat_ids
from markscheme.tables.judgments import JUDGMENTS_SCHEMA
from markscheme.tables.label_values import LabelOffers
from markscheme.tables.opened import SUFFIXES, shown
from markscheme.tables.paths import values_at
from markscheme.tables.predictions import Predictions, question_ids, with_predictions
from markscheme.tables.read_options import ReadOptions
from markscheme.tables.recognition import (
    Recognised,
    number_questions,
    recognise_columns,
    systems_in,
    unread,
)
from markscheme.tables.validation import SILENT, no_label_remarks, validate_rows
from markscheme.text import csv_cell, in_rows

ANSWERS_SCHEMA: dict[str, Any] = {
    "answer_id": pl.String,
    "question": pl.String,
    "references": pl.List(pl.String),
    "answer": pl.String,
    "system": pl.String,
    "reference_grades": pl.List(pl.Int64),
    "reference_kind": pl.String,
    "label": pl.Float64,
    "annotator_labels": pl.List(pl.Float64),
    "context": pl.String,
    "answer_error": pl.String,
}
"""Columns of an answers table, in order. `answer_error` says why the call of a system failed that
should have given the answer: the answer is null, and is not judged."""


_LABELS = frozenset({"label", "annotator_labels"})

_NO_SLICES = {*JUDGMENTS_SCHEMA, "mode", "evidence", "outcome", "unsure"} - {"answer_id"}
"""Columns of judgments, and of tables of failures, which a column of the user's would replace."""

_NAMED = 12
"""Columns that are not used, which a note names."""

_KEY_BYTES = 16
"""Of 10^9 different rows two share a key with a probability below 10^-20."""

_ID_DIGITS = 24
"""Hexadecimal digits of an id that is made from the content of its row."""


@dataclass(kw_only=True)
class Met:
    """What was met while answers were read.

    Attributes:
        rows: answers.
        repeats: rows equal to an earlier one in every column that is read.
        problems: bad rows that were left out, and labels that could not be read.
        ignored: columns that are not used, in order.
        notes: what was counted, for the user, with the number of rows.
        recognised: what was read as what, where names in the source are not ours, in order.
        annotators: the columns of several people's labels, in the order of `annotator_labels`,
            where they are called other than ours.
        labelled: columns of labels, with the number of rows that have one.
        offers: columns that are not used and may hold labels.
        no_labels: words that are read as no label, as `blank_words` names them, with the number of
            rows.
        blank_cells: systems with a column of their own to its cells without an answer, which are
            judged as wrong.
    """

    rows: int = 0
    repeats: int = 0
    problems: list[Problem] = field(default_factory=list)
    ignored: dict[str, None] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    recognised: dict[str, None] = field(default_factory=dict)
    annotators: list[str] = field(default_factory=list)
    labelled: Counter[str] = field(default_factory=Counter)
    offers: LabelOffers = field(default_factory=LabelOffers)
    no_labels: Counter[str] = field(default_factory=Counter)
    blank_cells: Counter[str] = field(default_factory=Counter)

    def add(self, later: Mapping[str, Any]) -> None:
        """Take in what was met in a later part of the same input, from JSON (`orjson`)."""
        self.rows += later["rows"]
        self.repeats += later["repeats"]
        self.problems += [Problem(**one) for one in later["problems"]]
        self.ignored |= later["ignored"]
        self.notes.update(later["notes"])
        self.recognised |= later["recognised"]
        self.annotators = self.annotators or later["annotators"]
        self.labelled.update(later["labelled"])
        self.offers.add(**later["offers"])
        self.no_labels.update(later["no_labels"])
        self.blank_cells.update(later["blank_cells"])

    @property
    def offered(self) -> list[str]:
        """Columns that may hold people's labels, with the option, and columns that lack them."""
        empty = [f"{name}: no row has a label" for name, rows in self.labelled.items() if not rows]
        return [*empty, *(self.offers.said() if self.offers.words else ())]

    @property
    def counted(self) -> list[str]:
        """What was counted, as notes for the user."""
        notes = [f"{text} ({in_rows(rows)})" for text, rows in self.notes.items()]
        return [*notes, *no_label_remarks(self.no_labels)]

    @property
    def blank(self) -> list[str]:
        """What to say of cells of a wide table without an answer, of each system."""
        said = "blank cells, judged as wrong; if the system never got these questions"
        return [
            f"{system}: {said}, --blank-answers drop leaves them out ({in_rows(rows)})"
            for system, rows in self.blank_cells.items()
        ]


def repeated(rows: int) -> list[str]:
    """The note on rows that repeat an earlier one, of which there are so many."""
    if not rows:
        return []
    said = "rows that repeat an earlier one exactly were counted; --repeats drop leaves them out"
    return [f"{said} ({in_rows(rows)})"]


def slices_of(answers: pl.DataFrame) -> list[str]:
    """The columns of an answers table that are the user's own, retained to group figures.

    Not those that only a judge's prompt names, where they are called like columns of judgments.
    """
    return [name for name in answers.columns if name not in {*ANSWERS_SCHEMA, *_NO_SLICES}]


class AnswersReader:
    """Reads sources as batches of the answers table and remembers what it saw.

    That is `met`; `last` is what the last batch was recognised as, with its values, and
    `repeated_ids` are rows whose id an earlier, different row has.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        options: ReadOptions | None = None,
        *,
        first_row: int = 0,
        part_of: str | None = None,
        system: str | None = None,
        after: AnswersReader | None = None,
    ) -> None:
        """Keep what to read.

        Args:
            sources: what to read, in order.
            options: how.
            first_row: rows of the same input that were read elsewhere before these.
            part_of: the source in messages, of which these are rows; None where all are here.
            system: the system's name where no column gives it; None takes the file's name.
            after: what read earlier sources of the same input, whose ids are used already.

        Raises:
            DataError: a slice has the name of a column of judgments.
        """
        for name in options.slices if options else ():
            if isinstance(ANSWERS_SCHEMA.get(name), pl.List):
                raise DataError(
                    f"the answers cannot be sliced by {name!r}, which are lists: copy yours to "
                    f"another column, such as {f'own_{name}'!r}"
                )
            if name in _NO_SLICES:
                raise DataError(
                    f"the answers cannot be sliced by a column called {name!r}, since tables of "
                    f"judgments have one of that name: rename it in the file, such as to "
                    f"{f'own_{name}'!r}"
                )
        self.sources = list(sources)
        self.options = options or ReadOptions()
        self.system = system
        self.met = Met()
        self._first_row = first_row
        self._part_of = part_of
        self.repeated_ids: list[Problem] = []
        self.last: Recognised | None = None
        self._seen: _SeenIds = _SeenIds() if after is None else after._seen
        self._rows_seen: _SeenIds = _SeenIds() if after is None else after._rows_seen
        self._named: set[Problem] = set()
        self._begun: dict[str, bool] = {}
        self._files: dict[str, dict[str, None]] = {}

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Batches in order.

        Raises:
            DataError: a source cannot be read, or has no column for questions, references or
                answers.
            BadRowsError: malformed rows, unless they are to be skipped, or different rows with the
                same id, in any case; up to 20 are named.
        """
        sources, predicted = self.sources, list[Predictions]()
        if len(sources) > 1:
            sources, predicted = with_predictions(sources, self.options)
        for source, name in zip(sources, system_names(sources), strict=True):
            for raw in iter_raw(source, self.options):
                if self._part_of is not None:
                    raw.source = shown(self._part_of)
                    raw.lines = [line + self._first_row for line in raw.lines]
                frame = self.answers_of(raw, predicted, default_system=self.system or name)
                if not self._stopping and frame.height:
                    self.met.rows += frame.height
                    yield frame
        for one in predicted:
            self.met.notes.update(one.unused_note())
        self._seen, self._rows_seen = _SeenIds(), _SeenIds()  # What follows needs the memory.
        if self._stopping:
            others = [] if self.options.on_bad_row == "skip" else self.met.problems
            found = sorted([*others, *self.repeated_ids], key=lambda one: (one.source, one.line))
            raise BadRowsError(found, skippable=not self.repeated_ids)
        if not self.met.rows:
            where = ", ".join(
                str(one) if isinstance(one, str | Path) else "the data" for one in self.sources
            )
            bad = sum(not one.kept for one in self.met.problems)
            skipped = f" ({bad} bad rows were skipped)" if bad else ""
            raise DataError(f"{where} holds no answers{skipped}")

    def said(self) -> list[str]:
        """What was guessed and counted, as notes for the user."""
        met = self.met
        return [*met.recognised, *met.counted, *met.blank, *repeated(met.repeats)]

    @property
    def _stopping(self) -> bool:
        # Of two answers of one id neither is malformed, and labels would be matched with both.
        return bool(self.repeated_ids) or (
            self.options.on_bad_row == "error" and bool(self.met.problems)
        )

    @property
    def _own(self) -> list[str]:
        """Columns that are read under their own names."""
        slices = (name for name in self.options.slices if name not in ANSWERS_SCHEMA)
        return [*self.options.own_columns, *slices]

    def answers_of(
        self, raw: RawBatch, predicted: Sequence[Predictions], *, default_system: str
    ) -> pl.DataFrame:
        """The answers of one raw batch; what was met on the way is remembered.

        Args:
            raw: rows as they stood.
            predicted: answers in files of their own.
            default_system: for rows that name none.

        Raises:
            DataError: a required column is missing, or two could be the same one.
        """
        self.met.problems += raw.problems
        guessed = (raw.notes, *(one.notes for one in predicted))
        self.met.recognised |= dict.fromkeys(note for notes in guessed for note in notes)
        if not raw.lines:
            return pl.DataFrame(schema=ANSWERS_SCHEMA)
        given = dict(self.options.columns)
        if predicted:
            given["answer"] = "none"
        optional = self.options.references == "optional"
        found = recognise_columns(
            raw,
            given,
            self.options.answer_columns,
            required=tuple(one for one in REQUIRED if one != "references" or not optional),
            own=self._own,
        )
        if predicted and "answer_id" not in self.options.columns:
            _match_by_id(found, raw, predicted)
        if raw.source not in self._begun:
            self._begun[raw.source] = self._first_look(found, raw)
        if self._begun[raw.source]:
            found.places.pop("answer_id", None)
            numbers = found.values.get("answer_id", ())
            bare = any(one is None or not str(one).strip() for one in numbers)
            if bare or "system" not in found.values:
                found.values.pop("answer_id", None)
        self.last = found
        said = found.said(raw.source)
        self.met.recognised |= {said: None} if said else {}
        called = found.annotators.items()
        renamed = any(ours != name for ours, name in called)
        self.met.annotators = [name for _, name in called] if renamed else []
        if found.format is None:  # What else a tool writes down is the tool's own.
            unused = [name for name in found.unused if name not in self._own]
            self.met.ignored |= dict.fromkeys(unused)
            if unused and _LABELS.isdisjoint(found.values) and not found.labels:
                keys = {name: label_key(name, found.answers) for name in unused}
                self.met.offers.see(raw.columns, keys, len(raw.lines))
        if predicted:
            tables = _predicted(found, predicted, raw)
        elif found.answers:
            tables = _a_system_each(found, raw)
        else:
            tables = [found.values]
        self.met.notes.update(found.notes)
        self.met.no_labels.update(found.no_labels)
        more = [raw.columns[name] for name in found.more_references]
        parts = [
            self._typed(raw, values, more, default_system, place=place, of=len(tables))
            for place, values in enumerate(tables)
        ]
        frame = pl.concat(parts)
        self._note_other_answers(frame, raw, found)
        self._note_name(frame, default_system, raw.source)
        if "label" in found.places and found.format is None:
            self.met.labelled[found.place_of("label")] += frame["label"].count()
        return frame

    def _first_look(self, found: Recognised, raw: RawBatch) -> bool:
        """Whether a source's ids number questions, each listed once for every system, or are blank.

        What may name the systems, where no column is known to, is offered in a note.
        """
        given = self.options.columns
        ids = found.values.get("answer_id") if "answer_id" not in given else None
        of = found.values["question"] if ids is None else ids
        if ids is not None and not any(one is not None and str(one).strip() for one in ids):
            return True
        if "system" in found.places:
            numbers = ids is not None and number_questions(ids, found.values)
        elif self._one_system(found):
            return False
        else:
            name, kinds = systems_in(raw, found, of)
            numbers = ids is not None and bool(kinds)
            if kinds:
                self.met.recognised[
                    f"{name} may say whose answer each row is ({', '.join(kinds[:3])}"
                    f"{', ...' if len(kinds) > 3 else ''}): "
                    f"{typed_columns({'system': name})} reads it"
                ] = None
        if numbers:
            self.met.recognised[
                f"{found.places['answer_id']} is the same for several systems, so it numbers "
                "questions"
            ] = None
        return numbers

    def _one_system(self, found: Recognised) -> bool:
        """Whether no column need say whose answers these are."""
        return "system" in self.options.columns or bool(found.answers) or found.format is not None

    def _note_other_answers(self, frame: pl.DataFrame, raw: RawBatch, found: Recognised) -> None:
        """Count the rows that answer a question otherwise than a row before of the same system."""
        if frame["question"].n_unique() == frame.height:
            return
        item = ("question", pl.col("references").list.join("\x1e"), "context", "system")
        asked, answered = frame.select(
            pl.struct(*item).n_unique().alias("asked"),
            pl.struct(*item, "answer").n_unique().alias("answered"),
        ).row(0)
        said = "a question has other answers of the same system, which all count"
        if "system" not in found.places and not self._one_system(found) and frame.height:
            unused = unread(raw, found)
            names = f" (not used: {', '.join(unused[:_NAMED])})" if unused else ""
            said += f"; no column says whose they are, --columns system=NAME names one{names}"
        self.met.notes.update({said: answered - asked} if answered > asked else {})

    def _note_name(self, frame: pl.DataFrame, system: str, source: str) -> None:
        """Say where a system's name, which no column gives, begins with its file's folder, and
        where it is that of a file before."""
        if not frame["system"].eq(system).any():
            return
        folder, _, stem = system.rpartition("/")
        files = self._files.setdefault(system, {})
        files[source] = None
        if len(files) == 2:
            self.met.recognised[
                f"{' and '.join(files)} are read as one system, {stem!r}, since their names are "
                "alike up to the first dot; if they are of several, rename them (gpt4-base.jsonl) "
                "or add a column 'system'"
            ] = None
        if folder:
            self.met.recognised[
                f"several files are called {stem!r}, so their folders are part of their systems' "
                "names; parts of one system need a column that names it"
            ] = None

    def _typed(
        self,
        raw: RawBatch,
        values: Mapping[str, Sequence[Any] | pl.Series],
        more_references: Sequence[Sequence[Any] | pl.Series],
        default_system: str,
        *,
        place: int,
        of: int,
    ) -> pl.DataFrame:
        """The rows typed, with ids; of a wide table, those of the system in this place `of` all."""
        result = validate_rows(
            raw,
            values,
            self.options,
            schema=ANSWERS_SCHEMA | dict.fromkeys(self._own, pl.String),
            default_system=default_system,
            more_references=more_references,
            again=place > 0,
        )
        # A row of a wide table is several answers, and malformed once, whosever they are.
        problems = [one if of == 1 else replace(one, system="") for one in result.problems]
        self.met.problems += [one for one in problems if one not in self._named]
        self._named.update(problems)
        found = Counter(result.notes)
        if self.last is not None and self.last.answers and found[SILENT]:
            self.met.blank_cells[values["system"][0]] += found.pop(SILENT)
        self.met.notes.update(+found)
        self.met.no_labels.update(result.no_labels)
        frame, lines = result.frame, result.lines
        of_questions = "answer_id" in values and self._begun[raw.source]
        own_ids = "answer_id" in values and not of_questions
        same = pl.Series(self._rows_seen.add(frame.hash_rows(seed=1).to_numpy()))
        if self.options.repeats == "drop" and same.any():
            said = "rows that repeat an earlier one exactly are left out"
            self.met.notes[said] += int(same.sum())
            frame, lines, same = frame.filter(~same), lines[(~same).to_numpy()], same.filter(~same)
        self.met.repeats += int(same.sum())
        if own_ids:
            return self._with_given_ids(raw, frame, lines, same)
        return self._with_new_ids(frame, of_questions=of_questions)

    def _with_given_ids(
        self, raw: RawBatch, frame: pl.DataFrame, lines: np.ndarray[Any, Any], same: pl.Series
    ) -> pl.DataFrame:
        """The rows whose id is theirs alone; a repeat of a row has its number behind the id.

        Args:
            raw: what the rows are from.
            frame: the rows.
            lines: where they are.
            same: which of them repeat an earlier one in every column.
        """
        again = pl.Series(self._seen.add(frame["answer_id"].hash().to_numpy()))
        if same.any():
            numbered = repeat_ids(pl.Series(self._numbers(frame.height)))
            frame = frame.with_columns(
                pl.when(same).then(numbered).otherwise("answer_id").alias("answer_id")
            )
        wrong = again & ~same
        if not wrong.any():
            return frame
        first = dict(zip(frame["answer_id"].reverse(), lines[::-1], strict=True))
        for line, answer_id, system in zip(
            lines[wrong.to_numpy()], *frame.filter(wrong)["answer_id", "system"], strict=True
        ):
            earlier = f" in {raw.unit} {first[answer_id]}" if first[answer_id] != line else ""
            self.repeated_ids.append(
                Problem(
                    raw.source,
                    int(line),
                    f"the id {answer_id!r} was used before{earlier}, for a row that is not the "
                    "same; if that column numbers questions rather than answers, pass "
                    + columns_option({"answer_id": "none"}),
                    unit=raw.unit,
                    system=system,
                )
            )
        return frame.filter(~wrong)

    def _with_new_ids(self, frame: pl.DataFrame, *, of_questions: bool) -> pl.DataFrame:
        """Ids of the content, or of a question's number and the system, as in wide tables.

        So labels that have the number and the system are matched (`matched_on`).
        """
        if of_questions:
            ids = frame.select(pl.format("{}:{}", "answer_id", "system")).to_series()
        else:
            ids = content_ids(frame)
        again = pl.Series(self._seen.add(ids.hash().to_numpy()))
        if again.any():
            place = pl.Series(self._numbers(frame.height)).cast(pl.String)
            ids = ids.zip_with(~again, ids + "-" + place)
        return frame.with_columns(ids.alias("answer_id"))

    def _numbers(self, rows: int) -> np.ndarray[Any, Any]:
        """The numbers of so many rows that follow those read so far, from 1."""
        first = self._first_row + self.met.rows
        return np.arange(first, first + rows) + 1


def read_answers(
    source: Source | Sequence[str | Path], options: ReadOptions | None = None
) -> pl.DataFrame:
    """The whole answers table of a path, frame or list of dicts, or of several paths.

    Warns:
        SkippedRowsWarning: rows, or labels, cannot be used and are left out.

    Raises:
        DataError: as `AnswersReader`.
    """
    return read_with_notes(source, options)[0]


def read_with_notes(
    source: Source | Sequence[str | Path], options: ReadOptions | None = None
) -> tuple[pl.DataFrame, list[str]]:
    """As `read_answers`, with what was guessed and counted, as notes for the user."""
    reader = AnswersReader(sources_of(source), options)
    table = pl.concat(list(reader))
    _warn_of_skipped(reader.met.problems)
    return table, reader.said()


def _warn_of_skipped(problems: Sequence[Problem]) -> None:
    for kept, what in ((False, "left out"), (True, "read without the label")):
        some = [one for one in problems if one.kept is kept]
        if some:
            lines = [*map(str.strip, gathered(some))]
            listed = "; ".join([*lines[:_NAMED], *(["..."] if len(lines) > _NAMED else [])])
            text = f"{in_rows(len(some))} {what}: {listed}"
            warnings.warn(text, SkippedRowsWarning, stacklevel=4)


def content_ids(frame: pl.DataFrame) -> pl.Series:
    """An id for each row from its question, references, answer and system: 24 hex digits.

    Equal rows have equal ids, on every machine and version, and different rows different ones.
    Ids are hashes of the texts as version 0.1.0 joined them. Where other rows would have been
    joined to the same text (a separator in a text, an answer that is the sign of a null), they are
    hashes of `row_texts`.
    """
    columns = ["question", "references", "answer", "system"]
    references, joined = pl.col("references"), pl.col("joined")
    count, first = references.list.len(), references.list.first()
    table = frame.select(
        *columns,
        pl.concat_str(
            "question",
            references.list.join("\x1e"),
            pl.col("answer").fill_null("\x00"),
            "system",
            separator="\x1f",
        ).alias("joined"),
    )
    plain = table.select(
        (joined.str.count_matches("\x1f", literal=True) == len(columns) - 1)
        & (joined.str.count_matches("\x1e", literal=True) + 1 == count.clip(1))
        & ((count != 1) | (first.fill_null("") != ""))
        & pl.col("answer").ne_missing("\x00")
    ).to_series()
    forged = table.filter(~plain.fill_null(value=False))
    texts = iter(row_texts(forged, columns))
    ids = [
        blake2b(text.encode(), digest_size=_ID_DIGITS // 2).hexdigest()
        if old
        else blake2b(next(texts).encode(), digest_size=_KEY_BYTES).hexdigest()[:_ID_DIGITS]
        for text, old in zip(table["joined"], plain, strict=True)
    ]
    return pl.Series("answer_id", ids, dtype=pl.String)


def row_texts(frame: pl.DataFrame, columns: Sequence[str] | None = None) -> pl.Series:
    """What each row holds, as one text: equal where the rows are, and else different.

    A cell is written as its kind, its length and its content, so that no text can pass for a null,
    a number, a list or the end of a cell. Names of columns do not count, nor do widths of numbers:
    1 is the same in columns of 8 and of 64 bits. 1 and "1" are two cells.

    Args:
        frame: a table of texts, whole numbers, and lists of these to any depth; any may be null.
        columns: what distinguishes rows, in this order; None for all columns.

    Returns:
        Series `text`, as long as all cells of the row together, the same on every machine.

    Raises:
        DataError: there are no columns, or one holds something else.
    """
    names = frame.columns if columns is None else list(columns)
    if not names:
        raise DataError("rows without columns cannot be distinguished")
    cells = [_encoded(pl.col(name), frame.schema[name]) for name in names]
    return frame.select(pl.concat_str(cells).alias("text")).to_series()


def _encoded(cell: pl.Expr, kind: Any) -> pl.Expr:
    """A cell as text that ends where it says, so that texts set side by side stay apart."""
    dtype = kind() if isinstance(kind, type) else kind
    if isinstance(dtype, pl.Null):
        return cell.cast(pl.String).fill_null("n")
    if isinstance(dtype, pl.List):
        inner = cell.list.eval(_encoded(pl.element(), dtype.inner)).list.join("")
        found = pl.concat_str(pl.lit("l"), cell.list.len(), pl.lit(":"), inner)
    elif isinstance(dtype, pl.String):
        found = pl.concat_str(pl.lit("s"), cell.str.len_bytes(), pl.lit(":"), cell)
    elif dtype.is_integer():
        found = pl.concat_str(pl.lit("o3:Int"), cell.cast(pl.String), pl.lit(";"))
    else:
        raise DataError(f"values of type {dtype} do not distinguish rows")
    return found.fill_null("n")


class _SeenIds:
    """Which ids came before, as 64-bit hashes: 8 bytes an id, in a few sorted runs.

    A run is merged with those that are no longer, so that an id is moved seldom in a long file.
    """

    def __init__(self) -> None:
        self._runs: list[np.ndarray[Any, np.dtype[np.uint64]]] = []

    def add(self, hashes: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Remember `hashes`; true where one was seen before, in this call or an earlier one."""
        distinct, first = np.unique(hashes, return_index=True)
        new = np.ones(len(distinct), dtype=bool)
        for run in self._runs:
            near = np.minimum(np.searchsorted(run, distinct), len(run) - 1)
            new &= run[near] != distinct
        run = distinct[new]
        while self._runs and len(self._runs[-1]) <= len(run):
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        if len(run):
            self._runs.append(run)
        again = np.ones(len(hashes), dtype=bool)
        again[first[new]] = False
        return again


def _match_by_id(found: Recognised, raw: RawBatch, predicted: Sequence[Predictions]) -> None:
    """Take the column of ids that the answers have, whatever else is called an id.

    2WikiMultihopQA has an `answer_id` too, which names what the answer is about.
    """
    column = question_ids(raw.columns, predicted)
    if column is None:
        return
    before = found.places.get("answer_id")
    found.places["answer_id"], found.values["answer_id"] = column, raw.columns[column]
    found.unused = [name for name in found.unused if name != column]
    if before in raw.columns and before != column:
        found.unused.append(before)


def _predicted(
    found: Recognised, predicted: Sequence[Predictions], raw: RawBatch
) -> list[dict[str, Sequence[Any] | pl.Series]]:
    """The rows with the answers of each file, joined by id; those without one are counted.

    Raises:
        DataError: the source has no ids, or none that a file answers.
    """
    if "answer_id" not in found.values:
        raise DataError(
            f"{raw.source} has no ids to match the answers by; say which column they are with "
            f"{columns_option({'answer_id': 'NAME'})}"
        )
    ids = [
        # A question without an id was answered by nobody, and stays a question.
        f"{raw.unit} {line}" if name is None or not str(name).strip() else str(name)
        for name, line in zip(found.values["answer_id"], raw.lines, strict=True)
    ]
    tables = []
    for one in predicted:
        met = {name for name in ids if name in one.answers}
        if not met and not one.used:
            raise DataError(
                f"none of the {len(one.answers)} ids of {one.file}, such as "
                f"{next(iter(one.answers), None)!r}, is one of {raw.source}, such as "
                f"{ids[0]!r}; say which column holds them with "
                f"{columns_option({'answer_id': 'NAME'})}"
            )
        one.used |= met
        matched = [one.answers.get(name) for name in ids]
        missing = sum(answer is None for answer in matched)
        if missing:
            found.notes[f"questions have no answer in {one.file} and count as not answered"] = (
                missing
            )
        lone = len(predicted) == 1
        tables.append(
            {
                **found.values,
                "answer_id": ids if lone else [f"{name}:{one.system}" for name in ids],
                "answer": matched,
                "system": [one.system] * len(ids),
            }
        )
    return tables


def _a_system_each(found: Recognised, raw: RawBatch) -> list[dict[str, Sequence[Any] | pl.Series]]:
    """The rows of a wide table once for each system; given ids end with the system's name."""
    tables = []
    for system, place in found.answers.items():
        values = {**found.values, "answer": values_at(raw.columns, place)}
        values["system"] = [system] * len(raw.lines)
        if system in found.labels:
            values["label"] = values_at(raw.columns, found.labels[system])
        if "answer_id" in values:
            values["answer_id"] = [
                f"{one}:{system}" if one is not None and str(one).strip() else None
                for one in values["answer_id"]
            ]
        tables.append(values)
    return tables


def write_answers(frame: pl.DataFrame, path: str | Path) -> None:
    """Write an answers table as JSONL, CSV, TSV or Parquet, by the path's ending.

    Columns that are null throughout are left out, unless reading needs them; in CSV and TSV lists
    are JSON text.

    Raises:
        DataError: another ending.
    """
    write_table(
        frame.select(
            c for c in frame.columns if c in REQUIRED or frame[c].null_count() < frame.height
        ),
        path,
    )


def write_table(frame: pl.DataFrame, path: str | Path) -> None:
    """Write any table as JSONL, JSON, CSV, TSV or Parquet, by the path's ending: whole or not at
    all. Folders that do not exist are made.

    Raises:
        DataError: another ending, or it cannot be written.
    """
    target = Path(path)
    # A pipe or a device is written to as it stands.
    plain = target.is_file() or not target.exists()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target) if plain else nullcontext(target) as place:
            _write(frame, place, target)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"cannot write {target}: {reason}") from None


def _write(frame: pl.DataFrame, place: Path, target: Path) -> None:
    match SUFFIXES.get(target.suffix.lower()):
        case "csv" | "tsv" as kind:
            flat = frame.with_columns(
                pl.col(name).map_elements(_json_text, return_dtype=pl.String).alias(name)
                for name, dtype in frame.schema.items()
                if isinstance(dtype, pl.List)
            )
            # A spreadsheet would compute what begins like a formula.
            flat = flat.with_columns(map(csv_series, flat.select(pl.col(pl.String))))
            flat.write_csv(place, separator="," if kind == "csv" else "\t")
        case "parquet":
            frame.write_parquet(place)
        case "jsonl":
            frame.write_ndjson(place)
        case "json":
            frame.write_json(place)
        case _:
            raise DataError(
                f"cannot write {target.name!r}: the ending must be .jsonl, .json, .csv, .tsv or "
                ".parquet"
            )


def csv_series(texts: pl.Series) -> pl.Series:
    """Texts as cells of a spreadsheet; reading takes them back as they were."""
    may = texts.str.contains(r"^'*[=@\t\r+-]").fill_null(value=False)
    if not may.any():
        return texts
    values = [None if text is None else csv_cell(text) for text in texts]
    return pl.Series(texts.name, values, dtype=pl.String)


def _json_text(values: pl.Series) -> str:
    return orjson.dumps(values.to_list()).decode()
