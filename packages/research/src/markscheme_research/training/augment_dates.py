"""Made-up dates: the same, coarser, or another, in the forms that people write."""

from __future__ import annotations

import random
from collections.abc import Iterator

Row = tuple[str, list[str], str, bool]

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_SEASONS = ("winter", "spring", "summer", "autumn")
_QUESTIONS = (
    "when did it open", "when was the treaty signed", "when did the war start", "when was she born",
    "when did the company go public", "on what date did the ship sail",
    "when was the bridge finished",
)  # fmt: skip
_FULL = ("{d} {m} {y}", "{m} {d}, {y}", "{m} {d} {y}", "{d}{th} {m} {y}", "{m} {d}{th}, {y}",
         "{d}{th} of {m}, {y}", "{s} {d}, {y}")  # fmt: skip
_FRAMES = (
    "{}", "{}.", "On {}.", "It was on {}.", "It happened on {}, if I am right.",
    "This took place on {}, and many came to see it.",
)  # fmt: skip
_COARSE = (
    "{m} {y}", "in {m} {y}", "In {m} of {y}.", "{y}", "In {y}.",
    "It was in {m} {y}, after a long delay.", "Sometime in {m} {y}.", "In the {season} of {y}.",
    "Back in {y}.",
)  # fmt: skip


def date_rows(chance: random.Random, count: int = 500) -> Iterator[Row]:
    """Labelled answers to questions for a date: question, references, answer, right or wrong."""
    for _ in range(count):
        day, month, year = chance.randint(1, 28), chance.randrange(12), chance.randint(1700, 2020)
        reference = chance.choice(_FULL[:3]).format(d=day, m=_MONTHS[month], y=year)
        right = chance.random() < 0.5
        coarse = chance.random() < 0.5
        if not right:
            part = (
                chance.choice(("day", "month", "year"))
                if not coarse
                else chance.choice(("month", "year"))
            )
            if part == "day":
                day = (day + chance.randint(1, 20) - 1) % 28 + 1
            elif part == "month":
                month = (month + chance.randint(3, 9)) % 12
            else:
                year += chance.choice((-10, -2, -1, 1, 2, 3, 10, 100))
        fields = {
            "d": day, "m": _MONTHS[month], "y": year, "s": _MONTHS[month][:3], "th": _ending(day),
            "season": _SEASONS[(month + 1) // 3 % 4],
        }  # fmt: skip
        if coarse:
            frames = _COARSE if right or part == "year" else _COARSE[:3] + _COARSE[5:7]
            text = chance.choice(frames).format(**fields)
        else:
            text = chance.choice(_FRAMES).format(chance.choice(_FULL).format(**fields))
        yield chance.choice(_QUESTIONS), [reference], text, right


def _ending(day: int) -> str:
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10 if day not in (11, 12, 13) else 0, "th")
