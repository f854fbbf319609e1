"""The figures in the README's picture are those that the example gives."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.make_pictures import JUDGES, example_report, shown_figures

ROOT = Path(__file__).parents[1]


def test_the_report_in_the_picture_is_the_one_of_the_example(tmp_path: Path) -> None:
    now = shown_figures(example_report(tmp_path / "example"))
    pictured = (ROOT / "docs" / "pictures" / "report.json").read_text("utf-8")
    assert now["figures"]["(all)"].keys() == {*JUDGES, "people"}
    assert now == json.loads(pictured), "remake it: python scripts/make_pictures.py docs/pictures"
