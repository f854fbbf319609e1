"""A run notes graded references for judges that take each reference as right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import markscheme

WORST = "Drink it in bed."
ROWS: list[dict[str, Any]] = [
    {
        "question": "How do I brew espresso?",
        "references": ["Press hot water through ground coffee at 9 bar.", WORST],
        "reference_grades": [4, 0],
        "answer": WORST,
    },
    {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Jane Austen"},
]


def _notes(*judges: str, out: Path | None = None) -> dict[str, int]:
    rows = [ROWS[1] | {"reference_grades": [1]}, ROWS[0]]
    found = markscheme.judge(rows, list(judges), out=out).run.notes
    return {note: count for note, count in found.items() if "grade" in note}


def test_judges_of_facts_are_named_with_the_rows(tmp_path: Path) -> None:
    said = "exact_match and token_f1 take references of every grade as right; "
    said += "keep the best ones only, or use listwise_examiner"
    for _ in range(2):  # The second is a finished run.
        assert _notes("exact_match", "token_f1", out=tmp_path / "run") == {said: 1}
    assert list(_notes("contains")) == [
        said.replace("exact_match and token_f1 take", "contains takes")
    ]


@pytest.mark.parametrize("judge", ["listwise_examiner(encoder=never)", "auto", "reference_overlap"])
def test_judges_that_read_grades_are_not(judge: str) -> None:
    assert _notes(judge) == {}


def test_references_of_one_grade_are_not_noted() -> None:
    rows = [ROWS[0] | {"reference_grades": [4, 4]}]
    assert not any("grade" in note for note in markscheme.judge(rows, "exact_match").run.notes)


@pytest.mark.parametrize("judge", ["contains", "exact_match", "listwise_examiner(encoder=never)"])
def test_a_blank_among_graded_references_is_left_out_with_its_grade(judge: str) -> None:
    row = {"question": "How do I brew espresso?", "answer": "Something else."}
    good = {"references": [WORST, "Press hot water through it."], "reference_grades": [1, 3]}
    blank = {"references": [WORST, " ", "Press hot water through it."]}
    blank |= {"reference_grades": [1, 0, 3]}
    plain, found = (markscheme.judge([row | one], judge) for one in (good, blank))
    assert found.judgments.equals(plain.judgments)
    assert found.run.notes["blank references left out"] == 1
