"""What `recipes.form` measures: the order of systems in wrappings, and references in them."""

from __future__ import annotations

import numpy as np
from recipes.encoder.figures import english_wrappings
from recipes.form import order_kept, styles, wrapped_references

RIGHT = np.arange(2_000) % 2 == 0


def test_a_perfect_judge_keeps_every_order_and_one_that_reads_style_does_not() -> None:
    perfect = np.stack([RIGHT] * 3)
    one_style = np.stack([RIGHT, RIGHT, np.ones_like(RIGHT)])  # all of the last style pass
    assert order_kept(RIGHT, perfect, 2, wrapped=True, pairs=200) == 1
    assert order_kept(RIGHT, one_style, 2, wrapped=False, pairs=200) == 1
    assert 0.3 < order_kept(RIGHT, one_style, 2, wrapped=True, pairs=200) < 0.7


def test_references_are_word_for_word_in_every_wrapping() -> None:
    rows = wrapped_references("test-second", 3)
    assert len(rows) == 3 * len(english_wrappings("test-second"))
    assert all(row["references"][0] in row["answer"] for row in rows.iter_rows(named=True))
    assert set(rows["kind"]) == {one["kind"] for one in english_wrappings("test-second")}


def test_verdicts_are_by_style_and_answer() -> None:
    right, verdicts = styles("test-second", 2, "contains")
    assert verdicts.shape == (3, len(right))
    assert (verdicts[1:] >= verdicts[0]).all()  # a wrapping takes no word away
