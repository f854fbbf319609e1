# ruff: noqa: E501 - patterns read better unfolded
"""How often: "every 8 hours", "three times a day", "weekly"; and words for periods."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markscheme.text import by_word
from markscheme.values.kinds import Frequency
from markscheme.values.numbers import CARDINALS

# --- Words for the period that a price, a rate or a repetition refers to --------------------------


PERIODS: dict[str, str] = {
    "annum": "year",
    "a": "year",
    "a.": "year",
    "annually": "year",
    "yearly": "year",
    "years": "year",
    "yr": "year",
    "quarterly": "quarter",
    "monthly": "month",
    "mo": "month",
    "fortnightly": "fortnight",
    "weekly": "week",
    "daily": "day",
    "nightly": "day",
    "hourly": "hour",
}
"""The period of an adverb or abbreviation: `per annum`, `monthly`, `p.a.`."""


# --- How often: "every 8 hours", "three times a day", "twice a year", "weekly", "q8h" -------------


_DAY = 86_400.0
_MONTH = 31_556_952.0 / 12
_UNITS: dict[str, tuple[float, float | None]] = {
    "second": (1.0, None),
    "minute": (60.0, None),
    "hour": (3600.0, None),
    "day": (_DAY, None),
    "night": (_DAY, None),
    "week": (7 * _DAY, None),
    "fortnight": (14 * _DAY, None),
    "month": (_MONTH, 1.0),
    "quarter": (3 * _MONTH, 3.0),
    "year": (12 * _MONTH, 12.0),
    "decade": (120 * _MONTH, 120.0),
    "half year": (6 * _MONTH, 6.0),
    "two years": (24 * _MONTH, 24.0),
}
"""Seconds of each unit, and months where it is of the calendar."""
_ADVERBS = {word: period for word, period in PERIODS.items() if word.endswith("ly")}
_ADVERBS |= by_word(
    {"half year": "biannually semiannually semi-annually", "two years": "biennially"}
)
_TIMES = {"once": 1.0, "twice": 2.0, "thrice": 3.0}
_ORDINALS = {"other": 2.0, "second": 2.0, "third": 3.0, "fourth": 4.0, "fifth": 5.0, "sixth": 6.0}
_UNIT = r"(?P<unit>second|minute|hour|day|night|week|fortnight|month|quarter|year|decade)s?\b"
_WORDS = "|".join(sorted((word for word in CARDINALS if word.isascii()), key=len, reverse=True))
_EVERY = re.compile(
    rf"\b(?:every|each|once (?:every|in|per)|q)\s*(?P<size>(?:\d{{1,3}}(?:\.\d)?|{_WORDS}|other|second|third|fourth|fifth|sixth)(?:-|\s+|(?=h\b)))?(?:{_UNIT}|(?P<short>h)\b)",
    re.IGNORECASE,
)
_TIMES_A = re.compile(
    rf"\b(?:(?P<count>once|twice|thrice)|(?P<size>\d{{1,3}}|{_WORDS})\s+times?)\s*(?:/|an?\b|per\b|each\b|every\b|in (?:an?|each|every)\b|in\s+(?=\d|two|three|four|five|six)|of the\b)?\s*(?P<span>(?:\d{{1,2}}|{_WORDS})\s+)?(?:{_UNIT}|(?P<adverb>daily|weekly|monthly|yearly|annually|hourly)\b)",
    re.IGNORECASE,
)
_EVENTS_A = re.compile(
    rf"\b(?P<size>\d{{1,3}}|{_WORDS})\s+[a-z]+\s+(?:an?|per|each|every)\s+(?P<span>(?:\d{{1,2}}|{_WORDS})\s+)?{_UNIT}",
    re.IGNORECASE,
)
_ADVERB = re.compile(rf"\b(?:{'|'.join(_ADVERBS)})\b", re.IGNORECASE)
_AFTER_AMOUNT = re.compile(r"[\d%$€£]\s*(?:[a-z]+\s+)?$", re.IGNORECASE)
_LEAST = re.compile(
    r"\b(?:at least|no less (?:often )?than|not less than|minimum(?: of)?|more (?:often )?than)\s+$",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\b(?:at most|no more (?:often )?than|not more than|up to|maximum(?: of)?|less (?:often )?than)\s+$",
    re.IGNORECASE,
)


def read_frequencies(text: str, used: bytearray, *, requested: bool) -> Iterator[Frequency]:
    """Frequencies of a text; what is read is marked in `used`.

    Args:
        text: as `characters.plain` gives it.
        used: a byte for each character, set where another value has been read.
        requested: the question asks how often, so that a bare "weekly" is an answer too.
    """
    for pattern in (_TIMES_A, *([_EVENTS_A] if requested else []), _EVERY):
        for hit in pattern.finditer(text):
            if any(used[hit.start() : hit.end()]):
                continue
            found = _every(hit) if pattern is _EVERY else _times(hit)
            if found is None:
                continue
            period, months, count = found
            yield _frequency(text, hit.start(), hit.end(), period, months, count)
            used[hit.start() : hit.end()] = b"\1" * (hit.end() - hit.start())
    for hit in _ADVERB.finditer(text) if requested else ():
        if any(used[hit.start() : hit.end()]) or _AFTER_AMOUNT.search(text[: hit.start()][-24:]):
            continue
        period, months = _UNITS[_ADVERBS[hit[0].lower()]]
        yield _frequency(text, hit.start(), hit.end(), period, months, None)
        used[hit.start() : hit.end()] = b"\1" * (hit.end() - hit.start())


def _frequency(  # noqa: PLR0917
    text: str, start: int, end: int, period: float, months: float | None, count: float | None
) -> Frequency:
    ahead = text[max(0, start - 32) : start]
    # Less often is a longer period; bounds are stored in terms of how often.
    bound = 1 if _LEAST.search(ahead) else -1 if _MOST.search(ahead) else 0
    return Frequency(
        start=start,
        end=end,
        text=text[start:end],
        period=period,
        months=months,
        count=count,
        bound=bound,
    )


def _number(word: str) -> float | None:
    word = word.strip(" -").lower()
    if word in _ORDINALS:
        return _ORDINALS[word]
    if word in CARDINALS:
        return float(CARDINALS[word])
    return float(word) if word else None


def _every(hit: re.Match[str]) -> tuple[float, float | None, float | None] | None:
    if hit["short"] and not hit["size"]:
        return None
    seconds, months = _UNITS["hour" if hit["short"] else hit["unit"].lower()]
    size = _number(hit["size"]) if hit["size"] else 1.0
    if not size:
        return None
    return seconds * size, None if months is None else months * size, None


def _times(hit: re.Match[str]) -> tuple[float, float | None, float | None] | None:
    parts = hit.groupdict()
    count = _TIMES[hit["count"].lower()] if parts.get("count") else _number(hit["size"])
    span = _number(hit["span"]) if hit["span"] else 1.0
    if not count or not span:
        return None
    unit = _ADVERBS[hit["adverb"].lower()] if parts.get("adverb") else hit["unit"].lower()
    seconds, months = _UNITS[unit]
    return seconds * span / count, None if months is None else months * span / count, count
