"""`parse_values`: every typed value of a text, with how the text stands to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from markscheme.values.asked import Asked, read_question
from markscheme.values.characters import is_foreign, plain
from markscheme.values.clock import read_times
from markscheme.values.codes import read_codes, read_flags, read_verses, read_versions
from markscheme.values.currency import currency_after, currency_before
from markscheme.values.dates import read_dates
from markscheme.values.expressions import expressions_in
from markscheme.values.kinds import (
    Amount,
    Date,
    Duration,
    Expression,
    Identifier,
    Money,
    Number,
    Percent,
    Quantity,
    Range,
    Unit,
    Value,
    Version,
)
from markscheme.values.numbers import Reading, read_numbers, roman, short_scale
from markscheme.values.units import read_unit

_MAYBE = re.compile(
    r"\d|[½⅓⅔¼¾⅛⅜⅝⅞〇一二三四五六七八九十百千万半%√π²³]|--|-[a-z]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven\w*|twel\w+|\w+teen(?:th)?|twen\w+|thir\w+|for?ty\w*|fif\w+|six\w+|seven\w+|"
    r"eigh\w+|nin\w+|hundred\w*|thousand\w*|million\w*|billion\w*|dozen\w*|half|quarter\w*|first|second|fourth|tenth|zero|nil|noon|midnight|fortnight|century|decade|an? (?:hour|day|week|month|year|minute)|"
    r"jan\w*|feb\w*|mar\w*|apr\w*|may|mai|jun\w*|jul\w*|aug\w*|sep\w*|oct\w*|okt\w*|nov\w*|dec\w*|dez\w*|gen\w*|ago\w*|ene\w*|dic\w*)\b|[IVX]{2,}|[=^]|[^\x00-\x7f]",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"[ -]?(?:%|per ?cents?\b|percents?\b|pct\b|prozent\b|por ciento\b|pour cent\b|per cento\b|por cento\b|procent\b|процент\w*|パーセント|퍼센트|प्रतिशत|फ़ीसदी|в?\s?п\.\s?п\.|بالمئة)\s?(?P<points>[ -]?points?\b|punkte?\b|пункт\w*)?|\s?(?P<bare>percentage points?|pp\b|p\.p\.|Prozentpunkte?\b|процентн\w+ пункт\w*)|\s?(?P<basis>basis points?|bps?\b)", re.IGNORECASE)
_PERCENT_BEFORE = re.compile(r"(?:%|\byüzde)\s?$", re.IGNORECASE)
_NOUN = re.compile(r"[ -](?:(?:[a-z]+ly|of|the|more|other|different|additional|extra|new|full|whole|own|such|working|separate|consecutive)\s+)?([^\W\d_]+)")
_SIGN = re.compile(r"(?:(?<![\w)\].%])|(?<=[=(:])\s?)([+-])\s?$|\b(minus|negative|plus|menos|moins|meno|min|минус)\s+$|(零下|负|負|マイナス|영하|零上)\s?$", re.IGNORECASE)
_BELOW = re.compile(r"\s*(?:degrees?|°[CF]?|grad|grados|graus)?\s*(?:celsius\s+)?(?:below (?:zero|freezing)|sub-?zero|unter null|bajo cero|negativ[oi]s?|sotto (?:lo )?zero|abaixo de zero)\b(?:\s+(?P<scale>fahrenheit|celsius)\b)?", re.IGNORECASE)
_FELL = re.compile(r"\b(?:f[ae]ll(?:s|en)?|dropp?(?:s|ed|ing)?|down|declined?|decreas\w+|shr[aiu]nk|lost|los[se]\w*|reduc\w+|deficit|cut|minus|lower(?:ed)?|negative|decline|slump\w*|slid|sank|contracted|behind|colder)\b(?:\s+\w+){0,4}\s*$", re.IGNORECASE)
_ROSE = re.compile(r"\b(?:r[io]se[ns]?|up|grew|grow[ns]?|growth|increas\w+|gain\w*|climb\w*|rais\w+|jump\w*|higher|surplus|profit|ahead|positive)\b(?:\s+\w+){0,3}\s*$", re.IGNORECASE)
_FELL_AFTER = re.compile(r"\s*(?:\w+\s+){0,2}(?:decline|decrease|drop|fall|loss|reduction|cut|less|fewer|lower|down|behind|deficit)\b", re.IGNORECASE)
_DENIED = re.compile(
    r"(?:\b(?:not|never|rather than|instead of|unlike|except|neither|nor|formerly|previously|no longer|replac(?:ed|es|ing)|superseded?|supersedes|superseding|as opposed to|contrary to|other than|excluding|all but|every one but|all except|nicht|nicht mehr|sondern nicht|pas|non|não|не|geen|niet|statt|instead)|n't)(?:\s+(?:(?:in|on|by|at|the|a|an|just|only|to|until|till|from|for|it|its|old|older|plain|of|before|after|via|version|about|until|around|be|been|de|im|en|am|il|el|le|la)\s+){0,3}(?:[$€£#(]\s?)?)?$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\b(?:before|after|prior to|predecessor (?:of|to)|successor (?:of|to)|followed|preceded|preceding|following|than|since|until|up to)\s+(?:the\s+)?(?:version\s+)?$", re.IGNORECASE)
_NOT_BOUND = re.compile(r"\bnot\s+(?:only|just)\b[^.]{0,12}$", re.IGNORECASE)
_ABOUT = re.compile(r"(?:\b(?:about|around|approx(?:imately|\.)?|roughly|nearly|almost|some|circa|ca\.|c\.|close to|or so|just (?:over|under)|a little (?:over|under)|slightly (?:more|less) than|etwa|rund|unos|environ|circa|cerca de|около|约|大约|およそ|약|in the region of|estimated|approaching|under|over)|约|約|およそ|~|≈)\s*(?:[$€£]\s?)?$", re.IGNORECASE)
_PART_OF = re.compile(r"\b(?:end|beginning|start|middle|early|late|mid|half|part|days?|weeks?|quarter|latter)(?:[ -]+(?:of|in))?(?: the)?[ -]*$", re.IGNORECASE)
_ABOUT_AFTER = re.compile(r"\s*(?:\w+\s+){0,2}(?:or so|or thereabouts|give or take|approximately|-ish)\b|,? (?:or so|give or take|roughly|approximately)\b", re.IGNORECASE)

_LOW = re.compile(r"(?:\b(?:at least|no(?:t)? (?:less|fewer|lower|earlier|sooner|younger) than|not under|not below|a? ?minimum(?: of)?|min\.?|no (?:younger|colder) than|from|starting (?:at|from)|as (?:many|much|little) as|mindestens|wenigstens|en az|कम से कम|ab|al menos|au moins|almeno|pelo menos|minstens|не менее|как минимум)|至少|不低于|不少于|最低|最少|최소|少なくとも|≥|>=|⩾)\s*(?:age |of |about )?$", re.IGNORECASE)
_OPEN_LOW = re.compile(r"(?:\b(?:(?:more|greater|higher|longer|older|larger|bigger|later|heavier|further|wider) than|(?<!not )(?<!slightly )(?<!just )(?<!little )over|(?<!not )above|exceed(?:s|ing)|in excess of|upwards of|mehr als|über|más de|plus de|più di|mais de|meer dan|более|больше|свыше)|超过|超過|(?<![-=])>(?!=))\s*$", re.IGNORECASE)
_HIGH = re.compile(r"(?:\b(?:at most|no(?:t)? (?:more|greater|longer|later|higher|older|larger|bigger|hotter|heavier) than|up to|maximum(?: of)?|max\.?|not? (?:exceed(?:ing)?|over|above|beyond)|does not exceed|within|a? ?limit of|as (?:few) as|not to exceed|höchstens|en çok|अधिक से अधिक|bis zu|maximal|como máximo|hasta|au plus|jusqu'à|al massimo|fino a|no máximo|até|hoogstens|tot|не более|до)|不超过|不高于|最多|至多|최대|最大|≤|<=|⩽)\s*$", re.IGNORECASE)
_OPEN_HIGH = re.compile(r"(?:\b(?:(?:less|fewer|lower|shorter|younger|smaller|lighter|earlier|cheaper) than|(?<!just )(?<!little )(?<!not )under|(?<!not )below|weniger als|unter|menos de|moins de|meno di|minder dan|менее|меньше)|少于|低于|(?<![-=])<(?!=))\s*$", re.IGNORECASE)
_LOW_AFTER = re.compile(r"\+(?!\s?\d)|\s*(?:[a-z]+ )?\(?(?:or (?:more|older|longer|above|greater|higher|over|better|later|newer|upwards?|heavier|up)|and (?:more|above|over|up|older|upwards?|newer|later|beyond)|upwards?\b|onwards?\b|at least|at (?:a|the) minimum|minimum|is the (?:minimum|least|lowest)|oder (?:mehr|älter)|o más|ou plus|o più|ou mais|of meer|и (?:более|старше|больше)|以上|이상|\+)|\s?以上|\s?이상", re.IGNORECASE)
_HIGH_AFTER = re.compile(r"\s*(?:[a-z]+ )?\(?(?:or (?:less|fewer|under|younger|below|lower|shorter|earlier|older versions)|and (?:under|below|younger|less)|at (?:the )?most|maximum|at (?:a|the) maximum|max\b|is the (?:[a-z]+ )?(?:maximum|limit|most|cap|highest)|tops\b|oder weniger|o menos|ou moins|o meno|ou menos|of minder|и менее)|\s?以内|\s?以下|\s?이하|\s?이내", re.IGNORECASE)
_OPEN_HIGH_AFTER = re.compile(r"\s?\w{0,2}?\s?(?:未満|미만)")
_OPEN_LOW_AFTER = re.compile(r"\s?\w{0,2}?\s?(?:を超え|を上回|초과)")

_JOIN = re.compile(r"\s*(?:-|–|~|\bto\b|\bthrough\b|\bthru\b|\buntil\b|\btill\b|\bbis\b|至|到|から|\ba\b|\bà\b|\bal?\b|до|\btot\b|\bup to\b|..\.)\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\b(?:between|zwischen|entre|tra|tussen|between the ages of)\s+(?:the\s+)?(?:ages?\s+)?(?:of\s+)?$", re.IGNORECASE)
_AND = re.compile(r"\s*(?:and|und|y|et|e|en|&)\s*", re.IGNORECASE)
_BOTH = re.compile(r"\s*,?\s*(?:and|but|und|y|et|,)?\s*(?:is |are )?(?:at most|no(?:t)? (?:more|greater|longer|later|higher|older|larger|bigger|hotter|heavier) than|up to|maximum|max\.?|not? (?:exceed(?:ing)?|over|above)|less than|under|below|fewer than|does not exceed|≤|<|不高于|不超过|、)\s*$", re.IGNORECASE)
_ARTICLE_UNIT = re.compile(r"(?:^|\b(?:for|about|in|after|within|every|than|lasts?|takes?|is|was|around|roughly|exactly|only|of|half|half of|quarter of|third of|to|at least|up to|just|full|least|over|under|nearly))\s*\b(an?|one|half an?|ein|eine|einen|una?|une?|uno?)\s+(hour|day|week|fortnight|month|year|minute|decade|century|stunde|tag|woche|monat|jahr|hora|semana|mes|año|heure|jour|semaine|mois|an)\b(?! ago)", re.IGNORECASE)
_PER_AFTER = re.compile(r"\s*(?:/|per\b|an?\b|each\b|every\b|p\.?)\s*(month|year|annum|week|day|hour|a\.|person|head|share|item|night|km|kg|minute|mo\b|yr\b)|\s+(annually|monthly|yearly|weekly|daily|hourly)", re.IGNORECASE)
_PERIODS = {"annum": "year", "a.": "year", "annually": "year", "yearly": "year", "monthly": "month", "weekly": "week", "daily": "day", "hourly": "hour", "mo": "month", "yr": "year"}
_ROMAN_ALONE = re.compile(r"^\W*([IVX]{1,9})\W*$")
_NO_NOUN = frozenset("in on at of to by and or but for from with is was are were be has have had so as if than that which who when while the a an it its they he she i.e. e.g. not per out".split())
_DIMENSIONS = re.compile(r"\s*(?:×|x|by|\*)\s*")
_WEAK_AFTER = re.compile(r"\s+(?:of (?:the|them|these|those|which|us|our|his|her|its|my|a|your)|another|time|day|more|must|can|has|is|who|that|which|thing|way|hand|side|or)\b", re.IGNORECASE)
_WEAK_BEFORE = re.compile(r"\b(?:the|no|any|some|every|each|which|this|that|only|another|red|blue|white|green|last|right|left|as|same|other|number|be the|big|new|old|small|black|brown|and)\s+$", re.IGNORECASE)

_YEAR_SECONDS = 31_556_952.0


@lru_cache(maxsize=8192)
def _parse(text: str, question: str) -> tuple[Value, ...]:
    asked = read_question(question) if question else Asked()
    written = plain(text)
    foreign = is_foreign(written) or asked.foreign
    return tuple(_values(text, written, asked, foreign=foreign))


def parse_values(text: str, *, question: str | None = None) -> list[Value]:
    """The typed values of a text, in order.

    Args:
        text: any text; time is near-linear in its length.
        question: what was asked, where known. It decides readings that the text leaves open: 2.30
            is a version where the question asks for one, four digits are a year.

    >>> [type(value).__name__ for value in parse_values("$3.5 million in March 2021")]
    ['Money', 'Date']
    """
    return list(_parse(text, question or ""))


def _values(raw: str, text: str, asked: Asked, *, foreign: bool) -> list[Value]:
    if not _MAYBE.search(text):
        return []
    used = bytearray(len(text))
    found: list[Value] = list(read_flags(text, used))
    expressions = _expressions(text, used)
    found.extend(read_verses(text, used))
    if asked.kind == "version":
        found.extend(read_versions(text, used, asked=True))
    found.extend(read_dates(text, used, foreign=foreign, asked=asked.kind == "date", numbers=asked.kind in ("number", "money", "percent", "duration")))
    found.extend(read_times(text, used))
    if asked.kind != "version":
        found.extend(read_versions(text, used, asked=False))
    found.extend(read_codes(text, used))
    amounts = _amounts(text, used, asked, foreign=foreign)
    amounts = _mixed(text, amounts)
    whole = any(isinstance(one, Quantity | Money | Duration | Percent) and one.start == 0 and one.end >= len(text.rstrip(" .")) for one in amounts)
    found.extend(amounts)
    if not found and (hit := _ROMAN_ALONE.match(text)) and (value := roman(hit[1])) and len(hit[1]) > 1:
        found.append(Number(start=hit.start(1), end=hit.end(1), text=hit[1], amount=float(value), quantum=1.0))
    found.sort(key=lambda one: one.start)
    found = _ranges(text, found)
    if not whole:
        found.extend(Expression(start=start, end=end, text=raw[start:end], source=text[start:end]) for start, end in expressions)
    found.sort(key=lambda one: (one.start, one.end))
    return [_stance(text, one, raw) for one in found]


def _expressions(text: str, used: bytearray) -> list[tuple[int, int]]:
    if len(text) > 4000 or not re.search(r"[=^²³√π*\\]|\d[a-z]\b|[a-z]\s?[+]\s?[\da-z]", text):
        return []
    return [span for span in expressions_in(text) if not any(used[span[0] : span[1]])]


def _amounts(text: str, used: bytearray, asked: Asked, *, foreign: bool) -> list[Value]:
    amounts: list[Value] = []
    readings = [one for one in read_numbers(text, foreign=foreign) if not any(used[one.start : one.end])]
    for place, reading in enumerate(readings):
        if amounts and reading.start < amounts[-1].end:
            continue
        following = readings[place + 1].start if place + 1 < len(readings) else len(text)
        amounts.append(_amount(text, reading, asked, following, used))
    if " " in text and re.search(r"\b(?:hour|day|week|fortnight|month|year|minute|decade|century|stunde|tag|woche|monat|jahr|hora|semana|mes|año|heure|jour|semaine|mois|an)\b", text, re.IGNORECASE):
        for hit in _ARTICLE_UNIT.finditer(text):
            start, end = hit.start(1), hit.end()
            if any(one.start < end and start < one.end for one in amounts):
                continue
            unit = read_unit(text, hit.start(2))
            if unit is None:
                continue
            size = 0.5 if hit[1].lower().startswith("half") else 1.0
            amounts.append(_timed(text, start, unit[1], size, 0.0, (), unit[0]))
    amounts.sort(key=lambda one: one.start)
    return amounts


def _timed(text: str, start: int, end: int, size: float, quantum: float, others: tuple[float, ...], unit: Unit) -> Duration:
    months = size * unit.factor / (_YEAR_SECONDS / 12) if unit.factor >= _YEAR_SECONDS / 12 - 1 else None
    return Duration(
        start=start, end=end, text=text[start:end], amount=size * unit.factor, quantum=quantum * unit.factor,
        alternatives=tuple(one * unit.factor for one in others), months=months,
    )  # fmt: skip


def _amount(text: str, reading: Reading, asked: Asked, following: int, used: bytearray) -> Value:
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
        if not money and after is None and (short := short_scale(text, end)) and (later := currency_after(text, short[1])):
            value, quantum, others, after = value * short[0], quantum * short[0], (), later
        if money or after:
            code, size, end = (money[0], 1.0, end) if money else after  # type: ignore[misc]
            if money and (again := currency_after(text, end)) and again[0] != "cent":
                code, end = again[0], again[2]
            if after and text[after[2] - 5 : after[2]].lower() in ("pound", "ounds") and not _money_like(text, asked, after[2]):
                unit = read_unit(text, after[2] - (6 if text[after[2] - 1] == "s" else 5))
                if unit is not None and asked.unit is not None and asked.unit.dimensions == unit[0].dimensions:
                    return _measured(text, start, after[2], factor * value, quantum, others, unit[0], signed=signed)
            end, per = _per(text, end)
            return Money(
                start=start, end=end, text=text[start:end], amount=factor * value * size, quantum=quantum * size,
                alternatives=tuple(factor * one * size for one in others), currency=code, per=per, signed=signed,
            )  # fmt: skip
        if hit := _PERCENT.match(text, end):
            basis = bool(hit["basis"])
            points = bool(hit["points"] or hit["bare"] or basis)
            size = 0.01 if basis else 1.0
            return Percent(
                start=start, end=hit.end(), text=text[start : hit.end()], amount=factor * value * size, quantum=quantum * size,
                alternatives=tuple(factor * one for one in others), points=points, signed=signed,
            )  # fmt: skip
        if hit := _PERCENT_BEFORE.search(before):
            begin = start - (len(before) - hit.start())
            return Percent(start=max(begin, 0), end=end, text=text[max(begin, 0) : end], amount=factor * value, quantum=quantum, signed=signed)
        if (unit := _unit(text, end, reading, asked)) is not None:
            below = _BELOW.match(text, end)
            end = unit[1]
            below = below or _BELOW.match(text, end)
            if below and not signed:
                factor, signed, end = -1.0, True, max(end, below.end())
                if below["scale"] and (scale := read_unit(text, below.start("scale"))):
                    unit = scale
            return _measured(text, start, end, factor * value, quantum, others, unit[0], signed=signed)
        if below := _BELOW.match(text, end):
            factor, signed, end = -1.0, True, below.end()
    hit = _NOUN.match(text, end)
    noun = hit[1].lower() if hit and hit.start(1) <= following and hit[1].lower() not in _NO_NOUN else ""
    title = bool(hit) and text[reading.start : reading.end].lower() in ("one", "first", "two", "three") and reading.start < hit.start(1) and hit[1][:1].isupper()  # type: ignore[union-attr, index]
    weak = reading.weak and bool(_WEAK_AFTER.match(text, end) or _WEAK_BEFORE.search(before) or (reading.ordinal and not noun))
    if reading.weak and not reading.ordinal and text[reading.start : reading.end].lower() == "one" and not weak:
        weak = start > 0 and not noun
    weak = weak or (title and asked.kind != "number")
    year = reading.plain_digits and reading.value == int(reading.value) and 1000 <= reading.value <= 2100
    if (reading.spelled_year and (asked.kind == "date" or re.search(r"\b(?:in|since|from|by|year)\s+$", before))) or (year and asked.kind == "date"):
        return Date(start=start, end=end, text=text[start:end], year=int(value), number=True)
    return Number(
        start=start, end=end, text=text[start:end], amount=factor * value, quantum=quantum, alternatives=tuple(factor * one for one in others),
        noun=noun, ordinal=reading.ordinal, year=year, weak=weak, signed=signed,
    )  # fmt: skip


def _money_like(text: str, asked: Asked, end: int) -> bool:
    return asked.kind == "money"


def _sign(text: str, start: int) -> tuple[int, int]:
    hit = _SIGN.search(text, max(0, start - 10), start)
    if not hit:
        return 0, start
    mark = (hit[1] or hit[2] or hit[3]).lower()
    if hit[1] and hit.start(1) > 0 and text[hit.start(1) - 1 : hit.start(1)].strip() and text[hit.start(1) - 1] not in "([=:,;\"'~≈":
        return 0, start
    if hit[1] and hit.end(1) < start and re.search(r"[\d\w)]\s*$", text[: hit.start(1)][-6:]):
        return 0, start  # a difference, not a sign
    if mark == "min":
        return 0, start
    return (1 if mark in ("+", "plus", "零上") else -1), hit.start()


def _unit(text: str, end: int, reading: Reading, asked: Asked) -> tuple[Unit, int] | None:
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
    if word in ("in", "a", "at", "as", "am", "u", "an", "d", "ha", "ora", "hands", "stone", "do", "mi", "league", "bit", "dia", "ay", "mes", "no", "PS", "AU", "ano", "bin") and not _sure(text, word, found[1], asked):
        return None
    if word in ("second", "Second", "third"):
        return None if reading.ordinal else found
    if len(word) == 1 and at > end and word not in ("m", "g", "s", "h", "K", "L", "l", "t", "W", "V", "A", "N", "J", "°", "d", "B") and ord(word) < 256:
        return None
    if word == "B" and at == end and not (asked.unit and asked.unit.dimensions == found[0].dimensions):
        return None
    if word in ("m", "t") and at == end and asked.kind == "money":
        return None
    if word == "K" and at == end and not (asked.unit and asked.unit.dimensions == found[0].dimensions) and "temperature" not in text.lower():
        return found
    return found


def _sure(text: str, word: str, end: int, asked: Asked) -> bool:
    if asked.unit is not None and word in ("in", "stone", "hands", "mi", "ha", "bit", "league"):
        return True
    if word in ("in", "mi", "ha", "d", "u"):
        return not re.match(r"\s+\w", text[end : end + 3])
    return word in ("stone", "hands", "league", "bit", "dia", "PS", "AU", "ano", "mes", "ora", "ay")


def _measured(text: str, start: int, end: int, value: float, quantum: float, others: tuple[float, ...], unit: Unit, *, signed: bool) -> Value:
    if unit.dimensions == (("time", 1),) and unit.name not in ("ms",) and value >= 0:
        return _timed(text, start, end, value, quantum, others, unit)
    return Quantity(start=start, end=end, text=text[start:end], amount=value, quantum=quantum, alternatives=others, unit=unit, signed=signed)


def _per(text: str, end: int) -> tuple[int, str]:
    hit = _PER_AFTER.match(text, end)
    if not hit:
        return end, ""
    word = (hit[1] or hit[2]).lower()
    return hit.end(), _PERIODS.get(word, word)


_MIXING = re.compile(r"\s*(?:,?\s*and\s+|,\s*|\s|und|y|et|e)\s*|")


def _mixed(text: str, amounts: list[Value]) -> list[Value]:
    """Join "6 ft 2 in", "2 hours and 10 minutes", "four pounds twenty"."""
    result: list[Value] = []
    for one in amounts:
        last = result[-1] if result else None
        gap = text[last.end : one.start] if last else "?"
        if type(last) is Number and isinstance(one, Quantity) and _DIMENSIONS.fullmatch(gap):
            result[-1] = _take_unit(last, one)
        if last and len(gap) <= 6 and _MIXING.fullmatch(gap):
            joined = _join(text, last, one)
            if joined is not None:
                result[-1] = joined
                continue
        result.append(one)
    return result


def _join(text: str, left: Value, right: Value) -> Value | None:
    words = text[left.start : right.end]
    if isinstance(left, Duration) and isinstance(right, Duration) and "," not in text[left.end : right.start].replace(", and", ""):
        if right.amount < left.amount and right.amount < _top(left):
            months = left.months + right.months if left.months is not None and right.months is not None else None
            return replace(left, end=right.end, text=words, amount=left.amount + right.amount, quantum=right.quantum, months=months)
        return None
    if isinstance(left, Quantity) and isinstance(right, Quantity) and left.unit.dimensions == right.unit.dimensions and not left.unit.offset:
        if left.unit.factor > right.unit.factor and right.base < left.unit.factor and left.unit.name in ("ft", "lb", "stone", "mi", "yd", "m", "kg", "gal"):
            sign = -1 if left.amount < 0 else 1
            return replace(left, end=right.end, text=words, amount=left.amount + sign * right.base / left.unit.factor, quantum=right.quantum * right.unit.factor / left.unit.factor)
        return None
    if isinstance(left, Money) and left.amount == int(left.amount) and left.quantum == 1.0:
        if isinstance(right, Money) and right.quantum == 0.01 and right.amount < 1:
            return replace(left, end=right.end, text=words, amount=left.amount + right.amount, quantum=0.01)
        if isinstance(right, Number) and 1 <= right.amount < 100 and not right.noun and text[left.start : left.start + 1].isalpha() and text[right.start : right.start + 1].isalpha():
            return replace(left, end=right.end, text=words, amount=left.amount + right.amount / 100, quantum=0.01)
    return None


def _top(value: Duration) -> float:
    for size in (_YEAR_SECONDS, _YEAR_SECONDS / 12, 604800.0, 86400.0, 3600.0, 60.0, 1.0):
        if value.amount >= size:
            return size
    return 1.0


def _endpoint(value: Value) -> bool:
    return isinstance(value, Amount | Date) or type(value).__name__ in ("ClockTime", "Version", "Identifier")


def _alike(left: Value, right: Value) -> bool:
    if type(left) is type(right):
        if isinstance(left, Quantity) and isinstance(right, Quantity):
            return left.unit.dimensions == right.unit.dimensions
        return True
    return isinstance(left, Number) and isinstance(right, Amount) and not left.ordinal


def _ranges(text: str, found: list[Value]) -> list[Value]:
    result: list[Value] = []
    place = 0
    while place < len(found):
        one = found[place]
        following = found[place + 1] if place + 1 < len(found) else None
        if following is not None and _endpoint(one) and _endpoint(following) and following.start >= one.end:
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
    between = not joins and _AND.fullmatch(gap) is not None and _BETWEEN.search(text, max(0, left.start - 40), left.start) is not None
    if not (joins or between):
        return None
    if isinstance(left, Identifier) or isinstance(right, Identifier):
        return None
    if isinstance(left, Amount) and isinstance(right, Amount) and right.signed and right.amount < 0 and gap == "" and text[right.start] == "-":
        right = replace(right, amount=-right.amount, signed=False)
    if not _alike(left, right):
        return None
    if isinstance(left, Number) and type(right) is not Number and isinstance(right, Amount):
        left = _take_unit(left, right)
    start, end = left.start, right.end
    words = text[start:end]
    if isinstance(left, Amount) and isinstance(right, Amount) and left.amount >= right.amount:
        score = type(left) is Number and type(right) is Number and gap in ("-", "–") and not left.ordinal
        if not score:  # from 40 to 12: a change, not a range
            return None
    if isinstance(left, Date) and isinstance(right, Date):
        return _date_span(left, right, words)
    return Range(start=start, end=end, text=words, low=left, high=right)


def _take_unit(left: Number, right: Amount) -> Value:
    common = {"start": left.start, "end": left.end, "text": left.text, "quantum": left.quantum, "signed": left.signed}
    if isinstance(right, Quantity):
        return Quantity(amount=left.amount, unit=right.unit, **common)  # type: ignore[arg-type]
    if isinstance(right, Money):
        scale = 1.0
        if right.quantum >= 1000 and left.quantum <= 1:
            scale = 10.0 ** (3 * int((len(str(int(right.quantum))) - 1) // 3))
        return Money(amount=left.amount * scale, currency=right.currency, per=right.per, **common)  # type: ignore[arg-type]
    if isinstance(right, Percent):
        return Percent(amount=left.amount, points=right.points, **common)  # type: ignore[arg-type]
    if isinstance(right, Duration):
        size = right.quantum or _top(right)
        months = left.amount * size / (_YEAR_SECONDS / 12) if right.months is not None else None
        return Duration(amount=left.amount * size, months=months, **common)  # type: ignore[arg-type]
    return left


def _date_span(left: Date, right: Date, words: str) -> Value:
    if left.year is None and left.month is not None and right.month is not None and right.year is not None and left.month <= right.month and left.day is None:
        if right.day is None:
            return replace(right, start=left.start, text=words, month=left.month, last_month=right.month)
        left = replace(left, year=right.year)
    if left.day is None and left.month is None and right.month is None and left.year is not None and right.year is not None and left.year < right.year:
        return replace(left, end=right.end, text=words, last_year=right.last_year or right.year, number=False)
    return Range(start=left.start, end=right.end, text=words, low=left, high=right)


def _bounded(text: str, value: Value, before: Sequence[Value]) -> Value:
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
    if _HIGH.search(ahead) and not (dated and re.search(r"within\s*$|\bup to\s*$|\btot\s*$|до\s*$", ahead, re.IGNORECASE)):
        high = value
    elif _LOW.search(ahead) and not (re.search(r"\bfrom\s*$|\bab\s*$|as (?:many|much|little) as\s*$", ahead, re.IGNORECASE) and not _from_on(text, value, dated=dated)):
        low = value
    elif hit := _OPEN_LOW.search(ahead):
        if not (re.match(r"over|above|über", hit[0], re.IGNORECASE) and dated):
            if _NEGATED.search(ahead[: hit.start()].rpartition(".")[2]):
                high = value
            else:
                low, open_low = value, True
    elif hit := _OPEN_HIGH.search(ahead):
        if not dated:
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
    return Range(start=value.start, end=value.end, text=value.text, low=low, high=high, open_low=open_low, open_high=open_high)


def _from_on(text: str, value: Value, *, dated: bool) -> bool:
    """Whether "from 35" is a bound: nothing follows that closes it."""
    after = text[value.end : value.end + 24]
    if re.match(r"\s*(?:onward|upward|and (?:up|above|over)|or more|on\b|up\b)", after, re.IGNORECASE):
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
            and "." not in text[last.end : one.start].replace(". ", "#")[:0]
            and not re.search(r"\bor\b", text[last.end : one.start])
        ):
            low, high = last.low, one.high
            if isinstance(low, Number) and isinstance(high, Amount) and type(high) is not Number:
                low = _take_unit(low, high)
            if isinstance(high, Number) and isinstance(low, Amount) and type(low) is not Number:
                high = _take_unit(high, low)
            if type(low) is type(high):
                result[-1] = Range(start=last.start, end=one.end, text=text[last.start : one.end], low=low, high=high, open_low=last.open_low, open_high=one.open_high)
                continue
        result.append(one)
    return result


def _stance(text: str, value: Value, raw: str) -> Value:
    """Mark what the words around a value say: denied, about, more or less."""
    left = max(0, value.start - 48)
    ahead = text[left : value.start]
    changes: dict[str, object] = {}
    if raw[value.start : value.end] != value.text:
        changes["text"] = raw[value.start : value.end]
    if ahead:
        if not isinstance(value, Range) and _DENIED.search(ahead) and not _NOT_BOUND.search(ahead):
            changes["denied"] = True
        elif isinstance(value, Identifier | Version) and _ASIDE.search(ahead):
            changes["denied"] = True
        if _ABOUT.search(ahead) or (isinstance(value, Date) and _PART_OF.search(ahead)):
            changes["approximate"] = True
    if "approximate" not in changes and _ABOUT_AFTER.match(text, value.end):
        changes["approximate"] = True
    if isinstance(value, Amount) and not value.signed:
        clause = re.split(r"[.;:,]\s", ahead)[-1]
        if _FELL.search(clause) or _FELL_AFTER.match(text, value.end):
            changes["direction"] = -1
        elif _ROSE.search(clause):
            changes["direction"] = 1
    return replace(value, **changes) if changes else value  # type: ignore[arg-type]
