"""The plugin template as its users get it: its wheel in a new environment, away from the checkout.

    python scripts/check_plugin.py            # or: pytest -m joint tests/testing/test_plugin.py

Builds the wheels of markscheme and of examples/plugin with the build backend of this Python's
environment (nothing is fetched), installs both without dependencies in a new environment that
finds the dependencies where this Python finds them, and there lists and calls the plugin's judge,
reads its data set by name, types its command and runs its own tests, which call `check_judge`. The
research package is not installed there: a plugin needs the core alone. Exits with 1 where one of
them fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

TRY = """
import sys
from pathlib import Path

import markscheme, markscheme_numbers
from markscheme.testing import check_judge

for one in (markscheme, markscheme_numbers):
    place = Path(one.__file__).resolve()
    assert place.is_relative_to(Path(sys.prefix).resolve()), f"not the installed package: {place}"
found = markscheme.mark("When was Emma published?", ["1815"], "In 1815.", "same_numbers")
assert found.verdict is True, found
assert "registered_by=markscheme-numbers==0.1.0" in found.signature, found.signature
assert "source=" not in found.signature, found.signature
check_judge("same_numbers")
check_judge("entailment(test=shared_words, statements=bare_answer)")
print("judged and checked away from the checkout:", found.signature)
"""

COMMANDS = {
    "judges": "same_numbers",
    "--help": "count-numbers",
    "columns dataset:sums": "What is 17 + 25?",
    "judge dataset:sums -j same_numbers --out judged": "slide rule",
    "count-numbers dataset:sums --least 2 --format csv": "abacus,4,1",
}
"""What is typed where the plugin is installed, and what must be printed."""


def run(*command: str | Path, folder: Path, env: dict[str, str] | None = None) -> str:
    """What a command prints; its failure ends the program."""
    done = subprocess.run(
        [str(part) for part in command], check=False, capture_output=True, text=True, cwd=folder,
        env=env,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:4]))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def copied(source: Path, names: tuple[str, ...], target: Path) -> Path:
    """A copy of some files and folders of a project, without what lies next to them by chance."""
    target.mkdir(parents=True)
    for name in names:
        if (source / name).is_dir():
            ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(source / name, target / name, ignore=ignore)
        elif (source / name).exists():
            shutil.copy(source / name, target)
    return target


def dependencies(folder: Path) -> Path:
    """A folder with links to what is installed here, without markscheme's own distributions."""
    folder.mkdir()
    for one in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if not one.name.startswith(("markscheme", "_editable_impl_markscheme")):
            (folder / one.name).symlink_to(one)
    return folder


def main() -> None:
    """Build, install, try."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = ("pyproject.toml", "README.md", "LICENSE", "NOTICE", "src", "tests")
        ours = copied(ROOT, files[:-1], folder / "sources" / "markscheme")
        plugin = copied(ROOT / "examples" / "plugin", files, folder / "sources" / "plugin")
        inherited = {"PYTHONPATH", "MARKSCHEME_LEDGER", "MARKSCHEME_DATA", "VIRTUAL_ENV"}
        clean = {key: value for key, value in os.environ.items() if key not in inherited}
        clean["COLUMNS"] = "120"  # Names on one line, whatever terminal asks.
        venv.create(folder / "user", with_pip=True)
        python = folder / "user" / ("Scripts" if os.name == "nt" else "bin") / "python"
        pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
        built = folder / "built"
        for one in (ours, plugin):
            run(
                sys.executable, *pip, "wheel", "--no-deps", "--no-build-isolation",
                "--wheel-dir", built, one, folder=folder, env=clean,
            )  # fmt: skip
        wheels = sorted(built.glob("*.whl"))
        run(python, *pip, "install", "--no-deps", *wheels, folder=folder, env=clean)
        (site,) = (folder / "user").glob("lib/python*/site-packages")
        (site / "dependencies.pth").write_text(f"{dependencies(folder / 'dependencies')}\n")
        away = folder / "away"
        away.mkdir()
        for words, wanted in COMMANDS.items():
            printed = run(python, "-m", "markscheme", *words.split(), folder=away, env=clean)
            if wanted not in printed:
                sys.exit(f"'markscheme {words}' does not print {wanted!r}:\n{printed}")
            print(f"markscheme {words}: prints {wanted!r}")
        print(run(python, "-c", TRY, folder=away, env=clean).strip())
        shutil.copytree(plugin / "tests", away / "tests")
        tests = (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
        print(run(*tests, folder=away, env=clean).strip())


if __name__ == "__main__":
    main()
