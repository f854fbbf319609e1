"""The bundled example keeps its promises: fields, labels, relations and failure modes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from markscheme.text.normalisation import normalise

EXAMPLES = Path(__file__).parents[1] / "examples"
FIELDS = [
    "id",
    "question",
    "references",
    "answer",
    "system",
    "label",
    "annotator_labels",
    "relation",
    "failure_mode",
]
RELATIONS = {"superior", "equivalent", "inferior", "incorrect"}
MODES = {
    "multinominal_entity",
    "synonym",
    "more_elaborate",
    "em_in_explanatory",
    "bridging_abridging",
    "tokenization",
    "symbolic_equivalence",
    "ambiguity",
    "temporal_granularity",
    "spatial_granularity",
    "list_question",
    "open_ended_question",
    "compound_question",
    "incorrect_reference",
}
RIGHT_WITHOUT_THE_REFERENCE = {"ambiguity", "open_ended_question", "incorrect_reference"}
Row = dict[str, Any]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    text = (EXAMPLES / "answers.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def exact_match(row: Row) -> bool:
    return normalise(row["answer"]) in {normalise(reference) for reference in row["references"]}


def wrong_references(rows: list[Row]) -> set[str]:
    return {row["question"] for row in rows if row["failure_mode"] == "incorrect_reference"}


def test_every_row_has_exactly_the_documented_fields(rows: list[Row]) -> None:
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for row in rows:
        assert list(row) == FIELDS
        assert isinstance(row["question"], str)
        assert row["question"].strip()
        assert row["references"]
        assert all(isinstance(r, str) and r.strip() for r in row["references"])
        assert isinstance(row["answer"], str)
        assert row["relation"] in RELATIONS
        assert row["failure_mode"] in MODES | {None}
    for name in [*FIELDS, *RELATIONS, *MODES]:
        assert f"`{name}`" in readme, name


def test_counts(rows: list[Row]) -> None:
    references: dict[str, list[str]] = {}
    for row in rows:
        assert references.setdefault(row["question"], row["references"]) == row["references"]
    assert len(references) >= 60
    assert len({row["id"] for row in rows}) == len(rows)
    per_question = Counter(row["question"] for row in rows)
    assert set(per_question.values()) == {4}
    assert Counter(row["system"] for row in rows) == dict.fromkeys(
        ("terse", "chatty", "hedger", "parrot"), len(references)
    )
    assert sum(len(found) > 1 for found in references.values()) >= 5


def test_every_system_is_right_and_wrong_at_times(rows: list[Row]) -> None:
    seen = Counter((row["system"], row["label"]) for row in rows)
    for system in ("terse", "chatty", "hedger", "parrot"):
        assert min(seen[system, 0], seen[system, 1]) >= 5, system


def test_label_is_the_majority_of_three_annotators_who_sometimes_disagree(rows: list[Row]) -> None:
    for row in rows:
        votes = row["annotator_labels"]
        assert len(votes) == 3, row["id"]
        assert set(votes) <= {0, 1}, row["id"]
        assert row["label"] == (sum(votes) >= 2), row["id"]
    disagreements = sum(len(set(row["annotator_labels"])) > 1 for row in rows)
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert f"disagree on {disagreements} answers" in readme
    dissenters = {
        place
        for row in rows
        for place, vote in enumerate(row["annotator_labels"])
        if vote != row["label"]
    }
    assert dissenters == {0, 1, 2}


def test_failure_mode_is_given_exactly_where_people_accept_and_exact_match_rejects(
    rows: list[Row],
) -> None:
    for row in rows:
        expected = row["label"] == 1 and not exact_match(row)
        assert (row["failure_mode"] is not None) == expected, row["id"]
    counts = Counter(row["failure_mode"] for row in rows)
    assert all(counts[mode] >= 3 for mode in MODES), counts


def test_exact_match_in_explanatory_answers_holds_the_reference_verbatim(rows: list[Row]) -> None:
    for row in rows:
        held = any(
            f" {normalise(reference)} " in f" {normalise(row['answer'])} "
            for reference in row["references"]
        )
        if row["failure_mode"] == "em_in_explanatory":
            assert held, row["id"]


def test_relations_agree_with_labels_but_for_the_documented_exceptions(rows: list[Row]) -> None:
    wrong = wrong_references(rows)
    counts = Counter(row["relation"] for row in rows)
    assert all(counts[relation] >= 20 for relation in RELATIONS), counts
    for row in rows:
        relation, label, mode = row["relation"], row["label"], row["failure_mode"]
        if exact_match(row):
            assert relation == "equivalent", row["id"]
        if relation == "incorrect" and label == 1:
            assert mode in RIGHT_WITHOUT_THE_REFERENCE, row["id"]
        if relation == "equivalent" and label == 0:
            assert row["question"] in wrong, row["id"]
        assert not (relation == "superior" and label == 0), row["id"]
        if mode == "incorrect_reference":
            assert relation == "incorrect", row["id"]


def test_the_awkward_characters_are_there(rows: list[Row]) -> None:
    text = "".join(row["answer"] for row in rows)
    for character in ("é", "á", "\u00a0", "\u2011", "–", "¥"):
        assert character in text, ascii(character)
    assert any(row["answer"] == "" for row in rows)
