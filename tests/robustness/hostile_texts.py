"""Texts that take a judge long: pieces repeated and mixed, and a small search for the worst."""

from __future__ import annotations

import json
import random
import sys
import time
from dataclasses import asdict, dataclass, replace

from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.tables.answers import read_answers

LENGTH = 100_000
MANY = 15_000

PIECES = (
    "and ", "or ", "but it is ", "is not ", "Paris ", "John Smith, ", "a, ", "a. ", ";",
    "\n", "- item\n", "1. one\n", "12 ", "1", "0.5 ", "1,", "12 km ", "$5 ", "5% ",
    "3 hours ", "May 1, 2020 ", "1990s ", "twenty-one ", "x=1+", "2^", "(", "() ", "[1] ",
    "{", "\"", "\"a\" ", "'", "\\", "$\\frac{1}{2}$ ", "`a` ", "| a ", "# ", "**a** ",
    "http://a.b ", "a/b ", "a-", "v1.2 ", "I think ", "we we ", "?", '\xe9\u0301 ',
    '\u200b', "北京", "👩‍👩‍👧", '\u202e', "ß", "İ", " ", "\t", "between 1 and 2 ",
    "more than ", "the ", "{n} ", "w{n} ", "W{n} ", "{n} km, ", "x{n}=",
)  # fmt: skip
"""What texts are made of; `{n}` is another number at each repetition."""


@dataclass(frozen=True)
class Hostile:
    """A row: `pattern` is repeated to `length` characters; the reference is of another one.

    `reference` is empty for a short one; `several` references share its length.
    """

    pattern: str
    reference: str = ""
    ending: str = ""
    several: int = 1

    def __str__(self) -> str:
        """The row in words, for a cell of a table of Markdown."""
        answer, reference, ending = map(_quoted, (self.pattern, self.reference, self.ending))
        if not self.reference:
            return f"{answer} against a short reference"
        references = "one" if self.several == 1 else f"{self.several:,} references"
        return f"{answer} against {references} of {reference}, then {ending}"

    def row(self, length: int) -> dict[str, object]:
        """A row of `length` characters in all."""
        if not self.reference:
            references = ["Paris, 12 km"]
        else:
            size = length // 2 // self.several
            text = filled(self.reference, size * self.several) + self.ending
            ends = range(size, size * self.several + 1, size)
            references = [text[end - size : end + len(self.ending)] for end in ends]
            length //= 2
        answer = filled(self.pattern, length)
        return {"question": "What is it?", "references": references, "answer": answer}


def _quoted(text: str) -> str:
    """A text as Python writes it in ASCII, without what ends code or a cell in Markdown."""
    return f"`{ascii(text).replace('|', chr(92) + 'x7c').replace('`', chr(92) + 'x60')}`"


def filled(pattern: str, length: int) -> str:
    """A pattern over and over, up to a length."""
    count = length // max(1, len(pattern.replace("{n}", ""))) + 1
    if "{n}" not in pattern:
        return (pattern * count)[:length]
    return "".join(pattern.replace("{n}", str(number)) for number in range(count))[:length]


def climb(judge: str, *, seed: int, first: int, steps: int, within: float) -> None:
    """Print a line of JSON for each row that took longer than all before.

    Simple rows come first, then changes of the worst one. It ends after `within` seconds.
    """
    took_by = parse_judge(judge)
    every = "".join(PIECES)
    apply(took_by, read_answers([Hostile(every, every).row(4000)]))  # Loads what it needs.
    until, chance = time.monotonic() + within, random.Random(seed)
    simple = [
        Hostile(piece, other, "x", several)
        for piece in PIECES
        for other, several in (("", 1), (piece, 1), (piece, 1000), (piece, MANY), ("{n} ", MANY))
    ]
    chance.shuffle(simple)
    longest, worst = -1.0, simple[0]
    for step in range(first + steps):
        if time.monotonic() > until:
            break
        row = simple[step] if step < first else changed(worst, chance)
        table = read_answers([row.row(LENGTH)])
        began = time.process_time()
        outcome = apply(took_by, table, row_seconds=30)
        took = time.process_time() - began
        if took > longest:
            longest, worst = took, row
            found = {"seconds": took, "step": step, "row": asdict(row)}
            print(json.dumps({**found, "said": outcome["explanation"][0]}), flush=True)


def changed(row: Hostile, chance: random.Random) -> Hostile:
    """A neighbour of a row."""
    piece = chance.choice(PIECES)
    match chance.randrange(6):
        case 0:
            return replace(row, pattern=row.pattern + piece)
        case 1:
            return replace(row, pattern=piece + row.pattern, reference=row.reference and piece)
        case 2:
            return replace(row, reference=chance.choice(["", row.pattern, piece]))
        case 3:
            return replace(row, several=chance.choice([1, 20, 1000, MANY]))
        case 4:
            return replace(row, ending=piece)
        case _:
            return replace(row, pattern=piece)


if __name__ == "__main__":
    name, first, steps, within = sys.argv[1:]
    climb(name, seed=48, first=int(first), steps=int(steps), within=float(within))
