"""Tables in a terminal of 80 columns: nothing is broken within a word, nothing is lost."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from markscheme.results import Table


def printed(table: Table, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO(), highlight=False)
    console.print(table.rich())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, shown.splitlines()), default=0) <= width
    return shown


FIGURES = tuple(f"figure {number}" for number in range(12))


def test_many_figures_come_in_blocks_that_repeat_the_names() -> None:
    table = Table(
        title="t",
        header=("judge", "system", *FIGURES),
        rows=(("exact_match", "first", *("36.4 to 60.6",) * 12),),
        numeric=frozenset(FIGURES),
    )
    shown = printed(table)
    assert shown.count("exact_match") > 1
    assert shown.count("36.4 to 60.6") == 12


def test_long_texts_come_one_below_the_other() -> None:
    said = "A paediatric physician, I would say, as far as anybody could possibly know that. " * 3
    table = Table(
        title="t", header=("question", "reference", "answer"), rows=((said, said, said),) * 2
    )
    shown = printed(table)
    assert shown.count("reference") == 2
    assert shown.count("paediatric") == 18


def test_a_wide_terminal_has_one_line_a_row() -> None:
    table = Table(title="t", header=("a", "b"), rows=(("one two", "three four"),) * 2)
    lines = [line for line in printed(table, 200).splitlines() if "one two" in line]
    assert len(lines) == 2
    assert all("three four" in line for line in lines)


def test_a_row_of_which_only_the_name_is_filled_is_printed() -> None:
    said = "a a aa aaaa aaaa aaaa aaaaaa aaaaaa aaaaaaaa aaaaaaaa aaaaaaaaaaaaaaaa"
    header = ("column0", "column1")
    shown = printed(Table(title="t", header=header, rows=((said, ""),), numeric=frozenset(header)))
    assert " ".join(shown.split()).count(said) == 1


WORD = st.text("abcdefgh", min_size=1, max_size=24)
CELL = st.lists(WORD, max_size=12).map(" ".join)


@given(st.data(), st.integers(1, 9), st.integers(0, 3))
def test_no_word_is_broken(data: st.DataObject, columns: int, rows: int) -> None:
    header = tuple(f"column{number}" for number in range(columns))
    cells = [tuple(data.draw(CELL) for _ in header) for _ in range(rows)]
    numeric = frozenset(header[data.draw(st.integers(0, columns)) :])
    shown = printed(Table(title="t", header=header, rows=tuple(cells), numeric=numeric)).split()
    for row in cells:
        for cell in row:
            assert set(cell.split()) <= set(shown)


def test_blocks_repeat_the_texts_that_tell_the_rows_apart() -> None:
    methods = ("PPI, tuned (PPI++)", "PPI", "labels only")
    header = ("system", *FIGURES[:6], "method", *FIGURES[6:])
    rows = tuple(("(all)", *("36.4 to 60.6",) * 6, one, *("1.2 to 3.4",) * 6) for one in methods)
    shown = printed(Table(title="t", header=header, rows=rows, numeric=frozenset(FIGURES)))
    assert shown.count("system") == 3
    assert shown.count("(PPI++)") == shown.count("labels") == 2
