"""Person names: titles, suffixes, initials and nicknames."""

from __future__ import annotations

import functools

TITLES = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "miss",
        "dr",
        "doctor",
        "prof",
        "professor",
        "sir",
        "dame",
        "lord",
        "lady",
        "king",
        "queen",
        "prince",
        "princess",
        "emperor",
        "empress",
        "pope",
        "saint",
        "st",
        "president",
        "captain",
        "general",
        "colonel",
        "major",
        "lieutenant",
        "sergeant",
        "reverend",
        "rev",
        "father",
        "fr",
        "sister",
        "brother",
        "judge",
        "justice",
        "senator",
        "governor",
        "mayor",
    ]
)
SUFFIXES = frozenset(["jr", "sr", "junior", "senior", "esq", "phd", "md"])


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
