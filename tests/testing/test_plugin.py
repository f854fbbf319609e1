"""The plugin template, from its source and as an installed wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "plugin"


@pytest.mark.proof(area="harnesses")
def test_the_template_passes_its_own_tests() -> None:
    path = os.pathsep.join([str(PLUGIN / "src"), str(ROOT / "src")])
    code = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
         "--rootdir", str(PLUGIN), str(PLUGIN / "tests")],
        check=False, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.joint
def test_the_template_is_found_as_an_installed_wheel() -> None:
    """Both wheels are built, installed in a new environment and tried away from the checkout."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "check_plugin.py")],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "registered_by=markscheme-numbers==0.1.0" in done.stdout
