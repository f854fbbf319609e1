"""Sixty hard answers in a browser: three widths, two themes, print; nothing overflows or runs."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import markscheme
from answer_gallery import GALLERY
from axe_check import violations
from markscheme.reports import report
from markscheme.text import csv_cell

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.proof(area="browser")

WIDER = """() => [...document.querySelectorAll("body *")].filter((one) => {
  const box = one.getBoundingClientRect();
  const scrolls = ".wide, .formula, .full, .table, svg, .off-screen, .clip-box";
  return box.width && box.right > innerWidth + 1 && !one.closest(scrolls);
}).map((one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`).slice(0, 5)"""


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        {"id": name, "question": f"How is this shown: {name}?", "references": ["Paris", "4 apples"],
         "answer": text, "system": ("first", "second")[place % 2], "label": place % 3 % 2}
        for place, (name, text, _) in enumerate(GALLERY)
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("gallery")
    markscheme.judge(rows, ["exact_match", "token_f1"], out=folder / "run")
    return report(folder / "run").path


@pytest.fixture(scope="module")
def example_report(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(run_folder, tmp_path_factory.mktemp("example") / "report.html").path


def opened(browser: Browser, path: Path, **options: Any) -> tuple[Page, list[str]]:
    page = browser.new_page(**options)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(path.as_uri() + "#size=100&sort=row")
    page.wait_for_selector("html[data-ready]")
    return page, said


def fits(page: Page, width: int) -> None:
    """Nothing is wider than the window but what scrolls in a box of its own."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(WIDER) == []


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_answer_fits_and_none_runs(
    browser: Browser, gallery: Path, tmp_path: Path, width: int, scheme: str
) -> None:
    look = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    page, said = opened(browser, gallery, **look)
    page.evaluate("document.querySelectorAll('.toggle').forEach((one) => one.click())")
    shots = Path(os.environ.get("MARKSCHEME_SCREENSHOTS", tmp_path))
    page.screenshot(path=shots / f"gallery-{width}-{scheme}.png", full_page=True)
    fits(page, width)
    assert page.title() == "run · markscheme report"
    assert not said
    if width != 768:  # Half a minute for sixty open rows; between the two nothing else is shown.
        assert violations(page) == []
    page.keyboard.press("r")
    assert page.locator(".answer-text table").count() == 0, "raw texts have no tables"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_a_printed_page_cuts_nothing_off(browser: Browser, gallery: Path, tmp_path: Path) -> None:
    page, said = opened(browser, gallery, viewport={"width": 720, "height": 1000})
    page.emulate_media(media="print")
    fits(page, 720)
    page.screenshot(
        path=Path(os.environ.get("MARKSCHEME_SCREENSHOTS", tmp_path)) / "gallery-print.png"
    )
    assert page.locator("#filters").is_hidden()
    assert not said
    page.close()


def test_a_printed_report_has_its_numbers_and_says_which_answers_it_has(
    browser: Browser, example_report: Path
) -> None:
    page, _ = opened(browser, example_report, viewport={"width": 720, "height": 1000})
    numbers = page.locator("#section-verdicts details table")
    assert not numbers.evaluate("one => one.checkVisibility()")
    page.emulate_media(media="print")
    assert numbers.evaluate("one => one.checkVisibility()"), "folded figures are unfolded"
    assert "printed here: 1 to 100" in page.inner_text(".count")
    assert page.locator(".keys").is_hidden()
    page.close()


def test_on_a_phone_every_figure_of_the_first_table_is_seen(
    browser: Browser, example_report: Path
) -> None:
    page, _ = opened(browser, example_report, viewport={"width": 390, "height": 844})
    box = page.locator(".lead .wide")
    assert box.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    page.close()


def test_a_click_anywhere_on_a_row_opens_it_and_keys_do_too(
    browser: Browser, gallery: Path
) -> None:
    page, _ = opened(browser, gallery, viewport={"width": 1280, "height": 900})
    page.locator("tr.answer td.q").first.click()
    assert page.locator("tr.more").count() == 1
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    assert page.locator("tr.more").count() == 2
    page.locator("tr.answer td.q").first.click()
    assert page.locator("tr.more").count() == 1
    page.close()


def test_systems_are_set_side_by_side_and_rows_are_saved(browser: Browser, gallery: Path) -> None:
    page, _ = opened(browser, gallery, viewport={"width": 1280, "height": 900})
    page.get_by_role("button", name="Questions by system").click()
    assert "questions" in page.inner_text("#count")
    page.locator(".go").first.click()
    assert page.inner_text("#count").startswith("1 of 60")
    with page.expect_download() as download:
        page.click("#save-csv")
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("answer_id,question,references,answer,system,label")
    page.close()


def test_saved_rows_are_read_back_as_they_were(browser: Browser, tmp_path: Path) -> None:
    """A negative number, a list, a quoted formula and a formula."""
    texts = ["-5", "- one\n- two", "'=x", "=1+1", "@you", "+49 30 1234"]
    rows = [
        {"id": f"a{place}", "question": "What is it?", "references": ["-5"], "answer": text}
        for place, text in enumerate(texts)
    ]
    markscheme.judge(rows, ["exact_match"], out=tmp_path / "run")
    page, _ = opened(browser, report(tmp_path / "run").path)
    with page.expect_download() as download:
        page.click("#save-csv")
    saved = tmp_path / "answers.csv"
    download.value.save_as(saved)
    page.close()
    with saved.open(encoding="utf-8", newline="") as lines:
        cells = [row["answer"] for row in csv.DictReader(lines)]
    assert cells == [csv_cell(text) for text in texts]
    again = markscheme.judge(saved, ["exact_match"], out=tmp_path / "again")
    assert again.answers["answer"].to_list() == texts
    assert again.judgments["verdict"].to_list() == [True, *[False] * 5]


def test_figures_without_answers_fit_and_need_no_script(
    browser: Browser, run_folder: Path, tmp_path: Path
) -> None:
    path = report(run_folder, tmp_path / "figures.html", without_answers=True).path
    for width in (360, 1280):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(path.as_uri())
        fits(page, width)
        if width == 1280:
            box = page.locator(".lead .wide")
            assert box.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
        assert violations(page) == []
        page.close()
