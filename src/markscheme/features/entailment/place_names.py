"""Places within places: a town's state, country and continent, from GeoNames (CC BY 4.0)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

_WORD = re.compile(r"[^\W\d_]+")
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
    words = _WORD.findall(text)
    plain = [_plain(word) for word in words]
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


def _plain(word: str) -> str:
    if word.isascii():
        return word.lower()
    bare = unicodedata.normalize("NFKD", word)
    return "".join(char for char in bare if not unicodedata.combining(char)).lower()
