"""What tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("markscheme", deadline=None)  # a slow machine is no failure
settings.load_profile("markscheme")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def example() -> Path:
    """The bundled example."""
    return ROOT / "examples" / "answers.jsonl"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Real data: MARKSCHEME_DATA, else the folder that lies beside a checkout of the project."""
    folder = Path(os.environ.get("MARKSCHEME_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "evouna").is_dir():
        pytest.fail(
            f"no data in {folder}; set MARKSCHEME_DATA to a folder as docs/datasets.md describes"
        )
    return folder
