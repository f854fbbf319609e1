"""Rows with very many values are left to other features, within a bound of comparisons."""

from __future__ import annotations

from typing import Any

import pytest

from markscheme.values import Outcome, compare, compare_values, lists


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is compared with what, as it happens."""
    found: list[Any] = []
    relate = compare.relate

    def counted(*values: Any) -> Any:
        found.append(values)
        return relate(*values)

    monkeypatch.setattr(compare, "relate", counted)
    return found


def _km(*ends: int) -> list[str]:
    return [f"{number} km" for number in range(*ends)]


@pytest.mark.parametrize(
    ("question", "references", "answer"),
    [
        ("How far?", _km(1, 400), ", ".join(_km(400))),
        ("How far?", ["5 km, 6 km and 7 km"], ", ".join(_km(8, 3000))),
        (
            ", ".join(f"{n} km" for n in range(200)),
            ["900 km"],
            ", ".join(f"{n} km" for n in range(90)),
        ),
        # Each value of a reference is looked for in the question too.
        (" ".join(map(str, range(2000))), [" ".join(map(str, range(2000)))], "Paris, 12 km"),
        (" ".join(_km(2000)), [" ".join(_km(1000, 1900))] * 3, "5 km"),
    ],
)
def test_values_are_not_compared_without_end(
    compared: list[Any], question: str, references: list[str], answer: str
) -> None:
    assert compare_values(question, references, answer).outcome is Outcome.NONE
    assert len(compared) <= 100_000


def test_an_ordinary_row_with_many_references_is_compared(compared: list[Any]) -> None:
    references = _km(100, 200)
    found = compare_values("How far is it?", references, "It is 150 km, or 93 miles.")
    assert found.outcome is Outcome.AGREE
    assert compared


def test_items_of_lists_are_not_compared_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, str]] = []
    same_item = lists.same_item

    def counted(left: str, right: str) -> bool:
        calls.append((left, right))
        return same_item(left, right)

    monkeypatch.setattr(lists, "same_item", counted)
    many = [", ".join(f"fox{n}" for n in range(at, at + 30)) for at in range(0, 3030, 30)]
    compare_values("Which are they?", many[:100], many[100])
    assert len(calls) <= 100_000
    found = compare_values("Which are they?", "red fox, owl and bear", "owl, bear and red fox")
    assert found.outcome is Outcome.AGREE
