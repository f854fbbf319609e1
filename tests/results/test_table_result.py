"""A result shows itself in every form, and no text in it can act as markup."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from markscheme.errors import DataError, MarkschemeError
from markscheme.results import Figure, Table, TableResult, flat_frame

HOSTILE = "<script>alert('&')</script>"


@pytest.fixture
def result() -> TableResult:
    table = Table(
        title=f"Agreement {HOSTILE}",
        header=("judge", "accuracy"),
        rows=((HOSTILE, "80.6"), ("b|c_d", "n/a (nothing was judged)")),
        numeric=frozenset({"accuracy"}),
        notes=(f"a note {HOSTILE}",),
    )
    judged = {"judge": HOSTILE, "accuracy": Figure(value=0.806, low=0.7, high=0.9, method="wilson")}
    none = {"judge": "b|c_d", "accuracy": Figure(reason="nothing was judged")}
    return TableResult(
        frame=flat_frame([judged, none]), tables=(table,), data={"judges": [judged, none]}
    )


def test_a_frame_has_a_column_for_each_bound(result: TableResult) -> None:
    assert result.frame.to_dict(as_series=False) == {
        "judge": [HOSTILE, "b|c_d"],
        "accuracy": [0.806, None],
        "accuracy_low": [0.7, None],
        "accuracy_high": [0.9, None],
    }
    assert result.to_pandas().shape == (2, 4)
    assert result.to_pandas()["accuracy"][0] == 0.806


def test_nested_values_get_the_name_above_in_front() -> None:
    frame = flat_frame([{"judge": "a", "counts": {"yes": 1, "no": 2}, "list": [1, 2]}])
    assert frame.equals(
        pl.DataFrame({"judge": ["a"], "counts_yes": [1], "counts_no": [2], "list": [[1, 2]]})
    )


def test_json_has_the_reason_where_there_is_no_value(result: TableResult) -> None:
    found = json.loads(result.to_json())
    assert found["judges"][0]["accuracy"] == {
        "value": 0.806,
        "low": 0.7,
        "high": 0.9,
        "method": "wilson",
    }
    assert found["judges"][1]["accuracy"] == {"value": None, "reason": "nothing was judged"}
    assert result.to_json().endswith("}\n")


def test_html_escapes_all_text(result: TableResult) -> None:
    tags: list[str] = []
    said: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            tags.append(tag)

        def handle_data(self, data: str) -> None:
            said.append(data)

    reader = Reader()
    reader.feed(result._repr_html_())
    reader.close()
    known = {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    assert set(tags) == known
    assert "".join(said).count(HOSTILE) == 3


def test_text_forms_hold_every_cell(result: TableResult) -> None:
    assert str(result) == result.to_text()
    assert max(map(len, result.to_text(60).splitlines())) <= 60
    assert "b\\|c_d" in result.to_markdown()
    assert r"b|c\_d" in result.to_latex()
    assert "b|c_d,n/a (nothing was judged)" in result.to_csv()
    assert repr(result) == "TableResult(2 rows, 4 columns)"


def test_latex_and_csv_keep_what_the_notes_say_of_the_intervals() -> None:
    note = "95% intervals (wilson) are for further questions, by contains\n\\input{x}"
    table = Table(title="t", header=("judge", "share"), rows=(("a", "80 [70, 87]"),), notes=(note,))
    result = TableResult(frame=pl.DataFrame(), tables=(table, table), data={}, lead=("a, b\nc",))
    assert result.to_latex().startswith("% a, b c\n% t\n")
    outside = [line for line in result.to_latex().splitlines() if line and line[0] != "%"]
    assert len(outside) == 2 * 7  # A tabular has seven lines, and a note none outside comments.
    assert result.to_latex().count("% 95% intervals (wilson) are for") == 2
    header, row, remark = csv.reader(io.StringIO(table.csv()))
    assert (header, row) == (["judge", "share"], ["a", "80 [70, 87]"])
    assert remark == [r"# 95% intervals (wilson) are for further questions, by contains \input{x}"]
    for read in (pl.read_csv(io.StringIO(table.csv())), pd.read_csv(io.StringIO(table.csv()))):
        assert next(iter(read["share"])) == "80 [70, 87]"
        assert read.shape == (2, 2)
    assert result.to_csv().startswith("judge,share\n")
    assert result.to_csv().endswith('\n\n"# a, b c"\n')


@pytest.mark.parametrize("suffix", [".json", ".csv", ".md", ".tex", ".txt"])
def test_a_file_holds_what_its_ending_says(
    result: TableResult, tmp_path: Path, suffix: str
) -> None:
    forms = {
        ".json": result.to_json(), ".csv": result.to_csv(), ".md": result.to_markdown(),
        ".tex": result.to_latex(), ".txt": result.to_text(100),
    }  # fmt: skip
    path = result.save(tmp_path / "new" / f"result{suffix}")
    assert path.read_text(encoding="utf-8") == forms[suffix]


def test_an_unknown_ending_is_named(result: TableResult, tmp_path: Path) -> None:
    with pytest.raises(MarkschemeError, match=r"\.json, \.csv, \.md, \.tex, \.txt, not '\.xls'"):
        result.save(tmp_path / "result.xls")


def test_a_file_that_cannot_be_written_is_named_and_the_one_before_stays(
    result: TableResult, tmp_path: Path
) -> None:
    kept = result.save(tmp_path / "new" / "found.md")
    assert kept.read_text() == result.to_markdown()
    assert [one.name for one in kept.parent.iterdir()] == ["found.md"]
    with pytest.raises(DataError, match=r"cannot write .*found\.md/table\.csv"):
        result.save(kept / "table.csv")
    assert kept.read_text() == result.to_markdown()
