"""Parts on other file systems, read as one table."""

from __future__ import annotations

from pathlib import Path

import fsspec
import polars as pl
import pytest

from markscheme.engine.shards import scan_parts
from markscheme.tables.judgments import STATUSES

WORDS = pl.Enum(STATUSES)


@pytest.fixture
def parts(tmp_path: Path) -> list[str]:
    names = [str(tmp_path / f"part-{number}.parquet") for number in range(3)]
    for number, name in enumerate(names):
        pl.DataFrame(
            {
                "id": [f"a{number}{row}" for row in range(10)],
                "status": pl.Series(["judged", "failed"] * 5, dtype=WORDS),
                "verdict": [True, None] * 5,
                "explanation": None if number else "long",
            },
            schema_overrides={"explanation": pl.String},
        ).write_parquet(name)
    return names


def test_parts_of_another_file_system_are_one_table(parts: list[str]) -> None:
    far, near = scan_parts(fsspec.filesystem("file"), parts), pl.scan_parquet(parts)
    assert far.collect_schema() == near.collect_schema()
    accepted = pl.col("status") == "judged"
    for asked in (
        lambda table: table,
        lambda table: table.select("status", "id"),
        lambda table: table.filter(accepted).select("id"),
        lambda table: table.head(12).filter(accepted),
        lambda table: table.filter(accepted).head(7),
        lambda table: table.with_row_index("row").filter(pl.col("row") > 17),
        lambda table: table.group_by("status").agg(pl.len()).sort("status"),
    ):
        for engine in ("in-memory", "streaming"):
            assert asked(far).collect(engine=engine).equals(asked(near).collect(engine=engine))


def test_only_what_is_asked_for_is_read(parts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow.parquet import ParquetFile

    read: list[list[str] | None] = []
    real = ParquetFile.read

    def watched(self: ParquetFile, columns: list[str] | None = None) -> object:
        read.append(columns)
        return real(self, columns=columns)

    monkeypatch.setattr(ParquetFile, "read", watched)
    table = scan_parts(fsspec.filesystem("file"), parts)
    assert read == []
    assert table.select("verdict").collect(engine="streaming").height == 30
    assert read == [["verdict"]] * 3
