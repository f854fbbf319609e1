"""The wheels as users get them: built in one new environment, installed in another, and tried.

    make wheel            # or: python scripts/check_wheel.py [--extra llm]

First the core alone: the README's examples run from a folder that is not the checkout, against
the installed package, and must print what the README shows; what the research package would add is
named with the line that installs it. Then that package: its commands, judges and data sets must be
found through their entry points. Prints the wheels' sizes, that of the environment and the number
of packages in it; exits with 1 where something does not do what it should.
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

CORE_ALONE = {
    "research study": "pip install ./packages/research",
    "study cost answers.jsonl": "pip install ./packages/research",
    "train examiner --data answers.jsonl": "pip install ./packages/research",
    "judge answers.jsonl -j learned": "pip install ./packages/research",
    "columns dataset:nq-open": "pip install ./packages/research",
}
"""What fails without the research package, and what its message must hold."""

CORE_SAYS = {
    "judges": "./packages/research (in a checkout) adds bem, bertscore, bleurt, claims, learned",
    "--help": "pip install ./packages/research",
}
"""What works without it, and names it."""

WITH_RESEARCH = {
    "research reproduce --help": "markscheme research reproduce",
    "study --help": "markscheme research study",
    "train examiner --help": "markscheme train examiner",
    "research datasets nq-open": "nq-open",
    "judges learned": "learned(weights=",
    "judges claims": "claims",
}
"""What works with it, and what must be printed."""


ABROAD = '{"question": "Кто написал роман «Идиот»?", "reference": "Фёдор Достоевский", ' + (
    '"answer": "Роман написан Достоевским."}\n'
)
ABROAD_ALONE = {"judge abroad.jsonl -j examiner": "pip install ./packages/languages"}
WITH_LANGUAGES = {"judge abroad.jsonl -j examiner": "texts are in Cyrillic script"}


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


def sources(project: Path, folder: Path) -> Path:
    """A copy of a project's sources without what lies next to them by chance."""
    folder.mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-e5", "NOTICE"):
        if (project / name).exists():
            shutil.copy(project / name, folder)
    shutil.copytree(
        project / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    return folder


def try_commands(
    python: Path, commands: dict[str, str], *, code: int, folder: Path, env: dict[str, str]
) -> None:
    """Type commands of ours; another exit code, or output without the words, ends the program."""
    for words, wanted in commands.items():
        done = subprocess.run(
            [python, "-m", "markscheme", *words.split()],
            check=False, capture_output=True, text=True, cwd=folder, env=env,
        )  # fmt: skip
        printed = " ".join((done.stdout + done.stderr).split())
        if done.returncode != code or wanted not in printed:
            sys.exit(
                f"'markscheme {words}' ended with {done.returncode}, not {code}, or without "
                f"{wanted!r}:\n{done.stdout}{done.stderr}"
            )
        print(f"markscheme {words}: ends with {code}, says {wanted!r}")


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
            str(sources(ROOT, folder / "sources" / "core")),
            *(
                str(sources(ROOT / "packages" / one, folder / "sources" / one))
                for one in ("languages", "research")
            ),
        )  # fmt: skip
        (wheel,) = built.glob("markscheme-*.whl")
        (languages,) = built.glob("markscheme_languages-*.whl")
        (research,) = built.glob("markscheme_research-*.whl")
        for one in (wheel, languages, research):
            print(f"{one.name}: {one.stat().st_size / 1e6:.1f} MB")
            if one.stat().st_size > 100e6:
                sys.exit(f"{one.name} is over 100 MB, which package indexes refuse")
        user = folder / "user-environment"
        python = environment(user)
        wanted = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
        pip(python, "install", "--quiet", wanted)
        stand_in = folder / "away" / "checkout-stand-in"
        shutil.copytree(ROOT / "examples", stand_in / "examples")
        shutil.copy(ROOT / "README.md", stand_in)
        for file in (ROOT / "tests" / "support").glob("*.py"):  # they run a document's blocks
            shutil.copy(file, folder / "away")
        inherited = {"PYTHONPATH", "MARKSCHEME_DATA", "MARKSCHEME_LEDGER", "VIRTUAL_ENV"}
        clean = {name: value for name, value in os.environ.items() if name not in inherited}
        clean["PATH"] = os.pathsep.join([str(python.parent), clean.get("PATH", "")])
        clean["PYTHONPATH"] = str(folder / "away")
        done = subprocess.run([python, "-c", TRY], cwd=folder / "away", env=clean, check=False)
        if done.returncode:
            sys.exit("the README's examples do not run from the wheel")
        work = folder / "away" / "work"
        try_commands(python, CORE_ALONE, code=2, folder=work, env=clean)
        try_commands(python, CORE_SAYS, code=0, folder=work, env=clean)
        packages = len(pip(python, "list", "--format=freeze").split())
        print(f"environment: {megabytes(user):.0f} MB, {packages} packages with pip and setuptools")
        pip(python, "install", "--quiet", f"{wheel}[research]", str(research))
        try_commands(python, WITH_RESEARCH, code=0, folder=work, env=clean)
        (work / "abroad.jsonl").write_text(ABROAD, encoding="utf-8")
        try_commands(python, ABROAD_ALONE, code=0, folder=work, env=clean)
        pip(python, "install", "--quiet", f"{wheel}[languages]", str(languages))
        try_commands(python, WITH_LANGUAGES, code=0, folder=work, env=clean)


if __name__ == "__main__":
    main()
