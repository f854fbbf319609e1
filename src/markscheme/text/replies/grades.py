"""Reading a mark from 1 to 5, or a whole grade in JSON, out of a model's reply."""

from __future__ import annotations

import re
from typing import Any

from markscheme.text.replies.reply import (
    CUT_OFF,
    Reading,
    begins_an_object,
    field,
    json_objects,
    spoken,
    unparsed,
)
from markscheme.text.replies.verdicts import as_bool, declines

RELATIONS = ("superior", "equivalent", "inferior", "incorrect")

_NUMBER = r"(?<![\w.])-?\d{1,4}(?:\.\d{1,3})?(?![\w]|\.\d)"
_SCALE = re.compile(
    r"\b(?:from |between |scale (?:of|from) )?[01] ?(?:to|and|-|–|—) ?(?:5|10)\b|/ ?5\b"
    r"|\bout of (?:5|five)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(
    rf"^[\s>*_#\"'“(\[]*(?P<mark>{_NUMBER})"
    r"(?=[*_\"'”)\]]*(?:\s*(?:$|\n|[:.,;!–—-]\s*(?:$|\n|[A-Za-z]))|"
    r"\s+(?:the|this|it|its|because|since|as|there|completely|mostly|neither|i)\b))",
    re.IGNORECASE,
)
"""A number at the start: alone, set off by a sign, or before a reason; not "5 errors"."""
_GIVEN = re.compile(
    r"\b(?:give|gives|gave|given|rate(?![ -]?limit)|rates|rated|assign|assigned|award|awarded|"
    r"deserves?|gets?|gets? a|earns?|receives?|merits?|mark it|score it)\b[^\d\n.;]{0,40}?"
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
    rf"(?P<mark>{_NUMBER})",
    re.IGNORECASE,
)
_BRACKETS = re.compile(rf"\[\[\s*(?P<mark>{_NUMBER})\s*\]\]")
_WORDS = {"one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0}
_RELATION = re.compile(rf"\b({'|'.join(RELATIONS)})\b", re.IGNORECASE)
_RELATION_LINE = re.compile(
    rf"^[^\w\n]*relation[^\w\n]*[:=][^\w\n]*({'|'.join(RELATIONS)})\b",
    re.IGNORECASE | re.MULTILINE,
)


def read_score(reply: str, *, finished: bool = True, low: float = 1, high: float = 5) -> Reading:
    """A mark on a scale, rescaled to a score from 0 to 1; no verdict.

    Looked for: JSON with `score`, `[[4]]`, `Score: 4`, a number at the start, "I give it 4", a
    number or number word alone on its line. Marks off the scale, ranges ("3-4"), replies with
    several numbers, and numbers of something else ("Error 5") are unparsed.

    Args:
        reply: the model's text.
        finished: whether the model stopped by itself.
        low, high: ends of the scale.
    """
    text = spoken(reply, finished=finished)
    if isinstance(text, Reading):
        return text
    marks = _marks(text)
    if len(marks) > 1:
        return unparsed(f"several marks: {', '.join(f'{mark:g}' for mark in sorted(marks))}")
    if not marks:
        refusal = declines(text)
        if refusal:
            return Reading(status="refused", reason=refusal)
        return unparsed("no mark in it" if finished else CUT_OFF)
    mark = marks.pop()
    if not low <= mark <= high:
        return unparsed(f"{mark:g} is not from {low:g} to {high:g}")
    return Reading(
        status="judged", reason=f"{mark:g} of {high:g}", score=(mark - low) / (high - low)
    )


def _marks(text: str) -> set[float]:
    """The different marks in a reply, from the surest form that it has."""
    found = {
        _number(field(item, "score", "rating", "grade", "mark")) for item in json_objects(text)
    }
    if found - {None}:
        return {mark for mark in found if mark is not None}
    if found:
        return set()  # JSON without a mark: its numbers are of something else.
    bare = _SCALE.sub(" ", text)
    for form in (_BRACKETS, _NAMED):
        matches = {float(match["mark"]) for match in form.finditer(bare)}
        if matches:
            return matches
    if begins_an_object(text):
        return set()  # Damaged JSON in which no number is called a mark.
    if re.match(rf"\W*{_NUMBER}\s*(?:-|–|—|to|or|/)\s*\d", bare):
        return {float(number) for number in re.findall(r"\d+(?:\.\d+)?", bare)[:2]}
    listed = {float(number) for number in _LISTED.findall(bare)}
    if len(listed) > 1:
        return listed  # The scale itself, repeated.
    first = _FIRST.match(bare)
    if first:
        return {float(first["mark"])}
    word = re.sub(r"[^a-z]+", "", text.lower())
    if word in _WORDS:
        return {_WORDS[word]}
    if not (_GIVEN.search(bare) or _LAST.search(bare)):
        return set()
    return {float(number) for number in re.findall(_NUMBER, bare)}


def read_relation(reply: str, *, finished: bool = True) -> Reading:
    """One of superior, equivalent, inferior and incorrect, with scores 1, 1, 0.5 and 0.

    `inferior` gives no verdict: whether half an answer will do is for the judge to say.
    """
    text = spoken(reply, finished=finished)
    if isinstance(text, Reading):
        return text
    given = [field(item, "relation") for item in json_objects(text)]
    words = [str(word) for word in given if word is not None] or _RELATION_LINE.findall(text)
    found = {word.strip().lower() for word in words or _RELATION.findall(text)}
    known = found & set(RELATIONS)
    if len(found) != 1 or not known:
        refusal = declines(text)
        if refusal and not known:
            return Reading(status="refused", reason=refusal)
        return unparsed(
            f"several relations: {', '.join(sorted(found))}" if len(found) > 1
            else "no relation in it" if finished else CUT_OFF
        )  # fmt: skip
    relation = known.pop()
    return Reading(
        status="judged", reason=relation, relation=relation,
        verdict={"incorrect": False, "inferior": None}.get(relation, True),
        score={"incorrect": 0.0, "inferior": 0.5}.get(relation, 1.0),
    )  # fmt: skip


EXAMPLE_REASON = "one or two sentences"
"""Placeholder of the reason in the prompt's example: a model that repeats it has not marked."""


def read_grade(reply: str, *, finished: bool = True) -> Reading:
    """A grade in JSON: `verdict`, `relation`, `marks`, `reason` and lists of extra claims.

    The members must agree: a right answer is not `incorrect`, a wrong one neither `equivalent` nor
    `superior`, and `superior` needs an extra claim that something supports. Claims listed as
    unattributable are named in the reason. The score is the mean of verdict and marks, so that it
    orders answers and is at least a half where the verdict is yes.
    """
    text = spoken(reply, finished=finished)
    if isinstance(text, Reading):
        return text
    grades = [item for item in json_objects(text) if field(item, "verdict") is not None]
    if not grades:
        refusal = declines(text)
        if refusal:
            return Reading(status="refused", reason=refusal)
        return unparsed("no JSON with a verdict in it" if finished else CUT_OFF)
    if any(grade != grades[0] for grade in grades):
        return unparsed("contradicts itself: it gives several grades")
    grade = grades[0]
    verdict = as_bool(field(grade, "verdict"))
    relation = str(field(grade, "relation") or "").strip().lower()
    marks = _number(field(grade, "marks"))
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
        status="judged", reason=said, verdict=verdict, score=(verdict + marks) / 2,
        relation=relation, marks=marks,
    )  # fmt: skip


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:  # a whole number of over 308 digits
            return None
    if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,4}(\.\d{1,6})?\s*", value):
        return float(value)
    return None


def _texts(value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [str(item).strip().rstrip(".") for item in items if item and str(item).strip()]
