"""An answer as its claims: the sentences, clauses and list items that can be right or wrong alone.

Splitting is careful: abbreviations, initials, decimals and dotted short forms do not end a
sentence, a clause is split off only where it has a subject and a verb of its own, and the items of
a bulleted or numbered list get the line that introduces them. The claims are pieces of the answer,
word for word, but for the introductions of lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from markscheme.text.sentence_forms import FUNCTION, is_sentence, words

MOST = 60
"""Claims of one answer; what comes after is one claim more."""

LONGEST = 20_000
"""Characters of an answer that are read."""

_ABBREVIATIONS = words("""
mr mrs ms dr prof st jr sr vs no nos vol fig gen lt col sgt capt rev hon gov sen rep pres mt ft etc
inc ltd co corp dept est approx ca c cf al eg ie e.g i.e a.k.a jan feb mar apr jun jul aug sep sept
oct nov dec p pp ed eds op ph.d b.a m.a u.s u.k d.c a.m p.m viz
""")
_MAY_END = words("etc inc ltd co corp jr sr u.s u.k d.c a.m p.m ph.d b.a m.a al")
"""Abbreviations that may also be a sentence's last word."""

_STOP = re.compile(r"(?<=\S)\s?([.!?…]+)([\"'”’)\]]*)(?=\s|$)|(?<=[a-z]{3})([.!?])(?=[A-Z][a-z])")
_ITEM = re.compile(r"^\s*(?:[-*•–·▪◦‣]|\(?\d{1,3}[.):](?=\s)|\(?[a-z][.)](?=\s))\s*")
_RUN_IN = re.compile(r"(?:^|(?<=[:.;,\s]))\s*\(?(\d{1,2})[.)]\s+(?=\S)")
_CONJUNCTION = re.compile(r",?\s+(?:and|but|while|whereas|although|though)\s+|;\s+(?:and\s+)?")
_PRONOUN = re.compile(r"^(?:it|he|she|they|we|i|there|this)\s", re.IGNORECASE)
_NOUN = re.compile(r"^(?:(?:this|that|these|those|its|his|her|their|the|a|an)\s|[A-Z])")
_JOINS_NAMES = re.compile(
    r"\b(?:between|both|either|neither|from)\s(?:\S+\s){0,5}\S*$|"
    r"\b(?:that|he|she|it|they|him|her|them|who|which|of|by|with|for|in|to)$",
    re.IGNORECASE,
)
"""Before "and": what makes it join two names rather than two clauses."""
_OPENS_CLAUSE = re.compile(r"\b(?:that|who|which|whether|if|when|where|how)\s", re.IGNORECASE)
_YEAR = re.compile(r"(?:1\d|20)\d\d$")
_SUBJECT_WORDS = 7
"""Within so many words of its beginning a clause must have its verb."""

_LINKS = words("is are was were be include includes included called named")
_CONDITION = re.compile(r"^(?:if|when|because|since|although|though|while|unless|whereas)\b", re.I)


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: its text, the sentence of the answer it is from (from 0), and whether a fragment.

    A fragment is no sentence: a name, a number, an item of a list. It speaks only together with the
    question.
    """

    text: str
    sentence: int
    fragment: bool


def claims(answer: str) -> list[Claim]:
    """The claims of an answer, in order; none of an empty one. Questions it asks back are left out.

    >>> [one.text for one in claims("Dr. No came out in 1962. It cost $1.1 million, and it won.")]
    ['Dr. No came out in 1962.', 'It cost $1.1 million', 'it won.']
    """
    found: list[Claim] = []
    for number, text in enumerate(_units(answer[:LONGEST])):
        if text.endswith("?") and len(text.split()) > 1:
            continue
        for part in _clauses(text):
            found.append(Claim(text=part, sentence=number, fragment=not is_sentence(part)))
    if len(found) > MOST:
        rest = " ".join(one.text for one in found[MOST:])
        found[MOST:] = [Claim(text=rest, sentence=found[MOST].sentence, fragment=False)]
    return found


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
        return low in _MAY_END and opening.isupper() and following in FUNCTION
    initial = len(word) == 1 and word.isupper()
    return not (initial and word != "I")


def _units(answer: str) -> Iterator[str]:
    """Sentences and list items, an item with the line that introduces its list."""
    lead = ""
    for line in answer.splitlines():
        text = line.strip()
        if not text:
            continue
        item = _ITEM.match(text)
        if item and item.end() < len(text):
            for place, sentence in enumerate(sentences(text[item.end() :])):
                yield _introduced(lead, sentence) if not place else sentence
            continue
        lead = ""
        inline = _run_in(text)
        if inline:
            head, items = inline
            yield from sentences(head)[:-1]
            lead = (sentences(head) or [""])[-1]
            for one in items:
                yield _introduced(lead, one)
            lead = ""
            continue
        found = sentences(text)
        if found and found[-1].endswith(":"):
            lead = found.pop()
        yield from found


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


def _introduced(lead: str, item: str) -> str:
    """An item with its introduction: "The parts are:" and "a wing" make "The parts are a wing"."""
    head = lead.rstrip(": ").removesuffix("as follows").removesuffix("the following").rstrip(" ,")
    if not head or is_sentence(item) or not is_sentence(f"{head} something."):
        return item
    return f"{head} {item}" if head.split()[-1].lower() in _LINKS else f"{head}: {item}"


def _clauses(sentence: str) -> list[str]:
    """A sentence's coordinated clauses, each with a subject and a verb of its own."""
    if _CONDITION.match(sentence) or sentence.startswith(('"', "“")):
        return [sentence]
    parts: list[str] = []
    start = 0
    for found in _CONJUNCTION.finditer(sentence):
        before, after = sentence[start : found.start()], sentence[found.end() :]
        if _in_quotes(sentence[: found.start()]):
            continue
        if _is_clause(before) and not _joins_names(before) and _starts_clause(after):
            parts.append(before.strip(" ,;"))
            start = found.end()
    parts.append(sentence[start:].strip())
    return parts


def _joins_names(before: str) -> bool:
    """Whether the conjunction after `before` joins two names: "between A and", "that A and"."""
    if _JOINS_NAMES.search(before):
        return True
    openings = list(_OPENS_CLAUSE.finditer(before))
    if not openings:
        return False
    inner = before[openings[-1].end() :]
    return not (_is_clause(inner) or _is_clause(f"It {inner}"))


def _starts_clause(after: str) -> bool:
    """Whether what follows a conjunction has a subject and, soon after, a verb of its own."""
    if not (_PRONOUN.match(after) or _NOUN.match(after)):
        return False
    found = _CONJUNCTION.search(after)
    clause = after if found is None else after[: found.start()]
    if _PRONOUN.match(after):
        return _is_clause(f"so {clause}")
    early = " ".join(re.split(r"[,;(]", clause)[0].split()[:_SUBJECT_WORDS])
    return _is_clause(clause) and _is_clause(early)


def _is_clause(clause: str) -> bool:
    return len(clause.split()) > 2 and is_sentence(f"{clause.rstrip('.!?;, ')}.")


def _in_quotes(before: str) -> bool:
    return before.count('"') % 2 == 1 or before.count("“") > before.count("”") or (
        before.count("(") > before.count(")")
    )  # fmt: skip
