from __future__ import annotations

from pathlib import Path

import polars as pl

import markscheme
from markscheme.judges.examiner import matched_spans
from markscheme.tables.answers import read_answers


def _words(text: str, spans: list[int]) -> list[str]:
    return [text[start:end] for start, end in zip(spans[::2], spans[1::2], strict=True)]


def test_words_of_the_reference_are_found_in_every_row(answers: pl.DataFrame) -> None:
    found = matched_spans(answers["question"], answers["references"], answers["answer"]).to_list()
    assert _words(answers["answer"][0], found[0]) == ["Jane Austen", "Austen"]
    assert found[1] == []
    assert _words(answers["answer"][2], found[2]) == ["Zurich"]


def test_accents_and_inflection_are_no_difference() -> None:
    row = (pl.Series(["Who?"]), pl.Series([["Bjork swims"]]), pl.Series(["BJÖRK swimming there"]))
    assert matched_spans(*row).to_list() == [[0, 14]]


def test_an_empty_table_has_no_spans() -> None:
    empty = pl.Series([], dtype=pl.String)
    assert matched_spans(empty, pl.Series([], dtype=pl.List(pl.String)), empty).to_list() == []


def test_a_table_and_one_answer_have_the_same_words(example: Path) -> None:
    table = read_answers(example).filter(pl.col("answer").is_not_null()).head(40)
    found = matched_spans(table["question"], table["references"], table["answer"])
    for row, spans in zip(table.iter_rows(named=True), found, strict=True):
        alone = markscheme.explain(row["question"], row["references"], row["answer"])
        if alone.answer == row["answer"]:
            assert [place for span in alone.spans for place in span] == spans.to_list()
