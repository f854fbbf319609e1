"""Small files that ask for much: each is refused, or its first batch is read, at little cost."""

from __future__ import annotations

import bz2
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard

import bombs
from markscheme.errors import BadRowsError, DataError
from markscheme.tables import limits, validation
from markscheme.tables.answers import AnswersReader, ReadOptions, read_answers, write_answers

MEGABYTES = 500
SECONDS = 5.0
HELD = {"ordinary.xlsx": (500, 20.0), "ordinary.json": (700, 5.0)}
"""Megabytes and seconds of files that are no bombs, but large: workbooks and documents of JSON are
read whole, so that both grow with the file (docs/robustness.md says by how much)."""

READ = """
import json, sys, time
from pathlib import Path
from markscheme.errors import MarkschemeError
from markscheme.tables import AnswersReader, ReadOptions

began = time.process_time()
try:
    rows = next(iter(AnswersReader([sys.argv[1]], ReadOptions()))).height
    found = f"first batch: {rows} rows"
except MarkschemeError as error:
    found = "refused: " + str(error)
took = time.process_time() - began
peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
print(json.dumps({"found": found, "seconds": took, "megabytes": peak}))
"""


@pytest.mark.proof(area="attacks")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [*bombs.BOMBS, *bombs.ORDINARY])
def test_a_bomb_is_refused_or_begun_at_little_cost(
    tmp_path: Path, name: str, record_property: Callable[[str, object], None]
) -> None:
    path = tmp_path / name
    path.write_bytes({**bombs.BOMBS, **bombs.ORDINARY}[name]())
    command = [sys.executable, "-P", "-c", READ, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    print(found["found"][:300])
    row = f"`{name}` | {path.stat().st_size:,} | {found['seconds']:.1f} | {found['megabytes']}"
    record_property("bomb", f"{row} | {found['found'].partition(':')[0]}")
    megabytes, seconds = HELD.get(name, (MEGABYTES, SECONDS))
    assert found["megabytes"] < megabytes
    assert found["seconds"] < seconds


def refused(path: Path, content: bytes, wanted: str) -> None:
    path.write_bytes(content)
    with pytest.raises(DataError, match=wanted):
        read_answers(path)


@pytest.mark.parametrize(
    "name", ["far.xlsx", "far-quotes.xlsx", "far-part.xlsx", "far-utf-16.xlsx", "far.ods"]
)
def test_a_cell_far_away_is_refused_however_it_is_written(tmp_path: Path, name: str) -> None:
    wanted = r"row 1,048,57\d and column 16,384:.*the limit is 1,000,0\d\d: delete the cells"
    refused(tmp_path / name, bombs.BOMBS[name](), wanted)


def test_the_dimension_of_a_sheet_does_not_count(tmp_path: Path) -> None:
    """Only used cells do: programs state whole sheets, and give empty cells a style."""
    path = tmp_path / "styled.xlsx"
    path.write_bytes(bombs.xlsx('<row r="1048576"><c r="XFD1048576" s="1"/></row>'))
    assert read_answers(path)["answer"].to_list() == ["a"]


def test_a_text_that_many_cells_share_is_counted_for_each(tmp_path: Path) -> None:
    cells = "".join(f'<row><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(3, 1000))
    wanted = "the text of its cells unpacks to 99,7"
    refused(tmp_path / "shared.xlsx", bombs.xlsx(cells, shared="x" * 100_000), wanted)


def test_decompression_ends_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 1000)
    content = bombs.HEADER + b"q,r,a\n" * 200_000
    packers = {"gz": bombs.GZ, "bz2": bz2.compress, "zst": zstandard.compress}
    for ending, pack in packers.items():
        wanted = rf"table.csv.{ending}: the file unpacks to 262,144 bytes or more; the limit is"
        refused(tmp_path / f"table.csv.{ending}", pack(content), wanted)


def test_blank_lines_and_long_rows_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BLANK_LINES", 100)
    blank = b"\n" * 200
    wanted = "101 lines in a row are blank; the limit is 100: remove them"
    refused(tmp_path / "blank.jsonl", blank, wanted)
    refused(tmp_path / "blank.csv", bombs.HEADER + blank, wanted)
    long = bombs.row(b'["' + b"a" * 5000 + b'"]') + bombs.row(b'["r"]')
    path = tmp_path / "long.jsonl"
    path.write_bytes(long)
    with pytest.raises(BadRowsError, match=r"line 1: the row has 5,0\d\d bytes.*--max-bytes"):
        read_answers(path, ReadOptions(max_bytes=1000))
    kept = read_answers(path, ReadOptions(max_bytes=1000, on_bad_row="skip"))
    assert kept["answer"].to_list() == ["a"]
    (tmp_path / "long.csv").write_bytes(bombs.HEADER + b"q,r," + b"a" * 5000)
    with pytest.raises(DataError, match=r"line 2: the row has 4,001 bytes or more.*--max-bytes"):
        read_answers(tmp_path / "long.csv", ReadOptions(max_bytes=1000))


def test_values_columns_and_depth_have_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "VALUES", 100)
    refused(
        tmp_path / "v.json.gz", bombs.GZ(b"[" + b"[]," * 5000 + b"[]]"), "10,00. values or more"
    )
    monkeypatch.setattr(limits, "COLUMNS", 100)
    refused(tmp_path / "c.csv", b",".join(b"c%d" % n for n in range(200)), "it has 200 columns")
    deep = "nested in one another too deeply; the limit is 64 levels"
    refused(tmp_path / "d.json", bombs.nested(900, b"1"), deep)
    refused(tmp_path / "d.jsonl", bombs.row(bombs.nested(900, b"1")), deep)


def test_batches_end_where_rows_are_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BATCH_BYTES", 1000)
    row = {"question": "q", "references": ["r"], "answer": "a" * 400}
    table = read_answers([row] * 10)
    for name in ("t.jsonl", "t.csv", "t.parquet"):
        write_answers(table, tmp_path / name)
        heights = [batch.height for batch in AnswersReader([tmp_path / name])]
        assert sum(heights) == 10
        assert max(heights) <= 3


def test_a_workbook_comes_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And its columns are converted in parts, which leaves them as they are."""
    path = tmp_path / "people.xlsx"
    path.write_bytes(bombs.workbook_of(10))
    whole = read_answers(path)
    assert whole["references"].to_list()[1:] == [[bombs.people(n)[1]] for n in range(3, 12)]
    monkeypatch.setattr(validation, "_AT_ONCE", 3)
    batches = list(AnswersReader([path], ReadOptions(batch_rows=4)))
    assert [batch.height for batch in batches] == [4, 4, 2]
    assert pl.concat(batches).equals(whole)
