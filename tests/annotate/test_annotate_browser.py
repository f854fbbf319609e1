"""A real browser: two people label by keyboard, differ, a third settles, and labels come out.

Screenshots are kept in the folder MARKSCHEME_SCREENSHOTS, or else in the test's own.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest

from annotate_helpers import Server, answers, server, write_rows
from markscheme import cli

pytestmark = pytest.mark.proof(area="browser")

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
ATTACK = "<script>document.title='owned'</script><img src=x onerror=alert(1)>"
SAVED = "() => document.getElementById('status').textContent.startsWith('Saved: ')"
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    """Chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield found
        found.close()


@pytest.fixture
def shots(tmp_path: Path) -> Path:
    """Where screenshots go."""
    folder = Path(os.environ.get("MARKSCHEME_SCREENSHOTS", tmp_path / "screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def enter(browser: Any) -> Iterator[Open]:
    """Opens a personal link in a browser of its own; troubles the page reports fail the test."""
    contexts: list[Any] = []
    troubles: list[str] = []

    def open_link(running: Server, name: str, **options: Any) -> Any:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(running.links[name])
        page.wait_for_selector("h1")
        page.wait_for_url(re.compile(r"/(admin)?$"))
        return page

    yield open_link
    for context in contexts:
        context.close()
    assert not troubles


def press(page: Any, key: str) -> None:
    """One key, once the page is ready for it, until what it did is saved."""
    page.wait_for_timeout(300)
    before = page.get_attribute("#undo input[name=submission]", "value")
    page.keyboard.press(key)
    saved = "document.querySelector('#undo input[name=submission]')?.value ?? null"
    page.wait_for_function(f"before => ({saved}) !== before", arg=before)


def answer(page: Any) -> str:
    """The answer before the person; empty if there is none."""
    found = page.query_selector(".answer .answer-text")
    return str(found.inner_text()) if found else ""


def status(page: Any) -> str:
    """What the page says of the latest choice."""
    return str(page.inner_text("#status"))


def ratings(project: Path) -> list[tuple[Any, ...]]:
    """Labels in the file."""
    with closing(sqlite3.connect(project)) as plain:
        return plain.execute("SELECT value FROM ratings WHERE state = 'labelled'").fetchall()


def test_ten_items_two_people_a_disagreement_and_an_export(
    enter: Open, shots: Path, tmp_path: Path
) -> None:
    rows = [*answers(9), {**answers(10)[9], "answer": ATTACK}]
    file, kept = write_rows(tmp_path / "a.jsonl", rows), tmp_path / "labels.sqlite"
    people = ("-a", "Ann", "-a", "Ben", "--adjudicator", "Kim")
    with server(file, "--project", str(kept), *people, log=tmp_path / "log") as running:
        ann = enter(running, "Ann", viewport={"width": 1100, "height": 800})
        assert running.links["Ann"].split("#")[1] not in ann.url
        assert ann.evaluate("document.activeElement.tagName") == "H1"
        ann.screenshot(path=shots / "work-light.png")
        seen = []
        for _ in range(10):
            seen.append(answer(ann))
            press(ann, "1")
            assert status(ann) == "Saved: Correct."
        assert ATTACK in seen
        assert ann.title() == "Labels for a.jsonl"
        assert "Nothing is left for you" in ann.inner_text("h1")

        phone = {"width": 360, "height": 740}
        ben = enter(running, "Ben", viewport=phone, color_scheme="dark", has_touch=True)
        ben.screenshot(path=shots / "work-phone-dark.png")
        wrong = seen[0]
        for place in range(10):
            if place == 1:
                first = answer(ben)
                press(ben, "2")
                press(ben, "u")
                assert "Taken back: Not correct" in status(ben)
                assert answer(ben) == first
            press(ben, "2" if answer(ben) == wrong else "1")

        kim = enter(running, "Kim")
        assert answer(kim) == wrong
        assert "Your label decides" in kim.inner_text("#work")
        kim.screenshot(path=shots / "adjudicate.png")
        press(kim, "2")
        assert "Nothing is left for you" in kim.inner_text("h1")

        admin = enter(running, "admin", viewport={"width": 1100, "height": 900})
        admin.wait_for_selector("text=Krippendorff")
        assert "10 of 10" in admin.inner_text("#live")
        admin.screenshot(path=shots / "admin.png", full_page=True)
        with admin.expect_download() as download:
            admin.click("text=labels.jsonl")
        labels = [
            orjson.loads(line) for line in Path(download.value.path()).read_bytes().splitlines()
        ]
        admin.goto(f"{running.address}/admin/items?stage=settled")
        admin.click("tbody a")
        assert "Trail" in admin.inner_text("main")
        admin.screenshot(path=shots / "item.png", full_page=True)
        out = tmp_path / "labels.jsonl"
        assert cli.run(["annotate-export", str(kept), "--as", "labels", "-o", str(out)]) == 0
    assert [orjson.loads(line) for line in out.read_bytes().splitlines()] == labels
    assert len(labels) == 10
    assert [row["answer"] for row in labels if row["label"] == 0] == [wrong]


@pytest.mark.joint
def test_labels_given_in_a_browser_become_an_estimate(
    enter: Open, example: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """judge -> annotate -> annotate-export -> estimate: each reads what the one before wrote.

    By one person, who is asked for no option and opens the reference once.
    """
    rows = [row for row in map(orjson.loads, example.read_bytes().splitlines()) if "label" in row]
    people = {row["answer"]: row["label"] for row in rows}
    asked = [row for row in rows if row["system"] == rows[0]["system"]][:60]
    blind = [{k: row[k] for k in ("id", "question", "references", "answer", "system")}
             for row in rows]  # fmt: skip
    all_answers = write_rows(tmp_path / "all.jsonl", blind)
    ids = {row["id"] for row in asked}
    todo = write_rows(tmp_path / "todo.jsonl", [row for row in blind if row["id"] in ids])
    project, judged = str(tmp_path / "labels.sqlite"), str(tmp_path / "run")
    labels = str(tmp_path / "labels.csv")
    with server(todo, "--project", project, log=tmp_path / "log") as running:
        page = enter(running, "annotator1")
        assert not page.is_visible(".references li")
        page.keyboard.press("Space")
        for _ in asked:
            page.wait_for_selector(".references li", state="visible")
            press(page, "1" if people[answer(page)] else "2")
        assert "Nothing is left for you" in page.inner_text("h1")
    assert cli.run(["annotate-export", project, "--as", "labels", "-o", labels]) == 0
    exported = pl.read_csv(labels)
    labelled = dict(zip(exported["answer_id"], exported["label"], strict=True))
    assert labelled == {row["id"]: row["label"] for row in asked}
    assert cli.run(["judge", all_answers, "-j", "exact_match", "-o", judged, "-q"]) == 0
    capsys.readouterr()
    command = ["estimate", judged, "--labels", labels, "--trust-sample", "--format", "json"]
    assert cli.run(command) == 0
    (found,) = orjson.loads(capsys.readouterr().out)["estimates"]
    assert (found["answers"], found["labelled"]) == (len(rows), len(asked))
    value = {one["method"]: one["figure"]["value"] for one in found["estimates"]}
    assert value["labels_only"] == pytest.approx(sum(labelled.values()) / len(asked))
    assert 0 < value["ppi_tuned"] < 1


def test_a_lost_connection_loses_nothing(enter: Open, shots: Path, tmp_path: Path) -> None:
    """The label stays in the page and, over a reload, in the browser, until it is saved."""
    file, kept = write_rows(tmp_path / "a.jsonl", answers(5)), tmp_path / "labels.sqlite"
    with server(file, "--project", str(kept), log=tmp_path / "log") as running:
        page = enter(running, "annotator1")
        first = answer(page)
        page.context.set_offline(True)
        page.wait_for_timeout(300)
        page.keyboard.press("1")
        page.wait_for_selector("[data-state=unsaved]")
        assert "Not saved yet: no connection" in status(page)
        assert answer(page) == first
        page.keyboard.press("2")
        page.screenshot(path=shots / "unsaved.png")
        assert ratings(kept) == []
        page.context.set_offline(False)
        page.wait_for_function(SAVED)
        assert ratings(kept) == [(1.0,)]
        assert answer(page) != first

        # The answer to the request is lost, though the label was saved: sent again, not twice.
        lost = []

        def lose(route: Any) -> None:
            if not lost:
                lost.append(route.fetch())
                route.abort()
            else:
                route.continue_()

        page.route("**/label", lose)
        page.wait_for_timeout(300)
        page.keyboard.press("2")
        page.wait_for_selector("[data-state=unsaved]")
        page.wait_for_function(SAVED)
        page.unroute("**/label")
        assert sorted(ratings(kept)) == [(0.0,), (1.0,)]

        # The page is closed while its label is not saved: the next one sends it.
        page.route("**/label", lambda route: route.abort())
        page.wait_for_timeout(300)
        page.keyboard.press("1")
        page.wait_for_selector("[data-state=unsaved]")
        page.unroute("**/label")
        again = page.context.new_page()
        page.close()
        again.goto(running.address)
        again.wait_for_function(SAVED)
        assert len(ratings(kept)) == 3


def test_two_tabs_ask_before_they_overwrite(enter: Open, shots: Path, tmp_path: Path) -> None:
    file, kept = write_rows(tmp_path / "a.jsonl", answers(3)), tmp_path / "labels.sqlite"
    with server(file, "--project", str(kept), log=tmp_path / "log") as running:
        one = enter(running, "annotator1")
        two = one.context.new_page()
        two.goto(running.address)
        assert answer(one) == answer(two)
        press(one, "1")
        press(two, "2")
        assert "was not saved" in two.inner_text(".banner")
        assert ratings(kept) == [(1.0,)]
        two.screenshot(path=shots / "conflict.png")
        two.context.set_offline(True)
        two.wait_for_timeout(300)
        two.keyboard.press("Enter")
        two.wait_for_function(
            "() => document.getElementById('status').textContent.includes('no c')"
        )
        two.context.set_offline(False)
        press(two, "Enter")
        assert answer(two) == answer(one)
        press(two, "2")
        assert sorted(ratings(kept)) == [(0.0,), (1.0,)]
        two.context.clear_cookies()
        two.wait_for_timeout(300)
        two.keyboard.press("u")
        two.wait_for_function(
            "() => document.getElementById('status').textContent.includes('link')"
        )


def test_keys_for_references_notes_help_and_ranks(enter: Open, shots: Path, tmp_path: Path) -> None:
    file, kept = write_rows(tmp_path / "a.jsonl", answers(2, systems=4)), tmp_path / "r.sqlite"
    options = ("--scale", "rank", "--no-adjudicate")
    with server(file, "--project", str(kept), *options, log=tmp_path / "log") as running:
        page = enter(running, "annotator1", viewport={"width": 1000, "height": 1100})
        assert page.query_selector(".references").get_attribute("open") is None
        page.keyboard.press(" ")
        assert page.query_selector(".references").get_attribute("open") is not None
        page.keyboard.press("n")
        page.keyboard.type("note 1 2")
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        assert page.is_visible("#help")
        page.screenshot(path=shots / "keys.png")
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        assert page.is_visible("#guidelines")
        page.keyboard.press("Escape")
        page.wait_for_timeout(300)
        for key in ("3", "1", "4", "Backspace", "2"):
            page.keyboard.press(key)
        page.screenshot(path=shots / "rank.png")
        press(page, "Enter")
        with closing(sqlite3.connect(kept)) as plain:
            given = plain.execute("SELECT ranks, note FROM ratings WHERE state = 'labelled'")
            assert given.fetchall() == [("[2,3,1,4]", "note 1 2")]
        page.goto(f"{running.address}/mine")
        page.click("a[href^='/mine/']")
        page.wait_for_selector(".ranked")
        page.wait_for_timeout(300)
        for key in "1234":
            page.keyboard.press(key)
        press(page, "Enter")
        assert kept_ranks(kept) == ["[1,2,3,4]"]


def kept_ranks(project: Path) -> list[str]:
    with closing(sqlite3.connect(project)) as plain:
        found = plain.execute(
            "SELECT ranks FROM ratings WHERE state = 'labelled' ORDER BY saved_at"
        )
        return [ranks for (ranks,) in found]


def test_many_answers_are_ranked_by_keys_ties_and_drag(
    enter: Open, shots: Path, tmp_path: Path
) -> None:
    """Twenty by keys, with a tie; then by dragging and arrows."""
    file, kept = write_rows(tmp_path / "a.jsonl", answers(2, systems=20)), tmp_path / "r.sqlite"
    options = ("--scale", "rank", "--no-adjudicate", "--per-item", "1", "-a", "Ann")
    with server(file, "--project", str(kept), *options, log=tmp_path / "log") as running:
        page = enter(running, "Ann", viewport={"width": 1000, "height": 900})
        page.wait_for_timeout(300)
        keys = [each.get_attribute("data-key") for each in page.query_selector_all("[data-place]")]
        assert len(keys) == 20
        for key in reversed(keys[:18]):
            page.keyboard.press(key)
        page.keyboard.press("-")
        page.keyboard.press(keys[18])
        press(page, "Enter")
        expected = [18 - n for n in range(18)]
        expected[0] = expected[1]
        assert orjson.loads(kept_ranks(kept)[0]) == [*expected, 19, 20]

        # The third answer is dragged above the first, then goes down one place by its arrow key.
        page.wait_for_timeout(300)
        first, third = (page.locator("[data-grip]").nth(n) for n in (0, 2))
        third.evaluate("each => each.scrollIntoView({ block: 'center' })")
        start = third.bounding_box()
        page.mouse.move(start["x"] + 9, start["y"] + 9)
        page.mouse.down()
        page.mouse.move(start["x"] + 9, start["y"] - 5)
        for _ in range(60):
            top = page.locator(".ranked > li").first.bounding_box()
            page.mouse.move(start["x"] + 9, max(5, top["y"] + 4))
            page.mouse.move(start["x"] + 10, max(5, top["y"] + 5))
            if page.locator(".ranked > li").first.locator("[data-grip='2']").count():
                break
        page.screenshot(path=shots / "rank-drag.png")
        page.mouse.up()
        assert page.locator("[name=rank2]").input_value() == "1"
        page.locator("[data-grip='2']").focus()
        page.keyboard.press("ArrowDown")
        assert page.locator("[name=rank2]").input_value() == "2"
        assert first.get_attribute("data-grip") == "0"
        press(page, "Enter")
        assert orjson.loads(kept_ranks(kept)[1])[:4] == [1, 3, 2, 4]


ACCESSIBLE = """() => {
  const visible = e => e.checkVisibility({ checkVisibilityCSS: true });
  const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const colour = text => text.match(/[\\d.]+/g).map(Number);
  const behind = e => { for (; e; e = e.parentElement) {
    const c = colour(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const faults = [];
  for (const e of document.querySelectorAll('button, a, input, select, textarea, summary')) {
    if (!visible(e) || e.type === 'hidden') continue;
    const name = e.getAttribute('aria-label') || e.innerText || e.labels?.[0]?.textContent;
    if (!name?.trim()) faults.push('no name: ' + e.outerHTML.slice(0, 80));
    if (e.tabIndex > 0) faults.push('own tab order: ' + e.outerHTML.slice(0, 80));
  }
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !visible(e) || e.disabled) continue;
    const style = getComputedStyle(e);
    const [a, b] = [luminance(colour(style.color)), luminance(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24;
    if (ratio < (large ? 3 : 4.5)) faults.push(ratio.toFixed(2) + ': ' + e.outerHTML.slice(0, 90));
  }
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) faults.push('scrolls sideways by ' + wide);
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  if (new Set(ids).size < ids.length) faults.push('an id twice');
  if (!document.documentElement.lang) faults.push('no language');
  return faults;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "width", "zoom"), [
    ("desk", 1280, 1), ("phone", 320, 1), ("zoomed", 640, 2)
])  # fmt: skip
def test_pages_are_accessible_at_every_width(
    enter: Open, shots: Path, tmp_path: Path, scheme: str, name: str, width: int, zoom: int
) -> None:
    """Names, contrast of 4.5, no sideways scrolling, and a visible focus.

    At 200% zoom a window of 1,280 pixels has 640 pixels of CSS to lay out.
    """
    long = answers(3)
    long[0] |= {"question": "Why? " * 30, "references": ["a" * 300], "answer": "word " * 400}
    long[1]["answer"] = "x" * 300
    file, kept = write_rows(tmp_path / "a.jsonl", long), tmp_path / "labels.sqlite"
    options = ("--scale", "grade", "--order", "file", "--references", "shown")
    with server(file, "--project", str(kept), *options, log=tmp_path / "log") as running:
        view = {"width": width, "height": 900 // zoom}
        look = {"viewport": view, "color_scheme": scheme, "device_scale_factor": zoom}
        page = enter(running, "annotator1", **look)
        assert page.evaluate(ACCESSIBLE) == []
        page.screenshot(path=shots / f"grade-{name}-{scheme}.png")
        page.keyboard.press("Tab")
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) == "solid"
        press(page, "4")
        page.goto(f"{running.address}/mine")
        assert page.evaluate(ACCESSIBLE) == []
        admin = enter(running, "admin", **look)
        admin.wait_for_selector("text=One by one")
        assert admin.evaluate(ACCESSIBLE) == []
        admin.goto(f"{running.address}/admin/items?stage=open")
        admin.click("tbody a")
        admin.wait_for_selector("text=Trail")
        admin.wait_for_load_state()
        assert admin.evaluate(ACCESSIBLE) == []
        page.context.clear_cookies()
        page.goto(f"{running.address}/enter")
        assert page.evaluate(ACCESSIBLE) == []
