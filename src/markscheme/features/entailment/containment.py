"""What lies within what: ranges of numbers and times, and places within places.

"1889" lies within "the 1880s", "the nineteenth century" and "between 1885 and 1890"; 4,808 within
"more than 4,000" and "about 4,800"; "31 March 1889" within "the spring of 1889". Units are not
read here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from math import inf

import numpy as np
import numpy.typing as npt

from markscheme.text import ORDINAL_WORDS, SCALES, decade_of, month_of, unaccented, word_value

Range = tuple[float, float]

_NEAR = 0.05
"""How far from an approximate number the exact one may be, as a share of it."""

_NUMBER = r"(\d[\d,]{0,20}(?:\.\d{1,20})?)( (?:" + "|".join(SCALES) + r"))?"
_BETWEEN = re.compile(
    rf"\b(?:between|from)\s+(?:\w\s)?[$£€]?{_NUMBER}\s?(?:and|to|-|–|—)\s?[$£€]?{_NUMBER}"
    rf"|\b{_NUMBER}\s?(?:-|–|—|to)\s?{_NUMBER}\b",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    rf"\b(?:more than|over|at least|above|upwards of|exceeding|greater than|no fewer than|after|"
    rf"since|later than)\s+[$£€]?{_NUMBER}",
    re.IGNORECASE,
)
_BELOW = re.compile(
    rf"\b(?:less than|fewer than|under|up to|at most|below|no more than|before|earlier than|"
    rf"not more than)\s+[$£€]?{_NUMBER}",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    rf"\b(?:about|around|roughly|approximately|approx\.?|circa|some|nearly|almost|close to|"
    rf"just (?:over|under)|or so)\s+[$£€]?{_NUMBER}",
    re.IGNORECASE,
)
_CENTURY = re.compile(r"\b([a-z-]{3,20}|\d{1,2}(?:st|nd|rd|th))[ -]century\b", re.IGNORECASE)
_DECADE = re.compile(r"['’]?\b\d{2,4}s\b")
_SEASON = re.compile(r"\b(winter|spring|summer|autumn|fall)\b", re.IGNORECASE)
_POINT = re.compile(_NUMBER, re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]+")
_CUE = re.compile(
    r"\b(?:between|from|more|over|least|above|upwards|exceeding|greater|fewer|after|since|later|"
    r"less|under|up to|most|below|before|earlier|about|around|roughly|approx\w*|circa|some|nearly|"
    r"almost|close|just|century|\d{2,4}s)\b|\d\s*[-–—]\s*\d",
    re.IGNORECASE,
)
_MONTHS = {
    "winter": (12, 1, 2, 3),
    "spring": (3, 4, 5, 6),
    "summer": (6, 7, 8, 9),
    "autumn": (9, 10, 11, 12),
    "fall": (9, 10, 11, 12),
}


def ranges(text: str) -> list[Range]:
    """The ranges a text gives, ends included; none where it only gives exact numbers.

    >>> ranges("some time in the 1970s"), ranges("more than 4,000"), ranges("in 1975")
    ([(1970.0, 1979.0)], [(4000.0, inf)], [])
    """
    if not _CUE.search(text):
        return []
    found = [
        (min(ends), max(ends))
        for match in _BETWEEN.finditer(text)
        for ends in [_two(match)]
        if ends
    ]
    found += [(_value(*match.groups()), inf) for match in _ABOVE.finditer(text)]
    found += [(-inf, _value(*match.groups())) for match in _BELOW.finditer(text)]
    for match in _ABOUT.finditer(text):
        value = _value(*match.groups())
        found.append((value * (1 - _NEAR), value * (1 + _NEAR)))
    for match in _CENTURY.finditer(text):
        number = _ordinal(match[1].lower())
        if number:
            found.append((100.0 * (number - 1), 100.0 * number))
    for match in _DECADE.finditer(text):
        start = decade_of(match[0].lstrip("'’"))
        if start is not None:
            found.append((float(start), start + 9.0))
    return found


def points(text: str) -> list[float]:
    """The numbers of a text, whether or not they are the ends of ranges.

    >>> points("4,808 m, or 4.8 thousand")
    [4808.0, 4800.0]
    """
    digits = [_value(*match.groups()) for match in _POINT.finditer(text)]
    words = [word_value(word) for word in _WORD.findall(text)]
    return digits + [value for value in words if value is not None and value not in SCALES.values()]


def within(premises: Sequence[str], hypotheses: Sequence[str]) -> npt.NDArray[np.float32]:
    """Whether what a premise gives lies within the hypothesis's range, shape (rows, 2).

    First column numbers and years, second seasons: 1 it does, -1 it does not, 0 there is no range.
    """
    known_ranges = {text: ranges(text) for text in set(hypotheses) | set(premises)}
    out = np.zeros((len(premises), 2), dtype=np.float32)
    for row, (premise, hypothesis) in enumerate(zip(premises, hypotheses, strict=True)):
        wanted = known_ranges[hypothesis]
        if wanted:
            given = known_ranges[premise] or [(point, point) for point in points(premise)]
            fits = any(
                low <= first and last <= high for low, high in wanted for first, last in given
            )
            out[row, 0] = 1 if fits else -1
        season = _SEASON.search(hypothesis)
        if season:
            months = {month_of(word) for word in _WORD.findall(premise)} - {None}
            if months:
                out[row, 1] = 1 if months & set(_MONTHS[season[1].lower()]) else -1
    return out


def _two(match: re.Match[str]) -> tuple[float, float] | None:
    first, scale, second, other = match.groups()[:4]
    if first is None:
        first, scale, second, other = match.groups()[4:]
    low, high = _value(first, scale or other), _value(second, other)
    # "1992-96" ends in 1996; "5-1" is a score.
    if high < low and high < 100 <= low:
        high += low // 100 * 100
    return (low, high) if low < high else None


def _value(digits: str, scale: str | None = None) -> float:
    value = float(digits.replace(",", "").rstrip(".") or 0)
    return value * SCALES[scale.strip().lower()] if scale else value


def _ordinal(word: str) -> int | None:
    if word[:1].isdigit():
        return int(re.sub(r"\D", "", word))
    value = ORDINAL_WORDS.get(word)
    if value is None and "-" in word:
        tens, _, unit = word.partition("-")
        parts = (word_value(tens), ORDINAL_WORDS.get(unit))
        value = sum(parts) if None not in parts else None  # type: ignore[arg-type]
    return int(value) if value else None


# --- Places within places: a town's state, country and continent, from GeoNames (CC BY 4.0) -------


_NAME_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 4
"""Words of the longest names that are looked up."""


def place_within(
    questions: Sequence[str], premises: Sequence[str], hypotheses: Sequence[str]
) -> npt.NDArray[np.float32]:
    """Whether a place that only the hypothesis names holds one that the premise names.

    Returns:
        For each row 1 it does; -1 both name places and it does not; 0 one of them names none.
    """
    known = {text: places(text) for text in {*questions, *premises, *hypotheses}}
    out = np.zeros(len(premises), dtype=np.float32)
    for row, (question, premise, hypothesis) in enumerate(
        zip(questions, premises, hypotheses, strict=True)
    ):
        named = known[premise]
        if not named:
            continue
        new = known[hypothesis] - named - known[question]
        if new:
            around = {outer for place in named for outer in containers(place)}
            out[row] = 1 if new & around else -1
    return out


def places(text: str) -> frozenset[str]:
    """The places a text names, by their first name in the list; small letters count only where the
    text has no capital.

    >>> sorted(places("in Warsaw, the capital of Poland"))
    ['poland', 'warsaw']
    """
    names, _ = _gazetteer()
    words = _NAME_WORD.findall(text)
    plain = [unaccented(word).lower() for word in words]
    lower = not any(word[:1].isupper() for word in words)
    found = set()
    place = 0
    while place < len(words):
        step = 1
        if lower or words[place][:1].isupper():
            for length in range(min(_LONGEST, len(words) - place), 0, -1):
                name = names.get(" ".join(plain[place : place + length]))
                if name is not None:
                    found.add(name)
                    step = length
                    break
        place += step
    return frozenset(found)


def containers(place: str) -> tuple[str, ...]:
    """What a place lies in, the smallest first.

    >>> containers("houston")
    ('texas', 'united states', 'north america')
    """
    _, within = _gazetteer()
    found = []
    while place in within:
        place = within[place]
        found.append(place)
    return tuple(found)


@cache
def _gazetteer() -> tuple[dict[str, str], dict[str, str]]:
    """Every name with the first of its place's names, and what each place lies in."""
    text = (
        files("markscheme.features.entailment").joinpath("places.txt").read_text(encoding="utf-8")
    )
    names: dict[str, str] = {}
    within: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        called, outer, towns = line.split("\t")
        first, *others = called.split("|")
        names |= dict.fromkeys((first, *others), first)
        names.setdefault(outer, outer)
        within[first] = outer
        for town in filter(None, towns.split("|")):
            names.setdefault(town, town)
            within.setdefault(town, first)
    return names, within
