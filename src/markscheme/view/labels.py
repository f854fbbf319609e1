"""Verdicts that people give while they look at a run: labels in a file beside its folder."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from markscheme.errors import DataError
from markscheme.tables import replace_file

_LONGEST_COMMENT = 10_000


@dataclass(frozen=True, kw_only=True)
class Given:
    """A label as it was given: 1 for right, 0 for wrong, None for a comment alone."""

    label: int | None
    comment: str
    labelled_at: float


class RunLabels:
    """The labels of one run, in `RUN.labels.jsonl` beside its folder.

    The file has a row for each answer (`answer_id`, `label`, `comment`, `labelled_at`), is written
    whole each time, and is what `markscheme agree`, `estimate` and `report --labels` read.
    """

    def __init__(self, run: Path) -> None:
        place = run.resolve()
        self.path = place.with_name(f"{place.name}.labels.jsonl")
        self._lock = threading.Lock()

    def all(self) -> dict[str, Given]:
        """By answer id.

        Raises:
            DataError: the file is none of ours.
        """
        if not self.path.is_file():
            return {}
        found = {}
        for number, line in enumerate(self.path.read_bytes().splitlines(), start=1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
                found[str(row["answer_id"])] = Given(
                    label=None if row["label"] is None else int(row["label"]),
                    comment=str(row.get("comment") or ""),
                    labelled_at=float(row.get("labelled_at") or 0.0),
                )
            except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
                raise DataError(
                    f"{self.path}, line {number}: no label of the viewer ({error}); fix the line "
                    "or move the file away"
                ) from None
        return found

    def give(self, answer_id: str, label: int | None, comment: str = "") -> dict[str, Given]:
        """Keep a label or a comment, durably; with neither, what was there is taken back."""
        with self._lock:
            kept = self.all()
            if label is None and not comment.strip():
                kept.pop(answer_id, None)
            else:
                kept[answer_id] = Given(
                    label=label, comment=comment[:_LONGEST_COMMENT], labelled_at=time.time()
                )
            rows = (
                orjson.dumps({"answer_id": name, "label": one.label, "comment": one.comment,
                              "labelled_at": round(one.labelled_at, 3)})
                for name, one in kept.items()
            )  # fmt: skip
            replace_file(self.path, b"".join(row + b"\n" for row in rows))
            return kept


def with_given(answers: pl.DataFrame, given: Mapping[str, Given]) -> pl.DataFrame:
    """An answers table whose labels are those given, and else those that it had."""
    labelled: dict[str, Any] = {
        name: float(one.label) for name, one in given.items() if one.label is not None
    }
    if not labelled:
        return answers
    mine = pl.DataFrame(
        {"answer_id": list(labelled), "given": list(labelled.values())},
        schema={"answer_id": pl.String, "given": pl.Float64},
    )
    joined = answers.join(mine, on="answer_id", how="left", maintain_order="left")
    # Where somebody decided here, several annotators' labels of before no longer count.
    return joined.with_columns(
        label=pl.coalesce("given", "label"),
        annotator_labels=pl.when(pl.col("given").is_null()).then("annotator_labels"),
    ).drop("given")
