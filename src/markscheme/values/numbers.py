# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Numbers as people write them: digits with either separator, powers, fractions, words, Roman.

`read_numbers` finds them in plain text (see `characters`) and says nothing about what they count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from markscheme.text import (
    LETTERS,
    NUMBER_WORDS,
    ORDINAL_WORDS,
    numbers_by_word,
    roman_value,
    roman_word,
    words_of,
)
from markscheme.text import SCALES as ENGLISH_SCALES
from markscheme.values.characters import SUPERSCRIPTS, plain
from markscheme.values.number_words import spelled_numbers


class Reading(NamedTuple):
    """One number: where it occurs, its value, the step it was written to, other readings."""

    start: int
    end: int
    value: float
    quantum: float
    alternatives: tuple[float, ...] = ()
    ordinal: bool = False
    plain_digits: bool = False
    """Four digits and nothing else: a year, perhaps."""
    weak: bool = False
    """A word that is a number only sometimes."""
    fraction: bool = False
    spelled_year: bool = False

    def times(self, factor: float) -> Reading:
        """The reading of so many times as much, or of the opposite."""
        others = tuple(one * factor for one in self.alternatives)
        quantum = self.quantum * abs(factor)
        return self._replace(value=self.value * factor, quantum=quantum, alternatives=others)


CARDINALS = NUMBER_WORDS | {"fourty": 40, "nil": 0, "oh": 0}
ORDINALS = {word: int(value) for word, value in ORDINAL_WORDS.items()} | {"thousandth": 1000}
_TABLES = words_of(__file__, "words")
SCALES = ENGLISH_SCALES | numbers_by_word(_TABLES["scales"])
"""Words that multiply the number before them."""
_FOREIGN_ONLY = frozenset({"bin", "mil", "mille", "score"})
_SHORT_SCALES = {"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "b": 1e9, "B": 1e9, "T": 1e12, "t": 1e12}
_EAST_SCALES = numbers_by_word(_TABLES["east_scales"])
_PARTS = {"third": 3, "quarter": 4, "fourth": 4} | {
    word: value for word, value in ORDINALS.items() if value > 4
}
_FRACTIONS = _PARTS | {f"{word}s": value for word, value in _PARTS.items()}
_FRACTIONS |= {"half": 2, "halves": 2}
_SIGNS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_GLYPHS = {sign: unicodedata.numeric(sign) for sign in _SIGNS}

_DIGITS = re.compile(
    r"(?:(?<![\w.])|(?<=[^\w.]\.)|(?<=\bUSD)|(?<=\bEUR)|(?<=\bGBP)|(?<=[\u3040-\u9fff\uac00-\ud7af\u0600-\u06ff]))"
    r"(?:\d{1,3}(?: \d{3})+(?![\d])(?:[.,]\d+)?|\d+(?:[.,'_]\d+)*|(?<!\d)\.\d+)"
)
_POWER = re.compile(
    r"\s*[×x*·]\s*10\s*(?:(?:\^|\*\*)\s*[{(]?\s*([+-]?\d{1,3})(?:\s*[})])?|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))"
    r"|[eE]([+-]?\d{1,3})(?!\w)"
)
_RAISED = re.compile(r"(?:\^|\*\*)\s*[{(]?\s*([+-]?\d{1,3})(?:\s*[})])?|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})")
_OVER = re.compile(
    r"/(\d{1,4})(?![\d/]|\.\d)|\s+(\d{1,2})/(\d{1,2})(?![\d/]|\.\d)|" + rf"\s?([{_SIGNS}])"
)
_GLYPH = re.compile(rf"(?<!\d)(?<!\d )[{_SIGNS}]")
_SUFFIX = re.compile(r"\s?(st|nd|rd|th)\b|(?:er|ère|re|e|ème|º|ª)\b")
_SCALE_AFTER = re.compile(r"[ -]?((?:[^\W\d_]|[\u0900-\u0963])+)")
_HALF_AFTER = re.compile(r"\s+and\s+(?:a\s+half|(?:one|a)\s+(?:third|quarter)|three\s+quarters)\b")
_OUT_OF = re.compile(
    r"\s+(?:(?:\w+\s+)?(?:out\s+)?of(?:\s+every)?|in(?:\s+every)?|(?P<other>(?:[^\W\d_]+\s+)?(?:sur|de cada|em cada|su(?: ogni)?|von|op de|van de|из|من كل)))\s+",
    re.IGNORECASE,
)
_EASTERN = re.compile(r"[〇零一二两三四五六七八九十百千万億亿]{1,12}")
_EAST_DIGITS = {char: value for value, char in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "两": 2,
}


def roman(word: str) -> int | None:
    """The value of a Roman numeral in capitals, below 4000, else None.

    >>> roman("XIV"), roman("IIII"), roman("MIX")
    (14, None, 1009)
    """
    value = roman_value(word)
    return int(value) if value is not None and value < 4000 else None


def digits_value(text: str, *, foreign: bool = False) -> tuple[float, float, tuple[float, ...]]:
    """Value, step and other readings of a run of digits with separators.

    >>> digits_value("1,250"), digits_value("12,5"), digits_value("1.250", foreign=True)
    ((1250.0, 1.0, ()), (12.5, 0.1, ()), (1250.0, 1.0, (1.25,)))
    """
    text = text.replace(" ", "").replace("'", "").replace("_", "")
    marks = [char for char in text if char in ",."]
    if not marks:
        return float(text), 1.0, ()
    last = marks[-1]
    whole, _, tail = text.rpartition(last)
    groups = len(tail) == 3 and all(len(part) == 3 for part in re.split("[.,]", whole)[1:])
    if len(set(marks)) == 2 or (len(marks) == 1 and not groups):
        decimal = last if marks.count(last) == 1 else ""
    elif len(marks) > 1:
        decimal = ""
    elif len(whole) > 3 or whole.lstrip("0") == "":  # 1234.567, 0.165, 0,165
        decimal = last
    else:  # one mark and three digits after it
        decimal = last if last == "." and not foreign else ""
    whole = re.sub("[.,]", "", whole)
    fraction = float(f"{whole or 0}.{tail}")
    if decimal:
        readings: tuple[float, ...] = ()
        if groups and len(marks) == 1 and len(whole) <= 3 and last == "." and whole.strip("0"):
            readings = (float(whole + tail),)
        return fraction, 10.0 ** -len(tail), readings
    readings = (fraction,) if foreign and len(marks) == 1 else ()
    return float(whole + tail), 1.0, readings


def read_numbers(text: str, *, foreign: bool = False) -> list[Reading]:
    """The numbers of a plain text in order, the longest reading of each."""
    found = list(_digit_numbers(text, foreign=foreign))
    found.extend(_worded(text, foreign=foreign))
    if foreign:
        found.extend(_other_words(text))
    if not text.isascii():
        found.extend(
            Reading(hit.start(), hit.end(), _GLYPHS[hit[0]], 0.0, fraction=True)
            for hit in _GLYPH.finditer(text)
        )
        found.extend(_eastern(text))
    found.sort()
    return _shares(text, found)


def numbers_of(text: str, *, foreign: bool = False) -> set[float]:
    """The values of the numbers of any text, Roman ones too, in all of their readings.

    They are equal where they are written differently: "2.2 x 10^-10", "2.2e-10".

    >>> sorted(numbers_of("Part II: 12,5 kg in two and a half hours"))
    [2.0, 2.5, 12.5]
    """
    text = plain(text)
    found = {
        float(f"{value:.14g}")
        for one in read_numbers(text, foreign=foreign)
        for value in (one.value, *one.alternatives)
    }
    return found | {value for word in LETTERS.findall(text) if (value := roman_word(word))}


def _digit_numbers(text: str, *, foreign: bool) -> Iterator[Reading]:
    for hit in _DIGITS.finditer(text):
        raw, start, end = hit[0], hit.start(), hit.end()
        if len(raw) > 40:
            continue
        value, quantum, others = digits_value(raw, foreign=foreign)
        bare = raw.isdigit() and len(raw) == 4
        read = Reading(start, end, value, quantum, others, plain_digits=bare)
        if power := _POWER.match(text, end):
            exponent = int((power[1] or power[2] or power[3]).translate(SUPERSCRIPTS))
            read = read.times(10.0 ** max(-300, min(300, exponent)))
            read = read._replace(end=power.end(), alternatives=(), plain_digits=False)
        elif raised := _RAISED.match(text, end):
            exponent = int((raised[1] or raised[2]).translate(SUPERSCRIPTS))
            if abs(exponent) > 300 or value > 1000 or (value == 0 and exponent < 0):
                continue
            if text[raised.end() : raised.end() + 1].isalpha():
                continue
            read = Reading(start, raised.end(), _raise(value, exponent), 0.0)
        elif over := _OVER.match(text, end):
            others = (value,) if over[1] and value < int(over[1]) else ()
            part = _fraction(value, over)
            read = Reading(start, over.end(), part, 0.0, others, fraction=True)
        elif suffix := _SUFFIX.match(text, end):
            yield read._replace(end=suffix.end(), ordinal=True, plain_digits=False)
            continue
        if scale := _scale(text, read.end, foreign=foreign):
            while scale:
                read = read.times(scale[0])._replace(end=scale[1], plain_digits=False)
                scale = _scale(text, read.end, foreign=foreign)
        elif not read.fraction and (half := _HALF_AFTER.match(text, read.end)):
            value = read.value + _tail_fraction(half[0])
            read = read._replace(value=value, end=half.end(), plain_digits=False)
        yield read


def _raise(value: float, exponent: int) -> float:
    try:
        return float(value**exponent)
    except OverflowError:
        return float("inf")


def _fraction(value: float, over: re.Match[str]) -> float:
    if over[4]:
        return value + _GLYPHS[over[4]]
    if over[1]:
        return value / int(over[1]) if int(over[1]) else value
    return value + int(over[2]) / int(over[3]) if int(over[3]) else value


def _tail_fraction(words: str) -> float:
    if "half" in words:
        return 0.5
    if "three" in words:
        return 0.75
    return 0.25 if "quarter" in words else 1 / 3


def _scale(text: str, end: int, *, foreign: bool) -> tuple[float, int] | None:
    """A word or suffix after a number that multiplies it; letters that may be units are left."""
    hit = _SCALE_AFTER.match(text, end)
    if not hit:
        return None
    word = hit[1]
    lower = word.lower()
    factor = SCALES.get(lower)
    if factor is not None:
        if lower in _FOREIGN_ONLY and not foreign:
            return None
        if foreign and lower in ("billion", "billions"):
            factor = 1e12
        stop = hit.end()
        if lower in ("mio", "mrd", "mld", "тыс") and text[stop : stop + 1] == ".":
            stop += 1
        return factor, stop
    if (
        hit.start(1) == end
        and lower in ("k", "bn", "mn")
        and len(word) < 3
        and not text[hit.end() : hit.end() + 1].isalnum()
    ):
        return _SHORT_SCALES.get(word[0], 1e3), hit.end()
    if (factor := _EAST_SCALES.get(word[0])) is not None:
        return factor, hit.start(1) + 1
    return None


def short_scale(text: str, end: int) -> tuple[float, int] | None:
    """A one-letter suffix ("m", "B") that multiplies, where a currency says it cannot be a unit."""
    char = text[end : end + 1]
    factor = _SHORT_SCALES.get(char)
    if factor is None or text[end + 1 : end + 2].isalnum():
        return None
    return factor, end + 1


def _other_words(text: str) -> Iterator[Reading]:
    """Numbers in words of other languages, with the scale after them ("dos millones")."""
    for start, stop, value, fraction in spelled_numbers(text, _foreign_scale):
        end, factor = stop, 1.0
        while scale := _foreign_scale(text, end):
            factor, end = factor * scale[0], scale[1]
        quantum = 0.0 if fraction else factor
        yield Reading(start, end, value * factor, quantum, fraction=fraction)


def _foreign_scale(text: str, end: int) -> tuple[float, int] | None:
    return _scale(text, end, foreign=True)


def _worded(text: str, *, foreign: bool) -> Iterator[Reading]:
    words = [(hit[0], hit.start(), hit.end()) for hit in LETTERS.finditer(text)]
    place = 0
    while place < len(words):
        lower = words[place][0].lower()
        if (
            lower in CARDINALS
            or lower in ORDINALS
            or lower in _FRACTIONS
            or lower in ("a", "an", "hundred", "dozen")
        ):
            used, reading = _run(text, words, place, foreign=foreign)
            if reading is not None:
                yield reading
                place += used
                continue
        place += 1


_Words = list[tuple[str, int, int]]


def _gap(text: str, words: _Words, place: int) -> str:
    return text[words[place - 1][2] : words[place][1]]


def _joined(text: str, words: _Words, place: int) -> str:
    """The word at a place in lower case if it follows the one before it directly, else ''."""
    if place >= len(words) or _gap(text, words, place).strip(" ") not in ("", "-"):
        return ""
    return words[place][0].lower()


def _run(text: str, words: _Words, at: int, *, foreign: bool) -> tuple[int, Reading | None]:  # noqa: PLR0912, PLR0915
    """The number that starts at a word, and how many words it takes."""
    first = words[at][0].lower()
    start = words[at][1]
    if foreign and first in ("once", "a", "an", "six", "elf", "half", "dozen"):
        return 1, None
    if first in ("a", "an"):
        return _article(text, words, at)
    if first in ("half", "quarter", "third"):
        return _bare_fraction(text, words, at, first)
    digits = ""
    for place in range(at, min(at + 12, len(words))):
        digit = CARDINALS.get(first if place == at else _joined(text, words, place), 99)
        if digit > 9:
            break
        digits += str(digit)
    if len(digits) >= 3:
        end = words[at + len(digits) - 1][2]
        return len(digits), Reading(start, end, float(digits), 1.0)
    total = current = 0.0
    last = 0.0
    ordinal = False
    place = at
    seen_scale = False
    pairs: list[int] = []
    while place < len(words):
        word = words[place][0].lower() if place == at else _joined(text, words, place)
        if word == "and" and place > at and (seen_scale or last >= 100):
            after = _joined(text, words, place + 1)
            if after in CARDINALS or after in ORDINALS:
                place += 1
                continue
            break
        value = CARDINALS.get(word)
        if value is not None:
            if place > at and not _may_follow(value, last):
                break
            current += value
            pairs.append(value)
        elif word in SCALES and (place > at or word in ("hundred", "dozen")) and word != "score":
            if word == "mil" and not foreign:
                break
            factor = SCALES[word]
            value = int(factor)
            if current == 0 and seen_scale:  # three thousand million
                total *= factor
                last, place = float(value), place + 1
                continue
            current = (current or 1.0) * factor
            seen_scale = True
            if factor >= 1000:
                total, current = total + current, 0.0
        elif word in ORDINALS and not ordinal:
            value = ORDINALS[word]
            if (
                place > at
                and not _may_follow(value, last)
                and not (value in (100, 1000) and last < 100)
            ):
                break
            if value in (100, 1000) and place > at:
                current *= value
            else:
                current += value
            ordinal = True
            place += 1
            break
        else:
            break
        last = float(value)
        place += 1
    amount = total + current
    year = _spelled_year(text, words, at, place)
    if year is not None:
        stop, amount = year
        return stop - at, Reading(
            start, words[stop - 1][2], amount, 1.0, plain_digits=True, spelled_year=True
        )
    if place == at:
        return 1, None
    read = Reading(start, words[place - 1][2], amount, 1.0, ordinal=ordinal)
    if not ordinal:
        place, read = _with_part(text, words, place, read)
    if place - at == 1 and first == "oh":
        return 1, None
    weak = place - at == 1 and not read.fraction and first in _SOMETIMES
    return place - at, read._replace(weak=weak)


_SOMETIMES = frozenset("one first second zero nil third".split())
"""Words that are numbers only sometimes."""


def _with_part(text: str, words: _Words, place: int, read: Reading) -> tuple[int, Reading]:
    """A number in words with the part after it: thirds, point five, and a half, scales."""
    under = _joined(text, words, place)
    whole_only = under in ("third", "quarter", "half", "fourth") and read.value != 1
    if under in _FRACTIONS and 0 < read.value < 100 and not whole_only:
        part, end = read.value / _FRACTIONS[under], words[place][2]
        return place + 1, read._replace(value=part, quantum=0.0, end=end, fraction=True)
    if under == "point" and _joined(text, words, place + 1) in CARDINALS:
        tail = ""
        place += 1
        while (digit := CARDINALS.get(_joined(text, words, place), 99)) <= 9:
            tail += str(digit)
            place += 1
        if not tail:
            return place, read
        value, end = float(f"{read.value:.0f}.{tail}"), words[place - 1][2]
        read = read._replace(value=value, quantum=10.0 ** -len(tail), end=end)
    elif half := _HALF_AFTER.match(text, read.end):
        value = read.value + _tail_fraction(half[0])
        read = read._replace(value=value, quantum=0.0, end=half.end())
        after = (one for one in range(place, len(words)) if words[one][1] >= half.end())
        place = next(after, len(words))
    else:
        return place, read
    while (under := _joined(text, words, place)) in SCALES and under not in _FOREIGN_ONLY:
        read = read.times(SCALES[under])._replace(end=words[place][2])
        place += 1
    return place, read


def _may_follow(value: int, last: float) -> bool:
    if 20 <= last < 100 and last % 10 == 0:
        return 0 < value < 10
    return last >= 100 and value < last


def _spelled_year(text: str, words: _Words, at: int, place: int) -> tuple[int, float] | None:
    """Nineteen forty-four, ten sixty-six, eighteen oh five."""
    first = CARDINALS.get(words[at][0].lower(), 0)
    if not (10 <= first <= 20) or place != at + 1:
        return None
    second = CARDINALS.get(_joined(text, words, at + 1), -1)
    if second < 0:
        return None
    third = CARDINALS.get(_joined(text, words, at + 2), -1)
    if second == 0 and words[at + 1][0].lower() == "oh" and 0 < third < 10:
        return at + 3, 100.0 * first + third
    if 10 <= second < 20 or (second >= 20 and not 0 < third < 10):
        return at + 2, 100.0 * first + second
    if second >= 20:
        return at + 3, 100.0 * first + second + third
    return None


def _article(text: str, words: _Words, at: int) -> tuple[int, Reading | None]:
    """A million, a dozen, a third of, half a million."""
    word = _joined(text, words, at + 1)
    used, reading = 1, None
    if word in ("hundred", "dozen"):
        used, reading = _run(text, words, at + 1, foreign=False)
    elif word in _ARTICLE_PARTS:
        used, reading = _bare_fraction(text, words, at + 1, word)
    if reading is not None:
        return used + 1, reading._replace(start=words[at][1])
    if word in ("hundred", "dozen", *_ARTICLE_SCALES):
        return 2, Reading(words[at][1], words[at + 1][2], SCALES[word], SCALES[word])
    return 1, None


_ARTICLE_SCALES = frozenset("thousand million billion trillion gross".split())
_ARTICLE_PARTS = frozenset(
    "half third quarter fifth sixth seventh eighth ninth tenth hundredth".split()
)
_SHARE_AFTER = re.compile(
    r"\s+(?:of|an?\s+(?:hour|day|mile|year|million|billion|dozen|gigabyte|litre|liter|pint|inch|century|minute|kilo|kilogram|metre|meter|pound|percent)\b)"
)
_WHOLE_AFTER = re.compile(r"\s+(?:of|as)\b|\s*(?:[.,;!)]|$)")


def _bare_fraction(text: str, words: _Words, at: int, word: str) -> tuple[int, Reading | None]:
    """Half of, a third of, half a million; a third alone only where nothing else follows."""
    _, start, end = words[at]
    half = word == "half"
    if (
        half
        and _joined(text, words, at + 1) == "a"
        and _joined(text, words, at + 2) in ("million", "billion", "dozen", "thousand")
    ):
        scale = SCALES[words[at + 2][0].lower()]
        return 3, Reading(start, words[at + 2][2], scale / 2, scale / 10)
    if half and _joined(text, words, at + 1) == "dozen":
        return 2, Reading(start, words[at + 1][2], 6.0, 1.0)
    previous = words[at - 1][0].lower() if at else ""
    followed = _SHARE_AFTER.match(text, end) or _WHOLE_AFTER.match(text, end)
    if half or (followed and previous in ("a", "an", "one")):
        part = 1 / _FRACTIONS[word]
        return 1, Reading(start, end, part, 0.0, fraction=True, weak=not followed)
    if followed or word == "third":  # the third of June, third of the list
        return 1, Reading(start, end, float(_FRACTIONS[word]), 1.0, ordinal=True, weak=True)
    return 1, None


def _shares(text: str, found: list[Reading]) -> list[Reading]:
    """Join "one in five", "3 out of 4" into fractions; drop readings inside longer ones."""
    result: list[Reading] = []
    for reading in found:
        if result and reading.start < result[-1].end:
            if reading.end - reading.start > result[-1].end - result[-1].start:
                result[-1] = reading
            continue
        if result:
            before = result[-1]
            gap = text[before.end : reading.start]
            joins = 3 <= len(gap) < 30 and _OUT_OF.fullmatch(gap)
            if (
                joins
                and not before.ordinal
                and not reading.ordinal
                and 0 < before.value < reading.value <= 100_000
                and before.value == int(before.value)
                and not (reading.plain_digits and reading.value > 1000)
                and (
                    ("in" in gap.split() and before.value <= 10)
                    or "out" in gap.split()
                    or "every" in gap.split()
                    or joins["other"]
                )
            ):
                step = 1 / reading.value if reading.value in (10, 100, 1000) else 0.0
                result[-1] = Reading(
                    before.start,
                    reading.end,
                    before.value / reading.value,
                    step,
                    (before.value,),
                    fraction=True,
                )
                continue
        result.append(reading)
    return result


def _eastern(text: str) -> Iterator[Reading]:
    """Chinese and Japanese numerals of two characters and more, or one before a measure."""
    for hit in _EASTERN.finditer(text):
        value = eastern_value(hit[0])
        if value is not None and (
            len(hit[0]) > 1
            or text[hit.end() : hit.end() + 1] in tuple("年月日人个度％%点时時分割倍次名条枚")
        ):
            yield Reading(
                hit.start(), hit.end(), value, 1.0, plain_digits=len(hit[0]) == 4 and value >= 1000
            )


def eastern_value(word: str) -> float | None:
    """The value of a Chinese numeral, by place ("二〇二四") or by scale ("三百六十七").

    >>> eastern_value("二〇二四"), eastern_value("三百六十七"), eastern_value("十五")
    (2024.0, 367.0, 15.0)
    """
    if all(char in _EAST_DIGITS for char in word):
        return float("".join(str(_EAST_DIGITS[char]) for char in word))
    total = section = 0.0
    digit: float | None = None
    for char in word:
        if char in _EAST_DIGITS:
            digit = float(_EAST_DIGITS[char])
        else:
            factor = _EAST_SCALES[char]
            if factor >= 1e4:
                total += (section + (digit or 0.0) or 1.0) * factor
                section = 0.0
            else:
                section += (1.0 if digit is None else digit) * factor
            digit = None
    return total + section + (digit or 0.0)
