"""Rewards, frames and metrics: the judgments of markscheme.judge in the form of other tools."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest

import markscheme.integrations.pandas
import markscheme.integrations.polars  # noqa: F401 (registers the accessor)
from markscheme.errors import DataError
from markscheme.integrations.evaluate import Markscheme
from markscheme.integrations.judging import judge_texts
from markscheme.integrations.lm_eval import Aggregation, answers_of
from markscheme.integrations.rewards import MarksReward

QUESTIONS = ["Who wrote Emma?", "When did she die?", "Where?"]
REFERENCES = [["Jane Austen"], ["18 July 1817"], ["Winchester"]]
ANSWERS = ["It was Jane Austen.", "1817", "Bath"]


def test_rewards_are_the_marks_and_do_not_depend_on_the_batch() -> None:
    reward = MarksReward()
    together = reward(QUESTIONS, ANSWERS, references=REFERENCES)
    alone = [
        reward([q], [a], references=[r])[0]
        for q, a, r in zip(QUESTIONS, ANSWERS, REFERENCES, strict=True)
    ]
    assert together == pytest.approx(alone, abs=1e-6)
    right, vague, wrong = together
    assert right is not None
    assert vague is not None
    assert wrong is not None
    assert wrong < vague < right <= 1.0
    assert reward.__name__ == "markscheme_marks"


def test_rewards_read_conversations_and_scale() -> None:
    prompt = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTIONS[0]}]
    said = [{"role": "assistant", "content": "Jane Austen"}]
    reward = MarksReward(judge="exact_match", by="verdict", wrong=-1.0, right=2.0)
    assert reward([prompt, prompt], [said, [{"role": "assistant", "content": "Bach"}]],
                  references=["Jane Austen", "Jane Austen"]) == [2.0, -1.0]  # fmt: skip
    with pytest.raises(DataError, match="gold"):
        reward([prompt], [said], gold=["x"])


def test_a_reply_that_is_begun_is_no_question_and_a_call_of_a_tool_no_answer() -> None:
    """TRL lets a model continue its own message, and a message that calls a tool has no content,
    which was judged as the word "None"."""
    asked: list[dict[str, Any]] = [{"role": "user", "content": QUESTIONS[1]}]
    begun = [*asked, {"role": "assistant", "content": "Answer:"}]
    reward = MarksReward(by="score")
    whole, part = reward([asked, begun], ["1817", "1817"], references=[REFERENCES[1]] * 2)
    assert whole == part
    called = [{"role": "assistant", "content": None, "tool_calls": []}]
    exact = MarksReward(judge="exact_match", by="verdict")
    assert exact([asked], [called], references=["None"]) == [0.0]


def test_questions_come_from_the_column_where_there_is_one() -> None:
    reward = MarksReward(judge="examiner", by="score")
    template = ["You are an expert. Answer in a word."] * 3
    by_column = reward(template, ANSWERS, references=REFERENCES, question=QUESTIONS)
    by_prompt = reward(QUESTIONS, ANSWERS, references=REFERENCES)
    assert by_column == by_prompt
    some = [None, *QUESTIONS[1:]]
    mixed = reward([QUESTIONS[0], *template[1:]], ANSWERS, references=REFERENCES, question=some)
    assert mixed == by_prompt


def test_polars_frames_get_columns_beside_their_own() -> None:
    frame = pl.DataFrame({"q": QUESTIONS, "gold": REFERENCES, "said": [*ANSWERS[:2], None], "n": 1})
    found = frame.markscheme.judge(  # type: ignore[attr-defined]
        "exact_match", question="q", references="gold", answer="said", prefix="em_"
    )
    assert found.columns[:4] == frame.columns
    assert found["em_verdict"].to_list() == [False, False, False]
    assert found["em_explanation"].to_list()[-1] == "no answer was given"


def test_pandas_frames_keep_their_index() -> None:
    frame = pd.DataFrame(
        {"question": QUESTIONS, "references": REFERENCES, "answer": ["Jane Austen", None, "Bath"]},
        index=["a", "b", "c"],
    )
    found = frame.markscheme.judge("exact_match")
    assert list(found.index) == ["a", "b", "c"]
    assert found["verdict"].to_list() == [True, False, False]


@pytest.mark.parametrize("library", [pd, pl])
def test_numbers_are_answers_and_nothing_is_none(library: Any) -> None:
    frame = library.DataFrame(
        {"question": ["Legs?"] * 3, "references": [["8"]] * 3, "answer": [8, 9, None]}
    )
    if library is pl:
        frame = frame.with_columns(pl.col("answer").cast(pl.Int64))
    found = frame.astype({"answer": object}) if library is pd else frame
    found = found.markscheme.judge("contains")
    assert list(found["verdict"]) == [True, False, False]
    assert list(found["explanation"])[-1] == "no answer was given"


@pytest.mark.parametrize("library", [pd, pl])
def test_what_is_wrong_with_a_frame_is_named(library: Any) -> None:
    frame = library.DataFrame({"question": ["q"], "gold": ["a"], "answer": ["a"]})
    with pytest.raises(DataError, match="no column 'references'; its columns are question, gold"):
        frame.markscheme.judge("contains")
    blank = library.DataFrame({"question": ["q", "q"], "gold": ["a", None], "answer": ["a", "b"]})
    with pytest.raises(DataError, match=r"row 2: no references(?s:.*)\nfix the rows$"):
        blank.markscheme.judge("contains", references="gold")


def test_references_written_as_a_list_in_a_text() -> None:
    for gold in ('["Bronte", "Jane Austen"]', "['Bronte', 'Jane Austen']"):
        frame = pd.DataFrame({"question": ["Who?"], "references": [gold], "answer": "Jane Austen"})
        assert list(frame.markscheme.judge("exact_match")["verdict"]) == [True]


@pytest.mark.parametrize("library", [pd, pl])
def test_references_are_read_as_those_of_rows(library: Any) -> None:
    def judged(references: Any) -> Any:
        columns = {"question": ["Who?"], "references": [references], "answer": ["Jane Austen"]}
        return library.DataFrame(columns).markscheme.judge("exact_match")

    squad = {"text": ["Austen", "Jane Austen"], "answer_start": [3, 3]}
    assert list(judged(squad)["verdict"]) == [True]
    item = answers_of(question="q")({"q": "Who?", "answer": squad}, ["Jane Austen"])
    assert Aggregation(judge="exact_match")([item["markscheme"]]) == 1.0
    with pytest.raises(DataError, match="row 1: the references must be a list or text, not an obj"):
        judged({"aliases": ["Jane Austen"], "value": "Austen"})


def test_a_worth_that_does_not_exist_is_named() -> None:
    for make in (MarksReward, Aggregation):
        with pytest.raises(DataError, match="by='verdicts' is none of verdict, score, marks"):
            make(by="verdicts")


def test_evaluate_computes_through_its_own_machinery() -> None:
    metric = Markscheme("exact_match", experiment_id="test")
    metric.add_batch(
        predictions=["Jane Austen", "Bath"],
        references=[["Jane Austen", "Austen"], ["Winchester"]],
        questions=["Who?", "Where?"],
    )
    found = metric.compute()
    assert (found["accuracy"], found["judged"], found["not_judged"]) == (0.5, 2, 0)
    assert found["signature"].startswith("exact_match")


def test_the_harness_s_aggregation_judges_all_documents_at_once() -> None:
    keep = answers_of(question="q", references="gold")
    docs = [{"q": q, "gold": r} for q, r in zip(QUESTIONS, REFERENCES, strict=True)]
    items = [
        keep(doc, [a])["markscheme"] for doc, a in zip(docs, ["Jane Austen", "x", "y"], strict=True)
    ]
    assert Aggregation(judge="exact_match")(items) == pytest.approx(1 / 3)
    with pytest.raises(DataError, match="'gold'"):
        keep({"q": "?"}, ["x"])


def test_lengths_that_differ_and_strange_references_are_named() -> None:
    with pytest.raises(DataError, match="2 questions, 1 references"):
        judge_texts(["a", "b"], ["x"], ["y", "z"], judge="exact_match")
    with pytest.raises(DataError, match="the references must be text, not dict"):
        judge_texts(["a"], [[{"a": 1}]], ["y"], judge="exact_match")
    assert judge_texts([], [], [], judge="exact_match").is_empty()
