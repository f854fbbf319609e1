# ruff: noqa: E501 - lists of words read better unfolded
"""Whether a text is in another language than English, by its small words and its letters."""

from __future__ import annotations

import re

_FOREIGN = frozenset(
    ["der", "die", "das", "und", "ist", "ein", "eine", "von", "für", "mit", "auf", "nicht", "le", "la", "les", "des", "une", "est", "dans", "pour", "el", "los", "las", "una", "del", "por", "para", "con", "il", "gli", "della", "di", "che", "è", "um", "uma", "os", "dos", "não", "het", "een", "van", "voor", "niet", "per", "ve", "bir", "için", "на", "в", "из", "с", "для", "не", "que", "du", "au", "aux", "al", "lo", "i", "en", "wie", "wann", "quand", "combien", "cuánto", "cuántos", "quanto", "quanti", "hoeveel", "kaç"]
)  # fmt: skip
_ENGLISH = frozenset(
    ["the", "of", "and", "is", "was", "were", "a", "an", "in", "to", "for", "with", "that", "which", "what", "how", "when", "who", "it", "by", "from", "not", "are", "did", "does"]
)  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")


def is_foreign(text: str) -> bool:
    """Whether the words look like another language than English; False for no words at all."""
    words = [word.lower() for word in _WORD.findall(text[:400])]
    foreign = sum(word in _FOREIGN for word in words)
    english = sum(word in _ENGLISH for word in words)
    if foreign > english:
        return True
    other = sum(not word.isascii() for word in words)
    return english == 0 and other > 0 and 3 * other >= len(words)
