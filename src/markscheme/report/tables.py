"""A report's tables as files for papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markscheme.report.section import Section
from markscheme.tables import replace_file


def write_tables(sections: Sequence[Section], folder: str | Path) -> list[Path]:
    """Write every section's numbers as LaTeX and as Markdown, named by the section's key."""
    target = Path(folder)
    written = []
    for section in sections:
        for suffix, text in ((".tex", section.table.latex()), (".md", section.table.markdown())):
            path = target / f"{section.key}{suffix}"
            replace_file(path, text.encode())
            written.append(path)
    return written
