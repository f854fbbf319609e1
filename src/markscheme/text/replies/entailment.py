"""Reading entailment, contradiction or neutral out of a model's reply.

What contradicts itself, is empty, or only repeats the question stays unread: "not entailed" must
never come out of a reply that says neither.
"""

from __future__ import annotations

import re
from itertools import permutations
from typing import Any

from markscheme.text.replies.places import member_place
from markscheme.text.replies.reply import (
    Place,
    Reading,
    field,
    json_objects,
    reads,
    undecided,
    unparsed,
)

ENTAILMENT, CONTRADICTION, NEUTRAL = LABELS = ("entailment", "contradiction", "neutral")
"""What a premise can be to a hypothesis."""

NOT_ENTAILMENT = "not entailment"
"""A reply denied entailment and did not say which of the others it is."""

_QUOTES = "\"'“”‘’`*"
_E = rf"[{_QUOTES}]*entail(?:ment|s|ed)?[{_QUOTES}]*"
_C = rf"[{_QUOTES}]*contradict(?:ion|s|ed|ory)?[{_QUOTES}]*"
_N = rf"[{_QUOTES}]*neutral[{_QUOTES}]*"
_BETWEEN = r"\s*(?:,?\s*\bor\b\s*|[,/|;]\s*(?:or\s+)?)"
_OPTIONS = re.compile(
    "|".join(map(_BETWEEN.join, (*permutations((_E, _C, _N)), (_E, _C), (_C, _E)))), re.IGNORECASE
)
"""The options as the question lists them, which a model that echoes it repeats."""

_NOT = (
    r"(?:\b(?:not|never|neither|nor|no|cannot|without|fails? to|hardly)\b|n['’]t\b|\bnon)"
    r"(?:\s+(?:necessarily|directly|fully|strictly|really|logically|be|is|an?|the|premise|any|"
    r"clear|explicitly|imply|or|to))*\s*"
)
_SAID = re.compile(
    rf"(?P<not>{_NOT})?[{_QUOTES}]*(?:(?<![a-z])|(?<=\bnon))(?:"
    r"(?P<entailment>entail(?:ment|s|ed|ing)?)"
    r"|(?P<contradiction>contradict(?:ion|s|ed|ory|ing)?)"
    r"|(?P<neutral>neutral(?:ity)?))\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    rf"^[\s>#\-({_QUOTES}\[]*(?:(?:the )?(?:final )?(?:answer|label|verdict|relation(?:ship)?|"
    rf"conclusion|classification)(?: is)?\s*[:=]?[\s{_QUOTES}\[]*|it is (?:an? )?[{_QUOTES}]*)?"
    rf"(?P<word>not entailment|non ?entailment|entailment|entailed|entails|contradiction|"
    rf"contradictory|contradicts|neutral)(?=\s*$|[\s.,;:!)\]\-–—(]|[{_QUOTES}])",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    rf"(?:\b(?:answer|label|verdict|relation(?:ship)?|conclusion|classification)\b"
    rf"(?: ++|[^.\n ]){{0,20}}(?:\bis\b|[:=])"
    rf"|\b(?:therefore|thus|hence|so),?(?: the [\w ]{{1,40}} is| it is| this is)?)"
    rf"[\s{_QUOTES}\[]*(?:an? )?[{_QUOTES}]*(?P<word>entailment|contradiction|neutral)"
    rf"[\s.!{_QUOTES}\])]*$",
    re.IGNORECASE,
)
_SECOND = re.compile(
    rf"[\s,;/|{_QUOTES}]*(?:(?:or|and)\b\s*)?[{_QUOTES}]*(?P<word>entailment|contradiction|neutral)\b",
    re.IGNORECASE,
)
_FIELDS = tuple(
    """
    label relation relationship answer verdict classification result entailment judgment
    prediction
    """.split()
)


@reads
def read_entailment(text: str, *, finished: bool = True) -> Reading:
    """Whether a reply says that the premise entails the hypothesis.

    Looked for: JSON, a label at the very beginning, a conclusion at the end, and any statement in
    between ("the premise does not entail ..."). All that it says must agree.

    Args:
        text: the model's.
        finished: whether the model stopped by itself.

    Returns:
        `verdict` is true for entailment; `relation` is the label, one of `LABELS` or
        `NOT_ENTAILMENT`.
    """
    text = re.sub(r"_|(?<=\w)-(?=\w)", " ", text)  # As in `not_entailment`.
    plain = _OPTIONS.sub(lambda options: " " * len(options[0]), text)
    said = _json(text) or _said(plain)
    opening = _OPENING.match(plain)
    closing = _CLOSING.search(plain) if finished else None
    explicit = {_label(found["word"]): found.span("word") for found in (closing, opening) if found}
    if len({label == ENTAILMENT for label in explicit}) == 2:
        return unparsed("contradicts itself: it begins and ends with different labels")
    # A label at the beginning or the end outweighs what reasons mention on the way to it, unless
    # they deny it outright.
    labels = explicit.keys() | (said.keys() & {NOT_ENTAILMENT} if explicit else said.keys())
    labels |= _second(plain, opening)
    verdicts = {label == ENTAILMENT for label in labels}
    if len(verdicts) == 2 or (not explicit and len(labels - {NOT_ENTAILMENT}) > 1):
        return unparsed(f"contradicts itself: it says {' and '.join(sorted(labels))}")
    if verdicts:
        named = sorted(explicit or labels, key=(*LABELS, NOT_ENTAILMENT).index)
        return Reading(
            status="judged",
            reason=f"it says {named[0]}",
            verdict=verdicts.pop(),
            relation=named[0],
            place=(explicit or said).get(named[0]),
        )
    return undecided(text, "none of entailment, contradiction, neutral in it", finished=finished)


def _json(text: str) -> dict[str, Place | None]:
    found: dict[str, Place | None] = {}
    place = member_place(text, *_FIELDS)
    for item in json_objects(text):
        value: Any = field(item, *_FIELDS)
        if isinstance(value, bool):
            found[ENTAILMENT if value else NOT_ENTAILMENT] = None
        elif isinstance(value, str):
            inside = _said(text, *place) if place else {}
            found |= {label: inside.get(label) for label in _said(value)}
    return found


def _said(text: str, *within: int) -> dict[str, Place | None]:
    """Labels that a text states, each with its last place; denied ones leave `NOT_ENTAILMENT`, or
    nothing."""
    found: dict[str, Place | None] = {}
    for match in _SAID.finditer(text, *within):
        label = str(match.lastgroup)
        if match["not"] is None:
            found[label] = match.span(label)
        elif label == ENTAILMENT:
            found[NOT_ENTAILMENT] = None
    return found


def _second(text: str, opening: re.Match[str] | None) -> set[str]:
    """A label that comes directly next to the first one."""
    found = _SECOND.match(text, opening.end()) if opening else None
    return {_label(found["word"])} if found else set()


def _label(word: str) -> str:
    lower = word.lower()
    if lower.startswith(("not", "non")):
        return NOT_ENTAILMENT
    return next(label for label in LABELS if lower[:5] == label[:5])
