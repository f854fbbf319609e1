"""Answers in files of their own: objects of ids and answers, or rows of an id and an answer.

SQuAD's and TriviaQA's scorers take `{id: text}`, HotpotQA's and 2WikiMultihopQA's
`{"answer": {id: text}, "sp": ...}`, MuSiQue's a line of `id` and `predicted_answer` a question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.errors import BadRowsError, DataError
from markscheme.tables.columns import ALIASES, plain_name
from markscheme.tables.files import (
    RawBatch,
    Source,
    iter_raw,
    read_document,
    records_batches,
    rows_in,
    system_names,
)
from markscheme.tables.formats import format_of_record
from markscheme.tables.opened import COMPRESSION_SUFFIXES, SUFFIXES
from markscheme.tables.read_options import ReadOptions
from markscheme.text import counted

_BATCH = 65_536
_QUESTION_IDS = ("question id", "qid", "query id", "example id", "sample id", "questionid")
_IDS = (*ALIASES["answer_id"], *_QUESTION_IDS)
_ANSWERS = (*ALIASES["answer"], "answers", "predictions")


@dataclass(kw_only=True)
class Predictions:
    """The answers of one system, by the id of their question.

    Attributes:
        file: the name of the file.
        system: the system's name.
        answers: ids to answers as the file has them; None for an answer that was not given.
        notes: what was guessed to read the file.
        used: the ids that were met among the questions so far.
    """

    file: str
    system: str
    answers: Mapping[str, Any]
    notes: tuple[str, ...]
    used: set[str] = field(default_factory=set)

    def unused_note(self) -> dict[str, int]:
        """What to say of answers whose question was not met, with their number."""
        left = len(self.answers) - len(self.used)
        return {f"answers of {self.file} are to no question that was read": left} if left else {}


def with_predictions(
    sources: Sequence[Source], options: ReadOptions
) -> tuple[list[Source], list[Predictions]]:
    """The sources of questions, and the answers in files of their own.

    Answers are only looked for among several sources: alone, such a file has no questions.

    Raises:
        DataError, BadRowsError: a file of answers answers an id twice, or has malformed rows.
    """
    if len(sources) < 2:
        return list(sources), []
    answers = [
        predictions_of(one, options) if isinstance(one, str | Path) else None for one in sources
    ]
    questions = [one for one, found in zip(sources, answers, strict=True) if found is None]
    if not questions:
        return list(sources), []
    read = zip(sources, answers, strict=True)
    paths = [(Path(str(one)), found) for one, found in read if found is not None]
    names = system_names([path for path, _ in paths])
    return questions, [
        Predictions(
            file=path.name,
            system=name if names.count(name) == 1 else _whole_name(name, path),
            answers=found,
            notes=notes,
        )
        for (path, (found, notes)), name in zip(paths, names, strict=True)
    ]


def _whole_name(name: str, path: Path) -> str:
    """A system's name with all of its file's but the endings of formats: `bert.base`."""
    while path.suffix.lower() in (*SUFFIXES, *COMPRESSION_SUFFIXES):
        path = path.with_suffix("")
    return "".join((*name.rpartition("/")[:2], path.name))


def predictions_of(
    path: str | Path, options: ReadOptions
) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    """Ids to answers, and what was guessed to read them; None where a file is anything else.

    Raises:
        DataError, BadRowsError: it has rows of ids and answers, and some are malformed.
    """
    if not Path(path).is_file():
        return None
    try:
        document, notes = read_document(str(path), options)
        rows = rows_in(str(path), document) if isinstance(document, Mapping) else document
    except DataError:  # Whoever reads it as questions says so.
        return None
    if isinstance(document, Mapping) and rows is None:
        answers = _of_object(document)
        return None if answers is None else (answers, notes)

    def batches(size: int) -> Iterator[RawBatch]:
        if isinstance(rows, list):
            return records_batches(str(path), rows, size)
        return iter_raw(path, replace(options, batch_rows=size))

    try:
        first = next(batches(1), None)
    except DataError:  # Here too.
        return None
    if first is None or _is_foreign(first):
        return None
    columns = _columns(first)
    if columns is None:
        return None
    found: dict[str, Any] = {}
    repeats = 0
    for batch in batches(_BATCH):
        if batch.problems:
            raise BadRowsError(batch.problems)
        repeats += _add_rows(found, batch, *columns)
        notes += batch.notes
    if repeats:
        lines = ("row repeats an earlier one and is", "rows repeat earlier ones and are")
        again = counted(repeats, *lines)
        notes += (f"{Path(path).name}: {again} read once",)
    return found, notes


def _of_object(document: Mapping[str, Any]) -> dict[str, Any] | None:
    if any(plain_name(name) in ALIASES["question"] for name in document):
        return None  # One record, or a table by columns.
    for name, value in document.items():
        if plain_name(name) in _ANSWERS and isinstance(value, Mapping):
            return _of_object(value)
    values = [_bare(value) for value in document.values()]
    # Numbers alone are no answers: SQuAD 2.0 has files of ids and probabilities too.
    plain = all(value is None or isinstance(value, str | int | float) for value in values)
    if not plain or not any(isinstance(value, str) for value in values):
        return None
    return dict(zip(map(str, document), values, strict=True))


def _bare(value: Any) -> Any:
    """The answer in a list of one, or in an object under a name for answers."""
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    if isinstance(value, Mapping):
        named = [inner for name, inner in value.items() if plain_name(name) in ALIASES["answer"]]
        return named[0] if len(named) == 1 else value
    return value


def _is_foreign(batch: RawBatch) -> bool:
    """Whether a batch of one row is of another tool's export, which has questions and references
    inside its records.
    """
    record = {name: values[0] for name, values in batch.columns.items() if len(values)}
    return batch.format is not None or format_of_record(record) is not None


def _columns(batch: RawBatch) -> tuple[str, str] | None:
    """The columns of ids and answers, where rows are answers by id and nothing else.

    Rows that hold references are answers to judge; rows of a question and an `answer` are gold.
    What a row has apart from an id is the answer, whatever it is called.
    """
    names = list(batch.columns)

    def named(choices: Sequence[str]) -> list[str]:
        return [name for name in names if plain_name(name) in choices]

    ids, answers = named(_IDS), named(ALIASES["answer"])
    if len(names) == 2 and len(ids) == 1 and not named(ALIASES["question"]):
        answers = [name for name in names if name not in ids]
    if not ids or len(answers) != 1 or named(ALIASES["references"]):
        return None
    if named(ALIASES["question"]) and plain_name(answers[0]) == "answer":
        return None
    return ids[0], answers[0]


def _add_rows(found: dict[str, Any], batch: RawBatch, ids: str, answers: str) -> int:
    """Add the answers of a batch; how many of its rows repeat an earlier one."""
    repeats = 0
    nothing = [None] * len(batch.lines)
    names, texts = (batch.columns.get(column, nothing) for column in (ids, answers))
    for line, name, answer in zip(batch.lines, names, texts, strict=True):
        where = f"{batch.source}, {batch.unit} {line}"
        if name is None or not str(name).strip():
            raise DataError(
                f"{where}: an answer without an id ({ids!r} is empty); give the id of its "
                "question, or take the row out"
            )
        if not (answer is None or isinstance(answer, str | int | float)):
            raise DataError(
                f"{where}: the answer must be text, not {type(answer).__name__} "
                f"{str(answer)[:40]!r}"
            )
        if str(name) in found and found[str(name)] != answer:
            raise DataError(
                f"{where}: the id {str(name)!r} has another answer already; keep one of the two, "
                "or give each system's answers in a file of its own"
            )
        repeats += str(name) in found
        found[str(name)] = answer
    return repeats


def question_ids(
    columns: Mapping[str, Sequence[Any] | pl.Series], predicted: Sequence[Predictions]
) -> str | None:
    """The column by which questions are matched with answers: of those that have the name of an id,
    the one with the most ids that were answered; None where no column has such a name."""
    names = [name for name in columns if plain_name(name) in _IDS]
    answered = {name for one in predicted for name in one.answers}

    def met(name: str) -> int:
        return sum(str(one) in answered for one in columns[name])

    return max(names, key=met, default=None)
