"""What holds for the texts of the public data holds for the bundled example's too."""

from __future__ import annotations

import polars as pl

from markscheme.text.clean import clean_series


def test_footnote_marks_go_and_short_answers_stay() -> None:
    said = pl.Series(
        ["It has two legs⁷.", "It was the Swan⁸ ⁹ of Hull.", "two", "Ann Lee", "10⁶ m"]
    )
    cleaned = clean_series(said)
    assert cleaned[:2].str.contains("[⁶-⁹]").sum() == 0
    assert cleaned[2:4].equals(said[2:4])
    assert clean_series(cleaned).equals(cleaned)
