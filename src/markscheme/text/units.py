"""Units of measure: what is measured, and how large a unit is.

Keys are canonical words as `text.words` makes them (stems of the singular). Factors turn an amount
into the dimension's base unit: metre, second, gram, litre, square metre, dollar, bit,
metre a second, joule, watt, kelvin.
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
    "stone": 6350.29, "ton": 907184.74, "pound": 453.592,
}  # fmt: skip
_VOLUME = {
    "milliliter": 1e-3, "liter": 1.0, "gallon": 3.78541, "quart": 0.946353, "pint": 0.473176,
}  # fmt: skip
_AREA = {"acre": 4046.86, "hectare": 1e4}
_DATA = {
    "bit": 1.0, "byte": 8.0, "kilobyte": 8e3, "megabyte": 8e6, "gigabyte": 8e9, "terabyte": 8e12,
    "kibibyte": 8 * 2.0**10, "mebibyte": 8 * 2.0**20, "gibibyte": 8 * 2.0**30, "kilobit": 1e3,
    "megabit": 1e6, "gigabit": 1e9,
}  # fmt: skip
_SPEED = {"mps": 1.0, "kph": 1 / 3.6, "mph": 0.44704, "knot": 0.514444}
_ENERGY = {"joule": 1.0, "kilojoule": 1e3, "calorie": 4.184, "kilocalorie": 4184.0}
_POWER = {"watt": 1.0, "kilowatt": 1e3, "megawatt": 1e6, "horsepower": 745.7}
_TEMPERATURE = {"kelvin": 1.0, "celsius": 1.0, "centigrade": 1.0, "fahrenheit": 5 / 9}
ZERO = {
    stem(name): at
    for name, at in (("celsius", 273.15), ("fahrenheit", 255.372), ("centigrade", 273.15))
}
"""What nought of a unit is in the base unit, where it is not nought."""
_MONEY = {"dollar": 1.0, "cent": 0.01}

UNITS = {
    stem(name): Unit(dimension, factor)
    for dimension, table in (
        ("length", _LENGTH), ("time", _TIME), ("mass", _MASS), ("volume", _VOLUME),
        ("area", _AREA), ("money", _MONEY), ("data", _DATA), ("speed", _SPEED),
        ("energy", _ENERGY), ("power", _POWER), ("temperature", _TEMPERATURE),
    )
    for name, factor in table.items()
}  # fmt: skip
"""Canonical word to unit. "Second" the ordinal is a number and never gets here."""
