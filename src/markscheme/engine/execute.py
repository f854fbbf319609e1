"""One judge over one table: each distinct item once, and every row accounted for."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, get_args

import polars as pl

from markscheme.contract import (
    PLAIN,
    Judge,
    ModelSource,
    asks_chat,
    judge_name,
    needs_of,
    parts,
    plain_answers,
    reads_plain,
    run_judge,
    signature,
)
from markscheme.errors import DataError
from markscheme.flags import Cleaning
from markscheme.models import Models
from markscheme.tables import (
    ANSWERS_SCHEMA,
    NO_REFERENCE,
    NOT_GIVEN,
    ReadOptions,
    as_outcomes,
    is_blank,
    row_texts,
)

T = TypeVar("T")

ITEM = (
    "question",
    "references",
    "answer",
    "reference_grades",
    "reference_kind",
    "context",
    "answer_error",
)
"""What a judge may look at, besides columns of the user's own. Rows equal in these are one item,
whichever systems gave the answer."""

Ask = Callable[[Judge, pl.DataFrame, ModelSource | None], pl.DataFrame]
"""Gives a judge's outcomes on items, with the run's models: `apply`, or the same elsewhere."""

ROW_SECONDS = 60.0
"""Processor seconds that an answer may take, many times what any judge needs for any that people
wrote. Not seconds of the clock: a verdict must not depend on what else the machine does."""

PATIENCE = 10.0
"""Times its limit, in seconds of the clock, that a call which waits without computing may take."""

_CORES = os.cpu_count() or 1
_LOOK = 0.01
"""Seconds between two looks at the processor time, at least."""

_USUAL = 0.05
"""Processor seconds that each further answer of a table adds to the limit of the table."""

_PARTS = 8
"""Parts that a table which took too long is cut into."""

_NOT_BARE = r"[^\p{L}\p{N} ]|\S \S+ +\S"
"""Of a text with a mark or three words: one or two bare words have no formatting."""


def apply(
    judge: Judge,
    answers: pl.DataFrame,
    models: ModelSource | None = None,
    *,
    row_seconds: float = ROW_SECONDS,
) -> pl.DataFrame:
    """The outcomes of a judge on a table of answers: one row each, in order, all columns present.

    An answer that a system did not give, null or blank, is wrong without asking the judge; where
    the call of the system failed (`answer_error`), the row is `skipped`. Where the judge needs
    references and the question has none, it is not run either: of a question without an answer
    (`reference_kind` `none`) an answer is right if it says so or was not given, and any other row
    is `skipped`. A judge of several judges is not run on a question without an answer either, where
    one of them needs references. One that takes more than `row_seconds` of processor time is
    `failed: too long`; of judges that ask a model, calls have time-outs of their own.

    Raises:
        JudgeError: the judge's output breaks the contract; see `run_judge`.
    """
    silent = answers.select(is_blank("answer")).to_series()
    asking = ~(silent | _without_references(judge, answers))
    # The table itself where nothing is left out: judges may share work on one and the same table.
    asked = answers if asking.all() else answers.filter(asking)
    opened = Models() if models is None else models

    def judged(items: pl.DataFrame) -> pl.DataFrame:
        return run_judge(judge, items, opened)

    outcomes = judged(asked) if asks_chat(judge) else judged_within(judged, asked, row_seconds)
    if asked.height == answers.height:
        return outcomes
    left = ~asking
    others = _unasked(answers.filter(left))
    places = pl.concat([asking.arg_true(), left.arg_true()])
    return pl.concat([outcomes, others])[places.arg_sort()]


def _without_references(judge: Judge, answers: pl.DataFrame) -> pl.Series:
    """Rows without references, where the judge can do nothing without; where one of its judges
    cannot, those of questions without an answer."""
    bare = (answers["references"].list.len() == 0).fill_null(value=True)
    if needs_of(judge).references == "required":
        return bare
    wanted = any(needs_of(part).references == "required" for part in parts(judge))
    if wanted and "reference_kind" in answers.columns:
        return bare & (answers["reference_kind"] == "none").fill_null(value=False)
    return pl.repeat(False, answers.height, dtype=pl.Boolean, eager=True)


def _unasked(answers: pl.DataFrame) -> pl.DataFrame:
    """The outcomes of rows that a judge does not judge."""
    from markscheme.features.alignment import says_there_is_none  # few tables have such rows

    outcomes: list[dict[str, Any]] = []
    unknown = pl.repeat(None, answers.height, eager=True)
    kinds = answers.get_column("reference_kind", default=unknown)
    errors = answers.get_column("answer_error", default=unknown)
    # A blank answer is none.
    given = answers.select(pl.when(~is_blank("answer")).then("answer")).to_series()
    texts = (answers["question"], given)
    for question, answer, kind, error in zip(*texts, kinds, errors, strict=True):
        if answer is None and error is not None:
            why = f"the call of the system failed: {error}"
            outcomes.append({"status": "skipped", "explanation": why})
        elif kind == "none":
            right = says_there_is_none(question, answer)
            said = f"the answer {'says so' if right else 'is not read as saying so'}"
            said = said if answer is not None else "none was given"
            outcomes.append(_decided(f"the question has no answer, and {said}", right=right))
        elif answer is None:
            outcomes.append(_decided(NOT_GIVEN, right=False))
        else:
            outcomes.append({"status": "skipped", "explanation": NO_REFERENCE})
    schema = {
        "status": pl.String,
        "verdict": pl.Boolean,
        "score": pl.Float64,
        "explanation": pl.String,
    }
    return as_outcomes(pl.DataFrame(outcomes, schema=schema))


def _decided(said: str, *, right: bool) -> dict[str, Any]:
    return {"status": "judged", "verdict": right, "score": float(right), "explanation": said}


def plan(batch: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series]:
    """The distinct items of a batch in order of first appearance, and each row's item number."""
    names = [*ITEM, *(name for name in batch.columns if name not in ANSWERS_SCHEMA)]
    alone = batch.select(pl.col("question").hash() ^ pl.col("answer").hash())
    if alone.to_series().n_unique() == batch.height:  # Cheap, and true of many files.
        return batch.select(names), pl.arange(0, batch.height, dtype=pl.UInt32, eager=True)
    # A column of nulls tells no row from another here.
    used = [name for name in names if batch[name].null_count() < batch.height]
    rows = row_texts(batch, used or names).to_frame("text").with_row_index()
    first = rows.select(pl.col("index").first().over("text")).to_series()
    new = first == rows["index"]
    return batch.select(names).filter(new), (new.cum_sum() - 1).cast(pl.UInt32)[first]


def reading_for(options: ReadOptions, judges: Sequence[Judge]) -> ReadOptions:
    """How rows are read for these judges: references are optional where one of them needs none,
    questions without an answer are taken, and the columns that their prompts name are read too."""
    needs = [needs_of(judge) for judge in judges]
    return replace(
        options,
        references="declared" if all(one.references == "required" for one in needs) else "optional",
        own_columns=tuple(
            dict.fromkeys((*options.own_columns, *(name for one in needs for name in one.columns)))
        ),
    )


def kept_cleaning(clean: Cleaning, judges: Sequence[Judge]) -> Cleaning | None:
    """The cleaning that judges see something of, as a run's plan holds it; None where none does.

    Raises:
        DataError: no such cleaning.
    """
    if clean not in get_args(Cleaning):
        raise DataError(f"no cleaning named {clean!r}; there are {', '.join(get_args(Cleaning))}")
    if clean == "none" or (clean == "formatting" and not any(map(reads_plain, judges))):
        return None
    return clean


def signed(judge: Judge, models: ModelSource | None, clean: Cleaning) -> str:
    """The judge's signature, and the cleaning of what it reads."""
    found = signature(judge, models)
    cleaning = kept_cleaning(clean, [judge])
    return found if cleaning is None else f"{found} clean={cleaning}"


def with_plain(answers: pl.DataFrame) -> pl.DataFrame:
    """The table with a column `answer_plain`, where formatting is taken out of some answer."""
    texts = answers["answer"]
    if not texts.str.contains(_NOT_BARE).any():
        return answers
    from markscheme.text import may_be_wrapped, without_formatting

    # What a pattern matches cannot be seen from its text.
    unknown = pl.repeat("text", answers.height, eager=True)
    patterns = answers.get_column("reference_kind", default=unknown) == "regex"
    patterns = patterns.fill_null(value=False)
    places = (may_be_wrapped(texts) & ~patterns).arg_true()
    if places.is_empty():
        return answers
    plain = without_formatting(*answers[places]["answer", "question", "references"])
    if plain.null_count() == plain.len():
        return answers
    nothing = pl.repeat(None, answers.height, dtype=pl.String, eager=True)
    return answers.with_columns(nothing.scatter(places, plain).alias(PLAIN))


class Readings:
    """The distinct items of a batch, and what each judge reads of them.

    Attributes:
        items: the items in order of first appearance, with a column `answer_plain` where formatting
            was taken out of one.
        item: for each row of the batch, its item's number.
        cleaned: how many rows of the batch have an answer without its formatting.
    """

    def __init__(self, batch: pl.DataFrame, clean: Cleaning | None) -> None:
        """Plan a batch whose answers are cleaned as `kept_cleaning` says."""
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


def blind_to_grades(judges: Iterable[Judge]) -> tuple[str, ...]:
    """Names of judges that take each reference as right, whatever its grade."""
    needs = {judge_name(judge): needs_of(judge) for judge in judges}
    return tuple(
        name for name, one in needs.items() if one.references == "required" and not one.grades
    )


def graded_rows(batch: pl.DataFrame) -> int:
    """Rows whose references have more than one grade."""
    several = pl.col("reference_grades").list.n_unique() > 1
    return int(batch.select(several.fill_null(value=False).sum()).item())


def graded_note(rows: int, blind: Sequence[str]) -> dict[str, int]:
    """What a run notes of graded references for judges that do not read grades."""
    if not rows or not blind:
        return {}
    takes = "takes" if len(blind) == 1 else "take"
    said = f"{' and '.join(blind)} {takes} references of every grade as right"
    return {f"{said}; keep the best ones only, or use listwise_examiner": rows}


def cleaned_note(rows: int) -> dict[str, int]:
    """What a run notes of rows whose formatting was taken out; nothing of none."""
    said = "judged without citation marks, sources, closing offer or other wrapping"
    return {f"{said} ('--clean none' keeps them)": rows} if rows else {}


class _TooLong(BaseException):
    """Raised in the thread that judges; no `except Exception` of a judge takes it."""


def judged_within(
    judge: Callable[[pl.DataFrame], pl.DataFrame], items: pl.DataFrame, seconds: float
) -> pl.DataFrame:
    """A judge's outcomes, with answers that took more than `seconds` of processor time failed.

    A table that takes too long as a whole is cut into parts until the answers to blame are
    alone. Time runs out between two steps of Python; a call of native code is waited for.
    """
    try:
        return within(seconds + _USUAL * items.height, lambda: judge(items))
    except TimeoutError:
        if items.height > 1:
            size = -(-items.height // _PARTS)
            parts = [judged_within(judge, part, seconds) for part in items.iter_slices(size)]
            return pl.concat(parts)
    return too_long(items.height, f"not judged within {seconds:g} s of processor time")


def too_long(rows: int, reason: str) -> pl.DataFrame:
    """The outcomes of so many rows that took too long, or are."""
    said = {"status": ["failed"] * rows, "explanation": [f"too long: {reason}"] * rows}
    return as_outcomes(pl.DataFrame(said, schema=dict.fromkeys(said, pl.String)))


def within(seconds: float, call: Callable[[], T]) -> T:
    """What `call` returns, if this process needs no more than `seconds` of processor time for it.

    All threads of the process count, since judges compute in several; other processes do not, so
    that the same call ends alike on a busy machine. A call that waits without computing has
    `PATIENCE` times as many seconds of the clock.

    Raises:
        TimeoutError: it needed more.
    """
    thread, guard, ended = threading.get_ident(), threading.Lock(), threading.Event()
    began, patience = time.process_time(), time.monotonic() + PATIENCE * seconds

    def watch() -> None:
        left = seconds
        while left > 0 and not ended.wait(max(left / _CORES, _LOOK)):
            left = min(seconds - (time.process_time() - began), patience - time.monotonic())
        with guard:  # Not after the call has ended: whatever runs then is none of ours.
            if not ended.is_set():
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(_TooLong)
                )

    watcher = threading.Thread(target=watch, name="row limit", daemon=True)
    try:
        try:
            watcher.start()
            return call()
        finally:
            with guard:
                ended.set()
    except _TooLong:
        raise TimeoutError(f"not done within {seconds:g} s of processor time") from None
