"""Makers of statements: bare answers, the paper's prompt over scripted replies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from markscheme.contract import parse_judge
from markscheme.errors import MissingExtraError, UnknownNameError
from markscheme.judges.entailment.entailment import Entailment
from markscheme.judges.entailment.statement_makers import (
    OUTCOME,
    STATEMENT_MAKERS,
    BareAnswers,
    ChatStatements,
    StatementMaker,
    statement_maker,
)
from markscheme.judges.entailment.statements import loops, read_statement
from markscheme.judges.prompted.prompt import shipped
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.sources import Models

PAIRS = pl.DataFrame(
    {
        "question": ["where is fe best absorbed", "who wrote it", "who wrote it", "who", None],
        "answer": ["in the duodenum", "Ann", "Ann", " ", "x"],
        "note": list("abcde"),
    }
)
FE, ANN = "Fe is best absorbed in the duodenum.", "Ann wrote it."


def scripted(replies: Any) -> tuple[Models, ScriptedChat]:
    chat = ScriptedChat(replies=replies)
    return Models(chat=chat), chat


def good(text: str) -> str:
    return FE if "duodenum" in text else ANN


@pytest.fixture(scope="session")
def paper(papers: Path) -> str:
    return (papers / "yao-barbosa-2024-entailment.txt").read_text(encoding="utf-8")


def test_the_prompt_is_as_printed(paper: str) -> None:
    prompt = shipped()["statement_yao"]
    turns = prompt.turns({"question": "{question}", "answer": "{answer}"})
    assert turns[0] == ("system", "You are a helpful assistant.")
    assert turns[1][0] == "user"
    # The authors' code has the line breaks that print has not.
    assert f"| {' '.join(turns[1][1].split())} |" in " ".join(paper.split())
    assert turns[1][1].endswith("convert this pair:\n\nQ: {question}\nA: {answer}\nS:")
    assert prompt.quoted
    assert prompt.parser == "statement"
    assert (prompt.temperature, prompt.max_tokens) == (0.0, 300)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("bare", BareAnswers()),
        ("chat", ChatStatements()),
        ("chat:gpt-x", ChatStatements(model="gpt-x")),
    ],
)
def test_names(name: str, wanted: StatementMaker) -> None:
    assert statement_maker(name) == wanted
    assert isinstance(wanted, StatementMaker)


@pytest.mark.parametrize("name", ["", "rule", "chat:", "bare:", "nli:x"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"[Cc]hoose 'bare',.* 'chat'"):
        statement_maker(name)


@pytest.mark.parametrize("name", ["bare", "chat"])
def test_rows_order_and_columns_stay(name: str) -> None:
    models, _ = scripted(good)
    fe, ann = ("in the duodenum", "Ann") if name == "bare" else (FE, ANN)
    made = statement_maker(name).make(PAIRS, models)
    assert made.columns == [*PAIRS.columns, *OUTCOME]
    assert made.select(PAIRS.columns).equals(PAIRS)
    assert made["statement"].to_list() == [fe, ann, ann, None, None]
    assert made["status"].to_list() == ["judged"] * 3 + ["unparsed"] * 2
    backwards = statement_maker(name).make(PAIRS.reverse(), models)
    assert backwards["statement"].to_list() == made["statement"].to_list()[::-1]
    empty = statement_maker(name).make(PAIRS[:0], models)
    assert empty.height == 0
    assert empty.columns == made.columns


def test_some_makers_need_the_research_package(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = ("rules", "seq2seq")
    others = {name: one for name, one in STATEMENT_MAKERS.entries().items() if name not in theirs}
    monkeypatch.setattr(STATEMENT_MAKERS, "known", others)
    STATEMENT_MAKERS.parse.cache_clear()
    monkeypatch.setattr("markscheme.contract.registry.load_all", lambda: None)
    with pytest.raises(MissingExtraError, match=r"rules needs .*packages/research"):
        parse_judge("entailment(test=chat)")
    for name in ("seq2seq:a/b", "seq2seq(name=a)", "seq2seq"):
        with pytest.raises(MissingExtraError, match=r"sequence models .*packages/research"):
            statement_maker(name)
    assert parse_judge("entailment") == Entailment(statements="auto")


def test_seed_temperature_and_limit_reach_the_model() -> None:
    models, chat = scripted(good)
    ChatStatements(seed=42, temperature=0.7, max_tokens=9).make(PAIRS, models)
    assert {(one.seed, one.temperature, one.max_tokens) for one in chat.seen} == {(42, 0.7, 9)}


READ = [
    ("Ann wrote it.", "Ann wrote it."),
    (" S: Ann wrote it.\n", "Ann wrote it."),
    ("**Statement:** Ann wrote it.", "Ann wrote it."),
    ('"Ann wrote it."', "Ann wrote it."),
    ("Here is the statement:\n\nAnn wrote it.", "Ann wrote it."),
    ("Ann wrote it.\n\nThis follows from the answer.", "Ann wrote it."),
    ("Ann wrote it.\nQ: who else A: Bea S: Bea did.", "Ann wrote it."),
    ("Ann wrote it. Q: who else A: Bea S: Bea did.", "Ann wrote it."),
    ("<think>Hm, Ann.</think>Ann wrote it.", "Ann wrote it."),
    ("Ann wrote “Q and A”.", "Ann wrote “Q and A”."),
    ("A: Ann wrote it.", "Ann wrote it."),
    ("Q: Who wrote it? A: Ann S: Ann wrote it.", "Ann wrote it."),
]


@pytest.mark.parametrize(("reply", "wanted"), READ)
def test_statements_are_read(reply: str, wanted: str) -> None:
    found = read_statement(reply, question="who wrote it", answer="Ann")
    assert (found.status, found.product) == ("judged", wanted)


UNREAD = [
    ("", "empty"),
    (" \n ", "empty"),
    ("...", "no statement"),
    ("S:", "no statement"),
    ("who wrote it", "repeats the question"),
    ("Who wrote it?", "repeats the question"),
    ("Is it Ann?", "a question"),
    ("Ann wrote it. " * 5, "repeats itself"),
    ("Ann Ann Ann Ann Ann Ann Ann Ann", "repeats itself"),
    ("the book that the book that the book that", "repeats itself"),
    ("Cyrus wrote the first declaration of human rights", "example"),
    ("<think>I wonder", "reasoning"),
    ("Q: who wrote it A: Ann S:", "pair of question and answer"),
    ("Q: What is Rome? A: A city. S: Rome is a city.", "pair of question and answer"),
    ("Q: What is the capital of Estonia? A: Estonia.", "pair of question and answer"),
    ("N/A", "no statement of the answer"),
    ("Error: rate limit exceeded", "no statement of the answer"),
    ("Bea did all of it by herself.", "nothing of its input (Ann)"),
]


@pytest.mark.parametrize(("reply", "why"), UNREAD)
def test_loops_echoes_and_nothing_are_no_statements(reply: str, why: str) -> None:
    found = read_statement(reply, question="who wrote it", answer="Ann")
    assert found.status == "unparsed"
    assert why in found.reason


def test_a_cut_reply_is_no_statement_unless_it_had_ended() -> None:
    cut = read_statement("Ann wrote it when", question="who", answer="Ann", finished=False)
    assert cut.status == "unparsed"
    ended = read_statement("Ann did it.\nQ: wh", question="who", answer="Ann", finished=False)
    assert ended.product == "Ann did it."


def test_declining_is_told_from_answers_that_decline() -> None:
    declined = "I'm sorry, I can't do that."
    assert read_statement(declined, question="who", answer="Ann").status == "refused"
    assert read_statement(declined, question="who", answer=declined).status == "judged"


def test_the_papers_example_is_a_statement_where_it_was_asked_for() -> None:
    said = "Cyrus wrote the first declaration of human rights"
    asked = "who wrote the first declaration of human rights"
    assert read_statement(said, question=asked, answer="Cyrus").status == "judged"


GOOD = [
    ("how tall is it", "6ft 1in", "It is 6 feet 1 inch tall."),
    ("is the sky green", "No.", "The sky is not green."),
    ("È vero?", "Certo.", "È vero."),
    ("how many are there", "three", "There are 3 of them."),
    ("how heavy is it", "12,5 kg", "It weighs 12.5 kg."),
    ("Which city is it? A - Paris B - Rome", "B", "The city is Rome."),
    ("who sang it", "Beyoncé", "Beyonce sang it."),
    ("what is the best blood type", "A+", "The best blood type is A+."),
    ("中国的首都是哪里", "北京", "中国的首都是北京。"),
    ("what is the sum", "1,250", "The sum is 1250."),
]


@pytest.mark.parametrize(("question", "answer", "reply"), GOOD)
def test_a_statement_may_write_its_answer_in_another_form(
    question: str, answer: str, reply: str
) -> None:
    assert read_statement(reply, question=question, answer=answer).product == reply


@given(st.text(max_size=200))
def test_any_reply_is_read_or_has_a_reason(reply: str) -> None:
    found = read_statement(reply, question="who wrote it", answer="Ann")
    assert found.product or found.reason
    assert "\n" not in (found.product or found.reason)


def test_names_that_repeat_a_word_are_no_loops() -> None:
    assert not loops("Duran Duran sang The The and New York, New York in Baden-Baden.")
    assert loops("and then he said " * 9)
    assert not loops("x" * 100_000)
    assert loops("y " * 200_000)


def test_identities() -> None:
    models, _ = scripted(good)
    found = statement_maker("chat").identity(models)
    assert found == {"prompt": shipped()["statement_yao"].hash, "chat": "scripted"}
    assert statement_maker("bare").identity(models) == {}
