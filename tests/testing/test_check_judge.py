"""`check_judge` passes every judge that ships and stops every mutant of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest

from markscheme.contract.chat import ChatRequest, Message
from markscheme.contract.judge import Needs
from markscheme.contract.registry import JUDGES, register
from markscheme.errors import JudgeError, UnknownNameError
from markscheme.testing import check_judge

PURE = Needs(chat=False, references="unused", question="unused")
CALLS: list[int] = []


def length(answers: pl.DataFrame) -> pl.DataFrame:
    """A judgment that keeps to every rule."""
    long = pl.col("answer").str.len_chars() > 3
    return answers.select(verdict=long, score=long.cast(pl.Float64))


@dataclass(frozen=True, kw_only=True)
class Good:
    """Accepts what is long enough."""

    names: tuple[str, ...] = ()

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return length(answers)


class BadRange(Good):
    """Scores in per cent."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return length(answers).with_columns(score=pl.col("score") * 100)


class DroppedRow(Good):
    """Leaves out an answer."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return length(answers.filter(pl.col("answer") != "["))


class WrongType(Good):
    """Verdicts in words."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return length(answers).select(verdict=pl.lit("yes"), score="score")


class UnknownColumn(Good):
    """A slip of the pen."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return length(answers).rename({"verdict": "veridct"})


def ask_about(answers: pl.DataFrame, models: Any) -> None:
    message = Message(role="user", content=str(answers.height))
    models.chat().complete([ChatRequest(messages=(message,))])


class DeniesChat(Good):
    """Declares that it asks nobody, and asks."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        ask_about(answers, models)
        return length(answers)


class SilentChat(DeniesChat):
    """Declares nothing, and asks."""


class ReorderedRows(Good):
    """Sorts, and forgets to put back."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return length(answers.sort("answer"))


class LooksAround(Good):
    """Scores by rank within the table."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        rank = pl.col("answer").str.len_chars().rank("dense")
        return answers.select(score=(rank / rank.max()).fill_nan(None))


class Remembers(Good):
    """Says something else the second time."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        CALLS.append(1)
        return length(answers).with_columns(explanation=pl.lit(str(len(CALLS))))


class ReadsQuestion(Good):
    """Declares that it does not read the question, and does."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return answers.select(verdict=pl.col("question").str.contains("France"))


class ReadsReferences(Good):
    """Declares that it does not read references, and does."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return answers.select(verdict=pl.col("references").list.len() > 0)


class NeedsReferences(Good):
    """Declares that it cannot do without references, and does."""


class ChangesItsParameter(Good):
    """Its constructor does more than store."""

    def __init__(self, *, names: tuple[str, ...] = ()) -> None:
        object.__setattr__(self, "names", (*names, "more"))


class RowsFromNothing(Good):
    """Gives a row for an empty table."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return length(answers) if answers.height else pl.DataFrame({"verdict": [True]})


@dataclass(kw_only=True, unsafe_hash=True)
class Mutable:
    """Can be changed after it is made."""

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return length(answers)


MUTANTS: list[tuple[type, Needs, str]] = [
    (BadRange, PURE, r"mutant returned score=100.0 in row \d+ .* must lie between 0 and 1"),
    (DroppedRow, PURE, "mutant returned 15 rows for 16 answers"),
    (WrongType, PURE, "mutant returned verdict='yes' in row 0 .* must be true or false"),
    (UnknownColumn, PURE, "a column 'veridct', .* did you mean 'verdict'"),
    (DeniesChat, PURE, r"requested a chat model but declares Needs\(chat=False\)"),
    (SilentChat, Needs(), r"asks a chat model and does not declare it; Needs\(chat=True\)"),
    (ReorderedRows, PURE, "the same rows in another order|judged alone has another outcome"),
    (LooksAround, PURE, "a row judged alone has another outcome"),
    (Remembers, PURE, "the same rows judged again have other outcomes: explanation='3'"),
    (ReadsQuestion, PURE, "declares question='unused', and another question gives another"),
    (ReadsReferences, PURE, "declares references='unused', and other references give other"),
    (NeedsReferences, Needs(chat=False, references="required"), "judges row 2 without any"),
    (ChangesItsParameter, PURE, "reads back as another judge"),
    (RowsFromNothing, PURE, "returned 1 rows for 0 answers"),
]


@pytest.fixture
def _mutant(request: pytest.FixtureRequest) -> Iterator[None]:
    CALLS.clear()
    yield
    JUDGES.known.pop("mutant", None)


@pytest.mark.usefixtures("_mutant")
@pytest.mark.parametrize(
    ("mutant", "needs", "message"), MUTANTS, ids=[one[0].__name__ for one in MUTANTS]
)
def test_a_mutant_is_caught(mutant: type, needs: Needs, message: str) -> None:
    register("mutant", needs=needs)(mutant)
    with pytest.raises(JudgeError, match=message):
        check_judge(mutant())


@pytest.mark.usefixtures("_mutant")
def test_the_judge_that_they_are_mutants_of_passes() -> None:
    register("mutant", needs=PURE)(Good)
    check_judge(Good())
    check_judge("mutant(names=[a, 'b c'])")


@pytest.mark.usefixtures("_mutant")
def test_a_judge_that_can_be_changed_is_neither_registered_nor_passed() -> None:
    with pytest.raises(JudgeError, match="frozen=True"):
        register("mutant", needs=PURE)(Mutable)
    with pytest.raises(JudgeError, match="is not registered; decorate it"):
        check_judge(Mutable())


@pytest.mark.usefixtures("_mutant")
def test_a_list_for_a_parameter_is_caught() -> None:
    register("mutant", needs=PURE)(Good)
    with pytest.raises(JudgeError, match="use a tuple for a list"):
        check_judge(Good(names=["a"]))  # type: ignore[arg-type]


def test_an_unregistered_judge_and_an_unknown_name_are_named() -> None:
    with pytest.raises(JudgeError, match="Good is not registered"):
        check_judge(Good())
    with pytest.raises(UnknownNameError, match="did you mean 'exact_match'"):
        check_judge("exact_mtch")
