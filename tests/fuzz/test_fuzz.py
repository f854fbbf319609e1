"""Every reader and every reply parser against broken inputs: a result or an error of ours.

Never another exception, never a hang, never a row lost in silence. `MARKSCHEME_FUZZ=5000 pytest
-m proof tests/fuzz` tries more of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fuzz_mutate import LONGEST, mutations
from fuzz_targets import TARGETS

pytestmark = pytest.mark.proof(area="attacks")

COUNT = int(os.environ.get("MARKSCHEME_FUZZ", "80"))
MANY = 500
SECONDS = 60
"""An input that takes as long, on whatever machine, hangs."""
OWN_PROCESS = {"parquet": 3, "unnamed file": 0}
"""Damaged pages can make Polars' Parquet reader abort the whole process; a child takes the blow.
With each target, how many of its inputs may."""
IN_PROCESS = sorted(TARGETS.keys() - OWN_PROCESS.keys())


@contextmanager
def bounded(data: bytes) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"no end after {SECONDS} s: {data[:200]!r}")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fuzz(name: str, *, count: int, seed: int) -> None:
    target = TARGETS[name]
    for data in mutations(target.seeds, count=count, seed=seed):
        with bounded(data):
            try:
                target.fuzz_one(data)
            except BaseException as error:
                error.add_note(f"target {name!r}, input {data[:500]!r}")
                raise


def fuzz_in_a_child(name: str, *, count: int, seed: int) -> int:
    """A target's inputs, in a process that goes on after each that aborts it.

    Returns how many aborted. What is no abort of the Parquet library fails the test.
    """
    script = (
        "import sys\n"
        "from fuzz_mutate import mutations\n"
        "from fuzz_targets import TARGETS\n"
        f"target = TARGETS[{name!r}]\n"
        f"inputs = mutations(target.seeds, count={count}, seed={seed})\n"
        "for number, data in enumerate(inputs):\n"
        "    if number >= int(sys.argv[1]):\n"
        "        print(number, flush=True)\n"
        "        target.fuzz_one(data)\n"
        "print('done')\n"
    )
    begin, aborted = 0, 0
    support = str(Path(__file__).parents[1] / "support")
    environment = os.environ | {"PYTHONPATH": support, "RUST_BACKTRACE": "0"}
    while True:
        done = subprocess.run(
            [sys.executable, "-c", script, str(begin)], check=False, env=environment,
            capture_output=True, text=True, errors="replace", timeout=SECONDS + count,
        )  # fmt: skip
        if done.stdout.endswith("done\n"):
            return aborted
        assert done.returncode in (-signal.SIGABRT, -signal.SIGSEGV), done.stderr[-3000:]
        begin = int(done.stdout.split()[-1]) + 1
        aborted += 1


@pytest.mark.parametrize("name", IN_PROCESS)
def test_broken_inputs_are_read_or_refused(name: str) -> None:
    fuzz(name, count=COUNT, seed=1)


@pytest.mark.parametrize("name", OWN_PROCESS)
def test_broken_parquet_is_read_or_refused(name: str) -> None:
    assert fuzz_in_a_child(name, count=COUNT, seed=1) <= OWN_PROCESS[name]


@pytest.mark.proof(area="attacks")
@pytest.mark.parametrize("name", IN_PROCESS)
def test_many_broken_inputs_are_read_or_refused(name: str) -> None:
    fuzz(name, count=MANY, seed=2)


@pytest.mark.proof(area="attacks")
@pytest.mark.parametrize("name", OWN_PROCESS)
def test_many_broken_parquet_files_are_read_or_refused(name: str) -> None:
    assert fuzz_in_a_child(name, count=MANY, seed=2) <= OWN_PROCESS[name]


def test_inputs_are_the_same_each_time_and_bounded() -> None:
    seeds = TARGETS["jsonl"].seeds
    first = list(mutations(seeds, count=200, seed=5))
    assert first == list(mutations(seeds, count=200, seed=5))
    assert len(set(first)) > 150
    assert max(map(len, first)) <= LONGEST


def test_good_inputs_are_read() -> None:
    """Seeds are good, so that their mutations reach what lies behind the first check."""
    from fuzz_targets import FOLDER, _read

    rows = {"jsonl": 3, "json": 3, "csv": 3, "tsv": 2, "parquet": 12}
    for name, wanted in rows.items():
        (FOLDER / f"seed.{name}").write_bytes(TARGETS[name].seeds[0])
        found, problems = _read(FOLDER / f"seed.{name}")
        assert found + problems == wanted, name
        assert found, name
