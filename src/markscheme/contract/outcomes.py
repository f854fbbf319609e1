"""Asking a judge: it gets only the models that it declared, and its output is checked.

The one place where `judge` is called, by the engine and by judges that ask others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from markscheme.contract.chat import ChatModel
from markscheme.contract.grammar import judge_name
from markscheme.contract.judge import Encoder, Judge, ModelSource, PairClassifier
from markscheme.contract.lineage import HasLineage
from markscheme.contract.origin import place_of
from markscheme.contract.registry import asks_chat
from markscheme.errors import JudgeError, JudgeMemoryError, MarkschemeError, did_you_mean
from markscheme.tables import (
    LEARNED,
    NEW,
    OUTCOME,
    RELATIONS,
    STATUSES,
    UNKNOWN,
    as_outcomes,
    status_of_results,
)

RANGES: Mapping[str, tuple[float, float]] = {
    "score": (0, 1),
    "marks": (0, 2),
    "cost_usd": (0, float("inf")),
    "tokens_in": (0, float("inf")),
    "tokens_out": (0, float("inf")),
    "seconds": (0, float("inf")),
}
"""From where to where the numbers of an outcome go, ends included. Marks above 1 are a bonus."""

RAISED_BY = "raised by the judge"
"""Begins the note of an error that a judge's own code raised."""

PLAIN = "answer_plain"
"""Column of the answers without chat formatting, null where that changes nothing; judges that ask
no chat model are given it as the answer."""

_WORDS: Mapping[str, tuple[str, ...]] = {"status": STATUSES, "relation": RELATIONS}
_TEXTS = ("status", "relation", "explanation", "scope", "raw")
_WHOLE = ("tokens_in", "tokens_out")
_RESULTS = ("score", "verdict", "relation", "marks")
_SHOWN = 60


def plain_answers(answers: pl.DataFrame) -> pl.DataFrame:
    """The table with the plain answers in the place of the answers, where it has them."""
    if PLAIN not in answers.columns:
        return answers
    return answers.with_columns(answer=pl.coalesce(PLAIN, "answer")).drop(PLAIN)


def run_judge(judge: Judge, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
    """A judge's outcomes on answers, checked, with every outcome column present and in order.

    A judge that asks no chat model, also one inside of one that does, reads `plain_answers`.

    Raises:
        JudgeError: the output breaks the contract (see `checked_outcomes`), or the judge used a
            chat model though it declared that it uses none.
        JudgeMemoryError: it needs more memory than there is.
    """
    if not asks_chat(judge):
        answers = plain_answers(answers)
        if not isinstance(models, WithoutChat):
            models = WithoutChat(models=models, judge=judge)
    try:
        found = judge.judge(answers, models)
    except MarkschemeError:
        raise
    except SystemExit as ended:  # Nothing would be judged, and a gate passed.
        raise JudgeError(
            f"the judge {_name(judge)} ended the program (exit code {ended.code!r}): a judge must "
            "raise an error, or return outcomes with the status 'failed'"
        ) from ended
    except MemoryError as error:
        raise JudgeMemoryError(
            f"the judge {_name(judge)} needs more memory than there is for {answers.height:,} "
            "answers; what was judged before in a run's folder is saved: give the same command "
            "again with fewer workers or more memory"
        ) from error
    except Exception as error:
        # A note, since a worker process sends an error without its traceback.
        place = place_of(error)
        error.add_note(
            f"{RAISED_BY} {_name(judge)} (answers: {answers.height:,})"
            + (f" in {place}" if place else "")
        )
        raise
    return _with_lineage(judge, checked_outcomes(judge, found, answers), answers)


def _with_lineage(judge: Judge, found: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """The outcomes with `scope` where the judge left it open and learned from questions."""
    learned = judge.lineage() if isinstance(judge, HasLineage) else None
    open_rows = pl.col("scope").is_null() & (pl.col("status") == "judged")
    if learned is None or not found.select(open_rows.any()).item():
        return found
    if learned.known:
        seen = pl.Series(learned.has(answers["question"].to_list()), dtype=pl.Boolean)
        scope = pl.when(seen).then(pl.lit(LEARNED)).otherwise(pl.lit(NEW))
    else:
        scope = pl.lit(UNKNOWN)
    return found.with_columns(scope=pl.when(open_rows).then(scope).otherwise("scope"))


@dataclass(frozen=True, kw_only=True)
class WithoutChat:
    """The models of a judge that declared `Needs(chat=False)`: all but the chat models."""

    models: ModelSource
    judge: Judge

    def chat(self, name: str | None = None) -> ChatModel:
        """Refuse.

        Raises:
            JudgeError: always.
        """
        model = "a chat model" if name is None else f"the chat model {name!r}"
        raise JudgeError(
            f"{_name(self.judge)} requested {model} but declares Needs(chat=False); declare "
            "chat=True, so that its calls are budgeted and it stays in one process"
        )

    def encoder(self) -> Encoder:
        """The models' own."""
        return self.models.encoder()

    def nli(self, name: str) -> PairClassifier:
        """The models' own."""
        return self.models.nli(name)


def checked_outcomes(judge: Judge, found: object, answers: pl.DataFrame) -> pl.DataFrame:
    """What a judge returned for `answers`, with every outcome column present, typed and in order.

    Raises:
        JudgeError: it is no Polars frame, has a column that neither judgments nor answers have, a
            column of the wrong type, another number of rows than `answers` or another order, a
            number out of range, an unknown status or relation, or a row whose values contradict
            its status. The message names the judge, the column, the value and the row.
    """
    name = _name(judge)
    if not isinstance(found, pl.DataFrame):
        raise JudgeError(
            f"{name} returned a {type(found).__name__}; a judge returns a Polars DataFrame"
        )
    _check_columns(name, found, answers)
    if found.height != answers.height:
        raise JudgeError(
            f"{name} returned {found.height} rows for {answers.height} answers; "
            "a judge must return one row an answer, in order"
        )
    _check_order(name, found, answers)
    found = found.select(column for column in found.columns if column in OUTCOME)
    if "status" not in found.columns:
        found = found.with_columns(status_of_results(found))
    _check_types(name, found, answers)
    for column, wrong, wanted in _rules(found):
        _refuse(name, found, answers, column, wrong=wrong, wanted=wanted)
    return as_outcomes(found)


def _name(judge: Judge) -> str:
    try:
        return judge_name(judge)
    except (MarkschemeError, TypeError):
        return type(judge).__qualname__


def _check_columns(name: str, found: pl.DataFrame, answers: pl.DataFrame) -> None:
    for column in found.columns:
        if column not in OUTCOME and column not in answers.columns:
            guess = did_you_mean(column, OUTCOME) or "."
            raise JudgeError(
                f"{name} returned a column {column!r}, which judgments do not have{guess} "
                f"The columns are {', '.join(OUTCOME)}"
            )
    if found.height and not {"status", "score", "verdict"} & set(found.columns):
        raise JudgeError(
            f"{name} returned neither 'verdict' nor 'score' nor 'status' "
            f"(columns: {', '.join(found.columns) or 'none'}); a judgment needs one of them"
        )


def _check_order(name: str, found: pl.DataFrame, answers: pl.DataFrame) -> None:
    """Columns of the answers, where a judge gives them back, are as they were."""
    for column in ("answer_id", "question", "answer"):
        if column in found.columns and column in answers.columns:
            same = found[column].eq_missing(answers[column])
            if not same.all():
                row = int((~same).arg_true()[0])
                raise JudgeError(
                    f"{name} returned {column}={found[column][row]!r} in row {row}, where it was "
                    f"given {answers[column][row]!r}; a judge must keep the order of its rows"
                )


def _check_types(name: str, found: pl.DataFrame, answers: pl.DataFrame) -> None:
    for column, dtype in found.schema.items():
        if dtype == pl.Null:
            continue
        if column in RANGES:
            fits, wanted = dtype.is_numeric(), "a number"
        elif column in _TEXTS:
            fits, wanted = dtype in (pl.String, pl.Categorical, pl.Enum), "text"
        else:
            fits, wanted = dtype == pl.Boolean, "true or false (Boolean)"
        if not fits:
            _refuse(
                name,
                found,
                answers,
                column,
                wrong=pl.col(column).is_not_null(),
                wanted=f"it must be {wanted}, not {dtype}",
            )


def _rules(found: pl.DataFrame) -> list[tuple[str, pl.Expr, str]]:
    """Column, the rows that are wrong in it, and what is wanted instead; only the broken rules."""
    rules: list[tuple[str, pl.Expr, str]] = []
    for column in found.columns:
        value = pl.col(column)
        if found.schema[column] == pl.Null and column != "status":
            continue
        if column in RANGES:
            low, high = RANGES[column]
            wanted = f"it must lie between {low:g} and {high:g}"
            if high == float("inf"):
                wanted = "it must be a finite number, 0 or more"
            number = value.cast(pl.Float64)
            rules.append((column, ~(number.is_between(low, high) & number.is_finite()), wanted))
            if column in _WHOLE:
                rules.append((column, number != number.floor(), "it must be a whole number"))
        elif column in _WORDS:
            words = ", ".join(_WORDS[column])
            rules.append(
                (column, ~value.cast(pl.String).is_in(_WORDS[column]), f"it must be one of {words}")
            )
    rules.append(("status", pl.col("status").is_null(), "every row needs a status"))
    rules += _contradictions(found)
    broken = found.select(
        wrong.fill_null(value=False).any().alias(str(place))
        for place, (_, wrong, _) in enumerate(rules)
    ).row(0)
    return [rule for rule, is_broken in zip(rules, broken, strict=True) if is_broken]


def _contradictions(found: pl.DataFrame) -> list[tuple[str, pl.Expr, str]]:
    judged = pl.col("status").cast(pl.String) == "judged"
    given = [pl.col(name).is_not_null() for name in ("verdict", "score") if name in found.columns]
    none = ~pl.any_horizontal(given) if given else pl.lit(value=True)
    rules = [("status", judged & none, "a judged row needs a verdict or a score")]
    rules += [
        (name, ~judged & pl.col(name).is_not_null(), f"only a judged row may have a {name}")
        for name in _RESULTS
        if name in found.columns
    ]
    return rules


def _refuse(
    name: str,
    found: pl.DataFrame,
    answers: pl.DataFrame,
    column: str,
    *,
    wrong: pl.Expr,
    wanted: str,
) -> None:
    """Raise for the first wrong row of a column, if there is one."""
    places = found.select(wrong.fill_null(value=False).arg_true().alias("place")).to_series()
    if places.is_empty() and found.height:
        return
    if not found.height:
        raise JudgeError(f"{name} returned a column {column!r} of the wrong type: {wanted}")
    row = int(places[0])
    value, status = found[column][row], ""
    if column in _RESULTS and found["status"][row] != "judged":
        status = f" (status {found['status'][row]!r})"
    more = f", and {places.len() - 1} more" if places.len() > 1 else ""
    answer = str(answers["answer"][row]) if "answer" in answers.columns else ""
    short = answer if len(answer) <= _SHOWN else answer[:_SHOWN] + "..."
    raise JudgeError(
        f"{name} returned {column}={value!r}{status} in row {row} (answer {short!r}){more}: "
        f"{wanted}"
    )
