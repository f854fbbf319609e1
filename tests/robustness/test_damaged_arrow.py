"""Arrow files whose stated lengths are wrong are refused; whole ones are read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from markscheme.errors import DataError
from markscheme.tables import read_table
from markscheme.tables.arrow import scan_arrow

ROWS = pl.DataFrame(
    {
        "question": ["Who wrote Emma?", "Where is Riga?"] * 200,
        "kind": pl.Series(["name", "place"] * 200, dtype=pl.Categorical),
        "references": [["Jane Austen"], ["Latvia", "in Latvia"]] * 200,
        "answer": ["Austen", None] * 200,
    }
)
COMPRESSIONS = ("uncompressed", "lz4", "zstd")


def written(folder: Path, compression: str, *, stream: bool) -> Path:
    path = folder / f"{compression}-{stream}.arrow"
    write = ROWS.write_ipc_stream if stream else ROWS.write_ipc
    write(path, compression=compression)  # type: ignore[arg-type]
    return path


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_whole_files_and_streams_are_read(tmp_path: Path, compression: str, stream: bool) -> None:
    assert read_table(written(tmp_path, compression, stream=stream)).equals(ROWS)


@pytest.mark.parametrize("stream", [False, True])
def test_a_forged_length_of_a_compressed_buffer_is_refused(tmp_path: Path, stream: bool) -> None:
    """It made Polars ask for all the memory that there is, which ends the process."""
    path = written(tmp_path, "zstd", stream=stream)
    content = path.read_bytes()
    frame = content.index(b"\x28\xb5\x2f\xfd")  # zstandard's magic number follows the length
    for length in (1 << 62, 1 << 40, 1 << 31):
        path.write_bytes(content[: frame - 8] + length.to_bytes(8, "little") + content[frame:])
        with pytest.raises(DataError, match=r"unpacks to [\d,]{13,} bytes"):
            scan_arrow(path)


@pytest.mark.parametrize("stream", [False, True])
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, stream: bool) -> None:
    path = written(tmp_path, "lz4", stream=stream)
    content = path.read_bytes()
    for length in (7, 20, len(content) // 2, len(content) - 20):
        path.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"-(?:True|False)\.arrow: "):
            scan_arrow(path).collect()


READ = """
import json, random, sys
from pathlib import Path
from markscheme.errors import DataError
from markscheme.tables import read_table
import polars as pl
content, path = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
chance, found = random.Random(7), {"read": 0, "refused": 0}
for _ in range(int(sys.argv[3])):
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    path.write_bytes(changed)
    try:
        read_table(path)
        found["read"] += 1
    except DataError:
        found["refused"] += 1
print(json.dumps(found))
"""


@pytest.mark.parametrize("stream", [False, True])
def test_damage_of_any_byte_never_ends_the_process(tmp_path: Path, stream: bool) -> None:
    path = written(tmp_path, "zstd", stream=stream)
    done = subprocess.run(
        [sys.executable, "-c", READ, path, tmp_path / "damaged.arrow", "200"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["read"] + found["refused"] == 200
    assert found["refused"] > 20
