# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Ranges and bounds: "between 6 and 14", "at least 15", "30 at most"."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from markscheme.text import LETTERS
from markscheme.values.currency import same_currency
from markscheme.values.kinds import (
    Amount,
    ClockTime,
    Date,
    Duration,
    Money,
    Number,
    Quantity,
    Range,
    Value,
)
from markscheme.values.numbers import CARDINALS, SCALES, digits_value
from markscheme.values.units import SECONDS

_LOW = re.compile(
    r"(?:\b(?:at least|no(?:t)? (?:less|fewer|lower|earlier|sooner|younger) than|not under|not below|a? ?minimum(?: of)?|min\.?|no (?:younger|colder) than|from|starting (?:at|from)|as (?:many|much|little) as|mindestens|wenigstens|en az|कम से कम|ab|al menos|au moins|almeno|pelo menos|minstens|не менее|как минимум)|至少|不低于|不少于|最低|最少|최소|少なくとも|≥|>=|⩾)\s*(?:age |of |about )?$",
    re.IGNORECASE,
)
_OPEN_LOW = re.compile(
    r"(?:\b(?:(?:more|greater|higher|longer|older|larger|bigger|later|heavier|further|wider) than|(?<!not )(?<!slightly )(?<!just )(?<!little )over|(?<!not )above|exceed(?:s|ing)|in excess of|upwards of|mehr als|über|más de|plus de|più di|mais de|meer dan|более|больше|свыше)|超过|超過|(?<![-=])>(?!=))\s*$",
    re.IGNORECASE,
)
_HIGH = re.compile(
    r"(?:\b(?:at most|no(?:t)? (?:more|greater|longer|later|higher|older|larger|bigger|hotter|heavier) than|up to and including|up to|maximum(?: of)?|max\.?|not? (?:exceed(?:ing)?|over|above|beyond)|does not exceed|within|a? ?limit of|as (?:few) as|not to exceed|höchstens|en çok|अधिक से अधिक|bis zu|maximal|como máximo|hasta|au plus|jusqu'à|al massimo|fino a|no máximo|até|hoogstens|tot|не более|до)|不超过|不高于|最多|至多|최대|最大|≤|<=|⩽)\s*$",
    re.IGNORECASE,
)
_OPEN_HIGH = re.compile(
    r"(?:\b(?:(?:less|fewer|lower|shorter|younger|smaller|lighter|earlier|cheaper) than|(?<!just )(?<!little )(?<!not )under|(?<!not )below|weniger als|unter|menos de|moins de|meno di|minder dan|менее|меньше)|少于|低于|(?<![-=])<(?!=))\s*$",
    re.IGNORECASE,
)
_LOW_AFTER = re.compile(
    r"\+(?!\s?\d)|\s*(?:[a-z]+ )?\(?(?:or (?:more|older|longer|above|greater|higher|over|better|later|newer|upwards?|heavier|up)|and (?:more|above|over|up|older|upwards?|newer|later|beyond)|upwards?\b|onwards?\b|at least|at (?:a|the) minimum|minimum|is the (?:minimum|least|lowest)|oder (?:mehr|älter)|o más|ou plus|o più|ou mais|of meer|и (?:более|старше|больше)|以上|이상|\+)|\s?以上|\s?이상",
    re.IGNORECASE,
)
_HIGH_AFTER = re.compile(
    r"\s*(?:[a-z]+ )?\(?(?:or (?:less|fewer|under|younger|below|lower|shorter|earlier|older versions)|and (?:under|below|younger|less)|at (?:the )?most|maximum|at (?:a|the) maximum|max\b|is the (?:[a-z]+ )?(?:maximum|limit|most|cap|highest)|tops\b|oder weniger|o menos|ou moins|o meno|ou menos|of minder|и менее)|\s?以内|\s?以下|\s?이하|\s?이내",
    re.IGNORECASE,
)
_OPEN_HIGH_AFTER = re.compile(r"\s?\w{0,2}?\s?(?:未満|미만)")
_OPEN_LOW_AFTER = re.compile(r"\s?\w{0,2}?\s?(?:を超え|を上回|초과)")
_JOIN = re.compile(
    r"\s*(?:-|–|~|\bto\b|\bthrough\b|\bthru\b|\buntil\b|\btill\b|\bbis\b|至|到|から|\ba\b|\bà\b|\bal?\b|до|\btot\b|\bup to\b|..\.)\s*",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"\b(?:between|zwischen|entre|tra|tussen|between the ages of)\s+(?:the\s+)?(?:ages?\s+)?(?:of\s+)?$",
    re.IGNORECASE,
)
_FIGURES = re.compile(r"\d+(?:[.,]\d+)*")
_AND = re.compile(r"\s*(?:and|und|y|et|e|en|&)\s*", re.IGNORECASE)


def largest_unit(value: Duration) -> float:
    sizes = (SECONDS[unit] for unit in ("year", "month", "week", "d", "h", "min"))
    return next((size for size in sizes if value.amount >= size), 1.0)


def _endpoint(value: Value) -> bool:
    return isinstance(value, Amount | Date | ClockTime)


def _alike(left: Value, right: Value) -> bool:
    if type(left) is type(right):
        if isinstance(left, Quantity) and isinstance(right, Quantity):
            return left.unit.dimensions == right.unit.dimensions
        return True
    return isinstance(left, Number) and isinstance(right, Amount) and not left.ordinal


def join_ranges(text: str, found: list[Value]) -> list[Value]:
    result: list[Value] = []
    place = 0
    while place < len(found):
        one = found[place]
        following = found[place + 1] if place + 1 < len(found) else None
        if (
            following is not None
            and _endpoint(one)
            and _endpoint(following)
            and following.start >= one.end
        ):
            joined = _range(text, one, following)
            if joined is not None:
                result.append(joined)
                place += 2
                continue
        result.append(_bounded(text, one, result) if isinstance(one, Amount | Date) else one)
        place += 1
    return _both_bounds(text, result)


def _range(text: str, left: Value, right: Value) -> Value | None:
    gap = text[left.end : right.start]
    if len(gap) > 12:
        return None
    joins = _JOIN.fullmatch(gap) is not None
    between = (
        not joins
        and _AND.fullmatch(gap) is not None
        and _BETWEEN.search(text, max(0, left.start - 40), left.start) is not None
    )
    if not (joins or between):
        return None
    if (
        isinstance(left, Amount)
        and isinstance(right, Amount)
        and right.signed
        and right.amount < 0
        and gap == ""
        and text[right.start] == "-"
    ):
        right = replace(right, amount=-right.amount, signed=False)
    if not _alike(left, right):
        return None
    left = _with_unit(left, right)
    start, end = left.start, right.end
    words = text[start:end]
    if isinstance(left, Amount) and isinstance(right, Amount) and left.amount >= right.amount:
        score = (
            type(left) is Number
            and type(right) is Number
            and gap in ("-", "–")
            and not left.ordinal
        )
        if not score:  # from 40 to 12: a change, not a range
            return None
    if isinstance(left, Date) and isinstance(right, Date):
        return _date_span(left, right, words)
    return Range(start=start, end=end, text=words, low=left, high=right)


def take_unit(left: Number | Money, right: Amount) -> Amount:
    """An amount with the unit and the scale of the one after it: 70 million in "70–85 million"."""
    figures = _FIGURES.search(right.text)
    _, step, others = digits_value(figures[0]) if figures else (0.0, 1.0, ())
    size = right.quantum / (1.0 if others else step)
    if isinstance(right, Duration):
        scale = size or largest_unit(right)
    else:
        scales = (size,) if figures and size and not others else _scales(right.text)
        fitting = (one for one in scales if one >= 1000 and left.quantum <= 1)
        scale = next((one for one in fitting if left.amount * one < right.amount), 1.0)
        if type(left) is type(right) and scale == 1.0:
            return left
    taken = replace(
        right,
        start=left.start,
        end=left.end,
        text=left.text,
        amount=left.amount * scale,
        quantum=left.quantum * (1.0 if isinstance(right, Duration) else scale),
        signed=left.signed,
        alternatives=(),
    )
    if isinstance(taken, Duration) and taken.months is not None:
        return replace(taken, months=taken.amount / SECONDS["month"])
    return taken


def _scales(text: str) -> tuple[float, ...]:
    """By what the words of a number may multiply the one before it: by all of them, or the largest.

    >>> _scales("two hundred thousand"), _scales("two thousand and one")
    ((100000.0, 1000.0), ())
    """
    words = LETTERS.findall(text.lower())
    sizes = [SCALES.get(one, 0.0) for one in words if one in SCALES or one in CARDINALS]
    return (math.prod(filter(None, sizes)), max(sizes)) if sizes and sizes[-1] else ()


def _with_unit(one: Value, other: Value) -> Value:
    if isinstance(one, Number) and isinstance(other, Amount):
        return take_unit(one, other)
    if isinstance(one, Money) and isinstance(other, Money):
        return take_unit(one, other) if same_currency(one.currency, other.currency) else one
    return one


def _date_span(left: Date, right: Date, words: str) -> Value:
    if (
        left.year is None
        and left.month is not None
        and right.month is not None
        and right.year is not None
        and left.month <= right.month
        and left.day is None
    ):
        if right.day is None:
            return replace(
                right, start=left.start, text=words, month=left.month, last_month=right.month
            )
        left = replace(left, year=right.year)
    if (
        left.day is None
        and left.month is None
        and right.month is None
        and left.year is not None
        and right.year is not None
        and left.year < right.year
    ):
        last = right.last_year or right.year
        return replace(left, end=right.end, text=words, last_year=last, number=False, part=("", ""))
    return Range(start=left.start, end=right.end, text=words, low=left, high=right)


def _bounded(text: str, value: Value, before: Sequence[Value]) -> Value:  # noqa: PLR0912
    """The value as a bound where the words around it make it one."""
    left = max(0, value.start - 26)
    if before and before[-1].end > left:
        left = before[-1].end
    ahead = text[left : value.start]
    tail = value.end
    dated = isinstance(value, Date)
    if value.weak or (isinstance(value, Number) and value.ordinal):
        return value
    low = high = None
    open_low = open_high = False
    if _HIGH.search(ahead) and not (
        dated and re.search(r"within\s*$|\bup to\s*$|\btot\s*$|до\s*$", ahead, re.IGNORECASE)
    ):
        high = value
    elif _LOW.search(ahead) and not (
        re.search(r"\bfrom\s*$|\bab\s*$|as (?:many|much|little) as\s*$", ahead, re.IGNORECASE)
        and not _from_on(text, value, dated=dated)
    ):
        low = value
    elif hit := _OPEN_LOW.search(ahead):
        if re.search(r"\d\s+$", ahead[: hit.start()]):
            return value  # 12 is 5 more than 7
        if not (re.match(r"over|above|über", hit[0], re.IGNORECASE) and dated):
            if _NEGATED.search(ahead[: hit.start()].rpartition(".")[2]):
                high = value
            else:
                low, open_low = value, True
    elif (hit := _OPEN_HIGH.search(ahead)) and not dated:
        if _NEGATED.search(ahead[: hit.start()].rpartition(".")[2]):
            low = value
        else:
            high, open_high = value, True
    if low is None and high is None:
        if _OPEN_HIGH_AFTER.match(text, tail):
            high, open_high = value, True
        elif _OPEN_LOW_AFTER.match(text, tail):
            low, open_low = value, True
        elif _LOW_AFTER.match(text, tail):
            low = value
        elif _HIGH_AFTER.match(text, tail):
            high = value
    if low is None and high is None:
        return value
    return Range(
        start=value.start,
        end=value.end,
        text=value.text,
        low=low,
        high=high,
        open_low=open_low,
        open_high=open_high,
    )


def _from_on(text: str, value: Value, *, dated: bool) -> bool:
    """Whether "from 35" is a bound: nothing follows that closes it."""
    after = text[value.end : value.end + 24]
    if re.match(
        r"\s*(?:onward|upward|and (?:up|above|over)|or more|on\b|up\b)", after, re.IGNORECASE
    ):
        return True
    return not dated and re.match(r"\s*[.;,)]|\s*$", after) is not None


_NEGATED = re.compile(r"\b(?:not|no|never|nobody|none|nothing|cannot|nor)\b|n't\b", re.IGNORECASE)


def _both_bounds(text: str, found: list[Value]) -> list[Value]:
    """Join "at least 6" and "at most 14" into one range."""
    result: list[Value] = []
    for one in found:
        last = result[-1] if result else None
        if (
            isinstance(one, Range)
            and isinstance(last, Range)
            and one.low is None
            and last.high is None
            and one.high is not None
            and last.low is not None
            and one.start - last.end < 40
            and not re.search(r"\bor\b", text[last.end : one.start])
        ):
            low = _with_unit(last.low, one.high)
            high = _with_unit(one.high, low)
            if type(low) is type(high):
                result[-1] = Range(
                    start=last.start,
                    end=one.end,
                    text=text[last.start : one.end],
                    low=low,
                    high=high,
                    open_low=last.open_low,
                    open_high=one.open_high,
                )
                continue
        result.append(one)
    return result
