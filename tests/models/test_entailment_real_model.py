"""The whole entailment pipeline against a real model: killed, resumed, nothing asked twice."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.models import ServerOptions
from markscheme.models.sources import ModelOptions, Models
from real_model import check_installed, save, serving

pytestmark = pytest.mark.proof(area="models")

JUDGE = "entailment(statements=chat, test=chat, marks=difficulty, seed=42, max_tokens=12)"
ROWS = [
    {
        "question": "Who wrote Emma?",
        "references": ["Jane Austen"],
        "answer": "Jane Austen wrote it",
    },
    {"question": "Where is the Louvre?", "references": ["Paris"], "answer": "in France"},
]


def replies(ledger: Path) -> int:
    """Replies that a ledger holds."""
    if not ledger.exists():
        return 0
    try:
        with sqlite3.connect(ledger) as connection:
            return int(connection.execute("SELECT COUNT(*) FROM replies").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def opened(folder: Path, url: str, ledger: Path) -> Models:
    reach = ServerOptions(base_url=url, concurrency=1, timeout=240.0, retries=1)
    return Models(options=ModelOptions(model=str(folder), server=reach, ledger=str(ledger)))


def test_it_is_killed_and_goes_on_without_a_repeated_call(tmp_path: Path) -> None:
    check_installed()
    folder = tmp_path / "smollm2"
    save(folder)
    answers, ledger = tmp_path / "answers.jsonl", tmp_path / "ledger.sqlite"
    answers.write_text("\n".join(json.dumps(row) for row in ROWS))
    with serving(folder) as url:
        command = [
            sys.executable, "-m", "markscheme", "judge", str(answers), "-j", JUDGE, "-q",
            "--model", str(folder), "--base-url", url, "--ledger", str(ledger),
            "--out", str(tmp_path / "run"), "--concurrency", "1", "--timeout", "240",
        ]  # fmt: skip
        first = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "OPENAI_API_KEY": "none"},
        )  # fmt: skip
        try:
            # The first statement, and one reply more: killed amid the stages.
            while replies(ledger) < 2 and first.poll() is None:
                time.sleep(0.1)
        finally:
            first.send_signal(signal.SIGKILL)
            first.wait()
        before = replies(ledger)
        assert before >= 2
        models = opened(folder, url, ledger)
        table = markscheme.judge(answers, JUDGE, models=models, out=tmp_path / "run").judgments
        spending = models.budget.spending
        models.close()
        after = replies(ledger)
        assert spending.known == before
        assert spending.calls == after - before
        again = opened(folder, url, ledger)
        repeated = markscheme.judge(answers, JUDGE, models=again, out=tmp_path / "again").judgments
        assert again.budget.spending.calls == 0
        again.close()
    assert repeated.equals(table)
    check(table)


def check(table: pl.DataFrame) -> None:
    """A poor model, a real path: every row has a status that fits what it was told."""
    assert table.height == len(ROWS)
    assert set(table["status"]) <= {"judged", "unparsed"}, table["explanation"].to_list()
    assert (table["tokens_in"] > 0).all()
    for row in table.iter_rows(named=True):
        kept: dict[str, Any] = json.loads(row["raw"])
        assert kept["statement_reply"] is not None
        assert (row["relation"] is None) == (row["status"] == "unparsed")
        if row["relation"] in ("superior", "inferior"):
            assert kept["marks"]["inference"] is not None
