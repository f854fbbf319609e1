"""Names that one sign makes another thing: C++ and C#, B+ and B-, files, addresses, keys.

Words are compared without signs and endings; here the signs and endings are what counts.
"""

from __future__ import annotations

import re

from markscheme.text import by_word
from markscheme.values.characters import plain
from markscheme.values.outcome import Comparison, agreement, conflict

_MOST_WORDS = 16
"""Words of an answer in which another name than the reference's is taken for the one given."""
_FILLERS = frozenset(
    "a an the it is was in of by use press hit see file folder path key keys type grade".split()
)
"""Words next to the name in a reference that says nothing else."""
_KEY = r"(?:ctrl|control|strg|cmd|command|alt|option|shift|win|windows|meta|super|fn|⌘|⌥|⇧|⌃)"
_SAME_KEYS = by_word({"ctrl": "control strg", "cmd": "command", "win": "windows", "alt": "option"})
_NAME = re.compile(
    rf"(?P<keys>(?i:(?<!\w){_KEY}(?:\s?[+-]\s?(?:{_KEY}|F\d\d?|[a-z]+|\S))+))"
    r"|(?P<address>(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+|https?://[^\s<>\"'`)]+)"
    r"|(?P<path>(?<![\w/.)>])(?:~|\.{1,2})?/[\w.@%+-]+(?:/[\w.@%+-]+)+/?|(?<!\w)[A-Z]:\\[\w\\.-]+)"
    r"|(?P<file>(?<![\w/.@-])\.?[A-Za-z_][\w-]+(?:\.[\w-]+)*\.[a-z][a-z0-9]{0,6}\b(?![\w/]|\.\w))"
    r"|(?P<marked>(?<![\w.+#*/-])(?:[A-Z]{1,3}-|(?:[A-Z]{1,3}|[A-Z][a-z]?\d?)\+|[A-Z]\*|"
    r"[A-Za-z]{1,3}(?:\+\+|\#))(?![\w+#*-]))"
)
_DENIED = re.compile(
    r"(?:\b(?:not|never|than|unlike|instead of|isn't|without|avoid)|n't)\W+(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)


def exact_names(text: str) -> list[tuple[str, str, str]]:
    """The exact names of a text that it does not deny: kind, code and words of each.

    >>> [code for _, code, _ in exact_names("Use C++ (not C#); see config.yaml")]
    ['C++', 'config.yaml']
    """
    text = plain(text)
    found = []
    for hit in _NAME.finditer(text):
        name = hit[0].rstrip(".,;:!?")
        if not _DENIED.search(text[max(0, hit.start() - 40) : hit.start()]):
            found.append((hit.lastgroup or "", _code(hit.lastgroup, name), name))
    return found


def _code(kind: str | None, name: str) -> str:
    """One writing for names that are the same."""
    if kind == "keys":
        parts = re.split(r"\s?[+-]\s?", name.lower())
        return "+".join(sorted(_SAME_KEYS.get(part, part) for part in parts))
    if kind == "marked":
        return name
    return re.sub(r"^https?://(?:www\.)?", "", name.lower()).rstrip("/")


def compare_exact_names(question: str, reference: str, answer: str) -> Comparison | None:
    """The comparison of two exact names; None where the reference is none, or nothing is decided.

    >>> compare_exact_names("Which grade?", "B+", "It was a B-.").reason
    'B- where the reference has B+'
    """
    wanted = exact_names(reference)
    if len(wanted) != 1:
        return None
    kind, code, name = wanted[0]
    others = re.findall(r"\w+", plain(reference).lower().replace(name.lower(), " ", 1))
    asked = {other for _, other, _ in exact_names(question)}
    if code in asked or not _FILLERS.issuperset(others):
        return None
    given = [(other, words) for like, other, words in exact_names(answer) if like == kind]
    if code in (codes := {other for other, _ in given}):
        found = agreement("identifier", name, name, 0.95, f"both name {name}")
        return found if len(codes - asked) == 1 else None
    rivals = [words for other, words in given if other not in asked]
    if rivals and len(answer.split()) <= _MOST_WORDS:
        return conflict("identifier", name, rivals[0], 0.95)
    return None
