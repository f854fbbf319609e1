from __future__ import annotations

from pathlib import Path

import polars as pl

from markscheme.judges.examiner.examiner import reasons
from markscheme.reports.explaining import matched_spans
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
    one_answer = reasons("Who?", ["Bjork swims"], "BJÖRK swimming there")
    assert one_answer.spans[0] == (0, 5)


def test_an_empty_table_has_no_spans() -> None:
    empty = pl.Series([], dtype=pl.String)
    assert matched_spans(empty, pl.Series([], dtype=pl.List(pl.String)), empty).to_list() == []


def test_the_table_agrees_with_explaining_one_answer(example: Path) -> None:
    table = read_answers(example).filter(pl.col("answer").is_not_null()).head(40)
    found = matched_spans(table["question"], table["references"], table["answer"])
    for row, spans in zip(table.iter_rows(named=True), found, strict=True):
        answer = row["answer"]
        marked = {
            place for a, b in zip(spans[::2], spans[1::2], strict=True) for place in range(a, b)
        }
        for start, end in reasons(row["question"], row["references"], answer).spans:
            assert set(range(start, end)) <= marked, answer
