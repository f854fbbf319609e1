"""Every judge with a list of references, one, and none: Python, command line, service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

import markscheme
from markscheme.cli import run
from markscheme.contract import judges, needs_of, parse_judge
from markscheme.integrations.judging import judge_texts
from markscheme.models import Models
from markscheme.service.app import make_app
from markscheme.service.settings import Settings
from markscheme.testing import FaultServer, ScriptedChat, ServerReply

QUESTION = "Why does ice float on water?"
ANSWER = "It is less dense than the water around it."
REFERENCES: dict[str, list[str]] = {
    "list": ["It is less dense than water.", "It is lighter.", "It is cold.", "It is blue."],
    "one": ["It is less dense than water."],
    "none": [],
}
KNOWN = {name: found for name, found in judges().items() if "'" not in found.example}
OFFLINE = sorted(name for name, found in KNOWN.items() if found.needs.nothing)
ASKING = sorted(name for name, found in KNOWN.items() if found.needs.chat)


COMPARING = {"listwise", "pairwise"}
"""Judges that compare with references: an answer without any is not judged, and says why. Other
answers of the same file are."""
WITHOUT_OTHER_ANSWER = {"preference"}
"""Judges of two answers, of which a request to the service has only one."""


def row(case: str) -> dict[str, Any]:
    references = REFERENCES[case]
    found = {"question": QUESTION, "references": references, "answer": ANSWER, "id": case}
    extra = {"context": "Ice floats.", "other_answer": "It is cold."}
    return found | extra | ({"reference_grades": [3, 2, 1, 0]} if case == "list" else {})


def reply(asked: str) -> str:
    """Something that most of the prompts' parsers can read."""
    return "Yes. [[1]] 4 entailment" if asked else "Yes"


def models() -> Models:
    return Models(chat=ScriptedChat(replies=reply))


def wants_references(name: str) -> bool:
    return needs_of(parse_judge(KNOWN[name].example)).references == "required"


@pytest.mark.parametrize("name", [*OFFLINE, *ASKING])
def test_python_judges_whatever_the_judge_can(name: str) -> None:
    judge = KNOWN[name].example
    for case in REFERENCES:
        found = markscheme.judge([row(case)], judge, models=models()).judgments
        assert found["answer_id"].to_list() == [case]
        if case == "none" and name in COMPARING:
            assert found["status"][0] == "skipped"
            assert found["explanation"][0] == "no reference to compare with"
        elif case == "none" and wants_references(name):
            assert found["verdict"].to_list() == [False]
            assert found["explanation"][0].startswith("the question has no answer")
        else:
            assert found["status"][0] in ("judged", "unparsed"), (case, found["explanation"][0])


@pytest.mark.parametrize("name", OFFLINE)
def test_the_command_line_judges_what_python_does(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row(case)) + "\n" for case in REFERENCES))
    code = run(["judge", str(path), "-j", KNOWN[name].example, "-o", str(tmp_path / "run")])
    said = capsys.readouterr()
    assert code == 0, said.err
    if wants_references(name):
        assert "declining is right" in " ".join((said.out + said.err).split())


@pytest.fixture(scope="module")
def chat_server() -> Iterator[FaultServer]:
    with FaultServer([ServerReply(content=reply("anything"))]) as opened:
        yield opened


@pytest.mark.parametrize("name", ASKING)
def test_the_command_line_asks_a_server_and_judges_what_python_does(
    name: str, chat_server: FaultServer, tmp_path: Path
) -> None:
    """All three rows in one file, against a server of the OpenAI protocol."""
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row(case)) + "\n" for case in REFERENCES))
    code = run(
        ["judge", str(path), "-j", KNOWN[name].example, "--model", "made-up", "--base-url",
         chat_server.url, "--ledger", str(tmp_path / "ledger.sqlite"), "-q",
         "-o", str(tmp_path / "run")]
    )  # fmt: skip
    found = pl.read_parquet(tmp_path / "run" / "judgments.parquet")
    statuses = dict(found.select("answer_id", "status").iter_rows())
    assert set(statuses) == set(REFERENCES)
    assert code in (0, 2)  # 2 where no reply could be read
    for case, status in statuses.items():
        compares = case == "none" and name in COMPARING
        assert status in (("skipped",) if compares else ("judged", "unparsed")), (case, status)


@pytest.mark.parametrize("name", ASKING)
def test_a_dry_run_plans_what_python_asks(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row(case)) + "\n" for case in REFERENCES))
    code = run(
        ["judge", str(path), "-j", KNOWN[name].example, "--model", "made-up", "--dry-run",
         "--ledger", str(tmp_path / "ledger.sqlite"), "-q"]
    )  # fmt: skip
    said = capsys.readouterr()
    assert code == 0, said.err


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    allow = tuple(KNOWN[name].example for name in (*OFFLINE, *ASKING))
    settings = Settings(jobs=tmp_path_factory.mktemp("jobs"))
    with TestClient(make_app(settings, allow=allow, models=models())) as opened:
        yield opened


@pytest.mark.parametrize("name", [*OFFLINE, *ASKING])
def test_the_service_judges_what_python_does(client: TestClient, name: str) -> None:
    fields = ("id", "question", "references", "answer", "context", "reference_grades")
    rows = [{key: row(case)[key] for key in fields if key in row(case)} for case in REFERENCES]
    answered = client.post("/v1/judgments", json={"judge": KNOWN[name].example, "answers": rows})
    assert answered.status_code == 200, answered.text
    found = {one["id"]: one for one in answered.json()["judgments"]}
    assert set(found) == set(REFERENCES)
    for case, one in found.items():
        refused = (case == "none" and name in COMPARING) or name in WITHOUT_OTHER_ANSWER
        assert one["status"] in (("skipped",) if refused else ("judged", "unparsed")), one


@pytest.mark.parametrize("name", ["examiner", "exact_match", "entailment", "token_f1"])
@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("There is no king of France.", True),
        ("France has no king in 2021.", True),
        ("I do not know.", True),
        ("Das weiß ich nicht.", True),
        ("", True),
        (None, True),
        ("Louis XX", False),
        ("The king of France is Louis XX, not Charles.", False),
    ],
)
def test_an_empty_list_says_everywhere_that_there_is_no_answer(
    client: TestClient, name: str, answer: str | None, right: bool
) -> None:
    judge = KNOWN[name].example
    question = "Who is the king of France in 2021?"
    row: dict[str, Any] = {"question": question, "references": [], "answer": answer}
    marked = markscheme.mark(question, [], answer, judge)  # type: ignore[arg-type]
    judged = markscheme.judge([row], judge).judgments.row(0, named=True)
    sent = client.post("/v1/judgments", json={"judge": judge, "answers": [row]})
    (served,) = sent.json()["judgments"]
    texts = judge_texts([question], [[]], [answer], judge=judge).row(0, named=True)
    found = [(marked.status, marked.verdict, marked.explanation)]
    found += [
        (one["status"], one["verdict"], one["explanation"]) for one in (judged, served, texts)
    ]
    assert len(set(found)) == 1
    assert found[0][:2] == ("judged", right)
    assert "gives one" not in (found[0][2] or "")


def test_references_that_were_left_out_are_no_such_list(client: TestClient) -> None:
    row = {"question": QUESTION, "answer": ANSWER}
    sent = client.post(
        "/v1/judgments", json={"judge": KNOWN["exact_match"].example, "answers": [row]}
    )
    (found,) = sent.json()["judgments"]
    assert (found["status"], found["explanation"]) == ("skipped", "no reference to compare with")


def test_to_a_question_of_yes_or_no_or_of_an_amount_a_denial_is_an_answer() -> None:
    for question, answer in [
        ("Did the burglar act alone?", "The burglar did not act alone."),
        ("How many employees will Zentrix hire?", "Zentrix will hire no employees."),
        ("Who did not attend?", "Nobody named Smith did not attend."),
    ]:
        assert markscheme.mark(question, [], answer).verdict is False, answer
