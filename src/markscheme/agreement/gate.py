"""A gate on the share accepted, for continuous integration: is it high enough, and are we sure?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from markscheme.engine import ALL_SYSTEMS
from markscheme.errors import AgreementError, MarkschemeError
from markscheme.results import share_text
from markscheme.stats import Evidence, detectable_share, freedom_of, share_bound


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What one judge's figure of one system, or of one slice, says about the limit.

    Attributes:
        judge, system: whose figure.
        accuracy: share of all answers accepted; what was not judged counts as not accepted, so
            that failures cannot open the gate. None where there are no answers.
        bound: its lower bound at the requested confidence; the accuracy itself where none was.
        method: how the bound was made (`results.METHODS`); None where no confidence was requested.
        answers: how many there are, with those that could not be read.
        not_judged: those of them without a verdict.
        passed: whether the bound reaches the limit.
        limit, confidence: what was wanted.
        detectable: where the accuracy reaches the limit and its bound does not, the smallest
            accuracy that 4 of 5 such runs would show to reach it; None where so few answers show
            none.
    """

    judge: str
    system: str
    accuracy: float | None
    bound: float | None
    answers: int
    not_judged: int
    passed: bool
    method: str | None = None
    limit: float = 0.0
    confidence: float | None = None
    detectable: float | None = None

    @property
    def outcome(self) -> str:
        """A line with the outcome, the figure, and what was wanted; and what could be shown."""
        word = "passed" if self.passed else "FAILED"
        sure = "" if self.confidence is None else f" with {100 * self.confidence:g}% confidence"
        text = f"gate {word}: {self}; wanted {100 * self.limit:g}{sure}"
        if self.passed or self.accuracy is None or self.accuracy < self.limit:
            return text
        units = "questions" if self.method == "wilson-t" else "answers"
        text += ". It is not shown to reach the limit: with so "
        if self.detectable is None:
            return text + f"few {units} no share is"
        least = share_text(self.detectable)
        return text + f"many {units} only a share of {least} or more is, in 4 of 5 such runs"

    def __str__(self) -> str:
        """A line for people."""
        where = f"{self.judge}, {self.system}"
        if self.accuracy is None or self.bound is None:
            return f"{where}: no answers"
        text = f"{where}: accepted {share_text(self.accuracy)}"
        if self.bound != self.accuracy:
            text += f", at least {share_text(self.bound)} (one-sided, {self.method})"
        if self.not_judged:
            text += f" ({self.not_judged:,} not judged, counted as wrong)"
        return text


def check_limit(limit: float) -> None:
    """Raises AgreementError for a limit that is no share."""
    if not 0 <= limit <= 1:
        raise AgreementError(f"the limit is a share from 0 to 1, such as 0.8, not {limit:g}")


def gates(
    records: Sequence[dict[str, Any]],
    limit: float,
    *,
    confidence: float | None = None,
    skipped: Mapping[str, int] = MappingProxyType({}),
) -> list[Gate]:
    """Hold every judge's figure of every system against a limit.

    Args:
        records: as `engine.summary.summarise` gives them.
        limit: the share accepted that is wanted, 0 to 1.
        confidence: how sure to be: the limit is held against a one-sided lower bound, the exact
            one where each question has one answer (`stats.share_bound`). None takes the figure
            itself.
        skipped: rows that could not be read, by system ("" where it is not known): they count as
            not judged in the figure of their system and in that of all.

    Raises:
        MarkschemeError: the limit or the confidence is out of range.
    """
    check_limit(limit)
    if confidence is not None and not 0.5 <= confidence < 1:
        raise MarkschemeError(f"the confidence is from 0.5 to 0.9999, not {confidence:g}")
    return [_gate(one, limit, confidence) for one in _with_skipped(records, skipped)]


def _with_skipped(
    records: Sequence[dict[str, Any]], skipped: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """The records with the rows that could not be read, those of each system in its own.

    A system of which no other row is left has a record too: it is not missing from the gate.
    """
    whole = {
        record["judge"]: record for record in reversed(records) if record["system"] == ALL_SYSTEMS
    }
    first = {record["judge"]: record for record in reversed(records)} | whole
    systems = {record["system"] for record in records}
    lost = [name for name in skipped if name and name not in systems]
    for one in records:
        own = skipped.get(one["system"], 0)
        if one is not first[one["judge"]]:
            yield _unread(one, own)
            continue
        if lost and one["system"] != ALL_SYSTEMS:
            yield _unread(one, own)
        nothing = {**one, "accuracy": None, "judged": 0, "verdicts": 0, "not_judged": {}}
        yield from (_unread({**nothing, "system": name}, skipped[name]) for name in lost)
        every = {**one, "system": ALL_SYSTEMS} if lost else one
        yield _unread(every, sum(skipped.values()))


def _unread(record: dict[str, Any], rows: int) -> dict[str, Any]:
    return {**record, "not_judged": {**record["not_judged"], "unread": rows}} if rows else record


def _gate(record: dict[str, Any], limit: float, confidence: float | None) -> Gate:
    verdicts, missing = _counted(record)
    accuracy, bound, method, detectable = record["accuracy"], None, None, None
    if accuracy is not None:
        accuracy *= verdicts / (verdicts + missing)
        bound = accuracy
        if confidence is not None:
            evidence = _evidence(record).times((verdicts + missing) / verdicts)
            bound = share_bound(accuracy, evidence, confidence=confidence)
            method = evidence.bound_method
            if bound < limit <= accuracy:
                detectable = detectable_share(limit, evidence, confidence=confidence)
    elif missing:
        accuracy = bound = 0.0
    return Gate(
        judge=record["judge"],
        system=record["system"],
        accuracy=accuracy,
        bound=bound,
        answers=verdicts + missing,
        not_judged=missing,
        passed=bound is not None and bound >= limit,
        method=method,
        limit=limit,
        confidence=confidence,
        detectable=detectable,
    )


def _counted(record: dict[str, Any]) -> tuple[int, int]:
    """How many answers have a verdict, and how many none: a score alone is none."""
    verdicts: int = record.get("verdicts", record["judged"])
    return verdicts, record["judged"] - verdicts + sum(record["not_judged"].values())


def _evidence(record: dict[str, Any]) -> Evidence:
    answers, independent = record["effective_answers"], record["independent_answers"]
    freedom = math.inf if record["interval"] == "wilson" else freedom_of(independent)
    return Evidence(answers=answers, independent=independent, freedom=freedom)
