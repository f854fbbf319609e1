"""axe-core finds nothing, and Tab reaches all, on every page and state of the workbench."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

import markscheme
from axe_check import violations
from keyboard_check import unreachable
from markscheme.view import make_app
from markscheme.web import take_port

pytestmark = pytest.mark.proof(area="browser")

SAID = ("**Paris**, 12 km", "# Rome\n\n- a\n- b", "It is 13 km away", "$x^2$")
ROWS = [
    {"id": f"{system}-{n}", "question": f"What is the capital of state {n}?",
     "references": ["Paris", "It is 12 km away"], "system": system,
     "answer": SAID[(n + at) % 4]}
    for at, system in enumerate(("one", "two", "three", "four"))
    for n in range(4)
]  # fmt: skip


@contextmanager
def printed(folder: Path, *arguments: str) -> Iterator[str]:
    """A command that serves; what it printed until it said where."""
    log = folder / f"{arguments[0]}.log"
    command = [sys.executable, "-m", "markscheme", *arguments, "--port", "0"]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream)
    try:
        for _ in range(600):
            if "serving on" in log.read_text():
                break
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        yield log.read_text()
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows in a file, and a run of them."""
    made = tmp_path_factory.mktemp("axe")
    (made / "rows.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in ROWS))
    for name in ("first", "second"):
        markscheme.judge(ROWS, ["exact_match", "token_f1"], out=made / "runs" / name)
    return made


def checked(page: Any, state: str, faults: dict[str, list[str]]) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = violations(page)
        if found:
            faults[f"{state}, {scheme}"] = found
    page.emulate_media(color_scheme="light")
    if unreached := unreachable(page):
        faults[f"{state}, keyboard"] = unreached


def press(page: Any, key: str) -> None:
    """Answer as a person does: not within the moment in which the app takes no second key press."""
    page.wait_for_timeout(500)
    page.keyboard.press(key)


def enter(browser: Any, said: str, name: str) -> Any:
    page = browser.new_context(viewport={"width": 1100, "height": 800}).new_page()
    link = re.search(rf"^\s+{name}\s+\w+\s+(http\S+)$", said, re.MULTILINE)
    assert link, said
    page.goto(link[1])
    page.wait_for_url(re.compile(r"/(admin)?$"))
    return page


def test_the_walk_finds_what_the_keyboard_cannot_reach_or_does_not_show(browser: Any) -> None:
    page = browser.new_page()
    page.set_content(
        """<a href="#a">fine</a><button id="plain" style="outline: none">no outline</button>
        <input id="trap" onkeydown="event.key === 'Tab' && event.preventDefault()">
        <button>after</button>"""
    )
    faults = unreachable(page)
    page.close()
    assert len(faults) == 2
    assert "shows no focus" in faults[0]
    assert 'id="plain"' in faults[0]
    assert faults[1].startswith("not reached by Tab")
    assert faults[1].endswith(">after</button>")


def test_labelling_in_every_state(browser: Any, folder: Path) -> None:
    faults: dict[str, list[str]] = {}
    options = ("--project", str(folder / "l.sqlite"), "-a", "Ann", "-a", "Ben")
    options += ("--suggest", str(folder / "runs" / "first"), "--judge", "exact_match")
    with printed(folder, "annotate", str(folder / "rows.jsonl"), *options) as said:
        ann = enter(browser, said, "Ann")
        checked(ann, "item", faults)
        ann.keyboard.press(" ")
        ann.keyboard.press("n")
        checked(ann, "references and note", faults)
        ann.keyboard.press("Escape")
        for key in ("?", "g"):
            ann.keyboard.press(key)
            checked(ann, f"dialog {key}", faults)
            ann.keyboard.press("Escape")
        press(ann, "1")
        ann.wait_for_selector(".banner")
        checked(ann, "suggestion", faults)
        press(ann, "Enter")
        ann.wait_for_selector(".banner", state="detached")
        address = ann.url
        ann.goto(f"{address}mine")
        checked(ann, "own answers", faults)
        ann.click("tbody a, main a[href^='/mine/']")
        checked(ann, "edit", faults)
        admin = enter(browser, said, "admin")
        admin.wait_for_selector("#estimate .hint")
        admin.wait_for_selector("text=One by one")
        checked(admin, "admin", faults)
        for stage in ("open", "disagreed", "all"):
            admin.goto(f"{address}admin/items?stage={stage}")
            checked(admin, f"items {stage}", faults)
        admin.click("tbody a")
        checked(admin, "one item", faults)
        ann.context.clear_cookies()
        ann.goto(f"{address}enter")
        checked(ann, "door", faults)
    ranks = ("--project", str(folder / "r.sqlite"), "-a", "Ann", "--scale", "rank")
    with printed(folder, "annotate", str(folder / "rows.jsonl"), *ranks, "--per-item", "1") as said:
        ann = enter(browser, said, "Ann")
        checked(ann, "ranking", faults)
    assert not faults


def test_the_viewer_in_every_state(browser: Any, folder: Path) -> None:
    import uvicorn

    faults: dict[str, list[str]] = {}
    socket = take_port("127.0.0.1", 0)
    app = make_app(folder / "runs", token="axe", form="form")
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{socket.getsockname()[1]}"
    page = browser.new_page(viewport={"width": 1100, "height": 800})
    page.set_default_timeout(240_000)  # The first report of a run takes a while to draw.
    page.goto(f"{address}/?token=axe")
    checked(page, "index", faults)
    page.set_viewport_size({"width": 390, "height": 844})
    checked(page, "index on a phone", faults)
    names = page.locator("table.runs tbody th").all()
    heights = [(one.bounding_box() or {})["height"] for one in names]
    assert max(heights) < 60, "a run's name is a line, not a column of letters"
    page.set_viewport_size({"width": 1100, "height": 800})
    page.goto(f"{address}/runs/first")
    page.wait_for_selector("html[data-ready]")
    page.wait_for_selector("html[data-figures]", state="attached")
    page.locator("tr.answer td.q").first.click()
    page.get_by_role("button", name="What decided").click()
    page.wait_for_selector(".explained em, .explained ul", timeout=120_000)
    page.get_by_role("button", name="✓ right").click()
    page.wait_for_selector("#given h3")
    page.locator("#trial summary").click()
    checked(page, "run", faults)
    page.get_by_role("button", name="Questions by system").click()
    checked(page, "questions", faults)
    page.goto(f"{address}/compare?run=first&with=second")
    page.wait_for_selector("html[data-ready]")
    checked(page, "two runs", faults)
    server.should_exit = True
    thread.join(10)
    assert not faults


def test_the_services_pages(browser: Any, folder: Path) -> None:
    faults: dict[str, list[str]] = {}
    with printed(folder, "serve", "--jobs", str(folder / "jobs")) as said:
        address = re.search(r"serving on (http\S+);", said)
        assert address
        page = browser.new_page(viewport={"width": 1100, "height": 800})
        for path in ("/", "/docs", "/playground"):
            page.goto(address[1] + path)
            page.wait_for_timeout(300)
            checked(page, path, faults)
        page.click("#go")
        page.wait_for_selector("#said h2", timeout=120_000)
        checked(page, "playground, judged", faults)
        page.fill("#references", "1889\n" * 21)
        page.click("#go")
        page.wait_for_selector("#said .conflict")
        assert "cannot be used: references: " in page.inner_text("#said")
    assert not faults
