"""The yardstick's rules, on small made-up records; `make yardstick` itself compares the product."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"


@pytest.fixture
def yardstick(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(SCRIPTS)
    import yardstick

    yield yardstick
    sys.modules.pop("yardstick")


def judged(score: float, verdict: bool, relation: str = "equivalent") -> dict[str, Any]:
    """The rows of a judge with threshold 0.5."""
    row = {"score": score, "verdict": verdict, "relation": relation, "explanation": "0.50 by it"}
    return {"judge": {"threshold": 0.5}, "q1": row}


def found(yardstick: Any, before: Any, after: Any) -> list[tuple[Any, ...]]:
    each = yardstick.differences(before, after)
    return [(one.entry, one.row, one.field, one.before, one.after) for one in each]


def test_a_difference_is_named_by_entry_row_and_field(yardstick: Any) -> None:
    before = {"commands/agree": {"rows/[0]": {"accuracy": 0.91, "answers": 248}}}
    after = {"commands/agree": {"rows/[0]": {"accuracy": 0.95, "answers": 248}}}
    assert found(yardstick, before, after) == [
        ("commands/agree", "rows/[0]", "accuracy", 0.91, 0.95)
    ]
    (difference,) = yardstick.differences(before, after)
    assert list(yardstick.report([difference])) == [
        "commands/agree: 1 different", "  rows/[0], accuracy: 0.91 -> 0.95",
    ]  # fmt: skip
    assert found(yardstick, before, before) == []


def test_what_is_new_or_has_vanished_is_a_difference(yardstick: Any) -> None:
    absent, row = yardstick.ABSENT, {"score": 1.0}
    assert found(yardstick, {"a": {"r": row}}, {"b": {"r": row}}) == [
        ("a", "", "", "1 rows", absent), ("b", "", "", absent, "1 rows"),
    ]  # fmt: skip
    assert found(yardstick, {"a": {"r": row}}, {"a": {"s": row}}) == [
        ("a", "r", "", row, absent), ("a", "s", "", absent, row),
    ]  # fmt: skip
    assert found(yardstick, {"a": {"r": row}}, {"a": {"r": {}}}) == [
        ("a", "r", "score", 1.0, absent)
    ]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (0.5, 0.501, True),
        (0.5, 0.5021, False),
        (1_000_000.0, 1_000_900.0, True),
        (1_000_000.0, 1_002_000.0, False),
        (3, 4, False),
        (2000, 2001, False),
        (1, 1.0, True),
        (1, True, False),
        (0.0, None, False),
        (float("nan"), float("nan"), True),
        ("0.36", "0.37", False),
        ([0.1, {"a": 2.0}], [0.1001, {"a": 2.001}], True),
        ([0.1], [0.1, 0.1], False),
    ],
)
def test_floats_have_a_tolerance_and_nothing_else(
    yardstick: Any, before: Any, after: Any, same: bool
) -> None:
    assert yardstick.is_same(before, after) is same


@pytest.mark.parametrize(
    ("after", "same"),
    [
        ("it has 0.37 of 3 words", True),
        ("it has 0.38 of 3 words", False),
        ("it has 0.4 of 3 words", False),
        ("it has 0.36 of 4 words", False),
        ("it had 0.36 of 3 words", False),
    ],
)
def test_only_the_last_place_of_a_rounded_score_may_differ_in_an_explanation(
    yardstick: Any, after: str, same: bool
) -> None:
    before = {"judge/x": {"q1": {"explanation": "it has 0.36 of 3 words"}}}
    assert (found(yardstick, before, {"judge/x": {"q1": {"explanation": after}}}) == []) is same


def test_a_verdict_may_turn_only_where_the_score_is_at_the_threshold(yardstick: Any) -> None:
    at, turned = judged(0.5004, True), judged(0.4996, False, "incorrect")
    assert found(yardstick, {"judge/x": at}, {"judge/x": turned}) == []
    clear, wrong = judged(0.52, True), judged(0.52, False, "incorrect")
    fields = [one[2] for one in found(yardstick, {"judge/x": clear}, {"judge/x": wrong})]
    assert fields == ["relation", "verdict"]


def test_only_what_is_named_is_accepted(yardstick: Any) -> None:
    before = {"judge/a": judged(0.9, True), "judge/b": judged(0.9, True), "values/c": {}}
    after = {"judge/a": judged(0.8, True), "judge/b": judged(0.7, True)}
    record, accepted = yardstick.accept(before, after, ["judge/a"], "finer marks")
    assert [one.entry for one in accepted] == ["judge/a"]
    assert {one[0] for one in found(yardstick, record, after)} == {"judge/b", "values/c"}
    record, _ = yardstick.accept(before, after, ["judge/*", "values/c"], "finer marks")
    assert record == after
    for entries, reason, why in [
        (["judge/a"], " ", "without a reason"), (["judge/z"], "r", "no entry judge/z has changed"),
        ([], "r", "name the entries"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=why):
            yardstick.accept(before, after, entries, reason)


def test_the_command_accepts_names_with_a_reason_and_fails_on_the_rest(
    yardstick: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Entries:
        record_all = staticmethod(lambda: now)

    monkeypatch.setitem(sys.modules, "yardstick_entries", Entries)
    monkeypatch.setattr(yardstick, "FOLDER", tmp_path)
    now = {"judge/a": judged(0.9, True), "judge/b": judged(0.9, True)}
    assert yardstick.main(["--accept", "all", "--reason", "first record"]) == 0
    stored = (tmp_path / "record.json.xz").read_bytes()
    assert yardstick.main([]) == 0
    now = {"judge/a": judged(0.8, True), "judge/b": judged(0.7, True)}
    assert yardstick.main(["--all", str(tmp_path / "all.jsonl")]) == 1
    assert "judge/a: 1 different\n  q1, score: 0.9 -> 0.8" in capsys.readouterr().out
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    assert [json.loads(line)["entry"] for line in lines] == ["judge/a", "judge/b"]
    with pytest.raises(SystemExit):
        yardstick.main(["--accept", "judge/a"])
    assert (tmp_path / "record.json.xz").read_bytes() == stored
    assert yardstick.main(["--accept", "judge/a", "--reason", "finer marks"]) == 0
    assert yardstick.main([]) == 1
    why = (tmp_path / "accepted.md").read_text()
    assert ": first record\n\n`judge/a` (1), `judge/b` (1)\n" in why
    assert why.endswith(": finer marks\n\n`judge/a` (1)\n")
