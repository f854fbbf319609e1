"""Five tasks of somebody who sees the workbench for the first time, by clicks.

Screenshots go to the folder MARKSCHEME_SCREENSHOTS, or else to the test's own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import markscheme
from markscheme.view import RunLabels, make_app

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.proof(area="browser")

CITIES = ("Paris", "Lima", "Oslo", "Rome", "Cairo", "Quito", "Hanoi", "Dakar", "Minsk", "Sofia")


def made_answers() -> list[dict[str, Any]]:
    """Two systems on 60 questions: `good` is right on most, `poor` on half; some say it at length,
    so that judges differ."""
    rows = []
    for n in range(60):
        city, other = CITIES[n % 10], CITIES[(n + 3) % 10]
        said = {"good": city if n % 10 else other, "poor": city if n % 2 else other}
        for system, name in said.items():
            text = f"I think it is {name}, though some say {city}." if n % 3 == 0 else name
            rows.append(
                {"id": f"{system}-{n}", "question": f"What is the capital of state {n}?",
                 "references": [city], "answer": text, "system": system}
            )  # fmt: skip
    return rows


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The viewer in a thread; its address with the token."""
    import uvicorn

    from markscheme.web import take_port

    app = make_app(folder, token="newcomer", form="form")
    socket = take_port("127.0.0.1", 0)
    port = socket.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{port}/?token=newcomer"
    server.should_exit = True
    thread.join(10)


def test_a_comment_keeps_the_runs_label_and_patterns_have_no_explanation(
    chromium: str, tmp_path: Path
) -> None:
    from playwright.sync_api import sync_playwright

    row = {"question": "When did it open?", "answer": "In 1975.", "system": "one", "label": 1}
    rows = [
        {**row, "id": "text", "references": ["1975"]},
        {**row, "id": "pattern", "references": [r"\b1975\b"], "reference_kind": "regex"},
    ]
    runs = tmp_path / "runs"
    markscheme.judge(rows, ["exact_match", "regex"], out=runs / "opened")
    kept = RunLabels(runs / "opened")
    with served(runs) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(address)
        page.get_by_role("link", name="opened").click()
        page.wait_for_selector("html[data-ready]")
        for line in page.locator("tr.answer td.q").all():
            line.click()
        assert page.get_by_role("button", name="What decided").count() == 1

        def comment(text: str) -> None:
            page.get_by_label("Comment").first.fill(text)
            with page.expect_response(lambda one: one.url.endswith("/label")):
                page.get_by_label("Comment").first.press("Tab")

        comment("odd")
        assert [(one.label, one.comment) for one in kept.all().values()] == [(None, "odd")]
        assert page.locator("td[data-label=people] .yes").count() == 2
        assert page.locator("#given").inner_text() == ""
        page.get_by_role("button", name="✗ wrong").first.click()
        page.wait_for_selector("#given h3")
        comment("wrong")
        assert [(one.label, one.comment) for one in kept.all().values()] == [(0, "wrong")]
        browser.close()


class Tasks:
    """Keeps a picture of each task's end."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.folder, self.done = page, folder, 0

    @contextmanager
    def task(self, name: str) -> Iterator[None]:
        yield
        self.done += 1
        self.page.screenshot(path=self.folder / f"newcomer-{self.done}-{name}.png")


def test_a_newcomer_does_five_tasks_by_clicks(chromium: str, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    shots = Path(os.environ.get("MARKSCHEME_SCREENSHOTS", tmp_path / "shots"))
    shots.mkdir(exist_ok=True)
    runs = tmp_path / "runs"
    markscheme.judge(made_answers(), ["exact_match", "contains", "examiner"], out=runs / "capitals")
    markscheme.explain("Where?", ["Paris"], "Rome")  # Weights are loaded before anybody waits.
    with served(runs) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        troubles: list[str] = []
        page.on("pageerror", lambda error: troubles.append(str(error)))
        tasks = Tasks(page, shots)

        with tasks.task("which-is-better"):
            page.goto(address)
            page.get_by_role("link", name="capitals").click()
            page.wait_for_selector("html[data-ready]")
            page.get_by_label("System that is right").select_option("good")
            page.get_by_label("System that is wrong").select_option("poor")
            page.get_by_label("By whose word").select_option("contains")
            said = page.inner_text("#duel")
            assert "good right and poor wrong: " in said
            assert "More than luck" in said

        with tasks.task("right-and-wrong"):
            assert page.inner_text("#count").split()[0].isdigit()
            rows = page.locator("tr.answer")
            assert {row.split("-")[0] for row in page.locator("td.s").all_inner_texts()} == {
                "good", "poor"
            }  # fmt: skip
            rows.first.locator("td.q").click()
            assert page.locator("tr.more").count() == 1

        with tasks.task("why"):
            assert page.locator("tr.more .why .reference").count() == 1
            page.get_by_role("button", name="What decided").click()
            page.wait_for_selector(".explained .effects li")

        with tasks.task("label-ten"):
            page.get_by_role("button", name="Clear filters").click()
            page.locator("#filter-agreement").select_option("judges")
            disputed = page.locator("tr.answer")
            assert disputed.count() >= 10
            for n in range(10):
                if page.locator("tr.more").count():
                    page.locator("tr.answer.open td.q").first.click()
                line = disputed.nth(n)
                text = line.locator("td.a").inner_text()
                right = "I think it is" not in text or text.count(text.split("it is ")[1][:4]) > 1
                line.locator("td.q").click()
                name = "✓ right" if right else "✗ wrong"
                page.locator("tr.more").get_by_role("button", name=name).click()
                plural = "" if n == 0 else "s"
                page.wait_for_function(
                    "text => document.querySelector('#given').textContent.startsWith(text)",
                    arg=f"{n + 1} verdict{plural} given here",
                )
            given = page.inner_text("#given")
            assert "contains" in given
            assert "10 verdicts given here" in given
            page.get_by_role("link", name="load them again").click()
            page.wait_for_selector("html[data-ready]")
            assert "10 labels" in page.inner_text(".facts")

        with tasks.task("share"):
            with page.expect_download() as download:
                page.get_by_role("link", name="Save as a file to share").click()
            shared = tmp_path / download.value.suggested_filename
            download.value.save_as(shared)
            assert shared.name == "capitals.html"
            page.goto(shared.as_uri())
            page.wait_for_selector("html[data-ready]")
            assert "10 labels" in page.inner_text(".facts")
            assert page.locator("#given").count() == 0
        browser.close()
    assert not troubles
