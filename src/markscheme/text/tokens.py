"""The tokeniser: a text as words and marks, written alike however they were written.

Accents, dots of short forms, glued words and citation digits go; letter case stays, since it tells
names from words. `merged` then joins the words of one number.
"""

from __future__ import annotations

import re

from markscheme.text import numbers
from markscheme.text.normalisation import unaccented
from markscheme.text.words import words_of

WORD = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:['’]\w+)?")
"""A word or number where it occurs in a text, before anything is taken off."""

LONGEST = 20_000
"""Characters of a text that are read; what comes after cannot change what an answer says."""

NUMBER_SIGN = "\x00"
"""First character of a word that replaces a number of several words."""

_PHRASES = re.compile(
    r"\bUnited States(?: of America)?\b|\bUnited Kingdom\b|\bUnited Nations\b"
    r"|\bUnited Arab Emirates\b"
    r"|\bSoviet Union\b|\bEuropean Union\b|\bNew York City\b|\bWashington,? D\. ?C\.?"
    r"|\bLos Angeles\b|\bSaint (?=[A-Z])|\bMount (?=[A-Z])|\bFort (?=[A-Z])|\bper cent\b",
    re.IGNORECASE,
)
_WORDS = words_of(__file__)
_PHRASE_FORMS: dict[str, str] = _WORDS["phrase_forms"]
_GLUED = re.compile(
    r"(?<![A-Za-z])(by|is|was|the|of|and|in|at|on|to|from|with)(?=[A-Z][a-z])"
    r"|(?<=by)(?=[A-Z][a-z]+ )"
)
_CITATION = re.compile(
    r"(?<=[a-z]{3})\d{1,3}(?=[.,;:!?\s]|$)|(?<=\b(?:1[5-9]|20)\d\d)[1-9]{1,2}(?=[.,;!?]\s|[.!?]?$)"
)
_DOTTED = re.compile(r"\b(?:[A-Za-z]\.[ ]?){2,}(?![a-z])")
_NULL = re.compile(r"(?<=[A-Za-z])(?<!an)null(?!i[ft])|\bnull(?=[a-z])(?!i[ft])")
_NOT_INITIALS = frozenset(
    ["US", "USA", "UK", "UN", "EU", "DC", "AD", "BC", "TV", "AM", "PM", "UAE", "NY", "LA"]
)
_DEGREES = re.compile(
    r" ?(?:°|º|\bdeg(?:ree)?s?\b\.?) ?"
    r"(?:(C)(?:elsius|entigrade)?|(F)(?:ahrenheit)?|(K)(?:elvin)?)\b"
)
_DEGREE_NAMES = (" Celsius", " Fahrenheit", " Kelvin")
_LETTER_UNIT = re.compile(r"(?<![$£€\d.,])(\d[\d.,]*) ?([mglLh])\b(?!['’²³/]|\.\w)")
_LETTER_UNITS = {"m": "meter", "g": "gram", "l": "liter", "L": "liter", "h": "hour"}
_COMPOUNDS = {
    "mph": "miles? per hour|mi/h",
    "kph": "kilomet(?:re|er)s? (?:per|an) hour|km ?/ ?h|kmph",
    "mps": "met(?:re|er)s? per second|m/s",
    "six": "half a dozen",
    "33 percent": "(?:one|a)[- ]third",
    "67 percent": "two[- ]thirds",
    "25 percent": "(?:one|a)[- ]quarter",
    "75 percent": "three[- ]quarters",
    "20 percent": "one[- ]fifth",
}
_COMPOUND_UNIT = re.compile(rf"\b(?:({')|('.join(_COMPOUNDS.values())}))\b", re.IGNORECASE)
_COMPOUND_UNITS = tuple(_COMPOUNDS)
_COMPOUND_SIGNS: tuple[str, ...] = _WORDS["compound_signs"]
_PHRASE_SIGNS: tuple[str, ...] = _WORDS["phrase_signs"]
_DIGIT = re.compile(r"\d")
_FIRST = re.compile(r"(?<=[a-z]) I(?= *(?:[.,;:!?)]|$|of\b|in\b|was\b|is\b|and\b|by\b))")
"""The roman numeral after a name or "War"; the pronoun comes before verbs of speaking."""
_YEAR_SPAN = re.compile(r"\b((?:1\d|20)\d\d) ?[-–—/] ?(\d\d)\b(?!\d|-)")
_NO_NAMES = frozenset(
    ["Maybe", "Perhaps", "Sorry", "And", "But", "So", "If", "As", "Can", "Do", "Am"]
)
# No possessive groups: in Python 3.11.2, which Debian 12 has, they swallow what failed to match.
_TOKEN = re.compile(
    r"\x00\d\.\d|\d++(?:[.,]\d++)*(?![.,]\d)(?:st|nd|rd|th|s)?(?![^\W\d_])|\d++(?:[.,]\d++)*"
    r"|[^\W\d_]+(?:['’](?:s|t|S|T|re|ve|ll|d|m)\b)?|[.!?;:,()/%$£€&\n|]"
)
_SLIM = str.maketrans(_WORDS["slim"])


def split(text: str) -> list[str]:
    """The words and marks of a text, in order, accents removed and letter case preserved.

    Short forms with dots become one word ("U.S." is "US"), citation digits glued to words go, and
    a line break is a mark of its own.

    >>> split("He was born in Zürich, U.S.12 in 1970.")
    ['He', 'was', 'born', 'in', 'Zurich', ',', 'US', '12', 'in', '1970', '.']
    """
    text = text[:LONGEST]
    if not text.isascii():
        text = unaccented(text.translate(_SLIM))
    if "null" in text:  # EVOUNA's file has "null" for every "nan" inside words
        text = _NULL.sub("nan", text)
    if "°" in text or "deg" in text or "º" in text:
        text = _DEGREES.sub(_degrees, text)
    has_digit = _DIGIT.search(text) is not None
    if has_digit:
        text = _LETTER_UNIT.sub(lambda m: f"{m[1]} {_LETTER_UNITS[m[2]]}", text)
    lower = text.lower()
    if any(sign in lower for sign in _COMPOUND_SIGNS):
        text = _COMPOUND_UNIT.sub(lambda m: _COMPOUND_UNITS[(m.lastindex or 1) - 1], text)
    if " I" in text:
        text = _FIRST.sub(_first, text)
    if has_digit:
        text = _CITATION.sub("", text)
        text = _YEAR_SPAN.sub(_whole_years, text)
    text = _GLUED.sub(r"\1 ", text)
    text = _DOTTED.sub(_undot, text)
    if any(sign in lower for sign in _PHRASE_SIGNS):
        text = _PHRASES.sub(_phrase, text)
    return _TOKEN.findall(text)


def _degrees(match: re.Match[str]) -> str:
    return _DEGREE_NAMES[(match.lastindex or 1) - 1]


def _first(match: re.Match[str]) -> str:
    """ "World War I" ends in the number one: the word before is a name."""
    before = match.string[: match.start()].rsplit(" ", 1)[-1]
    return f" {NUMBER_SIGN}1.0" if before[:1].isupper() and before not in _NO_NAMES else " I"


def _undot(match: re.Match[str]) -> str:
    """Letters with dots: one word, but apart where they are a person's initials before a name."""
    found = match.group()
    letters = found.replace(".", "").replace(" ", "")
    name_follows = found[-1] == " " and match.string[match.end() : match.end() + 1].isupper()
    apart = name_follows and letters.upper() not in _NOT_INITIALS
    return (" ".join(letters) if apart else letters) + (" " if found[-1] == " " else "")


def _whole_years(match: re.Match[str]) -> str:
    """ "1946-47" is 1946 and 1947."""
    first, last = match.groups()
    return f"{first} - {first[:2]}{last}" if int(last) > int(first[2:]) else match.group()


def _phrase(match: re.Match[str]) -> str:
    found = match.group().lower().strip()
    if found.startswith("united states"):
        return "USA"
    if found.startswith("washington"):
        return "Washington DC"
    return _PHRASE_FORMS[found]


_NUMBER_WORDS = (
    frozenset(numbers.CARDINAL_WORDS) | frozenset(numbers.SCALES) | frozenset(numbers.ORDINAL_WORDS)
)


def merged(words: list[str]) -> list[str]:
    """Words with the numbers that several of them form joined.

    A joined number is a word that begins with NUMBER_SIGN and continues with its value.

    >>> merged(["It", "has", "twenty", "five", "."])
    ['It', 'has', '\\x0025.0', '.']
    """
    if _NUMBER_WORDS.isdisjoint(map(str.lower, words)):
        return words
    out: list[str] = []
    place = 0
    for start, length, value in numbers.merge_runs(words):
        out += words[place:start]
        out.append(f"{NUMBER_SIGN}{value!r}")
        place = start + length
    return out + words[place:]


def folded(word: str) -> str:
    """A word as `split` writes it: without accents."""
    return word if word.isascii() else "".join(split(word))
