"""Long answers that say what no reference supports."""

from __future__ import annotations

from pathlib import Path

import pytest

import markscheme
from markscheme.analysis import unattributed
from markscheme.analysis.rejections import rejection

QUESTION, REFERENCES = "Who wrote the novel Emma?", ["Jane Austen"]
PLAIN = "The novel Emma was written by Jane Austen, and readers have loved the story ever since."
EXTRA = "She finished it in Bath for the publisher Egerton."


@pytest.mark.parametrize(
    ("answer", "extras"),
    [
        (f"{PLAIN} {EXTRA}", [EXTRA]),
        (f"{PLAIN} It sold 2,000 copies within weeks.", ["It sold 2,000 copies within weeks."]),
        (PLAIN, []),
        ("Emily Brontë", []),
        (None, []),
        (f"{PLAIN} Readers of the novel like Emma.", []),
    ],
)
def test_claims_that_name_what_no_reference_names_are_extras(
    answer: str | None, extras: list[str]
) -> None:
    assert unattributed(QUESTION, REFERENCES, answer) == extras


def test_what_a_reference_says_is_no_extra() -> None:
    told = [*REFERENCES, "Jane Austen finished Emma in Bath, for Egerton"]
    assert unattributed(QUESTION, told, f"{PLAIN} {EXTRA}") == []


def test_a_rejection_says_which_extras_are_unsupported() -> None:
    found = rejection(QUESTION, REFERENCES, f"{PLAIN} {EXTRA}")
    assert (found.mode, "Egerton" in found.evidence) == ("unsupported_extras", True)
    assert rejection(QUESTION, REFERENCES, PLAIN).mode == "reference_in_it"


def test_failures_counts_which_judges_accept_extras_that_people_reject(tmp_path: Path) -> None:
    rows = [
        {"question": QUESTION, "references": REFERENCES, "answer": answer, "label": label}
        for answer, label in [(f"{PLAIN} {EXTRA}", 0), (PLAIN, 1), ("Jane Austen", 1)]
    ]
    result = markscheme.judge(rows, ["contains", "exact_match"], out=tmp_path / "run")
    found = markscheme.failures(result)
    assert found.extras is not None
    assert found.extras["extras"].to_list() == [[EXTRA]]
    (table,) = [one for one in found.tables if "no reference supports" in one.title]
    assert table.rows == (
        ("people", "0 of 1", ""),
        ("contains", "1 of 1", "1 of 1"),
        ("exact_match", "0 of 1", "0 of 1"),
    )
    report = markscheme.report(result, tmp_path / "report.html")
    assert report is not None
    assert "Long answers with claims that no reference supports: 1" in (
        tmp_path / "report.html"
    ).read_text(encoding="utf-8")
