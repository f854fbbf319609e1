"""The table of a run: what judges accept, and what people accept of the same answers."""

from __future__ import annotations

from typing import Any

import markscheme
from markscheme.results import accuracy_figure


def _rows(*labels: float | None) -> list[dict[str, Any]]:
    return [
        {
            "question": f"Which number comes after {number}?",
            "references": [f"{number + 1}"],
            "answer": f"{number + 1}",
            "system": ("even", "odd")[number % 2],
            "topic": ("low", "high")[number // 2],
            "label": label,
        }
        for number, label in enumerate(labels)
    ]


def test_labels_give_a_column_of_people_by_system_and_by_slice() -> None:
    found = markscheme.judge(_rows(1, 0, None, 1), "exact_match", slices=["topic"])
    systems, topics = found.tables
    place = systems.header.index("people (labels)")
    assert [row[place] for row in systems.rows] == ["100.0 (1)", "50.0 (2)", "66.7 (3)"]
    assert found.data["people"] == found.people == {"even": 1.0, "odd": 0.5, "(all)": 2 / 3}
    assert found.data["labels"] == found.labels == {"even": 1, "odd": 2, "(all)": 3}
    place = topics.header.index("people (labels)")
    assert [row[place] for row in topics.rows] == ["50.0 (2)", "100.0 (1)"]


def test_labels_of_annotators_alone_give_their_majority() -> None:
    several: list[list[float]] = [[1, 1, 0], [0, 0], [1, 0], [1]]
    rows = [
        row | {"annotator_labels": labels}
        for row, labels in zip(_rows(None, None, None, None), several, strict=True)
    ]
    found = markscheme.judge(rows, "exact_match")
    assert found.data["people"] == {"even": 1.0, "odd": 0.5, "(all)": 2 / 3}


def test_without_labels_or_with_grades_there_is_no_such_column() -> None:
    for rows in (_rows(None, None), _rows(3, 1)):
        found = markscheme.judge(rows, "exact_match")
        assert "people (labels)" not in found.tables[0].header
        assert "people" not in found.data


def test_the_accuracy_of_a_record_is_a_figure_also_where_nothing_is_judged() -> None:
    bounds = {"accuracy_low": 0.6, "accuracy_high": 0.9}
    found = accuracy_figure({"accuracy": 0.8, **bounds, "interval": "wilson-t"})
    assert found.text(scale=100, digits=1, words=True) == "80.0 (60.0 to 90.0)"
    assert found.method == "wilson-t"
    assert accuracy_figure({"accuracy": None}).value is None
