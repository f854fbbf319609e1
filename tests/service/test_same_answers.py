"""The same rows have the same outcomes, whichever way they come in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest
from starlette.testclient import TestClient

import markscheme
from markscheme.cli import run
from markscheme.integrations.rewards import MarksReward
from markscheme.metrics import reward
from markscheme.service.judging import explanation
from service_helpers import until

_RIGHT = "Jane Austen"
_ANSWERS: dict[str, Any] = {
    "plain": "It was Jane Austen.",
    "reasoning": "<think>maybe Jane Austen</think>It was Charlotte Brontë.",
    "reasoning-right": "<think>Brontë? No.</think>Jane Austen",
    "reasoning-alone": "<think>Jane Austen",
    "reasoning-unopened": "Jane Austen, perhaps.</think>Charlotte Brontë",
    "run-on": "Charlotte Brontë\nQuestion: who wrote Persuasion? Answer: Jane Austen",
    "run-on-chat": "Charlotte Brontë<|im_start|>user\nJane Austen?",
    "tags": "Jane Austen or Brontë? <answer> Charlotte Brontë </answer>",
    "end": "Jane Austen</s>",
    "time-out": "Request timed out.",
    "rate": "Error code: 429 - {'error': {'message': 'Jane Austen'}}",
    "unavailable": "Error: 503 Service Unavailable",
    "null": None,
    "blank": " \n",
    "source": "Jane Austen [1]\n\nSources:\n[1] A biography",
}
ROWS: list[dict[str, Any]] = [
    {"id": name, "question": "Who wrote Emma?", "references": [_RIGHT], "answer": answer}
    for name, answer in _ANSWERS.items()
]
ROWS += [
    {**ROWS[0], "id": "failed", "answer": None, "answer_error": "503 Service Unavailable"},
    {**ROWS[0], "id": "failed-blank", "answer": " ", "answer_error": "timed out"},
    {**ROWS[0], "id": "no-error", "answer": None, "answer_error": " "},
    {**ROWS[0], "id": "error-and-answer", "answer_error": "the first try timed out"},
    {
        "id": "solved",
        "question": "How many stamps?",
        "references": ["6*200=1,200\n#### 1,200"],
        "answer": "1200",
    },
    {"id": "no-answer", "question": "Who is king of France?", "references": [], "answer": None},
]
"""Answers that hold more than an answer, or none."""

_SKIPPED = {"time-out", "rate", "unavailable", "failed", "failed-blank"}
_ACCEPTED = {
    "plain",
    "reasoning-right",
    "end",
    "source",
    "error-and-answer",
    "solved",
    "no-answer",
}
_COMPARED = ("status", "verdict", "score", "marks", "explanation")


def _compared(outcomes: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return {one[name]: {column: one[column] for column in _COMPARED} for one in outcomes}


@pytest.mark.parametrize("judge", ["contains", "examiner"])
def test_every_way_in_has_the_same_outcomes(client: TestClient, tmp_path: Path, judge: str) -> None:
    judged = markscheme.judge(ROWS, judge).judgments
    expected = _compared(judged.to_dicts(), "answer_id")
    statuses = {name: one["status"] for name, one in expected.items()}
    assert statuses == {row["id"]: "skipped" if row["id"] in _SKIPPED else "judged" for row in ROWS}
    assert {name for name, one in expected.items() if one["verdict"]} == _ACCEPTED

    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in ROWS))
    assert run(["judge", str(file), "-j", judge, "-q", "-o", str(tmp_path / "run")]) == 0
    saved = pl.read_parquet(tmp_path / "run" / "judgments.parquet")
    assert _compared(saved.to_dicts(), "answer_id") == expected

    sent = {"judge": judge, "answers": ROWS}
    served = client.post("/v1/judgments", json=sent).json()
    assert _compared(served["judgments"], "id") == expected
    assert {served["signature"]} == set(judged["signature"]) == set(saved["signature"])

    rewarded = client.post("/v1/rewards", json=sent).json()
    rewards = [reward(one, "marks", wrong=0.0, right=1.0) for one in expected.values()]
    assert rewarded["rewards"] == rewards
    assert rewarded["not_judged"] == {"skipped": len(_SKIPPED)}
    as_texts = [row for row in ROWS if "answer_error" not in row and row["answer"] is not None]
    columns = {name: [row[name] for row in as_texts] for name in ("question", "references")}
    answers = [row["answer"] for row in as_texts]
    of_ids = dict(zip(expected, rewards, strict=True))
    found = MarksReward(judge=judge)(columns["question"], answers, **columns)
    assert found == [of_ids[row["id"]] for row in as_texts]

    added = client.post(
        "/v1/jobs", files={"file": (file.name, file.read_bytes())}, data={"judge": judge}
    )
    path = added.headers["location"]
    assert until(client, path, "done", "failed")["state"] == "done"
    lines = client.get(f"{path}/judgments").text.splitlines()
    assert _compared([orjson.loads(line) for line in lines], "answer_id") == expected


def test_an_explanation_is_of_what_is_judged(client: TestClient) -> None:
    outcomes = markscheme.judge(ROWS, "examiner").judgments
    for row, judged in zip(ROWS, outcomes.to_dicts(), strict=True):
        if not (row["answer"] or "").strip():
            continue
        sent = {name: row[name] for name in ("question", "references", "answer")}
        said = client.post("/v1/explanations", json=sent).json()
        decided = said["decided"]
        if row["id"] in _SKIPPED | {"reasoning-alone"}:
            assert decided is None, row["id"]
            assert "Austen" not in said["raw"]
            continue
        assert {name: decided[name] for name in ("verdict", "score", "explanation")} == {
            name: judged[name] for name in ("verdict", "score", "explanation")
        }
    (reasoning,) = (row for row in ROWS if row["id"] == "reasoning")
    texts = reasoning["question"], reasoning["references"], reasoning["answer"]
    assert explanation(*texts, False)["references"][0]["answer"] == []


@pytest.mark.parametrize("answer", ["<answer>x" + " " * 99_000 + "y", "a" + "\n" * 99_000 + "q:"])
def test_an_answer_of_spaces_is_read_in_linear_time(client: TestClient, answer: str) -> None:
    """Time in the square of the length would be minutes, and the row would fail."""
    sent = {"judge": "contains", "answers": [{**ROWS[0], "answer": answer}]}
    (judged,) = client.post("/v1/judgments", json=sent).json()["judgments"]
    assert judged["status"] == "judged"
