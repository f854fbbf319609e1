# ruff: noqa: E501 - tables of cases read better unfolded
"""Numbers, quantities, money: what is read, and round trips of what is written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.values import (
    Duration,
    Money,
    Number,
    Outcome,
    Percent,
    Quantity,
    Range,
    compare_values,
    parse_values,
)
from markscheme.values.numbers import CARDINALS, SCALES, read_numbers, roman


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1,234,567", 1234567),
        ("1.234.567,5", 1234567.5),
        ("10 000", 10000),
        ("6.022 × 10^23", 6.022e23),
        ("8.6 × 10¹⁰", 8.6e10),
        ("2½", 2.5),
        ("nine tenths", 0.9),
        ("three and a half billion", 3.5e9),
        ("three thousand million", 3e9),
        ("four out of five", 0.8),
        ("two hundred and five", 205),
        ("three point one four", 3.14),
        ("minus twelve", -12),
        ("३४", 34),
        ("三百六十七", 367),
    ],
)
def test_reads_numbers(text: str, amount: float) -> None:
    (found,) = parse_values(text)
    assert isinstance(found, Number)
    assert math.isclose(found.amount, amount)


@pytest.mark.parametrize(
    ("text", "kind", "amount"),
    [
        ("16.5%", Percent, 16.5),
        ("fifty basis points", Percent, 0.5),
        ("−$12m", Money, -12e6),
        ("four pounds twenty", Money, 4.2),
        ("412 pence", Money, 4.12),
        ("2 hours 10 minutes", Duration, 7800),
        ("half an hour", Duration, 1800),
        ("seven degrees below zero", Quantity, -7),
        ("6 ft 2 in.", Quantity, 6 + 2 / 12),
    ],
)
def test_reads_amounts(text: str, kind: type, amount: float) -> None:
    (found,) = parse_values(text)
    assert isinstance(found, kind)
    assert isinstance(found, Percent | Money | Duration | Quantity)
    assert math.isclose(found.amount, amount)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("at least 15", 15, None),
        ("30 at most", None, 30),
        ("between 6 and 14", 6, 14),
        ("no fewer than 9 and no more than 15", 9, 15),
        ("nobody younger than 12", 12, None),
        ("not above 40", None, 40),
    ],
)
def test_reads_bounds(text: str, low: float | None, high: float | None) -> None:
    (found,) = parse_values(text)
    assert isinstance(found, Range)
    sides = [
        None if one is None else getattr(one, "amount", None) for one in (found.low, found.high)
    ]
    assert sides == [low, high]


@given(st.integers(0, 10**15))
def test_grouped_digits_round_trip(value: int) -> None:
    (found,) = read_numbers(f"{value:,}")
    assert found.value == value


@given(st.integers(1, 3999))
def test_roman_round_trip(value: int) -> None:
    written, left = "", value
    for size, mark in ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):  # fmt: skip
        written += mark * (left // size)
        left %= size
    assert roman(written) == value


def _spell(value: int) -> str:
    names = {
        number: word for word, number in CARDINALS.items() if word not in ("fourty", "nil", "oh")
    }
    if value < 20:
        return names[value]
    if value < 100:
        rest = value % 10
        return names[value - rest] + (f"-{names[rest]}" if rest else "")
    for name in ("billion", "million", "thousand", "hundred"):
        size = int(SCALES[name])
        if value >= size:
            rest = value % size
            joint = " and " if name == "hundred" and rest else " "
            return f"{_spell(value // size)} {name}" + (joint + _spell(rest) if rest else "")
    raise AssertionError(value)


@given(st.integers(21, 10**11))
def test_spelled_numbers_round_trip(value: int) -> None:
    found = read_numbers(_spell(value))
    assert [one.value for one in found] == [value]


@given(st.integers(1, 10**6), st.sampled_from(["km", "kg", "GB", "litres", "days", "°C", "kWh"]))
def test_an_amount_agrees_with_itself_and_not_with_ten_times_it(value: int, unit: str) -> None:
    reference = f"{value} {unit}"
    assert compare_values("", reference, f"It is {value:,} {unit}.").outcome is Outcome.AGREE
    assert compare_values("", reference, f"It is {value * 10} {unit}.").outcome is Outcome.CONFLICT
    assert compare_values("", reference, f"-{value} {unit}").outcome is not Outcome.AGREE


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for found in parse_values(text):
        assert 0 <= found.start < found.end <= len(text)
    compare_values(text, text, text)


def test_units_convert_as_in_pint() -> None:
    pint = pytest.importorskip("pint")
    registry = pint.UnitRegistry()
    from markscheme.values.units import SYMBOLS, WORDS

    checked = 0
    for word in ["inch", "foot", "yard", "mile", "nautical_mile", "furlong", "fathom", "micron", "gram", "kilogram", "pound", "ounce", "stone", "tonne", "second", "minute", "hour", "day", "week", "litre", "gallon", "quart", "pint", "cup", "tablespoon", "teaspoon", "acre", "hectare", "newton", "pascal", "bar", "atmosphere", "joule", "calorie", "watt", "horsepower", "knot", "mole", "byte", "volt", "ampere"]:  # fmt: skip
        ours = WORDS.get(word.replace("_", " ")) or SYMBOLS[word]
        theirs = registry.parse_units({"calorie": "calorie", "byte": "byte"}.get(word, word))
        factor = (1 * theirs).to_base_units().magnitude
        if word == "gram":
            assert math.isclose(ours.factor, factor, rel_tol=1e-6)
        if word == "byte":
            factor = (1 * theirs).to("bit").magnitude
        assert math.isclose(ours.factor, factor, rel_tol=1e-5), word
        checked += 1
    assert checked > 30
