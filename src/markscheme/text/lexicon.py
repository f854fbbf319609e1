"""Words of texts as numbers: one lexicon for all that compares answers.

A text becomes a row of word ids; whatever is known of a word (its stem, whether it is a number, a
capitalised name, a hedge) is worked out once per different word and stored
in the lexicon, so that columns of texts are compared with array operations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.text import cues, inflection, numbers
from markscheme.text.tokens import NUMBER_SIGN, merged, split
from markscheme.text.words import by_word, words_of

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

_WORDS = words_of(__file__)
QUESTION_WORDS = frozenset("who whom whose what which when where why how".split())
STOP = QUESTION_WORDS.union(_WORDS["function_words"].split())
"""Function words: they carry no answer by themselves."""

_SAME_WORD = by_word(_WORDS["same_word"])
"""Short forms and symbols that say the same as a longer word."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the lexicon knows of its words, as arrays over word ids.

    `canon` is the id shared by words that say the same (case, accents, plural, number words);
    `kind` bits as below.
    """

    canon: Ints
    kind: Ints


MARK, STOPWORD, CAPITAL, NUMBER, HEDGE = (1 << bit for bit in range(5))


class Lexicon:
    """Every different word seen, numbered from 0, with what is known of each."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._canon_ids: dict[str, int] = {}
        self.words: list[str] = []
        self.canon_words: list[str] = []
        self._canon: list[int] = []
        self._kind: list[int] = []

    def __len__(self) -> int:
        return len(self.words)

    def ids(self, words: Iterable[str]) -> list[int]:
        """Ids of words, new ones added."""
        known = self._ids
        return [known[word] if word in known else self._add(word) for word in words]

    def canon_id(self, canon: str) -> int:
        """The id of a canonical form, -1 if no word seen has it."""
        return self._canon_ids.get(canon, -1)

    def known(self) -> Known:
        """The lexicon's knowledge, as arrays."""
        return Known(
            canon=np.array(self._canon, dtype=np.int32),
            kind=np.array(self._kind, dtype=np.int32),
        )

    def _add(self, word: str) -> int:
        number = self._ids[word] = len(self.words)
        self.words.append(word)
        canon, _, kind = describe(word)
        place = self._canon_ids.get(canon)
        if place is None:
            place = self._canon_ids[canon] = len(self.canon_words)
            self.canon_words.append(canon)
        self._canon.append(place)
        self._kind.append(kind)
        return number


def describe(word: str) -> tuple[str, float, int]:
    """Canonical form, number value (NaN: none) and kind bits of one word."""
    if word.startswith(NUMBER_SIGN):  # several words that form one number
        joined = float(word[1:])
        return number_form(joined), joined, NUMBER
    if len(word) == 1 and not word.isalnum() and word not in "%$£€&":
        return word, float("nan"), MARK
    lower = word.lower().replace("'", "")
    if word[-2:] in ("'s", "'S"):
        lower = word[:-2].lower()
    kind = HEDGE if lower in cues.HEDGES else 0
    month = numbers.month_of(word)
    if month is not None:
        return f"@{month}", float("nan"), kind
    decade = numbers.decade_of(word)
    if decade is not None:
        return f"{decade}s", float(decade), kind | NUMBER
    amount = numbers.word_value(word)
    if amount is not None:
        figures = word.replace(",", "")
        exact = len(figures) > _FLOAT_FIGURES and figures.isdecimal()
        return f"#{figures}" if exact else number_form(amount), amount, kind | NUMBER
    if lower in STOP:
        kind |= STOPWORD
        return _SAME_WORD.get(lower, lower), float("nan"), kind
    if word[:1].isupper():
        kind |= CAPITAL
    if word == "us":  # the pronoun; "US" is the country
        return "us (pronoun)", float("nan"), kind | STOPWORD
    return inflection.stem(_SAME_WORD.get(lower, lower)), float("nan"), kind


_FLOAT_FIGURES = 15
"""Figures that every float holds; a longer run of digits is its own canonical word."""


def number_form(value: float) -> str:
    """The canonical word of a number: all of its figures, since another figure is another number.

    >>> number_form(4.0), number_form(2.5), number_form(3e6), number_form(12345678.0)
    ('#4', '#2.5', '#3e+06', '#12345678')
    """
    exact = f"{value:.{_FLOAT_FIGURES}g}"
    short = f"{value:.6g}" if value < 1e6 else f"{value:.4g}"  # as the trained rarities have it
    return f"#{short if float(short) == float(exact) else exact}"


@dataclass(frozen=True, slots=True)
class Texts:
    """Different texts as flat arrays: text i has words `start[i]` to `start[i + 1]`.

    `word` are lexicon ids without marks.
    """

    start: Longs
    word: Ints

    @property
    def count(self) -> Longs:
        """Words of each text."""
        return np.diff(self.start)


def encode(texts: Iterable[str], lexicon: Lexicon) -> Texts:
    """Texts as word ids; new words join the lexicon."""
    flat: list[int] = []
    ends: list[int] = []
    for text in texts:
        flat += lexicon.ids(merged(split(text)))
        ends.append(len(flat))
    word = np.array(flat, dtype=np.int32)
    keep = (lexicon.known().kind[word] & MARK) == 0
    kept_before = np.concatenate([[0], np.cumsum(keep)])
    start = kept_before[np.array([0, *ends], dtype=np.int64)].astype(np.int64)
    return Texts(start=start, word=word[keep])


# --- Numbers in order: which of them there are, and runs of places among them ---------------------


def contains(ordered: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether each of `wanted` is in a sorted array, which may be empty.

    >>> contains(np.array([2, 3, 5]), np.array([5, 4])).tolist()
    [True, False]
    """
    if not len(ordered):
        return np.zeros(len(wanted), dtype=bool)
    place = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
    return np.asarray(ordered[place] == wanted)


def runs(low: npt.NDArray[Any], counts: npt.NDArray[Any]) -> tuple[Longs, Longs]:
    """Every place of runs that begin at `low` and have so many places: (which run, place), by run.

    >>> [part.tolist() for part in runs(np.array([7, 2]), np.array([1, 3]))]
    [[0, 1, 1, 1], [7, 2, 3, 4]]
    """
    owner = np.repeat(np.arange(len(low)), counts)
    before = np.cumsum(counts) - counts
    return owner, np.arange(len(owner)) - np.repeat(before, counts) + np.repeat(low, counts)
