"""A changed judge of somebody else's is another judge: its signature says so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import markscheme
from markscheme.contract import origin_of
from markscheme.contract.grammar import signature

JUDGE = '''
from dataclasses import dataclass

import polars as pl

import markscheme
from markscheme.contract import Needs


@markscheme.register("mine", needs=Needs(chat=False))
@dataclass(frozen=True, kw_only=True)
class Mine:
    """Accepts what is long enough."""

    def judge(self, answers, models):
        return answers.select(verdict=pl.col("answer").str.len_chars() > 2)
'''
RUN = """
import sys
rows = [{"question": "q", "references": ["r"], "answer": text} for text in ("a", "abc", "abcdef")]
result = markscheme.judge(rows, "mine", out=sys.argv[1])
print(result.judgments["verdict"].to_list())
print(markscheme.signature(markscheme.parse_judge("mine")))
"""
INSTALLED = "-c 'import sys; sys.path.insert(0, sys.argv[1])'"


def python(*arguments: str | Path, folder: Path, path: str = "") -> str:
    import os

    found = os.environ.get("PYTHONPATH", "")
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], check=False, capture_output=True, text=True,
        cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (path, found)))},
    )  # fmt: skip
    return done.stdout + done.stderr


def test_shipped_judges_add_nothing() -> None:
    judge = markscheme.parse_judge("rouge1")
    assert origin_of(type(judge)) == {}
    assert signature(judge) == f"rouge1(threshold=0.5) markscheme={markscheme.__version__}"


def test_a_script_edited_between_two_runs_does_not_go_on_with_the_first(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(JUDGE + RUN)
    first = python(script, "run", folder=tmp_path)
    assert first.startswith("[False, True, True]")
    assert re.search(r"mine\(\) markscheme=\S+ source=[0-9a-f]{16}$", first, re.M) or re.search(
        r"mine markscheme=\S+ source=[0-9a-f]{16}$", first, re.M
    )
    assert python(script, "run", folder=tmp_path) == first
    script.write_text((JUDGE + RUN).replace("> 2", "> 4"))
    edited = python(script, "run", folder=tmp_path)
    assert "RunError" in edited
    assert re.search(r"holds a run with mine set up differently \(source=\w+; now source=", edited)
    assert python(script, "other", folder=tmp_path).startswith("[False, False, True]")


@pytest.mark.proof(area="harnesses")
def test_a_helper_beside_the_script_counts(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from limits import LEAST\n" + JUDGE.replace("> 2", "> LEAST") + RUN)
    (tmp_path / "limits.py").write_text("LEAST = 2\n")
    first = python(script, "run", folder=tmp_path)
    assert first.startswith("[False, True, True]")
    (tmp_path / "limits.py").write_text("LEAST = 4\n")
    assert "RunError" in python(script, "run", folder=tmp_path)
    (tmp_path / "limits.py").write_text("LEAST = 2\n")
    (tmp_path / "unrelated.py").write_text("LEAST = 9\n")
    assert python(script, "run", folder=tmp_path) == first


CELLS = """
import linecache, sys, types
def cell(number, text):
    name = f"<ipython-input-{number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), globals())
cell(1, sys.argv[1])
cell(2, sys.argv[2])
import markscheme
print(markscheme.signature(markscheme.parse_judge("mine")))
"""


@pytest.mark.proof(area="harnesses")
def test_cells_of_a_notebook_count(tmp_path: Path) -> None:
    helper = "def least():\n    return 2\n"
    judge = JUDGE.replace("> 2", "> least()")

    def signed(helper: str, judge: str) -> str:
        return python("-c", CELLS, helper, judge, folder=tmp_path)

    first = signed(helper, judge)
    assert re.search(r"source=[0-9a-f]{16}$", first)
    assert signed(helper, judge) == first
    assert signed(helper.replace("2", "3"), judge) != first
    assert signed(helper, judge.replace("least()", "least() + 1")) != first


@pytest.mark.proof(area="harnesses")
def test_code_without_any_source_counts(tmp_path: Path) -> None:
    def signed(text: str) -> str:
        ending = "\nprint(markscheme.signature(markscheme.parse_judge('mine')))"
        return python(
            "-c", f"import sys; exec(compile({text + ending!r}, '<made>', 'exec'))", folder=tmp_path
        )

    first = signed(JUDGE)
    assert re.search(r"source=[0-9a-f]{16}$", first)
    assert signed(JUDGE) == first
    assert signed(JUDGE.replace("> 2", "> 4")) != first


def site(folder: Path, *, version: str, text: str = JUDGE, editable: bool = False) -> Path:
    """A folder of installed packages with a plugin in it, or one that points elsewhere."""
    packages = folder / "lib" / "site-packages"
    code = folder / "src" if editable else packages
    info = packages / f"acme_judges-{version}.dist-info"
    for one in (packages, code, info):
        one.mkdir(parents=True, exist_ok=True)
    (code / "acme.py").write_text(text)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: acme-judges\nVersion: {version}")
    (info / "entry_points.txt").write_text("[markscheme.judges]\nacme = acme\n")
    (info / "RECORD").write_text("" if editable else "acme.py,,\n")
    return packages


def signed_by(packages: Path, folder: Path, *, extra: str = "") -> str:
    return python(
        "-c",
        "import markscheme; print(markscheme.signature(markscheme.parse_judge('mine')))",
        folder=folder,
        path=f"{packages}:{extra}" if extra else str(packages),
    ).strip()


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_an_installed_plugin_is_signed_by_its_version(tmp_path: Path, version: str) -> None:
    found = signed_by(site(tmp_path, version=version), tmp_path)
    assert found.endswith(f"registered_by=acme-judges=={version}")


@pytest.mark.proof(area="harnesses")
def test_an_editable_plugin_is_signed_by_its_source_too(tmp_path: Path) -> None:
    packages = site(tmp_path, version="1.0", editable=True)
    src = str(tmp_path / "src")
    first = signed_by(packages, tmp_path, extra=src)
    assert re.search(r"registered_by=acme-judges==1.0 source=[0-9a-f]{16}$", first)
    site(tmp_path, version="1.0", editable=True, text=JUDGE.replace("> 2", "> 4"))
    second = signed_by(packages, tmp_path, extra=src)
    assert second.split("source=")[0] == first.split("source=")[0]
    assert second != first


def test_a_nested_judge_is_signed_under_its_place(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    name = "panel(judges=[exact_match, mine])"
    script.write_text(JUDGE + f"\nprint(markscheme.signature(markscheme.parse_judge({name!r})))")
    assert re.search(r"judges\.1\.source=[0-9a-f]{16}$", python(script, folder=tmp_path).strip())
