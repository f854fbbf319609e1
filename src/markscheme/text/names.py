"""Names: titles, suffixes, initials and nicknames of people; exchanged letters."""

from __future__ import annotations

import functools
import re
from collections.abc import Container, Iterable

from rapidfuzz.distance import OSA

from markscheme.text.tokens import WORD
from markscheme.text.words import words_of

_WORDS = words_of(__file__)
TITLES = frozenset(_WORDS["titles"].split())
SUFFIXES = frozenset(_WORDS["suffixes"].split())


@functools.cache
def _groups() -> dict[str, frozenset[str]]:
    from nicknames import NickNamer

    formal: dict[str, set[str]] = {}
    for canonical, shorts in NickNamer().nickname_lookup.items():
        formal.setdefault(canonical, set()).add(canonical)
        for short in shorts:
            formal.setdefault(short, set()).add(canonical)
    return {name: frozenset(of) for name, of in formal.items()}


def full_forms(name: str) -> frozenset[str]:
    """The given names that `name` (lower case) is or may be short for; empty if it is none.

    >>> "william" in full_forms("bill"), full_forms("zzz")
    (True, frozenset())
    """
    return _groups().get(name, frozenset())


def same_given_name(one: str, other: str) -> bool:
    """Whether two lower-case given names may be the same person's: equal, nickname or initial.

    >>> same_given_name("nick", "nicholas"), same_given_name("j", "john"), same_given_name("a", "b")
    (True, True, False)
    """
    if one == other or (min(len(one), len(other)) == 1 and one[:1] == other[:1]):
        return True
    return bool(full_forms(one) & full_forms(other))


_FEWEST_LETTERS = 6
"""Of a name that is read as misspelled: shorter ones are too often other names."""


def spelled_alike(text: str, references: Iterable[str], known: Container[str]) -> str:
    """The text, two exchanged letters of a name put back as the references have them.

    "Budapset" becomes "Budapest", and no other misspelling is corrected: one letter more or less is
    often another name (De Smet, De Smedt), an exchange hardly ever. Figures that are exchanged are
    another number. Places of characters stay.

    Args:
        text: the answer.
        references: whose words with a capital letter are names.
        known: words in lower case that are spelled as meant ("united" for "United").
    """
    names = {
        "".join(sorted(word.lower())): word
        for reference in references
        for word in WORD.findall(reference)
        if word[0].isupper() and len(word) >= _FEWEST_LETTERS and not any(map(str.isdigit, word))
    }

    def spelled(found: re.Match[str]) -> str:
        word = found.group()
        name = names.get("".join(sorted(word.lower())))
        if name is None or word.lower() in known:
            return word
        # Of the same letters in another order, one edit away: two neighbours changed place.
        return name if OSA.distance(word.lower(), name.lower()) == 1 else word

    return WORD.sub(spelled, text) if names else text
