"""`Result.plot`: the report's charts by themselves, for notebooks."""

from __future__ import annotations

from pathlib import Path

import pytest

import markscheme
from markscheme.errors import AgreementError, UnknownNameError

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

EXAMPLE = Path(__file__).parents[2] / "examples" / "answers.jsonl"


@pytest.fixture(scope="module")
def result() -> markscheme.Result:
    return markscheme.judge(EXAMPLE, ["token_f1", "exact_match"])


@pytest.mark.parametrize("kind", ["accuracy", "reliability", "agreement"])
def test_a_chart_is_drawn_with_the_judges_in_it(
    result: markscheme.Result, kind: str, tmp_path: Path
) -> None:
    chart = result.plot(kind)  # type: ignore[arg-type]
    chart.save(tmp_path / "chart.svg")
    drawn = (tmp_path / "chart.svg").read_text()
    assert drawn.startswith("<svg")
    assert "token_f1" in drawn
    if kind == "accuracy":
        assert "hedger" in drawn


def test_without_labels_accuracy_alone_is_drawn() -> None:
    rows = [{"question": f"q{n}", "references": ["a"], "answer": "ab"[n % 2]} for n in range(6)]
    found = markscheme.judge(rows, "exact_match")
    assert found.plot() is not None
    with pytest.raises(AgreementError, match="labels"):
        found.plot("agreement")
    with pytest.raises(UnknownNameError, match="accuracy"):
        found.plot("accurcy")  # type: ignore[arg-type]
