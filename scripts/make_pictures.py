"""Make the documentation's pictures anew: the report, the viewer and labelling.

    python scripts/make_pictures.py docs/pictures

`report.json` has the figures that `report.png` shows; a test compares them with a report made now.

Needs Chromium (MARKSCHEME_CHROMIUM, or on the path) and the package playwright.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[1] / "examples" / "answers.jsonl"
JUDGES = ("exact_match", "contains", "examiner")
LOOK = {"viewport": {"width": 1200, "height": 800}}


def markscheme(*arguments: str) -> None:
    """Run a command to its end."""
    subprocess.run([sys.executable, "-m", "markscheme", *arguments], check=True)


@contextmanager
def served(*arguments: str, cwd: Path | None = None) -> Iterator[str]:
    """A command that serves; what it printed until it named the address."""
    with tempfile.TemporaryFile("w+") as log:
        command = [sys.executable, "-m", "markscheme", *arguments, "--port", "0"]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=cwd)
        try:
            for _ in range(600):
                time.sleep(0.2)
                log.seek(0)
                said = log.read()
                if "serving on" in said:
                    break
                if process.poll() is not None:
                    raise SystemExit(f"{' '.join(command)} ended:\n{said}")
            yield said
        finally:
            process.terminate()
            process.wait()


def example_report(run: Path) -> str:
    """Judge the example into a folder, and write its report; the HTML."""
    judges = [part for name in JUDGES for part in ("-j", name)]
    markscheme("judge", str(EXAMPLE), *judges, "-o", str(run), "-q")
    markscheme("report", str(run))
    return (run / "report.html").read_text("utf-8")


def shown_figures(html: str) -> dict[str, Any]:
    """What the first table of a report shows: its caption, and the cells by system and judge."""
    table = html[html.index("<caption>") : html.index("</table>")]
    caption, *rows = table.split("<tr>")
    names, *cells = (
        [re.sub("<[^<>]*>", "", cell) for cell in re.findall("<t[hd][ >].*?</t[hd]>", row)]
        for row in rows
    )
    return {
        "caption": re.findall("<caption>(.*?)</caption>", caption)[0],
        "figures": {row[0]: dict(zip(names[1:], row[1:], strict=True)) for row in cells},
    }


def labelling(page: Any, place: Path, shot: Callable[[Any, str], None]) -> None:
    """An item, and the review desk."""
    labels = str(place / "labels.sqlite")
    with served("annotate", str(EXAMPLE), "--project", labels, "--annotator", "Ann") as said:
        link = re.search(r"Ann\s+annotator\s+(\S+)", said)
        assert link
        page.goto(link[1])
        page.wait_for_selector("#answer")
        shot(page, "annotate")
    review(page, place, shot)


def review(page: Any, place: Path, shot: Callable[[Any, str], None]) -> None:
    """The review desk with disagreements, and one of them; two people have labelled."""
    people = {"Ann": "112112", "Ben": "212111"}
    options = ["--project", str(place / "review.sqlite"), "--order", "file"]
    for name in people:
        options += ["--annotator", name]
    with served("annotate", str(EXAMPLE), *options) as said:
        links = dict(re.findall(r"(\w+)\s+(?:annotator|admin)\s+(http\S+)", said))
        for name, keys in people.items():
            worker = page.context.browser.new_context().new_page()
            worker.goto(links[name])
            worker.wait_for_selector("#answer")
            for key in keys:
                worker.wait_for_timeout(700)  # The app takes no second key press before.
                worker.keyboard.press(key)
            worker.wait_for_timeout(700)
            worker.context.close()
        page.goto(links["admin"])
        page.wait_for_url(re.compile("/admin$"))
        page.get_by_role("link", name="Items").click()
        page.wait_for_selector("tbody a")
        page.set_viewport_size({"width": 1200, "height": 560})
        shot(page, "annotate-review")
        page.locator("tbody a").first.click()
        page.wait_for_selector("text=Settle as")
        page.set_viewport_size({"width": 1200, "height": 760})
        shot(page, "annotate-item")
        page.set_viewport_size(LOOK["viewport"])
        page.context.clear_cookies()


def main(folder: Path) -> None:
    """Write the pictures."""
    from playwright.sync_api import Page, sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("MARKSCHEME_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        runs = Path(place) / "runs"
        figures = shown_figures(example_report(runs / "example"))
        (folder / "report.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
        second = str(runs / "with-token-f1")
        markscheme("judge", str(EXAMPLE), "-j", "token_f1", "-j", "examiner", "-o", second, "-q")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])

        def shot(page: Page, name: str) -> None:
            page.wait_for_timeout(400)
            page.screenshot(path=folder / f"{name}.png")

        page = browser.new_page(**LOOK)
        page.goto((runs / "example" / "report.html").as_uri())
        page.wait_for_selector("html[data-ready]")
        shot(page, "report")
        page.locator("tr.answer td.q").nth(1).click()
        page.locator("tr.answer").nth(1).scroll_into_view_if_needed()
        shot(page, "report-why")
        with served("view", "runs", "--no-browser", cwd=Path(place)) as said:
            found = re.search(r"http\S+token=\S+", said)
            assert found
            page.goto(found[0])
            page.set_viewport_size({"width": 1200, "height": 560})
            shot(page, "view")
            page.set_viewport_size(LOOK["viewport"])
        labelling(page, Path(place), shot)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures"))
