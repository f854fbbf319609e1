"""What every integration does: texts in, one judgment for each, in order, in one batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme import api
from markscheme.contract import Judge, ModelSource
from markscheme.errors import BadRowsError, DataError, NotJudgedError
from markscheme.tables import JUDGMENTS_SCHEMA, reference_texts

BY = ("verdict", "score", "marks")
"""What an answer's worth can be read off."""


def judge_frame(
    frame: Any,
    values: Callable[[Any], Sequence[Any]],
    judge: str | Judge = "examiner",
    *,
    question: str = "question",
    references: str = "references",
    answer: str = "answer",
    models: ModelSource | None = None,
) -> pl.DataFrame:
    """Judge the rows of a frame of any library; `values` are those of one of its columns.

    Raises:
        DataError: it has no column of a name; the message says what to pass.
    """
    columns = {"question": question, "references": references, "answer": answer}
    for option, name in columns.items():
        if name not in frame.columns:
            raise DataError(
                f"the frame has no column {name!r}; its columns are "
                f"{', '.join(map(str, frame.columns)) or 'none'}; name the right one with {option}="
            )
    texts = (values(frame[name]) for name in columns.values())
    return judge_texts(*texts, judge=judge, models=models)


def judge_texts(
    questions: Sequence[Any],
    references: Sequence[Any],
    answers: Sequence[Any],
    *,
    judge: str | Judge,
    models: ModelSource | None = None,
) -> pl.DataFrame:
    """Judge answers in one batch.

    Numbers are read as text; None and NaN are none. References are read as `markscheme.judge` reads
    those of rows: a text, a list, a list written in a text, or SQuAD's object; an empty list says
    that the question has no answer.

    Returns:
        The judgments table, one row an answer, in order.

    Raises:
        DataError: the three are not of one length, or a row cannot be read.
        JudgeError, ModelError: as judging does.
    """
    if not len(questions) == len(references) == len(answers):
        raise DataError(
            f"{len(questions)} questions, {len(references)} references and {len(answers)} answers: "
            "give one of each for every row"
        )
    if not len(answers):
        return pl.DataFrame(schema=JUDGMENTS_SCHEMA)
    rows = [
        {"question": question, "references": _references(value, row), "answer": answer}
        for row, (question, value, answer) in enumerate(
            zip(questions, references, answers, strict=True), start=1
        )
    ]
    try:
        return api.judge(rows, judge, models=models, reference_separator="none").judgments
    except BadRowsError as error:
        raise BadRowsError(error.problems) from None  # No row can be skipped here.


@dataclass(frozen=True, kw_only=True)
class Evaluator:
    """A judge, and what is read off its judgments, for tools that ask about one answer at a time.

    Attributes:
        judge: a judge's name, with parameters if wanted, or a judge.
        by: `verdict`, `score` or `marks`.
    """

    judge: str | Judge = "examiner"
    by: str = "verdict"

    def __post_init__(self) -> None:
        """Raises DataError where `by` is none of those."""
        check_by(self.by)

    @property
    def __name__(self) -> str:
        """The name that trainers and harnesses show."""
        return f"markscheme_{self.by}"

    def row(self, question: Any, references: Any, answer: Any) -> dict[str, Any]:
        """The judgment of one answer, as a row of the judgments table.

        Raises:
            DataError, JudgeError, ModelError: as `judge_texts`.
        """
        return judge_texts([question], [references], [answer], judge=self.judge).row(0, named=True)

    def value(self, row: dict[str, Any]) -> float:
        """What a judgment is worth, for tools that have no word for "not judged" but an error.

        Raises:
            NotJudgedError: there is no `by`; the message has the status and its reason.
        """
        if row[self.by] is None:
            raise NotJudgedError(
                f"{row['judge']} gave no {self.by}: {row['status']} ({why_not_judged(row)})"
            )
        return float(row[self.by])


def why_not_judged(row: dict[str, Any]) -> str:
    """The reason that a judgment without a value gives."""
    return row["explanation"] or "no reason given"


def reason_of(row: dict[str, Any]) -> str:
    """A judgment in one line: the judge, its verdict or score, and why."""
    said = {True: "accepts it", False: "rejects it", None: f"score {row['score']}"}[row["verdict"]]
    return f"{row['judge']} {said}" + (f": {row['explanation']}" if row["explanation"] else "")


def details_of(row: dict[str, Any]) -> dict[str, Any]:
    """What other tools store of a judgment in addition to its worth; nulls are left out."""
    kept = ("status", "score", "marks", "relation", "signature")
    return {name: row[name] for name in kept if row[name] is not None}


def named_in(given: Mapping[str, Any] | None, key: str, where: str) -> Any:
    """What another tool's row holds under a key.

    Args:
        given: the row's part.
        key: the name of the value.
        where: the part, as the tool calls it.

    Raises:
        DataError: there is no such key; the message names those that are there.
    """
    known = given or {}
    if key not in known:
        there = ", ".join(sorted(map(str, known))) or "nothing"
        raise DataError(f"there is no {key!r} in {where}, only {there}; name the right one")
    return known[key]


def _references(value: Any, row: int) -> list[str] | None:
    """The references of one row, whatever the other rows hold; None where it has none.

    Raises:
        DataError: they cannot be read.
    """
    try:
        return None if value is None else reference_texts(value, "none")
    except DataError as error:
        raise DataError(f"row {row}: {error}") from None


def check_by(by: str) -> None:
    """Raises DataError where `by` is nothing that an answer can be worth."""
    if by not in BY:
        raise DataError(f"by={by!r} is none of {', '.join(BY)}")
