"""Prompted judges on Ray: one ledger, and limits that hold for all workers."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from markscheme.cli import run
from postgres import running
from servers import ChatServer


def answers(count: int) -> pl.DataFrame:
    numbers = range(count)
    return pl.DataFrame(
        {
            "question": [f"Who came in as number {number}?" for number in numbers],
            "references": [[f"runner {number}"] for number in numbers],
            "answer": [f"It was runner {number % 97}." for number in numbers],
        }
    )


@pytest.mark.proof(area="cluster")
def test_prompted_judges_share_a_ledger_and_their_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-the-test")
    answers(200).write_parquet(tmp_path / "a.parquet", row_group_size=100)
    monkeypatch.setattr("markscheme.engine.shards.PIECE_ROWS", 100)
    with running() as ledger, ChatServer() as server:
        command = ["judge", str(tmp_path / "a.parquet"), "-j", "llm_kamalloo", "-q",
                   "--engine", "ray", "--workers", "2", "--model", "m", "--base-url", server.url,
                   "--ledger", ledger]  # fmt: skip
        assert run([*command, "--out", str(tmp_path / "one")]) == 0
        first = server.asked()
        assert sum(first.values()) == 200
        # A second run, elsewhere, finds every reply in the ledger.
        assert run([*command, "--out", str(tmp_path / "two")]) == 0
        assert server.asked() == first
    one, two = (
        pl.read_parquet(tmp_path / name / "judgments.parquet" / "*.parquet")
        for name in ("one", "two")
    )
    assert one["verdict"].equals(two["verdict"])
    assert set(one["status"]) <= {"judged", "unparsed"}
    for file in (tmp_path / "one").rglob("*"):
        assert not file.is_file() or b"a-key-of-the-test" not in file.read_bytes()
