"""The page's figures of judgekeeper, truescore and judgy are those that the tools gave."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "comparison.md").read_text("utf-8")
FOUND = json.loads((ROOT / "tests" / "recorded" / "peer_agreement.json").read_text("utf-8"))


def test_the_page_has_the_tables_of_the_tools() -> None:
    pytest.importorskip("markscheme_research")  # the benchmarks read its data sets
    lines = importlib.import_module("benchmarks.peer_agreement").tables(FOUND)
    assert len(lines) == 10
    for line in lines:
        assert line in PAGE.splitlines()


def test_the_tools_read_the_verdicts_that_the_page_shows() -> None:
    """Point estimates are equal, so that only intervals and words are compared."""
    points = {name: figure[0] for name, figure in FOUND["truescore"].items()}
    shown = r"\(all\) +([\d.]+) \[.*?\] +([\d.]+) \[.*?\] +([\d.]+) \["
    accuracies = [f"{100 * points[name]:.1f}" for name in ("accuracy", "precision", "recall")]
    assert re.search(shown, PAGE).groups() == tuple(accuracies)  # type: ignore[union-attr]
    kappa = re.search(r"Cohen's kappa +MCC.*\n.*\n  examiner +\(all\) +([\d.]+) ", PAGE)
    assert kappa is not None
    assert kappa[1] == f"{points['kappa']:.3f}"
    counts = re.search(
        r"accepts (\d+) of the (\d+) that they reject, and rejects (\d+) of the (\d+)", PAGE
    )
    assert counts is not None
    wrong_yes, wrong, wrong_no, right = map(int, counts.groups())
    for tool in ("judgekeeper", "truescore"):
        assert FOUND[tool]["recall"][0] == pytest.approx(1 - wrong_no / right)
        assert FOUND[tool]["rejected"][0] == pytest.approx(1 - wrong_yes / wrong)
