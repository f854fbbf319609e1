"""An answer as its sentences and list items.

Abbreviations, initials, decimals and dotted short forms do not end a sentence; the items of a
bulleted or numbered list come with the line that introduces them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markscheme.text.lexicon import STOP

LONGEST = 20_000
"""Characters of an answer that are read."""

_DOTTED = """
mr mrs ms dr prof st jr sr vs no nos vol fig gen lt col sgt capt rev hon gov sen rep pres mt ft etc
inc ltd co corp dept est approx ca c cf al eg ie e.g i.e a.k.a jan feb mar apr jun jul aug sep sept
oct nov dec p pp ed eds op ph.d b.a m.a u.s u.k d.c a.m p.m viz
"""
_MAY_END_DOTTED = "etc inc ltd co corp jr sr u.s u.k d.c a.m p.m ph.d b.a m.a al"
_ABBREVIATIONS, _MAY_END = frozenset(_DOTTED.split()), frozenset(_MAY_END_DOTTED.split())
"""`_MAY_END`: abbreviations that may also be a sentence's last word."""

SENTENCE_BREAK = re.compile(r"(?<=[.!?])\s+|\n+")
"""Where a sentence ends at the latest, for what looks at parts of any text; see `sentences`."""
_STOP = re.compile(r"(?<=\S)\s?([.!?…]+)([\"'”’)\]]*)(?=\s|$)|(?<=[a-z]{3})([.!?])(?=[A-Z][a-z])")
_ITEM = re.compile(r"^\s*(?:[-*•–·▪◦‣]|\(?\d{1,3}[.):](?=\s)|\(?[a-z][.)](?=\s))\s*")
_RUN_IN = re.compile(r"(?:^|(?<=[:.;,\s]))\s*\(?(\d{1,2})[.)]\s+(?=\S)")
_YEAR = re.compile(r"(?:1\d|20)\d\d$")


def pieces(answer: str) -> Iterator[tuple[str, str]]:
    """Each sentence or list item of an answer, with the line that introduces its list or "".

    >>> list(pieces("It has two parts:\\n- a wing\\n- a tail"))
    [('It has two parts:', 'a wing'), ('It has two parts:', 'a tail')]
    """
    lead = ""
    for line in answer[:LONGEST].splitlines():
        text = line.strip()
        if not text:
            continue
        item = _ITEM.match(text)
        if item and item.end() < len(text):
            for number, sentence in enumerate(sentences(text[item.end() :])):
                yield ("" if number else lead), sentence
            continue
        lead = ""
        inline = _run_in(text)
        if inline:
            head, items = inline
            *before, lead = sentences(head) or [""]
            yield from (("", sentence) for sentence in before)
            yield from ((lead, one) for one in items)
            lead = ""
            continue
        found = sentences(text)
        if found and found[-1].endswith(":"):
            lead = found.pop()
        yield from (("", sentence) for sentence in found)


def _run_in(text: str) -> tuple[str, list[str]] | None:
    """A list written in one line: "There are two: 1. ... 2. ..."; None if it is none."""
    marks = list(_RUN_IN.finditer(text))
    numbers = [int(one.group(1)) for one in marks]
    if len(marks) < 2 or numbers != list(range(1, len(numbers) + 1)):
        return None
    if text[: marks[0].start()].rstrip()[-1:] not in ("", ":"):
        return None  # Sentences that end in the numbers of sources.
    ends = [one.start() for one in marks[1:]] + [len(text)]
    items = [text[one.end() : end].strip(" ,;") for one, end in zip(marks, ends, strict=True)]
    return text[: marks[0].start()], [one for one in items if one]


def sentences(text: str) -> list[str]:
    """The sentences of one paragraph.

    >>> sentences("J. R. R. Tolkien wrote it . It sold 3.5 million, e.g. in the U.S. alone.")
    ['J. R. R. Tolkien wrote it .', 'It sold 3.5 million, e.g. in the U.S. alone.']
    """
    found = []
    start = 0
    for stop in _STOP.finditer(text):
        piece = text[start : stop.end()]
        if piece.count("(") <= piece.count(")") and _ends(text, stop):
            found.append(piece.strip())
            start = stop.end()
    found.append(text[start:].strip())
    found = [one.lstrip("”’ ") for one in found]
    return [one for one in found if any(sign.isalnum() for sign in one)]


def _ends(text: str, stop: re.Match[str]) -> bool:
    """Whether a stop ends a sentence."""
    rest = text[stop.end() :].lstrip()
    if not rest:
        return True
    if rest[0] in '"”’' and rest[1:].lstrip()[:1].islower():  # a question that is quoted
        return False
    if "." not in stop.group() or "…" in stop.group():
        return rest[:1].isupper() or not rest[:1].isalpha()
    if stop.group(3):
        return True
    opening = rest.lstrip("\"'“‘([")[:1]
    if not (opening.isupper() or opening.isdigit() or not opening.isalpha()):
        return False
    before = text[: stop.start(1)].rstrip()
    word = before.rsplit(None, 1)[-1].lstrip("(\"'“") if before else ""
    if word[-1:].isdigit() and opening.isdigit() and not _YEAR.search(word):
        return False  # "$2. 2 billion"
    low = word.lower()
    if low in _ABBREVIATIONS:
        following = rest.split(None, 1)[0].lower()
        return low in _MAY_END and opening.isupper() and following in STOP
    initial = len(word) == 1 and word.isupper()
    return not (initial and word != "I")


# --- Whether an answer is a sentence at all -------------------------------------------------------


_FINITE = re.compile(
    r"\s(?:is|are|was|were|has|had|have|did|does|do|can|could|will|would|may|might|must|should|"
    r"\w+n['’]t|(?:it|he|she|that|there)['’]s|i['’]m|they['’]re)\b",
    re.IGNORECASE,
)
_READ = 80
"""Words of an answer that show whether it is a sentence."""
_FEW = 4
"""Words with a full stop that may be a name all the same: "Gianluigi Buffon of Italy."."""


def reads_as_sentence(answer: str) -> bool:
    """Whether an answer is a sentence, as far as full stops, auxiliary verbs and capitals show it.

    >>> [reads_as_sentence(text) for text in ("It is in Rome", "Rome, in Italy.", "Ann of Rome")]
    [True, False, False]
    """
    words = answer.split()[:_READ]
    if len(words) < 3:
        return False
    verb = _FINITE.search(" ".join(words))
    if verb is not None and verb.group().islower():
        return True
    ended = answer.rstrip("\"'”’)]").endswith((".", "!", "?"))
    long = [word for word in words if len(word) > 3 and word[0].isalpha()]
    capitals = sum(word[0].isupper() for word in long)
    if not ended and len(words) < 10 and long and capitals >= 0.75 * len(long):
        return False  # a title
    return (ended and len(words) > _FEW) or verb is not None
