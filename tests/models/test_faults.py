"""Whatever a server does, every row ends judged or in a named status, and no secret gets out."""

from __future__ import annotations

import itertools
import json
import sqlite3
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.cli import run as run_command
from markscheme.models import ServerOptions
from markscheme.models.sources import ModelOptions, Models
from servers import Answer, ChatServer

SECRET = "sk-very-secret-0a1b2c3d"

SLIPS: list[Answer] = [
    Answer(status=429, headers={"Retry-After": "0.05"}, body=b'{"error":{"message":"slow down"}}'),
    Answer(status=429, headers={"Retry-After": "soon"}, body=b"{}"),
    Answer(status=500, body=f"broken, your key was {SECRET}".encode()),
    Answer(status=503, body=b"<html>Service Unavailable</html>"),
    Answer(delay=30.0),
    Answer(cut=0),
    Answer(cut=60),
    Answer(cut=200),
    Answer(body=b'{"choices":[{"message":{"content":"Ye'),
    Answer(body=b""),
    Answer(body=b"\xff\xfe\x00"),
    Answer(trickle=0.2),
]
"""What goes wrong now and then; the same request succeeds when it is sent again."""

LASTING: dict[str, tuple[Answer, str]] = {
    "context": (Answer(status=400, body=b'{"error":{"message":"too long"}}'), "failed"),
    "filter": (Answer(status=400, body=b'{"error":{"code":"content_filter"}}'), "refused"),
    "refusal": (Answer(extra={"message": {"content": None, "refusal": "I cannot."}}), "refused"),
    "always500": (Answer(status=500, body=b"{}"), "failed"),
    "hang": (Answer(delay=30.0), "failed"),
    "cut": (Answer(cut=10), "failed"),
    "empty": (Answer(text=""), "unparsed"),
    "null": (Answer(text=None), "unparsed"),
    "odd": (Answer(text="\u0000 maybe \ud83d\ude00"), "unparsed"),
}
"""What never goes right, by a word in the answer, with the status it must end in."""


def rows(count: int) -> list[dict[str, Any]]:
    words = [*LASTING, *(["good"] * (count - len(LASTING)))]
    return [
        {"id": str(n), "question": f"Question {n}?", "references": ["x"], "answer": f"<{w}> {n}"}
        for n, w in enumerate(words)
    ]


def behaviour(body: dict[str, Any], seen: int) -> Answer:
    # A second request for a readable reply ends with another message.
    text = "".join(str(message["content"]) for message in body["messages"])
    for word, (answer, _) in LASTING.items():
        if f"<{word}>" in text:
            return answer
    number = int(text.split("Question ")[1].split("?")[0])
    if seen < number % 3:
        return SLIPS[(number + seen * 7) % len(SLIPS)]
    return Answer(text="Yes" if number % 2 else "No")


@pytest.mark.joint
def test_every_row_is_judged_or_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", SECRET)
    answers = rows(150)
    with ChatServer(behaviour) as server:
        reach = ServerOptions(
            base_url=server.url, api_key_env="SOME_KEY", timeout=0.4, retries=6, backoff=0.01,
            concurrency=32,
        )  # fmt: skip
        models = Models(
            options=ModelOptions(model="m", server=reach, ledger=str(tmp_path / "l.sqlite"))
        )
        result = markscheme.judge(answers, "llm_kamalloo", models=models, out=tmp_path / "run")
        models.close()
    table = result.judgments
    assert table["answer_id"].to_list() == [row["id"] for row in answers]
    found = dict(zip(table["answer_id"], table["status"], strict=True))
    wanted = [status for _, status in LASTING.values()] + ["judged"] * (150 - len(LASTING))
    assert found == {str(n): status for n, status in enumerate(wanted)}
    assert table.filter(pl.col("status") == "judged")["verdict"].to_list() == [
        n % 2 == 1 for n in range(len(LASTING), 150)
    ]
    unjudged = table.filter(pl.col("status") != "judged")
    assert unjudged["verdict"].null_count() == unjudged.height
    assert all(text for text in unjudged["explanation"])
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert SECRET.encode() not in file.read_bytes(), file
    assert SECRET not in repr(models.chat()) + repr(result) + str(table.to_dicts())


def test_the_command_shows_no_secret_and_asks_again_for_what_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOME_KEY", SECRET)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows(40)[9:]))
    broken = itertools.count()

    def first_bad(_body: dict[str, Any], _seen: int) -> Answer:
        if next(broken) < 5:
            return Answer(status=500, body=f'{{"error":{{"message":"{SECRET}"}}}}'.encode())
        return Answer()

    with ChatServer(first_bad) as server:
        line = ["judge", "a.jsonl", "-j", "llm_kamalloo", "-m", "m", "--base-url", server.url,
                "--api-key-env", "SOME_KEY", "--debug", "--retries", "0", "-o", "run"]  # fmt: skip
        assert run_command(line) == 0
        shown = capfd.readouterr()
        assert "31 calls, cost unknown, 5 unread, 5 failed" in " ".join(shown.err.split())
        assert run_command([*line, "--again"]) == 0
        again = capfd.readouterr()
        assert "5 calls, cost unknown, 26 known" in " ".join(again.err.split())
        assert len(server.bodies) == 36
        assert all(header["authorization"].endswith(SECRET) for header in server.headers)
    assert pl.read_parquet("run/judgments.parquet")["status"].unique().to_list() == ["judged"]
    assert SECRET not in shown.out + shown.err + again.out + again.err
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert SECRET.encode() not in file.read_bytes(), file
    with sqlite3.connect("runs/ledger.sqlite") as connection:
        assert connection.execute("SELECT COUNT(*) FROM failures").fetchone() == (5,)


def test_a_server_that_goes_away_ends_the_run_and_keeps_what_it_said(tmp_path: Path) -> None:
    server = ChatServer(lambda _body, _seen: Answer(delay=0.01))
    reach: dict[str, Any] = {"timeout": 2.0, "retries": 1, "backoff": 0.001, "concurrency": 2}
    with server:
        options = ModelOptions(
            model="m",
            server=ServerOptions(base_url=server.url, **reach),
            ledger=str(tmp_path / "l.sqlite"),
        )
        models = Models(options=options)
        markscheme.judge(rows(40)[9:20], "llm_kamalloo", models=models)
    with pytest.raises(markscheme.MarkschemeError, match="stopped answering"):
        markscheme.judge(rows(200)[9:], "llm_kamalloo", models=models)
    assert models.ledger().query("SELECT COUNT(*) FROM replies") == [(11,)]
    models.close()
