"""The project's own rules, kept by tests: layers, exports, sizes, light imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import markscheme

SOURCE = Path(markscheme.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

# Lowest first. A module may import from its own layer and from the ones it may reach below.
BOTTOM = [
    "errors", "files", "writing", "columns", "written_lists", "tidy", "answers", "judgments",
    "registry", "grammar",
]  # fmt: skip
REACH: dict[str, set[str]] = {
    "text": {"errors"},
    "metrics": {"errors", "text"},
    "datasets": set(BOTTOM),
    "agreement": set(BOTTOM),
    "models": {*BOTTOM, "text"},
    "prompts": {"errors"},
    "judges": {*BOTTOM, "text", "metrics", "models", "prompts"},
    "engine": {*BOTTOM, "text", "metrics", "models", "judges"},
    "training": {*BOTTOM, "text", "metrics", "models", "judges", "engine", "agreement", "datasets"},
}
REACH["analysis"] = {*REACH["engine"], "engine", "agreement", "datasets"}
REACH["papers"] = {*REACH["training"], "training", "analysis"}
REACH["report"] = {*REACH["papers"], "papers"}
REACH["api"] = {*REACH["report"], "report"}
REACH["integrations"] = {*REACH["api"], "api", "training"}
REACH["annotate"] = {*REACH["integrations"]}
REACH["service"] = {*REACH["integrations"]}
REACH["cli"] = {*REACH["integrations"], "annotate", "service"}


def layer(module: Path) -> str:
    return module.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(module: Path) -> set[str]:
    """The layers of ours that a module imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "markscheme":
                names = [f"markscheme.{alias.name}" for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("markscheme.")}
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_only_point_down(module: Path) -> None:
    own = layer(module)
    if own in ("__init__", "__main__"):
        return
    allowed = set(BOTTOM[: BOTTOM.index(own) + 1]) if own in BOTTOM else REACH[own] | {own}
    assert imports(module) <= allowed, f"{own} may import {sorted(allowed)}"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_hold_one_idea(module: Path) -> None:
    text = module.read_text()
    assert text.count("\n") <= 420
    assert not re.search(r"^\s*from \.", text, re.MULTILINE), "imports are absolute"


def test_public_names_are_sorted_and_exist() -> None:
    assert markscheme.__all__ == sorted(markscheme.__all__)
    assert set(markscheme.__all__) == set(markscheme._HOME)
    for name in markscheme.__all__:
        assert getattr(markscheme, name).__doc__, f"{name} has no docstring"


@pytest.mark.parametrize("statement", ["import markscheme", "import markscheme.cli"])
def test_importing_loads_nothing_heavy(statement: str) -> None:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"torch", "transformers", "scipy", "sklearn", "statsmodels", "pandas", "onnxruntime",
             "lightgbm", "polars", "numpy"}  # fmt: skip
    assert not heavy & set(done.stdout.split())


def test_errors_are_drawn_in_their_tree() -> None:
    from markscheme import errors

    drawing = (errors.__doc__ or "").split("\n\n")[1]
    classes = {
        name for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.MarkschemeError)
    }  # fmt: skip
    assert classes == set(re.findall(r"\w+Error", drawing))
