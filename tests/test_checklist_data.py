"""The behavioural checklist is well formed, balanced, and not solved by a trivial rule."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from markscheme.text.normalisation import normalise

CHECKLIST = Path(__file__).parent / "checklist"
FIELDS = ["id", "capability", "question", "references", "answer", "verdict", "note"]
CAPABILITIES = {
    "negation",
    "hedging",
    "shotgun_list",
    "refusal",
    "empty",
    "question_echo",
    "number_words",
    "date_granularity",
    "place_containment",
    "person_names",
    "units",
    "near_miss_spelling",
    "entity_swap",
    "wrong_key_fact",
    "injection",
    "quoted_and_denied",
    "other_digits",
    "abbreviations",
    "paraphrase",
    "extra_detail",
}
Case = dict[str, Any]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [
        json.loads(line)
        for path in sorted(CHECKLIST.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").split("\n")
        if line
    ]


def contains(case: Case) -> bool:
    answer = f" {normalise(case['answer'])} "
    return any(f" {normalise(r)} " in answer for r in case["references"] if normalise(r))


def test_one_file_for_each_capability_and_each_is_documented() -> None:
    assert {path.stem for path in CHECKLIST.glob("*.jsonl")} == CAPABILITIES
    readme = (CHECKLIST / "README.md").read_text(encoding="utf-8")
    for capability in CAPABILITIES:
        assert f"`{capability}`" in readme, capability
    assert "Never train on them" in readme


def test_every_case_has_the_documented_shape(cases: list[Case]) -> None:
    for case in cases:
        assert list(case) == FIELDS
        for field in ("id", "question", "note"):
            assert isinstance(case[field], str), case["id"]
            assert case[field].strip(), case["id"]
        assert case["references"], case["id"]
        assert all(isinstance(r, str) and r.strip() for r in case["references"]), case["id"]
        assert isinstance(case["answer"], str), case["id"]
        assert isinstance(case["verdict"], bool), case["id"]


def test_ids_are_numbered_within_the_file_of_their_capability() -> None:
    for path in CHECKLIST.glob("*.jsonl"):
        lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
        found = [json.loads(line) for line in lines]
        assert {case["capability"] for case in found} == {path.stem}
        numbered = [f"{path.stem}-{number:03d}" for number in range(1, len(found) + 1)]
        assert [case["id"] for case in found] == numbered


def test_no_case_occurs_twice(cases: list[Case]) -> None:
    assert len({case["id"] for case in cases}) == len(cases)
    seen = Counter((case["question"], case["answer"]) for case in cases)
    assert [pair for pair, count in seen.items() if count > 1] == []


def test_a_question_has_the_same_references_wherever_it_is_asked(cases: list[Case]) -> None:
    references: dict[str, list[str]] = {}
    for case in cases:
        assert references.setdefault(case["question"], case["references"]) == case["references"]


def test_there_are_enough_cases_of_both_verdicts_in_every_capability(cases: list[Case]) -> None:
    verdicts: dict[str, list[bool]] = defaultdict(list)
    for case in cases:
        verdicts[case["capability"]].append(case["verdict"])
    assert len(cases) >= 340
    for capability, found in verdicts.items():
        assert len(found) >= 15, capability
        assert 0.25 < sum(found) / len(found) < 0.75, capability


def test_containment_of_the_reference_does_not_decide_the_checklist(cases: list[Case]) -> None:
    passed = sum(contains(case) == case["verdict"] for case in cases) / len(cases)
    assert 0.5 < passed < 0.65


def test_no_case_repeats_the_bundled_example(cases: list[Case], example: Path) -> None:
    rows = [json.loads(line) for line in example.read_text(encoding="utf-8").splitlines()]
    pairs = {(row["question"], row["answer"]) for row in rows}
    assert not pairs & {(case["question"], case["answer"]) for case in cases}


def test_no_question_comes_from_the_data_that_judges_are_trained_and_measured_on(
    cases: list[Case], example: Path, data_dir: Path
) -> None:
    published = json.loads((data_dir / "evouna" / "NQ.json").read_text(encoding="utf-8"))
    known = {normalise(row["question"]) for row in published}
    assert len(known) > 3000
    rows = [json.loads(line) for line in example.read_text(encoding="utf-8").splitlines()]
    ours = {normalise(row["question"]) for row in [*cases, *rows]}
    assert not ours & known
