"""Names that one sign makes another thing: C++ and C#, B+ and B-, files, addresses, keys, numbers.

Words are compared without signs and endings; here the signs and endings are what counts. Of a long
number that names something (a telephone, an account, a book) every figure counts, in whatever
groups it is written.
"""

from __future__ import annotations

import re

from markscheme.text import by_word, words_of
from markscheme.values.characters import plain
from markscheme.values.kinds import Date
from markscheme.values.outcome import Comparison, Pair, agreement, conflict, undecided
from markscheme.values.parse import parse_values

_MOST_WORDS = 16
"""Words of an answer in which another name than the reference's is taken for the one given."""
_FILLERS = frozenset(words_of(__file__, "words")["small_words"]["fillers"].split())
"""Words next to the name in a reference that says nothing else."""
_KEY = r"(?:ctrl|control|strg|cmd|command|alt|option|shift|win|windows|meta|super|fn|⌘|⌥|⇧|⌃)"
_SAME_KEYS = by_word({"ctrl": "control strg", "cmd": "command", "win": "windows", "alt": "option"})
_NAME = re.compile(
    rf"(?P<keys>(?i:(?<!\w){_KEY}(?:\s?[+-]\s?(?:{_KEY}|F\d\d?|[a-z]+|\S))+))"
    r"|(?P<address>(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+|https?://[^\s<>\"'`)]+)"
    r"|(?P<path>(?<![\w/.)>])(?:~|\.{1,2})?/[\w.@%+-]+(?:/[\w.@%+-]+)+/?|(?<!\w)[A-Z]:\\[\w\\.-]+)"
    r"|(?P<file>(?<![\w/.@-])\.?[A-Za-z_][\w-]+(?:\.[\w-]+)*\.[a-z][a-z0-9]{0,6}\b(?![\w/]|\.\w))"
    r"|(?P<marked>(?<![\w.+#*/-])(?:[A-Z]{1,3}-|(?:[A-Z]{1,3}|[A-Z][a-z]?\d?)\+|[A-Z]\*|"
    r"[A-Za-z]{1,3}(?:\+\+|\#))(?![\w+#*-])|\A[A-Z](?=[.!]?\Z))"
)
_NUMBER = re.compile(
    r"(?<![\w.,:$€£¥])(?P<number>(?:[A-Z]{1,4}[/-]?|\+?\(?)\d[\dA-Z]*(?:[ ./()-]{1,3}[\dA-Z]+)*)"
    r"(?![\w%@]|[,:]\d)"
)
"""Figures, and capitals among them, in groups: 030 / 123 45 67, 978-3-16-148410-0, AB-1234-C."""
_ASKS_NUMBER = re.compile(
    r"\b(?:number|code|phone|telephone|mobile|fax|hotline|call|dial|id|identifier|account|serial|"
    r"[ei]ban|isbn|issn|ean|vin|\w*nummer|n[uú]m[eé]ro|\w*telefon\w*|tel[eé]fono|téléphone|"
    r"номер|телефон)\b(?! of\b| d[ei]\b)|号码|號碼|电话|番号|電話|번호",
    re.IGNORECASE,
)
"""A question for one number that names something; it counts and measures nothing."""
_FEWEST, _FEWEST_FIGURES, _MOST = 7, 4, 40
"""Characters, and figures among them, of a number that is too long for an amount or a year; those
of the longest: an IBAN has 34."""
_DENIED = re.compile(
    r"(?:\b(?:not|never|than|unlike|instead of|isn't|without|avoid)|n't)\W+(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)


def exact_names(text: str, *, numbers: bool = False) -> list[tuple[str, str, str]]:
    """The exact names of a text that it does not deny: kind, code and words of each.

    Args:
        text: any text.
        numbers: whether long numbers in it are names, as where a question asks for one.

    >>> [code for _, code, _ in exact_names("Use C++ (not C#); see config.yaml")]
    ['C++', 'config.yaml']
    >>> [code for _, code, _ in exact_names("Call 030 / 123 45 67.", numbers=True)]
    ['0301234567']
    """
    text = plain(text)
    found = []
    for pattern in (_NUMBER, _NAME) if numbers else (_NAME,):
        for hit in pattern.finditer(text):
            name = hit[0].rstrip(".,;:!?")
            code = _code(hit.lastgroup, name)
            if code and not _DENIED.search(text[max(0, hit.start() - 40) : hit.start()]):
                found.append((hit.lastgroup or "", code, name))
    return found


def _code(kind: str | None, name: str) -> str:
    """One writing for names that are the same; empty for a number that names nothing."""
    if kind == "number":
        return _figures(name)
    if kind == "keys":
        parts = re.split(r"\s?[+-]\s?", name.lower())
        return "+".join(sorted(_SAME_KEYS.get(part, part) for part in parts))
    if kind == "marked":
        return name
    return re.sub(r"^https?://(?:www\.)?", "", name.lower()).rstrip("/")


def _figures(number: str) -> str:
    """The figures and capitals of a long number; empty for dates, decimals, versions and lists."""
    groups = re.findall(r"[\dA-Z]+", number)
    code = "".join(groups)
    if not _FEWEST <= len(code) <= _MOST or sum(map(str.isdigit, code)) < _FEWEST_FIGURES:
        return ""
    if max(map(len, groups)) == 1 or ("." in number and (len(groups[0]) < 3 or len(groups) < 3)):
        return ""
    day = any(isinstance(one, Date) and one.text == number for one in parse_values(number))
    return "" if day and len(groups) > 1 else code


def _digits(code: str) -> str:
    return "".join(filter(str.isdigit, code))


def compare_exact_names(question: str, reference: str, answer: str) -> Comparison | None:
    """The comparison of two exact names; None where the reference is none, or nothing is decided.

    >>> compare_exact_names("Which grade?", "B+", "It was a B-.").reason
    'B- where the reference has B+'
    """
    numbers = bool(_ASKS_NUMBER.search(question))
    wanted = exact_names(reference, numbers=numbers)
    if len(wanted) != 1:
        return None
    kind, code, name = wanted[0]
    others = re.findall(r"\w+", plain(reference).lower().replace(name.lower(), " ", 1))
    asked = {other for _, other, _ in exact_names(question, numbers=numbers)}
    if code in asked or not _FILLERS.issuperset(others):
        return None
    given = {
        other: words
        for like, other, words in exact_names(answer, numbers=numbers)
        if like == kind and other not in asked
    }
    if code in given:
        words = given.pop(code)
        if not given:
            if kind == "number" and parse_values(plain(answer).replace(words, " ", 1)):
                return None  # "order 55210 and invoice 2019-004817": which of them is it?
            return agreement("identifier", name, words, 0.95, f"both name {name}")
        rivals = tuple(given.values())
        return undecided(
            "identifier",
            f"{words} agrees with {name}, but the answer also has {rivals[0]}",
            agreed=(Pair(name, words, "same"),),
            conflicting=tuple(Pair(name, rival, "different") for rival in rivals),
            extra=rivals,
        )
    if kind == "number" and any(_digits(other) == _digits(code) for other in given):
        return None  # RFC-2024-7726 and 2024-7726
    if given and len(answer.split()) <= _MOST_WORDS:
        return conflict("identifier", name, next(iter(given.values())), 0.95)
    return None
