"""The place of the word that decided a reply's reading: for the probability of its tokens.

Places are in the text that `spoken` gives, from the first character to the one after the last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from markscheme.text.replies.grades import _BRACKETS as _MARK_BRACKETS
from markscheme.text.replies.grades import _NAMED, _NUMBER, _SCALE
from markscheme.text.replies.verdicts import (
    _BRACKETS,
    _CLOSING,
    _JSON_FIELDS,
    _LABEL,
    _NEAR,
    _OPEN,
    _OPENING,
    _STATEMENT,
    as_bool,
)

Place = tuple[int, int]

_KEY = re.compile(r"\"([^\"\\\n]{1,60})\"\s*:\s*(\"?)")
_BARE = re.compile(r"[^\s,}\]\"]+")


def member_place(text: str, *names: str) -> Place | None:
    """Of the value of a JSON member by one of its names, as `field` finds them.

    None where there is none, or where it is given twice in different words.
    """
    for name in names:
        found = []
        for key in _KEY.finditer(text):
            if re.sub(r"[\W_]+", "", key[1].lower()) != name:
                continue
            start = key.end()
            if key[2]:
                end = text.find('"', start)
                value = (start, end) if end > start else None
            else:
                bare = _BARE.match(text, start)
                value = bare.span() if bare else None
            if value is not None:
                found.append(value)
        if found:
            said = {text[start:end].strip().lower() for start, end in found}
            return _trimmed(text, found[0]) if len(said) == 1 else None
    return None


def verdict_place(text: str, *, verdict: bool, verdict_last: bool = False) -> Place | None:
    """Of the word that says yes or no: where it is first decided, as `read_yes_no` reads it.

    With `verdict_last` it is the verdict itself where there is one in a form of its own, else the
    end: a thought before it may still be changed.
    """
    first = _OPENING.match(text)
    opening = [_word(text, first)] if first is not None else []
    explicit = list(_explicit(text))
    closing = list(_closing(text))
    stated = list(_stated(text))
    if verdict_last:
        orders = [explicit, closing, stated[-1:], opening]
    else:
        member = member_place(text, *_JSON_FIELDS)
        orders = [opening, [member] if member else [], sorted([*explicit, *stated, *closing])]
    for places in orders:
        for start, end in places:
            if as_bool(text[start:end]) is verdict:
                return start, end
    return None


def mark_place(text: str, mark: float, *names: str) -> Place | None:
    """Of a number that was read as a mark: in JSON, in `[[...]]`, after "score", else the first."""
    member = member_place(text, *names)
    if member is not None:
        return member if _is(text[member[0] : member[1]], mark) else None
    bare = _SCALE.sub(lambda found: " " * len(found[0]), text)
    forms: tuple[Iterable[Place], ...] = (
        (found.span("mark") for found in _MARK_BRACKETS.finditer(bare)),
        (found.span("mark") for found in _NAMED.finditer(bare)),
        (found.span() for found in re.finditer(_NUMBER, bare)),
    )
    for form in forms:
        for start, end in form:
            if _is(text[start:end], mark):
                return start, end
    return None


def label_place(text: str, label: str, *names: str) -> Place | None:
    """Of a label: in a JSON member of `names`, in `[[...]]`, alone on its line, else the last."""
    pattern = re.compile(
        r"\W+".join(map(re.escape, re.findall(r"\w+", label))), re.IGNORECASE | re.UNICODE
    )
    member = member_place(text, *names)
    if member is not None:
        return member if pattern.fullmatch(text, *member) else None
    for bracket in _BRACKETS.finditer(text):
        found = pattern.search(text, *bracket.span(1))
        if found:
            return found.span()
    places = [
        found.span()
        for found in pattern.finditer(text)
        if not re.match(r"\w", text[found.end() : found.end() + 1])
        and not re.match(r"\w", text[max(0, found.start() - 1) : found.start()])
    ]
    alone = (place for place in places if _alone(text, place))
    return next(alone, places[-1] if places else None)


def _alone(text: str, place: Place) -> bool:
    """Whether a word is all that its line says, but for a heading such as `Verdict:`."""
    start, end = place
    before = text[text.rfind("\n", 0, start) + 1 : start]
    after = re.match(r"[^\w\n]*(?:\n|$)", text[end:])
    return after is not None and re.fullmatch(r"\W*|.{0,60}(?:[:=]|\bis\b)\W*", before) is not None


def _explicit(text: str) -> Iterator[Place]:
    member = member_place(text, *_JSON_FIELDS)
    if member is not None:
        yield member
    for found in _BRACKETS.finditer(text):
        yield _trimmed(text, found.span(1))
    for found in _LABEL.finditer(text):
        yield found.span("word")


def _closing(text: str) -> Iterator[Place]:
    whole = text.rstrip("`~ \n\t")
    begin = max(whole.rfind("\n") + 1, len(whole) - _NEAR)
    found = _CLOSING.search(whole[begin:])
    if found:
        yield begin + found.start("word"), begin + found.end("word")


def _stated(text: str) -> Iterator[Place]:
    for found in _STATEMENT.finditer(text):
        before = re.split(r"[.!?;\n]", text[max(0, found.start() - _NEAR) : found.start()])[-1]
        if not _OPEN.search(before):
            yield found.span("word")


def _word(text: str, found: re.Match[str]) -> Place:
    """Of the word that opens a reply, without the signs before it."""
    name = next(name for name, value in found.groupdict().items() if value is not None)
    return _trimmed(text, found.span(name))


def _trimmed(text: str, place: Place) -> Place:
    start, end = place
    while start < end and not text[start].isalnum() and text[start] not in "-":
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    # Vowel signs and the like end words of some scripts, and are no letters by themselves.
    while end < place[1] and re.match(
        r"[^\W_]|[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff]", text[end]
    ):
        end += 1
    return start, end


def _is(text: str, mark: float) -> bool:
    try:
        return float(text) == mark
    except ValueError:
        return False
