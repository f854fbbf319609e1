# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""`parse_values`: every typed value of a text, with how the text relates to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from markscheme.text import is_foreign, words_of
from markscheme.values.bounds import join_ranges, largest_unit, take_unit
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
from markscheme.values.units import SECONDS, read_unit

_SMALL_WORDS = words_of(__file__, "words")["small_words"]
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
    r"(?:(?<![\w)\].%])|(?<=[=(:])\s?)([+-])\s?$|\b(minus|negative|plus|menos|moins|meno|минус)\s+$|(零下|负|負|マイナス|영하|零上)\s?$",
    re.IGNORECASE,
)
_BELOW = re.compile(
    r"\s*(?:degrees?|°[CF]?|grad|grados|graus)?\s*(?:celsius\s+)?(?:below (?:zero|freezing)|sub-?zero|unter null|bajo cero|negativ[oi]s?|sotto (?:lo )?zero|abaixo de zero|under par)\b(?:\s+(?P<scale>fahrenheit|celsius)\b)?",
    re.IGNORECASE,
)
_ARTICLE_UNITS = re.compile(
    r"\b(?:hour|day|week|fortnight|month|year|minute|decade|century|stunde|tag|woche|monat|jahr|hora|semana|mes|año|heure|jour|semaine|mois|an)\b",
    re.IGNORECASE,
)
_ARTICLE_UNIT = re.compile(
    rf"(?:^|\b(?:for|about|in|after|within|every|than|lasts?|takes?|is|was|around|roughly|exactly|only|of|half|half of|quarter of|third of|to|at least|up to|just|full|least|over|under|nearly))\s*\b(an?|one|half an?|ein|eine|einen|una?|une?|uno?)\s+({_ARTICLE_UNITS.pattern})(?! ago)",
    re.IGNORECASE,
)
_POUNDS = re.compile(r"(?i:pound)s?$")
_PER_AFTER = re.compile(
    r"\s*(?:/|per\b|an?\b|each\b|every\b|p\.?)\s*(month|year|annum|week|day|hour|a\.|person|head|share|item|night|km|kg|minute|mo\b|yr\b)|\s+(annually|monthly|yearly|weekly|daily|hourly)",
    re.IGNORECASE,
)
_WORKING = re.compile(
    r"(?<![\w.)])[$€£]?\d[\d.,]*(?:\s*[-−+*×x/÷]\s*[$€£]?\d[\d.,]*)+\s*=(?=\s*[-−]?[$€£]?\d)"
)  # of "$10 * 3 = $30" the answer is $30
_LOSS = re.compile(r"\s*\([$€£]?\s?\d[\d,]*\.\d+\)\s*")  # (4.2): a loss, as accountants write
_NO_NOUN = frozenset(_SMALL_WORDS["no_noun"].split())
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
        amount = requested.kind in ("number", "money")
        found.extend(read_identifiers(text, used, version=False, amount=amount))
    found.extend(_feet(text, used, foreign=foreign))
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


_FEET = re.compile(
    r"(?<![\w.,'\"°])(\d{1,2})(?:' ?|-(?:foot|ft)-)((?:1[01]|\d)(?:\.\d+| ?[½¼¾])?)"
    r"(?P<inch>\"|''|-inch(?:es)?\b)?(?![\w'\"°])"
)
_FOOT_OR_INCH = re.compile(r"(?<![\w.,'\"°-])(\d+(?:\.\d+)?)(['\"])(?![\w'\"°])")


def _feet(text: str, used: bytearray, *, foreign: bool) -> Iterator[Value]:
    """Feet and inches by their signs: 6'9", 5'10 and 6-foot-9, and 12' where that quotes nothing."""
    for hit in _FEET.finditer(text):
        sure = hit["inch"] or (" " not in hit[0] and not foreign)
        if sure and take(used, *hit.span()):
            value, *_ = parse_values(f"{hit[1]} ft {hit[2]} in")
            yield replace(value, start=hit.start(), end=hit.end(), text=hit[0])
    for hit in _FOOT_OR_INCH.finditer(text):
        if text.count(hit[2]) == 1 and not foreign and take(used, *hit.span()):
            (value,) = parse_values(hit[1] + (" ft" if hit[2] == "'" else " inches"))
            yield replace(value, start=hit.start(), end=hit.end(), text=hit[0])


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
    if " " in text and _ARTICLE_UNITS.search(text):
        for hit in _ARTICLE_UNIT.finditer(text):
            start, end = hit.start(1), hit.end()
            if any(one.start < end and start < one.end for one in amounts):
                continue
            unit = read_unit(text, hit.start(2))
            if unit is None:
                continue
            size = 0.5 if hit[1].lower().startswith("half") else 1.0
            value = _timed(text, Reading(start, unit[1], size, 0.0), unit[0])
            amounts = [one for one in amounts if not start <= one.start < value.end]
            amounts.append(value)
    return sorted(amounts, key=lambda one: one.start)


_AND_A_HALF = re.compile(r"\s+and\s+a\s+half\b", re.IGNORECASE)
_Kind = TypeVar("_Kind", bound=Amount)


def _typed(kind: type[_Kind], text: str, read: Reading, **more: Any) -> _Kind:
    """An amount of a kind, where and as it was read."""
    return kind(
        start=read.start,
        end=read.end,
        text=text[read.start : read.end],
        amount=read.value,
        quantum=read.quantum,
        alternatives=read.alternatives,
        **more,
    )


def _timed(text: str, read: Reading, unit: Unit) -> Duration:
    if half := _AND_A_HALF.match(text, read.end):
        read = read._replace(value=read.value + 0.5, quantum=0.0, end=half.end())
    read = read.times(unit.factor)
    months = read.value / SECONDS["month"] if unit.factor >= SECONDS["month"] - 1 else None
    return _typed(Duration, text, read, months=months)


def _amount(text: str, reading: Reading, requested: Requested, following: int) -> Value:
    sign, start = _sign(text, reading.start)
    before = currency_before(text, start)
    if before:
        inner, start = _sign(text, before[1])
        sign = sign * inner if sign else inner
    read, signed = reading._replace(start=start), sign != 0
    if before or not reading.ordinal:
        if (money := _money(text, read, before, requested, sign)) is not None:
            return money
        read = read.times(-1.0 if sign < 0 else 1.0)
        if hit := _PERCENT.match(text, read.end):
            points = bool(hit["points"] or hit["bare"] or hit["basis"])
            shares = read.times(0.01 if hit["basis"] else 1.0)
            shares = shares._replace(end=hit.end(), alternatives=read.alternatives)
            return _typed(Percent, text, shares, points=points, signed=signed)
        begin = max(0, reading.start - 20)
        if hit := _PERCENT_BEFORE.search(text[begin : reading.start]):
            begin = max(0, start - (reading.start - begin - hit.start()))
            return _typed(Percent, text, read._replace(start=begin, alternatives=()), signed=signed)
        below = _BELOW.match(text, read.end)
        if (unit := _unit(text, read.end, reading, requested)) is not None:
            read = read._replace(end=unit[1], alternatives=reading.alternatives)
            below = below or _BELOW.match(text, unit[1])
            if below and not signed:
                signed = True
                read = read._replace(value=-read.value, end=max(read.end, below.end()))
                if below["scale"] and (scale := read_unit(text, below.start("scale"))):
                    unit = scale
            return _measured(text, read, unit[0], signed=signed)
        if below:
            read, signed = read.times(1.0 if sign < 0 else -1.0)._replace(end=below.end()), True
        else:
            read = _with_letter(text, read, requested)
    elif sign < 0:
        read = read.times(-1.0)
    return _counted(text, read, reading, requested, following, signed=signed)


_APART = re.compile(r" [MB](?=\s*(?:[,;()]|\.?$))")


def _with_letter(text: str, read: Reading, requested: Requested) -> Reading:
    """A number with the letter that multiplies it, without a currency: "1.5M".

    Only where the question asks for a number or money is this the first reading of the two. Small
    letters are units, unless it asks for money.
    """
    kind = requested.kind
    apart = _APART.match(text, read.end) is not None
    short = short_scale(text, read.end + apart)
    if short is None or kind not in ("number", "money", "") or (apart and requested.unit):
        return read
    if kind != "money" and text[short[1] - 1] not in "MBT":
        return read
    many = read.times(short[0])
    first, other = (many, read) if kind else (read, many)
    return first._replace(end=short[1], alternatives=(other.value,), plain_digits=False)


def _money(
    text: str, read: Reading, before: tuple[str, int] | None, requested: Requested, sign: int
) -> Value | None:
    """The amount of money with a currency before or after it; pounds may be a weight."""
    short = short_scale(text, read.end)
    scaled = read
    if short:
        scaled = read.times(short[0])._replace(end=short[1], alternatives=())
    if before:
        read, code, size = scaled, before[0], 1.0
        if (again := currency_after(text, read.end)) and again[0] != "cent":
            code, read = again[0], read._replace(end=again[2])
    else:
        after = currency_after(text, read.end)
        if after is None and short and (after := currency_after(text, short[1])):
            read = scaled
        if after is None:
            return None
        code, size, end = after
        read = read._replace(end=end)
        if requested.kind != "money" and (weight := _pounds(text, end, requested)):
            value = -read.value if sign < 0 else read.value
            return _measured(text, read._replace(value=value), weight, signed=sign != 0)
    end, per = _per(text, read.end)
    read = read.times(-size if sign < 0 else size)._replace(end=end)
    return _typed(Money, text, read, currency=code, per=per, signed=sign != 0)


def _pounds(text: str, end: int, requested: Requested) -> Unit | None:
    """The unit of weight that ends here as "pounds", where the question asks for a weight."""
    hit = _POUNDS.search(text, max(0, end - 6), end)
    unit = read_unit(text, hit.start()) if hit and requested.unit else None
    if unit and requested.unit and requested.unit.dimensions == unit[0].dimensions:
        return unit[0]
    return None


def _counted(
    text: str,
    read: Reading,
    reading: Reading,
    requested: Requested,
    following: int,
    *,
    signed: bool,
) -> Value:
    """A bare number or a number of things; a year where the question asks for a date."""
    before = text[max(0, reading.start - 20) : reading.start]
    hit = _NOUN.match(text, read.end)
    noun = (
        hit[1].lower()
        if hit and hit.start(1) <= following and hit[1].lower() not in _NO_NOUN
        else ""
    )
    if not noun and text[read.end : read.end + 1] > "\u0900" and text[read.end].isalpha():
        noun = text[read.end : read.end + 3]
    word = text[reading.start : reading.end].lower()
    title = (
        hit is not None
        and word in ("one", "first", "two", "three")
        and reading.start < hit.start(1)
        and hit[1][:1].isupper()
    )
    weak = reading.weak and bool(
        _WEAK_AFTER.match(text, read.end)
        or _WEAK_BEFORE.search(before)
        or (reading.ordinal and not noun)
    )
    if reading.weak and word == "one" and not weak:
        weak = read.start > 0 and not noun
    weak = weak or (title and requested.kind != "number")
    year = (
        read.plain_digits and reading.value == int(reading.value) and 1000 <= reading.value <= 2100
    )
    if (
        reading.spelled_year
        and (requested.kind == "date" or re.search(r"\b(?:in|since|from|by|year)\s+$", before))
    ) or (year and requested.kind == "date"):
        return Date(
            start=read.start,
            end=read.end,
            text=text[read.start : read.end],
            year=int(reading.value),
            number=True,
        )
    return _typed(
        Number,
        text,
        read,
        noun=noun,
        ordinal=reading.ordinal,
        year=year,
        weak=weak,
        signed=signed,
    )


def _sign(text: str, start: int) -> tuple[int, int]:
    """The sign before a number, and where it starts; 0 for none, a hyphen or a difference."""
    hit = _SIGN.search(text, max(0, start - 10), start)
    if not hit:
        return 0, start
    mark = (hit[1] or hit[2] or hit[3]).lower()
    before = text[max(0, hit.start() - 8) : hit.start()].lower()
    ahead = text[max(0, hit.start(1) - 6) : hit.start(1)] if hit[1] else ""
    if (
        (mark == "minus" and before == "plus or ")
        or (ahead[-1:].strip() and ahead[-1] not in "([=:,;\"'~≈")
        or (ahead and hit.end(1) < start and re.search(r"[\d\w)]\s*$", ahead))
    ):
        return 0, start
    return (1 if mark in ("+", "plus", "零上") else -1), hit.start()


_ALSO_WORDS = frozenset(_SMALL_WORDS["rarely_units"].split())
"""Signs of units that are more often words, or mean other things."""


_LETTERS = frozenset("m g s h K C F L l t W V A N J ° d B".split())
"""Units of one letter that may have a space before them."""
_CHARGE = re.compile(r"charge|coulomb|capacit|farad", re.IGNORECASE)
"""A question in which C and F are no degrees."""


def _unit(text: str, end: int, reading: Reading, requested: Requested) -> tuple[Unit, int] | None:
    """The unit after a number, and where it ends."""
    at = end + (text[end : end + 1] == " ")
    if text[at : at + 1] == "-" and text[at + 1 : at + 2].isalpha():
        at += 1
    if reading.fraction and (over := re.compile(r"\s*(?:of\s+)?(?:an?|one)\s+").match(text, end)):
        at = over.end()
    quoted = text[at : at + 1] == '"' and text[at - 1 : at].isdigit() and reading.value < 120
    found = None if quoted else read_unit(text, at)
    if found is None:
        return None
    word, glued = text[at : found[1]], at == end
    asked = requested.unit is not None and requested.unit.dimensions == found[0].dimensions
    other = (
        (word in _ALSO_WORDS and not _sure(text, word, found[1], requested))
        or (len(word) == 1 and not glued and word not in _LETTERS and ord(word) < 256)
        or (word == "B" and glued and not asked)
        or (word in ("C", "F") and _CHARGE.search(requested.text) is not None)
        or (word in ("m", "b", "t") and glued and requested.kind == "money")
    )
    return None if other else found


def _sure(text: str, word: str, end: int, requested: Requested) -> bool:
    if requested.unit is not None and word in ("in", "stone", "hands", "mi", "ha", "bit", "league"):
        return True
    if word in ("in", "mi", "ha", "d", "u"):
        return not re.match(r"\s+\w", text[end : end + 3])
    return word in ("stone", "hands", "league", "bit", "dia", "PS", "AU", "ano", "mes", "ora", "ay")


_COMPASS = re.compile(r"\s?(N|S|E|W|north|south|east|west)\b(?! of\b)", re.IGNORECASE)
"""After degrees: south and west are written as negative angles too."""


def _measured(text: str, read: Reading, unit: Unit, *, signed: bool) -> Value:
    if unit.dimensions == (("time", 1),) and unit.name not in ("ms",) and read.value >= 0:
        return _timed(text, read, unit)
    if unit.name == "°" and (side := _COMPASS.match(text, read.end)):
        value = -read.value if side[1][0].lower() in "sw" else read.value
        read = read._replace(value=value, end=side.end())
    return _typed(Quantity, text, read, unit=unit, signed=signed)


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
    """Two amounts as one, where the second is the rest of the first."""
    words = text[left.start : right.end]
    if isinstance(left, Duration) and isinstance(right, Duration):
        apart = "," in text[left.end : right.start].replace(", and", "")
        if apart or right.amount >= min(left.amount, largest_unit(left)):
            return None
        whole = left.months is not None and right.months is not None
        months = (left.months or 0.0) + (right.months or 0.0) if whole else None
        left, amount, quantum = replace(left, months=months), right.amount, right.quantum
    elif isinstance(left, Quantity) and isinstance(right, Quantity):
        size = left.unit.factor
        if (
            left.unit.dimensions != right.unit.dimensions
            or left.unit.offset
            or max(right.unit.factor, right.base) >= size
            or left.unit.name not in ("ft", "lb", "stone", "mi", "yd", "m", "kg", "gal")
        ):
            return None
        amount = (-1 if left.amount < 0 else 1) * right.base / size
        quantum = right.quantum * right.unit.factor / size
    elif isinstance(left, Money) and left.amount == int(left.amount) and left.quantum == 1.0:
        quantum = 0.01
        if isinstance(right, Money) and right.quantum == 0.01 and right.amount < 1:
            amount = right.amount
        elif (
            isinstance(right, Number)
            and 1 <= right.amount < 100
            and not right.noun
            and text[left.start : left.start + 1].isalpha()
            and text[right.start : right.start + 1].isalpha()
        ):
            amount = right.amount / 100
        else:
            return None
    else:
        return None
    return replace(left, end=right.end, text=words, amount=left.amount + amount, quantum=quantum)
