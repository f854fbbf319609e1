"""Replies of models and servers that fail, generated: none is a verdict.

None of the pieces is a verdict, a mark, a relation or a statement about the world, so no judge may
judge on any of them. Numbers occur as parts of errors, words of a verdict only inside others.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator, Sequence

from markscheme.text import words_of

_PIECES = words_of(__file__)
_NAMES = tuple(
    """
    status code detail message error request_id retry_after type x data model usage trace object
    id param
    """.split()
)
_FAULTS: tuple[str, ...] = _PIECES["faults"]
_REFUSALS: tuple[str, ...] = _PIECES["refusals"]
_EMPTY_TALK: tuple[str, ...] = _PIECES["empty_talk"]
_LATIN = tuple(
    """
    lorem ipsum dolor sit amet consectetur adipiscing elit sed eiusmod tempor incididunt ut labore
    et dolore magna aliqua
    """.split()
)
_BLANKS: tuple[str, ...] = _PIECES["blanks"]


def _value(chance: random.Random, depth: int) -> object:
    if depth < 2 and chance.random() < 0.3:
        return {
            chance.choice(_NAMES): _value(chance, depth + 1) for _ in range(chance.randint(0, 3))
        }
    if depth < 2 and chance.random() < 0.15:
        return [_value(chance, depth + 1) for _ in range(chance.randint(0, 3))]
    return chance.choice(
        [None, chance.randint(400, 599), chance.choice(_FAULTS), "", chance.random(), -1, 10**20]
    )


def _object(chance: random.Random) -> str:
    found = {chance.choice(_NAMES): _value(chance, 0) for _ in range(chance.randint(1, 4))}
    text = json.dumps(found, indent=chance.choice([None, 2]))
    if chance.random() < 0.3:
        text = text[: chance.randint(1, len(text))]  # A stream that ended.
    return f"```json\n{text}\n```" if chance.random() < 0.2 else text


def _error(chance: random.Random) -> str:
    fault, code = chance.choice(_FAULTS), chance.randint(400, 599)
    forms = (
        f"Error: {fault}",
        f"Error {code}: {fault}",
        f"HTTP {code} {fault.title()}",
        f"{fault} (attempt {chance.randint(1, 9)} of {chance.randint(1, 9)})",
        f"<html><head><title>{code} {fault}</title></head><body>{fault}</body></html>",
        f'Traceback (most recent call last):\n  File "serve.py", line {code}\nError: {fault}',
        f"{fault}; retry after {chance.randint(1, 60)} s",
        f"ERR_{fault.upper().replace(' ', '_')}",
    )
    return chance.choice(forms)


def _noise(chance: random.Random) -> str:
    letters = string.punctuation + "\u00e9\u4e16\u0416\u05d0\U0001f600\u202e\n"
    return "".join(chance.choice(letters) for _ in range(chance.randint(1, 30)))


def _words(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return " ".join([chance.choice(_LATIN)] * chance.randint(3, 40))
    return " ".join(chance.choices(_LATIN, k=chance.randint(3, 30))).capitalize() + "."


_KINDS: tuple[Callable[[random.Random], str], ...] = (
    _object,
    _error,
    _error,
    _noise,
    _words,
    lambda chance: chance.choice(_REFUSALS),
    lambda chance: chance.choice(_EMPTY_TALK),
    lambda chance: chance.choice(_BLANKS),
)


def generated_garbage(count: int, *, seed: int = 0) -> Sequence[str]:
    """Replies that say nothing: errors, pages, objects, refusals, talk, noise, and mixtures.

    Args:
        count: how many.
        seed: equal ones give equal replies.
    """
    return list(_generated(count, random.Random(seed)))


def _generated(count: int, chance: random.Random) -> Iterator[str]:
    for _ in range(count):
        parts = [chance.choice(_KINDS)(chance) for _ in range(chance.choice((1, 1, 1, 2, 2, 3)))]
        yield chance.choice(("\n", " ", "\n\n")).join(parts)
