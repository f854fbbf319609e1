"""Names that one character makes another thing: C++ and C#, B+ and B-, files, addresses, keys.

Words are compared without marks and endings; here the marks and endings are what counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markscheme.text import by_word
from markscheme.values.characters import plain
from markscheme.values.outcome import Comparison, agreement, conflict

_MOST_WORDS = 16
"""Words of an answer in which another name than the reference's is taken for the one given."""
_MOST_BARE = 5
"""The same where the mark alone is missing."""
_FILLERS = frozenset(
    """
    a an the it is was in on at to of by use press hit see file folder directory path key keys type
    blood group grade rating mark score language programming class operator variable setting option
    parameter address email page site website phone telephone number call tel url branch time zone
    timezone
    """.split()
)
"""Words next to the name in a reference that says nothing else."""

_ENDINGS = (
    "py|ipynb|js|ts|jsx|tsx|json|ya?ml|toml|ini|cfg|conf|txt|md|rst|csv|tsv|xml|html?|css|scss|sh|bash|"
    "zsh|bat|ps1|exe|dll|so|log|env|lock|sql|db|java|class|jar|c|h|cc|cpp|hpp|rs|go|rb|php|pl|lua|pdf|"
    "docx?|xlsx?|pptx?|png|jpe?g|gif|svg|zip|tar|gz|tgz|bz2|7z|deb|rpm|iso|bak|tmp|parquet|jsonl|proto"
)
_ONLINE = "com|org|net|io|dev|gov|edu|info|app|ai|uk|de|fr|eu|it|es|nl|ch|at|us|ca|au|in|jp|cn|br"
_KEY = r"(?:ctrl|control|strg|cmd|command|alt|option|shift|win|windows|meta|super|fn|⌘|⌥|⇧|⌃)"
_SAME_KEYS = by_word({"ctrl": "control strg", "cmd": "command", "win": "windows", "alt": "option"})
_SIGNS = by_word(
    {"+": "plus positive", "-": "minus negative", "#": "sharp", "*": "star", "++": "plus_plus"}
)

_FAMILIES: dict[str, re.Pattern[str]] = {
    "mail": re.compile(r"(?<![\w.])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "web": re.compile(
        rf"https?://[^\s<>\"'`)]+|(?<![\w@./-])(?:[a-z0-9-]+\.)+(?:{_ONLINE})\b(?:/[^\s<>\"'`)]*)?",
        re.IGNORECASE,
    ),
    "path": re.compile(
        r"(?<![\w/.)>])(?:~|\.{1,2})?/[\w.@%+-]+(?:/[\w.@%+-]+)*/?|(?<!\w)[A-Z]:\\[\w\\.-]+"
    ),
    "file": re.compile(rf"(?<![\w/.@-])\.?[\w-]+(?:\.[\w-]+)*?\.(?:{_ENDINGS})(?![\w/]|\.\w)"),
    "keys": re.compile(rf"(?<!\w){_KEY}(?:\s?[+-]\s?(?:{_KEY}|F\d\d?|[a-z]+|\S))+", re.IGNORECASE),
    "variable": re.compile(r"(?<![\w.])\$?(?:[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)(?!\w)"),
    "phone": re.compile(r"(?<![\w.,:/-])(?:\+|00?)[1-9(][\d ()./-]{6,16}\d(?!\w|[.,:/-]\d)"),
    "offset": re.compile(r"\b(?:UTC|GMT)\s?[+-]\s?\d{1,2}(?::?[03]0)?(?!\d)"),
    "class": re.compile(r"(?<![\w\\])\\[dDwWsSbB](?![\w\\])"),
    "marked": re.compile(
        r"(?<![\w.+#*/-])(?:[A-Z]{1,3}-|(?:[A-Z]{1,3}|[A-Z][a-z]?\d?)\+|[A-Z]\*|[A-Za-z]{1,3}(?:\+\+|\#))"
        r"(?![\w+#*-])"
        r"|\b(?:AB|[ABO])[ -]?Rh\s?(?:\(?D\)?\s?)?[+-]"
        r"|\b(?:[A-FO]|AB|AA|AAA|BB|BBB)[ -](?:Rh[ -]?)?(?:D )?"
        r"(?:plus plus|plus|minus|positive|negative|sharp|star)\b"
        r"(?! (?!blood|type|grade|rating|donor|in|on|for|is|was|and|or)[a-z])"
    ),
}
_DENIED = re.compile(
    r"(?:\b(?:not|never|than|unlike|instead of|isn't|without|avoid)|n't)\W+(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)
_SIGN_WORD = re.compile("|".join(_SIGNS), re.IGNORECASE)
_LOCAL = 8
"""Last figures of a telephone number, the same with and without the code of its country."""
_EITHER = re.compile(r"\bor\b|\band\b|/", re.IGNORECASE)
_AHEAD = re.compile(
    r"\b(?P<count>\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) hours? "
    r"(?P<side>ahead of|behind|before|after|in advance of) (?:UTC|GMT|Greenwich)",
    re.IGNORECASE,
)
_COUNTS = dict(
    zip(
        "one two three four five six seven eight nine ten eleven twelve".split(),
        range(1, 13),
        strict=True,
    )
)


@dataclass(frozen=True)
class ExactName:
    """A name, its family, and how it is written where nothing is left open."""

    family: str
    code: str
    text: str
    denied: bool


def exact_names(text: str) -> list[ExactName]:
    """The exact names of a text, in no order of families.

    >>> [one.code for one in exact_names("Use C plus plus, not C#; see config.yaml")]
    ['config.yaml', 'C++', 'C#']
    """
    return list(_names(plain(text)))


def _names(text: str) -> Iterator[ExactName]:
    read = bytearray(len(text))
    for hit in _AHEAD.finditer(text):
        hours = _COUNTS.get(hit["count"].lower()) or int(hit["count"])
        sign = "+" if hit["side"].lower() in ("ahead of", "before", "in advance of") else "-"
        yield ExactName("offset", f"{sign}{hours}", hit[0], denied=False)
    for family, pattern in _FAMILIES.items():
        for hit in pattern.finditer(text):
            if any(read[hit.start() : hit.end()]):
                continue
            read[hit.start() : hit.end()] = b"\1" * (hit.end() - hit.start())
            name = hit[0].rstrip(".,;:!?") if family in ("web", "mail", "path") else hit[0]
            denied = bool(_DENIED.search(text[max(0, hit.start() - 40) : hit.start()]))
            yield ExactName(family, _code(family, name), name, denied)


def _code(family: str, name: str) -> str:
    """One writing for names that are the same."""
    if family == "marked":
        name = re.sub(r"[ -]?Rh\s?(?:\(?D\)?\s?)?(?=[+-]$)", "", name)
        word = re.fullmatch(r"([A-Z]+)[ -](?:Rh[ -]?)?(?:D )?([a-z ]+)", name)
        return word[1] + _SIGNS[word[2]] if word else name
    if family == "web":
        return re.sub(r"^(?:https?://)?(?:www\.)?", "", name.lower()).rstrip("/")
    if family == "path":
        return name.rstrip("/") or "/"
    if family == "keys":
        parts = re.split(r"\s?[+-]\s?", name.lower())
        return "+".join(sorted(_SAME_KEYS.get(part, part) for part in parts))
    if family == "phone":
        return re.sub(r"\D", "", name)[-_LOCAL:]
    if family == "offset":
        hours, _, minutes = re.sub(r"[A-Z\s]", "", name).partition(":")
        return f"{int(hours):+d}" + (f":{minutes}" if minutes.strip("0") else "")
    return name if family == "class" else name.lstrip("$").lower()


def compare_exact_names(question: str, reference: str, answer: str) -> Comparison | None:
    """The comparison of two exact names; None where the reference is none, or nothing is decided.

    >>> compare_exact_names("Which grade?", "B+", "It was a B-.").reason
    'B- where the reference has B+'
    """
    wanted = [one for one in exact_names(reference) if not one.denied]
    if len(wanted) != 1:
        return None
    target = wanted[0]
    beside = re.findall(r"\w+", plain(reference).lower().replace(target.text.lower(), " ", 1))
    asked = {one.code for one in exact_names(question)}
    if target.code in asked or not _FILLERS.issuperset(beside):
        return None
    given = [
        one
        for one in exact_names(answer)
        if one.family == target.family and not one.denied and one.code not in asked
    ]
    others = [one for one in given if one.code != target.code]
    words = len(answer.split())
    if len(others) < len(given):
        if others and _EITHER.search(answer):
            return None
        return agreement("identifier", target.text, given[0].text, 0.95, f"both name {target.text}")
    if others and words <= _MOST_WORDS:
        return conflict("identifier", target.text, others[0].text, 0.95)
    if not given and target.family == "marked" and words <= _MOST_BARE:
        letters = re.escape(target.code.rstrip("+-#*"))
        bare = re.search(rf"(?<!\w){letters}(?![\w+#*])", plain(answer))
        if bare and not _SIGN_WORD.search(answer):
            return conflict("identifier", target.text, bare[0], 0.95)
    return None
