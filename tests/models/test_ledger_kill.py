"""Runs that are killed, and runs side by side: nothing is paid twice, no row is lost or doubled."""

from __future__ import annotations

import json
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from servers import Answer, ChatServer, last_message

ROWS = 600
SIDE_BY_SIDE = 8
KILLS = 10


DRIVER = """
import os, re, sys
from aiohttp.client_proto import ResponseHandler
from markscheme.cli import main

log = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
read = ResponseHandler.data_received

def noted(self, data):
    for number in re.findall(rb'"id": "(a[0-9]+)"', data):
        os.write(log, number + b"\\n")
    read(self, data)

ResponseHandler.data_received = noted
main()
"""
"""The command itself, noting each reply as its bytes come out of the kernel, before they are even
parsed. Nothing in the process knows of a reply any sooner."""


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


def name_of(message: str) -> str:
    """The id of the answer that a request is about."""
    found = re.search(r"What is ([0-9]+) and one", message)
    assert found
    return f"a{found[1]}"


def behaviour(body: dict[str, Any], _seen: int) -> Answer:
    name = name_of(last_message(body))
    answer = Answer(text="Yes" if int(name[1:]) % 3 else "No", delay=0.02)
    completion = {**json.loads(answer.payload("m")), "id": name}
    return replace(answer, body=json.dumps(completion).encode())


def by_name(counts: Counter[str]) -> Counter[str]:
    """Counts of messages as counts of answers."""
    return Counter({name_of(message): count for message, count in counts.items()})


def kept(folder: Path) -> set[str]:
    """Answers whose reply the ledger holds."""
    if not (folder / "ledger.sqlite").exists():
        return set()
    with sqlite3.connect(folder / "ledger.sqlite") as connection:
        rows = connection.execute("SELECT request FROM replies").fetchall()
    return {name_of(orjson.loads(row[0])["messages"][-1]["content"]) for row in rows}


def arrived(folder: Path) -> list[str]:
    """Answers whose reply's bytes were read in any of the runs so far, in order."""
    file = folder / "arrived.txt"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.joint
def test_ten_kills_cost_nothing_that_had_arrived(tmp_path: Path) -> None:
    """Nothing that was kept is ever asked again, and what has arrived is kept.

    Between a reply's first byte in the process and its commit lies what it takes to parse it. No
    other reply is read in that time, so at most the very last one can be lost to a kill, and only
    by a kill within it. That no earlier one is, holds for every kill; how many kills found one in
    hand, and how many replies were still in the kernel, is printed.
    """
    write_answers(tmp_path / "answers.jsonl")
    dice = random.Random(7)
    thresholds = sorted(dice.sample(range(10, ROWS - 20), KILLS))
    lost, unread = [], []
    before = 0
    seen_by_then: list[tuple[set[str], Counter[str]]] = []
    with ChatServer(behaviour) as server:
        for threshold in thresholds:
            process = subprocess.Popen(command(tmp_path, server.url, "run"))
            deadline = time.monotonic() + 60
            while server.answered.total() < threshold and process.poll() is None:
                assert time.monotonic() < deadline
                time.sleep(0.001)
            time.sleep(dice.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL)
            sent = set(by_name(Counter(server.answered)))
            process.wait()
            time.sleep(0.05)  # requests under way reach the server before its counts are read
            known, read = kept(tmp_path), arrived(tmp_path)
            in_this_run, before = read[before:], len(read)
            assert known
            assert set(in_this_run) - known <= set(in_this_run[-1:])
            lost.append(len(set(in_this_run) - known))
            unread.append(len(sent - set(read)))
            seen_by_then.append((known, by_name(server.asked())))
        subprocess.run(command(tmp_path, server.url, "run"), check=True, capture_output=True)
        final = by_name(server.asked())
        # Again from the ledger alone: the same bytes, and not one request.
        subprocess.run(
            command(tmp_path, server.url, "again", "--replay"), check=True, capture_output=True
        )
        assert by_name(server.asked()) == final
    for known, asked_by_then in seen_by_then:
        assert all(final[name] == asked_by_then[name] for name in known)
    print(f"replies read and not yet kept at each kill: {lost}; sent and not yet read: {unread}")
    assert len(final) == ROWS
    judgments = pl.read_parquet(tmp_path / "run" / "judgments.parquet")
    assert judgments["answer_id"].to_list() == [f"a{n}" for n in range(ROWS)]
    assert set(judgments["status"]) == {"judged"}
    assert judgments["seconds"].null_count() == 0
    for name in ("judgments.parquet", "summary.json", "summary.md"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


@pytest.mark.proof(area="models")
def test_two_runs_on_one_ledger_share_the_work(tmp_path: Path) -> None:
    write_answers(tmp_path / "answers.jsonl")
    with ChatServer(behaviour) as server:
        runs = [subprocess.Popen(command(tmp_path, server.url, out)) for out in ("one", "two")]
        assert [run.wait(60) for run in runs] == [0, 0]
        assert set(server.asked().values()) == {1}
        assert len(server.asked()) == ROWS
    one, two = (tmp_path / name / "judgments.parquet" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
