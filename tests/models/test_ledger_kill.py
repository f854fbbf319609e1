"""Runs that are killed, and runs side by side: nothing is paid twice, no row is lost or doubled."""

from __future__ import annotations

import ast
import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import polars as pl
from servers import Answer, ChatServer

ROWS = 600
SIDE_BY_SIDE = 8


DRIVER = """
import os, sys
from markscheme.cli import main
from markscheme.models.openai_server import OpenAIChat

log = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
ask = OpenAIChat.ask

async def heard(self, request):
    reply = await ask(self, request)
    os.write(log, repr(request.last_user).encode() + b"\\n")
    return reply

OpenAIChat.ask = heard
main()
"""
"""The command itself, noting each reply the moment it has arrived."""


def write_answers(path: Path) -> None:
    rows = (
        {"id": f"a{n}", "question": f"What is {n} and one?", "references": [str(n + 1)],
         "answer": f"It is {n + 1}."}
        for n in range(ROWS)
    )  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def command(folder: Path, url: str, out: str, *more: str) -> list[str]:
    return [
        sys.executable, "-c", DRIVER, str(folder / "arrived.txt"),
        "judge", str(folder / "answers.jsonl"), "--quiet",
        "--judge", "llm_kamalloo", "--model", "m", "--base-url", url,
        "--concurrency", str(SIDE_BY_SIDE), "--ledger", str(folder / "ledger.sqlite"),
        "--out", str(folder / out), *more,
    ]  # fmt: skip


def behaviour(body: dict[str, Any], _seen: int) -> Answer:
    number = sum(body["messages"][-1]["content"].encode())
    return Answer(text="Yes" if number % 3 else "No", delay=0.02)


def kept(folder: Path) -> set[str]:
    """Last messages of the requests whose reply the ledger holds."""
    if not (folder / "ledger.sqlite").exists():
        return set()
    with sqlite3.connect(folder / "ledger.sqlite") as connection:
        rows = connection.execute("SELECT request FROM replies").fetchall()
    return {orjson.loads(row[0])["messages"][-1]["content"] for row in rows}


def arrived(folder: Path) -> set[str]:
    """Last messages of the requests whose reply had arrived in any of the runs so far."""
    file = folder / "arrived.txt"
    return {ast.literal_eval(line) for line in file.read_text().splitlines()}


def test_ten_kills_cost_nothing_that_had_arrived(tmp_path: Path) -> None:
    """What was in the ledger at a kill is never asked again.

    Between a reply's arrival and its commit there is an instant in which a kill loses it. At most
    as many replies as requests side by side can be in it; how many were is printed.
    """
    write_answers(tmp_path / "answers.jsonl")
    dice = random.Random(7)
    thresholds = sorted(dice.sample(range(10, ROWS - 20), 10))
    snapshots: list[tuple[set[str], Counter[str]]] = []
    lost = []
    with ChatServer(behaviour) as server:
        for threshold in thresholds:
            process = subprocess.Popen(command(tmp_path, server.url, "run"))
            deadline = time.monotonic() + 60
            while server.answered.total() < threshold and process.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.001)
            time.sleep(dice.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL)
            process.wait()
            time.sleep(0.05)  # requests under way reach the server before its counts are read
            known = kept(tmp_path)
            snapshots.append((known, server.asked()))
            lost.append(len(arrived(tmp_path) - known))
        subprocess.run(command(tmp_path, server.url, "run"), check=True, capture_output=True)
        final = server.asked()
        # Again from the ledger alone: the same bytes, and not one request.
        subprocess.run(
            command(tmp_path, server.url, "again", "--replay"), check=True, capture_output=True
        )
        assert server.asked() == final
    assert len(final) == ROWS
    for known, asked_by_then in snapshots:
        assert known
        assert all(final[message] == asked_by_then[message] for message in known)
    print(f"replies that had arrived and were not committed at each of ten kills: {lost}")
    assert max(lost) <= SIDE_BY_SIDE
    assert final.total() - ROWS <= sum(lost) + 10 * SIDE_BY_SIDE
    judgments = pl.read_parquet(tmp_path / "run" / "judgments.parquet")
    assert judgments["answer_id"].to_list() == [f"a{n}" for n in range(ROWS)]
    assert set(judgments["status"]) == {"judged"}
    assert judgments["seconds"].null_count() == 0
    for name in ("judgments.parquet", "summary.json", "summary.md"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_two_runs_on_one_ledger_share_the_work(tmp_path: Path) -> None:
    write_answers(tmp_path / "answers.jsonl")
    with ChatServer(behaviour) as server:
        runs = [subprocess.Popen(command(tmp_path, server.url, out)) for out in ("one", "two")]
        assert [run.wait(60) for run in runs] == [0, 0]
        assert set(server.asked().values()) == {1}
        assert len(server.asked()) == ROWS
    one, two = (tmp_path / name / "judgments.parquet" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
