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
from itertools import islice

from markscheme.text import sentences
from markscheme_research.statements.sentence_forms import is_sentence, words

_LONGEST = 20_000
"""Characters of an answer that are read."""
MOST = 60
"""Claims of one answer; what comes after is one claim more."""
_MOST_CONJUNCTIONS = 200
"""Conjunctions of one sentence at which it may be split: each is weighed against all before it."""

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


def pieces(answer: str) -> Iterator[tuple[str, str]]:
    """Each sentence or list item of an answer, with the line that introduces its list or "".

    >>> list(pieces("It has two parts:\\n- a wing\\n- a tail"))
    [('It has two parts:', 'a wing'), ('It has two parts:', 'a tail')]
    """
    lead = ""
    for line in answer[:_LONGEST].splitlines():
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


def claims(answer: str) -> list[Claim]:
    """The claims of an answer, in order; none of an empty one. Questions it asks back are left out.

    >>> [one.text for one in claims("Dr. No came out in 1962. It cost $1.1 million, and it won.")]
    ['Dr. No came out in 1962.', 'It cost $1.1 million', 'it won.']
    """
    found: list[Claim] = []
    for number, (lead, piece) in enumerate(pieces(answer)):
        text = _introduced(lead, piece)
        if text.endswith("?") and len(text.split()) > 1:
            continue
        for part in _clauses(text):
            found.append(Claim(text=part, sentence=number, fragment=not is_sentence(part)))
    if len(found) > MOST:
        rest = " ".join(one.text for one in found[MOST:])
        found[MOST:] = [Claim(text=rest, sentence=found[MOST].sentence, fragment=False)]
    return found


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
    for found in islice(_CONJUNCTION.finditer(sentence), _MOST_CONJUNCTIONS):
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
