"""The rules of axe-core on a page of a browser."""

from __future__ import annotations

import importlib.resources
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOUND = """() => axe.run(document, { resultTypes: ["violations"] }).then((one) =>
  one.violations.map((each) => `${each.id}: ${each.nodes.slice(0, 3)
    .map((node) => node.html.slice(0, 120)).join(" | ")}`))"""


def axe_script() -> str:
    """axe-core as a text, of MARKSCHEME_AXE or of the package axe-playwright-python."""
    given = os.environ.get("MARKSCHEME_AXE")
    if given:
        return Path(given).read_text(encoding="utf-8")
    file = importlib.resources.files("axe_playwright_python") / "axe.min.js"
    return file.read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """Rules that the page breaks, with the first elements that do."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(axe_script())
    found: list[str] = page.evaluate(FOUND)
    return found
