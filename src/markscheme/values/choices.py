# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Choices that a question offers: letters with their texts, and directions (rose or fell)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markscheme.values.kinds import Choice
from markscheme.values.outcome import Comparison, agreement, conflict

_LETTERED = re.compile(
    r"^\W*(?:(?:option|answer|choice|letter)\s*:?\s*)?\(?([A-H])\s?(?:[).:]|[-–](?=\s)|$)\s*(.*)$",
    re.IGNORECASE | re.DOTALL,
)
_MENTION = re.compile(
    r"\((?P<a>[A-Ha-h])\)|(?:\b(?:option|answer|choice|letter|alternative|number)\b(?:\s+is)?\s*:?\s*\(?)(?P<b>[A-Ha-h])\b\)?|(?<![\w'])(?P<c>[A-H])(?=[).:]|\s?$|\s*[,;]|\s+(?:is|because|as|since|–|-)\b)"
    r"|(?<![\w'])(?P<d>[A-H])(?![\w'])|(?<![\w'])(?P<e>[b-h])\)"
)
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}
_PICK = re.compile(
    r"\b(?:the )?(first|second|third|fourth|fifth|last)(?: (?:one|option|choice|answer|of|statement|item|sentence|alternative|possibility))",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|n't|rather than|instead of|but|except|never|neither|nor|isn't|unlike|wrong|every \w+ but|incorrect)\W+(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)

_DENIED_AFTER = re.compile(
    r"\)?\s+(?:(?:is|was|are)\s+(?:\w+ly\s+)?(?:not|wrong|incorrect|false)|isn['’]t|wasn['’]t|"
    r"cannot be|can['’]t be)\b",
    re.IGNORECASE,
)
_DECLARED = re.compile(
    r"\b(?:[Aa]nswer|[Cc]hoice|[Cc]orrect option)(?:\s+is|\s+must be|\s+should be|\s*:)\s*:?\s*"
    r"(?:[Oo]ption\s+)?[*(\[]{0,3}([A-H])\b(?!['’]|\s+(?:is|was)\b)"
)
"""An option that the answer declares; of several the last, which comes after the reasons."""


def as_choice(text: str) -> Choice | None:
    """A text that is a letter, alone or before the text of its option.

    >>> as_choice("B) Paris").option, as_choice("(b)").letter, as_choice("A dog")
    ('Paris', 'B', None)
    """
    hit = _LETTERED.match(text.strip())
    if not hit or len(text) > 200:
        return None
    option = hit[2].strip(" .")
    if hit[1].islower() and not re.match(r"\W*\(?[a-h]\W*(?:\)|$)", text.strip()):
        return None
    return Choice(start=0, end=len(text), text=text, letter=hit[1].upper(), option=option)


def _simple(text: str) -> str:
    return " ".join(
        word for word in re.findall(r"\w+", text.lower()) if word not in ("the", "a", "an")
    )


def named(text: str, options: Sequence[Choice]) -> set[str]:
    """The options whose words a text has, whatever it says about them."""
    flat = f" {_simple(text)} "
    found = [one for one in options if f" {_simple(one.option)} " in flat]
    return {one.letter for one in found if not _within_another(one, found)}


def _within_another(one: Choice, options: Sequence[Choice]) -> bool:
    """Whether the words of an option are part of another's."""
    words = _simple(one.option)
    return any(other is not one and words in _simple(other.option) for other in options)


def picked(answer: str, options: Sequence[Choice]) -> set[str]:
    """The letters of the options that an answer names and does not set aside."""
    found: set[str] = set()
    denied: set[str] = set()
    letters = {one.letter for one in options}
    declared = [hit[1] for hit in _DECLARED.finditer(answer) if hit[1] in letters]
    if declared:
        return {declared[-1]}
    short = len(answer.split()) <= 12
    for hit in _MENTION.finditer(answer):
        letter = next(group for group in hit.groups() if group).upper()
        if hit["d"] == "A" and re.match(r"\s+[a-z]", answer[hit.end() :]):
            continue
        if letter in letters and (hit["a"] or hit["b"] or hit["c"] or hit["e"] or short):
            before, after = answer[max(0, hit.start() - 40) : hit.start()], answer[hit.end() :]
            set_aside = _NOT.search(before) or _DENIED_AFTER.match(after)
            (denied if set_aside else found).add(letter)
    alone = re.fullmatch(r"\W*([a-h])\W*", answer)
    if alone and alone[1].upper() in letters:
        found.add(alone[1].upper())
    if pick := _PICK.search(answer):
        place = _ORDINALS[pick[1].lower()]
        if place < len(options):
            found.add(options[place].letter)
    flat = f" {_simple(answer)} "
    worded = [one for one in options if one.option and f" {_simple(one.option)} " in flat]
    for one in worded:
        if _within_another(one, worded):
            continue
        at = answer.lower().find(one.option.lower())
        if at > 0 and _NOT.search(answer[max(0, at - 40) : at]):
            denied.add(one.letter)
        else:
            found.add(one.letter)
    return found - denied


def letter_of(reference: str, options: Sequence[Choice]) -> str:
    """The letter of the option that a reference means; '' where it is unclear."""
    choice = as_choice(reference)
    if choice is not None and any(one.letter == choice.letter for one in options):
        return choice.letter
    flat = _simple(reference)
    same = [one for one in options if one.option and _simple(one.option) == flat]
    if len(same) == 1:
        return same[0].letter
    found = picked(reference, options)
    return next(iter(found)) if len(found) == 1 else ""


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
_DENIED = re.compile(
    r"\b(?:not|no|never|neither|nor|hardly|unchanged|stable|flat)\b|n['’]t\b", re.IGNORECASE
)
_AGAINST = re.compile(r"\b(?:against|versus|vs|relative to|compared (?:to|with))\b", re.IGNORECASE)
"""Who rose against whom is more than a direction."""
_MOST_WORDS = 30


def compare_directions(question: str, reference: str, answer: str) -> Comparison | None:
    """The comparison of two directions; None where the question asks for none, or a text says none or both.

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
        return agreement("choice", reference, answer, 0.95, f"both say that it {said[wanted]}")
    reason = f"the answer says that it {said[given]}, the reference that it {said[wanted]}"
    return conflict("choice", reference, answer, 0.95, reason)


def _direction(text: str) -> int:
    """+1 for up, -1 for down, 0 where the text says neither, both or denies."""
    up, down = bool(_ROSE.search(text)), bool(_FELL.search(text))
    return 0 if up == down or _DENIED.search(text) else 1 if up else -1
