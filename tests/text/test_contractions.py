"""Contractions are written out, and nothing else is touched."""

from __future__ import annotations

import polars as pl
import pytest

from markscheme.text import written_out, written_out_series


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It didn't rain.", "It did not rain."),
        ("You can’t; he won't; she shan't.", "You can not; he will not; she shall not."),
        ("That's it: they've left, I'm here.", "That is it: they have left, I am here."),
        ("We cannot.", "We can not."),
        ("The dog's bone and O'Brien's hat", "The dog's bone and O'Brien's hat"),
        ("It's been closed.", "It's been closed."),
        ("Its colour", "Its colour"),
    ],
)
def test_contractions(text: str, expected: str) -> None:
    assert written_out(text) == expected


def test_columns_of_texts_and_of_lists() -> None:
    texts = pl.Series("a", ["It isn't.", None, "yes"])
    assert written_out_series(texts).to_list() == ["It is not.", None, "yes"]
    lists = pl.Series("r", [["don't", None], None, ["x"]])
    assert written_out_series(lists).to_list() == [["do not", None], None, ["x"]]
    assert written_out_series(pl.Series("r", [["x"], []])).to_list() == [["x"], []]
    assert written_out_series(texts).name == "a"
