"""Scores and ratios: "3-0" and "three nil", "3:2" and "three boys for every two girls"."""

from __future__ import annotations

import re

from markscheme.values.characters import plain
from markscheme.values.outcome import Comparison, agreement, conflict

_WORDS = {
    word: count
    for count, word in enumerate(
        ["nil", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
} | {"zero": 0, "love": 0, "nothing": 0}
_COUNT = rf"(?:\d{{1,3}}|{'|'.join(_WORDS)})"
_SCORE = re.compile(
    rf"(?<![\w.,:-])(?P<one>{_COUNT})"
    rf"(?:(?:\s?[-–:]\s?|\s(?:goals? )?to\s)(?P<two>{_COUNT})"
    rf"| (?:[a-z]+ )?(?:for|to) (?:each|every) (?P<each>{_COUNT})"
    r"|[ -](?P<none>nil|love|nothing)|[ -](?P<all>all|apiece))(?![\w:-]|[.,]\d)",
    re.IGNORECASE,
)
_ASKED = re.compile(r"\bscores?\b|\bscoreline\b|\bresult\b|(?P<ratio>\bratio\b)", re.IGNORECASE)
_BESIDE = frozenset(
    ["the", "it", "was", "a", "score", "final", "result", "goals", "ended", "finished"]
)
"""Words next to the score in a reference that says nothing else."""
_MOST_WORDS = 20
"""Words of an answer in which a single score is taken as the requested one."""


def compare_scores(question: str, reference: str, answer: str) -> Comparison | None:
    """The comparison of two scores; None where none is requested, or a text has none or several.

    A score the other way round is left to others: it may be seen from the other side.

    >>> compare_scores("What was the score?", "3-0", "three nil").outcome.value
    'agree'
    """
    asked = _ASKED.search(question)
    if asked is None or len(answer.split()) > _MOST_WORDS:
        return None
    wanted, given = _scores(reference), _scores(answer)
    if len(wanted) != 1 or len(given) != 1:
        return None
    (mine, mine_text), (theirs, theirs_text) = wanted[0], given[0]
    beside = re.findall(r"[a-z]+", plain(reference).replace(mine_text, " ").lower())
    if not _BESIDE.issuperset(beside):
        return None
    ratio = asked["ratio"] is not None
    if mine == theirs or (ratio and mine[0] * theirs[1] == mine[1] * theirs[0] != 0):
        return agreement("range", mine_text, theirs_text, 0.95, f"both have {mine_text}")
    if mine == theirs[::-1] and not ratio:
        return None
    return conflict("range", mine_text, theirs_text, 0.95)


def _scores(text: str) -> list[tuple[tuple[int, int], str]]:
    """The scores of a text, as pairs, with their words."""
    found = []
    for hit in _SCORE.finditer(plain(text)):
        first = _count(hit["one"])
        second = first if hit["all"] else 0 if hit["none"] else _count(hit["two"] or hit["each"])
        found.append(((first, second), hit[0]))
    return found


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _WORDS[word.lower()]
