"""A change names the areas that it touches; a stamp is stale when a file of its area changes."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TEST = """import pytest
import markscheme
{imports}
@pytest.mark.proof(area="{area}")
def test_it() -> None:
    markscheme.mark()
"""


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("proofs", ROOT / "scripts" / "proofs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


proofs = script()


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An invented checkout of two areas."""
    source = "src/markscheme"
    area = 'proves = "a"\nadds = "b"\npaths = '
    in_strings = 'CODE = "from markscheme.page import draw"\n\ndef late():\n    import helping'
    write(tmp_path, {
        "Makefile": "PROOFS := one two\n",
        "tests/areas.toml": f'[one]\n{area}["docs/"]\n[two]\n{area}[]\n',
        "tests/one/test_one.py": TEST.format(area="one", imports="from markscheme import rank"),
        "tests/two/test_two.py": TEST.format(area="two", imports=in_strings),
        "tests/two/conftest.py": "from markscheme.cli import run\nrun(['plan-labels'])\n",
        "tests/two/test_quick.py": "import markscheme.lone\n",
        "tests/helping.py": "from markscheme.whole import *\n",
        f"{source}/__init__.py": "", f"{source}/api.py": "def mark(): ...\n",
        f"{source}/__init__.pyi": "from .api import mark as mark\nfrom .ranks import rank as rank",
        f"{source}/ranks/__init__.py": "", f"{source}/ranks/other.py": "", f"{source}/lone.py": "",
        f"{source}/ranks/__init__.pyi": "from .inner import rank as rank",
        f"{source}/ranks/inner.py": "def rank(): ...\n", f"{source}/ranks/data/table.toml": "",
        f"{source}/page/__init__.py": "def draw(): ...\n",
        f"{source}/page/unused.py": "", f"{source}/cli/plan_labels.py": "",
        f"{source}/cli/__init__.py": "def run(): ...\n", f"{source}/cli/judge.py": "",
        f"{source}/whole/__init__.py": "", f"{source}/whole/deep/part.py": "",
    })  # fmt: skip
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "areas"),
    [
        ("tests/one/test_one.py", "one"),
        ("tests/two/conftest.py", "two"),
        ("tests/helping.py", "two"),
        ("tests/two/test_quick.py", ""),
        ("src/markscheme/api.py", "one two"),  # by the attribute that is called
        ("src/markscheme/ranks/inner.py", "one"),  # through two stubs
        ("src/markscheme/ranks/other.py", ""),
        ("src/markscheme/ranks/data/table.toml", "one"),
        ("src/markscheme/page/__init__.py", "two"),  # named within a string
        ("src/markscheme/page/unused.py", ""),
        ("src/markscheme/page/static/deleted.js", "two"),
        ("src/markscheme/whole/deep/part.py", "two"),  # no names: the entire package
        ("src/markscheme/cli/plan_labels.py", "two"),
        ("src/markscheme/cli/judge.py", ""),
        ("src/markscheme/lone.py", ""),
        ("docs/page.md", "one"),
        ("docs/testing.md", ""),
        ("requirements/two.txt", "two"),
        ("pyproject.toml", "one two"),
    ],
)
def test_a_change_touches_the_areas_that_it_reaches(
    changed: str, areas: str, project: Path
) -> None:
    assert " ".join(proofs.Project(project).touched([changed])) == areas


def stamped(project: Path, area: str) -> str:
    """Stamp an area as after its run."""
    measured = {
        "passed": 3, "skipped": 0, "seconds": 1.0, "processor_seconds": 1.0, "slowest": [],
        "date": "2026-11-25", "began": time.time() + 1,
    }  # fmt: skip
    write(project, {f"build/times/{area}.json": json.dumps(measured)})
    return str(proofs.Project(project).write_stamp(area))


def test_a_stamp_is_stale_when_a_file_of_its_area_changes_and_only_then(project: Path) -> None:
    assert set(proofs.Project(project).stale()) == {"one", "two"}
    for area in ("one", "two"):
        assert "commit tests/proofs/" in stamped(project, area)
    write(project, {"src/markscheme/lone.py": "x = 1", "tests/three/test_new.py": ""})
    assert not proofs.Project(project).stale()
    write(project, {"src/markscheme/ranks/inner.py": "def rank(): return 1"})
    assert proofs.Project(project).stale() == {"one": "files changed since 2026-11-25"}
    write(project, {"src/markscheme/ranks/inner.py": "def rank(): ...\n", "docs/new.md": ""})
    assert set(proofs.Project(project).stale()) == {"one"}


@pytest.mark.parametrize("content", [b"{broken", b"", b"\xff", b'"s"', b'{"files": "x"}', b"[]"])
def test_a_damaged_stamp_is_named_and_ends_nothing(content: bytes, project: Path) -> None:
    stamped(project, "one")
    (project / "tests" / "proofs" / "one.json").write_bytes(content)
    found = proofs.Project(project)
    assert found.stale()["one"] == "unreadable stamp"
    assert any("`proof-one` | | |" in row for row in found.times_table(""))


def test_a_stale_stamp_names_the_files_that_changed_after_it(project: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        subprocess.run(["git", *who, *words], cwd=project, check=True, capture_output=True)

    git("init")
    stamped(project, "one")
    git("add", "-A")
    git("commit", "-m", "stamped")
    write(project, {"src/markscheme/ranks/inner.py": "def rank(): return 1"})
    why = proofs.Project(project).stale()["one"]
    assert why == "src/markscheme/ranks/inner.py changed since 2026-11-25"
    with pytest.raises(SystemExit, match=r"nosuch.*a commit that is there"):
        proofs.git(project, "diff", "--name-only", "nosuch", "--")


def test_only_a_whole_run_of_unchanged_files_is_stamped(project: Path) -> None:
    assert "not a whole run" in proofs.Project(project).write_stamp("one")
    late = {"passed": 3, "began": time.time() - 60}
    write(project, {"build/times/one.json": json.dumps(late)})
    assert "changed while it ran" in proofs.Project(project).write_stamp("one")
    assert set(proofs.Project(project).stale()) == {"one", "two"}


@pytest.fixture(scope="module")
def declared() -> Any:
    """This checkout."""
    return proofs.Project(ROOT)


def test_areas_are_those_of_the_makefile_and_of_the_tests(declared: Any) -> None:
    """A test whose area the Makefile does not know would never run."""
    targets = re.search(r"^PROOFS := (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert targets is not None
    assert list(declared.areas) == targets[1].split()
    assert set(declared.tests) == set(declared.areas)
    for area, of in declared.areas.items():
        missing = [path for path in of["paths"] if not (ROOT / path).exists()]
        assert not missing, f"tests/areas.toml, {area}"
    texts = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    marks = [mark for text in texts for mark in re.findall(r"\bmark\.proof\b(.*)", text)]
    assert all(re.match(r'\(area="(\w+|\{area\})"\)', mark) for mark in marks), "proof(area=...)"


def test_the_page_has_the_areas_as_declared(declared: Any) -> None:
    page = (ROOT / "docs" / "testing.md").read_text("utf-8")
    assert proofs.with_table(page, "areas", declared.areas_table()) == page


@pytest.mark.parametrize("name", proofs.RECORDED)
def test_the_page_has_what_the_proofs_recorded(name: str, declared: Any) -> None:
    page = (ROOT / "docs" / "robustness.md").read_text("utf-8")
    table = declared.recorded_table(name)
    assert proofs.with_table(page, name, table) == page
    assert {row.count(" | ") for row in table} == {proofs.RECORDED[name].count(" | ")}


def test_one_file_of_a_package_does_not_touch_every_area(declared: Any) -> None:
    touched = declared.touched(["src/markscheme/reports/html.py"])
    assert touched["browser"]["src/markscheme/reports/html.py"] == "tests/report/test_browser.py"
    assert len(touched) < 4
