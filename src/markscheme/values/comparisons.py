"""Which of two things a comparison puts first: "Saturn is smaller than Jupiter"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markscheme.text import by_word
from markscheme.values.numbers import CARDINALS
from markscheme.values.outcome import Comparison, agreement, conflict

_OPPOSITES = """
large big great huge | small little tiny
old | young
old | new recent
tall high | short low
long | short
heavy | light
fast quick | slow
hot warm | cold cool
early soon | late
expensive costly | cheap
far distant | near close
strong powerful | weak
rich wealthy | poor
good | bad
hard difficult | easy simple
hard | soft
deep | shallow
wide broad | narrow
thick | thin
bright | dim dark
loud noisy | quiet
common frequent | rare
safe | dangerous risky
dry | wet
strict | lenient
steep | flat
sweet | sour bitter
"""
_GROUPS = [
    tuple(frozenset(side.split()) for side in line.split("|"))
    for line in _OPPOSITES.strip().splitlines()
]
_IRREGULAR = by_word(
    {
        "good": "better best",
        "bad": "worse worst",
        "far": "farther further farthest furthest",
        "old": "elder eldest",
    }
)
_MORE = {"more": 1, "most": 1, "less": -1, "least": -1, "fewer": -1, "fewest": -1}
_NOT = re.compile(r"\b(?:not|no|never|neither|nor|hardly|cannot|as)\b|n['’]t\b", re.IGNORECASE)
_EMPTY = frozenset(
    "the a an is are was were has have had be been it its their his her of in on at by for to and "
    "that this than much far slightly even still lot bit about approximately do does did which who "
    "whom what one ones he she they them those these with will would can could".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NUMERALS = "|".join(word for word in CARDINALS if word.isascii())
_AMOUNT = re.compile(rf"\s*(?:(?:a|the) )?(?:[$€£]?\d|half|once|{_NUMERALS})\b", re.IGNORECASE)
_MOST_WORDS = 40


def _degrees(adjective: str) -> tuple[str, ...]:
    if adjective.endswith("y"):
        return (f"{adjective[:-1]}ier", f"{adjective[:-1]}iest")
    if adjective.endswith("e"):
        return (f"{adjective}r", f"{adjective}st")
    doubled = adjective + adjective[-1]
    return (f"{adjective}er", f"{adjective}est", f"{doubled}er", f"{doubled}est")


_BASE = {
    form: adjective
    for group in _GROUPS
    for side in group
    for adjective in side
    for form in _degrees(adjective)
} | _IRREGULAR
"""Comparatives and superlatives, each with its adjective."""


@dataclass(frozen=True, slots=True)
class Degree:
    """What is compared: "larger" is (large, +1), "less dense" (dense, -1)."""

    base: str
    sign: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause "A is larger than B": the words of both sides, and what is compared."""

    first: frozenset[str]
    second: frozenset[str]
    degree: Degree


def compare_comparisons(question: str, reference: str, answer: str) -> Comparison | None:
    """Whether a comparison in the answer puts first what the reference puts first.

    The reference is such a clause too, or one of the two things, and the question says what is
    compared ("Which is larger?"). None where that cannot be read from the texts.

    >>> compare_comparisons(
    ...     "Which is larger, Jupiter or Saturn?", "Jupiter", "Saturn is smaller than Jupiter."
    ... ).outcome.name
    'AGREE'
    """
    given = _clause(answer)
    if given is None:
        return None
    wanted = _clause(reference)
    if wanted is not None:
        way = turn(wanted.degree, given.degree)
        same = _side(given, wanted.first - wanted.second)
        other = _side(given, wanted.second - wanted.first)
        order = same if same else -other
        if same and other and same == other:
            return None
    else:
        wanted_degree = None if re.search(r"\bthan\b", question) else degree_of(question)
        if wanted_degree is None or len(reference.split()) > _MOST_WORDS // 5:
            return None
        way, order = turn(wanted_degree, given.degree), _side(given, _words(reference))
    if not way or not order:
        return None
    holds = way * order > 0
    if holds and wanted is not None:
        return None  # two sentences may agree here and differ in what else they say
    texts = reference.strip(" ."), answer.strip(" .")
    reason = f'"{texts[1]}" {"puts" if holds else "does not put"} first what the reference does'
    return (agreement if holds else conflict)("comparison", *texts, 0.9, reason)


def _clause(text: str) -> _Clause | None:
    """The only comparison of a text; None where there is none, several, or one denied."""
    if len(text.split()) > _MOST_WORDS or len(found := list(re.finditer(r"\bthan\b", text))) != 1:
        return None
    before, after = text[: found[0].start()], text[found[0].end() :]
    before = re.split(r"[.;:!?]\s|,\s(?=but|and|while|whereas)", before)[-1]
    after = re.split(r"[.;:!?](?:\s|$)|,", after)[0]
    degree = degree_of(before, last=True)
    if degree is None or _AMOUNT.match(after) or _NOT.search(before) or _NOT.search(after):
        return None
    return _Clause(_words(before[: degree.start]), _words(after), degree)


def degree_of(text: str, *, last: bool = False) -> Degree | None:
    """The comparative or superlative of a text, the first or the last one."""
    found = degrees_of(text)
    if not found:
        return None
    return found[-1] if last else found[0]


def degrees_of(text: str) -> list[Degree]:
    """The comparatives and superlatives of a text, in its order."""
    found: list[Degree] = []
    hits = list(_WORD.finditer(text))
    for place, hit in enumerate(hits):
        word = hit[0].lower()
        if word in _MORE:
            following = hits[place + 1][0].lower() if place + 1 < len(hits) else ""
            found.append(Degree(following, _MORE[word], hit.start(), hit.end()))
        elif word in _BASE:
            found.append(Degree(_BASE[word], 1, hit.start(), hit.end()))
    return found


def turn(one: Degree, other: Degree) -> int:
    """+1 where two comparatives go the same way, -1 the opposite, 0 where unrelated."""
    if one.base == other.base:
        return one.sign * other.sign
    for high, low in _GROUPS:
        if {one.base, other.base} <= high or {one.base, other.base} <= low:
            return one.sign * other.sign
        if {one.base, other.base} <= high | low:
            return -one.sign * other.sign
    return 0


def orientation(adjective: str) -> int:
    """+1 for what grows with the figure (large, heavy), -1 for its opposite, 0 if unknown."""
    for high, low in _GROUPS:
        if adjective in high | low:
            return 1 if adjective in high else -1
    return 0


def _side(clause: _Clause, words: frozenset[str]) -> int:
    """+1 where the words are of the clause's first side, -1 of its second, 0 where of neither."""
    own = words - (clause.first & clause.second)
    first, second = len(own & clause.first), len(own & clause.second)
    if not own or (first and second) or not (first or second):
        return 0
    return 1 if first else -1


def _words(text: str) -> frozenset[str]:
    found = (re.sub(r"['’]s$", "", hit[0].lower()) for hit in _WORD.finditer(text))
    return frozenset(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in found
        if word not in _EMPTY and word not in _MORE and word not in _BASE
    )
