"""Entailment tests by name; a language model's replies read with care, asked once, counted."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.contract import ChatReply
from markscheme.errors import JudgeError, ModelError, UnknownNameError
from markscheme.judges.entailment.tests import (
    OUTCOME,
    ChatEntailment,
    EntailmentTest,
    NliEntailment,
    entailment_test,
)
from markscheme.judges.prompted.prompt import shipped
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.sources import Models
from markscheme.text.replies.entailment import read_entailment

DUODENUM = "Fe is best absorbed in the body in the duodenum."
INTESTINE = "Iron is best absorbed in the small intestine."


def pairs(*rows: tuple[str | None, str | None]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "question": ["where is fe best absorbed in the body"] * len(rows),
            "premise": [row[0] for row in rows],
            "hypothesis": [row[1] for row in rows],
            "premise_answer": [row[0] for row in rows],
            "hypothesis_answer": [row[1] for row in rows],
        },
        schema_overrides={"premise": pl.String, "hypothesis": pl.String},
    )


def test_the_prompt_is_as_printed(papers: Path) -> None:
    paper = papers / "yao-barbosa-2024-entailment.txt"
    turns = shipped()["entailment_yao"].turns(
        {"premise": "{premise}", "hypothesis": "{hypothesis}"}
    )
    assert turns[0] == ("system", "You are a helpful assistant.")
    assert turns[1][0] == "user"
    # The authors' code has the line breaks that print has not.
    assert f" {' '.join(turns[1][1].split())} | " in " ".join(paper.read_text().split())
    assert "\n\nPremise: {premise}\nHypothesis: {hypothesis}\n\nIs it" in turns[1][1]


def test_the_sampling_is_the_papers() -> None:
    prompt = shipped()["entailment_yao"]
    assert (prompt.temperature, prompt.max_tokens) == (0.0, 300)
    chat = ScriptedChat(replies={})
    ChatEntailment(seed=42).test(pairs((DUODENUM, INTESTINE)), Models(chat=chat))
    assert [(one.seed, one.temperature, one.max_tokens) for one in chat.seen] == [(42, 0.0, 300)]


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("chat", ChatEntailment()),
        ("chat:other", ChatEntailment(model="other")),
        ("nli:cross-encoder/nli-deberta-v3-large", None),
    ],
)
def test_tests_have_names(name: str, test: EntailmentTest | None) -> None:
    found = entailment_test(name)
    assert isinstance(found, EntailmentTest)
    assert found == (test or NliEntailment(name="cross-encoder/nli-deberta-v3-large"))


@pytest.mark.parametrize("name", ["", "gpt", "nli:", "chat:", "embedded:", "nlu:x"])
def test_another_name_is_refused_with_the_choices(name: str) -> None:
    with pytest.raises(UnknownNameError, match="'chat', 'embedded', 'nli:NAME_OR_FOLDER'"):
        entailment_test(name)


def test_a_name_without_what_it_needs_is_refused_with_an_example() -> None:
    with pytest.raises(JudgeError, match="nli needs name, as in 'nli:cross"):
        entailment_test("nli")


YES, NO = True, False
REPLIES = [
    ("entailment", YES, "entailment"),
    ("entailment.", YES, "entailment"),
    ("Entailment\n", YES, "entailment"),
    ("**Entailment**", YES, "entailment"),
    ("“entailment”", YES, "entailment"),
    ("Answer: ENTAILMENT", YES, "entailment"),
    ("It is entailment.", YES, "entailment"),
    ("entail", YES, "entailment"),
    ("The premise entails the hypothesis.", YES, "entailment"),
    ("The hypothesis is entailed by the premise, since iron is Fe.", YES, "entailment"),
    ("Entailment. The premise does not contradict the hypothesis.", YES, "entailment"),
    ("The premise doesn't contradict the hypothesis; it entails it.", YES, "entailment"),
    ('{"label": "entailment"}', YES, "entailment"),
    ("<think>neutral? no.</think>\n\nentailment", YES, "entailment"),
    ("entailment\n" * 60, YES, "entailment"),
    ("neutral", NO, "neutral"),
    ('"Neutral"', NO, "neutral"),
    ("Neutral - the premise neither entails nor contradicts the hypothesis.", NO, "neutral"),
    ("The premise says where. Therefore, the answer is neutral.", NO, "neutral"),
    ("contradiction", NO, "contradiction"),
    ("It's a contradiction", NO, "contradiction"),
    ("The premise contradicts the hypothesis.", NO, "contradiction"),
    ("The premise does not entail the hypothesis.", NO, "not entailment"),
    ("The hypothesis is not entailed by the premise.", NO, "not entailment"),
    ("There is no entailment here.", NO, "not entailment"),
    ("non-entailment", NO, "not entailment"),
    ("nonentailment", NO, "not entailment"),
    ("not_entailment", NO, "not entailment"),
    ("The label is NOT_ENTAILMENT.", NO, "not entailment"),
    ('{"label": "not_entailment"}', NO, "not entailment"),
    ("no_entailment", NO, "not entailment"),
    ("not-entailed", NO, "not entailment"),
    ("_entailment_", YES, "entailment"),
    ("答案是entailment", YES, "entailment"),
    ("Neutral - entailment would need a place", NO, "neutral"),
]


@pytest.mark.parametrize(("reply", "entailed", "label"), REPLIES)
def test_replies_are_read(reply: str, entailed: bool, label: str) -> None:
    found = read_entailment(reply)
    assert (found.status, found.verdict, found.relation) == ("judged", entailed, label)


@pytest.mark.parametrize(
    "reply",
    [
        "", "  \n", "Yes", "No", "1", "...", "entailment neutral", "entailment/contradiction",
        "Is it entailment, contradiction, or neutral?",
        "The answer should be exact “entailment”, “contradiction”, or “neutral”.",
        "entailment, contradiction, neutral, " * 40,
        "neutral, contradiction, entailment, neutral, contradiction",
        "Entailment, because the premise does not entail it.",
        "Entailment. On reflection, the answer is neutral",
        "entailment or not_entailment", "unentailed",
        "<think>the premise entails", "Premise: a Hypothesis: b", "The capital of France is Paris.",
    ],
)  # fmt: skip
def test_what_says_nothing_or_both_is_unparsed_and_never_a_no(reply: str) -> None:
    found = read_entailment(reply)
    assert (found.status, found.verdict, found.relation) == ("unparsed", None, None)
    assert found.reason


@pytest.mark.parametrize(
    "reply", ["I'm sorry, I cannot help with that.", "I cannot determine whether it is so."]
)
def test_refusals_are_refusals(reply: str) -> None:
    assert read_entailment(reply).status == "refused"


def test_a_reply_that_was_cut_off_counts_only_if_its_label_came_first() -> None:
    assert read_entailment("entailment, since the", finished=False).verdict is True
    assert read_entailment("Let me think about the", finished=False).status == "unparsed"


@given(st.text(max_size=200))
def test_any_reply_gets_a_status(reply: str) -> None:
    found = read_entailment(reply)
    assert found.status in ("judged", "unparsed", "refused")
    assert (found.verdict is None) == (found.status != "judged")


def test_every_different_pair_is_asked_once_and_paid_once() -> None:
    chat = ScriptedChat(
        replies=lambda asked: ChatReply(
            status="ok",
            text="entailment" if f"Premise: {DUODENUM}" in asked else "neutral",
            tokens_in=50,
            cost_usd=0.5,
        )
    )
    table = pairs((DUODENUM, INTESTINE), (INTESTINE, DUODENUM), (DUODENUM, INTESTINE), (None, "x"))
    found = ChatEntailment().test(table, Models(chat=chat))
    assert len(chat.seen) == 2
    assert found.select(table.columns).equals(table)
    assert found["entailed"].to_list() == [True, False, True, None]
    assert found["label"].to_list() == ["entailment", "neutral", "entailment", None]
    assert found["status"].to_list() == ["judged"] * 3 + ["skipped"]
    assert found["tokens_in"].to_list() == [50, 50, None, None]
    assert found["cost_usd"].sum() == 1.0
    assert set(OUTCOME) <= set(found.columns)


def test_what_cannot_be_read_is_asked_again_once() -> None:
    first = []

    def reply(asked: str) -> str:
        if asked.startswith("Please identify"):
            first.append(INTESTINE in asked)
            return "Well, well."
        return "neutral" if again.pop(0) else "Well, well."

    again = [True, False]
    chat = ScriptedChat(replies=reply)
    found = ChatEntailment().test(pairs(("a", INTESTINE), ("a", "b")), Models(chat=chat))
    assert first == [True, False]
    assert len(chat.seen) == 4
    assert chat.seen[2].messages[:2] == chat.seen[0].messages
    assert chat.seen[2].messages[2].content == "Well, well."
    assert found["status"].to_list() == ["judged", "unparsed"]
    assert found["entailed"].to_list() == [False, None]
    assert "requested again" in found["reason"][0]
    assert "the second request failed too" in found["reason"][1]
    assert found["raw"][0].startswith("Well, well.\n\n[requested again]")
    once = ScriptedChat(replies=lambda _: "Well, well.")
    ChatEntailment(repair=False).test(pairs(("a", "b")), Models(chat=once))
    assert len(once.seen) == 1


@pytest.mark.parametrize(
    ("status", "error"), [("failed", "timed out"), ("refused", None), ("skipped", None)]
)
def test_what_is_no_answer_keeps_its_status(status: str, error: str | None) -> None:
    reply = ChatReply(status=status, error=error)  # type: ignore[arg-type]
    chat = ScriptedChat(replies=lambda _: reply)
    found = ChatEntailment().test(pairs(("a", "b")), Models(chat=chat))
    assert found["status"].to_list() == [status]
    assert found["entailed"].null_count() == found["score"].null_count() == 1
    assert found["reason"][0] == (error or found["reason"][0])
    assert len(chat.seen) == 1


def test_the_score_is_the_probability_of_the_first_word() -> None:
    likely = {"ent": math.log(0.6), "neutral": math.log(0.3), "The": math.log(0.1)}
    reply = ChatReply(status="ok", text="entailment", token_logprobs=(likely,))
    found = ChatEntailment().test(
        pairs(("a", "b")), Models(chat=ScriptedChat(replies=lambda _: reply))
    )
    assert found["score"].to_list() == pytest.approx([2 / 3])
    assert found["entailed"].to_list() == [True]
    plain = ScriptedChat(replies=lambda _: "neutral")
    found = ChatEntailment().test(pairs(("a", "b")), Models(chat=plain))
    assert found.select("entailed", "score").row(0) == (False, None)


@pytest.mark.parametrize("label", ["entailment", "neutral"])
def test_a_score_of_one_half_goes_with_either_label(label: str) -> None:
    likely = {label: math.log(0.5)} | dict.fromkeys(("entailment", "neutral"), math.log(0.5))
    reply = ChatReply(status="ok", text=label, token_logprobs=(likely,))
    chat = ScriptedChat(replies=lambda _: reply)
    found = ChatEntailment().test(pairs(("a", "b")), Models(chat=chat))
    assert found["score"].to_list() == pytest.approx([0.5])


def test_without_a_model_the_error_says_what_to_do() -> None:
    with pytest.raises(ModelError, match="--model NAME"):
        ChatEntailment().test(pairs(("a", "b")), None)


def test_no_pairs_give_no_rows_and_no_request() -> None:
    found = ChatEntailment().test(pairs(), None)
    assert found.height == 0
    assert found.schema["entailed"] == pl.Boolean


def test_a_table_without_statements_is_refused() -> None:
    with pytest.raises(JudgeError, match="hypothesis"):
        ChatEntailment().test(pairs(("a", "b")).drop("hypothesis"), None)


def test_the_signature_names_prompt_and_model() -> None:
    chat = ScriptedChat(replies={}, revision="r7")
    found = ChatEntailment().identity(Models(chat=chat))
    assert found == {
        "prompt": shipped()["entailment_yao"].hash,
        "chat": "scripted",
        "chat_revision": "r7",
    }
