"""Judges that wait for a server are one stream: a row waits for its own replies only."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.contract import ChatReply, ChatRequest, parse_judge
from markscheme.engine import run_in_folder
from markscheme.errors import ModelError
from markscheme.models import ModelOptions, Models
from markscheme.models.chat import ScriptedChat
from markscheme.tables import SPENT, AnswersReader, ReadOptions


class HoldingChat:
    """A server that holds some replies back until every row has been asked about."""

    name, revision, concurrency = "held", "", 16

    def __init__(self, rows: int, *, held: Callable[[int], bool] = lambda _: False) -> None:
        self.rows, self.held = rows, held
        self.seen: set[int] = set()
        self.first_tries = self.repairs = self.most = self._now = 0
        self.repaired_early = False
        self._all = asyncio.Event()

    def limit(self, request: ChatRequest) -> int:
        return request.max_tokens

    def complete(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        raise AssertionError("a server is asked one by one")

    async def ask(self, request: ChatRequest, *, again: Any = None) -> ChatReply:
        if any(message.role == "assistant" for message in request.messages):
            self.repairs += 1
            self.repaired_early |= len(self.seen) < self.rows
            return ChatReply(status="ok", text="Yes", finish_reason="stop")
        number = int(request.messages[-1].content.split("Question ")[1].split("?")[0])
        self.seen.add(number)
        self.first_tries += 1
        if len(self.seen) == self.rows:
            self._all.set()
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(0)
        self._now -= 1
        if self.held(number):
            await asyncio.wait_for(self._all.wait(), 60)
        text = "hard to say" if number % 50 == 7 else "Yes" if number % 2 else "No"
        return ChatReply(status="ok", text=text, finish_reason="stop", tokens_in=9, tokens_out=1)


def table(rows: int) -> list[dict[str, Any]]:
    return [
        {"id": str(n), "question": f"Question {n}?", "references": ["x"], "answer": f"a {n}"}
        for n in range(rows)
    ]


def test_a_slow_reply_holds_up_no_other_row(tmp_path: Path) -> None:
    """Replies that come only when every row has been asked about: with any barrier, never."""
    rows = 1500
    chat = HoldingChat(rows, held=lambda n: n % 75 == 3)
    reader = AnswersReader([pl.DataFrame(table(rows))], ReadOptions(batch_rows=800))
    models = Models(chat=chat, options=ModelOptions(ledger=str(tmp_path / "l.sqlite")))
    report = run_in_folder(
        reader, [parse_judge("llm_kamalloo"), parse_judge("exact_match")], tmp_path / "run",
        models=models,
    )  # fmt: skip
    models.close()
    found = report.judgments.filter(pl.col("judge") == "llm_kamalloo").collect()
    assert found["status"].unique().to_list() == ["judged"]
    assert found["answer_id"].to_list() == [str(n) for n in range(rows)]
    assert found["verdict"].to_list() == [n % 50 == 7 or n % 2 == 1 for n in range(rows)]
    assert chat.first_tries == rows
    assert chat.repairs == 30
    assert chat.repaired_early


def test_what_is_under_way_is_a_window(tmp_path: Path) -> None:
    """A held first row does not let the run read on without end: two batches are in memory."""
    rows, read = 1200, []
    progress: list[tuple[int, int]] = []
    chat = HoldingChat(rows)

    class Reader(AnswersReader):
        def __iter__(self) -> Any:
            for batch in super().__iter__():
                read.append(batch.height)
                yield batch

    started = threading.Event()
    release = threading.Event()

    async def ask(request: ChatRequest, *, again: Any = None) -> ChatReply:
        reply = await HoldingChat.ask(chat, request)
        if "Question 0?" in request.messages[-1].content:
            started.set()
            while not release.is_set():
                await asyncio.sleep(0.005)
        return reply

    chat.ask = ask  # type: ignore[method-assign]

    def when_it_stands_still() -> None:
        before = -1
        while not progress or len(read) != before:
            before = len(read)
            time.sleep(0.7)
        release.set()

    watch = threading.Thread(target=when_it_stands_still)
    watch.start()
    report = run_in_folder(
        Reader([pl.DataFrame(table(rows))], ReadOptions(batch_rows=100)),
        [parse_judge("llm_kamalloo")], tmp_path / "run", models=Models(chat=chat),
        on_progress=lambda n: progress.append((n, len(read))) if not release.is_set() else None,
    )  # fmt: skip
    watch.join()
    assert started.is_set()
    assert max(seen for _, seen in progress) <= 4  # two judged, one read ahead, one about to be
    assert report.rows == rows


def test_a_stream_gives_the_bytes_of_a_run_one_by_one(tmp_path: Path) -> None:
    contents = []
    for at_once in (1, 16):
        chat = HoldingChat(300)
        chat.concurrency = at_once
        models = Models(chat=chat, options=ModelOptions(ledger=str(tmp_path / f"{at_once}.sqlite")))
        out = tmp_path / f"run{at_once}"
        markscheme.judge(table(300), ["llm_kamalloo", "llm_score"], models=models, out=out)
        models.close()
        contents.append([(out / n).read_bytes() for n in ("judgments.parquet", "summary.json")])
    assert contents[0] == contents[1]


def test_of_equal_answers_the_first_pays() -> None:
    rows = [{"question": "Where?", "references": ["x"], "answer": "Paris", "system": name}
            for name in ("a", "b", "c")]  # fmt: skip
    reply = ChatReply(status="ok", text="Yes", cost_usd=1.0, tokens_in=5, tokens_out=2, seconds=3.0)
    models = Models(chat=ScriptedChat(replies=lambda _: reply))
    result = markscheme.judge(rows, "llm_kamalloo", models=models)
    spent = result.judgments.select(SPENT)
    assert spent.rows() == [(1.0, 5, 2, 3.0), (None,) * 4, (None,) * 4]
    assert result.run.records[-1]["cost_usd"] == models.budget.spending.cost_usd == 1.0
    assert result.judgments["verdict"].to_list() == [True] * 3


def test_an_error_ends_everything_under_way_at_once(tmp_path: Path) -> None:
    chat = HoldingChat(500, held=lambda n: n % 10 == 0)

    async def ask(request: ChatRequest, *, again: Any = None) -> ChatReply:
        if "Question 77?" in request.messages[-1].content:
            raise ModelError("no credit left")
        return await HoldingChat.ask(chat, request)

    chat.ask = ask  # type: ignore[method-assign]
    models = Models(chat=chat, options=ModelOptions(ledger=str(tmp_path / "l.sqlite")))
    with pytest.raises(ModelError, match="no credit left"):
        markscheme.judge(table(500), "llm_kamalloo", models=models, out=tmp_path / "run")
    models.close()
    assert not [one for one in threading.enumerate() if one.name.startswith("judging")]
