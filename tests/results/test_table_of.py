"""`Table.of`: a table from rows and columns, and the one way of writing each kind of number."""

import dataclasses

import polars as pl
import pytest
from rich.console import Console

from markscheme.results import (
    Column,
    Figure,
    Table,
    cell,
    columns,
    excerpts,
    interval,
    number,
    share_text,
)

SHARE = Figure(value=0.806, low=0.784, high=0.827, method="wilson")


@dataclasses.dataclass(frozen=True)
class Row:
    judge: str
    not_judged: int | None
    accuracy: Figure


def test_rows_are_frames_dicts_objects_or_tuples() -> None:
    shown = ("judge", Column("not judged", format="count"))
    frame = pl.DataFrame({"judge": ["one"], "not_judged": [1200]})
    rows = ([Row("one", 1200, SHARE)], frame, frame.to_dicts(), [("one", 1200)])
    for each in rows:
        assert Table.of("t", shown, each).rows == (("one", "1,200"),)


def test_alignment_follows_from_the_format() -> None:
    shown = (
        "judge",
        *columns("count", "answers"),
        *columns("share", "accepted"),
        *columns(3, "kappa"),
        *columns("p", "p"),
        *columns("money", "cost"),
        *columns("right", "right"),
        Column("said", format=excerpts(20)),
    )
    table = Table.of("t", shown, [("a", 1, 0.5, 0.1, 0.04, 2.0, "3 of 4", "text")])
    assert table.header == ("judge", "answers", "accepted", "kappa", "p", "cost", "right", "said")
    assert table.numeric == set(table.header) - {"judge", "said"}
    assert table.rows == (("a", "1", "50.0", "0.100", "0.040", "$2.0000", "3 of 4", "text"),)


def test_a_column_is_left_out_where_no_row_has_a_value() -> None:
    shown = (
        "judge",
        Column("cost", format="money", show=None),
        Column("system", show=False),
        "last",
    )
    rows = [("a", None, "s", "x"), ("b", None, "s", "y")]
    assert Table.of("t", shown, rows).rows == (("a", "x"), ("b", "y"))
    some = Table.of("t", shown, [*rows, ("c", 0.5, "s", "z")])
    assert some.header == ("judge", "cost", "last")
    assert [row[1] for row in some.rows] == ["", "", "$0.5000"]
    assert Table.of("t", shown, []).header == ("judge", "last")
    hidden = Column("none", lambda row: row["absent"], show=False)
    assert Table.of("t", ("judge", hidden), [{"judge": "a"}]).rows == (("a",),)


def test_intervals_and_reasons() -> None:
    row = {"a": SHARE, "b": Figure(reason="nothing was judged"), "c": None}
    shown = (
        *columns("share", "a", "b", "c"),
        Column("words", "a", number(1, scale=100, words=True)),
    )
    assert Table.of("t", shown, [row]).rows == (
        ("80.6 [78.4, 82.7]", "n/a (nothing was judged)", "-", "80.6 (78.4 to 82.7)"),
    )
    assert cell(number(2, words=True), row["b"]) == "n/a"
    assert SHARE.text(scale=100, digits=0, unit="%", words=True) == "81% (78 to 83)"
    change = Figure(value=0.021, low=-0.0001, high=0.04, method="tango")
    assert cell("change", change) == "+2.1 [0.0, +4.0]"
    assert interval(-0.0001, 0.04, signed=True) == "0.0 to +4.0"
    assert interval(None, 0.1) == "n/a"


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        ("count", 1234567, "1,234,567"), ("count", 12.0, "12"), ("count", None, ""),
        ("share", 0.12345, "12.3"), ("share", -0.0001, "0.0"), ("share", None, "-"),
        ("change", 0.01, "+1.0"), ("change", -0.01, "-1.0"), ("change", 0.0, "0.0"),
        ("p", 0.0344, "0.034"), ("p", 2.1e-5, "2.1e-05"), ("p", 0.0, "<1e-300"), ("p", None, "-"),
        ("p", Figure(reason="the two never differ"), "n/a (the two never differ)"),
        ("money", 1234.5, "$1,234.5000"), (4, 0.5, "0.5000"), (2, None, "-"),
        ("count", "more than there are", "more than there are"), ("text", 7, "7"),
        (excerpts(8), ["one two three", "b", "c", "d"], "one two… | b | c"),
    ],
)  # fmt: skip
def test_formats(form, value, text) -> None:
    assert cell(form, value) == text


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.725), (0.55, 0.775), (0.575, 0.8), (0.0, 0.225)])
def test_equal_figures_are_equal_texts_however_they_were_computed(low: float, high: float) -> None:
    """Of the floats, some lie just below 22.5 and some just above."""
    assert share_text(high - low) == "22.5"
    assert share_text(high - low, digits=0) == "22"
    assert Figure(value=high - low).text(scale=100, digits=0, words=True) == "22"


def test_missing_is_the_columns_own_word() -> None:
    shown = (Column("system", missing="(all)"), Column("labels", format="count", missing="none"))
    assert Table.of("t", shown, [(None, None), ("a", 3)]).rows == (("(all)", "none"), ("a", "3"))
    assert share_text(None, missing="n/a") == "n/a"


def test_notes_follow_in_every_form() -> None:
    table = Table.of("t", ("a",), [("x",)], ["first", "second"])
    assert table.notes == ("first", "second")
    assert table.markdown().rstrip().endswith("first\n\nsecond")
    assert table.html().endswith("<p>first</p>\n<p>second</p>")


def test_cells_are_never_markup_and_never_cut() -> None:
    hostile = "[bold red]<b>x|y</b>[/] " + "word " * 40
    table = Table.of("t", ("judge", Column("answer", "text")), [{"judge": "[i]", "text": hostile}])
    assert table.rows == (("[i]", hostile),)
    console = Console(width=60, record=True, file=open("/dev/null", "w"))  # noqa: PTH123
    console.print(table.rich())
    printed = console.export_text()
    assert "[bold" in printed
    assert "red]<b>x|y</b>[/]" in printed
    assert printed.split().count("word") == 40
    assert "<b>" not in table.html()
    assert r"\|" in table.markdown()


def test_a_field_that_a_row_lacks_is_an_error() -> None:
    with pytest.raises(KeyError, match="absent"):
        Table.of("t", ("absent",), [{"judge": "a"}])
    with pytest.raises(AttributeError, match="absent"):
        Table.of("t", ("absent",), [Row("a", None, SHARE)])
