"""The notebook in `examples/` runs, and shows what the committed one shows."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.proof(area="harnesses")

ROOT = Path(__file__).parents[2]


def test_the_notebook_runs_and_shows_what_is_committed(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    spec = importlib.util.spec_from_file_location(
        "make_notebook", ROOT / "scripts" / "make_notebook.py"
    )
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    committed = nbformat.read(script.NOTEBOOK, as_version=4)
    shutil.copy(ROOT / "examples" / "answers.jsonl", tmp_path)
    before = [kinds(cell) for cell in committed.cells if cell.cell_type == "code"]
    done = script.execute(committed, tmp_path)
    # Figures change with the examiner; what is shown, table, picture or text, does not.
    assert [kinds(cell) for cell in done.cells if cell.cell_type == "code"] == before
    assert sum("text/html" in kinds for kinds in before) >= 5
    assert any("image/svg+xml" in kinds for kinds in before)


def kinds(cell: object) -> list[str]:
    """What a cell shows: kinds of output; one of `stream` would be a warning."""
    return [
        kind
        for output in cell.outputs  # type: ignore[attr-defined]
        for kind in sorted(output.get("data", {output.output_type: ""}))
    ]
