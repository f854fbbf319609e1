"""Reading a mark from 1 to 10, or a rank in a list, out of a model's reply."""

from __future__ import annotations

import re

from markscheme.text.replies import (
    COUNTS,
    Reading,
    begins_an_object,
    field,
    json_objects,
    read_score,
    reads,
    undecided,
    unparsed,
)

_BRACKETS = re.compile(
    r"\[\[?\s*(?:rank|place|position|reference|number)?[^\w\]-]{0,3}(-?\d{1,4})(?:st|nd|rd|th)?\s*\]\]?",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:rank(?:ed|s|ing)?|place[sd]?|position)\b[^\w\n-]*"
    r"(?:(?:is|of|at|in|it|number|no|would be|should be|the)\b[^\w\n-]*){0,4}"
    r"(-?\d{1,4})(?:st|nd|rd|th)?\b",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"\b(\d{1,4})(?:st|nd|rd|th)\b", re.IGNORECASE)
_WORDS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
_ORDER = "|".join(_WORDS)
_SPELT = re.compile(
    rf"(?:\b(?:rank(?:ed|s)?|place[sd]?|position|comes|stands)\b[^\w\n]*(?:\w+ ){{0,3}}"
    rf"|^\W*(?:in )?(?:the )?)({_ORDER})\b(?=(?: (?:place|rank|position))?\W*(?:$|[.,;\n]))",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.-])-?\d{1,4}(?![\w]|\.\d)")
_ALONE_NUMBER = re.compile(r"^[^\w\n]*-?\d{1,4}[^\w\n]*(?:$|[.:,;–—-]\s*[A-Za-z])", re.MULTILINE)
"""A number alone on its line, or set off from what explains it."""
_GIVEN = re.compile(
    r"\b(?:rank(?:ed|s)?|place[sd]?|put|goes|comes|belongs|(?<![</])answer|better|worse|between|boxed)\b",
    re.I,
)
"""What a sentence says that puts an answer in its place; "Error 5" does not."""
_COUNT = re.compile(rf"^\W*(?:(?:rank|mark|score)\W*)?({'|'.join(COUNTS)})\W*$", re.IGNORECASE)
_NO_RANK = re.compile(
    r"\b(?:attempt|retry(?: after)?|line|error|code|status|http)[:#\s]*\d{1,4}\b(?: of \d{1,4}\b)?"
    r"|\b(?:out of|of|among|than)\s*(?:the )?\d{1,4}\b|/\s*\d{1,4}\b|\b1 ?(?:to|-|–) ?\d{1,4}\b"
    r"|\b(?:references?|answers?)\s*#?\d{1,4}\b(?!\s*\])"
    rf"|\b(?:\d{{1,4}}(?:st|nd|rd|th)|{_ORDER}) (?:references?|answers?)\b"
    r"|\b\d{1,4} (?:references|answers)\b",
    re.IGNORECASE,
)
"""Numbers of references, sizes, scales and faults: near a rank, and never one."""


def read_ten(reply: str, *, finished: bool = True, low: int = 1) -> Reading:
    """A mark from `low` to 10, rescaled to a score from 0 to 1; `6/10` and `six` are marks too."""
    return read_score(reply, finished=finished, low=low, high=10)


@reads
def read_rank(text: str, *, references: int, finished: bool = True) -> Reading:
    """A rank among `references` + 1 places, 1 being the best: score 1 for it, 0 for the last.

    Read in this order: JSON with `rank`, `[[2]]` or `[2]`, `Rank: 2`, `2nd`, "ranks second", "two"
    alone, the only number. Numbers of references ("better than Reference 3"), sizes ("of 5") and
    scales ("1 to 5") are no ranks. Different ranks in one form, and ranks outside the list, are
    unparsed.
    """
    found = _ranks(text)
    if len(found) > 1:
        return unparsed(f"several ranks: {', '.join(str(rank) for rank in sorted(found))}")
    if not found:
        return undecided(text, "no rank in it", finished=finished)
    rank = found.pop()
    if not 1 <= rank <= references + 1:
        return unparsed(f"{rank} is not a place in a list of {references + 1}")
    return Reading(
        status="judged",
        reason=f"rank {rank} of {references + 1}",
        score=(references + 1 - rank) / references,
    )


def _ranks(text: str) -> set[int]:
    """The different ranks in a reply, from the surest form that it has."""
    objects = json_objects(text)
    given = {str(field(item, "rank", "ranking", "position", "place")) for item in objects}
    listed = {int(value) for value in given if re.fullmatch(r"-?\d{1,4}", value)}
    if listed or objects:
        return listed  # JSON without a rank: its numbers are of something else.
    if begins_an_object(text):  # Damaged JSON.
        return {int(value) for value in _NAMED.findall(_NO_RANK.sub(" ", text))}
    # A number in brackets is meant as the rank, whatever it is called there.
    bracketed = {int(value) for value in _BRACKETS.findall(text)}
    if bracketed:
        return bracketed
    bare = _NO_RANK.sub(" ", text)
    for form in (_BRACKETS, _NAMED, _ORDINAL):
        found = {int(value) for value in form.findall(bare)}
        if found:
            return found
    spelt = {_WORDS.index(word.lower()) + 1 for word in _SPELT.findall(bare)}
    counted = {_count(word) for word in _COUNT.findall(bare)}
    if spelt or counted or not (_ALONE_NUMBER.search(bare) or _GIVEN.search(bare)):
        return spelt or counted
    return {int(value) for value in _NUMBER.findall(bare)}


def _count(word: str) -> int:
    return COUNTS.index(word.lower()) + 1
