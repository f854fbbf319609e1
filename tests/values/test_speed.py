# ruff: noqa: E501 - tables of cases read better unfolded
"""Time grows with length, not faster."""

from __future__ import annotations

import time

import pytest

from markscheme.values import compare_values

PIECES = ["It cost $3.5 million in March 2019, up from 12.5 kg. ", "1 2 3 4 5 ", "one two ", "- " * 20, "a (", "3:3:", "1,1.1,1.", "May may ", "x^2 = ", "the third of the "]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_near_linear(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        start = time.perf_counter()
        compare_values("How much did it cost in 2019?", "$4 million", text)
        return time.perf_counter() - start

    seconds(2_000)
    small, large = min(seconds(3_000), seconds(3_001)), min(seconds(12_000), seconds(12_001))
    assert large < 12 * small + 0.1
