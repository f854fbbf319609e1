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
    "(a+)+", ".*", "a?", "(?<=a)", "[^b]{1,99}", "w{n}|", "(?i)", "$", "a",
)  # fmt: skip
"""What texts are made of; `{n}` is another number at each repetition."""


@dataclass(frozen=True)
class Hostile:
    """A row: `pattern` is repeated to `length` characters; the reference is of another one.

    `reference` is empty for a short one; `several` references share its length. `question` and
    `context` are repeated too; empty, they are a short one and none. Where `regex`, references are
    regular expressions. Where `brief`, the answer is no longer than one of the references.
    """

    pattern: str
    reference: str = ""
    ending: str = ""
    several: int = 1
    question: str = ""
    context: str = ""
    regex: bool = False
    brief: bool = False

    def __str__(self) -> str:
        """The row in words, for a cell of a table of Markdown."""
        answer, reference, ending, question, context = map(
            _quoted, (self.pattern, self.reference, self.ending, self.question, self.context)
        )
        kind = "pattern" if self.regex else "reference"
        if not self.reference:
            words = f"{answer} against a short {kind}"
        else:
            references = f"one {kind}" if self.several == 1 else f"{self.several:,} {kind}s"
            words = f"{answer} against {references} of {reference}, then {ending}"
        words += ", each as long as the answer" if self.brief else ""
        words += f", question {question}" if self.question else ""
        return words + (f", context {context}" if self.context else "")

    def row(self, length: int) -> dict[str, object]:
        """A row of about `length` characters, which its long texts share."""
        brief = self.brief and bool(self.reference)
        length //= (not brief) + sum(map(bool, (self.reference, self.question, self.context)))
        row: dict[str, object] = {
            "question": "What is it? " + filled(self.question, length if self.question else 0),
            "references": self.references(length) if self.reference else ["Paris, 12 km"],
            "answer": filled(self.pattern, length // self.several if brief else length),
        }
        if self.context:
            row["context"] = filled(self.context, length)
        return {**row, "reference_kind": "regex"} if self.regex else row

    def references(self, length: int) -> list[str]:
        """The long references, which share a length."""
        size = length // self.several
        text = filled(self.reference, size * self.several) + self.ending
        ends = range(size, size * self.several + 1, size)
        return [text[end - size : end + len(self.ending)] for end in ends]


KNOWN = (
    Hostile("and "),
    Hostile("12 km ", "12 km ", "x"),
    Hostile("北京", "{n} ", "x", MANY),
    Hostile("$\\frac{1}{2}$ ", "$\\frac{1}{2}$ ", "x"),
    Hostile("and ", "and ", "x"),
    Hostile("a. ", "a. ", "x"),
    Hostile("{n} ", question="{n} "),
    Hostile("from {n} to 91 km ", "from {n} to 91 km ", "x", 100, brief=True),
    Hostile("{n} km, ", "{n} km, ", "x", 300, brief=True),
)
"""What once took long."""


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

    What once took long and simple rows come first, then changes of the worst one. It ends after
    `within` seconds.
    """
    took_by = parse_judge(judge)
    every = "".join(PIECES)
    apply(took_by, read_answers([Hostile(every, every).row(4000)]))  # Loads what it needs.
    until, chance = time.monotonic() + within, random.Random(seed)
    simple = [
        Hostile(piece, other, "x", several, question, context, regex, brief)
        for piece in PIECES
        for other, several, question, context, regex, brief in (
            ("", 1, "", "", False, False),
            (piece, 1, "", "", False, False),
            (piece, 1000, "", "", False, False),
            (piece, MANY, "", "", False, False),
            ("{n} ", MANY, "", "", False, False),
            ("", 1, piece, "", False, False),
            (piece, 20, "{n} ", "", False, False),
            ("", 1, "", piece, False, False),
            (piece, 1, "", "", True, False),
            (piece, 1000, "", "", True, False),
            ("w{n} ", MANY, "", "", True, False),
            (piece, 300, "", "", False, True),
        )
    ]
    chance.shuffle(simple)
    simple = [*KNOWN, *simple]
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
    match chance.randrange(10):
        case 0:
            return replace(row, pattern=row.pattern + piece)
        case 1:
            return replace(row, pattern=piece + row.pattern, reference=row.reference and piece)
        case 2:
            return replace(row, reference=chance.choice(["", row.pattern, piece]))
        case 3:
            return replace(row, several=chance.choice([1, 20, 300, 1000, MANY]))
        case 4:
            return replace(row, ending=piece)
        case 5:
            return replace(row, question=chance.choice(["", row.pattern, row.reference, piece]))
        case 6:
            return replace(row, context=chance.choice(["", row.pattern, row.reference, piece]))
        case 7:
            return replace(row, regex=not row.regex)
        case 8:
            return replace(row, brief=not row.brief)
        case _:
            return replace(row, pattern=piece)


if __name__ == "__main__":
    name, first, steps, within = sys.argv[1:]
    climb(name, seed=48, first=int(first), steps=int(steps), within=float(within))
