# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Numbers in words of eleven other languages: "vierundzwanzig", "anderthalb", "tres cuartos".

Whole numbers are `number_words.json`, which `scripts/make_number_words.py` writes with num2words;
halves and parts, which it does not spell, are in `words.toml`. They are read only in texts that
are not English, where "dos" is two and "once" eleven.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from markscheme.text import LETTERS, numbers_by_word, words_of
from markscheme.values.units import read_unit

ScaleAt = Callable[[str, int], tuple[float, int] | None]


class Spelled(NamedTuple):
    """A number in words: its span, its value, and whether it is a part or has one."""

    start: int
    end: int
    value: float
    fraction: bool = False


_TABLES = words_of(__file__, "words")
_ALSO = numbers_by_word(_TABLES["also"])
"""Forms of gender and case that are common and not in the file."""
_MIXED = numbers_by_word(_TABLES["mixed"])
_HALF, _HALVES, _ONE = (
    frozenset(_TABLES["sets"][name].split()) for name in ("half", "halves", "one")
)
_PARTS = numbers_by_word(_TABLES["parts"])
_PORTUGUESE = re.compile(r"\b(?:os?|das?|n[ao]s?|em|uma?|são|não|e|por|pel[ao]s?)\b", re.IGNORECASE)
_AND_HALF = re.compile(
    r"\s+(?:y\s+medi[ao]|e\s+mezz[ao]|e\s+mei[ao]|et\s+demie?|e\s+mezzo|en\s+een\s+half|buçuk|с\s+половиной|i\s+pół)\b",
    re.IGNORECASE,
)
_OF = re.compile(
    r"\s+(?:d[ei]|d'|von|van|della?|do|da)\s+(?:un[ao']?|uma?|einer?|een|una)?\s*|\s+d'",
    re.IGNORECASE,
)
_ALL_BUT = re.compile(
    r"\b(?:tod[ao]s menos|salvo|excepto|exceto|sauf|tranne|meno|bis auf|außer|op|eksi)\s+$",
    re.IGNORECASE,
)
_ONE_IN = re.compile(
    r"(?:\s+[^\W\d_]+)?\s+(?:sur|su|de cada|em cada|in ogni|von|op de|van de|из|na)\s+",
    re.IGNORECASE,
)
_AND = frozenset(["y", "et", "e", "en", "und", "i", "و"])
_MOST_WORDS, _MOST_PARTS = 5, 4
_THOUSANDS = frozenset(["mil", "mille", "bin", "tausend", "duizend", "тысяча"])
"""What needs no number before it: a thousand."""
_HUNDRED, _THOUSAND, _MILLION = 100.0, 1e3, 1e6


@cache
def _table() -> dict[tuple[str, ...], float]:
    written = json.loads(Path(__file__).with_name("number_words.json").read_text(encoding="utf-8"))
    every = {**written, **_ALSO, **_MIXED}
    return {tuple(words.split()): float(value) for words, value in every.items()}


def spelled_numbers(text: str, scale_at: ScaleAt) -> Iterator[Spelled]:
    """The numbers in words of a text that is not English, in order, the longest of each.

    Args:
        text: as `characters.plain` gives it.
        scale_at: factor and end of a scale ("millones") at a place of the text, or None.

    >>> [(one.value, one.end) for one in spelled_numbers("treinta y cuatro horas", lambda *_: None)]
    [(34.0, 16)]
    """
    run = _Run(
        text, [(hit[0].lower(), hit.start(), hit.end()) for hit in LETTERS.finditer(text)], scale_at
    )
    place = 0
    while place < len(run.words):
        found = run.at(place)
        if found is None:
            place += 1
            continue
        yield found
        while place < len(run.words) and run.words[place][1] < found.end:
            place += 1


class _Run(NamedTuple):
    """A text and its words in lower case, with their spans."""

    text: str
    words: list[tuple[str, int, int]]
    scale_at: ScaleAt

    def at(self, place: int) -> Spelled | None:
        """The number that starts at a word."""
        word, start, end = self.words[place]
        if self._named(place) or _ALL_BUT.search(self.text, max(0, start - 20), start):
            return None
        if word in _HALVES:
            return Spelled(start, end, 0.5, fraction=True)
        if word in _HALF:
            return Spelled(start, end, 0.5, fraction=True) if self._unit_after(end) else None
        if word in _ONE:
            return self._of_one(place)
        value, after = self._whole(place)
        if after == place:
            return None
        end = self.words[after - 1][2]
        if value <= _MOST_PARTS and (part := self._part(value, start, after)):
            return part
        if word == "dos" and after == place + 1 and _PORTUGUESE.search(self.text):
            return None
        if half := _AND_HALF.match(self.text, end):
            scale = self.scale_at(self.text, self.words[after - 1][1])
            more = 0.5 * (scale[0] if scale else 1.0)
            return Spelled(start, half.end(), value + more, fraction=value < _THOUSAND)
        return Spelled(start, end, value, fraction=value != int(value))

    def _named(self, place: int) -> bool:
        """Whether a capital within a sentence, or on a word of Turkish names, makes it a name."""
        word, start, _ = self.words[place]
        if not self.text[start].isupper():
            return False
        before = self.text[:start].rstrip(" *\"'(«“¿¡-")[-1:]
        return word == "cem" or before.strip(".:!?\n;") != ""

    def _of_one(self, place: int) -> Spelled | None:
        """One with a part, a scale or a whole: "un quarto", "un millón", "une personne sur cinq"."""
        _, start, end = self.words[place]
        if part := self._part(1.0, start, place + 1):
            return part
        if (
            place + 1 < len(self.words)
            and self.words[place + 1][0] in _HALF
            and self._unit_after(self.words[place + 1][2])
        ):
            return Spelled(start, self.words[place + 1][2], 0.5, fraction=True)
        if (scale := self.scale_at(self.text, end)) and scale[0] >= _MILLION:
            value, after = self._whole(place)
            return Spelled(start, self.words[after - 1][2], value)
        if (hit := _ONE_IN.match(self.text, end)) is not None:
            at = next(
                (k for k in range(place, len(self.words)) if self.words[k][1] == hit.end()), 0
            )
            whole, after = self._whole(at) if at else (0.0, at)
            if after > at and whole > 1:
                return Spelled(start, self.words[after - 1][2], 1 / whole, fraction=True)
        return None

    def _part(self, value: float, start: int, place: int) -> Spelled | None:
        """Thirds, quarters or fifths at a place, with "of a" before a unit."""
        if place >= len(self.words) or not (part := _PARTS.get(self.words[place][0])):
            return None
        end = self.words[place][2]
        of = _OF.match(self.text, end)
        if of and read_unit(self.text, of.end()):
            end = of.end() - (self.text[of.end() - 1] == " ")
        return Spelled(start, end, value / part, fraction=True)

    def _unit_after(self, end: int) -> bool:
        return read_unit(self.text, end + (self.text[end : end + 1] in (" ", "-"))) is not None

    def _whole(self, at: int) -> tuple[float, int]:
        """The value of the number that starts at a word, and the place after it.

        Words add up while each is smaller than what the last one left open ("mil doscientos",
        "deux cent cinquante"); a hundred after a digit and a scale multiply.
        """
        total = current = 0.0
        place = at
        while place < len(self.words):
            skip = int(place > at and self.words[place][0] in _AND and (current % 100 == 0))
            value, used = self._entry(place + skip)
            start = self.words[place + skip][1] if place + skip < len(self.words) else 0
            if place > at and not self._adjoins(place, skip):
                break
            scale = None if used else self.scale_at(self.text, start) if start or not at else None
            if used and value == _HUNDRED and 1 < current < 10 and not skip:
                current *= value
            elif used and (_open(current) > value or (place == at)):
                current += value
            elif (
                scale
                and (place > at or self.words[place][0] in _THOUSANDS)
                and (total == 0 or scale[0] < total)
            ):
                total, current = total + (current or 1.0) * scale[0], 0.0
                used = 1
            elif place == at and self.words[place][0] in _ONE:
                current, used = 1.0, 1
            else:
                break
            place += skip + used
        return total + current, place

    def _adjoins(self, place: int, skip: int) -> bool:
        run = self.words[place - 1 : place + skip + 1]
        return not any(self.text[one[2] : other[1]].strip(" -") for one, other in pairwise(run))

    def _entry(self, place: int) -> tuple[float, int]:
        """The longest entry of the table that starts at a place, and how many words it takes."""
        for used in range(min(_MOST_WORDS, len(self.words) - place), 0, -1):
            run = self.words[place : place + used]
            if any(self.text[one[2] : other[1]].strip(" -") for one, other in pairwise(run)):
                continue
            if (value := _table().get(tuple(one[0] for one in run))) is not None:
                return value, used
        return 0.0, 0


def _open(current: float) -> float:
    """What may still be added to a number: below ten after tens, below a hundred after hundreds."""
    if current == 0:
        return 1000.0
    if current % 100 == 0:
        return 100.0
    return 10.0 if current % 100 >= 20 and current % 10 == 0 else 0.0
