"""Synthetic answers for timing, drawn from the bundled example: as many distinct rows as wanted."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

EXAMPLE = Path(__file__).parents[1] / "examples" / "answers.jsonl"
SEED = 20260101
SYSTEMS = ("first", "second", "third", "fourth")
COLUMNS = ["id", "question", "references", "answer", "system"]
PIECE = 100_000

Row = tuple[str, str, list[str], str, str]


def write_rows(path: Path, count: int) -> None:
    """`count` distinct answers of four systems as Parquet: `COLUMNS`.

    Each question takes an example's text and references; each answer is either a reference with a
    few words after it or an example's answer with some words exchanged for words of other answers.
    """
    rows = islice(_rows(random.Random(SEED)), count)
    pieces = [pl.DataFrame(piece, orient="row", schema=COLUMNS) for piece in _pieces(rows)]
    pl.concat(pieces).write_parquet(path)


def _pieces(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while piece := list(islice(rows, PIECE)):
        yield piece


def _rows(drawn: random.Random) -> Iterator[Row]:
    examples = [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]
    examples = [row for row in examples if row["answer"] and row["references"]]
    words = [word for row in examples for word in row["answer"].split()]
    number = 0
    while True:
        example = drawn.choice(examples)
        question = f"{example['question']} ({number // len(SYSTEMS)})"
        given: set[str] = set()
        for system in SYSTEMS:
            while (answer := _answer(drawn, example, words)) in given:
                pass
            given.add(answer)
            yield str(number), question, example["references"], answer, system
            number += 1


def _answer(drawn: random.Random, example: dict[str, Any], words: list[str]) -> str:
    if drawn.random() < 0.3:
        parts = [drawn.choice(example["references"]), *drawn.choices(words, k=drawn.randrange(3))]
    else:
        parts = example["answer"].split()
        for _ in range(1 + len(parts) // 6):
            parts[drawn.randrange(len(parts))] = drawn.choice(words)
    return " ".join(parts)
