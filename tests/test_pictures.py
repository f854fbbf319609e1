"""The figures in the README's picture are those that the example gives."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    file = ROOT / "scripts" / "make_pictures.py"
    spec = importlib.util.spec_from_file_location("make_pictures", file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_report_in_the_picture_is_the_one_of_the_example(
    maker: ModuleType, tmp_path: Path
) -> None:
    now = maker.shown_figures(maker.example_report(tmp_path / "example"))
    pictured = (ROOT / "docs" / "pictures" / "report.json").read_text("utf-8")
    assert now["figures"]["(all)"].keys() == {*maker.JUDGES, "people"}
    assert now == json.loads(pictured), "remake it: python scripts/make_pictures.py docs/pictures"
