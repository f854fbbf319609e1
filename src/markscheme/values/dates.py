# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Dates: ISO, US and European figures with ambiguity preserved, month names, quarters, eras, centuries.

Not dateparser or dateutil: they read one date from a string that is one, take a millisecond, and
fill what is not there from today; here dates are found among other words, their granularity preserved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from markscheme.text import DECADES, LETTERS, by_word, words_of
from markscheme.text import MONTHS as ENGLISH_MONTHS
from markscheme.values.characters import take
from markscheme.values.kinds import Date
from markscheme.values.numbers import ORDINALS, eastern_value, read_numbers, roman
from markscheme.values.units import SYMBOLS

_TABLES = words_of(__file__, "words")
MONTHS = ENGLISH_MONTHS | {word: int(month) for word, month in by_word(_TABLES["months"]).items()}
"""Month names in lower case, with the numbers of their months."""
_CAPITAL_ONLY = frozenset(
    {"may", "march", "mar", "jan", "sep", "dec", "mart", "mars", "mei", "mai", "august"}
)
_MONTH_NAMES = {month: name.capitalize() for name, month in reversed(ENGLISH_MONTHS.items())}

_DAY_BEFORE = re.compile(
    r"(?<![\d.,:/-])(\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?\s*(?:day\s+)?(?:of\s+|de\s+|del\s+|di\s+|-)?$",
    re.IGNORECASE,
)
_DAY_WORD_BEFORE = re.compile(
    r"\b(?:([a-z]+)[ -])?([a-z]+)\s+(?:day\s+)?(?:of\s+)?$", re.IGNORECASE
)
_DAYS_BEFORE = re.compile(
    r"(?<![\d.,:/-])(\d{1,2})(?:st|nd|rd|th)?\s*(?:-|–|to|and)\s*(\d{1,2})(?:st|nd|rd|th)?\s*(?:of\s+)?$"
)
_DAY_AFTER = re.compile(
    r"\.?\s*-?(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?(?![\d:/%]|[.,]\d|\s*(?:a\.?m|p\.?m)\b)",
    re.IGNORECASE,
)
_DAY_WORD_AFTER = re.compile(
    r"\s+(?:the\s+)?(?:(twenty|thirty)[ -])?([a-z]+(?:st|nd|rd|th))\b", re.IGNORECASE
)
_YEAR_AFTER = re.compile(
    r"(?:\s*\.?,?\s*|\s+(?:of|de|del|in|the year|do ano|di)\s+|-)(?:(AD|A\.D\.)\s*)?(\d{4}|'\d{2}|\d{1,4}(?=\s*(?:BCE?|B\.C|CE\b|AD\b|A\.D)))(?![\d:%]|[.,]\d{3})",
    re.IGNORECASE,
)
_ERA_AFTER = re.compile(
    r"\s*(B\.?\s?C\.?(?:\s?E\.?)?|C\.E\.|CE\b|A\.?D\.?|v\.\s?Chr\.|avant J|a\.\s?C\.|av\. J|avanti Cristo|antes de Cristo|до н)(?![a-z])"
)
_ISO = re.compile(
    r"(?<![\d.,/-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\d/]|[-.]\d)|(?<![\d.,/-])(\d{4})-(0[1-9]|1[0-2])(?![\d-])"
)
_FIGURES = re.compile(
    r"(?<![\d.,/-])(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\d/]|[-.]\d)|(?<![\d.,/-])(\d{1,2})/(\d{4})(?![\d/])"
)
_SHORT_FIGURES = re.compile(
    r"(?<![\d.,/-])([0-3]?\d)/([01]\d)(?![\d/]|[-.]\d)|(?<![\d.,/-])([0-3]?\d)\.([01]?\d)\.(?!\d)"
)
_EASTERN = re.compile(
    r"(?:(\d{4}|[〇零一二三四五六七八九]{4})\s*[年년]\s*)?(\d{1,2}|[一二三四五六七八九十]{1,3})\s*[月월]\s*(?:(\d{1,2}|[一二三四五六七八九十]{1,3})\s*[日号일])?|(\d{4}|[〇零一二三四五六七八九]{4})\s*[年년](?![间間])"
)
_QUARTER = re.compile(
    r"\bQ([1-4])(?:\s+(?:of\s+)?(?:FY\s?)?'?(\d{4}))?\b|\b(\d{4})[ -]?Q([1-4])\b"
    r"|\b(first|second|third|fourth|last|1st|2nd|3rd|4th)\s+quarter(?:\s+(?:of\s+)?(?:fiscal\s+)?(\d{4}))?",
    re.IGNORECASE,
)
_DECADE = re.compile(
    r"(?<![\w-])(?:(early|mid|late)[- ])?(?:(\d{3}0)|'?([2-9]0))'?s\b", re.IGNORECASE
)
_CENTURY = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th|\.|º|e|ème|де)?\s*-?(?:century|centuries|jahrhunderts?|siglo|siècle|secolo|século|eeuw|век[ае]?|yüzyıl)\b"
    r"|\b([a-z]+(?:-[a-z]+)?)[ -](?:century|centuries)\b|\b([IVX]{1,5})(?:e|ème|º)?\s+(?:century|siècle|secolo|век[ае]?)\b|\b(?:siglo|século)\s+([IVX]{1,5})\b"
    r"|(\d{1,2})\s*世[纪紀]|(\d{1,2})\s*세기",
    re.IGNORECASE,
)
_ERA_YEAR = re.compile(
    r"(?<![\w.,])(?P<first>\d{1,4})\s*(?:(?P<to>-|–|to)\s*(?P<last>\d{1,4})\s*)?(?P<era>BCE?\b|B\.\s?C\.(?:\s?E\.)?|CE\b|C\.E\.|AD\b|A\.D\.|v\.\s?Chr\.|av\.\s?J\.|a\.\s?C\.)|\b(?:AD|A\.D\.)\s*(?P<year>\d{1,4})\b"
)
_YEAR = re.compile(
    r"(?:(?<![\w.,:/$€£¥#-])|(?<=[a-z]{2}))(1\d{3}|20\d{2}|2100)(?![\w%:/$€£°]|[.,]\d|-\d{3}|\s?(?:%|°))"
)
_YEAR_SPAN = re.compile(
    r"(?<![\w.,:/$€£-])(1\d{3}|20\d{2})\s?[-–/]\s?(\d{2}|1\d{3}|20\d{2})(?![\w%:/-]|[.,]\d)"
)
_YEAR_CUE = re.compile(
    r"\b(?:in|since|from|until|till|by|of|year|years|anno|circa|c\.|ca\.|around|about|after|before|during|late|early|mid|around|summer|winter|spring|autumn|fall|between|and|or|to|im|jahr|seit|en|desde|año|em|nel|dal|depuis|anno|до|в|с|FY|fiscal|established|founded|born|died|released|season)\s*$",
    re.IGNORECASE,
)
_COUNTED_AFTER = re.compile(r"[ -]([^\W\d_]+)")
_NOT_COUNTED = frozenset(_TABLES["small_words"]["not_counted"].split())
_DAY_FIRST = re.compile(r"day/month|dd/mm|day first|british|european", re.IGNORECASE)
_MONTH_FIRST = re.compile(r"month/day|mm/dd|month first|\bUS\b notation|american", re.IGNORECASE)
_LAST_DAY = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _valid(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= _LAST_DAY[month - 1]


def _long_years(digits: str) -> tuple[int, ...]:
    """The years that digits may be, the likeliest first."""
    year = int(digits)
    if len(digits) != 2:
        return (year,)
    return (2000 + year, 1900 + year) if year < 30 else (1900 + year,)  # '41 is no year to come


def _eastern_int(word: str) -> int:
    if word.isdigit() and word.isascii():
        return int(word)
    return int(eastern_value(word) or 0)


def read_dates(
    text: str,
    used: bytearray,
    *,
    foreign: bool = False,
    requested: bool = False,
    numbers: bool = False,
    question: str = "",
) -> Iterator[Date]:
    """The dates of a plain text; `used` marks the characters taken.

    `question`: the question, where its hint ("day/month/year") counts;
    `requested`: the question asks for a date, so four plain digits are a year; `numbers`: it asks for
    a number, so they are none.
    """
    for found in _all_dates(text, foreign=foreign, requested=requested, question=question):
        if numbers and found.number:
            continue
        if take(used, found.start, found.end):
            part = _PART.search(text[max(0, found.start - 32) : found.start])
            yield replace(found, part=_part(part)) if part else found


_PART = re.compile(
    r"\b(?:(?P<stage>early|mid|late|(?:beginning|start|end|(?:first|second|latter) half)"
    r"(?= of))|(?P<season>winter|spring|summer|autumn|fall)"
    r"|(?P<weekday>(?:first|second|third|fourth|last) (?:mon|tues|wednes|thurs|fri|satur|sun)day))"
    r"[ ,-]+(?:(?:of|in)\s+)?(?:the\s+)?$",
    re.IGNORECASE,
)
_SAME_PART = by_word(_TABLES["parts_of_dates"])


def _part(hit: re.Match[str]) -> tuple[str, str]:
    kind = str(hit.lastgroup)
    words = hit[kind].lower()
    return kind, f"{words} of" if kind == "weekday" else _SAME_PART.get(words, words)


def _all_dates(text: str, *, foreign: bool, requested: bool, question: str) -> Iterator[Date]:
    has_digit = any(map(str.isdigit, text))
    if has_digit:
        yield from _figures(text, foreign=foreign, question=question)
    if not text.isascii() and any(mark in text for mark in ("年月월년" if has_digit else "年月")):
        yield from _eastern(text)
    yield from _month_names(text, foreign=foreign)
    if _NAMED_HINT.search(text):
        yield from _named_days(text)
    lower = text.lower()
    if "quarter" in lower or "Q" in text:
        yield from _quarters(text)
    if has_digit or "ties" in lower:
        yield from _decades(text)
    if _CENTURY_HINT.search(lower):
        yield from _centuries(text)
    if has_digit:
        yield from _eras(text)
        yield from _years(text, requested=requested)


_NAMED_DAYS = by_word(_TABLES["named_days"])
_NAMED_HINT = re.compile(
    r"\bday\b|\beve\b|halloween|ferragosto|heiligabend|silvester|fête", re.IGNORECASE
)
_CENTURY_HINT = re.compile("centur|jahrhundert|siglo|siècle|secolo|século|eeuw|век|世|세기|yüzyıl")
_NAMED = re.compile("|".join(map(re.escape, _NAMED_DAYS)), re.IGNORECASE)


def _named_days(text: str) -> Iterator[Date]:
    for hit in _NAMED.finditer(text):
        month, day = map(int, _NAMED_DAYS[hit[0].lower()].split("-"))
        end = hit.end()
        year = None
        if found := re.compile(r",?\s+(?:of\s+|in\s+)?(\d{4})\b").match(text, end):
            year, end = int(found[1]), found.end()
        yield _date(text, (hit.start(), end), year, month, day)


def _date(
    text: str,
    span: tuple[int, int],
    year: int | None = None,
    month: int | None = None,
    day: int | None = None,
    **more: Any,
) -> Date:
    start, end = span
    return Date(start=start, end=end, text=text[start:end], year=year, month=month, day=day, **more)


def _figures(text: str, *, foreign: bool, question: str) -> Iterator[Date]:  # noqa: PLR0912
    for hit in _ISO.finditer(text):
        if hit[5]:
            yield _date(text, hit.span(), int(hit[5]), int(hit[6]))
        elif _valid(int(hit[3]), int(hit[4])):
            yield _date(text, hit.span(), int(hit[1]), int(hit[3]), int(hit[4]))
        elif _valid(int(hit[4]), int(hit[3])):
            yield _date(text, hit.span(), int(hit[1]), int(hit[4]), int(hit[3]))
    hint = (
        0
        if "/" not in text
        else 1
        if _DAY_FIRST.search(text) or _DAY_FIRST.search(question)
        else -1
        if _MONTH_FIRST.search(text) or _MONTH_FIRST.search(question)
        else 0
    )
    for hit in _FIGURES.finditer(text):
        if hit[6]:
            if 1 <= int(hit[5]) <= 12:
                yield _date(text, hit.span(), int(hit[6]), int(hit[5]))
            continue
        first, second = int(hit[1]), int(hit[3])
        day_first, month_first = _valid(second, first), _valid(first, second)
        if hit[2] == "." or foreign or hint > 0:
            month_first = month_first and not day_first
        elif hint < 0:
            day_first = day_first and not month_first
        days = [(second, first)] if day_first else []
        if month_first and (first != second or not day_first):
            days.append((first, second))
        if days:
            readings = [(year, *day) for year in _long_years(hit[4]) for day in days]
            yield _date(text, hit.span(), *readings[0], alternatives=tuple(readings[1:]))
    if foreign:
        for hit in _SHORT_FIGURES.finditer(text):
            day, month = int(hit[1] or hit[3]), int(hit[2] or hit[4])
            if _valid(month, day):
                yield _date(text, hit.span(), None, month, day)


def _eastern(text: str) -> Iterator[Date]:
    for hit in _EASTERN.finditer(text):
        if hit[4]:
            yield _date(text, hit.span(), _eastern_int(hit[4]))
            continue
        month = _eastern_int(hit[2])
        if not 1 <= month <= 12 or not (hit[1] or hit[3]):
            continue
        yield _date(
            text,
            hit.span(),
            _eastern_int(hit[1]) if hit[1] else None,
            month,
            _eastern_int(hit[3]) if hit[3] else None,
        )


def _ordinal(tens: str | None, word: str) -> int | None:
    value = ORDINALS.get(word.lower())
    if value is None:
        return None
    if tens and tens.lower() in ("twenty", "thirty") and value < 10:
        value += 20 if tens.lower() == "twenty" else 30
    return value if 1 <= value <= 31 else None


def _month_names(text: str, *, foreign: bool) -> Iterator[Date]:  # noqa: PLR0912
    for hit in LETTERS.finditer(text):
        lower = hit[0].lower()
        month = MONTHS.get(lower)
        if month is None or (
            lower in _CAPITAL_ONLY and hit[0] == lower and not _near_digit(text, hit)
        ):
            continue
        if not foreign and lower not in ENGLISH_MONTHS and not _near_digit(text, hit):
            continue  # Rio de Janeiro
        start, end = hit.start(), hit.end()
        day: int | None = None
        before = text[max(0, start - 24) : start]
        first_day: int | None = None
        if found := _DAYS_BEFORE.search(before):
            first_day, day = int(found[1]), int(found[2])
            start -= len(before) - found.start()
        elif found := _DAY_BEFORE.search(before):
            day, start = int(found[1]), start - (len(before) - found.start())
        elif (found := _DAY_WORD_BEFORE.search(before)) and (value := _ordinal(found[1], found[2])):
            day = value
            tens = found[1] and found[1].lower() in ("twenty", "thirty")
            start -= len(before) - (found.start() if tens else found.start(2))
        else:
            if (
                lower == "may"
                and text[end : end + 1] not in ("", ",", ".", ")", ";")
                and not re.match(r"\s*(?:\d|of\b|the \d)", text[end : end + 8])
                and not re.search(
                    r"\b(?:in|of|since|by|until|from|to|and|late|early|mid)\s+$|^$",
                    before,
                    re.IGNORECASE,
                )
            ):
                continue
            if found := _DAY_AFTER.match(text, end):
                day, end = int(found[1]), found.end()
            elif (found := _DAY_WORD_AFTER.match(text, end)) and (
                value := _ordinal(found[1], found[2])
            ):
                day, end = value, found.end()
        if day is not None and not _valid(month, day):
            day = None
            start, end = hit.start(), hit.end()
        years: tuple[int | None, ...] = (None,)
        if found := _YEAR_AFTER.match(text, end):
            digits, end = found[2], found.end()
            years = _long_years(digits[1:]) if digits[0] == "'" else (int(digits),)
            if era := _ERA_AFTER.match(text, end):
                years, end = (_signed(int(digits.lstrip("'")), era[1]),), era.end()
        elif spelled := _spelled_year_after(text, end):
            years, end = spelled[:1], spelled[1]
        if (
            years == (None,)
            and day is None
            and lower
            in ("march", "may", "august", "mar", "sep", "jan", "dec", "mai", "mars", "mei")
            and not _alone(text, hit)
        ):
            continue
        days = (day,) if first_day is None or day is None else (first_day, day)
        readings = [(year, month, one) for year in years for one in days]
        yield _date(text, (start, end), *readings[0], alternatives=tuple(readings[1:]))


_SPELLED_YEAR = re.compile(
    r"\s*,?\s*(?:of\s+)?((?:nineteen|twenty|eighteen|seventeen|sixteen|fifteen|two thousand)[a-z -]*)",
    re.IGNORECASE,
)


def _spelled_year_after(text: str, end: int) -> tuple[int, int] | None:
    hit = _SPELLED_YEAR.match(text, end)
    if not hit:
        return None
    readings = read_numbers(hit[1])
    if readings and readings[0].start == 0 and 1000 <= readings[0].value <= 2100:
        return int(readings[0].value), hit.start(1) + readings[0].end
    return None


def _near_digit(text: str, hit: re.Match[str]) -> bool:
    return any(map(str.isdigit, text[max(0, hit.start() - 6) : hit.end() + 5]))


_CUE_BEFORE = re.compile(
    r"(?:^|\b(?:in|of|since|by|until|from|to|and|or|late|early|mid|during|month|every|each|next|last|is|was))[\s-]*$",
    re.IGNORECASE,
)


def _alone(text: str, hit: re.Match[str]) -> bool:
    """Whether a word that is a month or another word is used as a month."""
    if hit[0].lower() in ("march", "may") and hit[0].isupper():
        return False
    return (
        bool(_CUE_BEFORE.search(text, 0, hit.start()))
        if hit.start() < 40
        else bool(_CUE_BEFORE.search(text[hit.start() - 12 : hit.start()]))
    )


def _signed(year: int, era: str) -> int:
    flat = era.replace(".", "").replace(" ", "").lower()
    return -year if flat.startswith(("bc", "vchr", "avant", "ac", "avj", "antes", "дон")) else year


def _quarters(text: str) -> Iterator[Date]:
    for hit in _QUARTER.finditer(text):
        if hit[5]:
            if not hit[6] and len(text) > 30:
                continue
            word, year = hit[5].lower(), hit[6]
            number = int(word[0]) if word[0].isdigit() else 4 if word == "last" else ORDINALS[word]
        else:
            number, year = int(hit[1] or hit[4]), hit[2] or hit[3]
        yield _date(
            text, hit.span(), int(year) if year else None, 3 * number - 2, last_month=3 * number
        )


_DECADE_WORD = re.compile(
    rf"\b(?:the|early|mid|late|nineteen)[ -]({'|'.join(DECADES)})\b(?! (?:of|and) )",
    re.IGNORECASE,
)


def _decades(text: str) -> Iterator[Date]:
    for hit in _DECADE_WORD.finditer(text):
        year = DECADES[hit[1].lower()]
        yield _date(text, hit.span(1), year, last_year=year + 9)
    for hit in _DECADE.finditer(text):
        year = int(hit[2]) if hit[2] else 1900 + int(hit[3])
        last = year + (99 if hit[2] and year % 100 == 0 and not (hit[1] and year == 2000) else 9)
        part = ("stage", hit[1].lower()) if hit[1] else ("", "")
        if 1000 <= year <= 2100:
            yield _date(text, hit.span(), year, last_year=last, part=part)


def _centuries(text: str) -> Iterator[Date]:
    for hit in _CENTURY.finditer(text):
        digits = hit[1] or hit[5] or hit[6]
        start = hit.start()
        if digits:
            number: int | None = int(digits)
        elif hit[2]:
            tens, _, unit = hit[2].partition("-")
            number = _ordinal(tens, unit) if unit else _ordinal(None, tens)
        else:
            number = roman((hit[3] or hit[4]).upper())
        if not number or number > 21:
            continue
        first = 100 * (number - 1) + 1
        end = hit.end()
        if era := _ERA_AFTER.match(text, end):
            end = era.end()
            if _signed(1, era[1]) < 0:
                yield _date(text, (start, end), -100 * number, last_year=-100 * (number - 1) - 1)
                continue
        yield _date(text, (start, end), first, last_year=100 * number)


def _eras(text: str) -> Iterator[Date]:
    for hit in _ERA_YEAR.finditer(text):
        if hit["year"]:
            yield _date(text, hit.span(), int(hit["year"]))
            continue
        sign = _signed(1, hit["era"])
        first = int(hit["first"]) * sign
        last = int(hit["last"]) * sign if hit["last"] else None
        yield _date(text, hit.span(), first, last_year=last)


def _years(text: str, *, requested: bool) -> Iterator[Date]:
    for hit in _YEAR_SPAN.finditer(text):
        first = int(hit[1])
        last = int(hit[2]) if len(hit[2]) == 4 else first - first % 100 + int(hit[2])
        if first < last <= first + 300:
            yield _date(text, hit.span(), first, last_year=last)
    for hit in _YEAR.finditer(text):
        year = int(hit[1])
        cued = bool(_YEAR_CUE.search(text[max(0, hit.start() - 14) : hit.start()]))
        after = _COUNTED_AFTER.match(text, hit.end())
        measured = after is not None and after[1] in SYMBOLS
        counted = measured or (
            after is not None
            and after[1].lower() not in _NOT_COUNTED
            and after[1][0].islower()
            and after[1].lower() not in MONTHS
        )
        if counted and not (cued and requested):
            continue
        found = _date(text, hit.span(), year, number=not cued)
        if era := _ERA_AFTER.match(text, hit.end()):
            found = replace(
                found,
                year=_signed(year, era[1]),
                end=era.end(),
                text=text[hit.start() : era.end()],
                number=False,
            )
        yield found


YEAR_DAYS = 12 * 31
"""Of a year as `interval` counts them."""


def interval(date: Date) -> tuple[int, int] | None:
    """First and last day of a date with a year, as numbers that can be compared.

    >>> interval(Date(start=0, end=4, text="1944", year=1944))
    (723168, 723539)
    """
    if date.year is None:
        return None
    last_year = date.last_year if date.last_year is not None else date.year
    first = (date.year, date.month or 1, date.day or 1)
    last_month = date.last_month or date.month or 12
    last = (last_year, last_month, date.day or 31)
    return _count(*first), _count(*last)


def _count(year: int, month: int, day: int) -> int:
    return year * YEAR_DAYS + (month - 1) * 31 + day - 1


def in_words(date: Date) -> str:
    """A date in plain words, as it was understood.

    >>> in_words(Date(start=0, end=4, text="2021-03-14", year=2021, month=3, day=14))
    '14 March 2021'
    """
    parts = list(filter(None, date.part[1:]))
    if date.day is not None:
        parts.append(str(date.day))
    if date.month is not None:
        parts.append(_MONTH_NAMES[date.month])
    if date.last_month is not None:
        parts.append(f"to {_MONTH_NAMES[date.last_month]}")
    if date.year is not None:
        year = str(abs(date.year)) + (" BC" if date.year < 0 else "")
        if date.last_year is not None:
            year += f" to {abs(date.last_year)}" + (" BC" if date.last_year < 0 else "")
        parts.append(year)
    return " ".join(parts)
