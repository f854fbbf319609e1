"""Projects to label in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from annotate_helpers import Place, answers, place, write_rows
from markscheme.annotate.options import AnnotateOptions
from postgres import running


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Callable[..., Place]]:
    """Makes a project of two annotators, Ann and Ben, and closes it at the end."""
    stack = ExitStack()

    def make(
        rows: list[dict[str, Any]] | None = None,
        *,
        people: tuple[str, ...] = ("Ann", "Ben"),
        adjudicators: tuple[str, ...] = (),
        location: str | Path | None = None,
        gold: list[dict[str, Any]] | None = None,
        **settings: Any,
    ) -> Place:
        file = write_rows(tmp_path / "answers.jsonl", answers() if rows is None else rows)
        known = None if gold is None else write_rows(tmp_path / "gold.jsonl", gold)
        setup = AnnotateOptions(
            file=file,
            **({"order": "file"} | settings),
            annotators=people,
            adjudicators=adjudicators,
            gold=known,
        )
        return stack.enter_context(place(location or tmp_path / "project.sqlite", setup))

    with stack:
        yield make


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A real PostgreSQL server, started as the ledger's tests start one."""
    with running() as url:
        yield url
