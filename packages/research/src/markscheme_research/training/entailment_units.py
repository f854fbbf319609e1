"""Made-up amounts with units: the same in another unit, and the same number with another unit."""

from __future__ import annotations

import random
from collections.abc import Iterator

Row = tuple[str, list[str], str, bool]

_SCALES = {
    "length": [("metres", 1.0), ("kilometres", 1000.0), ("centimetres", 0.01), ("feet", 0.3048),
               ("miles", 1609.344), ("inches", 0.0254), ("yards", 0.9144), ("km", 1000.0)],
    "time": [("seconds", 1.0), ("minutes", 60.0), ("hours", 3600.0), ("days", 86400.0),
             ("weeks", 604800.0)],
    "age": [("months", 1.0), ("years", 12.0), ("decades", 120.0)],
    "mass": [("grams", 1.0), ("kilograms", 1000.0), ("kg", 1000.0), ("ounces", 28.3495),
             ("pounds", 453.592), ("lb", 453.592),
             ("tonnes", 1e6)],
    "data": [("bits", 1.0), ("bytes", 8.0), ("kilobytes", 8000.0), ("megabytes", 8e6), ("MB", 8e6)],
    "speed": [("km/h", 1.0), ("mph", 1.609344), ("miles per hour", 1.609344), ("m/s", 3.6)],
    "volume": [("litres", 1.0), ("millilitres", 0.001), ("gallons", 3.78541), ("pints", 0.473176)],
}  # fmt: skip
_QUESTIONS = {
    "length": ["how long is it", "how far apart are they", "how tall is the tower"],
    "time": ["how long does it take", "how long is the film", "how long did it last"],
    "age": ["how old was the child", "how long did the work go on"],
    "mass": ["how heavy is it", "how much does it weigh"],
    "data": ["how large is the file", "how much can it store"],
    "speed": ["how fast does it go", "what is its top speed"],
    "volume": ["how much does it hold", "how large is the tank"],
}
_FRAMES = ("{}", "It is {}.", "about {}", "roughly {}", "The answer is {}.")


def unit_rows(chance: random.Random, count: int = 500) -> Iterator[Row]:
    """Labelled answers about amounts: question, references, answer, right or wrong."""
    for _ in range(count):
        dimension = chance.choice(sorted(_SCALES))
        (one, size), (other, other_size) = chance.sample(_SCALES[dimension], 2)
        amount = chance.choice([1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 36, 48, 50, 90, 120, 250])
        converted = amount * size / other_size
        question = chance.choice(_QUESTIONS[dimension])
        reference = f"{amount} {one}"
        right = chance.random() < 0.5
        if right:
            if not 0.5 <= converted < 1e6:
                continue
            text = f"{_shown(converted)} {other}"
        else:
            wrong = chance.choice([amount, converted * chance.choice([0.4, 0.7, 1.5, 3.0])])
            text = f"{_shown(wrong)} {other}"
            if abs(wrong - converted) < 0.15 * converted:
                continue
        yield question, [reference], chance.choice(_FRAMES).format(text), right


def _shown(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}".rstrip("0").rstrip(".") if value >= 1 else f"{value:.2f}"
