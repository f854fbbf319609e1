"""The pace of requests against a server's limit, in simulated time: nothing waits for real."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def scheduler(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    sys.modules.pop("benchmarks", None)
    return importlib.import_module("benchmarks.scheduler")


@pytest.mark.parametrize("most", [16, 64, 512])
@pytest.mark.parametrize("limit", [10, 20, 100, 300])
def test_a_limited_server_is_used_to_the_full_and_seldom_turns_a_request_away(
    scheduler: Any, limit: int, most: int
) -> None:
    found = scheduler.simulate(limit=limit, most=most, seconds=30.0)
    assert found.ratio < 1.1
    assert found.rejections < 0.05


@pytest.mark.proof(area="models")
def test_a_thousand_a_second(scheduler: Any) -> None:
    found = scheduler.simulate(limit=1000, most=512, seconds=30.0)
    assert found.ratio < 1.1
    assert found.rejections < 0.05


@pytest.mark.parametrize("burst", [0.2, 1.0, 3.0])
def test_however_much_a_server_lets_through_at_once(scheduler: Any, burst: float) -> None:
    found = scheduler.simulate(limit=50, most=64, seconds=60.0, burst=burst)
    assert found.ratio < 1.1
    assert found.rejections < 0.05
