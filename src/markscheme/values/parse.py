# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""`parse_values`: every typed value of a text, with how the text relates to it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from markscheme.text import is_foreign
from markscheme.values.bounds import YEAR_SECONDS, join_ranges, largest_unit, take_unit
from markscheme.values.characters import plain, take
from markscheme.values.clock import read_times
from markscheme.values.currency import PERIODS, currency_after, currency_before
from markscheme.values.dates import read_dates
from markscheme.values.identifiers import read_identifiers
from markscheme.values.kinds import (
    Amount,
    Date,
    Duration,
    Money,
    Number,
    Percent,
    Quantity,
    Unit,
    Value,
)
from markscheme.values.numbers import Reading, read_numbers, short_scale
from markscheme.values.requested import Requested, read_question
from markscheme.values.stance import with_stance
from markscheme.values.units import read_unit

_MAYBE = re.compile(
    r"\d|[½⅓⅔¼¾⅛⅜⅝⅞〇一二三四五六七八九十百千万半%√π²³]|--|-[a-z]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven\w*|twel\w+|\w+teen(?:th)?|twen\w+|thir\w+|for?t\w+|fif\w+|six\w+|seven\w+|"
    r"eigh\w+|nin\w+|hundred\w*|thousand\w*|million\w*|billion\w*|dozen\w*|half|quarter\w*|first|second|fourth|tenth|zero|nil|noon|midnight|fortnight|century|decade|an? (?:hour|day|week|month|year|minute)|"
    r"halved|doubled|tripled|trebled|quadrupled|once|twice|thrice|every|each|hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annually|biannually|semi-?annually|biennially|jan\w*|feb\w*|mar\w*|apr\w*|may|mai|jun\w*|jul\w*|aug\w*|sep\w*|oct\w*|okt\w*|nov\w*|dec\w*|dez\w*|gen\w*|ago\w*|ene\w*|dic\w*)\b|[IVX]{2,}|[=^]|[^\x00-\x7f]",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    r"[ -]?(?:%|(?:vol|wt|mol|mass)\.?[ -]?%|per ?cents?\b|percents?\b|pct\b|prozent\b|por ciento\b|pour cent\b|per cento\b|por cento\b|procent\b|процент\w*|パーセント|퍼센트|प्रतिशत|फ़ीसदी|в?\s?п\.\s?п\.|بالمئة)\s?(?P<points>[ -]?points?\b|punkte?\b|пункт\w*)?|\s?(?P<bare>percentage points?|pp\b|p\.p\.|Prozentpunkte?\b|процентн\w+ пункт\w*)|\s?(?P<basis>basis points?|bps?\b)",
    re.IGNORECASE,
)
_PERCENT_BEFORE = re.compile(r"(?:%|\byüzde)\s?$", re.IGNORECASE)
_NOUN = re.compile(
    r"[ -](?:(?:[a-z]+ly|of|the|more|other|different|additional|extra|new|full|whole|own|such|working|separate|consecutive)\s+)?([^\W\d_]+)"
)
_SIGN = re.compile(
    r"(?:(?<![\w)\].%])|(?<=[=(:])\s?)([+-])\s?$|\b(minus|negative|plus|menos|moins|meno|min|минус)\s+$|(零下|负|負|マイナス|영하|零上)\s?$",
    re.IGNORECASE,
)
_BELOW = re.compile(
    r"\s*(?:degrees?|°[CF]?|grad|grados|graus)?\s*(?:celsius\s+)?(?:below (?:zero|freezing)|sub-?zero|unter null|bajo cero|negativ[oi]s?|sotto (?:lo )?zero|abaixo de zero|under par)\b(?:\s+(?P<scale>fahrenheit|celsius)\b)?",
    re.IGNORECASE,
)


_ARTICLE_UNIT = re.compile(
    r"(?:^|\b(?:for|about|in|after|within|every|than|lasts?|takes?|is|was|around|roughly|exactly|only|of|half|half of|quarter of|third of|to|at least|up to|just|full|least|over|under|nearly))\s*\b(an?|one|half an?|ein|eine|einen|una?|une?|uno?)\s+(hour|day|week|fortnight|month|year|minute|decade|century|stunde|tag|woche|monat|jahr|hora|semana|mes|año|heure|jour|semaine|mois|an)\b(?! ago)",
    re.IGNORECASE,
)
_PER_AFTER = re.compile(
    r"\s*(?:/|per\b|an?\b|each\b|every\b|p\.?)\s*(month|year|annum|week|day|hour|a\.|person|head|share|item|night|km|kg|minute|mo\b|yr\b)|\s+(annually|monthly|yearly|weekly|daily|hourly)",
    re.IGNORECASE,
)
_WORKING = re.compile(
    r"(?<![\w.)])[$€£]?\d[\d.,]*(?:\s*[-−+*×x/÷]\s*[$€£]?\d[\d.,]*)+\s*=(?=\s*[-−]?[$€£]?\d)"
)  # of "$10 * 3 = $30" the answer is $30
_LOSS = re.compile(r"\s*\([$€£]?\s?\d[\d,]*\.\d+\)\s*")  # (4.2): a loss, as accountants write
_NO_NOUN = frozenset(
    """
    in on at of to by and or but for from with is was are were be has have had so as if than
    that which who when while the a an it its they he she i.e. e.g. not per out
    """.split()
)
_DIMENSIONS = re.compile(r"\s*(?:×|x|by|\*)\s*")
_WEAK_AFTER = re.compile(
    r"\s+(?:of (?:the|them|these|those|which|us|our|his|her|its|my|a|your)|another|time|day|more|must|can|has|is|who|that|which|thing|way|hand|side|or)\b",
    re.IGNORECASE,
)
_WEAK_BEFORE = re.compile(
    r"\b(?:the|no|any|some|every|each|which|this|that|only|another|red|blue|white|green|last|right|left|as|same|other|number|be the|big|new|old|small|black|brown|and)\s+$",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def _parse(text: str, question: str) -> tuple[Value, ...]:
    requested = read_question(question) if question else Requested()
    written = plain(text)
    foreign = is_foreign(written) or requested.foreign
    return tuple(_values(text, written, requested, foreign=foreign))


def parse_values(text: str, *, question: str | None = None) -> list[Value]:
    """The typed values of a text, in order.

    Args:
        text: any text; time is near-linear in its length.
        question: where known. It decides readings that the text leaves open: 2.30
            is a version where the question asks for one, four digits are a year.

    >>> [type(value).__name__ for value in parse_values("$3.5 million in March 2021")]
    ['Money', 'Date']
    """
    return list(_parse(text, question or ""))


def _values(raw: str, text: str, requested: Requested, *, foreign: bool) -> list[Value]:
    if not (foreign or _MAYBE.search(text)):
        return []
    used = bytearray(len(text))
    for working in _WORKING.finditer(text) if "=" in text else ():
        take(used, working.start(), working.end())
    version = requested.kind == "version"
    found: list[Value] = list(read_identifiers(text, used, version=True)) if version else []
    found.extend(
        read_dates(
            text,
            used,
            foreign=foreign,
            requested=requested.kind == "date",
            numbers=requested.kind in ("number", "money", "percent", "duration"),
            question=requested.text,
        )
    )
    found.extend(read_times(text, used))
    if not version:
        found.extend(read_identifiers(text, used, version=False))
    amounts = _amounts(text, used, requested, foreign=foreign)
    amounts = _mixed(text, amounts)
    if (
        _LOSS.fullmatch(text)
        and len(amounts) == 1
        and isinstance(amounts[0], Amount)
        and requested.direction != -1
    ):
        amounts = [replace(amounts[0], amount=-amounts[0].amount, signed=True)]
    found.extend(amounts)
    found.sort(key=lambda one: one.start)
    return [with_stance(text, one, raw) for one in join_ranges(text, found)]


def _amounts(text: str, used: bytearray, requested: Requested, *, foreign: bool) -> list[Value]:
    amounts: list[Value] = []
    readings = [
        one for one in read_numbers(text, foreign=foreign) if not any(used[one.start : one.end])
    ]
    for place, reading in enumerate(readings):
        if amounts and reading.start < amounts[-1].end:
            continue
        following = readings[place + 1].start if place + 1 < len(readings) else len(text)
        amounts.append(_amount(text, reading, requested, following))
    if " " in text and re.search(
        r"\b(?:hour|day|week|fortnight|month|year|minute|decade|century|stunde|tag|woche|monat|jahr|hora|semana|mes|año|heure|jour|semaine|mois|an)\b",
        text,
        re.IGNORECASE,
    ):
        for hit in _ARTICLE_UNIT.finditer(text):
            start, end = hit.start(1), hit.end()
            if any(one.start < end and start < one.end for one in amounts):
                continue
            unit = read_unit(text, hit.start(2))
            if unit is None:
                continue
            size = 0.5 if hit[1].lower().startswith("half") else 1.0
            value = _timed(text, start, unit[1], size, 0.0, (), unit[0])
            amounts = [one for one in amounts if not start <= one.start < value.end]
            amounts.append(value)
    return sorted(amounts, key=lambda one: one.start)


_AND_A_HALF = re.compile(r"\s+and\s+a\s+half\b", re.IGNORECASE)


def _timed(  # noqa: PLR0917
    text: str,
    start: int,
    end: int,
    size: float,
    quantum: float,
    others: tuple[float, ...],
    unit: Unit,
) -> Duration:
    if half := _AND_A_HALF.match(text, end):
        size, quantum, end = size + 0.5, 0.0, half.end()
    months = (
        size * unit.factor / (YEAR_SECONDS / 12) if unit.factor >= YEAR_SECONDS / 12 - 1 else None
    )
    return Duration(
        start=start,
        end=end,
        text=text[start:end],
        amount=size * unit.factor,
        quantum=quantum * unit.factor,
        alternatives=tuple(one * unit.factor for one in others),
        months=months,
    )


def _amount(text: str, reading: Reading, requested: Requested, following: int) -> Value:  # noqa: PLR0912, PLR0915
    start, end = reading.start, reading.end
    value, quantum, others = reading.value, reading.quantum, reading.alternatives
    before = text[max(0, start - 20) : start]
    sign, start = _sign(text, start)
    money = currency_before(text, start)
    if money:
        start = money[1]
        inner, start = _sign(text, start)
        sign = sign * inner if sign or inner else 0
        if sign == 0 and inner:
            sign = inner
        if short := short_scale(text, end):
            value, quantum, end = value * short[0], quantum * short[0], short[1]
            others = ()
    factor = -1.0 if sign < 0 else 1.0
    signed = sign != 0
    if not reading.ordinal or money:
        after = None if money else currency_after(text, end)
        if (
            not money
            and after is None
            and (short := short_scale(text, end))
            and (later := currency_after(text, short[1]))
        ):
            value, quantum, others, after = value * short[0], quantum * short[0], (), later
        if money or after:
            code, size, end = (money[0], 1.0, end) if money else after  # type: ignore[misc]
            if money and (again := currency_after(text, end)) and again[0] != "cent":
                code, end = again[0], again[2]
            if (
                after
                and text[after[2] - 5 : after[2]].lower() in ("pound", "ounds")
                and requested.kind != "money"
            ):
                unit = read_unit(text, after[2] - (6 if text[after[2] - 1] == "s" else 5))
                if (
                    unit is not None
                    and requested.unit is not None
                    and requested.unit.dimensions == unit[0].dimensions
                ):
                    return _measured(
                        text,
                        start,
                        after[2],
                        factor * value,
                        quantum,
                        others,
                        unit[0],
                        signed=signed,
                    )
            end, per = _per(text, end)
            return Money(
                start=start,
                end=end,
                text=text[start:end],
                amount=factor * value * size,
                quantum=quantum * size,
                alternatives=tuple(factor * one * size for one in others),
                currency=code,
                per=per,
                signed=signed,
            )
        if hit := _PERCENT.match(text, end):
            basis = bool(hit["basis"])
            points = bool(hit["points"] or hit["bare"] or basis)
            size = 0.01 if basis else 1.0
            return Percent(
                start=start,
                end=hit.end(),
                text=text[start : hit.end()],
                amount=factor * value * size,
                quantum=quantum * size,
                alternatives=tuple(factor * one for one in others),
                points=points,
                signed=signed,
            )
        if hit := _PERCENT_BEFORE.search(before):
            begin = start - (len(before) - hit.start())
            return Percent(
                start=max(begin, 0),
                end=end,
                text=text[max(begin, 0) : end],
                amount=factor * value,
                quantum=quantum,
                signed=signed,
            )
        if (unit := _unit(text, end, reading, requested)) is not None:
            below = _BELOW.match(text, end)
            end = unit[1]
            below = below or _BELOW.match(text, end)
            if below and not signed:
                factor, signed, end = -1.0, True, max(end, below.end())
                if below["scale"] and (scale := read_unit(text, below.start("scale"))):
                    unit = scale
            return _measured(
                text, start, end, factor * value, quantum, others, unit[0], signed=signed
            )
        if below := _BELOW.match(text, end):
            factor, signed, end = -1.0, True, below.end()
    hit = _NOUN.match(text, end)
    noun = (
        hit[1].lower()
        if hit and hit.start(1) <= following and hit[1].lower() not in _NO_NOUN
        else ""
    )
    if not noun and text[end : end + 1] > "\u0900" and text[end].isalpha():
        noun = text[end : end + 3]
    title = (
        hit is not None
        and text[reading.start : reading.end].lower() in ("one", "first", "two", "three")
        and reading.start < hit.start(1)
        and hit[1][:1].isupper()
    )
    weak = reading.weak and bool(
        _WEAK_AFTER.match(text, end)
        or _WEAK_BEFORE.search(before)
        or (reading.ordinal and not noun)
    )
    if (
        reading.weak
        and not reading.ordinal
        and text[reading.start : reading.end].lower() == "one"
        and not weak
    ):
        weak = start > 0 and not noun
    weak = weak or (title and requested.kind != "number")
    year = (
        reading.plain_digits
        and reading.value == int(reading.value)
        and 1000 <= reading.value <= 2100
    )
    if (
        reading.spelled_year
        and (requested.kind == "date" or re.search(r"\b(?:in|since|from|by|year)\s+$", before))
    ) or (year and requested.kind == "date"):
        return Date(start=start, end=end, text=text[start:end], year=int(value), number=True)
    return Number(
        start=start,
        end=end,
        text=text[start:end],
        amount=factor * value,
        quantum=quantum,
        alternatives=tuple(factor * one for one in others),
        noun=noun,
        ordinal=reading.ordinal,
        year=year,
        weak=weak,
        signed=signed,
    )


def _sign(text: str, start: int) -> tuple[int, int]:
    hit = _SIGN.search(text, max(0, start - 10), start)
    if not hit:
        return 0, start
    mark = (hit[1] or hit[2] or hit[3]).lower()
    if mark == "minus" and text[: hit.start()].lower().endswith("plus or "):
        return 0, start
    if (
        hit[1]
        and hit.start(1) > 0
        and text[hit.start(1) - 1 : hit.start(1)].strip()
        and text[hit.start(1) - 1] not in "([=:,;\"'~≈"
    ):
        return 0, start
    if hit[1] and hit.end(1) < start and re.search(r"[\d\w)]\s*$", text[: hit.start(1)][-6:]):
        return 0, start  # a difference, not a sign
    if mark == "min":
        return 0, start
    return (1 if mark in ("+", "plus", "零上") else -1), hit.start()


_ALSO_WORDS = frozenset(
    """
    in a at as am u an d ha ora hands stone do mi league bit dia ay mes no PS AU ano bin
    """.split()
)
"""Signs of units that are more often words, or mean other things."""


def _unit(text: str, end: int, reading: Reading, requested: Requested) -> tuple[Unit, int] | None:
    at = end
    while text[at : at + 1] == " " and at < end + 1:
        at += 1
    if text[at : at + 1] == "-" and text[at + 1 : at + 2].isalpha():
        at += 1
    if reading.fraction and (over := re.compile(r"\s*(?:of\s+)?(?:an?|one)\s+").match(text, end)):
        at = over.end()
    char = text[at : at + 1]
    if not char:
        return None
    if char == '"' and text[at - 1 : at].isdigit() and reading.value < 120:
        return None
    found = read_unit(text, at)
    if found is None:
        return None
    word = text[at : found[1]]
    if word in _ALSO_WORDS and not _sure(text, word, found[1], requested):
        return None
    if word in ("second", "Second", "third"):
        return None if reading.ordinal else found
    if (
        len(word) == 1
        and at > end
        and word
        not in ("m", "g", "s", "h", "K", "L", "l", "t", "W", "V", "A", "N", "J", "°", "d", "B")
        and ord(word) < 256
    ):
        return None
    if (
        word == "B"
        and at == end
        and not (requested.unit and requested.unit.dimensions == found[0].dimensions)
    ):
        return None
    if word in ("m", "t") and at == end and requested.kind == "money":
        return None
    return found


def _sure(text: str, word: str, end: int, requested: Requested) -> bool:
    if requested.unit is not None and word in ("in", "stone", "hands", "mi", "ha", "bit", "league"):
        return True
    if word in ("in", "mi", "ha", "d", "u"):
        return not re.match(r"\s+\w", text[end : end + 3])
    return word in ("stone", "hands", "league", "bit", "dia", "PS", "AU", "ano", "mes", "ora", "ay")


_COMPASS = re.compile(r"\s?(N|S|E|W|north|south|east|west)\b(?! of\b)", re.IGNORECASE)
"""After degrees: south and west are written as negative angles too."""


def _measured(  # noqa: PLR0917
    text: str,
    start: int,
    end: int,
    value: float,
    quantum: float,
    others: tuple[float, ...],
    unit: Unit,
    *,
    signed: bool,
) -> Value:
    if unit.dimensions == (("time", 1),) and unit.name not in ("ms",) and value >= 0:
        return _timed(text, start, end, value, quantum, others, unit)
    if unit.name == "°" and (side := _COMPASS.match(text, end)):
        end = side.end()
        value = -value if side[1][0].lower() in "sw" else value
    return Quantity(
        start=start,
        end=end,
        text=text[start:end],
        amount=value,
        quantum=quantum,
        alternatives=others,
        unit=unit,
        signed=signed,
    )


def _per(text: str, end: int) -> tuple[int, str]:
    hit = _PER_AFTER.match(text, end)
    if not hit:
        return end, ""
    word = (hit[1] or hit[2]).lower()
    return hit.end(), PERIODS.get(word, word)


_MIXING = re.compile(r"\s*(?:,?\s*and\s+|,\s*|\s|und|y|et|e)\s*|")


def _mixed(text: str, amounts: list[Value]) -> list[Value]:
    """Join "6 ft 2 in", "2 hours and 10 minutes", "four pounds twenty"."""
    result: list[Value] = []
    for one in amounts:
        last = result[-1] if result else None
        gap = text[last.end : one.start] if last else "?"
        if type(last) is Number and isinstance(one, Quantity) and _DIMENSIONS.fullmatch(gap):
            result[-1] = take_unit(last, one)
        if last and len(gap) <= 6 and _MIXING.fullmatch(gap):
            joined = _join(text, last, one)
            if joined is not None:
                result[-1] = joined
                continue
        result.append(one)
    return result


def _join(text: str, left: Value, right: Value) -> Value | None:
    words = text[left.start : right.end]
    if (
        isinstance(left, Duration)
        and isinstance(right, Duration)
        and "," not in text[left.end : right.start].replace(", and", "")
    ):
        if right.amount < left.amount and right.amount < largest_unit(left):
            months = (
                left.months + right.months
                if left.months is not None and right.months is not None
                else None
            )
            return replace(
                left,
                end=right.end,
                text=words,
                amount=left.amount + right.amount,
                quantum=right.quantum,
                months=months,
            )
        return None
    if (
        isinstance(left, Quantity)
        and isinstance(right, Quantity)
        and left.unit.dimensions == right.unit.dimensions
        and not left.unit.offset
    ):
        if (
            left.unit.factor > right.unit.factor
            and right.base < left.unit.factor
            and left.unit.name in ("ft", "lb", "stone", "mi", "yd", "m", "kg", "gal")
        ):
            sign = -1 if left.amount < 0 else 1
            return replace(
                left,
                end=right.end,
                text=words,
                amount=left.amount + sign * right.base / left.unit.factor,
                quantum=right.quantum * right.unit.factor / left.unit.factor,
            )
        return None
    if isinstance(left, Money) and left.amount == int(left.amount) and left.quantum == 1.0:
        if isinstance(right, Money) and right.quantum == 0.01 and right.amount < 1:
            return replace(
                left, end=right.end, text=words, amount=left.amount + right.amount, quantum=0.01
            )
        if (
            isinstance(right, Number)
            and 1 <= right.amount < 100
            and not right.noun
            and text[left.start : left.start + 1].isalpha()
            and text[right.start : right.start + 1].isalpha()
        ):
            return replace(
                left,
                end=right.end,
                text=words,
                amount=left.amount + right.amount / 100,
                quantum=0.01,
            )
    return None
