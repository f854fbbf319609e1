"""A real model behind a real server, and in this process: poor verdicts, a real path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import markscheme
from markscheme.contract import ChatRequest, Message
from markscheme.contract.registry import judges
from markscheme.models import ServerOptions
from markscheme.models.sources import ModelOptions, Models
from real_model import check_installed, save, serving

pytestmark = pytest.mark.proof(area="models")

PROMPTED = [
    name for name, found in judges().items() if name.startswith("llm_") and name != "llm_prompt"
]

ROWS = [
    {"question": "What is the capital of France?", "references": ["Paris"], "answer": "Paris"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    check_installed()
    folder = tmp_path_factory.mktemp("smollm2")
    save(folder)
    return folder


@pytest.fixture(scope="module")
def models(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Models]:
    with serving(folder) as url:
        reach = ServerOptions(base_url=url, concurrency=1, timeout=120.0, retries=1)
        ledger = str(tmp_path_factory.mktemp("ledger") / "ledger.sqlite")
        found = Models(options=ModelOptions(model=str(folder), server=reach, ledger=ledger))
        yield found
        found.close()


@pytest.mark.parametrize("judge", PROMPTED)
def test_every_prompted_judge_goes_all_the_way(judge: str, models: Models, tmp_path: Path) -> None:
    named = f"{judge}(max_tokens=16)"
    if judge == "llm_evouna_icl":
        solved = {"question": "Who painted Guernica?", "references": ["Picasso"],
                  "answer": "Pablo Picasso", "label": 1}  # fmt: skip
        (tmp_path / "solved.jsonl").write_text(json.dumps(solved) + "\n")
        named = f"{judge}(max_tokens=16, examples='{tmp_path / 'solved.jsonl'}')"
    result = markscheme.judge(ROWS, named, models=models, out=tmp_path / "run")
    table = result.judgments
    assert table.height == len(ROWS)
    assert set(table["status"]) <= {"judged", "unparsed"}, table["explanation"].to_list()
    assert table["raw"].null_count() == 0
    assert (table["tokens_in"] > 0).all()
    assert (table["seconds"] > 0).all()
    again = markscheme.judge(ROWS, named, models=models, out=tmp_path / "again")
    assert again.judgments.equals(table)


def test_the_ledger_has_all_of_it(models: Models, tmp_path: Path) -> None:
    assert models.budget.spending.failed == 0
    assert models.budget.spending.known > 0
    (count,) = models.ledger().query("SELECT COUNT(*) FROM replies")[0]
    assert count >= models.budget.spending.calls > 0


def test_weights_in_this_process_answer_as_the_server_does(folder: Path, models: Models) -> None:
    """Greedy replies of the same weights agree; log-probabilities name the token that was said."""
    local = Models(options=ModelOptions(model=f"hf:{folder}"))
    question = "Is Paris the capital of France? Answer Yes or No."
    request = ChatRequest(
        messages=(Message(role="user", content=question),), max_tokens=12, logprobs=True
    )
    chat = local._source(None)
    (reply,) = chat.complete([request])
    (served,) = models.chat().complete([request])
    assert reply.status == served.status == "ok"
    assert reply.text == served.text
    assert chat.revision
    assert reply.tokens_out is not None
    assert reply.tokens_out <= 12
    assert reply.token_logprobs is not None
    first = reply.token_logprobs[0]
    assert str(reply.text).startswith(max(first, key=lambda token: first[token]))
    assert all(value <= 0 for value in first.values())
    warm = ChatRequest(messages=request.messages, max_tokens=12, temperature=1.5, top_p=0.9, seed=5)
    one, two = chat.complete([warm, warm])
    assert one.text == two.text


def test_a_folder_without_weights_is_an_error(tmp_path: Path) -> None:
    check_installed()
    models = Models(options=ModelOptions(model=f"hf:{tmp_path}", ledger=str(tmp_path / "l.sqlite")))
    with pytest.raises(markscheme.MarkschemeError, match=r"cannot load .* as a language model"):
        models.chat().complete([ChatRequest(messages=(Message(role="user", content="x"),))])
    models.close()


def test_an_answer_that_is_not_given_is_wrong_and_reaches_no_model(models: Models) -> None:
    before = models.budget.spending.calls
    rows = [{**ROWS[0], "answer": None}]
    table = markscheme.judge(rows, "llm_kamalloo", models=models).judgments
    assert table["verdict"].to_list() == [False]
    assert models.budget.spending.calls == before
