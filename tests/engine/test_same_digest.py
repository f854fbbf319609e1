"""One input, one content: whatever interrupted the run, however many workers, and on Ray."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.contract.grammar import parse_judge
from markscheme.tables import file_digest

JUDGES = ["exact_match", "contains", "token_f1"]
TABLES = ("answers.parquet", "judgments.parquet")
FIGURES = ("summary.json", "summary.md")
ROWS = 150_000  # More than one row group, and more than one piece.


def write(path: Path, rows: int) -> Path:
    words = ["Jane Austen", "the Austen", "1815", "in 1815", "Emma", "no one"]
    number = pl.int_range(rows, eager=True)
    pl.DataFrame(
        {
            "question": ("who wrote book " + (number // 3).cast(pl.String)),
            "references": [[words[n % 5], words[(n // 5) % 6]] for n in range(rows)],
            "answer": [f"{words[(n * 7 + n // 11) % 6]} {n % 3 or ''}" for n in range(rows)],
            "system": ("s" + (number % 3).cast(pl.String)),
        }
    ).write_parquet(path, row_group_size=50_000)
    return path


def digests(folder: Path, names: tuple[str, ...] = (*TABLES, *FIGURES)) -> list[str]:
    return [file_digest(folder / name) for name in names]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("source") / "answers.parquet", ROWS)


@pytest.fixture(scope="module")
def whole(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "run"
    markscheme.judge(source, JUDGES, out=folder)
    return folder


@pytest.mark.proof(area="cluster")
def test_runs_of_many_row_groups_and_three_judges_have_the_same_bytes(
    source: Path, whole: Path, tmp_path: Path
) -> None:
    assert (
        pl.scan_parquet(whole / "judgments.parquet").select(pl.len()).collect().item() == 3 * ROWS
    )
    markscheme.judge(source, JUDGES, out=tmp_path / "again")
    assert digests(tmp_path / "again") == digests(whole)


@pytest.mark.proof(area="cluster")
def test_a_run_that_is_interrupted_again_and_again_ends_with_the_same_bytes(
    source: Path, whole: Path, tmp_path: Path
) -> None:
    class Stop(Exception):
        pass

    for stop_after in (1, 100_000, 170_000):
        seen = 0

        def advance(count: int, stop_after: int = stop_after) -> None:
            nonlocal seen
            seen += count
            if seen >= stop_after:
                raise Stop

        with pytest.raises(Stop):
            markscheme.judge(source, JUDGES, out=tmp_path / "run", on_progress=advance)
    markscheme.judge(source, JUDGES, out=tmp_path / "run")
    assert digests(tmp_path / "run") == digests(whole)


@pytest.mark.joint
def test_any_number_of_workers_gives_the_same_bytes(tmp_path: Path) -> None:
    file = write(tmp_path / "answers.parquet", 2_000)
    found = []
    for workers in (1, 2, 4):
        folder = tmp_path / f"run-{workers}"
        markscheme.judge(file, [*JUDGES, "rougeL"], out=folder, workers=workers)
        found.append(digests(folder))
    assert found[1:] == found[:1] * 2


@pytest.mark.proof(area="cluster")
def test_kills_three_workers_and_ray_give_the_same_content(
    source: Path, whole: Path, tmp_path: Path
) -> None:
    from markscheme.engine import RayOptions, run_on_ray
    from markscheme.tables import ReadOptions

    killed = tmp_path / "killed"
    command = [sys.executable, "-m", "markscheme", "judge", str(source), "--out", str(killed),
               "--quiet", "--workers", "3"]  # fmt: skip
    for name in JUDGES:
        command += ["-j", name]
    for patience in (1.0, 2.0, 3.0):
        process = subprocess.Popen(command, start_new_session=True)
        time.sleep(patience)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run(command, check=True, capture_output=True)
    assert digests(killed, TABLES) == digests(whole, TABLES)
    run_on_ray(
        [str(source)], [parse_judge(name) for name in JUDGES], str(tmp_path / "ray"),
        ray_options=RayOptions(workers=2), read=ReadOptions(),
    )  # fmt: skip
    content = markscheme.verify(whole).data["content"]
    assert markscheme.verify(tmp_path / "ray").data["content"] == content
