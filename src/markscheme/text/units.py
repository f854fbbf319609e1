"""Units of measure: what is measured, and how large a unit is.

Keys are canonical words as `text.words` makes them (stems of the singular). Factors turn an amount
into the dimension's base unit: metre, second, gram, litre, square metre, dollar.
"""

from __future__ import annotations

from typing import NamedTuple

from markscheme.text.inflection import stem


class Unit(NamedTuple):
    """What a unit measures and its size in the base unit."""

    dimension: str
    factor: float


_LENGTH = {
    "millimeter": 1e-3, "centimeter": 1e-2, "meter": 1.0, "kilometer": 1e3, "inch": 0.0254,
    "foot": 0.3048, "yard": 0.9144, "mile": 1609.344, "furlong": 201.168, "fathom": 1.8288,
    "micrometer": 1e-6, "micron": 1e-6, "nanometer": 1e-9,
}  # fmt: skip
_TIME = {
    "second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0, "week": 604800.0,
    "fortnight": 1209600.0, "month": 2629746.0, "year": 31556952.0, "decade": 315569520.0,
    "century": 3155695200.0, "millennium": 31556952000.0,
}  # fmt: skip
_MASS = {
    "milligram": 1e-3, "gram": 1.0, "kilogram": 1e3, "tonne": 1e6, "ounce": 28.3495,
    "stone": 6350.29, "ton": 907184.74,
}  # fmt: skip
_VOLUME = {
    "milliliter": 1e-3, "liter": 1.0, "gallon": 3.78541, "quart": 0.946353, "pint": 0.473176,
}  # fmt: skip
_AREA = {"acre": 4046.86, "hectare": 1e4}
_MONEY = {"dollar": 1.0, "cent": 0.01}

UNITS = {
    stem(name): Unit(dimension, factor)
    for dimension, table in (
        ("length", _LENGTH), ("time", _TIME), ("mass", _MASS), ("volume", _VOLUME),
        ("area", _AREA), ("money", _MONEY),
    )
    for name, factor in table.items()
}  # fmt: skip
"""Canonical word to unit. "Second" the ordinal is a number and never gets here."""
