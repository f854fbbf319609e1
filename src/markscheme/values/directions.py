"""Whether answer and reference say that something rose or fell, where the question asks which."""

from __future__ import annotations

import re

from markscheme.values.outcome import Comparison, Outcome, Pair

_UP = (
    r"r(?:i|o)se[ns]?|rising|increas\w*|grow(?:s|n|ing|th)?|grew|climb\w*|gain\w*|jump\w*|soar\w*|"
    r"went up|go(?:es|ne)? up|going up|up|higher|improv\w*|expand\w*|strengthen\w*|upward\w*"
)
_DOWN = (
    r"f[ae]ll(?:s|en|ing)?|dropp?\w*|decreas\w*|declin\w*|shr[aiu]nk\w*|los[est]\w*|slump\w*|slid\w*|"
    r"went down|go(?:es|ne)? down|going down|down|lower|wors\w*|contract\w*|weaken\w*|downward\w*|"
    r"reduc\w*|dipp?\w*|plung\w*|sank|sunk|sink\w*"
)
_ASKED = re.compile(
    rf"\b(?:{_UP})\b[^?.]{{0,24}}\bor\b[^?.]{{0,12}}\b(?:{_DOWN})\b"
    rf"|\b(?:{_DOWN})\b[^?.]{{0,24}}\bor\b[^?.]{{0,12}}\b(?:{_UP})\b",
    re.IGNORECASE,
)
_ROSE, _FELL = (re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in (_UP, _DOWN))
_NOT = re.compile(
    r"\b(?:not|no|never|neither|nor|hardly|unchanged|stable|flat)\b|n['’]t\b", re.IGNORECASE
)
_AGAINST = re.compile(r"\b(?:against|versus|vs|relative to|compared (?:to|with))\b", re.IGNORECASE)
"""Who rose against whom is more than a direction."""
_MOST_WORDS = 30


def compare_directions(question: str, reference: str, answer: str) -> Comparison | None:
    """The comparison of two directions; None where it was not asked, or a text says none or both.

    >>> compare_directions("Did it rise or fall?", "It rose.", "Revenue decreased.").reason
    'the answer says that it fell, the reference that it rose'
    """
    if (
        not _ASKED.search(question)
        or _AGAINST.search(question)
        or len(answer.split()) > _MOST_WORDS
    ):
        return None
    wanted, given = _direction(reference), _direction(answer)
    if not wanted or not given:
        return None
    said = {1: "rose", -1: "fell"}
    if wanted == given:
        return Comparison(
            outcome=Outcome.AGREE, confidence=0.95, decided=True, kind="choice",
            agreed=(Pair(reference, answer, "same"),), reason=f"both say that it {said[wanted]}",
        )  # fmt: skip
    return Comparison(
        outcome=Outcome.CONFLICT, confidence=0.95, decided=True, kind="choice",
        conflicting=(Pair(reference, answer, "different"),),
        reason=f"the answer says that it {said[given]}, the reference that it {said[wanted]}",
    )  # fmt: skip


def _direction(text: str) -> int:
    """+1 for up, -1 for down, 0 where the text says neither, both or denies."""
    up, down = bool(_ROSE.search(text)), bool(_FELL.search(text))
    return 0 if up == down or _NOT.search(text) else 1 if up else -1
