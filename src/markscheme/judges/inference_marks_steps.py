"""Counting the steps of an explained inference, and the marks in it. Yao & Barbosa 2024, app. D."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from markscheme.text.replies import Reading, spoken, unparsed
from markscheme.text.verdicts import declines

_NUMBERED = re.compile(r"^[\s>*_#-]*(?:step\s*)?(\d{1,3})\s*[.):][*_]*\s*(?=\S)", re.I | re.M)
_INLINE = re.compile(r"(?<!\S)(\d{1,3})[.)]\s+(?=\S)")
_INFO = re.compile(r"\[{1,2}\s*INFO(?:RMATION)?\s*\]{1,2}", re.IGNORECASE)
_ASSUMPTION = re.compile(r"\[{1,2}\s*ASSUMPTIONS?\s*\]{1,2}", re.IGNORECASE)
_WORDS = re.compile(r"\w+")
_CIRCLE = 3
"""So many times the same step, and the model goes round in circles."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Steps:
    """What an explanation takes to get from one statement to the other.

    Attributes:
        steps: numbered statements; one that is said again counts once.
        info: of them, how many marks for outside information they bear; `assumptions` likewise.
    """

    steps: int
    info: int
    assumptions: int


def read_steps(reply: str, *, finished: bool = True) -> Steps | Reading:
    """Count the numbered steps and their marks, `[[INFO]]` and `[[ASSUMPTION]]`.

    Returns:
        The counts, or a `Reading` that says why there are none: an empty reply, no numbered step,
        a reply cut off by the token limit (its steps would be too few), a model that says the same
        step three times or more, a refusal.
    """
    text = spoken(reply, finished=finished)
    if isinstance(text, Reading):
        return text
    steps = _steps(text)
    if not steps:
        refusal = declines(text)
        if refusal:
            return Reading(status="refused", reason=refusal)
        return unparsed("no numbered step in it")
    # Numbers stay: "3 plus 4 is 7" and "3 plus 5 is 8" are two steps.
    bare = [" ".join(_WORDS.findall(_unmarked(step).casefold())) for step in steps]
    step, times = Counter(bare).most_common(1)[0]
    if times >= _CIRCLE:
        return unparsed(f"it goes round in circles: {times} times {step[:60]!r}")
    if not finished:
        return unparsed(f"cut off by the token limit after {len(steps)} steps")
    once = dict(zip(reversed(bare), reversed(steps), strict=True))
    return Steps(
        steps=len(once),
        info=sum(len(_INFO.findall(step)) for step in once.values()),
        assumptions=sum(len(_ASSUMPTION.findall(step)) for step in once.values()),
    )


def _steps(text: str) -> list[str]:
    """The texts of the numbered steps, on lines of their own or, failing that, in one line."""
    found = list(_NUMBERED.finditer(text))
    if len(found) < 2:
        inline, wanted = [], 1
        for match in _INLINE.finditer(text):
            if int(match[1]) == wanted:
                inline.append(match)
                wanted += 1
        found = inline if len(inline) > len(found) else found
    ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
    return [text[match.end() : end].strip() for match, end in zip(found, ends, strict=True)]


def _unmarked(step: str) -> str:
    return _ASSUMPTION.sub(" ", _INFO.sub(" ", step))
