"""A text as its sentences.

Abbreviations, initials, decimals and dotted short forms do not end a sentence.
"""

from __future__ import annotations

import re

from markscheme.text.lexicon import STOP

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
_YEAR = re.compile(r"(?:1\d|20)\d\d$")


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
