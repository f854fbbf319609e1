"""Whether a finished run is as it was left: its files, its figures, and what it consists of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.engine import CLUSTERS, summarise
from markscheme.errors import signature_wanted
from markscheme.results import Column, Table, TableResult
from markscheme.tables import (
    MANIFEST,
    content_digests,
    damages,
    read_json,
    read_manifest,
    scan_parquet,
    table_batches,
)

_FIGURES = "figures of summary.json"
_DIGITS = 16


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VerifyResult(TableResult):
    """What was checked. `frame` has a row for each file of the run and one for its figures.

    Attributes:
        passed: everything is as the run left it.
    """

    passed: bool

    def __bool__(self) -> bool:
        """Whether everything is as the run left it."""
        return self.passed


def verify(run: str | Path) -> VerifyResult:
    """Check a finished run: each file against its digest, the figures against the judgments.

    The digests of the content are the same for equal judgments of equal answers, however many
    workers, kills and engines made them; two runs are equal where these are.

    Args:
        run: the folder that `markscheme judge` wrote.

    Raises:
        RunError: no finished run is there, its manifest is not its own, or it lacks a valid
            signature although MARKSCHEME_SEAL_KEY is set.
    """
    folder = Path(run)
    manifest = read_manifest(folder)
    wrong = damages(folder, manifest)
    rows = [
        {
            "part": name,
            "bytes": manifest["files"].get(name, {}).get("bytes"),
            "state": wrong.get(name, "unchanged"),
        }
        for name in dict.fromkeys((*manifest["files"], *wrong))
    ]
    content = None
    if not wrong:
        answers = scan_parquet(folder / "answers.parquet")
        judgments = scan_parquet(folder / "judgments.parquet")
        content = content_digests(table_batches(answers), table_batches(judgments))
        clusters = answers.select(CLUSTERS).collect(engine="streaming")
        stated = read_json(folder / "summary.json").get("figures")
        same = _alike(summarise(judgments, clusters), stated)
        state = "follow from the judgments" if same else "do not follow from the judgments"
        rows.append({"part": _FIGURES, "bytes": None, "state": state})
        if not same:
            wrong[_FIGURES] = state
    frame = pl.DataFrame(rows, schema={"part": pl.String, "bytes": pl.Int64, "state": pl.String})
    signed = bool(read_json(folder / "run.json").get("signature"))
    data = {
        "run": str(folder),
        "passed": not wrong,
        "signature": _signature(signed=signed),
        "markscheme": manifest["markscheme"],
        "ledger": manifest["ledger"],
        "parts": rows,
        "content": content,
    }
    return VerifyResult(
        frame=frame, tables=_tables(rows, content, data), data=data, passed=not wrong
    )


def _signature(*, signed: bool) -> str:
    if not signed:
        return "none"
    return "valid" if signature_wanted() else "not checked (MARKSCHEME_SEAL_KEY is not set)"


def _alike(one: Any, other: Any) -> bool:
    """Whether values are equal, numbers up to what the order of a sum may change."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(
            _alike(mine, theirs) for mine, theirs in zip(one, other, strict=True)
        )
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return bool(one == other)


def _tables(
    rows: list[dict[str, Any]], content: dict[str, Any] | None, data: dict[str, Any]
) -> tuple[Table, ...]:
    notes = [f"Seal: {MANIFEST}; signature: {data['signature']}."]
    if data["ledger"]["entries"]:
        notes.append(f"Entries of the ledger that were used: {data['ledger']['entries']:,}.")
    files = Table.of(
        "The run is unchanged" if data["passed"] else "The run was CHANGED or damaged",
        ("part", Column("bytes", format="count"), "state"),
        rows,
        notes,
    )
    if content is None:
        return (files,)
    named = {"answers": content["answers"], **content["judgments"]}
    of_content = Table.of(
        "Content",
        ("table", Column("rows", format="count"), "SHA-256"),
        [(name, one["rows"], one["sha256"][:_DIGITS]) for name, one in named.items()],
        ("Depends on the content only, not on the engine, the workers or interruptions.",),
    )
    return files, of_content
