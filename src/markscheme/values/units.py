# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Units of measure: which words and symbols name one, what they measure, how they convert.

A unit is a product of powers ("kg/m²", "metres per second", "mg/dL"); the units are in `units.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from markscheme.text import LETTERS, by_word, numbers_by_word, words_of
from markscheme.values.characters import SUPERSCRIPTS
from markscheme.values.kinds import Unit

_Dimensions = tuple[tuple[str, int], ...]

_TABLES = words_of(__file__, "units")
_DIMENSIONS: dict[str, _Dimensions] = {
    name: tuple(powers.items()) for name, powers in _TABLES["dimensions"].items()
}
_TIME = _DIMENSIONS["time"]

_PREFIXES = numbers_by_word(_TABLES["prefixes"])
_PREFIX_WORDS = numbers_by_word(_TABLES["prefix_words"])
_PREFIXABLE = frozenset(_TABLES["prefixable"].split())
_PREFIXABLE_NAMES = frozenset(_TABLES["prefixable_names"].split())
_EASTERN = {
    sign: Unit(sign, _DIMENSIONS[measure], factor)
    for measure, groups in _TABLES["eastern"].items()
    for sign, factor in numbers_by_word(groups).items()
}
_OFFSETS = {"°C": 273.15, "°F": 459.67 * 5 / 9}


def _basic() -> Iterator[tuple[Unit, str, str]]:
    """The units without a prefix, each with its symbols and its words."""
    factors: dict[str, float] = {}
    for measure, units in _TABLES["units"].items():
        for name, (factor, symbols, words) in units.items():
            if isinstance(factor, str):  # "12 in"
                times, base = factor.split()
                factor = int(times) * factors[base]  # noqa: PLW2901
            factors[name] = factor
            unit = Unit(name, _DIMENSIONS[measure], factor, _OFFSETS.get(name, 0.0))
            yield unit, symbols, words


SECONDS = {unit.name: unit.factor for unit, _, _ in _basic() if unit.dimensions == _TIME}
"""The seconds of units of time, by name."""


def _build() -> tuple[dict[str, Unit], dict[str, Unit]]:
    symbols: dict[str, Unit] = {}
    words: dict[str, Unit] = {}
    for unit, signs, names in _basic():
        name, dimensions, factor = unit.name, unit.dimensions, unit.factor
        for symbol in signs.split():
            symbols[symbol] = unit
            if symbol in _PREFIXABLE:
                for prefix, size in _PREFIXES.items():
                    symbols.setdefault(
                        prefix + symbol, Unit(prefix + symbol, dimensions, factor * size)
                    )
        for word in names.split():
            words[word.replace("_", " ")] = unit
            if word + "s" not in words and word.isascii() and not word.endswith("s"):
                words.setdefault(word.replace("_", " ") + "s", unit)
            if name in _PREFIXABLE_NAMES and "_" not in word:
                for prefix, size in _PREFIX_WORDS.items():
                    long = Unit(prefix + word, dimensions, factor * size)
                    words.setdefault(prefix + word, long)
                    words.setdefault(prefix + word + "s", long)
    for sign, symbol in by_word(_TABLES["odd"]).items():
        symbols[sign] = symbols[symbol]
    for sign in ("am", "as", "at", "a", "pm", "us"):  # words, more often than units
        symbols.pop(sign, None)
    return symbols | _EASTERN, words


SYMBOLS, WORDS = _build()
_ANY_CASE = frozenset(_TABLES["any_case"].split())
_LOWER_SYMBOLS = {
    key.lower(): unit
    for key, unit in SYMBOLS.items()
    if key.lower() in _ANY_CASE
    and key not in ("Mm", "Mg", "mW", "MW", "meV", "mHz", "ML", "dM", "Pg", "pg")
}
_PER = re.compile(
    r"\s*(?:/|\bper\b|\bje\b|\bpor\b|\bpar\b|\bpro\b|\bal\b(?=\s+(?:segundo|secondo))|\bin a\b|\ban?\b)\s*"
)
_TIMES = re.compile(r"\s*[·⋅*×]\s*|\s(?=(?:m|s|kg|mol|K|A)(?:[⁻^-]))")
_EXPONENT = re.compile(r"\^?\(?([⁻-]?[0-9¹²³⁴⁻])\)?")
_RAISED = re.compile(r"\s(?:(squared)|cubed)\b", re.IGNORECASE)
_PIECE = re.compile(
    r"(?:(?P<pre>square|cubic|sq\.?|cu\.?)\s+)?"
    r"(?P<unit>°\s?[CF]\b|°|℃|℉|deg(?:rees?)?\s+[CF]\b"
    r"|(?:degrees?|deg|grad|grados|graus|gradi)\s+(?:celsius|centigrade|fahrenheit)\b"
    r"|light[- ]years?\b|nautical miles?\b|astronomical units?\b|metric tons?\b|fluid ounces?\b|fl\.? oz\b"
    r"|(?:business|working|banking|bank|trading|work) days?\b|(?:kilo|mega|giga|milli)?watt[- ]hours?\b|miles an hour\b|electron volts?\b|"
    + LETTERS.pattern
    + ")",
    re.IGNORECASE,
)
_EAST_PIECE = re.compile("|".join(sorted(map(re.escape, _EASTERN), key=len, reverse=True)))
_NOT_AFTER_ARTICLE = frozenset({"h", "s", "m", "g"})


@lru_cache(maxsize=4096)
def _lookup(word: str) -> Unit | None:
    if word in SYMBOLS:
        return SYMBOLS[word]
    lower = word.lower().replace("° ", "°").replace("-", " ").replace("fl. ", "fl ")
    if lower in WORDS:
        return WORDS[lower]
    if lower.replace(" ", "-") in WORDS:
        return WORDS[lower.replace(" ", "-")]
    if word.replace("° ", "°") in SYMBOLS:
        return SYMBOLS[word.replace("° ", "°")]
    return _LOWER_SYMBOLS.get(lower)


def _power(unit: Unit, exponent: int) -> Unit:
    if exponent == 1:
        return unit
    return Unit(
        f"{unit.name}^{exponent}",
        tuple((name, power * exponent) for name, power in unit.dimensions),
        unit.factor**exponent,
    )


def _times(left: Unit, right: Unit, sign: str) -> Unit:
    powers: dict[str, int] = {}
    for name, power in (*left.dimensions, *right.dimensions):
        powers[name] = powers.get(name, 0) + power
    dimensions = tuple(sorted((name, power) for name, power in powers.items() if power))
    return Unit(f"{left.name}{sign}{right.name}", dimensions, left.factor * right.factor)


def _piece(text: str, at: int) -> tuple[Unit, int] | None:
    if text[at : at + 1] > "\u2fff" and (east := _EAST_PIECE.match(text, at)):
        return SYMBOLS[east[0]], east.end()
    hit = _PIECE.match(text, at)
    if not hit:
        return None
    unit = _lookup(hit["unit"])
    end = hit.end()
    if hit["unit"] == "d" and text[end : end + 1] == "'":
        return None
    if unit is None:
        return None
    exponent = 1
    if hit["pre"]:
        exponent = 2 if hit["pre"].lower().startswith("sq") else 3
    elif raised := _RAISED.match(text, end):
        exponent, end = 2 if raised[1] else 3, raised.end()
    elif power := _EXPONENT.match(text, end):
        digits = power[1].translate(SUPERSCRIPTS)
        follows = text[power.end() : power.end() + 1]
        written = power[0][0] == "^" or not power[1][-1].isascii() or len(hit["unit"]) <= 2
        if (
            digits not in ("-", "")
            and written
            and not follows.isalnum()
            and abs(int(digits)) in (1, 2, 3, 4)
            and not (power[0][0] == "-" and digits[1:] not in ("1", "2", "3"))
        ):
            exponent, end = int(digits), power.end()
    return _power(unit, exponent), end


def read_unit(text: str, at: int) -> tuple[Unit, int] | None:
    """The unit that starts at a place, and where it ends; None where no unit does.

    >>> read_unit("kg/m² today", 0)[0].dimensions
    (('length', -2), ('mass', 1))
    """
    first = _piece(text, at)
    if first is None:
        return None
    unit, end = first
    for _ in range(4):
        over = _PER.match(text, end)
        joined = None if over else _TIMES.match(text, end)
        hit = over or joined
        if hit is None:
            break
        nothing = hit[0].strip() in ("a", "an", "al")
        following = _piece(text, hit.end())
        if following is None or (nothing and text[hit.end() : following[1]] in _NOT_AFTER_ARTICLE):
            break
        if over and unit.dimensions == _TIME and following[0].dimensions == _TIME:
            break  # two hours a day
        other, end = following
        unit = _times(unit, _power(other, -1), "/") if over else _times(unit, other, "·")
    return unit, end
