"""Failure modes: rules on single answers, the bundled example's hand-written tags, the context."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from markscheme.analysis.mode_detection import GROUPS, MODES, failure_modes, tag
from markscheme.analysis.rejections import rejection
from markscheme.analysis.wording import spelled_in, wording
from markscheme.models.sources import Models


@pytest.mark.parametrize(
    ("question", "reference", "answer", "mode"),
    [
        ("who drafted the constitution of india", "B. R. Ambedkar", "bhimrao ramji ambedkar",
         "multinominal_entity"),
        ("which agency runs the probe", "NASA",
         "National Aeronautics and Space Administration", "multinominal_entity"),
        ("in which block is sodium", "s-block", "the s - block", "tokenization"),
        ("who became king", "DÃ¡in", "Dain", "tokenization"),
        ("when did he return", "1995", "Michael Jordan returned to the NBA in 1995.",
         "em_in_explanatory"),
        ("who is counted", "citizens", "ordinary citizens", "bridging_abridging"),
        ("how far does it lean", "about 3.99 degrees", "3.97 degrees", "symbolic_equivalence"),
        ("when was it built", "1524", "in the 16th century", "symbolic_equivalence"),
        ("how cold is it", "100 °C", "212 °F", "symbolic_equivalence"),
        ("when was the 50th star added to the flag", "1960", "July 4, 1960",
         "temporal_granularity"),
        ("where is it held", "Camping World Stadium in Orlando", "Orlando, Florida",
         "spatial_granularity"),
        ("when was the railway started and finished", "between 1881 and 1885",
         "Started in 1881 and finished in 1885.", "compound_question"),
        ("list the three Baltic states", "Estonia, Latvia and Lithuania",
         "Lithuania, Latvia, Estonia", "list_question"),
        ("which is the capital of Georgia", "Atlanta",
         "If you mean the country, Tbilisi; in the state of the USA it is Atlanta.", "ambiguity"),
    ],
)  # fmt: skip
def test_wording_shows_the_mode(question: str, reference: str, answer: str, mode: str) -> None:
    found = tag(question, [reference], answer)
    assert found is not None
    assert found.mode == mode
    assert len(found.evidence) > 10


def test_what_no_rule_explains_has_no_tag() -> None:
    assert tag("who won the cup", ["Brazil"], "the men in blue") is None


def test_the_examples_tags_agree_with_those_written_by_hand(root: Path) -> None:
    lines = (root / "examples" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    table = pl.DataFrame(
        {
            "answer_id": [row["id"] for row in rows],
            "question": [row["question"] for row in rows],
            "references": [row["references"] for row in rows],
            "answer": [row["answer"] for row in rows],
            "accepted": [bool(row["label"]) for row in rows],
        }
    )
    found = failure_modes(table, Models())
    by_hand = {row["id"]: row["failure_mode"] for row in rows if row["failure_mode"]}
    assert set(found["answer_id"]) == set(by_hand)
    right = sum(by_hand[row] == mode for row, mode in found.select("answer_id", "mode").iter_rows())
    assert right / len(by_hand) >= 0.85
    assert found["group"].to_list() == [MODES[mode].group for mode in found["mode"]]
    assert set(found["group"]) <= set(GROUPS)
    assert min(map(len, found["evidence"])) > 5


def answers(*rows: tuple[str, list[str], str, bool | None]) -> pl.DataFrame:
    table = pl.DataFrame(
        rows, schema=["question", "references", "answer", "accepted"], orient="row"
    )
    return table.with_columns(answer_id=pl.int_range(pl.len()).cast(pl.String))


def test_other_accepted_answers_tell_a_wrong_reference_from_an_ambiguous_question() -> None:
    question = "who was the first woman in space"
    wrong = answers(
        (question, ["Sally Ride"], "Valentina Tereshkova", True),
        (question, ["Sally Ride"], "It was Tereshkova", True),
        (question, ["Sally Ride"], "Sally Ride", False),
    )
    assert failure_modes(wrong)["mode"].to_list() == ["incorrect_reference"] * 2
    two_right = answers(
        ("who won the 100 metres", ["Usain Bolt"], "Elaine Thompson", True),
        ("who won the 100 metres", ["Usain Bolt"], "Usain Bolt", True),
    )
    assert failure_modes(two_right)["mode"].to_list() == ["ambiguity"]


def test_only_accepted_answers_that_exact_match_rejects_are_tagged() -> None:
    table = answers(
        ("q", ["Paris"], "paris", True),
        ("q", ["Paris"], "Lyon", False),
        ("q", ["Paris"], "x", None),
    )
    found = failure_modes(table)
    assert found.is_empty()
    assert found.columns[-3:] == ["mode", "group", "evidence"]


def test_repeated_answers_share_a_tag_and_keep_their_rows() -> None:
    table = answers(
        ("who", ["Georges Bizet"], "Bizet", True), ("who", ["Georges Bizet"], "Bizet", True)
    )
    found = failure_modes(table)
    assert found["row"].to_list() == [0, 1]
    assert found["mode"].to_list() == ["multinominal_entity"] * 2


@pytest.mark.parametrize("text", ["", "?!", "\x00", "٣", "a" * 50_000, "1/0 and 3/4", "M" * 300])
def test_any_text_can_be_read(text: str) -> None:
    assert wording(text).text == text
    tag(text, [text or "x"], text)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It cost 1.200,50 Euro", {1200.5}),
        ("about 3 x 10^8 m/s", {3e8}),
        ("2.2e-10 of them", {2.2e-10}),
        ("1 1/2 cups", {1.5}),
        ("two and a half hours", {2.5}),
        ("twenty-five of them", {25}),
        ("3. 97 degrees", {3.97}),
        ("World War II", {2}),
        ("Washington, DC", set()),
        ("no figure", set()),
    ],
)
def test_numbers_are_read_as_the_values_are(text: str, numbers: set[float]) -> None:
    assert wording(text).numbers == numbers


def test_another_writing_of_a_number_is_no_other_number() -> None:
    found = tag("What did the bike cost?", ["1200.50 euros for the bike"],
                "The bike cost us 1.200,50 euros in all, with a lock and a lamp")  # fmt: skip
    assert found is not None
    assert found.mode in ("more_elaborate", "symbolic_equivalence")


def test_spelling_ignores_how_words_are_cut() -> None:
    assert spelled_in(("light", "emitting"), ("a", "lightemitting", "diode"))
    assert not spelled_in(("art",), ("started",))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Bizet", "the answer gives the name 'Georges Bizet' in a shorter or longer form"),
        ("Carmen was composed by Georges Bizet in 1875",
         "the answer contains 'Georges Bizet' unchanged, with 6 words around it"),
    ],
)  # fmt: skip
def test_evidence_is_a_sentence_on_the_answer(answer: str, said: str) -> None:
    found = tag("Who composed the opera Carmen?", ["Georges Bizet"], answer)
    assert found is not None
    assert found.evidence == said


def test_the_evidence_of_a_common_root_does_not_depend_on_the_order_of_sets() -> None:
    from markscheme.analysis.same import other_words
    from markscheme.analysis.wording import Pair

    one, other = wording("European nuclear agency"), wording("Europeen nucleair bureau")
    assert (
        other_words(Pair(question="", reference=one, answer=other))
        == "'Europeen' and 'European' have one root"
    )


@pytest.mark.parametrize(
    ("question", "reference", "answer", "mode"),
    [
        ("How much is the monthly fee now?", "EUR 49", "Forty-nine euros", "symbolic_equivalence"),
        ("What is the latest version?", "3.2", "Three point two", "symbolic_equivalence"),
        ("How much is the monthly fee now?", "Free", "No charge", "unsure"),
        ("Can I cancel now?", "Yes", "Sure, you may end it whenever you like", "unsure"),
        ("who is the champion now", "Boris Becker", "Stefan Edberg", "ambiguity"),
    ],
)
def test_a_question_is_ambiguous_only_where_another_thing_is_named(
    question: str, reference: str, answer: str, mode: str
) -> None:
    row = {"answer_id": "1", "question": question, "references": [reference], "answer": answer}
    found = failure_modes(pl.DataFrame([row]).with_columns(accepted=True))
    assert found["mode"].to_list() == [mode]


def test_a_word_that_begins_a_sentence_is_no_other_name() -> None:
    found = rejection("Can I cancel at any time?", ["Yes"], "Sure, you may end it any time.")
    assert found.mode == "other"
    assert rejection("Who wrote Emma?", ["Jane Austen"], "Ann Radcliffe").mode == "name"
