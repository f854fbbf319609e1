"""Runs for reports: the bundled example, and answers that try to break the page."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import markscheme
from markscheme.reports.html import report_html
from markscheme.reports.material import Material, read_material
from markscheme.reports.section import Section
from markscheme.reports.sections.order import sections

HOSTILE = (
    "<script>document.title = 'broken'</script>",
    '"><img src=x onerror="document.title=\'broken\'">',
    "</script><script>document.title = 'broken'</script>",
    "line\u2028separator\u2029and {{ 7 * 7 }} {% raw %} &amp; 𝔘nicode",
    "javascript:document.title='broken'",
    "control \x07\x0b\x1f characters",
)


@pytest.fixture(scope="session")
def hostile_texts() -> tuple[str, ...]:
    """Texts that would run, or show something else, if a page took them for code."""
    return HOSTILE


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory, example: Path) -> Path:
    """The bundled example, judged by four judges."""
    folder = tmp_path_factory.mktemp("runs") / "example"
    names = ["exact_match", "contains", "token_f1", "examiner"]
    markscheme.judge(example, names, out=folder)
    return folder


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory, example: Path) -> Path:
    """The first 24 answers of the example, judged by two judges."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    rows = pl.read_ndjson(example).head(24)
    markscheme.judge(rows, ["contains", "examiner"], out=folder)
    return folder


@pytest.fixture(scope="session")
def material(run_folder: Path) -> Material:
    """What a report of the bundled example is made of, computed once."""
    return read_material(run_folder)


@pytest.fixture(scope="session")
def shown(material: Material) -> list[Section]:
    """Its sections."""
    return sections(material)


@pytest.fixture(scope="session")
def text(small_run: Path) -> str:
    """The page of a small run."""
    return report_html(read_material(small_run))


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every text of every column tries to be code."""
    folder = tmp_path_factory.mktemp("runs") / "hostile"
    rows = [
        {"id": text, "question": text, "references": [text, "Paris"], "answer": text + " Paris",
         "system": text, "label": place % 2, "context": text}
        for place, text in enumerate(HOSTILE)
    ]  # fmt: skip
    markscheme.judge(rows, ["exact_match", "contains", "token_f1"], out=folder)
    return folder


@pytest.fixture
def answers() -> pl.DataFrame:
    """Three answers, one of them missing."""
    return pl.DataFrame(
        {
            "question": ["Who wrote Emma?", "When?", "Where?"],
            "references": [["Jane Austen"], ["in 1815"], ["Zürich"]],
            "answer": ["It was Jane Austen, née Austen.", None, "𝔘 near Zurich"],
        }
    )
