"""Units, as canonical words."""

from __future__ import annotations

import math

import pytest

from markscheme.text.lexicon import describe
from markscheme.text.numbers import UNITS


@pytest.mark.parametrize(
    ("word", "dimension", "factor"),
    [
        ("kilometres", "length", 1000), ("km", "length", 1000), ("feet", "length", 0.3048),
        ("foot", "length", 0.3048), ("ft", "length", 0.3048), ("inches", "length", 0.0254),
        ("miles", "length", 1609.344), ("hours", "time", 3600), ("hrs", "time", 3600),
        ("minutes", "time", 60), ("min", "time", 60), ("years", "time", 31556952),
        ("centuries", "time", 3155695200), ("kg", "mass", 1000), ("ounces", "mass", 28.3495),
        ("litres", "volume", 1), ("acres", "area", 4046.86), ("dollars", "money", 1),
        ("$", "money", 1),
    ],
)  # fmt: skip
def test_units_as_they_are_written(word: str, dimension: str, factor: float) -> None:
    unit = UNITS[describe(word)[0]]
    assert unit.dimension == dimension
    assert math.isclose(unit.factor, factor)


@pytest.mark.parametrize("word", ["cat", "second", "light"])
def test_words_that_are_no_units(word: str) -> None:
    assert describe(word)[0] not in UNITS


def test_factors_agree_with_each_other() -> None:
    def size(word: str) -> float:
        return UNITS[describe(word)[0]].factor

    assert math.isclose(size("yards"), 3 * size("feet"))
    assert math.isclose(size("feet"), 12 * size("inches"))
    assert math.isclose(size("weeks"), 7 * size("days"))
    assert math.isclose(size("years"), 12 * size("months"))
    assert math.isclose(size("gallons"), 8 * size("pints"), rel_tol=1e-5)
