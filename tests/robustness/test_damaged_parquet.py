"""Damaged Parquet is rows or one error, and never the end of the process."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from markscheme.errors import DataError
from markscheme.tables.parquet import check_parquet, read_parquet

pytestmark = pytest.mark.proof(area="attacks")

ROWS = 2000


def base(folder: Path, compression: str = "uncompressed") -> Path:
    path = folder / "base.parquet"
    pl.DataFrame(
        {
            "question": [f"q{row % 300}?" for row in range(ROWS)],
            "references": [[f"r{row}", "x"] for row in range(ROWS)],
            "answer": [f"the answer {row * 7}" for row in range(ROWS)],
            "label": [row % 2 for row in range(ROWS)],
        }
    ).write_parquet(path, compression=compression)  # type: ignore[arg-type]
    return path


def damaged(content: bytes, seed: int) -> bytes:
    """One byte changed in a page header, the footer, or anywhere."""
    chance = random.Random(seed)
    changed = bytearray(content)
    length = len(content)
    heads = [at for at in range(4, length - 400) if content[at : at + 2] in (b"\x15\0", b"\x15\4")]
    match chance.choice(["any", "footer", "header", "header"]):
        case "any":
            place = chance.randrange(length)
        case "footer":
            place = chance.randrange(length - 700, length)
        case _:
            place = chance.choice(heads) + chance.randrange(14)
    changed[place] = chance.randrange(256)
    return bytes(changed)


def read_all(folder: Path, first: int, last: int) -> None:
    """Read damaged files; what this process survives is what a user's survives."""
    content = (folder / "base.parquet").read_bytes()
    path = folder / "damaged.parquet"
    for seed in range(first, last):
        path.write_bytes(damaged(content, seed))
        try:
            read_parquet(path)
        except DataError:
            continue


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "zstd"])
def test_no_damage_ends_the_process(tmp_path: Path, compression: str) -> None:
    base(tmp_path, compression)
    count = int(os.environ.get("MARKSCHEME_FUZZ", "300"))
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_damaged_parquet as t; "
        "from pathlib import Path; t.read_all(Path(sys.argv[2]), 0, int(sys.argv[3]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path), str(count)],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_page_that_claims_gigabytes_is_named_before_it_is_read(tmp_path: Path) -> None:
    path = base(tmp_path)
    content = bytearray(path.read_bytes())
    head = content.index(b"\x15\0\x15")  # type 0, then the size without compression
    content[head + 3 : head + 3] = b"\xff\xff\xff\x07"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"base.parquet: damaged.*write or fetch it again"):
        check_parquet(path)


def test_what_other_writers_write_is_no_damage(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow.parquet")
    table = pl.read_parquet(base(tmp_path)).to_arrow()
    for number, options in enumerate(
        [
            {"version": "1.0", "use_dictionary": False},
            {"data_page_version": "2.0", "compression": "gzip"},
            {"data_page_size": 500, "row_group_size": 300, "write_page_index": True},
            {"write_statistics": False, "compression": "brotli"},
        ]
    ):
        path = tmp_path / f"{number}.parquet"
        arrow.write_table(table, path, **options)
        assert read_parquet(path).height == ROWS
