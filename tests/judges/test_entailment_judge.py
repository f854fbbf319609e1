"""The entailment judge: the paper's examples, sets over references, policies, what goes wrong."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

import markscheme
from entailment_script import Script
from markscheme.contract import ChatReply
from markscheme.contract.grammar import parse_judge, signature
from markscheme.engine.execute import apply
from markscheme.errors import JudgeError, ModelError, UnknownNameError
from markscheme.judges.entailment.entailment import Entailment
from markscheme.judges.entailment.tests import entailment_test
from markscheme.judges.outcomes import MOST_READ, MOST_REFERENCES, with_nearest_references
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.sources import Models
from markscheme.tables.answers import read_answers
from with_research import needs_research

CHAT = "entailment(statements=chat, test=chat, seed=42)"
PAPER = parse_judge(CHAT)

FE = "Fe is best absorbed in the body in the duodenum."
IRON = "Iron is best absorbed in the small intestine."
IRON_ROW = {
    "question": "where is fe best absorbed in the body",
    "references": ["in the duodenum"],
    "answer": "Iron is best absorbed in the small intestine.",
}
OAK = "The TV show The Curse of Oak Island is filmed on Oak Island."
SCOTIA = "The TV show The Curse of Oak Island is filmed in Nova Scotia, Canada."
OFF_COAST = (
    "The TV show The Curse of Oak Island is filmed on Oak Island, a small island off the coast of "
    "Nova Scotia, Canada."
)
OAK_STEPS = """1. The TV show the Curse of Oak Island is filmed on Oak Island. (Given in S1)
2. Oak Island is located in Nova Scotia, Canada. [[INFO]]
3. Therefore, the TV show the Curse of Oak Island is filmed in Nova Scotia, Canada. (Combining \
steps 1 and 2)"""
OAK_SCRIPT = Script(
    statements={
        "Oak Island": OAK,
        "Nova Scotia, Canada": SCOTIA,
        "on Oak Island, a small island off the coast of Nova Scotia, Canada": OFF_COAST,
        "Vancouver": "The TV show The Curse of Oak Island is filmed in Vancouver.",
        "oak island": OAK,
    },
    entailing={(OAK, SCOTIA), (OFF_COAST, OAK), (OFF_COAST, SCOTIA)},
    gaps={(OAK, SCOTIA): OAK_STEPS, (OFF_COAST, OAK): "1. S1 says so.\n2. So S2 holds."},
)


def table(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return read_answers([{"id": str(place), **row} for place, row in enumerate(rows)])


def oak(*answers: str, references: list[str] | None = None) -> list[dict[str, Any]]:
    question = "where is the tv show the curse of oak island filmed"
    return [
        {"question": question, "references": references or ["Oak Island"], "answer": answer}
        for answer in answers
    ]


def judged(script: Script, rows: list[dict[str, Any]], judge: str = CHAT) -> list[dict[str, Any]]:
    return apply(parse_judge(judge), table(rows), script.models()[0]).to_dicts()


# --- the paper's worked examples ----------------------------------------------------------------


def test_iron_is_inferior_and_accepted_as_in_appendix_a1() -> None:
    script = Script(
        statements={"in the duodenum": FE, IRON_ROW["answer"]: IRON},
        entailing={(FE, IRON)},
        gaps={(FE, IRON): "1. Fe is iron. [[INFO]]\n2. So it is."},
    )
    models, chat = script.models()
    row = apply(PAPER, table([IRON_ROW]), models).row(0, named=True)
    assert (row["relation"], row["verdict"], row["status"]) == ("inferior", True, "judged")
    kept = json.loads(row["raw"])
    assert kept["statement"] == IRON
    (reference,) = kept["references"]
    assert reference["statement"] == FE
    assert reference["entails_answer"]["entailed"] is True
    assert reference["answer_entails"]["entailed"] is False
    for text in ('the reference "in the duodenum" entails the answer', FE, IRON):
        assert text in row["explanation"]
    assert {(request.seed, request.temperature, request.max_tokens) for request in chat.seen} == {
        (42, 0.0, 300)
    }


def test_oak_island_has_three_steps_and_one_piece_of_information_as_in_appendix_d() -> None:
    (row,) = judged(OAK_SCRIPT, oak("Nova Scotia, Canada"))
    assert row["relation"] == "inferior"
    marks = json.loads(row["raw"])["marks"]
    assert (marks["steps"], marks["info"], marks["assumptions"]) == (3, 1, 0)
    assert (marks["scheme"], marks["gap"]) == ("CIA", 33)
    assert marks["inference"] == OAK_STEPS
    assert "gap 33: steps 3, outside information 1, assumptions 0" in row["explanation"]
    gaps = {
        scheme: json.loads(
            judged(OAK_SCRIPT, oak("Nova Scotia, Canada"), f"{CHAT[:-1]}, marks={scheme})")[0][
                "raw"
            ]
        )["marks"]["gap"]
        for scheme in ("C", "IA", "difficulty")
    }
    assert gaps == {"C": 30, "IA": 3, "difficulty": 2}


def test_the_four_sets() -> None:
    answers = (
        "on Oak Island, a small island off the coast of Nova Scotia, Canada",
        "oak island",
        "Nova Scotia, Canada",
        "Vancouver",
    )
    rows = judged(OAK_SCRIPT, oak(*answers))
    assert [row["relation"] for row in rows] == ["superior", "equivalent", "inferior", "incorrect"]
    assert [row["verdict"] for row in rows] == [True, True, True, False]
    marks = [row["marks"] for row in rows]
    assert marks == sorted(marks, reverse=True)
    assert marks[0] > marks[1] == 1.0 > marks[2] > marks[3] == 0.0


@pytest.mark.parametrize(
    ("policy", "verdicts"),
    [
        ("superior_or_inferior", [True, True, True, False]),
        ("superior_only", [True, True, False, False]),
        ("both", [False, True, False, False]),
    ],
)
def test_policies(policy: str, verdicts: list[bool]) -> None:
    answers = (
        "on Oak Island, a small island off the coast of Nova Scotia, Canada",
        "oak island",
        "Nova Scotia, Canada",
        "Vancouver",
    )
    rows = judged(OAK_SCRIPT, oak(*answers), f"{CHAT[:-1]}, policy={policy}, marks=off)")
    assert [row["verdict"] for row in rows] == verdicts
    assert [row["score"] for row in rows] == [float(verdict) for verdict in verdicts]
    assert {row["marks"] for row in rows} == {None}


# --- several references -------------------------------------------------------------------------

LETTERS = Script(
    statements={letter: f"It is {letter}." for letter in "ABCDEFG"},
    entailing={
        ("It is A.", "It is B."),
        ("It is C.", "It is A."),
        ("It is D.", "It is A."),
    },
    gaps={
        ("It is C.", "It is A."): "1. a\n2. b\n3. c",
        ("It is D.", "It is A."): "1. d",
        ("It is A.", "It is B."): "1. a\n2. b",
    },
)


def letters(answer: str, *references: str) -> list[dict[str, Any]]:
    return [{"question": "Which letter?", "references": list(references), "answer": answer}]


@pytest.mark.parametrize(
    ("references", "relation"),
    [
        ("B", "superior"),
        ("C", "inferior"),
        ("BC", "equivalent"),  # Entails one and is entailed by another: in both sets.
        ("E", "incorrect"),
        ("EB", "superior"),
        ("EC", "inferior"),
        ("EF", "incorrect"),
        ("A", "equivalent"),
        ("EA", "equivalent"),
    ],
)
def test_any_reference_puts_an_answer_into_a_set(references: str, relation: str) -> None:
    (row,) = judged(LETTERS, letters("A", *references))
    assert row["relation"] == relation


def test_the_smallest_gap_over_the_entailing_references_counts() -> None:
    (row,) = judged(LETTERS, letters("A", "C", "D", "E"))
    marks = json.loads(row["raw"])["marks"]
    assert (row["relation"], marks["steps"], marks["gap"]) == ("inferior", 1, 10)


def test_equal_references_and_blank_ones_are_compared_once() -> None:
    (row,) = judged(LETTERS, letters("A", "E", "E", " "))
    assert [one["reference"] for one in json.loads(row["raw"])["references"]] == ["E"]


def test_nothing_is_asked_twice() -> None:
    models, chat = LETTERS.models()
    rows = [*letters("A", "B", "C"), *letters("A", "C", "B"), *letters("B", "A", "C")]
    apply(PAPER, table(rows), models)
    asked = [request.messages for request in chat.seen]
    assert len(asked) == len(set(asked))


# --- what goes wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize("reply", ["entailment.", "Entailment\n", "**Entailment**", "“entailment”",
                                   "The premise entails the hypothesis."])  # fmt: skip
def test_entailment_is_read_however_it_is_said(reply: str) -> None:
    script = Script(
        statements=LETTERS.statements,
        tests={("It is A.", "It is E."): reply},
        gaps={("It is A.", "It is E."): "1. e"},
    )
    (row,) = judged(script, letters("A", "E"))
    assert row["relation"] == "superior"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("", "unparsed"),
        ("Bananas.", "unparsed"),
        (ChatReply(status="refused"), "refused"),
        (ChatReply(status="failed", error="no connection"), "failed"),
        (ChatReply(status="skipped"), "skipped"),
    ],
)
def test_a_test_that_is_not_decided_leaves_the_answer_not_judged(
    reply: str | ChatReply, status: str
) -> None:
    script = Script(statements=LETTERS.statements, tests={("It is A.", "It is E."): reply})
    row, other = judged(script, letters("A", "E") + letters("B", "E"))
    assert row["status"] == status
    assert (row["verdict"], row["relation"], row["score"], row["marks"]) == (None,) * 4
    assert "not decided: 1 of 1 references leave a direction open" in row["explanation"]
    assert other["relation"] == "incorrect"


def test_another_reference_may_decide() -> None:
    broken = {("It is A.", "It is E."): "Bananas.", ("It is E.", "It is A."): "Bananas."}
    script = Script(statements=LETTERS.statements, entailing=LETTERS.entailing, tests=broken)
    both, one_way, none = judged(
        script,
        letters("A", "E", "B", "C") + letters("A", "E", "B") + letters("A", "E", "F"),
    )
    assert (both["status"], both["relation"]) == ("judged", "equivalent")
    # Whether E entails A stays open, so it may be superior or equivalent.
    assert (one_way["status"], one_way["relation"]) == ("unparsed", None)
    assert (none["status"], none["relation"]) == ("unparsed", None)


@pytest.mark.parametrize("statement", ["", "  \n", "It is A. " * 60])
def test_empty_and_looping_statements(statement: str) -> None:
    script = Script(statements={**LETTERS.statements, "A": statement})
    (row,) = judged(script, letters("A", "E"))
    kept = json.loads(row["raw"])
    assert row["status"] == "unparsed"
    assert kept["statement"] is None
    assert "not decided" in row["explanation"]


@pytest.mark.parametrize(
    ("explanation", "reason"),
    [
        ("It follows.", "no numbered step"),
        ("", "an empty reply"),
        ("1. a\n2. b\n3. a\n4. b\n5. a\n6. b", "in circles"),
        (ChatReply(status="ok", text="1. a\n2. b", finish_reason="length"), "cut off"),
        (ChatReply(status="failed", error="no connection"), "no connection"),
    ],
)
def test_an_inference_that_cannot_be_measured_costs_the_marks_only(
    explanation: str | ChatReply, reason: str
) -> None:
    script = Script(
        statements=LETTERS.statements,
        entailing={("It is C.", "It is A.")},
        gaps={("It is C.", "It is A."): explanation},
    )
    (row,) = judged(script, letters("A", "C"))
    assert (row["status"], row["relation"], row["verdict"]) == ("judged", "inferior", True)
    assert row["marks"] is None
    assert "no marks, since the inference could not be measured" in row["explanation"]
    assert reason in row["explanation"]
    assert json.loads(row["raw"])["marks"]["status"] in ("unparsed", "failed")


@pytest.mark.parametrize("rating", ["", "9", "hard to say"])
def test_a_rating_that_cannot_be_read_leaves_the_counts(rating: str) -> None:
    script = Script(
        statements=LETTERS.statements,
        entailing=LETTERS.entailing,
        gaps=LETTERS.gaps,
        rating=rating,
    )
    (row,) = judged(script, letters("A", "C"), f"{CHAT[:-1]}, marks=difficulty)")
    marks = json.loads(row["raw"])["marks"]
    assert (row["marks"], marks["difficulty"], marks["steps"]) == (None, None, 3)
    assert "rating: " in marks["reason"]


def test_the_rating_is_a_second_turn() -> None:
    models, chat = LETTERS.models()
    judge = parse_judge(f"{CHAT[:-1]}, marks=difficulty)")
    apply(judge, table(letters("A", "C")), models)
    rating = chat.seen[-1]
    roles = [message.role for message in rating.messages]
    assert roles == ["system", "user", "assistant", "user"]
    assert rating.messages[0].content.endswith("an expert in reasoning.")
    assert rating.messages[1].content.startswith("We have two statements")
    assert rating.messages[2].content == "1. a\n2. b\n3. c"


def test_baselines() -> None:
    script = Script(statements=LETTERS.statements)

    def scored(text: str) -> Any:
        return "4" if text.startswith("Here is a question, a set of golden") else script(text)

    models = Models(chat=ScriptedChat(replies=scored))
    rows = table(letters("B", "E") + letters("B", "B"))
    found = apply(parse_judge(f"{CHAT[:-1]}, marks=llm_score)"), rows, models)
    assert found["marks"].to_list() == [0.75, 0.75]
    found = apply(parse_judge(f"{CHAT[:-1]}, marks=token_f1)"), rows, models)
    assert found["marks"].to_list() == [0.0, 1.0]


@pytest.mark.parametrize("judge", [f"{CHAT[:-1]}, marks=llm_score)", "entailment(marks=llm_score)"])
@pytest.mark.parametrize("mark", ["4", "Hm.", "I'm sorry, I can't.", None])
def test_marks_by_llm_score_cost_what_was_spent_and_say_why_there_are_none(
    judge: str, mark: str | None
) -> None:
    spent = []

    def priced(text: str) -> ChatReply:
        if mark is None and "golden" in text:
            return ChatReply(status="failed", error="no connection")
        again = text.startswith("I could not read a mark")
        said = mark if again or "golden" in text else "neutral"
        spent.append(1.0)
        return ChatReply(status="ok", text=said, cost_usd=1.0)

    judge = judge.replace("statements=chat", "statements=bare")
    chat = ScriptedChat(replies=priced)
    rows = table([{"question": "Who?", "references": ["Ann"], "answer": "Bob"}])
    (row,) = apply(parse_judge(judge), rows, Models(chat=chat)).to_dicts()
    assert (row["status"], row["marks"]) == ("judged", 0.75 if mark == "4" else None)
    assert (row["cost_usd"] or 0) == sum(spent)
    why = json.loads(row["raw"])["marks"]
    assert (why["status"] == "judged") is (mark == "4") is ("no marks" not in row["explanation"])
    assert mark == "4" or why["reason"] in row["explanation"]


def test_an_answer_that_is_not_judged_is_not_sent_for_a_mark() -> None:
    def reply(text: str) -> str:
        return "4" if "golden" in text else "Bananas."

    chat = ScriptedChat(replies=reply)
    rows = table([{"question": "Who?", "references": ["Ann"], "answer": "Bob"}])
    judge = parse_judge("entailment(statements=bare, test=chat, marks=llm_score)")
    assert apply(judge, rows, Models(chat=chat))["status"].to_list() == ["unparsed"]
    assert not any("golden" in one.messages[-1].content for one in chat.seen)


def test_costs_are_counted_once() -> None:
    def priced(text: str) -> ChatReply:
        return ChatReply(status="ok", text=str(LETTERS(text)), tokens_in=100, tokens_out=1)

    chat = ScriptedChat(replies=priced)
    rows = table(letters("A", "B", "C") + letters("B", "A") + letters("A", "C"))
    found = apply(PAPER, rows, Models(chat=chat))
    assert found["tokens_in"].sum() == 100 * len(chat.seen)
    assert found["tokens_out"].sum() == len(chat.seen)


# --- rows that need no model, parameters, offline -----------------------------------------------


def test_rows_that_cannot_be_compared_ask_nothing() -> None:
    rows: list[dict[str, Any]] = [
        {"question": "q?", "references": ["r"], "answer": ""},
        {"question": "q?", "references": ["r.*"], "answer": "r", "reference_kind": "regex"},
        {"question": "q?", "references": ["r"], "answer": None},
    ]
    models, chat = Script().models()
    found = apply(PAPER, table(rows), models)
    assert not chat.seen
    assert found["status"].to_list() == ["judged", "skipped", "judged"]
    assert found["verdict"].to_list() == [False, None, False]
    assert found["explanation"].to_list()[::2] == ["no answer was given"] * 2
    empty = apply(PAPER, table(rows).clear(), models)
    assert empty.height == 0


@pytest.mark.parametrize(
    "name",
    [
        "entailment(statements=verse)",
        "entailment(test=hope)",
        "entailment(policy=lenient)",
        "entailment(marks=D)",
        "entailment(temperature=9)",
        "entailment(max_tokens=0)",
    ],
)
def test_wrong_parameters_are_named(name: str) -> None:
    with pytest.raises((JudgeError, UnknownNameError)):
        parse_judge(name)


@pytest.mark.parametrize(
    "name",
    [
        "entailment(model='gpt-4o')",
        "entailment(temperature=0.5)",
        "entailment(marks=token_f1, max_tokens=9)",
        pytest.param("claims(model='gpt-4o')", marks=needs_research),
    ],
)
def test_settings_of_a_model_that_nothing_asks_are_refused(name: str) -> None:
    with pytest.raises(JudgeError, match=r"=.*no part of this judge asks .* add test=chat"):
        parse_judge(name)
    for part in ("test=chat", "statements=chat"):
        parse_judge(f"{name[:-1]}, {part})")


@pytest.mark.parametrize("test", ["chat", "chat(repair=false)"])
def test_marks_are_by_inference_where_a_chat_model_tests(test: str) -> None:
    judge = f"entailment(statements=chat, test={test}, seed=42)"
    (found,) = judged(OAK_SCRIPT, oak("Nova Scotia, Canada"), judge)
    marks = json.loads(found["raw"])["marks"]
    assert (marks["scheme"], marks["steps"]) == ("CIA", 3)


def test_a_chat_model_is_asked_for() -> None:
    with pytest.raises(ModelError, match="none was named"):
        markscheme.judge(oak("Vancouver"), CHAT)


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("entailment", False),
        ("entailment(statements=chat)", True),
        pytest.param("entailment(test='chat:small')", True, marks=needs_research),
        ("entailment(marks=C)", True),
        ("entailment(marks=token_f1)", False),
    ],
)
def test_it_knows_whether_it_asks_a_chat_model(name: str, asks: bool) -> None:
    judge = parse_judge(name)
    assert isinstance(judge, Entailment)
    assert judge.needs.chat is asks


def test_signatures_know_prompts_models_and_weights() -> None:
    models, _ = Script().models()
    one = signature(PAPER, models)
    assert "test.prompt=" in one
    assert "statements.prompt=" in one
    assert "marks.prompt=" in one
    assert "scripted" in one
    assert "seed=42" in one
    assert "test.trained=" in signature(parse_judge("entailment"))


def test_offline_it_knows_the_sets_and_grades_marks() -> None:
    rows = [
        {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": answer}
        for answer in (
            "Jane Austen",
            "Emma was written by Jane Austen, who was born in Steventon in 1775.",
            "Charles Dickens",
            "Charlotte Brontë",
        )
    ]
    found = apply(parse_judge("entailment"), table(rows))
    assert found["relation"].to_list() == ["equivalent", "superior", "incorrect", "incorrect"]
    marks = found["marks"].to_list()
    assert min(marks[:2]) > 0.9 > 0.2 > max(marks[2:]) >= 0
    assert "probability" in found["explanation"][1]


def test_the_bundled_example(example: Any) -> None:
    rows = pl.read_ndjson(example).select("id", "relation")
    found = markscheme.judge(example, "entailment").judgments.cast({"relation": pl.String})
    both = rows.join(found.select("relation", id="answer_id"), on="id", suffix="_found")
    right = (both["relation"] == both["relation_found"]).sum() / rows.height
    assert right >= 0.75


def test_the_default_test_reads_the_statements_that_a_model_made() -> None:
    row = {"question": "who wrote it", "references": ["Bea"], "answer": "Ann"}
    made = {"Ann": "Ann wrote it together with Bea.", "Bea": "Bea wrote it."}
    found = judged(Script(statements=made), [row], "entailment(statements=chat)")[0]
    pair = {"question": "who wrote it", "premise": made["Ann"], "hypothesis": made["Bea"]}
    scores = [
        entailment_test("embedded").test(pl.DataFrame([pair | more]), Models())["score"][0]
        for more in ({}, {"premise_answer": "Ann", "hypothesis_answer": "Bea"})
    ]
    entails = json.loads(found["raw"])["references"][0]["answer_entails"]["score"]
    assert entails == scores[0] != scores[1]


def test_two_equal_texts_that_are_no_statements_never_accept_an_answer() -> None:
    row = {"question": "who wrote it", "references": ["Bea"], "answer": "Ann"}
    for garbage in ("N/A", "Error: rate limit exceeded", "Insufficient information to say."):
        script = Script(statements=dict.fromkeys(("Ann", "Bea"), garbage))
        found = judged(script, [row])[0]
        assert (found["verdict"], found["score"]) == (None, None), garbage
        assert found["status"] in ("unparsed", "refused")


def test_a_long_answer_is_compared_with_the_nearest_of_very_many_references() -> None:
    answer = "The bridge was built by Ada Quist in 1871. " + 90 * "It is long. Its river is wide. "
    others = [f"{number} Zorvex" for number in range(3_000)]
    references = [*others, "Ada Quist", *others]
    rows = pl.DataFrame(
        {"answer": [answer, answer], "references": [references, ["Bea", None, "Ada Quist"]]}
    )
    crowded, few = with_nearest_references(rows)["references"].to_list()
    assert (MOST_READ // len(answer)) == len(crowded) < MOST_REFERENCES < len(references)
    assert "Ada Quist" in crowded
    rest = iter(references)
    assert all(one in rest for one in crowded)  # in their order
    assert few == ["Bea", None, "Ada Quist"]


def test_the_explanation_shows_the_references_that_the_score_is_of() -> None:
    place = {"question": "Where is it kept?", "references": ["Oslo", "in the museum of Denmark"]}
    date = {"question": "When did it open?", "references": ["1866", "2 June 1866"]}
    rows = [place | {"answer": "in a cellar"}, date | {"answer": "June 1866"}]
    incorrect, equivalent = apply(parse_judge("entailment"), table(rows)).to_dicts()
    assert 'the nearest is "in the museum of Denmark"' in incorrect["explanation"]
    assert f"{incorrect['score']:.2f} the other way" in incorrect["explanation"]
    assert 'and the reference "2 June 1866" entails it' in equivalent["explanation"]
    assert equivalent["explanation"].rpartition(", ")[2].startswith("0.9")
