"""Solved examples for a prompt: their file, and that none is about a question to judge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import orjson
import polars as pl

from markscheme.errors import DataError, JudgeError
from markscheme.tables import reference_texts
from markscheme.text import normalise_series

Mark = Literal["label", "rank"]

_COMMANDS: Mapping[Mark, str] = {
    "label": "markscheme research examples LABELLED",
    "rank": "markscheme research references shots DATA",
}
"""What makes the examples that have such a mark."""


def read_examples(path: str, mark: Mark = "label") -> tuple[Mapping[str, Any], ...]:
    """Examples of a JSONL file with `question`, `references`, `answer` and a mark.

    Args:
        path: the file; references as in files of answers: a list, or a text for one.
        mark: `label`, 1 or 0, which becomes the `verdict` Yes or No; or `rank`, from 1 to one more
            than there are references, which are listed best first.

    Raises:
        JudgeError: the file cannot be read or lacks something.
    """
    found, where = [], repr(path)
    try:
        for number, line in enumerate(Path(path).read_bytes().splitlines(), start=1):
            if not line.strip():
                continue
            where = f"{path!r}, line {number}"
            row = orjson.loads(line)
            example: dict[str, Any] = {
                "question": str(row["question"]),
                "references": reference_texts(row["references"]),
                "answer": str(row["answer"]),
            }
            found.append(example | _marked(row, mark, len(example["references"])))
    except (OSError, DataError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise JudgeError(
            f"cannot read the examples {where} ({type(error).__name__}: {error}); make them with "
            f"'{_COMMANDS[mark]} --out FILE'"
        ) from None
    if not found:
        raise JudgeError(f"there are no examples in {path!r}")
    return tuple(found)


def _marked(row: Mapping[str, Any], mark: Mark, references: int) -> dict[str, Any]:
    """The mark of a line, under the name that prompts use.

    Raises:
        KeyError, TypeError, ValueError: there is none, or it is out of range.
    """
    if mark == "label":
        if row["label"] not in (1, 0):
            raise ValueError(f"the label {row['label']!r} is neither 1 nor 0")
        return {"verdict": "Yes" if row["label"] else "No"}
    last = references + 1
    if row["rank"] not in range(1, last + 1):
        raise ValueError(f"the rank {row['rank']!r} is not from 1 to {last}")
    return {"rank": row["rank"]}


def examples_hash(examples: Sequence[Mapping[str, Any]]) -> str:
    """Sixteen hex digits over the examples themselves."""
    text = json.dumps(examples, sort_keys=True, ensure_ascii=False)
    return blake2b(text.encode(), digest_size=8).hexdigest()


def check_apart(shots: Sequence[Mapping[str, Any]], questions: pl.Series, path: str) -> None:
    """Refuse examples that are among the questions to judge, compared after normalisation.

    Raises:
        JudgeError: naming the first such question.
    """
    judged = set(normalise_series(questions))
    own = pl.Series([shot["question"] for shot in shots], dtype=pl.String)
    for question, plain in zip(own, normalise_series(own), strict=True):
        if plain in judged:
            raise JudgeError(
                f"the example {question!r} of {path!r} is among the questions to judge, so its "
                "answer would be given away; make examples from another dataset"
            )
