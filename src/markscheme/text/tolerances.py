"""How far apart two numbers may be and still be one number, or be open to doubt.

Every comparison of numbers takes its tolerances from here. None is from a paper: each is set to the
rounding that its line names, and the cases in tests/values are what it must decide. Shares are
differences as a share of the larger number, 0 to 1.
"""

from __future__ import annotations


class Tolerance:
    """Shares, unless a line names another unit."""

    # One number, computed in two ways.
    EQUAL = 1e-9
    """Seven digits above what floats lose; absolute for what may be nought (imaginary parts)."""
    NOISE = 1e-12
    """What a float loses by arithmetic, added to a step of rounding far below the number."""
    COMPUTED = 1e-7
    """Of expressions at a point: functions and their inverses lose more digits than sums."""
    COUNTED = 1e-6
    """Of a length of time in units, and per cent of two shares that are the whole: written figures,
    multiplied or added up."""

    # Rounding.
    HALF_STEP = 0.5001
    """Steps between an exact value of a formula and a decimal that it rounds to. Amounts are held
    to half a step and `EQUAL`; here the value is itself computed, to `COMPUTED`."""
    ROUNDED = 0.005
    """Three figures: 1,234 is 1,230."""
    LARGE = 0.002
    """Of numbers from 1,000 up, whose last figures are often rounded without a word: open."""
    DECIMAL = 0.01
    """Between a fraction and its decimal: 0.33 for 1/3."""
    FRACTION = 0.03
    """Between a decimal and a fraction in words: "two thirds" for 65%, open."""
    FINER = 0.02
    """Between a rounded reference and a more exact answer; farther off the answer may be another
    number that rounds alike."""
    POINTS = 0.5
    """Per cent between a share and the whole per cent that it rounds to."""

    # What says "about", or has noughts at its end.
    ABOUT = 0.02
    """Where the reference or a round answer says "about"."""
    ABOUT_NUMBER = 0.05
    """Two figures, where the answer says "about" and rounds the reference, where a hypothesis says
    it of a number, and where the reference ends in noughts."""
    ABOUT_ANSWER = 0.06
    """Where only the answer says "about": open. `UNSURE`, where the reference does, is larger, as
    its maker knew that the number is not exact."""
    ABOUT_POINTS = 2
    """Per cent between a share ("about 0.3") and a percentage where one says "about"."""
    ABOUT_MINUTES = 30
    """Minutes between a time and one "about" it."""
    ABOUT_YEARS = 3
    """Years between a date and one "about" it; of long ago `ABOUT_YEARS_OF`th of the year."""
    ABOUT_YEARS_OF = 200
    UNSURE = 0.1
    """Farther apart, numbers conflict; nearer, what is rounded, about so much, or counted in months
    and in days is open."""

    # Conversion.
    CONVERTED = 0.02
    """Between units, or money of a week and a year, where both amounts were rounded."""
    KELVINS = 0.6
    """Kelvins between temperatures on two scales: whole degrees, which are 5/9 K in Fahrenheit."""
    MINUTES = 0.01
    """Minutes between two times of day, below a second."""

    # Bounds.
    NEARLY_ALL = 5.0
    """Per cent short of all, below which the rest is compared: 99.9% is not 99.95%."""
    BEYOND = 0.25
    """From an open bound to a value that meets it: 1,100 for "more than 1,000"."""
