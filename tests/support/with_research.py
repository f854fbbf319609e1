"""Marks cases of the core's tests that the research package must be installed for."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import Any

import pytest

INSTALLED = importlib.util.find_spec("markscheme_research") is not None

needs_research = pytest.mark.skipif(not INSTALLED, reason="the research package is not installed")


def cases(names: Iterable[str], *theirs: str) -> list[Any]:
    """Parameters: those that begin with a group of research, or are among `theirs`, are marked."""
    return [
        pytest.param(name, marks=needs_research)
        if name in theirs or name.split()[0] in {"research", "train"}
        else name
        for name in names
    ]
