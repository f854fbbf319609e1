"""MLflow and Langfuse, by their own clients: figures, feedback and scores are written back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import markscheme
from markscheme.errors import DataError

pytestmark = pytest.mark.proof(area="harnesses")

ROWS = [
    {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Jane Austen did"},
    {"question": "Where is the Louvre?", "references": ["Paris"], "answer": "London"},
    {
        "question": "Who wrote Persuasion?",
        "references": ["Jane Austen"],
        "answer": None,
        "answer_error": "502 Bad Gateway",
    },
]


def judged(ids: list[str]) -> markscheme.Result:
    rows = [{"trace": one, **row} for one, row in zip(ids, ROWS, strict=True)]
    return markscheme.judge(rows, "examiner", columns={"answer_id": "trace"})


@pytest.fixture
def tracking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ENABLE_ASYNC_TRACE_LOGGING", "false")
    monkeypatch.chdir(tmp_path)
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    mlflow.set_experiment(
        experiment_id=mlflow.create_experiment("t", (tmp_path / "artifacts").as_uri())
    )
    yield mlflow
    mlflow.set_tracking_uri("")


def test_mlflow_scores_keeps_figures_and_takes_feedback(tracking: Any) -> None:
    from markscheme.integrations.mlflow import log_feedback, log_result, markscheme_scorer

    data = [
        {"inputs": {"question": row["question"]}, "outputs": row["answer"],
         "expectations": {"expected_response": row["references"]}}
        for row in ROWS[:2]
    ]  # fmt: skip
    done = tracking.genai.evaluate(data=data, scorers=[markscheme_scorer("examiner")])
    assert done.metrics["markscheme/mean"] == 0.5
    with pytest.raises(DataError, match="no 'question' in the row's inputs, only query"):
        markscheme_scorer()(inputs={"query": "?"}, outputs="x", expectations={})

    ids = []
    for row in ROWS:
        with tracking.start_span("answer") as span:
            span.set_inputs({"question": row["question"]})
        ids.append(span.trace_id)
    result = judged(ids)
    with tracking.start_run() as run:
        log_result(result)
    written = tracking.get_run(run.info.run_id)
    assert written.data.metrics["examiner/system/accuracy"] == 0.5
    assert written.data.metrics["examiner/system/not_judged"] == 1
    assert written.data.tags["markscheme.signature.examiner"].startswith("examiner")
    text = tracking.artifacts.load_text(f"{written.info.artifact_uri}/markscheme/judgments.jsonl")
    assert len(text.splitlines()) == 3

    assert log_feedback(result.judgments) == 3
    found = [tracking.get_trace(one).info.assessments[0] for one in ids]
    assert [one.feedback.value for one in found] == [True, False, None]
    assert "examiner rejects it" in found[1].rationale
    assert found[2].feedback.error.error_code == "skipped"
    assert found[0].metadata["relation"] == "equivalent"


def test_a_system_s_own_brackets_are_part_of_its_name_at_mlflow(tracking: Any) -> None:
    """The last of "gpt-4 (mini)" was cut off; only those of "(all)" are ours."""
    from markscheme.integrations.mlflow import log_result

    named = [{**row, "system": one} for row in ROWS[:2] for one in ("gpt-4 (mini)", "(x)")]
    with tracking.start_run() as run:
        log_result(markscheme.judge(named, "examiner"))
    metrics = tracking.get_run(run.info.run_id).data.metrics
    systems = {name.split("/")[1] for name in metrics}
    assert systems == {"all", "gpt-4 _mini_", "_x_"}


class Scores(BaseHTTPRequestHandler):
    """As Langfuse's API takes scores from its client (5): lists of them, posted to its path."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer: dict[str, Any] = {}
        if self.path == "/api/public/scores":
            scores = json.loads(body)
            self.server.scores += scores  # type: ignore[attr-defined]
            self.server.users.add(self.headers["Authorization"])  # type: ignore[attr-defined]
            answer = {"successes": [{"id": one["id"], "status": 201} for one in scores],
                      "errors": []}  # fmt: skip
        self.send_response(207 if answer else 200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def langfuse_server() -> Iterator[Any]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scores)
    server.scores, server.users = [], set()  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def test_langfuse_receives_scores_and_evaluates_experiments(langfuse_server: Any) -> None:
    langfuse = pytest.importorskip("langfuse")
    from markscheme.integrations.langfuse import markscheme_evaluator, send_scores

    client = langfuse.Langfuse(
        public_key="pk-test",
        secret_key="sk-test",
        base_url=f"http://127.0.0.1:{langfuse_server.server_port}",
    )
    ids = [f"{n:032x}" for n in (1, 2, 3)]
    result = judged(ids)
    assert send_scores(result.judgments, client) == 2
    scores = list(langfuse_server.scores)
    assert [(one["traceId"], one["value"]) for one in scores] == [(ids[0], 1), (ids[1], 0)]
    assert {one["dataType"] for one in scores} == {"BOOLEAN"}
    assert {one["name"] for one in scores} == {"examiner"}
    assert "examiner rejects it" in scores[1]["comment"]
    assert scores[0]["metadata"]["relation"] == "equivalent"
    send_scores(result.judgments, client)
    sent = [one["id"] for one in langfuse_server.scores]
    assert sent[:2] == sent[2:]  # the same scores again replace those of before
    assert len(langfuse_server.users) == 1

    unknown = {"question": "Who wrote Sanditon?", "references": [], "answer": "Jane Austen"}
    rows = [*ROWS, unknown]
    said = {row["question"]: row["answer"] for row in rows}
    done = client.run_experiment(
        name="made-up",
        data=[{"input": row["question"], "expected_output": row["references"]} for row in rows],
        task=lambda *, item, **_: said[item["input"]],
        evaluators=[markscheme_evaluator("examiner")],
    )
    client.shutdown()
    values = [[one.value for one in item.evaluations] for item in done.item_results]
    # No answer is wrong; an empty list of references says that there is none.
    assert values == [[True], [False], [False], [False]]
    with pytest.raises(DataError, match="no 'question' in the item's input, only query"):
        markscheme_evaluator()(input={"query": "?"}, output="x", expected_output="y")
