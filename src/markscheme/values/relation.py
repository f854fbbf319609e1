"""How one value of an answer relates to one value of a reference."""

from __future__ import annotations

import math
import re
from itertools import product

from markscheme.text import Tolerance
from markscheme.values.amounts import (
    APART,
    COARSER,
    DIFFERENT,
    FINER,
    SAME,
    UNCLEAR,
    Relation,
    relate_amounts,
)
from markscheme.values.dates import YEAR_DAYS, interval
from markscheme.values.identifiers import version_parts
from markscheme.values.kinds import (
    Amount,
    ClockTime,
    Date,
    Identifier,
    Number,
    Percent,
    Range,
    Value,
)
from markscheme.values.parse import parse_values
from markscheme.values.requested import Requested


def relate(reference: Value | None, answer: Value | None, requested: Requested) -> Relation:
    """How the answer's value relates to the reference's, given what the question asks."""
    if reference is None or answer is None:
        return APART
    if isinstance(reference, Range):
        if isinstance(answer, Range):
            return _two_ranges(reference, answer, requested)
        return _wanted_range(reference, answer, requested)
    if isinstance(answer, Range):
        return _given_range(reference, answer, requested)
    if isinstance(reference, Identifier) or isinstance(answer, Identifier):
        return _identifiers(reference, answer, requested)
    if isinstance(reference, ClockTime) or isinstance(answer, ClockTime):
        return _times(reference, answer)
    if isinstance(reference, Date) or isinstance(answer, Date):
        return _dates(reference, answer, requested)
    if isinstance(reference, Amount) and isinstance(answer, Amount):
        return relate_amounts(reference, answer, requested)
    return APART


def _identifiers(reference: Value, answer: Value, requested: Requested) -> Relation:
    """Codes and versions are the same or they are not; a number is one by its figures."""
    if isinstance(reference, Identifier) and isinstance(answer, Identifier):
        if reference.code == answer.code:
            return SAME
        if reference.parts and answer.parts:
            return _versions(reference.parts, answer.parts)
        return DIFFERENT if _pattern(reference.code) == _pattern(answer.code) else APART
    one, other = (reference, answer) if isinstance(reference, Identifier) else (answer, reference)
    if isinstance(other, Amount) and (figures := re.fullmatch(r"(\d+)([A-Z])", one.text)):
        # 300M is 300 million, and 100C 100 °C, where the other text says so.
        (read,) = parse_values(f"{figures[1]} {figures[2]}", question="How many?")
        same = type(read) is type(other) and len(read.text) > len(figures[1])
        return SAME if same and relate(other, read, requested) is SAME else APART
    if not (isinstance(one, Identifier) and one.parts and isinstance(other, Number)):
        return APART
    parts = version_parts(_figures(other))
    if one is answer:
        return _versions(parts, one.parts)
    if len(parts) == 1 and len(one.parts) > 1:
        return APART  # a count of something else
    return _versions(one.parts, parts)


def _versions(wanted: tuple[str, ...], given: tuple[str, ...]) -> Relation:
    if wanted == given:
        return SAME
    short, long = sorted((wanted, given), key=len)
    if long[: len(short)] != short:
        return DIFFERENT
    if set(long[len(short) :]) == {"0"}:
        return SAME if len(short) > 1 else UNCLEAR  # 4.2 is 4.2.0, "Python 3" need not be 3.0
    if given == short:
        return COARSER
    return DIFFERENT if len(wanted) > 1 else UNCLEAR


def _figures(value: Value) -> str:
    """The figures of a value; a spelled number ("three point zero") in figures."""
    if isinstance(value, Number) and not any(map(str.isdigit, value.text)):
        places = round(-math.log10(value.quantum)) if 0 < value.quantum < 1 else 0
        return f"{value.amount:.{places}f}"
    return value.text


def _pattern(code: str) -> str:
    """`A` for each letter, 0 for each digit: codes of one family have the same."""
    return "".join("A" if char.isalpha() else "0" if char.isdigit() else char for char in code)


def _times(reference: Value, answer: Value) -> Relation:
    if not (isinstance(reference, ClockTime) and isinstance(answer, ClockTime)):
        return APART
    # Winter's with winter's and summer's with summer's, where both zones have two.
    many = max(len(reference.offsets), len(answer.offsets))
    pairs = zip(reference.offsets * many, answer.offsets * many, strict=False)
    shifts = {one - other for one, other in pairs} or {0}
    times = product(reference.minutes, answer.minutes, shifts)
    apart = [given + shift - wanted for wanted, given, shift in times]
    if any(min(one % 1440, -one % 1440) < Tolerance.MINUTES for one in apart):
        return SAME
    near = any(abs(one) <= Tolerance.ABOUT_MINUTES for one in apart)
    return COARSER if answer.approximate and near else DIFFERENT


def _as_date(value: Value, requested: Requested) -> Date | None:
    if isinstance(value, Date):
        return value
    if (
        isinstance(value, Number)
        and not value.ordinal
        and value.amount == int(value.amount)
        and 1 <= value.amount <= 2100
    ) and (value.year or (requested.kind == "date" and not value.noun and value.amount >= 100)):
        return Date(
            start=value.start,
            end=value.end,
            text=value.text,
            year=int(value.amount),
            number=True,
        )
    return None


def _as_number(value: Value) -> Number | None:
    """A year that may as well be a number, as one."""
    if not (isinstance(value, Date) and value.number and value.year is not None):
        return None
    year = float(value.year)
    return Number(start=value.start, end=value.end, text=value.text, amount=year, quantum=1.0)


def _dates(reference: Value, answer: Value, requested: Requested) -> Relation:
    if requested.kind != "date":
        wanted, given = _as_number(reference), _as_number(answer)
        if isinstance(reference, Number) and not reference.year:
            wanted = reference
        elif isinstance(answer, Number) and not answer.year:
            given = answer
        else:
            wanted = None
        if wanted and given:
            same = relate_amounts(wanted, given, requested) is SAME
            return SAME if same else UNCLEAR
    one, other = _as_date(reference, requested), _as_date(answer, requested)
    if one is None or other is None:
        return APART
    return relate_dates(one, other, requested.granularity)


def relate_dates(reference: Date, answer: Date, granularity: str = "") -> Relation:
    """How a date relates to the reference's, down to the requested granularity."""
    readings = [reference, *(_reading(reference, one) for one in reference.alternatives)]
    given = [answer, *(_reading(answer, one) for one in answer.alternatives)]
    found = [_relate_dates(one, two, granularity) for one in readings for two in given]
    return min(found, key=(SAME, FINER, UNCLEAR, COARSER, DIFFERENT, APART).index)


def _reading(date: Date, reading: tuple[int | None, int, int | None]) -> Date:
    year, month, day = reading
    return Date(start=date.start, end=date.end, text=date.text, year=year, month=month, day=day)


def _relate_dates(reference: Date, answer: Date, granularity: str) -> Relation:  # noqa: PLR0912
    if reference.year is not None and answer.year is not None:
        wanted, given = interval(reference), interval(answer)
        if wanted is None or given is None:
            return UNCLEAR
        if granularity in ("year", "decade", "century") and reference.last_year is None:
            width = {"year": 1, "decade": 10, "century": 100}[granularity]
            last = answer.last_year if answer.last_year is not None else answer.year
            if (
                answer.year // width == reference.year // width
                and last // width == reference.year // width
            ):
                return SAME
        if _century(wanted, given) or wanted == given:
            return _parts(reference, answer)
        if _other_half(reference, answer) or _other_half(answer, reference):
            return DIFFERENT
        if wanted[0] <= given[0] and given[1] <= wanted[1]:
            # Of a span from one year to another its first or last alone may be half of the answer.
            half = reference.last_year is not None and (wanted[0] == given[0]) != (
                wanted[1] == given[1]
            )
            return UNCLEAR if reference.approximate or half else FINER
        if given[0] <= wanted[0] and wanted[1] <= given[1]:
            return COARSER
        shared = min(given[1], wanted[1]) - max(given[0], wanted[0])
        shorter = min(wanted[1] - wanted[0], given[1] - given[0])
        slight = shared <= YEAR_DAYS and shorter > 50 * YEAR_DAYS
        if shared >= 0 and not slight:
            return UNCLEAR
        if (reference.approximate or answer.approximate) and abs(
            reference.year - answer.year
        ) <= max(Tolerance.ABOUT_YEARS, abs(reference.year) // Tolerance.ABOUT_YEARS_OF):
            return UNCLEAR
        return DIFFERENT
    # One has no year: what both give must be the same.
    if reference.month is not None and answer.month is not None:
        if reference.month != answer.month and not (reference.last_month or answer.last_month):
            return DIFFERENT
        if reference.day is not None and answer.day is not None:
            if reference.day != answer.day:
                return DIFFERENT
        elif reference.day is not None:
            return COARSER
        if reference.year is not None and answer.year is None:
            return COARSER if reference.day is None or granularity == "year" else UNCLEAR
        finer = (answer.year, answer.day) != (reference.year, reference.day)
        return FINER if finer else _parts(reference, answer)
    return APART if reference.month is None and answer.month is None else UNCLEAR


def _parts(reference: Date, answer: Date) -> Relation:
    """How the parts of one span relate that two dates name: its early and its late years."""
    (kind, wanted), (other, given) = reference.part, answer.part
    if kind != other or wanted == given:
        return SAME
    return UNCLEAR if "mid" in (wanted, given) else DIFFERENT


def _other_half(whole: Date, other: Date) -> bool:
    """Whether a date lies in the late half of a span of which another names the early one."""
    (first, last), (low, high) = interval(whole) or (0, 0), interval(other) or (0, 0)
    middle, stage = (first + last) / 2, whole.part[1]
    late, early = middle < low <= high <= last, first <= low <= high < middle
    return (late and stage == "early") or (early and stage == "late")


def _century(wanted: tuple[int, int], given: tuple[int, int]) -> bool:
    """1301 to 1400 and 1300 to 1399 are one century."""
    wide = 98 * YEAR_DAYS
    return (
        wanted[1] - wanted[0] > wide
        and given[1] - given[0] > wide
        and abs(wanted[0] - given[0]) <= YEAR_DAYS
    )


def _two_ranges(reference: Range, answer: Range, requested: Requested) -> Relation:
    lows = relate(reference.low, answer.low, requested) if reference.low and answer.low else None
    highs = (
        relate(reference.high, answer.high, requested) if reference.high and answer.high else None
    )
    if lows is None and highs is None:
        crossed = relate(reference.low or reference.high, answer.low or answer.high, requested)
        return crossed if crossed is APART else DIFFERENT
    found = [one for one in (lows, highs) if one is not None]
    if APART in found:
        return APART
    if DIFFERENT in found:
        if _meets(reference, answer.low or answer.high):
            return UNCLEAR
        if SAME in found and reference.open_high != answer.open_high:
            return UNCLEAR  # 7.0 to 7.9 and below 8.0
        return (
            UNCLEAR
            if (reference.approximate or answer.approximate) and _roughly(reference, answer)
            else DIFFERENT
        )
    if reference.open_low != answer.open_low or reference.open_high != answer.open_high:
        return UNCLEAR
    half = (reference.low is None) != (answer.low is None) or (reference.high is None) != (
        answer.high is None
    )
    if half:
        return UNCLEAR
    return SAME if all(one in (SAME, FINER) for one in found) else UNCLEAR


def _wanted_range(reference: Range, answer: Value, requested: Requested) -> Relation:
    if reference.low is not None and reference.high is not None:
        low, high = (
            relate(reference.low, answer, requested),
            relate(reference.high, answer, requested),
        )
        if APART in (low, high):
            return APART
        if low in (SAME, FINER) or high in (SAME, FINER):
            return COARSER
        if _within(reference, answer):
            return UNCLEAR
        ends = (reference.low, reference.high)
        same_years = isinstance(answer, Date) and [
            one.year for one in ends if isinstance(one, Date)
        ] == [answer.year, answer.last_year or answer.year]
        return COARSER if same_years and low is high is COARSER else DIFFERENT
    found = relate(reference.low or reference.high, answer, requested)
    return UNCLEAR if found is DIFFERENT and _meets(reference, answer) else found


def _given_range(reference: Value, answer: Range, requested: Requested) -> Relation:
    if answer.low is not None and answer.high is not None:
        low, high = (
            relate(reference, answer.low, requested),
            relate(reference, answer.high, requested),
        )
        if APART in (low, high):
            return APART
        if low is not DIFFERENT or high is not DIFFERENT:
            return UNCLEAR
        return UNCLEAR if _within(answer, reference) else DIFFERENT
    found = relate(reference, answer.low or answer.high, requested)
    if found in (SAME, FINER):
        return UNCLEAR if answer.open_low or answer.open_high else SAME
    if (
        found is DIFFERENT
        and (answer.open_low or answer.open_high)
        and (_size(reference) is None or _meets(answer, reference))
    ):
        return UNCLEAR  # "over 1,200" for 1,250
    return found


def _size(value: Value | None) -> float | None:
    if isinstance(value, Amount):
        return value.base
    if isinstance(value, Date):
        span = interval(value)
        return float(span[0]) if span else None
    if isinstance(value, ClockTime):
        return value.minutes[0]
    return None


def _meets(bound: Range, value: Value | None) -> bool:
    """Whether a value is just within an open bound: 1,100 for "more than 1,000"."""
    size, low, high = _size(value), _size(bound.low), _size(bound.high)
    if size is None or not (bound.open_low or bound.open_high):
        return False
    if low is not None and high is None:
        return low <= size <= low * (1 + Tolerance.BEYOND)
    return low is None and high is not None and high * (1 - Tolerance.BEYOND) <= size <= high


def _roughly(left: Range, right: Range) -> bool:
    for one, other in ((left.low, right.low), (left.high, right.high)):
        first, second = _size(one), _size(other)
        if (
            first is not None
            and second is not None
            and abs(first - second) > Tolerance.UNSURE * max(abs(first), abs(second))
        ):
            return False
    return True


def _within(outer: Range, inner: Value) -> bool:
    low, high, size = _size(outer.low), _size(outer.high), _size(inner)
    if low is None or high is None or size is None:
        return True
    if isinstance(outer.low, Percent) and isinstance(inner, Number) and 0 < size < 1:
        size *= 100
    return low <= size <= high
