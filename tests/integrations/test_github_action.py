"""The composite action of `examples/ci/gate`: its steps, run by bash as GitHub's runner does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run_step(step: dict[str, object], inputs: dict[str, str], folder: Path) -> int:
    env = {
        name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: inputs[found[1]], str(value))
        for name, value in dict(step["env"]).items()  # type: ignore[call-overload]
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", str(step["run"])],
        cwd=folder, env={**os.environ, **env}, check=False, capture_output=True,
    )  # fmt: skip
    return done.returncode


@pytest.mark.proof(area="harnesses")
def test_the_action_fails_below_the_limit_and_writes_the_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "examples" / "ci" / "gate" / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    _, judge, summary = action["runs"]["steps"]
    assert all(step["shell"] == "bash" for step in action["runs"]["steps"])
    assert action["inputs"]["package"]["required"]  # no index has `markscheme`
    assert "default" not in action["inputs"]["package"]
    program = tmp_path / "bin" / "markscheme"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m markscheme "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "step.md"))
    shutil.copy(ROOT / "examples" / "answers.jsonl", tmp_path / "my answers.jsonl")
    given = {name: str(one.get("default", "")) for name, one in action["inputs"].items()}
    given |= {"answers": "my answers.jsonl", "judge": "contains", "fail-under": "0.05"}
    assert run_step(judge, given, tmp_path) == 0
    given |= {"fail-under": "0.8", "confidence": "0.95", "out": "again"}
    assert run_step(judge, given, tmp_path) == 1
    assert run_step(summary, given, tmp_path) == 0
    written = (tmp_path / "step.md").read_text()
    assert "| contains | terse |" in written
    assert "Bizet" in written
