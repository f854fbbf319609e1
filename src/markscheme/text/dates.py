"""Months, weekdays and years in dates, as tokens that can be compared."""

from __future__ import annotations

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun",
            "july jul", "august aug", "september sep sept", "october oct", "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
"""Month names and their usual short forms."""

_ALSO_WORDS = frozenset({"may", "march", "mar", "jan", "sep"})
"""Months that are words or names too; these count only when written with a capital."""

FIRST_YEAR, LAST_YEAR = 1000, 2100


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


def is_year(value: float) -> bool:
    """Whether a number looks like a year of the last thousand years."""
    return FIRST_YEAR <= value <= LAST_YEAR and value == int(value)


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
