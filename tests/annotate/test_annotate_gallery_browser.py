"""Sixty hard answers, long words and right-to-left texts in the labelling app, in a real browser.

Screenshots are kept in the folder MARKSCHEME_SCREENSHOTS, or else in the test's own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotate_helpers import Server, server, write_rows
from answer_gallery import GALLERY
from axe_check import violations

pytestmark = pytest.mark.proof(area="browser")

ARABIC = "عاصمة فرنسا هي باريس (Paris)، وعدد سكانها 2,102,650 نسمة."
LONG = "x" * 2_000
WIDER = """() => [...document.querySelectorAll("body *")].filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width && box.right > innerWidth + 1 && one.checkVisibility()
    && !one.closest(".wide, .formula, .table-box, pre, .off-screen, .answer-text table");
}).map((one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`).slice(0, 5)"""


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield found
        found.close()


def entered(browser: Any, running: Server, **look: Any) -> tuple[Any, list[str]]:
    """Ann's page, and whatever the page complained of or asked."""
    page = browser.new_context(**look).new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(running.links["Ann"])
    page.wait_for_url(re.compile(r"/$"))
    page.wait_for_selector("#answer")
    return page, said


def say(page: Any, key: str) -> None:
    """Answer as a person does, and wait for the next item."""
    page.wait_for_timeout(350)
    before = page.get_attribute("#undo input[name=submission]", "value")
    page.keyboard.press(key)
    page.wait_for_function(
        "before => document.querySelector('#undo input[name=submission]')?.value !== before",
        arg=before,
    )


def fits(page: Any, width: int) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(WIDER) == []


def test_sixty_hard_answers_fit_three_widths_and_two_themes_and_none_runs(
    browser: Any, tmp_path: Path
) -> None:
    shots = Path(os.environ.get("MARKSCHEME_SCREENSHOTS", tmp_path))
    rows = [
        {"id": name, "question": f"How are these shown, {place // 20}?", "references": ["Paris"],
         "answer": text, "system": f"system {place % 20}"}
        for place, (name, text, _) in enumerate(GALLERY)
    ]  # fmt: skip
    file = write_rows(tmp_path / "a.jsonl", rows)
    options = ("--scale", "rank", "--per-item", "1", "--order", "file", "-a", "Ann")
    with server(file, "--project", str(tmp_path / "r.sqlite"), *options, log=tmp_path / "l") as run:
        page, said = entered(browser, run)
        shown = 0
        for part in range(3):
            shown += page.locator(".ranked > li").count()
            for width in (360, 768, 1280):
                page.set_viewport_size({"width": width, "height": 900})
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme=scheme)
                    fits(page, width)
                    page.screenshot(path=shots / f"labelling-{part}-{width}-{scheme}.png")
                assert violations(page) == []
            page.keyboard.press("0")
            page.wait_for_timeout(100)
            fits(page, 1280)
            page.keyboard.press("0")
            page.locator("[data-place]").first.evaluate("one => one.scrollIntoView()")
            if part < 2:
                page.wait_for_timeout(350)
                for box in page.query_selector_all("[data-place]"):
                    page.keyboard.press(box.get_attribute("data-key"))
                # The last one has its place already; its key does not take it out again.
                assert "is number 20" in page.inner_text("#status")
                say(page, "Enter")
        assert shown == len(GALLERY)
        assert "owned" not in page.title()
        assert not said


@pytest.mark.parametrize("width", [360, 1280])
def test_long_words_and_two_directions_fit_and_the_choice_stays_on_short_screens(
    browser: Any, tmp_path: Path, width: int
) -> None:
    shots = Path(os.environ.get("MARKSCHEME_SCREENSHOTS", tmp_path))
    rows = [
        {"question": f"{LONG}?", "references": [LONG, ARABIC], "answer": LONG, "system": "s"},
        {"question": "ما هي عاصمة فرنسا؟", "references": ["باريس", "Paris"],
         "answer": f"{ARABIC}\n\nIt is Paris.\n\n" + "More words follow. " * 200, "system": "s"},
    ]  # fmt: skip
    file = write_rows(tmp_path / "a.jsonl", rows)
    options = ("--references", "shown", "--per-item", "1", "--order", "file", "-a", "Ann")
    with server(file, "--project", str(tmp_path / "v.sqlite"), *options, log=tmp_path / "l") as run:
        page, said = entered(browser, run, viewport={"width": width, "height": 420})
        for part in range(2):
            fits(page, width)
            for place in ("0", "document.body.scrollHeight / 2", "document.body.scrollHeight"):
                page.evaluate(f"scrollTo(0, {place})")
                for button in page.locator("#answer button[name=say]").all():
                    box = button.bounding_box()
                    assert box["y"] >= 0
                    assert box["y"] + box["height"] <= 420, "every choice is on the screen"
            page.screenshot(path=shots / f"labelling-short-{width}-{part}.png")
            if part == 0:
                say(page, "1")
        directions = page.evaluate(
            "[...document.querySelectorAll('h1, .references li, .answer-text > *')]"
            ".map((one) => getComputedStyle(one).direction)"
        )
        assert {"rtl", "ltr"} == set(directions), "each text in its own direction"
        first = page.locator(".answer-text > *").first
        assert first.evaluate("one => getComputedStyle(one).direction") == "rtl"
        assert not said
