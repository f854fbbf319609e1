"""Entailment models by name, and the verdict by threshold or likeliest label."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import numpy as np
import polars as pl
import pytest

from markscheme.errors import MissingExtraError
from markscheme.judges.entailment.tests import NliEntailment
from markscheme.models.local import open_nli
from markscheme.models.sources import Models

PAIRS = pl.DataFrame(
    {"premise": ["paris yes", "rome", "paris yes", None], "hypothesis": ["rome no", "maybe"] * 2}
)


def test_a_threshold_takes_the_place_of_the_likeliest_label() -> None:
    class Fake:
        labels = ("neutral", "Entailment")
        revision = "r1"

        def scores(self, pairs: Any) -> Any:
            return np.array([[0.7, 0.3]] * len(pairs), np.float32)

    models = Models(classifiers={"fake": Fake()})
    usual = NliEntailment(name="fake").test(PAIRS, models)
    low = NliEntailment(name="fake", threshold=0.25).test(PAIRS, models)
    assert usual["entailed"].to_list() == [False] * 3 + [None]
    assert low["entailed"].to_list() == [True] * 3 + [None]
    assert NliEntailment(name="fake").identity(models) == {"nli": "fake", "nli_revision": "r1"}


def test_other_weights_need_the_research_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **wanted: [])
    with pytest.raises(MissingExtraError, match=r"nobody/nowhere.*packages/research"):
        open_nli("nobody/nowhere")
