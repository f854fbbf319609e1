"""A text as what is compared: its words, names, numbers, amounts and dates."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from markscheme.text import (
    CAPITAL,
    DECADE,
    MARK,
    NUMBER,
    STOPWORD,
    SUFFIXES,
    TITLES,
    UNITS,
    YEAR,
    describe,
    merged,
    normalise,
    split,
)

_GAP = re.compile(r"[\W_]+")
_CENTURY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)[ -]century\b(?! bc)", re.IGNORECASE)
_POWER = re.compile(r"(\d+(?:\.\d+)?) ?[×x*] ?10 ?\^? ?(\d{1,2})\b")
_FRACTION = re.compile(r"(?<![\d/])(\d{1,3})/(\d{1,3})(?![\d/])")
_FRACTION_WORDS = {"half": 0.5, "third": 1 / 3, "quarter": 0.25}
_DEGREES = re.compile(
    r"(-?\d+(?:\.\d+)?) ?(?:°|º|degrees?|deg)? ?(celsius|centigrade|fahrenheit|kelvin|[cfk]\b)",
    re.IGNORECASE,
)
_METRES = re.compile(r"(?<=\d)(?: ?m)(?=\b|/s)")
_APART = re.compile(r"(?<=\d) ?\. ?(?=\d+\b(?! [a-z]+ [a-z]+ [a-z]))")
"""A decimal point with spaces about it, as tokenised predictions have it."""

_NOT_OF_NAMES = TITLES | SUFFIXES | frozenset(["the", "of", "de", "von", "and"])


@dataclass(frozen=True, kw_only=True)
class Wording:
    """What a text says, word by word.

    Attributes:
        text: unchanged.
        plain: SQuAD-normalised words without accents, in order.
        pieces: lower-case runs of letters and digits, in order: "s-block" is two.
        content: canonical forms (stems, numbers as numbers) of words that are not function words.
        capitals: canonical forms of words written with a capital.
        numbers: values of its numbers, years, days and fractions included.
        years, months, days, decades, centuries: parts of its dates.
        amounts: (dimension, value in the base unit) of numbers with units.
        names: lower-case pieces without titles, suffixes and function words.
    """

    text: str
    plain: tuple[str, ...]
    pieces: tuple[str, ...]
    content: tuple[str, ...]
    capitals: frozenset[str]
    numbers: frozenset[float]
    years: frozenset[int]
    months: frozenset[int]
    days: frozenset[int]
    decades: frozenset[int]
    centuries: frozenset[int]
    amounts: frozenset[tuple[str, float]]
    names: tuple[str, ...]

    @property
    def words(self) -> frozenset[str]:
        """Its different content words."""
        return frozenset(self.content)

    @property
    def dated(self) -> bool:
        """Whether it names a year, month, decade or century."""
        return bool(self.years or self.months or self.decades or self.centuries)


def unaccented(text: str) -> str:
    """The text without accents; UTF-8 that was once read as cp1252 ("DÃ¡in") is put right."""
    if not text.isascii():
        if any(mark in text for mark in "ÃÂâ"):
            try:
                text = text.encode("cp1252").decode("utf-8")
            except UnicodeError:
                text = text.replace("Â", "")
        text = unicodedata.normalize("NFKD", text)
        text = "".join(char for char in text if not unicodedata.combining(char))
    return text


@lru_cache(maxsize=20_000)
def wording(text: str) -> Wording:
    """Read a text."""
    plain_text = unaccented(text)
    read = _METRES.sub(" meters ", _APART.sub(".", plain_text))
    known = [describe(word) for word in merged(split(read))]
    known = [entry for entry in known if not entry[3] & MARK]
    kinds = [kind for _, _, _, kind in known]
    days: set[int] = set()
    for place, (_, _, month, _) in enumerate(known):
        for near in (place - 2, place - 1, place + 1):
            if month and 0 <= near < len(known):
                value = known[near][1]
                if kinds[near] & NUMBER and not kinds[near] & YEAR and 1 <= value <= 31:
                    days.add(int(value))
    amounts = {("temperature", kelvin) for kelvin in _temperatures(plain_text)}
    for (_, value, _, kind), (canon, _, _, _) in pairwise(known):
        unit = UNITS.get(canon)
        if kind & NUMBER and unit is not None and not math.isnan(value):
            amounts.add((unit.dimension, value * unit.factor))
    pieces = tuple(_GAP.sub(" ", plain_text).lower().split())
    return Wording(
        text=text,
        plain=tuple(normalise(plain_text).split()),
        pieces=pieces,
        content=tuple(canon for canon, _, _, kind in known if not kind & STOPWORD),
        capitals=frozenset(canon for canon, _, _, kind in known if kind & CAPITAL),
        numbers=frozenset(value for _, value, _, kind in known if kind & NUMBER)
        | _written_out(plain_text),
        years=frozenset(int(value) for _, value, _, kind in known if kind & YEAR),
        months=frozenset(month for _, _, month, _ in known if month),
        days=frozenset(days),
        decades=frozenset(int(value) for _, value, _, kind in known if kind & DECADE),
        centuries=frozenset(int(number) for number in _CENTURY.findall(plain_text)),
        amounts=frozenset(amounts),
        names=tuple(piece for piece in pieces if piece not in _NOT_OF_NAMES),
    )


def _temperatures(text: str) -> list[float]:
    """Temperatures of the text in kelvin."""
    found = []
    for number, scale in _DEGREES.findall(text):
        value = float(number)
        first = scale[0].lower()
        if first == "f":
            value = (value - 32) / 1.8 + 273.15
        found.append(value + 273.15 if first == "c" else value)
    return found


def _written_out(text: str) -> frozenset[float]:
    """Fractions, percentages as shares, and powers of ten."""
    found = {float(top) / float(bottom) for top, bottom in _FRACTION.findall(text) if int(bottom)}
    found |= {float(base) * 10 ** int(power) for base, power in _POWER.findall(text)}
    low = text.lower()
    found |= {value for word, value in _FRACTION_WORDS.items() if re.search(rf"\b{word}\b", low)}
    percents = re.findall(r"(\d+(?:\.\d+)?) ?(?:%|per ?cent)", low)
    return frozenset(found | {float(number) / 100 for number in percents})


def named(said: Wording) -> frozenset[str]:
    """Words with a capital; none where of several words only the first has one, as a sentence's.

    >>> sorted(named(wording("It was Jane Austen"))), named(wording("No charge"))
    (['austen', 'jane'], frozenset())
    """
    later = said.text.split()[1:]
    if later and not any(word[:1].isupper() for word in later):
        return frozenset()
    return said.capitals


def stands_in(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Whether the words `part` are adjacent in `whole`.

    >>> stands_in(("of", "luke"), ("gospel", "of", "luke"))
    True
    """
    return bool(part) and any(
        whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1)
    )


def spelled_in(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Whether pieces of `whole`, side by side, spell what `part` spells, however both are cut up.

    >>> spelled_in(("s", "block"), ("the", "sblock"))
    True
    """
    wanted = "".join(part)
    if not wanted:
        return False
    for start in range(len(whole)):
        said = ""
        for piece in whole[start:]:
            said += piece
            if said == wanted:
                return True
            if not wanted.startswith(said):
                break
    return False
