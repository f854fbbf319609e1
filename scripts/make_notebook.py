"""Executes examples/walkthrough.ipynb in place.

python scripts/make_notebook.py    needs markscheme[report,pandas], ipykernel and nbclient
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "examples" / "walkthrough.ipynb"


def execute(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Run all cells in a folder; an error in one is raised."""
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times, which change with every run
    return notebook


if __name__ == "__main__":
    nbformat.write(execute(nbformat.read(NOTEBOOK, as_version=4), NOTEBOOK.parent), NOTEBOOK)
