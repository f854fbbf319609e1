"""Reading a mark from 1 to 5, or a whole grade in JSON, out of a model's reply."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from markscheme.text.replies.places import member_place
from markscheme.text.replies.reply import (
    BRACKETS,
    Place,
    Reading,
    begins_an_object,
    field,
    json_number,
    json_objects,
    reads,
    undecided,
    unparsed,
)
from markscheme.text.replies.verdicts import as_bool

RELATION_SCORES: Mapping[str, float] = {
    "superior": 1.0,
    "equivalent": 1.0,
    "inferior": 0.5,
    "incorrect": 0.0,
}
"""The score of each relation."""
RELATIONS = tuple(RELATION_SCORES)

_NUMBER = r"(?<![\w.])-?\d{1,4}(?:\.\d{1,3})?(?![\w]|\.\d)"
_RANGE = re.compile(r"[ *_]*(?:[-–—/]|\b(?:to|or|out of)\b)[ *_]*(-?\d+(?:\.\d+)?)", re.IGNORECASE)
"""What follows a mark that is none by itself: "3-4", "3 or 4", "4/10" where the scale ends at 5."""
_BARE_RANGE = re.compile(rf"\W*(?P<mark>{_NUMBER})(?={_RANGE.pattern})", re.IGNORECASE)
_FIRST = re.compile(
    rf"^[\s>*_#\"'“(\[]*(?P<mark>{_NUMBER})"
    r"(?=[*_\"'”)\]]*(?:\s*(?:$|\n|[:.,;!–—-]\s*(?:$|\n|[A-Za-z]))|"
    r"\s+(?:the|this|it|its|because|since|as|there|completely|mostly|neither|i)\b))",
    re.IGNORECASE,
)
"""A number at the start: alone, set off by a sign, or before a reason; not "5 errors"."""
_GIVEN = re.compile(
    r"\b(?:give|gives|gave|given|rate(?![ -]?limit)|rates|rated|assign|assigned|award|awarded|"
    r"deserves?|gets?|gets? a|earns?|receives?|merits?|mark it|score it)\b(?: ++|[^\d\n.; ]){0,40}?"
    rf"(?P<mark>{_NUMBER})",
    re.IGNORECASE,
)
_LAST = re.compile(
    r"^[^\w\n]*(?:(?:final |my |overall )?(?:answer|verdict|result)[^\w\n]*(?:[:=]|\bis\b)"
    r"[^\w\n]*)?"
    rf"(?P<mark>{_NUMBER})[^\w\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_LISTED = re.compile(r"(?<![\w.])([0-9])(?=[:.)]\s+[A-Za-z])")
_NAMED = re.compile(
    r"\b(?:score|rating|grade|mark)\b[^\w\n]*(?:(?:is|of|would be|as)\b)?[^\w\n-]*"
    rf"(?<!-)(?P<mark>{_NUMBER})",
    re.IGNORECASE,
)
_MEMBERS = ("score", "rating", "grade", "mark")
COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
"""Whole marks in words, from 1."""


@reads
def read_score(text: str, *, finished: bool = True, low: float = 1, high: float = 5) -> Reading:
    """A mark on a scale, rescaled to a score from 0 to 1; no verdict.

    Looked for: JSON with `score`, `[[4]]`, `Score: 4`, a number at the start, "I give it 4", a
    number or number word alone on its line. Marks off the scale or of another one ("4/10" on 1 to
    5), ranges ("3-4"), replies with several numbers, and numbers of something else ("Error 5") are
    unparsed.

    Args:
        text: the model's.
        finished: whether the model stopped by itself.
        low, high: ends of the scale.
    """
    marks = _marks(text, low, high)
    if len(marks) > 1:
        return unparsed(f"several marks: {', '.join(f'{mark:g}' for mark in sorted(marks))}")
    if not marks:
        return undecided(text, "no mark in it", finished=finished)
    mark, place = marks.popitem()
    if not low <= mark <= high:
        return unparsed(f"{mark:g} is not from {low:g} to {high:g}")
    return Reading(
        status="judged",
        reason=f"{mark:g} of {high:g}",
        score=(mark - low) / (high - low),
        place=place,
    )


@functools.cache
def _scale(low: float, high: float) -> re.Pattern[str]:
    """What says between which marks a mark is: "from 1 to 5", "/5", "out of five"."""
    top = f"(?:{high:g}|{COUNTS[int(high) - 1]})" if 1 <= high <= len(COUNTS) else f"{high:g}"
    return re.compile(
        rf"(?<!\w)(?:from |between |scale (?:of|from) )?(?:[01]|{low:g}) ?(?:to|and|-|–|—) ?{top}\b"
        rf"|/ ?{top}\b|\(?\bout of {top}\b\)?",
        re.IGNORECASE,
    )


def _marks(text: str, low: float, high: float) -> dict[float, Place | None]:
    """The different marks in a reply, from the surest form that it has, with their first places."""
    objects = json_objects(text)
    if objects:  # JSON without a mark: its numbers are of something else.
        place = member_place(text, *_MEMBERS)
        members = [json_number(field(item, *_MEMBERS), high) for item in objects]
        return {mark: place for mark in members if mark is not None}
    bare = _scale(low, high).sub(lambda said: " " * len(said[0]), text.replace("−", "-"))
    forms = (
        [word.span(1) for word in BRACKETS.finditer(bare) if re.fullmatch(_NUMBER, word[1])],
        [word.span("mark") for word in _NAMED.finditer(bare)],
    )
    for places in forms:
        if places:
            return _at(bare, places)
    if begins_an_object(text):
        return {}  # Damaged JSON in which no number is called a mark.
    listed = _at(bare, (number.span(1) for number in _LISTED.finditer(bare)))
    if len(listed) > 1:
        return listed  # The scale itself, repeated.
    first = _BARE_RANGE.match(bare) or _FIRST.match(bare)
    if first:
        return _at(bare, [first.span("mark")])
    word = re.sub(r"^\W*(?:score|rating|grade|mark)\b|[^a-z]+", "", text.lower())
    if word in COUNTS:
        return {COUNTS.index(word) + 1.0: None}
    if not (_GIVEN.search(bare) or _LAST.search(bare)):
        return {}
    return _at(bare, (number.span() for number in re.finditer(_NUMBER, bare)))


def _at(text: str, places: Iterable[Place]) -> dict[float, Place | None]:
    """The marks at these places, and the other ends of ranges that begin there."""
    marks = list(places)
    ends = [end.span(1) for _, at in marks if (end := _RANGE.match(text, at))]
    return {float(text[start:end]): (start, end) for start, end in reversed([*marks, *ends])}


EXAMPLE_REASON = "one or two sentences"
"""Placeholder of the reason in the prompt's example: a model that repeats it has not marked."""


@reads
def read_grade(text: str, *, finished: bool = True) -> Reading:
    """A grade in JSON: `verdict`, `relation`, `marks`, `reason` and lists of extra claims.

    The members must agree: a right answer is not `incorrect`, a wrong one neither `equivalent` nor
    `superior`, and `superior` needs an extra claim that something supports. Claims listed as
    unattributable are named in the reason. The score is the mean of verdict and marks, so that it
    orders answers and is at least a half where the verdict is yes.
    """
    grades = [item for item in json_objects(text) if field(item, "verdict") is not None]
    if not grades:
        return undecided(text, "no JSON with a verdict in it", finished=finished)
    if any(grade != grades[0] for grade in grades):
        return unparsed("contradicts itself: it gives several grades")
    grade = grades[0]
    verdict = as_bool(field(grade, "verdict"))
    relation = str(field(grade, "relation") or "").strip().lower()
    marks = json_number(field(grade, "marks"), 1)
    if verdict is None:
        return unparsed(f"its verdict {field(grade, 'verdict')!r} is neither yes nor no")
    if relation not in RELATIONS:
        return unparsed(f"its relation {relation!r} is none of {', '.join(RELATIONS)}")
    if marks is None or not 0 <= marks <= 1:
        return unparsed(f"its marks {field(grade, 'marks')!r} are not from 0 to 1")
    if relation in (("incorrect",) if verdict else ("superior", "equivalent")):
        word = "yes" if verdict else "no"
        return unparsed(f"contradicts itself: verdict {word}, relation {relation}")
    unsupported = _texts(field(grade, "unattributableclaims"))
    if relation == "superior" and unsupported and not _texts(field(grade, "supportedclaims")):
        relation = "equivalent"  # More words that nothing supports are not a better answer.
    said = str(field(grade, "reason") or "").strip()
    if said.casefold().strip(" .") == EXAMPLE_REASON:
        return unparsed("copies the prompt's example in place of a reason")
    if unsupported:
        said = f"{said} Cannot be attributed: {'; '.join(unsupported)}.".strip()
    return Reading(
        status="judged",
        reason=said,
        verdict=verdict,
        score=(verdict + marks) / 2,
        relation=relation,
        marks=marks,
        place=member_place(text, "verdict"),
    )


def _texts(value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [str(item).strip().rstrip(".") for item in items if item and str(item).strip()]
