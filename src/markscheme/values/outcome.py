"""What a comparison gives: the outcome, the pairs behind it, and the reason in plain words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from markscheme.text import Tolerance
from markscheme.values import clock, dates
from markscheme.values.kinds import (
    Amount,
    ClockTime,
    Date,
    Duration,
    Money,
    Percent,
    Quantity,
    Range,
    Value,
)
from markscheme.values.numbers import read_numbers


class Outcome(StrEnum):
    """What the values of an answer say against those of a reference."""

    AGREE = "agree"
    CONFLICT = "conflict"
    MISSING = "missing"
    NONE = "none"
    """No values to compare, or what there is does not decide."""


class Pair(NamedTuple):
    """A value of the reference with one of the answer, as written."""

    reference: str
    answer: str
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How the typed values of an answer relate to those of a reference."""

    outcome: Outcome
    confidence: float = 0.0
    """0 to 1: how far the outcome can be relied on; 0 for `none`."""
    decided: bool = False
    """Whether the value that the question asks for is decided, for or against."""
    kind: str = ""
    """The kind of value compared: `number`, `date`, `list`, `choice`, ..."""
    agreed: tuple[Pair, ...] = ()
    conflicting: tuple[Pair, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    granularity: str = ""
    """`coarser` or `finer` where the answer is less or more exact than the reference."""
    reason: str = ""
    """One sentence in plain words; empty where nothing was compared."""


def agreement(kind: str, wanted: str, given: str, confidence: float, reason: str) -> Comparison:
    """The comparison where the answer's value is the reference's, and that decides."""
    return Comparison(
        outcome=Outcome.AGREE,
        confidence=confidence,
        decided=True,
        kind=kind,
        agreed=(Pair(wanted, given, "same"),),
        reason=reason,
    )


def conflict(kind: str, wanted: str, given: str, confidence: float, reason: str = "") -> Comparison:
    """The comparison where the answer has another value than the reference, and that decides."""
    return Comparison(
        outcome=Outcome.CONFLICT,
        confidence=confidence,
        decided=True,
        kind=kind,
        conflicting=(Pair(wanted, given, "different"),),
        reason=reason or f"{given} where the reference has {wanted}",
    )


def undecided(
    kind: str,
    reason: str,
    *,
    agreed: tuple[Pair, ...] = (),
    conflicting: tuple[Pair, ...] = (),
    missing: tuple[str, ...] = (),
    extra: tuple[str, ...] = (),
) -> Comparison:
    """The comparison where values of a kind were compared, and what there is does not decide."""
    return Comparison(
        outcome=Outcome.NONE,
        kind=kind,
        agreed=agreed,
        conflicting=conflicting,
        missing=missing,
        extra=extra,
        reason=reason,
    )


def kind_of(value: Value) -> str:
    """The kind of a value as one word."""
    return "time" if isinstance(value, ClockTime) else type(value).__name__.lower()


def in_words(value: Value) -> str:
    """A value as the reader knows it: its own words without what surrounds them."""
    if isinstance(value, Date):
        return dates.in_words(value) or value.text.strip()
    if isinstance(value, ClockTime):
        return clock.in_words(value)
    return value.text.strip().rstrip(",;")


def difference(reference: Value, answer: Value) -> str:
    """Why two values differ, as a sentence.

    >>> from markscheme.values.parse import parse_values
    >>> difference(*parse_values("5 June 2021"), *parse_values("5 January 2021"))
    'January where the reference has June'
    """
    if isinstance(reference, Date) and isinstance(answer, Date):
        return _dates(reference, answer)
    plain = f"{in_words(answer)} where the reference has {in_words(reference)}"
    if (
        isinstance(reference, Range)
        and isinstance(answer, Range)
        and not (reference.low and reference.high)
        and not (answer.low and answer.high)
    ):
        mine, theirs = _bound(reference), _bound(answer)
        if mine != theirs:
            wanted = f"{mine} {in_words(reference)}"
            return f"{theirs} {in_words(answer)} where the reference has {wanted}"
    if isinstance(reference, Amount) and isinstance(answer, Amount):
        if (
            isinstance(reference, Money)
            and isinstance(answer, Money)
            and reference.currency != answer.currency
            and reference.amount == answer.amount
        ):
            return f"{plain}: the currency differs"
        size, other = reference.base, answer.base
        if type(reference) is type(answer) and size and other:
            if size == -other:
                return f"{plain}: the sign differs"
            if size == other and answer.direction != reference.direction:
                turned = "fell" if answer.direction < 0 else "rose"
                return f"{plain}: the answer says that it {turned}"
            if size * other > 0 and _same_figures(reference, answer):
                counted = isinstance(reference, Quantity | Duration | Percent)
                other_unit = counted and _unit(reference) != _unit(answer)
                return f"{plain}: the {'unit' if other_unit else 'size'} differs"
    return plain


def _bound(value: Range) -> str:
    if value.low is not None:
        return "more than" if value.open_low else "at least"
    return "less than" if value.open_high else "at most"


def _unit(value: Amount) -> str:
    return value.text.strip().rpartition(" ")[2]


def _same_figures(left: Amount, right: Amount) -> bool:
    one, two = read_numbers(left.text), read_numbers(right.text)
    if len(one) != 1 or len(two) != 1:  # of 6 ft 9 in the first is not all
        return False
    ratio = one[0].value / two[0].value if two[0].value else 0.0
    while ratio >= 9.99:
        ratio /= 10
    while 0 < ratio < 0.999:
        ratio *= 10
    return abs(ratio - 1) < Tolerance.EQUAL


def _dates(reference: Date, answer: Date) -> str:
    if reference.day == answer.day and reference.month and answer.month:
        same_month, same_year = reference.month == answer.month, reference.year == answer.year
        if same_year and not same_month:
            reference, answer = (
                replace(date, year=None, last_year=None, day=None) for date in (reference, answer)
            )
        elif same_month and not same_year and reference.year and answer.year:
            return f"{answer.year} where the reference has {reference.year}"
    return f"{dates.in_words(answer)} where the reference has {dates.in_words(reference)}"
