# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Choices that a question offers: letters with their texts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markscheme.values.numbers import ORDINALS
from markscheme.values.outcome import Comparison, agreement, conflict, undecided
from markscheme.values.requested import Choice, Requested

_LETTERED = re.compile(
    r"^\W*(?:(?:option|answer|choice|letter)\s*:?\s*)?\(?([A-H])\s?(?:[).:]|[-–](?=\s)|$)\s*(.*)$",
    re.IGNORECASE | re.DOTALL,
)
_MENTION = re.compile(
    r"\((?P<a>[A-Ha-h])\)|(?:\b(?:option|answer|choice|letter|alternative|number)\b(?:\s+is)?\s*:?\s*\(?)(?P<b>[A-Ha-h])\b\)?|(?<![\w'])(?P<c>[A-H])(?=[).:]|\s?$|\s*[,;]|\s+(?:is|because|as|since|–|-)\b)"
    r"|(?<![\w'])(?P<d>[A-H])(?![\w'])|(?<![\w'])(?P<e>[b-h])\)"
)
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
    if hit[1].islower() and option and not re.match(r"\W*\(?[a-h]\W*\)", text.strip()):
        return None
    return Choice(hit[1].upper(), option)


def _simple(text: str) -> str:
    return " ".join(
        word for word in re.findall(r"\w+", text.lower()) if word not in ("the", "a", "an")
    )


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
        place = ORDINALS.get(pick[1].lower(), 0) - 1
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


_SHORT = 12
"""Words of an answer in which the one option named is surely the chosen one."""


def compare_choices(requested: Requested, reference: str, answer: str) -> Comparison | None:
    """Whether an answer chooses the reference's option; None where there is none to choose.

    The options are the question's; without any, the letter of the reference ("B) Paris").
    """
    if requested.options:
        letter = letter_of(reference, requested.options)
        found = picked(answer, requested.options) if letter else set()
        return _chose(letter, found, reference, short=len(answer.split()) <= _SHORT)
    wanted = as_choice(reference)
    if wanted is None or requested.kind in ("number", "identifier"):
        return None
    if not wanted.option and len(reference.strip(" ().:")) > 1:
        return None
    if wanted.option and answer.strip(" .").lower() == wanted.option.lower():
        reason = f"{wanted.letter} is {wanted.option}"
        return agreement("choice", reference, answer, 0.97, reason)
    given = as_choice(answer.strip(" *\"'`!,;"))
    if given is None:
        return None
    options = given.option.lower(), wanted.option.lower()
    if given.letter == wanted.letter and all(options) and options[0] != options[1]:
        return None
    return _chose(wanted.letter, {given.letter}, reference, short=True)


def _chose(letter: str, found: set[str], reference: str, *, short: bool) -> Comparison | None:
    if not found:
        return None
    if found == {letter}:
        confidence = 0.95 if short else 0.8
        return agreement("choice", reference, letter, confidence, f"both choose {letter}")
    if len(found) == 1:
        other = next(iter(found))
        reason = f"the answer chooses {other} where the reference has {letter}"
        return conflict("choice", letter, other, 0.97 if short else 0.85, reason)
    return undecided("choice", f"the answer names options {', '.join(sorted(found))}")
