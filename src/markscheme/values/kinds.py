"""The kinds of typed value, one frozen class each, with the span in the text where it occurs.

Offsets count characters of the text that was parsed. Amounts are floats with the step to which
they were written (`quantum`), so that rounding can be judged by the precision of the reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit of measure: exponents of its base dimensions, its size and its zero in base units."""

    name: str
    dimensions: tuple[tuple[str, int], ...]
    factor: float
    offset: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What every kind has: the span, the words there, and how the text relates to the value."""

    start: int
    end: int
    text: str
    denied: bool = False
    """The text names the value to set it aside ("not 12", "rather than 12", "formerly 12")."""
    approximate: bool = False
    weak: bool = False
    """A word that is a number only sometimes ("one of them", "second to none")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount(Value):
    """A value with a size; the kinds that can be counted or measured derive from it."""

    amount: float
    quantum: float = 0.0
    """The step to which the amount was written: 0.1 for 11.7, 1000 for 47 thousand."""
    alternatives: tuple[float, ...] = ()
    """Other readings of the same characters (1.500 as 1500)."""
    direction: int = 0
    """-1 where the words say less ("fell by 5"), +1 where they say more; 0 where they do not."""
    signed: bool = False
    """A sign was written."""

    @property
    def base(self) -> float:
        """The amount in base units."""
        return self.amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Number(Amount):
    """A bare number, or a number of things: `noun` is the word after it."""

    noun: str = ""
    ordinal: bool = False
    year: bool = False
    """Four plain digits that may as well be a year."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Percent(Amount):
    """A share in per cent; `points` for percentage points."""

    points: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity(Amount):
    """A number with a unit of measure."""

    unit: Unit

    @property
    def base(self) -> float:
        """The amount in base units."""
        return self.amount * self.unit.factor + self.unit.offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Money(Amount):
    """An amount of money; `currency` is an ISO code, or `$`, `pound`, `crown` where not stated."""

    currency: str
    per: str = ""
    """The period or thing it is paid for ("month"), where the text says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration(Amount):
    """A length of time: the `amount` is in seconds; `months` where it was given in months."""

    months: float | None = None
    """Set where the length was given in months or years alone, whose days are not fixed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Date(Value):
    """A date of any granularity: what is not given is None. Years before our era are negative."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    last_year: int | None = None
    """The last year of a decade, a century or a span of years."""
    last_month: int | None = None
    """The last month of a quarter or a span of months."""
    alternatives: tuple[tuple[int | None, int, int | None], ...] = ()
    """Other readings as year, month, day (03/04/2021 as March and as April, 3 May '12 as 1912)."""
    number: bool = False
    """Four plain digits that may as well be a number."""
    part: tuple[str, str] = ("", "")
    """The part that the words before it name: a `stage` ("early"), a `season`, a `weekday`."""

    @property
    def granularity(self) -> str:
        """`day`, `month`, `quarter`, `year`, `decade` or `century`."""
        if self.day is not None:
            return "day"
        if self.month is not None:
            return "quarter" if self.last_month is not None else "month"
        if self.last_year is None or self.year is None:
            return "year"
        return "decade" if self.last_year - self.year < 20 else "century"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockTime(Value):
    """A time of day in minutes after midnight; two readings where morning or evening is open."""

    minutes: tuple[float, ...]
    offsets: tuple[int, ...] = ()
    """Minutes east of Greenwich where a zone is named; in winter and in summer for "ET"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier(Value):
    """A code or a version: `code` has no hyphens and no leading v; `parts` are a version's."""

    code: str
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Range(Value):
    """From a value to a value, or a bound where one side is None."""

    low: Value | None = None
    high: Value | None = None
    open_low: bool = False
    """More than, not at least."""
    open_high: bool = False
    """Less than, not at most."""
