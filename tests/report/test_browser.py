"""The report in a real browser, opened from disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import markscheme
from keyboard_check import unreachable
from markscheme.reports.material import read_material
from markscheme.results import number_text, p_text, percent

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.proof(area="browser")

QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        yield running
        running.close()


@pytest.fixture(scope="module")
def report(run_folder: Path) -> Path:
    return markscheme.report(run_folder).path


@pytest.fixture(scope="module")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots are kept: MARKSCHEME_SCREENSHOTS, else pytest's own folder."""
    kept = os.environ.get("MARKSCHEME_SCREENSHOTS")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Opened:
    """A report open in a page, and what the page complained of or asked for."""

    def __init__(self, browser: Browser, path: Path, address: str = "", **options: Any) -> None:
        self.page: Page = browser.new_page(**{"viewport": {"width": 1280, "height": 900}} | options)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri() + address)
        self.page.wait_for_selector("html[data-ready]")

    def count(self) -> int:
        """How many answers the page says it shows."""
        first = self.page.inner_text("#count").removeprefix("All ").split()[0]
        return int(first.replace(",", ""))

    def rows(self) -> list[str]:
        """The answers on the page."""
        return self.page.locator("#rows > tbody > tr:not(.more) .a").all_inner_texts()

    def quiet(self) -> None:
        """Nothing was complained of, and nothing asked for but the file itself."""
        assert not self.said
        assert [url for url in self.asked if not url.startswith("data:")] == self.asked[:1]
        assert self.asked[0].startswith("file://")


def test_a_press_shows_false_passes_false_rejects_and_unsure(
    browser: Browser, report: Path, run_folder: Path
) -> None:
    opened = Opened(browser, report)
    page = opened.page
    page.select_option("#filter-judge", "examiner")
    table = markscheme.agree(run_folder, judges="examiner").errors
    assert table is not None
    counts = table["judge_error"].value_counts()
    known = dict(counts.iter_rows())
    said = dict(one.split(": ") for one in page.locator("#shortcuts button").all_inner_texts())
    assert list(said) == ["False passes", "False rejects", "Unsure"]
    assert int(said["False passes"]) == known["false pass"]
    assert int(said["False rejects"]) == known["false reject"]
    for text, number in said.items():
        page.click(f"#shortcuts button:has-text('{text}')")
        assert opened.count() == int(number) > 0
        assert page.get_attribute("#shortcuts [aria-pressed=true]", "type") == "button"
    page.click("#shortcuts [aria-pressed=true]")
    assert opened.count() == 248
    opened.quiet()


def test_what_the_script_computes_is_what_the_commands_give(
    browser: Browser, report: Path, run_folder: Path, example: Path
) -> None:
    """Of all rows: of what a reader filters there is no command."""
    opened = Opened(browser, report)
    page = opened.page
    lines = page.locator("#tally > div").all_inner_texts()
    said = {line.split("\n")[0]: line for line in lines}
    agreed = markscheme.agree(run_folder, judges="examiner").judges[0]
    share, accuracy = agreed.judged.value, agreed.left_out["accuracy"].value
    assert (
        f"accepts {percent(share)}% of 248, agrees {percent(accuracy)}% on 248" in said["examiner"]
    )

    (pair,) = markscheme.compare(run_folder, systems=True, judges="examiner").pairs[:1]
    page.select_option("#filter-right", pair.first)
    page.select_option("#filter-wrong", pair.second)
    page.select_option("#filter-voice", "examiner")
    duel = page.inner_text("#duel")
    counts = (
        f"{pair.only_first} questions; the other way round: {pair.only_second}; of {pair.shared}"
    )
    assert counts in duel
    assert f"p = {p_text(pair.p_holm)})" in duel
    page.click("#clear")

    page.click("#trial summary")
    page.select_option("#threshold-of", "token_f1")
    page.fill("#threshold", "0.7")
    judged = markscheme.judge(example, "token_f1(threshold=0.7)")
    tried = markscheme.agree(judged).judges[0].counts
    says = page.inner_text("#threshold-says")
    assert f"wrongly accept {tried['false_positive']} and wrongly reject" in says
    assert f"wrongly reject {tried['false_negative']} (right" in says

    numbers = [(6.25, 1), (6.35, 1), (0.35, 1), (0.0625, 3), (-0.0001, 2), (12.5, 0)]
    numbers += [(100 * (high - low), 0) for low, high in ((0.5, 0.725), (0.575, 0.8))]
    for number, digits in numbers:
        shown = page.evaluate("([number, digits]) => shown.fixed(number, digits)", [number, digits])
        assert shown == number_text(number, digits=digits)
    opened.quiet()


def test_it_opens_filters_searches_and_sorts(browser: Browser, report: Path, shots: Path) -> None:
    opened = Opened(browser, report)
    page = opened.page
    assert opened.count() == 248
    assert len(opened.rows()) == 50
    page.screenshot(path=shots / "report-light.png", full_page=True)

    page.select_option("#filter-judge", "examiner")
    page.select_option("#filter-verdict", "fn")
    wrong = opened.count()
    material = read_material(report.parent)
    verdict = material.judges[3].rows["verdict"]
    assert wrong == int((~verdict & material.answers["accepted"]).sum())
    assert "judge=examiner&verdict=fn" in page.url

    page.select_option("#filter-system", "hedger")
    assert 0 < opened.count() <= wrong
    page.click("#clear")
    assert opened.count() == 248

    page.fill("#filter-q", "GARCIA márquez")
    texts = opened.rows()
    assert texts
    assert opened.count() < 20
    page.fill("#filter-q", '"georges bizet"')
    assert any("Georges Bizet" in text for text in opened.rows())
    page.fill("#filter-q", "no such words anywhere")
    assert opened.count() == 0
    page.fill("#filter-q", "")

    page.get_by_role("button", name="answer", exact=True).click()
    head = page.locator('#rows > thead th[aria-sort="ascending"]')
    assert "answer" in head.inner_text()
    known = [
        text.lower() for text in opened.rows() if text[:1].isalpha() and text != "empty answer"
    ][:5]
    assert known == sorted(known)
    page.get_by_role("button", name="answer ↑").click()
    assert page.locator('#rows > thead th[aria-sort="descending"]').count() == 1
    opened.quiet()


def test_rows_without_a_value_are_last_in_either_direction(
    browser: Browser, tmp_path: Path
) -> None:
    said: list[str | None] = ["b", None, "a", "c"]
    rows = [{"question": f"q{n}", "references": ["b"], "answer": one, "label": [1, None, 0, 1][n]}
            for n, one in enumerate(said)]  # fmt: skip
    path = markscheme.report(markscheme.judge(rows, "exact_match", out=tmp_path / "run")).path
    for column, down in (("answer", "cba"), ("people", "bca")):
        shown = Opened(browser, path, f"#sort={column}&order=down").rows()
        assert [text.split("\n")[0] for text in shown] == [*down, "no answer"]
    up = Opened(browser, path, "#sort=answer")
    assert [text.split("\n")[0] for text in up.rows()] == [*"abc", "no answer"]
    up.quiet()


def test_disagreements_come_first_and_details_open(browser: Browser, report: Path) -> None:
    opened = Opened(browser, report)
    page = opened.page
    first = page.locator("#rows > tbody > tr").first
    assert first.locator(".chip.yes").count()
    assert first.locator(".chip.no").count()
    toggle = first.locator(".toggle")
    toggle.click()
    assert toggle.get_attribute("aria-expanded") == "true"
    details = page.locator("#rows tr.more").first
    assert details.locator(".verdicts tbody tr").count() == 4
    assert "References, with the words that the answer has" in details.inner_text()
    link = details.get_by_role("link")
    link.click()
    page.wait_for_function("document.querySelectorAll('#rows tr:not(.more) .toggle').length === 1")
    assert opened.count() == 1
    assert page.locator("#rows mark, #rows .a").count()
    opened.quiet()


def test_an_address_brings_back_a_view(browser: Browser, report: Path) -> None:
    opened = Opened(browser, report, "#agreement=judges&system=terse&sort=judge%3Aexaminer&size=25")
    page = opened.page
    assert page.input_value("#filter-system") == "terse"
    assert page.input_value("#filter-agreement") == "judges"
    assert page.locator('th[aria-sort="ascending"]').inner_text().startswith("examiner")
    shown = opened.count()
    assert 0 < shown <= 62
    again = Opened(browser, report, page.url[page.url.index("#") :])
    assert again.count() == shown
    nonsense = Opened(browser, report, "#sort=nothing&verdict=perhaps&page=-7&size=1e9&q=")
    assert nonsense.count() == 248
    assert len(nonsense.rows()) == 50
    nonsense.quiet()


def test_counts_in_the_figures_lead_to_their_answers(browser: Browser, report: Path) -> None:
    opened = Opened(browser, report)
    page = opened.page
    page.locator("#section-verdicts summary").click()
    link = page.locator("#section-verdicts td a").first
    wanted = int(link.inner_text())
    link.click()
    page.wait_for_function("location.hash.includes('verdict=')")
    page.wait_for_function("!document.querySelector('#clear').hidden")
    assert opened.count() == wanted
    opened.quiet()


def test_the_keyboard_is_enough(browser: Browser, report: Path) -> None:
    assert unreachable(Opened(browser, report).page) == []
    opened = Opened(browser, report)
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("/")
    page.keyboard.type("opera")
    assert 0 < opened.count() < 248
    page.locator(".toggle").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("tr.more").count() == 1
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    assert page.locator("tr.more").count() == 2
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.locator("tr.more").count() == 1
    opened.quiet()


def test_pages_turn(browser: Browser, report: Path) -> None:
    opened = Opened(browser, report)
    page = opened.page
    first = opened.rows()
    page.click("#next")
    assert "page=2" in page.url
    assert opened.rows() != first
    assert page.evaluate("document.activeElement.id") == "next"
    page.fill("#page", "5")
    page.keyboard.press("Enter")
    assert len(opened.rows()) == 48
    assert page.is_disabled("#next")
    page.select_option("#size", "250")
    assert len(opened.rows()) == 248
    opened.quiet()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("dark", {"color_scheme": "dark"}),
        ("phone", {"viewport": {"width": 390, "height": 844}, "has_touch": True}),
        ("laptop", {"viewport": {"width": 1200, "height": 800}}),
        ("zoomed", {"viewport": {"width": 640, "height": 450}, "device_scale_factor": 2}),
    ],
)
def test_it_fits_every_screen(
    browser: Browser, report: Path, shots: Path, name: str, options: dict[str, Any]
) -> None:
    opened = Opened(browser, report, **options)
    page = opened.page
    page.locator(".toggle").first.click()
    page.screenshot(path=shots / f"report-{name}.png", full_page=True)
    wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window, "nothing scrolls sideways but tables and charts in their boxes"
    beyond = page.locator(".table").evaluate("box => box.scrollWidth - box.clientWidth")
    assert beyond <= 0, "every verdict of four judges is seen"
    opened.quiet()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast(browser: Browser, report: Path, scheme: str) -> None:
    opened = Opened(browser, report, color_scheme=scheme)
    opened.page.locator(".toggle").first.click()
    faint = opened.page.evaluate(CONTRAST)
    assert not faint
    opened.quiet()


CONTRAST = """() => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([red, green, blue]) => [red, green, blue]
    .map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.disabled) continue;
    const style = getComputedStyle(element);
    const colour = channels(element.closest("svg") ? style.fill : style.color);
    const [one, other] = [light(colour), light(ground(element))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < 4.5) faint.push(`${element.tagName} ${element.textContent.slice(0, 30)} ${ratio}`);
  }
  return faint;
}"""
"""Texts whose contrast with their ground is under 4.5 (WCAG AA)."""


def test_the_page_has_landmarks_names_and_headings(browser: Browser, report: Path) -> None:
    opened = Opened(browser, report)
    page = opened.page
    for role, name in (("banner", None), ("main", None), ("search", "Filter the answers"),
                       ("navigation", "Contents"), ("navigation", "Pages of answers")):  # fmt: skip
        assert page.get_by_role(role, **({"name": name} if name else {})).count() == 1  # type: ignore[arg-type]
    assert page.locator("h1").count() == 1
    unnamed = page.evaluate(
        "[...document.querySelectorAll('input, select')].filter((one) => !one.labels.length)"
        ".map((one) => one.id)"
    )
    assert not unnamed
    pictures = page.locator("svg[role=img]")
    for at in range(pictures.count()):
        label = pictures.nth(at).get_attribute("aria-labelledby")
        assert page.inner_text(f"#{label}")
    assert page.get_by_role("columnheader").count() >= 8
    opened.quiet()


def test_hostile_answers_are_shown_as_they_are(
    browser: Browser, hostile_run: Path, hostile_texts: tuple[str, ...], shots: Path
) -> None:
    path = markscheme.report(hostile_run).path
    opened = Opened(browser, path)
    page = opened.page
    for toggle in page.locator(".toggle").all():
        toggle.click()
    shown = page.locator("#rows .more .full").first.inner_text()
    assert any(text in shown for text in hostile_texts)
    assert page.title() == "hostile · markscheme report"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1, "the data is read and gone, the script is ours"
    page.screenshot(path=shots / "report-hostile.png", full_page=True)
    for text in hostile_texts:
        page.evaluate("text => { location.hash = new URLSearchParams({ id: text }) }", text)
        page.wait_for_function("document.querySelector('#count').textContent.startsWith('1 of')")
    assert page.title() == "hostile · markscheme report"
    opened.quiet()


def test_matches_are_marked_beside_characters_of_two_halves(
    browser: Browser, tmp_path: Path
) -> None:
    row = {"question": "Where?", "references": ["Paris"], "answer": "𝔘𝔘 said it was in Paris, 𝔘"}
    markscheme.judge([row], "contains", out=tmp_path / "run")
    path = markscheme.report(tmp_path / "run").path
    opened = Opened(browser, path)
    assert opened.page.locator("#rows td.a mark").all_inner_texts() == ["Paris"]
    opened.quiet()
