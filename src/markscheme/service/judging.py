"""From rows to judgments: the work that requests share."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import polars as pl

from markscheme.contract import Judge, ModelSource
from markscheme.engine import apply, plan, too_long, with_plain
from markscheme.service.allowed import Served
from markscheme.service.batching import Batcher, Closed, Full
from markscheme.service.metrics import Metrics
from markscheme.service.problems import Refusal
from markscheme.service.schemas import AnswerIn, ExplanationIn
from markscheme.service.settings import Limits, Settings
from markscheme.service.worker import Worker
from markscheme.tables import ANSWERS_SCHEMA, content_ids

Outcome = dict[str, Any]
_SYSTEM = "system"
_LONG = 2_000
"""Characters of a row from which it is judged where the others need not wait for it."""

_SLICE = 0.05
"""Seconds after which another key has its turn."""

_IDLE = 60.0
"""Seconds without work after which a process gives its memory back, the first one aside."""

_GRACE = 5.0
"""Seconds that a process has beyond the limits that it keeps itself, before it is ended."""

_USUAL = 0.05
"""Seconds that each further row adds to the limit of a slice."""


class Judging:
    """The lanes that work is done on, each a queue, a thread, and a process that can be ended.

    Judges that ask a model stay in this process, which counts what they spend.
    """

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._lanes: dict[str, Batcher[Any, Any, Any]] = {}
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
        return any(lane.dead for _, lane in lanes) or any(
            lane.busy_for > most for name, lane in lanes if not name.startswith("waiting")
        )

    async def judge(
        self, served: Served, answers: Sequence[AnswerIn], owner: str = ""
    ) -> list[Outcome]:
        """An outcome for each answer, in order.

        `owner` is the key that asks: keys get equal shares.

        Raises:
            Refusal: too many rows at once (413), too many wait (429), or the service ends (503).
        """
        most = self._settings.limits.max_rows
        if len(answers) > most:
            raise Refusal(
                413,
                f"{len(answers)} answers in one request; the limit is {most}. Send fewer at once, "
                "or a file to /v1/jobs",
            )
        long = any(characters(row) > _LONG for row in answers)
        return await self._waited(self._lane(served, long=long), served, answers, owner)

    async def explain(
        self, asked: ExplanationIn, owner: str = "", *, examiner: bool
    ) -> dict[str, Any]:
        """Why an answer fits its references or not, and with `examiner` what that one says.

        Raises:
            Refusal: too many wait (429), it takes too long (503), or the service ends (503).
        """
        lane = self._batcher("explanations", self._explain)
        found: list[dict[str, Any]]
        try:
            found = await self._waited(lane, examiner, [asked], owner)
        except TimeoutError:
            raise Refusal(503, "not explained within the time limit", retry_after=5) from None
        return found[0]

    async def _waited(
        self, lane: Batcher[Any, Any, Any], key: Hashable, rows: Sequence[Any], owner: str
    ) -> list[Any]:
        """A lane's result for rows; a caller that stops waiting cancels the work."""
        try:
            future = lane.submit(key, rows, owner)
        except Full as full:
            raise Refusal(
                429, f"too many answers wait; try again in {full.seconds} s",
                retry_after=full.seconds,
            ) from None  # fmt: skip
        except Closed:
            raise Refusal(503, "the service is stopping", retry_after=5) from None
        return await asyncio.wrap_future(future)

    def _lane(self, served: Served, *, long: bool) -> Batcher[Served, AnswerIn, Outcome]:
        """The lane of a request; short answers never wait for long ones."""
        if served.waits or not _can_be_sent(served.judge):
            return self._batcher(f"waiting-{served.lane}", self._work, sliced=False)
        return self._batcher(f"{served.lane}-long" if long else served.lane, self._work)

    def _batcher(
        self, name: str, work: Callable[..., Any], *, sliced: bool = True
    ) -> Batcher[Any, Any, Any]:
        if name not in self._lanes:
            if sliced and self._settings.processes:
                self._workers[name] = Worker(
                    name=f"markscheme-{name}",
                    idle=None if name == "local" else _IDLE,
                    nice=5 if name.endswith("-long") else 0,
                )
            worker = self._workers.get(name)
            self._lanes[name] = Batcher(
                lambda key, rows, abandoned: work(key, rows, abandoned, worker),
                batching=self._settings.batching,
                queue_rows=self._settings.limits.queue_rows,
                name=f"judge-{name}",
                slice_seconds=_SLICE if sliced else None,
                weigh=_weight if sliced else lambda _row: 1.0,
            )
        return self._lanes[name]

    def _work(
        self,
        served: Served,
        rows: list[AnswerIn],
        abandoned: Callable[[], bool],
        worker: Worker | None,
    ) -> list[Outcome]:
        """In the lane's process, or in this thread where it has none.

        A row that takes too long fails alone, and its process ends.
        """
        began = time.perf_counter()
        limits = self._settings.limits
        seconds = limits.row_seconds + _USUAL * len(rows) + _GRACE

        def judged(items: pl.DataFrame) -> pl.DataFrame:
            if worker is None:
                return judge_table(served.judge, items, limits.row_seconds, served.models)
            return worker.call(
                judge_table, served.judge, items, limits.row_seconds,
                seconds=seconds, abandoned=abandoned,
            )  # fmt: skip

        def one_by_one(answers: pl.DataFrame) -> pl.DataFrame:
            found = []
            for row in answers.iter_slices(1):
                try:
                    found.append(judged(row))
                except TimeoutError:
                    limit = f"{limits.row_seconds:g} s of processor time"
                    found.append(too_long(1, f"not judged within {limit}"))
            return pl.concat(found)

        try:
            outcomes = judge_rows(rows, limits, judged)
        except TimeoutError:
            if served.waits:  # To ask a model again would cost again.
                raise
            outcomes = judge_rows(rows, limits, one_by_one)
        statuses = (outcome["status"] for outcome in outcomes)
        self._metrics.batch(
            judge=served.name, statuses=statuses, seconds=time.perf_counter() - began
        )
        return outcomes

    def _explain(
        self,
        examiner: bool,
        rows: list[ExplanationIn],
        abandoned: Callable[[], bool],
        worker: Worker | None,
    ) -> list[dict[str, Any]]:
        seconds = self._settings.limits.row_seconds + _GRACE
        call: Callable[..., dict[str, Any]] = explanation
        if worker is not None:
            call = partial(worker.call, explanation, seconds=seconds, abandoned=abandoned)
        return [call(row.question, row.references, row.answer, examiner) for row in rows]

    def close(self) -> None:
        """Finish what was taken, and end the processes."""
        for lane in self._lanes.values():
            lane.close()
        for worker in self._workers.values():
            worker.end()


def _can_be_sent(judge: Judge) -> bool:
    try:
        pickle.dumps(judge)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return type(judge).__module__ != "__main__"


def _weight(row: AnswerIn | ExplanationIn) -> float:
    return 100.0 + characters(row)


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
        judged: gives the outcomes of an answers table.
    """
    answers = table(rows)
    short = pl.Series([characters(row) <= limits.row_characters for row in rows], dtype=pl.Boolean)
    asked = answers.filter(short)
    outcomes = judged(asked) if asked.height else too_long(0, "")
    if not short.all():
        reason = f"more than {limits.row_characters:,} characters"
        long = too_long(int((~short).sum()), reason)
        place = pl.concat([short.arg_true(), (~short).arg_true()])
        outcomes = pl.concat([outcomes, long])[place.arg_sort()]
    return outcomes.insert_column(0, answers["answer_id"].alias("id")).to_dicts()


def judge_table(
    judge: Judge, answers: pl.DataFrame, row_seconds: float, models: ModelSource | None = None
) -> pl.DataFrame:
    """The outcomes of an answers table, in order; equal rows are judged once."""
    items, item = plan(answers)
    outcomes = apply(judge, with_plain(items), models, row_seconds=row_seconds)
    return outcomes if outcomes.height == item.len() else outcomes[item]


def explanation(
    question: str, references: Sequence[str], answer: str, examiner: bool
) -> dict[str, Any]:
    """Why an answer fits its references or not; `decided` is what the examiner says, or None."""
    from markscheme.reports import explained, why

    found = why(question, references, answer)
    return {**found, "decided": explained(question, references, answer) if examiner else None}


def table(rows: Sequence[AnswerIn]) -> pl.DataFrame:
    """The answers table of rows that fit the schema."""
    fields = [{**dict(row), "answer_id": row.id, "system": row.system or _SYSTEM} for row in rows]
    answers = pl.DataFrame(fields, schema=ANSWERS_SCHEMA)
    if answers["answer_id"].null_count():
        answers = answers.with_columns(pl.col("answer_id").fill_null(content_ids(answers)))
    return answers
