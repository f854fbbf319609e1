"""The table of a run: what judges accept, and what people accept of the same answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import markscheme
from markscheme.contract import ChatReply
from markscheme.models import ModelOptions, Models
from markscheme.results import accuracy_figure
from markscheme.testing import ScriptedChat


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


def test_a_cost_is_that_of_replies_and_says_so_where_answers_share_them(tmp_path: Path) -> None:
    """300 answers to one reference, judged in two tables, each of which has its statement."""
    reply = ChatReply(status="ok", text="It is 1.", cost_usd=1.0)
    rows = [
        {"question": "Which number?", "references": ["1"], "answer": f"{number}", "id": number}
        for number in range(300)
    ]
    options = ModelOptions(ledger=str(tmp_path / "ledger.sqlite"))
    models = Models(chat=ScriptedChat(replies=lambda _: reply), options=options)
    found = markscheme.judge(rows, "entailment(statements=chat)", models=models)
    paid = models.budget.spending
    assert found.run.records[0]["cost_usd"] == paid.cost_usd + paid.known > paid.cost_usd
    (note,) = (one for one in found.tables[0].notes if one.startswith("Cost: "))
    assert "share" in note
    assert not any("Cost: " in one for one in markscheme.judge(rows, "contains").tables[0].notes)


def test_the_accuracy_of_a_record_is_a_figure_also_where_nothing_is_judged() -> None:
    bounds = {"accuracy_low": 0.6, "accuracy_high": 0.9}
    found = accuracy_figure({"accuracy": 0.8, **bounds, "interval": "wilson-t"})
    assert found.text(scale=100, digits=1, words=True) == "80.0 (60.0 to 90.0)"
    assert found.method == "wilson-t"
    assert accuracy_figure({"accuracy": None}).value is None
