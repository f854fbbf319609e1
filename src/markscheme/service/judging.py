"""From rows to judgments: the work that requests share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import polars as pl

from markscheme.engine import apply, plan
from markscheme.service.allowed import Served
from markscheme.service.batching import Batcher, Closed, Full
from markscheme.service.metrics import Metrics
from markscheme.service.problems import Refusal
from markscheme.service.schemas import AnswerIn
from markscheme.service.settings import Limits, Settings
from markscheme.tables import ANSWERS_SCHEMA, as_outcomes, content_ids

Outcome = dict[str, Any]
_SYSTEM = "system"
_LONG = 5_000
"""Characters of a row from which it is judged where the others need not wait for it."""


class Judging:
    """The threads that judge, one for each lane; a thread starts when first needed."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._lanes: dict[str, Batcher[Served, AnswerIn, Outcome]] = {}

    @property
    def rows(self) -> int:
        """Answers that wait or are being judged."""
        return sum(lane.rows for lane in list(self._lanes.values()))

    def stuck(self) -> bool:
        """Whether a lane has worked on one call for longer than requests are waited for.

        Judges that wait for a model may do so.
        """
        most = self._settings.limits.seconds
        lanes = [lane for name, lane in list(self._lanes.items()) if not name.startswith("waiting")]
        return any(lane.busy_for > most + self._settings.limits.row_seconds for lane in lanes)

    async def judge(
        self, served: Served, answers: Sequence[AnswerIn], owner: str = ""
    ) -> list[Outcome]:
        """An outcome for each answer, in order.

        `owner` is the key that asks: keys take turns.

        Raises:
            Refusal: too many rows at once (413), too many wait (429), or the service ends (503).
        """
        most = self._settings.limits.rows
        if len(answers) > most:
            raise Refusal(
                413,
                f"{len(answers)} answers in one request; the limit is {most}. Send fewer at once, "
                "or a file to /v1/jobs",
            )
        try:
            long = any(characters(row) > _LONG for row in answers)
            future = self._lane(served, long=long).submit(served, answers, owner)
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
        name = f"{served.lane}-long" if long else served.lane
        if name not in self._lanes:
            self._lanes[name] = Batcher(
                self._work_singly if long and not served.waits else self._work,
                batching=self._settings.batching,
                queue_rows=self._settings.limits.queue_rows,
                name=f"judge-{name}",
            )
        return self._lanes[name]

    def _work(self, served: Served, rows: list[AnswerIn]) -> list[Outcome]:
        began = time.perf_counter()
        outcomes = judge_rows(served, rows, self._settings.limits)
        self._metrics.batch(
            judge=served.name,
            statuses=(outcome["status"] for outcome in outcomes),
            seconds=time.perf_counter() - began,
        )
        return outcomes

    def _work_singly(self, served: Served, rows: list[AnswerIn]) -> list[Outcome]:
        """Row by row, and no longer than anybody waits for it."""
        ends = time.monotonic() + self._settings.limits.seconds
        found: list[Outcome] = []
        for row in rows:
            if time.monotonic() > ends:
                raise TimeoutError("given up, since nobody waits for it any more")
            found += self._work(served, [row])
        return found

    def close(self) -> None:
        """Finish what was taken."""
        for lane in self._lanes.values():
            lane.close()


def characters(row: AnswerIn) -> int:
    """How long an answer is, with all that it is compared with."""
    texts = (row.question, row.answer, row.context, *row.references)
    return sum(len(text) for text in texts if text is not None)


def judge_rows(served: Served, rows: Sequence[AnswerIn], limits: Limits) -> list[Outcome]:
    """One outcome a row, in order, with its id; equal rows are judged once."""
    answers = table(rows)
    short = pl.Series([characters(row) <= limits.row_characters for row in rows], dtype=pl.Boolean)
    items, item = plan(answers.filter(short))
    outcomes = apply(served.judge, items, served.models, row_seconds=limits.row_seconds)
    if outcomes.height != item.len():
        outcomes = outcomes[item]
    if not short.all():
        reason = f"too long: more than {limits.row_characters:,} characters"
        long = answers.filter(~short).select(
            pl.lit("failed").alias("status"), pl.lit(reason).alias("explanation")
        )
        place = pl.concat([short.arg_true(), (~short).arg_true()])
        outcomes = pl.concat([outcomes, as_outcomes(long)])[place.arg_sort()]
    return outcomes.insert_column(0, answers["answer_id"].alias("id")).to_dicts()


def table(rows: Sequence[AnswerIn]) -> pl.DataFrame:
    """The answers table of rows that fit the schema."""
    empty = [None] * len(rows)
    answers = pl.DataFrame(
        {
            "answer_id": [row.id for row in rows],
            "question": [row.question for row in rows],
            "references": [row.references for row in rows],
            "answer": [row.answer for row in rows],
            "system": [row.system or _SYSTEM for row in rows],
            "reference_grades": [row.reference_grades for row in rows],
            "reference_kind": [row.reference_kind for row in rows],
            "label": empty,
            "annotator_labels": empty,
            "context": [row.context for row in rows],
        },
        schema=ANSWERS_SCHEMA,
    )
    if answers["answer_id"].null_count():
        answers = answers.with_columns(pl.col("answer_id").fill_null(content_ids(answers)))
    return answers


def reward(outcome: Outcome, by: str, *, wrong: float, right: float) -> float | None:
    """What an outcome is worth, or None where it was not judged."""
    value = outcome["verdict"] if by == "verdict" else outcome["score"]
    if by == "marks" and outcome["marks"] is not None:
        value = outcome["marks"]
    return None if value is None else wrong + (right - wrong) * float(value)
