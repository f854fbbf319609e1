"""The wheel as a user gets it: built in one new environment, installed in another, and tried.

    make wheel            # or: python scripts/check_wheel.py [--extra llm]

The README's examples run from a folder that is not the checkout, against the installed package, and
must print what the README shows. Ends with the wheel's size, that of the environment and the number
of packages in it; exits with 1 where an example does not do what it should.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNNER = ("documents*.py", "s3_store.py", "models/servers.py")
"""The modules in tests/ that run a document's blocks; all else of the checkout stays behind."""

TRY = """
import sys
from pathlib import Path

import markscheme

place = Path(markscheme.__file__).resolve()
assert place.is_relative_to(Path(sys.prefix).resolve()), f"not the installed package: {place}"
import documents

root, folder = Path("checkout-stand-in").resolve(), Path("work").resolve()
folder.mkdir()
with documents.sandbox(root, folder):
    print(f"{documents.run_page(root / 'README.md')} blocks of README.md run from {place.parent}")
"""


def environment(folder: Path) -> Path:
    """A new environment in `folder`; its Python."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def pip(python: Path, *arguments: str) -> str:
    """What pip prints; its errors end the program."""
    done = subprocess.run(
        [python, "-m", "pip", *arguments, "--disable-pip-version-check"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"pip {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def megabytes(folder: Path) -> float:
    """The size of the files in a folder."""
    return sum(p.lstat().st_size for p in folder.rglob("*") if not p.is_symlink()) / 1e6


def sources(folder: Path) -> Path:
    """A copy of the sources without what lies beside them by chance."""
    names = ("pyproject.toml", "README.md", "LICENSE", "NOTICE")
    folder.mkdir()
    for name in names:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(
        ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    return folder


def main() -> None:
    """Build, install, try."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--extra", action="append", default=[], help="an extra to install with it")
    extras = parser.parse_args().extra
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        built = folder / "built"
        pip(environment(folder / "build-environment"),
            "wheel", "--quiet", "--no-deps", "--wheel-dir", str(built),
            str(sources(folder / "sources")))  # fmt: skip
        (wheel,) = built.glob("markscheme-*.whl")
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
        user = folder / "user-environment"
        python = environment(user)
        wanted = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
        pip(python, "install", "--quiet", wanted)
        stand_in = folder / "away" / "checkout-stand-in"
        shutil.copytree(ROOT / "examples", stand_in / "examples")
        shutil.copy(ROOT / "README.md", stand_in)
        for pattern in RUNNER:
            for file in (ROOT / "tests").glob(pattern):
                shutil.copy(file, folder / "away")
        inherited = {"PYTHONPATH", "MARKSCHEME_DATA", "MARKSCHEME_LEDGER", "VIRTUAL_ENV"}
        clean = {name: value for name, value in os.environ.items() if name not in inherited}
        clean["PATH"] = os.pathsep.join([str(python.parent), clean.get("PATH", "")])
        clean["PYTHONPATH"] = str(folder / "away")
        done = subprocess.run([python, "-c", TRY], cwd=folder / "away", env=clean, check=False)
        if done.returncode:
            sys.exit("the README's examples do not run from the wheel")
        packages = len(pip(python, "list", "--format=freeze").split())
        print(f"environment: {megabytes(user):.0f} MB, {packages} packages with pip and setuptools")


if __name__ == "__main__":
    main()
