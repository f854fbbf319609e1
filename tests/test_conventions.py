"""The project's own rules, kept by tests: layers, private modules, exports, light imports."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import markscheme
from with_research import INSTALLED

ROOT = Path(__file__).parents[1]
SOURCE = Path(markscheme.__file__).parent
RESEARCH = ROOT / "packages" / "research" / "src" / "markscheme_research"
MODULES = sorted([*SOURCE.rglob("*.py"), *RESEARCH.rglob("*.py")])
NAMES = {
    ".".join(path.relative_to(home.parent).with_suffix("").parts): path
    for home in (SOURCE, RESEARCH)
    for path in home.rglob("*.py")
}
PACKAGES = {name.removesuffix(".__init__") for name in NAMES if name.endswith(".__init__")}

# Lowest first: a layer imports from itself and from those below it.
LAYERS = [
    ("errors",),
    ("flags", "manifests"),
    ("text",),
    ("values",),
    ("stats",),
    ("metrics",),
    ("tables",),
    ("contract",),
    ("storage",),
    ("models",),
    ("features",),
    ("judges",),
    ("engine",),
    ("results", "web"),
    ("agreement",),
    ("analysis",),
    ("reports",),
    ("api", "options", "testing"),
    ("integrations",),
    ("annotate", "service", "view"),
    ("cli",),
    ("research.options", "research.transformers_models"),
    ("research.pair_classifiers",),
    ("research.statements",),
    ("research.datasets",),
    ("research.judges",),
    ("research.lists",),
    ("research.studies",),
    ("research.training",),
    ("research.papers",),
    ("research.cli",),
]
EXACT_MATCH_FILES, EXAMINER_FILES, MODEL_CALL_FILES = 53, 87, 70
"""Files whose functions run for `judge FILE -j exact_match`, and for a judge that asks a model."""

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def layer(module: str) -> str:
    """The part of the package that a module belongs to; `research.` before those of research."""
    first, *parts = module.split(".")
    part = parts[0] if parts else ""
    return part if first == "markscheme" else f"research.{part}"


def package_of(module: str) -> str:
    """The package whose folder holds a module."""
    return (
        module.removesuffix(".__init__")
        if module.endswith("__init__")
        else module.rpartition(".")[0]
    )


@functools.cache
def nodes(module: str) -> list[ast.AST]:
    """Every node of a module's syntax tree."""
    return list(ast.walk(ast.parse(NAMES[module].read_text("utf-8"))))


def imported(module: str) -> set[tuple[str, str]]:
    """What a module imports of ours anywhere in it: (module or package, name)."""
    found = set()
    for node in nodes(module):
        if isinstance(node, ast.Import):
            found |= {
                (alias.name, "") for alias in node.names if alias.name.startswith("markscheme")
            }
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module and node.module.split(".")[0] in {"markscheme", "markscheme_research"}:
                found |= {(node.module, alias.name) for alias in node.names}
    return found


def test_every_part_of_the_package_has_a_layer() -> None:
    parts = {layer(name) for name in NAMES} - {"__init__", "__main__", "research.__init__"}
    assert parts <= set(LEVEL), parts - set(LEVEL)


def test_imports_point_down_and_leave_inner_modules_to_their_packages() -> None:
    wrong = []
    for module in sorted(NAMES):
        own, package = layer(module), package_of(module)
        for origin, name in sorted(imported(module)):
            top = origin in {"markscheme", "markscheme_research"}
            other = layer(f"{origin}.{name}") if top else layer(origin)
            level = LEVEL.get(own, len(LAYERS))
            if other != own and LEVEL.get(other, -1) >= level:
                wrong.append(f"{module} imports {origin}.{name}, which lies above it")
            inner = f"{origin}.{name}" if f"{origin}.{name}" in NAMES else origin
            if inner in PACKAGES or inner not in NAMES:
                continue
            home = package_of(inner)
            ours = home == "markscheme.cli" and module.startswith("markscheme.")
            if not (f"{package}.".startswith(f"{home}.") or home == "markscheme" or ours):
                wrong.append(f"{module} imports {inner}, inside {home}, not what {home} exports")
    assert wrong == []


def test_public_names_are_sorted_and_exist() -> None:
    assert list(markscheme.__all__) == sorted(markscheme.__all__)
    for name in markscheme.__all__:
        assert getattr(markscheme, name).__doc__, f"{name} has no docstring"


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("AgreeOptions", "markscheme.options"),
        ("ReadOptions", "markscheme.options"),
        ("judge_name", "markscheme.contract"),
        ("write_answers", "markscheme.tables"),
    ],
)
def test_a_name_that_moved_says_where_it_is(name: str, module: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"is {module}\.{name} now"):
        former = getattr(markscheme, name)
    assert former is getattr(importlib.import_module(module), name)


def test_descriptions_of_flags_are_understood_where_they_were() -> None:
    from markscheme import flags, options

    with pytest.warns(DeprecationWarning, match=r"is markscheme\.flags\.Seed now"):
        assert options.Seed is flags.Seed
    with pytest.raises(AttributeError):
        _ = options.Sead


def test_options_of_public_functions_are_in_one_module() -> None:
    """Whatever `options=` a public function takes can be imported from markscheme.options."""
    from markscheme import options

    taken = {
        word
        for name in markscheme.__all__
        if inspect.isfunction(getattr(markscheme, name))
        for parameter in inspect.signature(getattr(markscheme, name)).parameters.values()
        for word in re.findall(r"\w+Options", str(parameter.annotation))
    }
    assert {"AgreeOptions", "DiffOptions"} <= taken <= set(options.__all__)
    for name in options.__all__:
        assert getattr(options, name).__doc__, f"{name} has no docstring"


def test_no_package_hides_behind_a_public_name() -> None:
    folders = {path.parent.name for path in MODULES if path.name == "__init__.py"}
    assert not folders & set(markscheme.__all__)
    code = (
        "import markscheme.judges.entailment as e, markscheme.reports.charts as c\n"
        "assert e.StagedJudge and c.dots\n"
        "import warnings, markscheme\n"
        "with warnings.catch_warnings(record=True) as said:\n"
        "    warnings.simplefilter('always')\n"
        "    assert 'examiner' in markscheme.judges()\n"
        "assert 'markscheme.list_judges()' in str(said[0].message)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_what_packages_export_exists_and_is_no_module() -> None:
    """In one process, so that nothing that one package imports hides a name of another."""
    code = (
        "import importlib, sys, types\n"
        "for package in map(importlib.import_module, sys.argv[1:]):\n"
        "    for name in getattr(package, '__all__', []):\n"
        "        if isinstance(getattr(package, name), types.ModuleType):\n"
        "            print(f'{package.__name__}.{name} is a module')\n"
    )
    packages = [one for one in PACKAGES if INSTALLED or not one.startswith("markscheme_research")]
    done = subprocess.run(
        [sys.executable, "-c", code, *sorted(packages)],
        check=True, timeout=120, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == ""


@pytest.mark.parametrize(
    "statement", ["import markscheme", "import markscheme.options", "import markscheme.cli"]
)
def test_importing_loads_nothing_heavy(statement: str) -> None:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"torch", "transformers", "scipy", "sklearn", "statsmodels", "pandas", "onnxruntime",
             "lightgbm", "polars", "numpy"}  # fmt: skip
    assert not heavy & set(done.stdout.split())


def test_the_register_of_judges_loads_no_heavy_library() -> None:
    code = "import sys, markscheme; markscheme.list_judges(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"torch", "transformers", "scipy", "sklearn", "pandas", "onnxruntime", "lightgbm"}
    assert not heavy & set(done.stdout.split())


def test_a_command_imports_what_its_judges_need_and_little_else(tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"question": "Who?", "references": ["Ann", "Bo"], "answer": "Ann"}\n' * 3)
    run = ["judge", str(answers), "-j", "exact_match", "--out", str(tmp_path / "run"), "--quiet"]
    code = (
        f"import sys; from markscheme.cli import run; code = run({run!r})\n"
        "print('loaded', *sys.modules); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    heavy = {"scipy", "sklearn", "jinja2", "charset_normalizer", "pyarrow", "pandas", "onnxruntime",
             "lightgbm", "sqlalchemy", "httpx", "openai", "asyncio", "ssl"}  # fmt: skip
    assert not heavy & set(loaded)
    assert len([one for one in loaded if one.startswith("markscheme")]) <= 89


_COUNTED = """
import inspect, sys, threading
from pathlib import Path
from markscheme.cli import run
from markscheme.testing import FaultServer, ServerReply

source = str(Path(inspect.getfile(run)).parent.parent)
files = set()

def note(frame, event, argument):
    # Bodies of modules and classes and what runs while a module loads are not counted.
    code, above = frame.f_code, frame
    if event != "call" or not code.co_filename.startswith(source):
        return
    if code.co_flags & inspect.CO_OPTIMIZED:
        while above is not None and above.f_code.co_name != "<module>":
            above = above.f_back
        if above is None or not above.f_code.co_filename.startswith(source):
            files.add(code.co_filename)

reply = '{"reason": "", "relation": "equivalent", "verdict": "yes", "marks": 1.0}'
with FaultServer([ServerReply(content=reply)]) as server:
    arguments = [one.replace("SERVER", server.url) for one in sys.argv[1:]]
    threading.setprofile(note)
    sys.setprofile(note)
    code = run(arguments)
    sys.setprofile(None)
print("files", *sorted(one for one in files if "/testing/" not in one))
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("options", "most"),
    [
        (["-j", "exact_match"], EXACT_MATCH_FILES),
        (["-j", "examiner"], EXAMINER_FILES),
        (["-j", "llm_grader", "--model", "m", "--base-url", "SERVER"], MODEL_CALL_FILES),
    ],
)
def test_functions_of_few_files_run_for_a_command(
    options: list[str], most: int, tmp_path: Path
) -> None:
    """docs/architecture.md states these numbers; fold what is one idea before raising one."""
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"question": "Who?", "references": ["Ann", "Bo"], "answer": "Ann"}\n' * 3)
    run = ["judge", str(answers), *options, "--out", str(tmp_path / "run")]
    done = subprocess.run(
        [sys.executable, "-c", _COUNTED, *run],
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    files = done.stdout.splitlines()[-1].split()[1:]
    assert str(SOURCE / "engine" / "execute.py") in files
    assert len(files) <= most, files


def test_errors_are_drawn_in_their_tree() -> None:
    from markscheme import errors

    drawing = (errors.__doc__ or "").split("\n\n")[1]
    classes = {
        name for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.MarkschemeError)
    }  # fmt: skip
    assert classes == set(re.findall(r"\w+Error", drawing))


def test_no_two_test_files_have_one_name() -> None:
    # pytest imports them by their bare name: of two, one would break the whole collection.
    names = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert len(names) == len(set(names)), sorted({n for n in names if names.count(n) > 1})


def test_models_are_typed_wherever_they_are_passed() -> None:
    untyped = [path.name for path in MODULES if "models: Any" in path.read_text()]
    assert not untyped, "what judges get as models is a ModelSource"


def test_no_pattern_has_a_possessive_group() -> None:
    """Python 3.11.2, which Debian 12 has, reads past what such a group failed to match."""
    possessive = re.compile(r"[^\\]\)(?:[*+?]|\{\d*,?\d*\})\+|\(\?>")
    suspects = [name for name, path in NAMES.items() if possessive.search(path.read_text("utf-8"))]
    found = [
        f"{module}: {node.value[:60]}"
        for module in suspects
        for node in nodes(module)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and "(?" in node.value
        and possessive.search(node.value)
    ]
    assert found == []


def test_cleaning_removes_only_what_can_be_built_again() -> None:
    """In runs/ lie the ledgers of replies that somebody paid for."""
    done = subprocess.run(
        ["make", "--dry-run", "clean"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    (removed,) = re.findall(r"^rm -rf (.+)$", done.stdout, re.MULTILINE)
    ignored = set((ROOT / ".gitignore").read_text("utf-8").split())
    rebuilt = {".venv", "build", "dist", "site"}
    for name in removed.split():
        assert name in rebuilt or name.endswith("_cache") or name == ".hypothesis", name
        assert {name, f"{name}/", f"/{name}/", f"/{name}"} & ignored, f"{name} may be somebody's"


def test_only_tests_of_research_and_recipes_need_them() -> None:
    """The core's own tests run where it alone is installed (`make test-core`)."""
    apart = {ROOT / "tests" / "research", ROOT / "tests" / "recipes"}
    needing = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if not apart & set(path.parents)
        and re.search(
            r"^(from|import) (markscheme_research|recipes)\b", path.read_text("utf-8"), re.M
        )
    ]
    assert needing == []


def test_no_folder_is_larger_than_its_bar() -> None:
    # pytest's `pythonpath` has the root of the checkout.
    from scripts.size import above_bars

    assert not above_bars(), (
        "shrink it, or `python scripts/size.py --raise` and say why in the commit"
    )


def test_the_page_of_the_architecture_has_the_sizes() -> None:
    from scripts.size import PAGE, page

    assert PAGE.read_text("utf-8") == page(), "python scripts/size.py --lower writes them"


def test_what_benchmarks_import_exists() -> None:
    """They run by hand and seldom, so that nothing else would notice a name that is gone."""
    lacking = []
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = getattr(node, "module", None) or ""
            if not isinstance(node, ast.ImportFrom) or module.split(".")[0] != "markscheme":
                continue
            found = importlib.import_module(module)
            lacking += [
                f"{path.name}: {module}.{one.name}"
                for one in node.names
                if not hasattr(found, one.name)
            ]
    assert lacking == []


CATALOGUES = {
    "service/attacks.py", "robustness/hostile_texts.py", "robustness/piece_edits.py",
    "robustness/edits.py",
}  # fmt: skip
"""Helpers next to the tests of their area, since a page names them (docs/testing.md)."""


def test_helpers_of_tests_are_in_one_folder() -> None:
    tests = ROOT / "tests"
    files = [path.relative_to(tests) for path in tests.rglob("*.py")]
    elsewhere = {
        path.as_posix()
        for path in files
        if path.name != "conftest.py"
        and not path.name.startswith("test_")
        and path.parts[0] != "support"
        and path.parts[:3] != ("tables", "exports", "make")
    }
    assert elsewhere - CATALOGUES == set()
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    assert not [name for name in CATALOGUES if Path(name).name not in page]
