"""docs/non-factoid.md names every command it is about; tests/test_docs.py runs its blocks."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["build", "draw", "shots", "apply"])
def test_every_references_command_is_documented(root: Path, name: str) -> None:
    assert f"markscheme research references {name}" in (root / "docs" / "non-factoid.md").read_text(
        "utf-8"
    )


@pytest.mark.parametrize("name", ["lists", "seeds", "shots", "order", "cost"])
def test_every_study_is_documented(root: Path, name: str) -> None:
    assert f"markscheme research study {name}" in (root / "docs" / "non-factoid.md").read_text(
        "utf-8"
    )
