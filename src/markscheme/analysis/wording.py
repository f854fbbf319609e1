"""A text as what is compared: its words, names, numbers, amounts and dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from markscheme.text import (
    CAPITAL,
    MARK,
    NUMBER,
    STOPWORD,
    SUFFIXES,
    TITLES,
    describe,
    merged,
    normalise,
    split,
    unaccented,
)
from markscheme.values import Date, Value, numbers_of, parse_values

_GAP = re.compile(r"[\W_]+")
_APART = re.compile(r"(?<=\d) ?\. ?(?=\d+\b(?! [a-z]+ [a-z]+ [a-z]))")
"""A decimal point with spaces about it, as tokenised predictions have it."""

_NOT_OF_NAMES = TITLES | SUFFIXES | frozenset(["the", "of", "de", "von", "and"])


@dataclass(frozen=True, kw_only=True)
class Wording:
    """What a text says, word by word.

    Attributes:
        text: unchanged.
        read: the text as it was meant: encoding and decimal points put right.
        plain: SQuAD-normalised words without accents, in order.
        pieces: lower-case runs of letters and digits, in order: "s-block" is two.
        content: canonical forms (stems, numbers as numbers) of words that are not function words.
        capitals: canonical forms of words written with a capital.
        numbers: values of its numbers in all of their readings, years and days included.
        values: its typed values.
        names: lower-case pieces without titles, suffixes and function words.
        written: canonical forms but of numbers, with the first word of each as in the text.
    """

    text: str
    read: str
    plain: tuple[str, ...]
    pieces: tuple[str, ...]
    content: tuple[str, ...]
    capitals: frozenset[str]
    numbers: frozenset[float]
    values: tuple[Value, ...]
    names: tuple[str, ...]
    written: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def words(self) -> frozenset[str]:
        """Its different content words."""
        return frozenset(self.content)

    def spelled(self, word: str) -> str:
        """The word of a canonical form as the text has it; a number as a number."""
        return self.written.get(word) or word.lstrip("#@")

    @property
    def dates(self) -> tuple[Date, ...]:
        """Its dates, years, decades and centuries."""
        return tuple(value for value in self.values if isinstance(value, Date))


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One answer and one reference, in the light of their question."""

    question: str
    reference: Wording
    answer: Wording
    references: tuple[Wording, ...] = ()
    sentence: bool = False


def repaired(text: str) -> str:
    """The text, UTF-8 that was once read as cp1252 ("DÃ¡in") and "3. 97" put right."""
    if any(mark in text for mark in "ÃÂâ"):
        try:
            text = text.encode("cp1252").decode("utf-8")
        except UnicodeError:
            text = text.replace("Â", "")
    return _APART.sub(".", text)


@lru_cache(maxsize=20_000)
def wording(text: str) -> Wording:
    """Read a text."""
    read = repaired(text)
    plain_text = unaccented(read)
    spoken = merged(split(plain_text))
    known = [describe(word) for word in spoken]
    # Reversed, so that the first of several words with one canonical form is the one that stays.
    written = {
        entry[0]: word
        for entry, word in reversed([*zip(known, spoken, strict=True)])
        if not entry[2] & NUMBER
    }
    known = [entry for entry in known if not entry[2] & MARK]
    pieces = tuple(_GAP.sub(" ", plain_text).lower().split())
    return Wording(
        text=text,
        read=read,
        plain=tuple(normalise(plain_text).split()),
        pieces=pieces,
        content=tuple(canon for canon, _, kind in known if not kind & STOPWORD),
        capitals=frozenset(canon for canon, _, kind in known if kind & CAPITAL),
        numbers=frozenset(numbers_of(read)),
        values=tuple(parse_values(read)),
        names=tuple(piece for piece in pieces if piece not in _NOT_OF_NAMES),
        written=written,
    )


def named(said: Wording) -> frozenset[str]:
    """Words with a capital; none where of several words only the first has one, as a sentence's.

    >>> sorted(named(wording("It was Jane Austen"))), named(wording("No charge"))
    (['austen', 'jane'], frozenset())
    """
    later = said.text.split()[1:]
    if later and not any(word[:1].isupper() for word in later):
        return frozenset()
    return said.capitals


def in_common(said: Wording, references: Iterable[Wording], *, of: str = "a reference") -> str:
    """Which content words of references an answer has: the first three, or that it has none.

    >>> in_common(wording("vitamin K"), [wording("vitamin D")])
    "of a reference it has 'vitamin'"
    """
    shared = said.words & frozenset().union(*(one.words for one in references))
    words = ", ".join(repr(said.spelled(word)) for word in sorted(shared)[:3])
    return f"of {of} it has {words}" if shared else f"nothing of {of} is in it"


def stands_in(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Whether the words `part` are adjacent in `whole`.

    >>> stands_in(("of", "luke"), ("gospel", "of", "luke"))
    True
    """
    return bool(part) and any(
        whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1)
    )


def spelled_in(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Whether pieces of `whole`, side by side, spell what `part` spells, however both are cut up.

    >>> spelled_in(("s", "block"), ("the", "sblock"))
    True
    """
    wanted = "".join(part)
    if not wanted:
        return False
    for start in range(len(whole)):
        said = ""
        for piece in whole[start:]:
            said += piece
            if said == wanted:
                return True
            if not wanted.startswith(said):
                break
    return False
