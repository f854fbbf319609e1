"""First and last lines or sentences that speak of the answering, and so are no part of an answer.

Talk is recognised by its words (`talk.toml`): all of them are words that answering is spoken of
with, some of them mark it, and there is no number. Lines of pages and services ("All rights
reserved", "Confidence: high"), sources at the end and the ends of letters are recognised by how
they begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markscheme.text.inflection import stem
from markscheme.text.lexicon import STOP
from markscheme.text.words import words_of

_LONGEST = 40
"""Words of a sentence of talk."""
_LEAST_UNSTOPPED = 4
"""Words of talk after an answer without a full stop: "in the film You Get Me" has none."""
_LAST_LINES = 12
_LONGEST_SIGNATURE = 60
_FARTHEST = 400
"""Characters from either end within which talk begins or ends."""

_TALK = words_of(__file__)
_LISTS = {name: frozenset(words.split()) for name, words in _TALK["words"].items()}
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_MARKS, _PERSONS, _ACTS, _LEADS = (_LISTS[name] for name in ("marks", "persons", "acts", "leads"))
_KNOWN = frozenset().union(*_LISTS.values(), STOP)


def _any(name: str) -> str:
    return "|".join(_TALK["patterns"][name])


OFFERS, WISHES = _any("offers"), _any("wishes")
"""How a closing question, and a closing wish, begin."""
_CLOSING = re.compile(rf"(?:(?:also|so),? )?(?:{OFFERS})[^?]*\?|(?:{WISHES})[^.!?]*[.!]?", re.I)
_HARMLESS = re.compile(_any("harmless"), re.IGNORECASE)
_GREETS = re.compile(rf"(?:{_any('greets')})\b[^\n]{{0,40}}[,.!:]$", re.IGNORECASE)
_SIGNS_OFF = re.compile(
    rf"(?:[a-z]+ ){{0,3}}(?:{_any('signs_off')})\b[^\n.?!:]{{0,40}}[,.!]?$|best,$", re.IGNORECASE
)
_SOURCES = re.compile(rf"[\W_]*(?:{_any('sources')})(?: [a-z]+)?[*_\s]*(?::.*)?", re.IGNORECASE)
_NOTE = re.compile(
    rf"[\W_]*(?:[a-z]+ ){{0,2}}(?:{_any('notes')})\b(?: [a-z]+)?[\s*_]*(?:[:#=]|\(?\d).*|"
    rf".*(?:{_any('page')}).*",
    re.IGNORECASE,
)
_BRACKET = r"[(\[][^()\[\]\n]*(?<!\w)(?:{})(?!\w)[^()\[\]\n]*[)\]]"
_ASIDE = _BRACKET.format(rf"{_any('notes')}|{_any('sources')}|{_any('asides')}")
_LAST_ASIDE = re.compile(rf"\s*{_ASIDE}(?P<stop>[.!]?)$", re.IGNORECASE)
_FIRST_ASIDE = re.compile(rf"{_ASIDE}:?\s+(?=\w)", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?…:。！？]+[\"”’*_)\]]*(?:\s+|(?<=[。！？]))")
_COMMA = re.compile(r",\s+(?=\S)")
_STARTS = "I|Would|Please|Let|Do|Is|Feel|Hope|You|If|Thanks?|Note|Can|Shall|Should|May|Happy|Glad"
_UNSTOPPED = re.compile(rf"\s+(?=(?:{_STARTS})\b)")
"""Where talk may begin after an answer without a full stop."""


def words(said: str) -> list[str]:
    """Words of letters, in lower case; "n't" is "not", but not in "don't hesitate".

    >>> words("It isn’t 12 km; don't hesitate")
    ['it', 'is', 'not', 'km', 'do']
    """
    plain = _HARMLESS.sub(" ", said.replace("’", "'"))
    return _WORD.findall(plain.lower().replace("n't", " not"))


def is_talk(said: str) -> bool:
    """Whether a line or sentence speaks of the answering, and of nothing else.

    >>> is_talk("Here is what I found:"), is_talk("I found it in Lima")
    (True, False)
    """
    spoken = words(said)
    if not 0 < len(spoken) <= _LONGEST or re.search(r"[\d{}<>|`]", said):
        return False
    forms = {*spoken, *map(stem, spoken)}
    acts = not forms.isdisjoint(_ACTS) and (spoken[0] in _LEADS or not forms.isdisjoint(_PERSONS))
    known = all(word in _KNOWN or stem(word) in _KNOWN for word in spoken)
    return known and (acts or not forms.isdisjoint(_MARKS))


def without_first(text: str) -> Iterator[str]:
    """What may be left of a text without a first line, bracket, sentence or clause of talk."""
    line, _, rest = text.partition("\n")
    line = line.strip()
    if rest and len(line) <= _FARTHEST and (_GREETS.match(line) or is_talk(line) or _is_note(line)):
        yield rest
    if found := _FIRST_ASIDE.match(text):
        yield text[found.end() :]
    ends = list(_SENTENCE.finditer(text, 0, _FARTHEST))
    for found in sorted(ends, key=lambda end: ":" in end[0])[:3]:
        if is_talk(text[: found.start()]):
            yield text[found.end() :]
    if found := _COMMA.search(text, 0, _FARTHEST):
        spoken = words(text[: found.start()])
        if spoken and spoken[0] in _LEADS and "ai" not in spoken and is_talk(" ".join(spoken)):
            yield text[found.end() :]


def without_sources(text: str) -> Iterator[str]:
    """What may be left of a text without sources at its end."""
    lines = text.split("\n")
    for place in range(max(1, len(lines) - _LAST_LINES), len(lines)):
        more = place < len(lines) - 1 or ":" in lines[place]
        if more and _SOURCES.fullmatch(lines[place].strip()):
            yield "\n".join(lines[:place])


def without_last(text: str) -> Iterator[str]:
    """What may be left of a text without a letter's end, or a last line or sentence of talk."""
    lines = text.split("\n")
    for place in range(max(1, len(lines) - _LAST_LINES), len(lines)):
        signature = "".join(lines[place + 1 :])
        if len(signature) <= _LONGEST_SIGNATURE and _SIGNS_OFF.match(lines[place].strip()):
            yield "\n".join(lines[:place])
    if len(lines) > 1 and (_closes(lines[-1].strip()) or _is_note(lines[-1].strip())):
        yield "\n".join(lines[:-1])
    if found := _LAST_ASIDE.search(text, max(0, len(text) - _FARTHEST)):
        yield text[: found.start()] + found["stop"]
    for pattern, least in ((_SENTENCE, 1), (_UNSTOPPED, _LEAST_UNSTOPPED)):
        for found in pattern.finditer(text, max(0, len(text) - _FARTHEST)):
            said = text[found.end() :]
            if ":" not in found[0] and len(words(said)) >= least and _closes(said):
                yield text[: found.end()]


def _closes(said: str) -> bool:
    return bool(_CLOSING.fullmatch(said)) or is_talk(said)


def _is_note(line: str) -> bool:
    return len(line) <= 200 and bool(_NOTE.fullmatch(line))


HINTS = rf"(?i)^(?:{'|'.join(sorted(_LEADS))})\b.*,|\s(?-i:{_STARTS})\b"
"""What talk within one sentence has."""
TALKS = rf"(?i)\b(?:{'|'.join(sorted(_PERSONS))})\b|\b(?:{'|'.join(sorted(_MARKS | _LEADS))})"
"""What a sentence of talk has."""
