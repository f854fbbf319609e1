"""Which proofs a change touches, which stamps are stale, and what each stage of tests takes.

    make proofs-for BASE=COMMIT           # or: python scripts/proofs.py for COMMIT
    python scripts/proofs.py stale        # areas whose stamp is missing, or of other files
    python scripts/proofs.py stamp AREA   # after a whole run that passed: make proof-AREA calls it
    python scripts/proofs.py tables       # write the tables of docs/testing.md and
                                          # docs/robustness.md, as `stamp` does at its end

A file belongs to an area if it is one of these:

- a test file with a proof of the area, a helper that it imports, the `conftest.py` of its folder;
- what these import or name: modules of the package and of `benchmarks/` (a name that a package
  exports is followed through its `__init__.pyi`; an import that leads to no module counts as all
  of its package), the files of commands that they run, files that they name by path;
- what `tests/areas.toml` lists for the area, and its lock in `requirements/`;
- a table, template or weights in or below the folder of a module above;
- what everything depends on: `Makefile`, `pyproject.toml`, what all tests share.

Limits. Imports of the package's own modules are not followed further: what lies lowest is imported
by all, and would touch every area at every change. That code has the quick tests, and
`tests/areas.toml` lists the folders that an area proves. Judges found by name, names put together
while a test runs, and docstrings that the documents' site shows are not seen; nor is, by `for`, a
test file that was deleted. All imports of a test file count, those of its quick tests too.

It needs nothing but Python, and works without a repository too (a copy from `git archive`).
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EVERYTHING = ("Makefile", "pyproject.toml", "tests/conftest.py", "tests/support/made_data.py")
NOTHING = (
    "docs/testing.md", "scripts/size_bars.toml", "tests/areas.toml", "tests/proofs/",
    "tests/support/stage_times.py",
)  # fmt: skip
"""What only measures, or what this script writes: a stamp must not make itself stale."""

BUILT = {"build", "dist", "runs", "scratch", "site"}
PACKAGES = {
    "markscheme_research": "packages/research/src/markscheme_research",
    "markscheme": "src/markscheme",
    "benchmarks": "benchmarks",
    "recipes": "recipes",
}
IN_TEXT = re.compile(rf"\b((?:{'|'.join(PACKAGES)})(?:\.\w+)*)(?: import (\w+(?:, \w+)*))?")
"""Modules named within strings, such as programs that a test gives to another process."""

STAGES = ("test", "test-data", "joints")
RECORDED = {
    "damage": "run | damages | repaired | refused | harmless",
    "edit": "what | secret | edits | refused or judged again | warned | harmless | accepted",
    "label damage": "damage | tried | refused | harmless",
    "label value": "labels and table | values tried | refused | harmless",
    "attack": "attack | attacker, % | load, % | requests without | median | p99"
    " | requests with | median | p99 | ratio",
    "text": "judge | answer and references | seconds",
    "bomb": "file | bytes | seconds | MB | outcome",
}
"""Tables of docs/robustness.md, each of the rows that the proofs of `attacks` record under its name
(`record_property`), and what heads their columns."""

STAMPED = {"files", "date", "passed", "skipped", "seconds", "processor_seconds", "slowest"}


class Project:
    """A checkout: its files by area. Paths are relative to its root, with slashes."""

    def __init__(self, root: Path) -> None:
        """Read the areas' declarations; files are read when first needed."""
        self.root = root
        text = (root / "tests" / "areas.toml").read_text("utf-8")
        self.areas: dict[str, dict[str, Any]] = tomllib.loads(text)
        self.references, self.exports = cache(self._references), cache(self._exports)

    @cached_property
    def files(self) -> frozenset[str]:
        """Every file of the project: what git tracks or would add, or all that is not built."""
        if (self.root / ".git").exists() and shutil.which("git"):
            listed = git(self.root, "ls-files", "--cached", "--others", "--exclude-standard")
            return frozenset(path for path in listed if (self.root / path).is_file())
        found = []
        for folder, below, names in os.walk(self.root):
            built = BUILT if Path(folder) == self.root else set()
            below[:] = {n for n in below if n[0] != "." and n != "__pycache__"} - built
            found += [(Path(folder) / name).relative_to(self.root).as_posix() for name in names]
        return frozenset(found)

    @cached_property
    def modules(self) -> dict[str, set[str]]:
        """The Python files and stubs in each folder."""
        found: dict[str, set[str]] = {}
        for file in self.files:
            if file.endswith((".py", ".pyi")):
                found.setdefault(folder_of(file), set()).add(file)
        return found

    @cached_property
    def tests(self) -> dict[str, list[str]]:
        """The test files with proofs of each area."""
        found: dict[str, list[str]] = {}
        for file in sorted(self.files):
            if re.fullmatch(r"tests/(.*/)?test_\w+\.py", file) and "mark.proof(" in self.text(file):
                for area in sorted({*marked_areas(ast.parse(self.text(file)))}):
                    found.setdefault(area, []).append(file)
        return found

    @cached_property
    def helpers(self) -> dict[str, str]:
        """Modules of the tests by the bare name that other tests import them by."""
        named = {PurePosixPath(file).stem: file for file in self.files if file.endswith(".py")
                 and file.startswith("tests/")}  # fmt: skip
        return {name: file for name, file in named.items() if name != "conftest"}

    def text(self, file: str) -> str:
        """A file's text."""
        return (self.root / file).read_text("utf-8")

    def resolve(self, dotted: str) -> set[str]:
        """The files that a dotted name refers to; all of a package's, where it leads no further."""
        first, *rest = dotted.split(".")
        folder = PACKAGES[first]
        for number, name in enumerate(rest):
            inner, last = f"{folder}/{name}", number == len(rest) - 1
            package, module = inner in self.modules, f"{inner}.py"
            start = f"{folder}/__init__.py"
            exported = self.exports(folder).get(name)
            if exported and (last or not (package or module in self.files)):
                return self.resolve(f"{folder.rpartition('src/')[2].replace('/', '.')}.{exported}")
            if not package and module in self.files:
                return {module}
            if not package and start in self.files:
                own = rf"^(?:def |class )?{re.escape(name)}\b"  # or one that every module has
                if name.startswith("__") or re.search(own, self.text(start), re.MULTILINE):
                    return {start}
            if not package:
                break
            folder = inner
        return set().union(*(files for other, files in self.modules.items()
                             if f"{other}/".startswith(f"{folder}/")))  # fmt: skip

    def _exports(self, folder: str) -> dict[str, str]:
        """What a package offers, and the module and name within it behind each name."""
        stub = f"{folder}/__init__.pyi"
        nodes = ast.parse(self.text(stub)).body if stub in self.files else []
        return {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
        }  # fmt: skip

    def _references(self, file: str) -> frozenset[str]:
        """The files that a Python file imports, or names in its strings."""
        tree = ast.parse(self.text(file))
        bound = dict(imports(tree))
        dotted = {name for name in bound.values() if name.split(".")[0] in PACKAGES}
        texts = {str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)
                 and isinstance(node.value, str)}  # fmt: skip
        chains = {chain for node in ast.walk(tree) if "." in (chain := chain_of(node))}
        for chain in chains:
            local, _, names = chain.partition(".")
            name = bound.get(local, "")
            # The longest chain says what is used: `markscheme.report` of a call, not the package.
            if name.split(".")[0] in PACKAGES:
                dotted.discard(name)
                if not any(other.startswith(f"{chain}.") for other in chains):
                    dotted.add(f"{name}.{names}")
        for text in texts:
            for origin, names in IN_TEXT.findall(text):
                named = {f"{origin}.{name}" for name in names.split(", ")} if names else {origin}
                dotted |= {name for name in named if names or len(self.resolve(name)) == 1}
        found = {file for name in dotted for file in self.resolve(name)}
        if file.startswith("tests/"):
            firsts = {name.split(".")[0] for name in bound.values()}
            found |= {self.helpers[name] for name in firsts if name in self.helpers}
            found |= {f"{a}{text}" for text in texts for a in ("", "scripts/")} & self.files
            if "markscheme" in texts or any(name.startswith("markscheme.cli") for name in dotted):
                names = {f"cli/{text.replace('-', '_')}.py" for text in texts}
                found |= {
                    f"{folder}/{n}" for folder in PACKAGES.values() for n in names
                } & self.files
        return frozenset(found)

    @cache  # noqa: B019 - a project lives as long as the process
    def reached(self, area: str) -> dict[str, str]:
        """What the area's test files import or name, each with the test file that does."""
        found: dict[str, str] = {}
        for test in self.tests.get(area, []):
            open_ends = [test, f"{PurePosixPath(test).parent}/conftest.py"]
            while open_ends:
                file = open_ends.pop()
                if file in self.files and file not in found and file not in EVERYTHING:
                    found[file] = test
                    if file.startswith("tests/") and file.endswith(".py"):
                        open_ends += self.references(file)
        return found

    def reason(self, area: str, path: str) -> str:
        """Why a file belongs to an area, in words, and empty if it does not; it may be deleted."""
        if path in EVERYTHING:
            return "everything depends on it"
        if path.startswith(NOTHING):
            return ""
        if path in self.reached(area):
            return self.reached(area)[path]
        if re.fullmatch(rf"requirements/{area}(-no-deps)?\.txt", path):
            return "its environment"
        for listed in self.areas[area]["paths"]:
            if path == listed or (listed.endswith("/") and path.startswith(listed)):
                return f"{listed} in tests/areas.toml"
        if not path.endswith((".py", ".pyi")):
            above = map(str, PurePosixPath(path).parents)
            owner = next((folder for folder in above if folder in self.modules), "")
            return next((test for file, test in self.reached(area).items()
                         if file in self.modules.get(owner, ())), "")  # fmt: skip
        return ""

    def files_of(self, area: str) -> list[str]:
        """The files that an area's stamp is of."""
        return sorted(file for file in self.files if self.reason(area, file))

    def digest(self, area: str) -> str:
        """A hash of the paths and contents of an area's files, equal on every machine."""
        whole = hashlib.sha256()
        for file in self.files_of(area):
            content = hashlib.sha256((self.root / file).read_bytes()).hexdigest()
            whole.update(f"{file}\0{content}\n".encode())
        return whole.hexdigest()

    def touched(self, changed: list[str]) -> dict[str, dict[str, str]]:
        """The areas that changed files belong to, with the reason of each file."""
        found = {area: {path: why for path in changed if (why := self.reason(area, path))}
                 for area in self.areas}  # fmt: skip
        return {area: reasons for area, reasons in found.items() if reasons}

    def stamp(self, area: str) -> dict[str, Any] | None:
        """What the last whole run of an area that passed has left; None where it is damaged."""
        file = self.root / "tests" / "proofs" / f"{area}.json"
        try:
            stamp = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return stamp if isinstance(stamp, dict) and stamp.keys() >= STAMPED else None

    def stale(self) -> dict[str, str]:
        """The areas without a stamp of their present files, and what is wrong with it."""
        stamps = {area: self.stamp(area) for area in self.areas}
        return {area: self.why_stale(area, stamp) for area, stamp in stamps.items()
                if not stamp or stamp["files"] != self.digest(area)}  # fmt: skip

    def why_stale(self, area: str, stamp: dict[str, Any] | None) -> str:
        """What is wrong with a stamp; where git knows, the files that changed after its commit."""
        path = f"tests/proofs/{area}.json"
        if stamp is None:
            return "unreadable stamp" if (self.root / path).exists() else "never stamped"
        since = f"changed since {stamp['date']}"
        if not ((self.root / ".git").exists() and shutil.which("git")):
            return f"files {since}"
        last = git(self.root, "log", "-1", "--format=%H", "--", path)
        named = git(self.root, "diff", "--name-only", "--no-renames", *last) if last else []
        files = [file for file in named if self.reason(area, file)]
        more = f" and {len(files) - 3} more" if len(files) > 3 else ""
        return f"{', '.join(files[:3])}{more} {since}" if files else f"files {since}"

    def write_stamp(self, area: str) -> str:
        """Stamp an area from the measurement that its run has left; say whether it did."""
        measured = self.measurement(area)
        if measured is None or not measured["passed"]:
            return f"{area}: no stamp, for this was not a whole run that passed"
        began = measured.pop("began")
        late = [file for file in self.files_of(area)
                if (self.root / file).stat().st_mtime > began]  # fmt: skip
        if late:
            return f"{area}: no stamp, for {late[0]} changed while it ran"
        file = self.root / "tests" / "proofs" / f"{area}.json"
        file.parent.mkdir(exist_ok=True)
        stamp = {"area": area, "files": self.digest(area), **measured}
        file.write_text(json.dumps(stamp, indent=2, ensure_ascii=False) + "\n", "utf-8")
        return f"{area}: stamped; commit {file.relative_to(self.root).as_posix()}"

    def measurement(self, stage: str) -> dict[str, Any] | None:
        """What `pytest --stage` has measured of a stage here."""
        file = self.root / "build" / "times" / f"{stage}.json"
        return json.loads(file.read_text("utf-8")) if file.is_file() else None

    def areas_table(self) -> list[str]:
        """The rows of the table of areas."""
        rows = ["| area | what it proves | its environment adds |", "|---|---|---|"]
        return rows + [f"| `{area}` | {of['proves']} | {of['adds']} |"
                       for area, of in self.areas.items()]  # fmt: skip

    def recorded_table(self, name: str) -> list[str]:
        """The table of what the proofs of `attacks` recorded under a name."""
        rows = (self.stamp("attacks") or {}).get("recorded", {}).get(name, [])
        under = "---" + " | ---" * RECORDED[name].count("|")
        return [f"| {row} |" for row in (RECORDED[name], under, *rows)]

    def write_tables(self) -> None:
        """Write the tables of docs/testing.md and docs/robustness.md."""
        page = self.root / "docs" / "testing.md"
        text = with_table(page.read_text("utf-8"), "areas", self.areas_table())
        page.write_text(with_table(text, "times", self.times_table(text)), "utf-8")
        page = self.root / "docs" / "robustness.md"
        text = page.read_text("utf-8")
        for name in RECORDED:
            text = with_table(text, name, self.recorded_table(name))
        page.write_text(text, "utf-8")

    def times_table(self, before: str) -> list[str]:
        """The rows of the table of times; a stage not measured here keeps its row."""
        kept = {line.split("`")[1]: line for line in before.splitlines() if line.startswith("| `")}
        rows = ["| stage | tests | seconds | processor seconds | measured | the slowest |",
                "|---|---:|---:|---:|---|---|"]  # fmt: skip
        for stage in (*STAGES, *self.areas):
            of = self.stamp(stage) if stage in self.areas else self.measurement(stage)
            name = f"proof-{stage}" if stage in self.areas else stage
            rows.append(row(name, of) if of else kept.get(name, f"| `{name}` | | | | not yet | |"))
        return rows


def changed_since(base: str) -> list[str]:
    """Files that differ from a commit, and those that git does not know yet."""
    changed = git(ROOT, "diff", "--name-only", "--no-renames", base, "--")
    return changed + git(ROOT, "ls-files", "--others", "--exclude-standard")


def git(root: Path, *arguments: str) -> list[str]:
    """The paths that a command of git lists."""
    first, *rest = arguments
    command = ["git", "-c", "core.quotePath=off", first, "-z", *rest]
    done = subprocess.run(command, cwd=root, check=False, capture_output=True, text=True)
    if done.returncode:
        why = done.stderr.strip().partition("\n")[0]
        sys.exit(
            f"{why}; 'git {' '.join(arguments)}' needs a repository and a commit that is there"
        )
    return sorted({*done.stdout.replace("\n", "\0").split("\0")} - {""})


def marked_areas(tree: ast.AST) -> Iterator[str]:
    """The areas that a test file marks proofs of."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.proof":
            yield from (str(ast.literal_eval(word.value)) for word in node.keywords)


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Names that import statements anywhere in a file bind, and the dotted name of each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def chain_of(node: ast.AST) -> str:
    """A name with attributes, `markscheme.report`; empty for anything else."""
    if isinstance(node, ast.Attribute):
        start = chain_of(node.value)
        return start and f"{start}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def folder_of(file: str) -> str:
    """The folder of a file."""
    return str(PurePosixPath(file).parent)


def row(name: str, of: dict[str, Any]) -> str:
    """A stage's row of the table of times."""
    tests = f"{of['passed']:,}" + (f", {of['skipped']} skipped" if of["skipped"] else "")
    slowest = "; ".join(f"`{test}` {seconds:.1f} s" for test, seconds in of["slowest"])
    numbers = f"{of['seconds']:,.0f} | {of['processor_seconds']:,.0f}"
    return f"| `{name}` | {tests} | {numbers} | {of['date']} | {slowest.replace('|', '&#124;')} |"


def with_table(page: str, name: str, rows: list[str]) -> str:
    """A page with another table between its markers of that name."""
    start, end = f"<!-- {name}: written by scripts/proofs.py -->", f"<!-- end of {name} -->"
    before, rest = page.split(start)
    return "\n".join((before + start, "", *rows, "", end)) + rest.split(end)[1]


def main() -> None:
    """Run one of the commands."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("for").add_argument("base", nargs="?", default="HEAD")
    commands.add_parser("stale")
    project = Project(ROOT)
    commands.add_parser("stamp").add_argument("area", choices=project.areas)
    commands.add_parser("tables")
    given = parser.parse_args()
    if given.command == "stamp":
        print(project.write_stamp(given.area))
        project.write_tables()
    elif given.command == "stale":
        found = project.stale()
        for area, why in found.items():
            print(f"{area:<12} {why}: make proof-{area}")
        if not found:
            print("every stamp is of these files")
    elif given.command == "tables":
        project.write_tables()
    else:
        changed = changed_since(given.base)
        touched = project.touched(changed)
        for area, reasons in touched.items():
            path, why = min(reasons.items(), key=lambda reason: reason[0] in EVERYTHING)
            more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
            print(f"{area:<12} {path} -> {why}{more}")
        if not touched:
            print(f"files changed since {given.base}: {len(changed)}; they touch no area",
                  file=sys.stderr)  # fmt: skip


if __name__ == "__main__":
    main()
