"""Progress is told chunk by chunk, and comes to the number of rows."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.engine import stream


def test_progress_moves_within_a_batch_and_ends_at_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "FIRST_CHUNK", 30)
    monkeypatch.setattr(stream, "chunk_after", lambda _items, _seconds: 30)
    rows = pl.DataFrame(
        {
            "question": [f"q {n % 100}" for n in range(150)],
            "references": [["a"]] * 150,
            "answer": [f"a {n % 100}" for n in range(150)],
            "system": [f"s{n // 100}" for n in range(150)],
        }
    )
    for out in (None, tmp_path / "run"):
        told: list[int] = []
        markscheme.judge(rows, "exact_match", out=out, on_progress=told.append)
        assert told == [45, 45, 45, 15]
