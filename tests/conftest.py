"""What tests share; which of them need public data, and what becomes of them without."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

import made_data
from stage_times import StageTimes

os.environ.pop("COLUMNS", None)  # xdist's workers have 80; tests say themselves how wide

# No deadline, for a slow machine is no failure; and the same examples every time, so that a tree
# which passed here passes elsewhere. `make properties` looks for new ones, and for many more.
settings.register_profile("quick", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.load_profile("quick")

ROOT = Path(__file__).parents[1]
DATASETS = ("evouna-nq", "nq301", "antique", "trec-dl-nf", "webglm", "curatedtrec")
"""What the data-backed tests read, by its names in the catalogue."""

NEVER_HELD = {"NQ301_gpt-4.tsv", "ANTIQUE.json"}
"""Files that a fetch may bring and that no figure in these tests was computed with."""

FETCHING = (
    f"markscheme research datasets fetch {' '.join(DATASETS)} --data-dir data && "
    "MARKSCHEME_DATA=data make test-data"
)
WHY = "needs public data: "


def _data_folder() -> Path | None:
    """MARKSCHEME_DATA, else a folder that developers may have beside their checkout."""
    named = os.environ.get("MARKSCHEME_DATA")
    if named:
        return Path(named).expanduser().resolve()
    beside = ROOT.parent / "shared" / "data"
    return beside.resolve() if beside.is_dir() else None


def _lacking(folder: Path | None, fixtures: set[str]) -> str:
    """What a test that asks for these fixtures lacks, in words; empty if it can run."""
    if folder is None:
        return "none are here"
    try:
        from markscheme_research.datasets import dataset, find
    except ModuleNotFoundError:
        return "markscheme[research] reads them, and is not installed"

    absent = [name for name in DATASETS if find(dataset(name), folder) is None]
    if absent and not (absent == ["antique"] and "antique_dev" not in fixtures):
        return f"{', '.join(absent)} not in {folder}"
    if "papers" in fixtures and not (folder.parent / "papers").is_dir():
        return "the papers' texts, which nothing fetches, in papers/ beside the data's folder"
    return ""


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--require-data`: what a machine with the data must not skip; `--stage`: what is measured."""
    parser.addoption(
        "--require-data",
        action="store_true",
        help="missing public data are an error, rather than a reason to skip tests",
    )
    parser.addoption("--stage", help="measure this run as one of docs/testing.md's stages")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to start where data are required and missing; measure a stage."""
    if config.getoption("--require-data"):
        lacking = _lacking(_data_folder(), {"data_dir", "antique_dev", "papers"})
        if lacking:
            raise pytest.UsageError(f"--require-data: public data are missing: {lacking}")
    if stage := config.getoption("--stage"):
        file = ROOT / "build" / "times" / f"{stage}.json"
        config.pluginmanager.register(StageTimes(config, file))


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that read public data, and skip them where these are not here."""
    folder = _data_folder()
    known: dict[frozenset[str], str] = {}
    for item in items:
        asked = frozenset(
            {"given_data", "antique_dev", "papers"} & set(getattr(item, "fixturenames", ()))
        )
        if asked:
            item.add_marker("needs_data")
        elif item.get_closest_marker("needs_data") is None:
            continue
        if asked not in known:
            known[asked] = _lacking(folder, set(asked))
        if known[asked]:
            item.add_marker(pytest.mark.skip(reason=WHY + known[asked]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line about the tests that had no data: how many, why, and what runs them."""
    reasons: list[str] = []
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        if WHY in reason:
            reasons.append(reason.partition(WHY)[2])
    if reasons:
        terminalreporter.write_line(
            f"{len(reasons)} tests skipped, for they read public data "
            f"({'; '.join(dict.fromkeys(reasons))}). To run them: {FETCHING}",
            yellow=True,
        )


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def example() -> Path:
    """The bundled example."""
    return ROOT / "examples" / "answers.jsonl"


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Debian's Chromium, or of another; `make joints` installs it."""
    found = os.environ.get("MARKSCHEME_CHROMIUM") or shutil.which("chromium")
    if found is None:
        pytest.fail("no chromium; install it or set MARKSCHEME_CHROMIUM to its path")
    return found


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder of invented rows in the shape of the public ones (`made_data`)."""
    return made_data.write(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="session")
def given_data() -> Path:
    """The folder with public data as it is; tests that want figures ask for `data_dir`."""
    folder = _data_folder()
    assert folder is not None
    return folder


@pytest.fixture(scope="session")
def data_dir(given_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The public data that figures were computed from, by links: what a fetch adds is left out."""
    from markscheme_research.datasets import dataset, find

    view = tmp_path_factory.mktemp("data")
    for name in DATASETS:
        local = find(dataset(name), given_data)
        for file, path in (local.files if local else {}).items():
            link = view / dataset(name).folders[0] / file
            if file not in NEVER_HELD:
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path.resolve())
    antique = find(dataset("antique"), given_data)
    if antique and "ANTIQUE-dev.json" not in antique.files:
        made_data.write_antique_half(antique.path("ANTIQUE.json"), view / "linkage")
    return view


@pytest.fixture(scope="session")
def antique_dev(data_dir: Path) -> Path:
    """The data, with the half of ANTIQUE that was set aside for development."""
    return data_dir


@pytest.fixture(scope="session")
def papers(given_data: Path) -> Path:
    """The folder with the papers' texts."""
    return given_data.parent / "papers"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command line and return what it printed; it must end with the code asked for."""

    def call(*arguments: str, code: int = 0) -> str:
        from markscheme.cli import run

        ended = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert ended == code, err
        return out if code == 0 else err

    return call
