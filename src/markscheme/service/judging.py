"""From rows to judgments: the work that requests share."""

from __future__ import annotations

import asyncio
import operator
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import polars as pl

from markscheme.contract import Judge, ModelSource
from markscheme.engine import apply, can_be_sent, plan, too_long, with_plain
from markscheme.service.allowed import Served
from markscheme.service.batching import MOST_ROWS, Batcher
from markscheme.service.metrics import Metrics
from markscheme.service.schemas import AnswerIn, ExplanationIn
from markscheme.service.settings import Limits, Settings
from markscheme.service.worker import DiedError, Worker
from markscheme.tables import (
    ANSWERS_SCHEMA,
    ReadOptions,
    content_ids,
    read_answers,
    spread,
    with_final_answers,
    with_unanswerable,
)

Outcome = dict[str, Any]
_SYSTEM = "system"
_LONG = 2_000
"""Characters of a row from which it is judged where the others need not wait for it."""

_FIRST = {"quick": 8, "slow": 1}
"""Rows that a lane judges before it looks whether others' turn has come."""
_SLICE = 0.05
"""Seconds after which another key has its turn."""
_CHARACTERS = 500_000.0
"""Characters of a slice, which are sent to the process again for what it leaves undone."""

_IDLE = 60.0
"""Seconds without work after which a process gives its memory back, the first one aside."""

_NO_COMPANY = 2.0
"""Times `row_seconds` that a slice of several rows may take; then they are judged one by one."""

_GRACE = 5.0
"""Seconds that a process has beyond the limits that it keeps itself, before it is ended."""

_ROWS_OF_A_MODEL = 32
"""Rows of a slice for a judge that calls a model: what is still sent, and paid, once its client has
left."""


class Judging:
    """The lanes that work is done on, each a queue, a thread, and a process that can be ended.

    Judges that ask a model stay in this process, which counts what they spend. Each key has a lane
    for them, whose thread mostly waits: the model's own limit is what they share.
    """

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._lanes: dict[str, Batcher] = {}
        self._workers: dict[str, Worker] = {}

    @property
    def rows(self) -> int:
        """Answers that wait or are being judged."""
        return sum(lane.rows for lane in list(self._lanes.values()))

    @property
    def processes(self) -> list[int]:
        """Of the lanes that have one now."""
        pids = (worker.pid for worker in list(self._workers.values()))
        return [pid for pid in pids if pid is not None]

    def stuck(self) -> bool:
        """Whether a lane's thread has ended, or works on one slice for longer than it may.

        Judges that wait for a model may do so.
        """
        limits = self._settings.limits
        most = limits.request_seconds + limits.row_seconds + _GRACE
        lanes = list(self._lanes.items())
        return any(lane.dead or (lane.busy_for > most and name in _FIRST) for name, lane in lanes)

    async def judge(
        self, served: Served, answers: Sequence[AnswerIn], owner: str = ""
    ) -> list[Outcome]:
        """An outcome for each answer, in order.

        `owner` is the key that asks: keys get equal shares.

        Raises:
            Refusal: too many rows wait (429), or the service ends (503).
        """
        if served.waits or not _can_be_sent(served.judge):
            name = f"waiting {owner}"
        else:
            slow = served.patterns or any(characters(row) > _LONG for row in answers)
            name = "slow" if slow else "quick"
        return await asyncio.wrap_future(self._lane(name).submit(served, answers, owner))

    async def explain(self, asked: ExplanationIn, owner: str = "", *, examiner: bool) -> Outcome:
        """Why an answer fits its references or not, and with `examiner` what that one says.

        Raises:
            Refusal: too many wait (429), or the service ends (503).
        """
        # A caller that stops waiting cancels the work.
        (found,) = await asyncio.wrap_future(self._lane("slow").submit(examiner, [asked], owner))
        return found  # type: ignore[no-any-return]

    def _lane(self, name: str) -> Batcher:
        """`quick` for short answers, which never wait for `slow` ones; others for models."""
        if name not in self._lanes:
            sliced = name in _FIRST
            worker = None
            if sliced and self._settings.processes:
                worker = self._workers[name] = Worker(
                    name=f"markscheme-{name}",
                    idle=None if name == "quick" else _IDLE,
                    nice=0 if name == "quick" else 5,
                )
            self._lanes[name] = Batcher(
                partial(self._work, worker, first=_FIRST.get(name)),
                queue_rows=self._settings.limits.queue_rows,
                slice_rows=MOST_ROWS if sliced else _ROWS_OF_A_MODEL,
                name=f"judge-{name}",
                slice_weight=_CHARACTERS,
                weigh=characters,
            )
        return self._lanes[name]

    def _work(
        self,
        worker: Worker | None,
        served: Served | bool,
        rows: list[Any],
        abandoned: Callable[[], bool],
        *,
        first: int | None,
    ) -> list[dict[str, Any]]:
        """In the lane's process, or in this thread where it has none: the first rows, one at least.

        A row that takes too long, or whose process dies, fails alone.
        """
        began = time.perf_counter()
        limits = self._settings.limits
        call: Callable[..., Any] = operator.call
        if worker is not None:
            seconds = limits.row_seconds + _GRACE
            patience = None if len(rows) == 1 else _NO_COMPANY * limits.row_seconds
            call = partial(worker.call, seconds=seconds, patience=patience, abandoned=abandoned)
        if isinstance(served, bool):
            row = rows[0]
            return [call(explanation, row.question, row.references, row.answer, served)]
        # A model stays in this process, and no answer from it is asked for twice.
        models = () if worker is not None else (served.models,)
        most, judge = limits.row_seconds, served.judge
        try:
            outcomes = judge_rows(
                rows, limits, lambda items: call(judge_first, judge, items, most, first, *models)
            )
        except TimeoutError as error:
            if len(rows) > 1 or served.waits:
                raise
            reason = f"not judged within {limits.row_seconds:g} s of processor time"
            if isinstance(error, DiedError):
                reason = str(error)
            outcomes = judge_rows(rows, limits, lambda items: too_long(items.height, reason))
        statuses = (outcome["status"] for outcome in outcomes)
        took = time.perf_counter() - began
        self._metrics.batch(judge=served.name, statuses=statuses, seconds=took)
        return outcomes

    def close(self) -> None:
        """Finish what was taken, and end the processes."""
        for lane in self._lanes.values():
            lane.close()
        for worker in self._workers.values():
            worker.end()


def _can_be_sent(judge: Judge) -> bool:
    return can_be_sent(judge) and type(judge).__module__ != "__main__"


def characters(row: AnswerIn | ExplanationIn) -> int:
    """How long an answer is, with all that it is compared with."""
    context = row.context if isinstance(row, AnswerIn) else None
    texts = (row.question, row.answer, context, *row.references)
    return sum(len(text) for text in texts if text is not None)


def judge_rows(
    rows: Sequence[AnswerIn],
    limits: Limits,
    judged: Callable[[pl.DataFrame], pl.DataFrame],
) -> list[Outcome]:
    """One outcome a row, in order, with its id; equal rows are judged once.

    Args:
        rows: the answers.
        limits: of a row's length.
        judged: gives the outcomes of an answers table, or of its first rows: then of these.
    """
    answers = table(rows)
    short = pl.Series([characters(row) <= limits.row_characters for row in rows], dtype=pl.Boolean)
    asked = answers.filter(short)
    outcomes = judged(asked) if asked.height else too_long(0, "")
    if outcomes.height < asked.height:
        done = int(short.arg_true()[outcomes.height])
        answers, short = answers.head(done), short.head(done)
    if not short.all():
        reason = f"more than {limits.row_characters:,} characters"
        long = too_long(int((~short).sum()), reason)
        place = pl.concat([short.arg_true(), (~short).arg_true()])
        outcomes = pl.concat([outcomes, long])[place.arg_sort()]
    return outcomes.insert_column(0, answers["answer_id"].alias("id")).to_dicts()


def judge_first(
    judge: Judge,
    answers: pl.DataFrame,
    row_seconds: float,
    first: int | None,
    models: ModelSource | None = None,
) -> pl.DataFrame:
    """The outcomes of the first answers, until `_SLICE` is over: one at a time where `first` is 1,
    else so many, and then as many again as are done. None is of all.
    """
    if first is None:
        return judge_table(judge, answers, row_seconds, models)
    began, found, done = time.monotonic(), [], 0
    while done < answers.height and (not done or time.monotonic() - began < _SLICE):
        part = answers.slice(done, 1 if first == 1 else max(first, done))
        found.append(judge_table(judge, part, row_seconds, models))
        done += part.height
    return pl.concat(found)


def judge_table(
    judge: Judge, answers: pl.DataFrame, row_seconds: float, models: ModelSource | None = None
) -> pl.DataFrame:
    """The outcomes of an answers table, in order, as of a file; equal rows are judged once."""
    items, item = plan(with_final_answers(answers, Counter()))
    return spread(apply(judge, with_plain(items), models, row_seconds=row_seconds), item)


def explanation(
    question: str, references: Sequence[str], answer: str, examiner: bool
) -> dict[str, Any]:
    """Why an answer fits its references or not, read as of a file.

    `decided` is what the examiner says; None without it, or where it reads no answer.
    """
    from markscheme.reports import explained, why

    row = {"question": question, "references": references, "answer": answer}
    read = read_answers([row], ReadOptions(reference_separator="none")).row(0, named=True)
    final = read["answer"]
    found = why(question, read["references"], final or "")
    reads = examiner and final is not None
    return {**found, "decided": explained(question, references, answer) if reads else None}


def table(rows: Sequence[AnswerIn]) -> pl.DataFrame:
    """The answers table of rows that fit the schema."""
    # An empty list says that the question has no answer; references that were left out do not.
    fields = [
        {
            **dict(row),
            "references": row.references if "references" in row.model_fields_set else None,
            "answer_id": row.id,
            "system": row.system or _SYSTEM,
        }
        for row in rows
    ]
    answers = with_unanswerable(pl.DataFrame(fields, schema=ANSWERS_SCHEMA))
    answers = answers.with_columns(pl.col("references").fill_null([]))
    if answers["answer_id"].null_count():
        answers = answers.with_columns(pl.col("answer_id").fill_null(content_ids(answers)))
    return answers
