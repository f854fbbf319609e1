"""How long importing and `--help` take, each in fresh processes; the fastest of several."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def processor_seconds(*command: str) -> float:
    """Seconds of processor time of a command, children included; the fastest of several runs."""
    seconds = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=_WITH_BYTECODE)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds)


_WITH_BYTECODE = {
    key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"
}
"""As installed by pip, which compiles modules: a first run here compiles them."""

_LIBRARIES = "import numpy, orjson, polars, pydantic, rich.console, rich.table, typer, typer.main"
"""What a command that reads, judges and prints a table loads of others, whatever we do."""

_SMALL = {
    "id": "1",
    "question": "Who wrote Emma?",
    "references": ["Jane Austen"],
    "answer": "Austen",
}


def judge_rows() -> list[tuple[str, str]]:
    """Processor time of judging twenty answers, compared with loading the libraries of others."""
    python = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "small.jsonl"
        rows = ({**_SMALL, "id": str(row)} for row in range(20))
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        # Each run makes its folder again: the first of a name would be gone on with.
        script = "rm -rf $2; exec $0 -m markscheme judge $1 -j exact_match -o $2 -q"
        run = ("sh", "-c", script, python, str(file), str(Path(folder) / "run"))
        judged = processor_seconds(*run)
    libraries = processor_seconds(python, "-c", _LIBRARIES)
    return [
        ("`markscheme judge` on 20 answers, `exact_match`: processor time", f"{judged:.2f} s"),
        ("the same to importing NumPy, Polars, Typer and Rich alone", f"{judged / libraries:.2f}"),
    ]


def heavy_imports() -> list[str]:
    """Heavy libraries that `import markscheme` and the judges' register load; should be none."""
    code = (
        "import sys, markscheme; markscheme.list_judges();"
        f"print(*(name for name in {HEAVY!r} if name in sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return shown.stdout.split()


def rows() -> list[tuple[str, str]]:
    """What was measured and its figure."""
    python = sys.executable
    empty = fastest(python, "-c", "pass")
    imported = fastest(python, "-c", "import markscheme")
    with_judges = fastest(python, "-c", "import markscheme; markscheme.list_judges()")
    help_text = fastest(python, "-m", "markscheme", "--help")
    return [
        ("`import markscheme` adds", f"{imported - empty:.3f} s"),
        ("`import markscheme`, judges loaded, adds", f"{with_judges - empty:.3f} s"),
        ("`markscheme --help`", f"{help_text:.3f} s"),
        *judge_rows(),
        (
            "heavy libraries loaded by `markscheme.list_judges()`",
            ", ".join(heavy_imports()) or "none",
        ),
    ]
