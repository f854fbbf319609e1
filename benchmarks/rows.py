"""Synthetic answers for timing, drawn from the bundled example: as many distinct rows as wanted."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl

EXAMPLE = Path(__file__).parents[1] / "examples" / "answers.jsonl"
SEED = 20260101
PIECE = 100_000
COLUMNS = ["question", "references", "answer", "system"]


def write_rows(path: Path, count: int) -> None:
    """`count` distinct answers as Parquet: question, references, answer, system.

    Each takes an example's question and references and either a reference with a few words around
    it or the example's answer with some of its words exchanged for words of other answers.
    """
    drawn = random.Random(SEED)
    examples = [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]
    examples = [row for row in examples if row["answer"] and row["references"]]
    words = [word for row in examples for word in row["answer"].split()]
    frames = []
    for start in range(0, count, PIECE):
        rows = [
            _row(number, drawn, examples, words)
            for number in range(start, min(start + PIECE, count))
        ]
        frames.append(
            pl.DataFrame(rows, orient="row", schema=["question", "references", "answer", "system"])
        )
    pl.concat(frames).write_parquet(path)


def _row(
    number: int, drawn: random.Random, examples: list[dict[str, object]], words: list[str]
) -> tuple[str, list[str], str, str]:
    example = drawn.choice(examples)
    references = [str(text) for text in example["references"]]  # type: ignore[attr-defined]
    if drawn.random() < 0.3:
        parts = [drawn.choice(references), *drawn.choices(words, k=drawn.randrange(3))]
    else:
        parts = str(example["answer"]).split()
        for _ in range(1 + len(parts) // 6):
            parts[drawn.randrange(len(parts))] = drawn.choice(words)
    question = f"{example['question']} ({number})"
    return question, references, " ".join(parts), str(example["system"])
