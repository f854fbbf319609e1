"""Reasoning, worked solutions and errors of failed calls are not read as answers or references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.models import Models
from markscheme.tables import AnswersReader, ReadOptions, read_answers
from markscheme.testing import ScriptedChat
from markscheme.text import is_api_error
from markscheme.text.replies import around_reasoning, without_reasoning

RUNS = Path(__file__).parent / "reported" / "02-gsm8k-worked-solution"
SILENT = "rows without an answer, judged as wrong"
QUESTION = {"question": "What is the capital of France?", "references": ["Paris"]}


def read(*rows: dict[str, Any]) -> tuple[list[str | None], dict[str, int]]:
    reader = AnswersReader([list(rows)])
    return pl.concat(list(reader))["answer"].to_list(), reader.met.notes


@pytest.mark.parametrize(
    ("answer", "final"),
    [
        ("<answer>Lima</answer>", "Lima"),
        ("I think of Peru.\n<ANSWER>\nLima\n</ANSWER>\n", "Lima"),
        ("<answer>Quito</answer> No: <answer>Lima</answer>", "Lima"),
        ("<answer>Lima", "Lima"),
        ("<answer></answer>", "<answer></answer>"),
        ("Quito\nQuestion: What is the capital of Peru?\nAnswer: Lima", "Quito"),
        ("Lima.\n\nQ: And of Chile?\nA: Santiago", "Lima."),
        ("Quito Question: What is the capital of Peru? Answer: Lima", "Quito"),
        ("Quito\n### Q: Which city is large?\n### A: Lima", "Quito"),
        (
            "Quito<|im_end|>\n<|im_start|>user\nAnd of Peru?<|im_end|>\n<|im_start|>assistant",
            "Quito",
        ),
        ("Quito</s><s>[INST] And of Peru? [/INST] Lima</s>", "Quito"),
        ("Question: What is the capital of Peru?\nAnswer: Lima",) * 2,
        ("Question: What is the capital of Peru? Answer: Lima",) * 2,
        ("A further question: it is Lima? Ask them.",) * 2,
        ("Lima is no question: it is the capital.",) * 2,
        ("Lima<|im_end|>", "Lima"),
    ],
)
def test_an_answer_between_tags_and_one_that_runs_on(answer: str, final: str) -> None:
    [read_as], notes = read(QUESTION | {"answer": answer})
    assert read_as == final
    assert answer == final or notes


def test_tags_that_the_reference_has_too_are_part_of_the_answer() -> None:
    row = {"question": "Write it as XML.", "references": ["<answer>Lima</answer>"]}
    assert read(row | {"answer": "<answer>Lima</answer>"})[0] == ["<answer>Lima</answer>"]


REASONED = {
    "<think>Rome? No.</think>\n\nParis": "Paris",
    "<think></think>Paris": "Paris",
    "<THINKING>a\n\nb</THINKING> Paris ": "Paris",
    "<reasoning>Rome</reasoning>Paris": "Paris",
    "So it is Rome.\n</think>\nParis": "Paris",
    "<think>a</think> Rome <think>b</think> Paris": "Paris",
    "Let me see. <think>Rome</think> Paris": "Paris",
    "Paris <think>sure?</think>": "Paris",
    "Paris <think>sure? it": None,
    "<think>a</think> Paris <think>sure?": None,
    "<think>Paris": None,
    "<think>Paris</think>": None,
    "<think>Paris</think> \n": None,
    "[THINK]Rome[/THINK]Paris": "Paris",
    "<thought>Rome</thought> Paris": "Paris",
    "<scratchpad>Rome</scratchpad> Paris": "Paris",
    "◁think▷Rome◁/think▷Paris": "Paris",
    "<think>Rome</think >Paris": "Paris",
    "<|channel|>analysis<|message|>Rome<|end|><|channel|>final<|message|>Paris": "Paris",
    "Paris": "Paris",
    "a < b and think> c": "a < b and think> c",
}


@pytest.mark.parametrize("answer", REASONED)
def test_reasoning_is_not_the_answer(answer: str) -> None:
    assert without_reasoning(answer) == REASONED[answer]
    found, notes = read({**QUESTION, "answer": answer}, {**QUESTION, "answer": None, "system": "b"})
    assert found == [REASONED[answer], None]
    assert notes.pop(SILENT) == 1 + (REASONED[answer] is None)
    assert sum(notes.values()) == (REASONED[answer] != answer)


@pytest.mark.parametrize(
    ("question", "references", "answer"),
    [
        ("Which tag ends <think>?", ["/think in brackets"], "It is </think>."),
        ("Which tag ends reasoning?", ["end", "</think>"], "</think>"),
        ("What does <Thinking> begin?", ["reasoning"], "<think> begins reasoning"),
    ],
)
def test_a_tag_that_is_asked_for_stays(question: str, references: list[str], answer: str) -> None:
    row = {"question": question, "references": references, "answer": answer}
    assert read(row) == ([answer], {})


@pytest.mark.parametrize("token", ["</s>", "<|im_end|>", "<|return|>\n", "<end_of_turn>", "<eos>"])
def test_a_token_that_ends_an_answer_is_cut(token: str) -> None:
    assert read({**QUESTION, "answer": f"Paris{token}"})[0] == ["Paris"]
    asked = {"question": f"Which token is it: {token}", "references": ["Paris"], "answer": token}
    assert read(asked)[0] == [token]


def test_notes_on_answers_count_no_rows_that_are_left_out() -> None:
    solved = {"question": "2 * 3?", "references": ["2 * 3 = 6\n#### 6"]}
    rows = [
        {**QUESTION, "answer": "<think>Rome?</think>Paris"},
        {**QUESTION, "answer": "<think>Rome?</think>Paris", "question": ""},
        {**solved, "answer": "6"},
        {**solved, "answer": None},
    ]
    reader = AnswersReader([rows], ReadOptions(on_bad_row="skip", blank_answers="drop"))
    assert pl.concat(list(reader))["answer"].to_list() == ["Paris", "6"]
    assert [(one.line, one.message) for one in reader.met.problems] == [(2, "no question")]
    left_out = reader.met.notes.pop("rows without an answer, left out")
    assert (left_out, list(reader.met.notes.values())) == (1, [1, 1])


def test_every_judge_sees_the_answer_without_its_reasoning() -> None:
    rows = [{**QUESTION, "answer": text} for text in ("<think>Rome?</think>Paris", "<think>Paris")]
    chat = ScriptedChat(replies=lambda text: "yes")
    judges = ["exact_match", "contains", "examiner", "llm_grader"]
    result = markscheme.judge(rows, judges=judges, models=Models(chat=chat))
    assert result.judgments["explanation"].to_list().count("no answer was given") == 4
    table = result.judgments.filter(pl.col("judge").is_in(["exact_match", "contains", "examiner"]))
    assert table["verdict"].to_list() == [True, False] * 3
    assert chat.seen
    assert not any("Rome?" in str(one.messages) for one in chat.seen)


def test_replies_and_answers_know_the_same_tags() -> None:
    assert around_reasoning("a<think>b</think>c") == ("a", "c")
    assert around_reasoning("a") is None


FAILED = [
    "Error code: 429 - {'error': {'message': 'Rate limit reached', 'type': 'tokens'}}",
    "Error code: 500",
    "openai.RateLimitError: Error code: 429 - {'error': {}}",
    "openai.APITimeoutError: Request timed out.",
    "anthropic.APIStatusError('Overloaded')",
    "httpx.ReadTimeout",
    "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x', port=443)",
    "RateLimitError: You exceeded your current quota",
    "Request timed out.",
    "Connection error.",
    "429 Too Many Requests",
    "429 RESOURCE_EXHAUSTED. {'error': {'code': 429}}",
    "HTTP 503 Service Unavailable",
    "503 Server Error: Service Unavailable for url: http://localhost/v1",
    "Client error '401 Unauthorized' for url 'http://localhost/v1'",
    "API error: 429 Too Many Requests",
    '{"error": {"message": "Incorrect key", "type": "invalid_request_error"}}',
    '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}',
    'Traceback (most recent call last):\n  File "x.py", line 1',
    "Rate limit reached for gpt-4o in organization org-x",
]
PLAIN = [
    "429",
    "429 people",
    "The error code is 429.",
    "500 BC",
    "404 people were not found",
    "Request",
    "A request timed out.",
    "os.path",
    "Terror",
    "the error of measurement: 5%",
    "Error: there is no such king",
    "e.g. an error",
    '{"no error": {"message": 429}}',
    "1.5 Error bars",
]


@pytest.mark.parametrize("answer", FAILED)
def test_errors_of_failed_calls_are_not_answers(answer: str) -> None:
    assert is_api_error(answer)
    row = {"question": "How many ships sailed?", "references": ["429", "500"], "answer": answer}
    found, notes = read(row)
    assert found == [None]
    assert list(notes.values()) == [1]
    assert "Error code: 429" in next(iter(notes))
    result = markscheme.judge([row], judges=["exact_match", "contains", "token_f1"])
    assert result.judgments["verdict"].to_list() == [None] * 3
    assert result.judgments["status"].to_list() == ["skipped"] * 3


@pytest.mark.parametrize("answer", PLAIN)
def test_what_only_speaks_of_an_error_is_an_answer(answer: str) -> None:
    assert not is_api_error(answer)
    assert read({**QUESTION, "answer": answer})[0] == [answer]


@pytest.mark.parametrize(
    ("question", "reference", "answer"),
    [
        ("Which HTTP status says too many requests?", "429", "429 Too Many Requests"),
        ("Which code do servers send for a missing page?", "404", "404 Not Found"),
        ("What does this raise?", "builtins.ValueError", "builtins.ValueError"),
        ("What does the page say?", "503 Service Unavailable", "503 Service Unavailable"),
        ("What did the log of the call say?", "a timeout", "Request timed out."),
        ("Which exception is it?", "none", "java.lang.NullPointerException"),
    ],
)
def test_an_error_that_is_asked_for_stays(question: str, reference: str, answer: str) -> None:
    row = {"question": question, "references": [reference], "answer": answer}
    assert read(row) == ([answer], {})


@pytest.mark.parametrize(
    ("reference", "final"),
    [
        ("6*4=<<6*4=24>>24 jars.\n24-3=21.\n#### 21", "21"),
        ("40*30 litres.\n#### 1,200", "1200"),
        ("Then $1,234,567.50.\n#### $1,234,567.50", "$1234567.50"),
        ("#### 5", "5"),
        ("a #### 3 was wrong\n####   7  \n", "7"),
        ("in one line #### -2", "-2"),
        ("a | b\n#### Paris, Texas", "Paris, Texas"),
    ],
)
def test_the_answer_of_a_worked_solution_is_the_reference(reference: str, final: str) -> None:
    rows = [{"question": "How many?", "gold": reference, "prediction": "21"}]
    reader = AnswersReader([rows])
    assert pl.concat(list(reader))["references"].to_list() == [[final]]
    assert list(reader.met.notes) == [
        "references are worked solutions that end in '#### ANSWER': the answer is the reference"
    ]


@pytest.mark.parametrize("reference", ["C####", "no. ####", "#### a\nand more", "a#### b"])
def test_other_references_stay(reference: str) -> None:
    table = read_answers([{"question": "?", "references": [reference], "answer": "#### 3"}])
    assert table["references"].to_list() == [[reference]]
    assert table["answer"].to_list() == ["#### 3"]


def test_an_answer_written_like_its_worked_solution_is_cut_too() -> None:
    row = {"question": "How many?", "gold": "2*3\n#### 6", "answer": "3+3=6, so\n#### 6"}
    assert read_answers([row])["answer"].to_list() == ["6"]


def samples() -> list[dict[str, Any]]:
    lines = (RUNS / "samples_gsm8k.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_gsm8k_samples_agree_with_their_own_metric() -> None:
    result = markscheme.judge(RUNS / "samples_gsm8k.jsonl", judges=["exact_match"])
    rows = result.judgments.join(result.answers, on="answer_id")
    assert rows["system"].to_list() == ["strict-match"] * 3 + ["flexible-extract"] * 3
    assert rows["verdict"].to_list() == [bool(one["exact_match"]) for one in samples()]
    assert result.answers["references"].to_list() == [["21"], ["5"], ["1200"]] * 2
    assert any("strict-match, flexible-extract" in note for note in result.run.notes)


def test_several_replies_to_a_sample_are_named() -> None:
    rows = [{**row, "filter": None, "filtered_resps": [["4", "5", "5"]]} for row in samples()[:3]]
    reader = AnswersReader([rows])
    assert pl.concat(list(reader))["answer"].to_list() == ["4"] * 3
    assert reader.met.notes["samples have several replies (repeats), and the first is judged"] == 3


def test_models_and_filters_are_systems_of_their_own() -> None:
    rows = [{**row, "model_name": name} for name in ("a", "b") for row in samples()]
    systems = read_answers(rows)["system"]
    assert systems.unique(maintain_order=True).to_list() == [
        "a:strict-match", "a:flexible-extract", "b:strict-match", "b:flexible-extract"
    ]  # fmt: skip
    given = read_answers(
        [{**row, "who": "a"} for row in samples()], ReadOptions(columns={"system": "who"})
    )
    assert given["system"].to_list() == ["a:strict-match"] * 3 + ["a:flexible-extract"] * 3
    rows = [{**row, "filter": None} for row in samples()[:3]]
    reader = AnswersReader([rows])
    assert pl.concat(list(reader))["system"].n_unique() == 1
    assert not any("filters" in note for note in reader.met.notes)
