"""A gate on accuracy, for continuous integration: is it high enough, and are we sure?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markscheme.engine import Z95
from markscheme.errors import MarkschemeError


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What one judge's figure of one system says about the limit.

    Attributes:
        judge, system: whose figure.
        accuracy: share of all answers accepted; what was not judged counts as not accepted, so
            that failures cannot open the gate. None where there are no answers.
        bound: its lower bound at the confidence asked for; the accuracy itself where none was.
        not_judged: answers without a verdict.
        passed: whether the bound reaches the limit.
    """

    judge: str
    system: str
    accuracy: float | None
    bound: float | None
    not_judged: int
    passed: bool

    def __str__(self) -> str:
        """A line for people."""
        where = f"{self.judge}, {self.system}"
        if self.accuracy is None or self.bound is None:
            return f"{where}: no answers"
        text = f"{where}: accuracy {100 * self.accuracy:.1f}"
        if self.bound != self.accuracy:
            text += f", at least {100 * self.bound:.1f}"
        if self.not_judged:
            text += f" ({self.not_judged:,} not judged, counted as wrong)"
        return text


def gates(
    records: Sequence[dict[str, Any]], limit: float, *, confidence: float | None = None
) -> list[Gate]:
    """Hold every judge's figure of every system against a limit.

    Args:
        records: as `engine.summary.summarise` gives them.
        limit: the accuracy wanted, 0 to 1.
        confidence: how sure to be: the limit is held against the one-sided lower bound of Wilson's
            score interval, clustered on question as the summary's is. None takes the figure itself.

    Raises:
        MarkschemeError: the limit or the confidence is out of range.
    """
    if not 0 <= limit <= 1:
        raise MarkschemeError(f"the limit is an accuracy from 0 to 1, such as 0.8, not {limit:g}")
    if confidence is not None and not 0.5 <= confidence < 1:
        raise MarkschemeError(f"the confidence is from 0.5 to 0.9999, not {confidence:g}")
    return [_gate(record, limit, confidence) for record in records]


def _gate(record: dict[str, Any], limit: float, confidence: float | None) -> Gate:
    judged, missing = record["judged"], sum(record["not_judged"].values())
    accuracy, bound = record["accuracy"], None
    if accuracy is not None:
        accuracy *= judged / (judged + missing)
        bound = accuracy
        if confidence is not None:
            bound = _lower(accuracy, _size(record) * (judged + missing) / judged, confidence)
    elif missing:
        accuracy = bound = 0.0
    return Gate(
        judge=record["judge"],
        system=record["system"],
        accuracy=accuracy,
        bound=bound,
        not_judged=missing,
        passed=bound is not None and bound >= limit,
    )


def _size(record: dict[str, Any]) -> float:
    """The effective number of answers behind the summary's interval.

    The bounds of Wilson's interval are the shares p0 with (p - p0)^2 = z^2 p0 (1 - p0) / n.
    """
    share = record["accuracy"]
    low, high = record["accuracy_low"], record["accuracy_high"]
    edge = low if share > 0.5 else high
    return float(Z95**2 * edge * (1 - edge) / (share - edge) ** 2)


def _lower(share: float, size: float, confidence: float) -> float:
    """Wilson's one-sided lower bound."""
    from statistics import NormalDist

    z = NormalDist().inv_cdf(confidence)
    centre = share + z**2 / (2 * size)
    spread = z * ((share * (1 - share) + z**2 / (4 * size)) / size) ** 0.5
    return float(max(0.0, (centre - spread) / (1 + z**2 / size)))
