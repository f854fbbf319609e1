"""Which words of its best reference an answer has, in a sentence that is literally true."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from markscheme.features import without_asides
from markscheme.features.alignment import FeatureView
from markscheme.text import NUMBER_SIGN, STOP, STOPWORD, WORD, unaccented

Speaks = Literal["for", "against", "a part"]
"""What a finding speaks for: accepting the answer, rejecting it, or either, as a part may."""

_READ_AS = ", or what is read as the same,"
_ALIKE = 0.9
"""Jaro-Winkler likeness from which two words are called much alike."""
_ARTICLES = frozenset(["a", "an", "the"])
_ENCLOSING = str.maketrans(dict.fromkeys('()[]{}*"“”', " "))
_QUOTED = 60
_LISTED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedWords:
    """What an answer has of its best reference, word by word.

    Words are the reference's as they are compared: without accents, numbers of several words as
    one. Articles are left out, but of a reference that is nothing else.

    Attributes:
        reference, answer, question: the texts.
        contained: the reference's words are side by side in the answer, in these or other forms;
            `packed`: so they are once spaces are taken out.
        alike: each key word is in the answer, or a word that is spelled much like it.
        found, missing: content words that the answer has; key words that it lacks.
        small, lacking: function words that it has; those that neither it nor the question has.
        asked: words of the reference are in the question and not in the answer.
    """

    reference: str
    answer: str
    question: str
    contained: bool
    packed: bool
    alike: bool
    found: Sequence[str]
    missing: Sequence[str]
    small: Sequence[str]
    lacking: Sequence[str]
    asked: bool

    def finding(self, *, right: bool, spoke: bool) -> tuple[str, Speaks]:
        """The sentence, and what it speaks for.

        No word is called one of the answer that is not there: what is only read as the same, such
        as another form of a word or number, is called so.

        Args:
            right: the answer is accepted.
            spoke: it spoke to the marker, which was removed from `answer`.
        """
        text = f"the reference {quote(self.reference)}"
        said, part, whole = _spelled(self.answer), "", ""
        if self.contained or self.packed:
            part, whole = _plain(self.reference), _plain(self.answer)
        if part == whole != "":
            return f"the answer is {text}", "for"
        if not said:
            empty = f"the answer {'has no words' if self.answer.strip() else 'is empty'}"
            return "nothing else is in the answer" if spoke else empty, "against"
        if self.contained:
            read = "" if f" {part} " in f" {whole} " else _READ_AS.rstrip(",")
            return f"the answer contains {text}{read}", "for"
        if self.packed and part.replace(" ", "") in whole.replace(" ", ""):
            return f"the answer has the characters of {text} in a row", "for"
        if not self.missing:
            where = "the answer or the question" if self.asked else "the answer"
            but = f", but for {_listed(self.lacking)}" if self.lacking else ""
            there = said | _lower(self.lacking) | (_spelled(self.question) if self.asked else set())
            read = "" if _spelled(self.reference) - _ARTICLES <= there else _READ_AS
            return f"the words of {text}{read} are in {where}{but}", "for"
        if right and self.alike:
            return f"it has the words of {text} or words spelled much like them", "for"
        if self.found:
            read = "" if _lower(self.found) <= said else _READ_AS
            has, lacks = _listed(self.found), _listed(self.missing)
            return f"of {text} it has {has}{read} but not {lacks}", "a part"
        if self.small:
            small = _listed(self.small)
            return f"only small words of {text}, such as {small}, are in the answer", "against"
        return f"no word of {text} is in the answer", "against"


def shared_words(
    view: FeatureView,
    *,
    contained: Iterable[bool],
    packed: Iterable[bool],
    weakest: Iterable[float],
) -> Iterator[SharedWords]:
    """The words in common of every row.

    Args:
        view: the alignment.
        contained, packed: see `SharedWords`.
        weakest: likeness of the key word that is matched worst, from 0 to 1.
    """
    batch, known = view.batch, view.batch.lexicon.words
    asked = view.aligned.in_texts.within(batch.question[view.r_row], batch.canon[view.r_place])
    content = (batch.kind[view.r_place] & STOPWORD) == 0
    shown = [_shown(known[word]) for word in batch.texts.word[view.r_place].tolist()]
    flags = (view.r_key, view.r_hit, asked, content)
    words = zip(shown, *(one.tolist() for one in flags), strict=True)
    texts = (
        [batch.raw[text] for text in places.tolist()]
        for places in (view.reference, batch.answer, batch.question)
    )
    rows = zip(*texts, view.r_length.tolist(), contained, packed, weakest, strict=True)
    for reference, answer, question, count, within, tight, worst in rows:
        said = _spelled(answer)
        mine = [
            (word, key, hit or word.lower() in said, there, key or means)
            for word, key, hit, there, means in itertools.islice(words, count)
            if key or word.lower() not in _ARTICLES
        ]
        # Words of a number that is compared as one: "million" of "3.2 million".
        inside = (_spelled(reference) & said) - STOP - _lower(word for word, *_ in mine)
        yield SharedWords(
            reference=reference,
            answer=answer,
            question=question,
            contained=within,
            packed=tight,
            alike=worst >= _ALIKE,
            found=[
                *(word for word, _, hit, _, means in mine if hit and means),
                *sorted(word for word in inside if word[0].isdigit() or word[1:].isalpha()),
            ],
            missing=[word for word, key, hit, _, _ in mine if key and not hit],
            small=[word for word, _, hit, _, means in mine if hit and not means],
            lacking=[word for word, key, hit, there, _ in mine if not (key or hit or there)],
            asked=any(there and not (key or hit) for _, key, hit, there, _ in mine),
        )


def quote(text: str) -> str:
    """A text in a line, quoted, the end of a long one left out."""
    plain = " ".join(text.split())
    return f"'{plain if len(plain) <= _QUOTED else plain[: _QUOTED - 1] + '…'}'"


def _plain(text: str) -> str:
    return without_asides(unaccented(text).translate(_ENCLOSING))


@lru_cache(4_096)
def _spelled(text: str) -> frozenset[str]:
    """The different words of a text, as they are spelled but for case and accents."""
    return frozenset(WORD.findall(unaccented(text.lower())))


def _lower(words: Iterable[str]) -> set[str]:
    return {word.lower() for word in words}


def _shown(word: str) -> str:
    """A word of the lexicon, or the number that several words form."""
    return f"{float(word[1:]):,.12g}" if word.startswith(NUMBER_SIGN) else word


def _listed(words: Iterable[str]) -> str:
    """The first different words, quoted."""
    return f"'{' '.join(list(dict.fromkeys(words))[:_LISTED])}'"
