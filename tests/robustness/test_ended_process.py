"""A judge of somebody else that ends the program's own process: what was judged is there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from markscheme.cli import run

ROWS = 3_000
OWN = """
import ctypes
import os
import time
import polars as pl
from dataclasses import dataclass
from pathlib import Path
from markscheme.contract import Needs, register

@register("own", needs=Needs(chat=False))
@dataclass(frozen=True, kw_only=True)
class Own:
    def judge(self, answers, models):
        with open(os.environ["JUDGED"], "a") as log:
            log.write("".join(f"{text}\\n" for text in answers["answer"]))
        if "answer 0" in answers["answer"]:
            time.sleep(1.1)  # What has come is saved after a second.
        if "answer 2500" in answers["answer"]:
            # Pieces are written meanwhile: until the one before is there.
            while not list(Path(os.environ["PARTS"]).glob("chunk-000000-001-*.parquet")):
                time.sleep(0.01)
            if os.environ["ENDS"] == "exit":
                os._exit(9)
            if os.environ["ENDS"] == "crash":
                ctypes.string_at(0)
        return pl.DataFrame({"verdict": [True] * answers.height})
"""


@pytest.mark.joint
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("ends", "code"), [("exit", 9), ("crash", -signal.SIGSEGV)])
def test_what_was_judged_is_not_judged_again(ends: str, code: int, tmp_path: Path) -> None:
    """Neither the other judge's verdicts, nor the chunks that the one that ended it has on disk."""
    rows = [
        {"question": f"q{n}", "references": ["a"], "answer": f"answer {n}"} for n in range(ROWS)
    ]
    file, log, out = tmp_path / "a.jsonl", tmp_path / "judged", tmp_path / "run"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "own.py").write_text(OWN)
    parts = out / "parts"
    command = [sys.executable, "-m", "markscheme", "judge", str(file), "-o", str(out), "-q",
               "-j", "contains", "-j", f"{tmp_path / 'own.py'}:Own"]  # fmt: skip

    def judge(how: str) -> tuple[int, list[str]]:
        log.write_text("")
        environment = os.environ | {"JUDGED": str(log), "PARTS": str(parts), "ENDS": how}
        done = subprocess.run(command, check=False, capture_output=True, env=environment)
        assert done.returncode in (0, code), done.stderr.decode()
        return done.returncode, log.read_text().splitlines()

    found, first = judge(ends)
    assert found == code
    assert sum(pl.read_parquet(one).height for one in parts.glob("judgments-000000-000-*")) == ROWS
    saved = sum(pl.read_parquet(one).height for one in parts.glob("chunk-000000-001-*.parquet"))
    assert 0 < saved < len(first)
    found, again = judge("no")
    assert found == 0
    assert again == [f"answer {number}" for number in range(saved, ROWS)]
    assert pl.read_parquet(out / "judgments.parquet").height == 2 * ROWS
    assert run(["verify", str(out)]) == 0
