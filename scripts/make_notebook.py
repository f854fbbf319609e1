"""Executes examples/walkthrough.ipynb in place, and renders it as docs/notebook.md.

python scripts/make_notebook.py [--check]    needs markscheme[report,pandas], ipykernel and nbclient

`--check` writes nothing, and fails where the page is not what the committed notebook gives.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "examples" / "walkthrough.ipynb"
PAGE = ROOT / "docs" / "notebook.md"
FRAME = re.compile(r'<style>.*?</style>\s*<table border="1" class="dataframe">', re.DOTALL)
PICTURES = ROOT / "docs" / "pictures"


def execute(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Run all cells in a folder; an error in one is raised."""
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times, which change with every run
    return notebook


def page(notebook: nbformat.NotebookNode) -> tuple[str, dict[str, str]]:
    """The notebook as a page, and its pictures by file name."""
    lines: list[str] = []
    pictures: dict[str, str] = {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            lines += [cell.source, ""]
            continue
        # Not "python": the notebook's own test runs the cells.
        lines += ["```py", cell.source, "```", ""]
        for output in cell.outputs:
            if output.output_type == "stream":
                lines += ["```text", output.text.rstrip(), "```", ""]
                continue
            data = output.get("data", {})
            if "image/svg+xml" in data:
                name = f"notebook-{len(pictures) + 1}.svg"
                pictures[name] = data["image/svg+xml"]
                lines += [f"![chart](pictures/{name})", ""]
            elif "text/html" in data:
                html = FRAME.sub("<table>", data["text/html"])
                lines += ['<div class="notebook-output">', html, "</div>", ""]
            elif "text/plain" in data:
                lines += ["```text", data["text/plain"], "```", ""]
    return "\n".join(lines).rstrip() + "\n", pictures


def main() -> None:
    """Execute and render, or check."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    if "--check" in sys.argv:
        if page(notebook)[0] != PAGE.read_text("utf-8"):
            sys.exit(f"{PAGE} is not what {NOTEBOOK} gives: python scripts/make_notebook.py")
        return
    nbformat.write(execute(notebook, NOTEBOOK.parent), NOTEBOOK)
    text, pictures = page(notebook)
    PAGE.write_text(text, "utf-8")
    for name, svg in pictures.items():
        (PICTURES / name).write_text(svg, "utf-8")


if __name__ == "__main__":
    main()
