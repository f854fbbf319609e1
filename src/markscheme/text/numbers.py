"""Numbers as people write them: digits, words, ordinals, Roman numerals, fractions, magnitudes.

`word_value` reads one word; `merge_runs` joins the words of one number ("twenty five", "1.5
million") that follow each other. Values are plain floats; signs are not read here. Last, the
words and numbers of dates: months, years, decades.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from markscheme.text.words import by_word, numbers_by_word, words_of

_WORDS = words_of(__file__)
_IN_ORDER = (*range(20), *range(20, 100, 10))
NUMBER_WORDS: dict[str, int] = dict(zip(_WORDS["cardinals"].split(), _IN_ORDER, strict=True))
"""Nought to nineteen, and the tens."""
NUMBER_UNITS = list(NUMBER_WORDS)[:20]
SCALES = numbers_by_word(_WORDS["scales"])
"""Words that multiply the number before them."""
_ORDINALS = zip(_WORDS["ordinals"].split(), _IN_ORDER, strict=True)
ORDINAL_WORDS = {str(word): float(value) for word, value in _ORDINALS} | {"hundredth": 100.0}
CARDINAL_WORDS = {word: float(value) for word, value in NUMBER_WORDS.items()} | {
    "fourty": 40.0,
    "once": 1.0,
    "twice": 2.0,
    "thrice": 3.0,
    "half": 0.5,
}
_ROMAN = re.compile(r"M*(?:C[MD]|D?C{0,3})(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})")
_ROMAN_WORD = re.compile(r"[IVX]{2,}|[LCDM][IVXLCDM]{2,}")
"""Capitals that are read as a Roman numeral wherever they are: "DC" and "I" are not."""
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_DIGITS = re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?|\d+(?:[.,]\d+)*)(st|nd|rd|th|s)?$")


def word_value(word: str) -> float | None:
    """The value of one word as a number, else None.

    Reads digits of any script, thousands separators, ordinals ("4th", "fourth"), number words and
    upper-case roman numerals of two letters and more.

    >>> word_value("1,250"), word_value("twelfth"), word_value("XIV"), word_value("cat")
    (1250.0, 12.0, 14.0, None)
    """
    lower = word.lower()
    if lower in CARDINAL_WORDS:
        return CARDINAL_WORDS[lower]
    if lower in ORDINAL_WORDS:
        return ORDINAL_WORDS[lower]
    if lower in SCALES:
        return SCALES[lower]
    if word[:1].isdigit():
        return _digits_value(lower)
    return roman_word(word)


def _digits_value(word: str) -> float | None:
    plain = "".join(
        str(unicodedata.digit(char)) if char.isdigit() and not char.isascii() else char
        for char in word
        if not (char.isdigit() and unicodedata.digit(char, None) is None)
    )
    match = _DIGITS.match(plain)
    if not match:
        return None
    digits = match.group(1).replace(",", "")
    try:
        return float(digits)
    except ValueError:
        return None


def roman_word(word: str) -> float | None:
    """The value of a word that is a Roman numeral in any text, else None.

    >>> roman_word("XIV"), roman_word("DC"), roman_word("IIX")
    (14.0, None, None)
    """
    return roman_value(word) if _ROMAN_WORD.fullmatch(word) else None


def roman_value(word: str) -> float | None:
    """The value of a Roman numeral in capitals, one letter too, else None."""
    if not word or not _ROMAN.fullmatch(word):
        return None
    values = [_ROMAN_DIGITS[char] for char in word]
    following = [*values[1:], 0]
    pairs = zip(values, following, strict=True)
    return float(sum(-one if one < after else one for one, after in pairs))


def merge_runs(words: Sequence[str]) -> list[tuple[int, int, float]]:
    """Numbers made of several neighbouring words: (first word, length, value), in order.

    >>> merge_runs(["about", "two", "hundred", "and", "five", "cats"])
    [(1, 4, 205.0)]
    """
    runs: list[tuple[int, int, float]] = []
    start = 0
    while start < len(words):
        length, value = _run_at(words, start)
        if length > 1:
            runs.append((start, length, value))
        start += max(length, 1)
    return runs


def _run_at(words: Sequence[str], start: int) -> tuple[int, float]:
    total = current = 0.0
    last = 0.0  # value of the word before, which decides what may follow
    place = start
    while place < len(words):
        word = words[place].lower()
        if word == "and" and last >= 100 and place + 1 < len(words):
            following = words[place + 1].lower()
            if following in CARDINAL_WORDS and current + total > 0:
                place += 1
                continue
        value = word_value(words[place])
        if value is None or (place > start and not _may_follow(word, value, last)):
            break
        if word in SCALES:
            current = (current or 1.0) * value
            if value >= 1000:
                total, current = total + current, 0.0
        else:
            current += value
        last = value
        place += 1
    while place > start + 1 and words[place - 1].lower() == "and":
        place -= 1
    return place - start, total + current


def _may_follow(word: str, value: float, last: float) -> bool:
    if word in SCALES:
        return last > 0
    if not (word in CARDINAL_WORDS or word in ORDINAL_WORDS):
        return False
    tens_then_unit = 20 <= last < 100 and last % 10 == 0 and 0 < value < 10
    return tens_then_unit or (last in (1e2, 1e3, 1e6, 1e9) and value < last)


MONTHS = {word: int(month) for word, month in by_word(_WORDS["months"]).items()}
"""Month names and their usual short forms."""

_ALSO_WORDS = frozenset({"may", "march", "mar", "jan", "sep"})
"""Months that are words or names too; these count only when written with a capital."""


def month_of(word: str) -> int | None:
    """The month a word names, 1 to 12, else None.

    >>> month_of("Sept"), month_of("may"), month_of("May")
    (9, None, 5)
    """
    lower = word.lower()
    number = MONTHS.get(lower)
    if number is None or (lower in _ALSO_WORDS and word == lower):
        return None
    return number


DECADES = {f"{tens[:-1]}ies": 1900 + number for tens, number in list(NUMBER_WORDS.items())[20:]}
"""The first years of decades in words: "twenties"."""


def decade_of(word: str) -> int | None:
    """The first year of a decade written like "1970s" or "the '70s".

    >>> decade_of("1970s"), decade_of("70s"), decade_of("1970")
    (1970, 1970, None)
    """
    digits = word.rstrip("sS").rstrip("'’")
    if digits == word or not digits.isascii() or not digits.isdigit() or digits[-1] != "0":
        return None
    if len(digits) == 4:
        return int(digits)
    return 1900 + int(digits) if len(digits) == 2 and int(digits) >= 20 else None
