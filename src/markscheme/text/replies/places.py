"""The place of a JSON member's value in a reply: for the probability of its tokens."""

from __future__ import annotations

import re

from markscheme.text.replies.reply import Place, member_name

_KEY = re.compile(r"\"([^\"\\\n]{1,60})\"\s*:\s*(\"?)")
_BARE = re.compile(r"[^\s,}\]\"]+")
# Vowel signs and the like end words of some scripts, and are no letters by themselves.
_WORDS = re.compile(
    r"(?:[^\W_]|-)(?:.*(?:[^\W_]|[\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff]))?", re.DOTALL
)


def member_place(text: str, *names: str) -> Place | None:
    """Of the value of a JSON member by one of its names, as `field` finds them.

    None where there is none, or where it is given twice in different words.
    """
    for name in names:
        found = []
        for key in _KEY.finditer(text):
            if member_name(key[1]) != name:
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
            return trimmed(text, found[0]) if len(said) == 1 else None
    return None


def trimmed(text: str, place: Place) -> Place:
    """A place without the signs around its words."""
    words = _WORDS.search(text, *place)
    return words.span() if words else place
