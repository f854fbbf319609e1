"""What lies within what: ranges of numbers and times, and places within places.

"1889" lies within "the 1880s", "the nineteenth century" and "between 1885 and 1890"; 4,808 within
"more than 4,000" and "about 4,800"; "31 March 1889" within "the spring of 1889".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from math import inf

import numpy as np
import numpy.typing as npt

from markscheme.text import Tolerance, month_of, unaccented
from markscheme.values import (
    YEAR_DAYS,
    Amount,
    Date,
    Duration,
    Quantity,
    Range,
    Value,
    interval,
    parse_values,
)

Ends = dict[str, tuple[float, float]]
"""From what to what a value goes: under "" as it is written, years for dates; a quantity in base
units as well, under its dimensions; a duration in seconds alone, under "time"."""

_OPEN = (-inf, inf)
_READ, _MOST = 20_000, 100
"""Characters of a text, and values in them, that are read."""
_SINCE = re.compile(r"\b(?:after|since|later than|over|above)\s+$", re.IGNORECASE)
_UNTIL = re.compile(
    r"\b(?:before|(?:earlier|less|fewer) than|under|below|up to)\s+$", re.IGNORECASE
)
_AHEAD = 16
"""Characters before a year in which these are looked for; before amounts `parse_values` does."""
_SEASON = re.compile(r"\b(winter|spring|summer|autumn|fall)\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]+")
_MONTHS = {
    "winter": (12, 1, 2, 3),
    "spring": (3, 4, 5, 6),
    "summer": (6, 7, 8, 9),
    "autumn": (9, 10, 11, 12),
    "fall": (9, 10, 11, 12),
}


def extents(text: str) -> list[tuple[Ends, bool]]:
    """From what to what the values of a text go, and of each whether it is a range.

    >>> extents("more than 4,000"), extents("4,808")
    ([({'': (4000.0, inf)}, True)], [({'': (4808.0, 4808.0)}, False)])
    """
    text = text[:_READ]
    found = []
    for value in parse_values(text)[:_MOST]:
        ends = _ends(value)
        if not ends or value.denied or value.weak:
            continue
        ranged = isinstance(value, Range) or value.approximate
        if isinstance(value, Date):
            ranged = value.last_year is not None
            first, last = ends[""]
            ahead = text[max(0, value.start - _AHEAD) : value.start]
            if _SINCE.search(ahead):
                ends, ranged = {"": (first, inf)}, True
            elif _UNTIL.search(ahead):
                ends, ranged = {"": (-inf, last)}, True
        found.append((ends, ranged))
    return found


def _ends(value: Value | None) -> Ends:
    """From what to what a value goes; empty where it has no size."""
    if isinstance(value, Range):
        low, high = _ends(value.low), _ends(value.high)
        return {
            unit: (low.get(unit, _OPEN)[0], high.get(unit, _OPEN)[1]) for unit in {**low, **high}
        }
    if isinstance(value, Date):
        days = interval(value)
        if days is None:
            return {}
        first, last = (day / YEAR_DAYS for day in days)
        return {"": (first, first if value.number else last)}
    if not isinstance(value, Amount):
        return {}
    reach = Tolerance.ABOUT_NUMBER * abs(value.amount) if value.approximate else 0.0
    least, most = value.amount - reach, value.amount + reach
    if isinstance(value, Duration):
        return {"time": (least, most)}
    if not isinstance(value, Quantity):
        return {"": (least, most)}
    factor, offset = value.unit.factor, value.unit.offset
    base = (least * factor + offset, most * factor + offset)
    return {"": (least, most), str(value.unit.dimensions): base}


def _fits(inner: Ends, outer: Ends) -> bool:
    """Whether one lies within the other; in base units, or as written where they share none."""
    unit = max(inner.keys() & outer.keys(), default=None)
    if unit is None:
        return False
    (first, last), (low, high) = inner[unit], outer[unit]
    return low <= first and last <= high


def within(
    premises: Sequence[str], hypotheses: Sequence[str], most: Sequence[int]
) -> npt.NDArray[np.float32]:
    """Whether what a premise gives lies within the hypothesis's range, shape (rows, 2).

    First column numbers and years, second seasons: 1 it does, -1 it does not, 0 there is no range,
    or more than `most` pairs of a value and a range.
    """
    known = {text: extents(text) for text in {*premises, *hypotheses}}
    out = np.zeros((len(premises), 2), dtype=np.float32)
    rows = zip(premises, hypotheses, most, strict=True)
    for row, (premise, hypothesis, pairs) in enumerate(rows):
        wanted = [ends for ends, ranged in known[hypothesis] if ranged]
        if 0 < len(wanted) * max(1, len(known[premise])) <= pairs:
            fits = any(_fits(inner, outer) for outer in wanted for inner, _ in known[premise])
            out[row, 0] = 1 if fits else -1
        season = _SEASON.search(hypothesis)
        if season:
            months = {month_of(word) for word in _WORD.findall(premise)} - {None}
            if months:
                out[row, 1] = 1 if months & set(_MONTHS[season[1].lower()]) else -1
    return out


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
