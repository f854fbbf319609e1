"""EVOUNA (Wang et al. 2023): five systems' answers to open questions, each with a human verdict."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme_research.datasets.locations import Local
from markscheme_research.datasets.rows import Family, as_answers, read_json, reading, text_or_none

SYSTEMS = {
    "fid": "DPR+FiD",
    "gpt35": "InstructGPT",
    "chatgpt": "ChatGPT",
    "gpt4": "GPT-4",
    "newbing": "BingChat",
}
"""Names in the file's fields, and the paper's names, in the paper's order."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What `load` accepts.

    Attributes:
        include_improper: also the questions that the annotators set aside (outdated or unclear).
        labelled_only: leave out answers without a human verdict; otherwise their label is null.
    """

    include_improper: bool = False
    labelled_only: bool = True


def load(local: Local, options: Options) -> pl.DataFrame:
    """One row a question and system; ids are `evouna-nq/<row of the file from 1>/<system>`.

    References are the parts of `golden_answer` between slashes. A null answer means that the
    system gave none.
    """
    frame = _rows(_path(local), local.dataset.name)
    if not options.include_improper:
        frame = frame.filter(~pl.col("improper"))
    if options.labelled_only:
        frame = frame.filter(pl.col("label").is_not_null())
    return as_answers(frame)


def counts(local: Local) -> dict[str, int]:
    """Questions (all, proper, improper), and of the proper ones answers labelled and not."""
    frame = _rows(_path(local), local.dataset.name)
    questions = frame.unique("row")
    proper = frame.filter(~pl.col("improper"))
    return {
        "questions": questions.height,
        "proper questions": questions.height - int(questions["improper"].sum()),
        "improper questions": int(questions["improper"].sum()),
        "labelled answers": proper.height - proper["label"].null_count(),
        "answers without a label": proper["label"].null_count(),
    }


def _path(local: Local) -> Path:
    return next(iter(local.files.values()))


def _rows(path: Path, name: str) -> pl.DataFrame:
    """Every question and system of the file, with its row and whether it is improper."""
    columns: dict[str, list[Any]] = {key: [] for key in _SCHEMA}
    with reading(path, "a file of EVOUNA"):
        for row, item in enumerate(read_json(path), start=1):
            gold = text_or_none(item["golden_answer"]) or ""
            references = [part for piece in gold.split("/") if (part := piece.strip())]
            for key, system in SYSTEMS.items():
                label = _label(item[f"judge_{key}"])
                answer = text_or_none(item[f"answer_{key}"])
                if label is None and answer == "None":
                    # EVOUNA-TQ writes an answer that was never given as the text "None".
                    answer = None
                values = (
                    row,
                    f"{name}/{row}/{key}",
                    text_or_none(item["question"]),
                    references,
                    answer,
                    system,
                    "text",
                    label,
                    bool(item["improper"]),
                )
                for column, value in zip(columns.values(), values, strict=True):
                    column.append(value)
        return pl.DataFrame(columns, schema=_SCHEMA)


_SCHEMA: dict[str, Any] = {
    "row": pl.Int64,
    "answer_id": pl.String,
    "question": pl.String,
    "references": pl.List(pl.String),
    "answer": pl.String,
    "system": pl.String,
    "reference_kind": pl.String,
    "label": pl.Float64,
    "improper": pl.Boolean,
}


def _label(verdict: Any) -> float | None:
    """A verdict may be true, false, null, or (in EVOUNA-TQ) the text "nan"."""
    if isinstance(verdict, bool):
        return float(verdict)
    return {"true": 1.0, "false": 0.0}.get(str(verdict).lower())


FAMILY = Family(options=Options, load=load, counts=counts)
