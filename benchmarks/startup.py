"""How long importing and `--help` take, each in fresh processes; the fastest of several."""

from __future__ import annotations

import subprocess
import sys
import time

REPEATS = 7
HEAVY = ("torch", "scipy", "sklearn", "pandas", "onnxruntime", "lightgbm", "statsmodels")


def fastest(*command: str) -> float:
    """Seconds of the fastest of several runs of a command."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def heavy_imports() -> list[str]:
    """Heavy libraries that `import markscheme` and the judges' register load; should be none."""
    code = (
        "import sys, markscheme; markscheme.judges();"
        f"print(*(name for name in {HEAVY!r} if name in sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return shown.stdout.split()


def rows() -> list[tuple[str, str]]:
    """What was measured and its figure."""
    python = sys.executable
    empty = fastest(python, "-c", "pass")
    imported = fastest(python, "-c", "import markscheme")
    with_judges = fastest(python, "-c", "import markscheme; markscheme.judges()")
    help_text = fastest(python, "-m", "markscheme", "--help")
    return [
        ("`import markscheme` adds", f"{imported - empty:.3f} s"),
        ("`import markscheme`, judges loaded, adds", f"{with_judges - empty:.3f} s"),
        ("`markscheme --help`", f"{help_text:.3f} s"),
        ("heavy libraries loaded by then", ", ".join(heavy_imports()) or "none"),
    ]
