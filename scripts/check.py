"""`make check`: ruff, mypy and the nearest tests of what has changed since a commit.

    make check                     # or: python scripts/check.py [BASE]
    make check BASE=main

The tests are those that changed, those of a changed module's folder that name the module, and the
conventions where the package changed. `make test` runs everything that is quick.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from proofs import changed_since

ROOT = Path(__file__).resolve().parents[1]
HOUSES = {
    "src/markscheme/": "tests/",
    "packages/research/src/markscheme_research/": "tests/research/",
}


def tests_of(file: Path) -> set[str]:
    """The test files nearest to a changed file."""
    name = file.as_posix()
    if name.startswith("tests/") and file.name.startswith("test_"):
        return {name}
    for house, tests in HOUSES.items():
        if name.startswith(house):
            part = name.removeprefix(house).split("/")[0]
            folder = ROOT / tests / part
            named = re.compile(rf"\b{file.stem}\b")
            near = folder.glob("**/test_*.py") if folder.is_dir() else ()
            found = {one for one in near if named.search(one.read_text("utf-8"))}
            return {str(one.relative_to(ROOT)) for one in found} | {
                "tests/test_conventions.py", "tests/test_word_list.py",
            }  # fmt: skip
    return {"tests/test_contributing.py"} if name == "CONTRIBUTING.md" else set()


def main(base: str) -> int:
    """Run the checks, each after the other; the exit code of the first that fails."""
    files = [Path(name) for name in sorted(changed_since(base)) if (ROOT / name).is_file()]
    python = [str(file) for file in files if file.suffix in (".py", ".pyi")]
    typed = [name for name in python if name.startswith(tuple(HOUSES)) and name.endswith(".py")]
    tests = sorted(set().union(*map(tests_of, files)))
    unslow = "not needs_data and not proof and not joint"
    commands = [
        (python, ["ruff", "check", *python]),
        (python, ["ruff", "format", "--check", *python]),
        (typed, ["mypy", *typed]),
        (tests, ["pytest", "-q", "-x", "-m", unslow, *tests]),
    ]
    for wanted, command in commands:
        if wanted:
            print("==", *command[:2], f"({len(wanted)} files)", flush=True)
            code = subprocess.run(
                [sys.executable, "-m", *command], cwd=ROOT, check=False
            ).returncode
            if code:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or ["HEAD"]))
