from __future__ import annotations

import base64
import hashlib
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import orjson
import polars as pl
import pytest

import markscheme
from markscheme.errors import MarkschemeError
from markscheme.reports.figures import FORMATS, picture, write_figures
from markscheme.reports.html import report_html, table_html
from markscheme.reports.material import Material, read_material
from markscheme.reports.payload import later, packed, payload
from markscheme.reports.reporting import report, write_tables
from markscheme.reports.section import Section
from markscheme.reports.sections.order import sections
from markscheme.results import Column, Table


class Page(HTMLParser):
    """What stands in a page: elements with attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] in self.inside and data.strip():
            self.inside[self.elements[-1][0]].append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def hostile_text(hostile_run: Path) -> str:
    return report_html(read_material(hostile_run))


def test_nothing_is_loaded_from_elsewhere(text: str) -> None:
    page = Page(text)
    for tag, attributes in page.elements:
        for name in ("src", "href", "action", "srcset", "data", "poster", "xlink:href"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:image/svg+xml")), (tag, value)
    assert not re.search(r"@import|url\(", page.inside["style"][0])


@pytest.mark.parametrize("which", ["text", "hostile_text"])
def test_only_our_script_and_style_may_run(which: str, request: pytest.FixtureRequest) -> None:
    page = Page(request.getfixturevalue(which))
    policy = next(
        meta["content"] for meta in page.named("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    )  # fmt: skip
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    scripts, styles = page.inside["script"], page.inside["style"]
    assert len(scripts) == 3, "the data, what comes later, and the script"
    assert len(styles) == 1
    for inline in (scripts[2], styles[0]):
        assert base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode() in policy
    for data in scripts[:2]:
        assert re.fullmatch(r"[A-Za-z0-9+/=]+", data), "data means nothing to HTML"
    assert not any(name.startswith("on") or name == "style"
                   for _, attributes in page.elements for name in attributes)  # fmt: skip


def test_the_script_makes_no_html_of_texts() -> None:
    script = (Path(report_html.__code__.co_filename).parent / "page" / "report.js").read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script)
    assert not re.search(r"fetch\(|XMLHttpRequest|WebSocket|import\(", script)


def test_hostile_texts_are_data(hostile_text: str, hostile_texts: tuple[str, ...]) -> None:
    page = Page(hostile_text)
    assert not page.named("img")
    assert "document.title" not in "".join(page.inside["script"])
    assert "49" not in re.findall(r"<h1>(.*?)</h1>", hostile_text)
    data = orjson.loads(zlib.decompress(base64.b64decode(page.inside["script"][0])))
    assert data["ids"] == list(hostile_texts)
    assert [data["answer"]["values"][code] for code in data["answer"]["codes"]] == [
        f"{text} Paris" for text in hostile_texts
    ]


def test_columns_are_compact_and_whole(small_run: Path) -> None:
    material = read_material(small_run)
    data = payload(material)
    assert len(data["question"]["values"]) == material.answers["question"].n_unique()
    shown = [data["question"]["values"][code] for code in data["question"]["codes"]]
    assert shown == material.answers["question"].to_list()
    assert [one["name"] for one in data["judges"]] == [one.name for one in material.judges]
    more = later(material)
    examiner = more["judges"][1]
    explanation = examiner["explanation"]
    assert [explanation["values"][code] for code in explanation["codes"]] == (
        material.judges[1].rows["explanation"].to_list()
    )
    tagged = sum(code >= 0 for code in more["answers"]["mode"]["mode"]["codes"])
    assert tagged == material.modes.height
    assert {len(more["answers"][name]) for name in ("spans", "aligned", "values")} == {24}
    assert len(packed(data)) + len(packed(more)) < 30_000


def test_a_question_without_an_answer_has_no_reference_on_the_page() -> None:
    rows = [
        {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Jane Austen"},
        {"question": "Who is king of Mars?", "references": [], "answer": "Nobody."},
    ]
    column = payload(read_material(markscheme.judge(rows, "contains")))["reference"]
    shown = [column["values"][code] for code in column["codes"]]
    # What the page saves is judged again, and no file may have an empty text as a reference.
    assert shown == [row["references"] for row in rows]


def test_counts_lead_to_the_answers_they_count(material: Material, shown: list[Section]) -> None:
    found = {one.key: one for one in shown}
    table, links = found["verdicts"].table, found["verdicts"].links
    at = table.header.index("wrongly rejected (FN)")
    state = links[0, at]
    one = next(judge for judge in material.judges if judge.name == state["judge"])
    rows = material.answers.with_columns(verdict=one.rows["verdict"])
    wrong = rows.filter(
        ~pl.col("verdict") & pl.col("accepted") & (pl.col("system") == state["system"])
    )
    assert table.rows[0][at] == f"{wrong.height:,}"
    assert state["verdict"] == "fn"


def test_dots_of_every_judge_of_the_run_lead_to_answers(shown: list[Section]) -> None:
    chart = next(section.chart for section in shown if section.key == "accuracy")
    assert chart is not None
    dots = [dot for rows in chart().to_dict()["datasets"].values() for dot in rows]
    assert "exact_match" in {dot["judge"] for dot in dots}
    assert all(dot["link"].startswith("#") for dot in dots)


def test_every_chart_is_written_in_every_format(shown: list[Section], tmp_path: Path) -> None:
    drawn = [one for one in shown if one.chart is not None]
    begins = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!", "json": b"{"}
    assert set(begins) == set(FORMATS)
    for format, start in begins.items():
        few = drawn[:1]  # The page has all of them as SVG.
        written = write_figures(few, tmp_path, format=format)  # type: ignore[arg-type]
        assert [path.name for path in written] == [f"{one.key}.{format}" for one in few]
        assert all(path.read_bytes().lstrip().startswith(start) for path in written)
    assert {"accuracy", "verdicts", "modes", "mode-errors", "roc", "reliability", "relations",
            "marks"} <= {one.key for one in drawn}  # fmt: skip
    with pytest.raises(MarkschemeError, match="no figures as 'gif'"):
        write_figures(drawn, tmp_path, format="gif")  # type: ignore[arg-type]


def test_a_table_is_shown_whole_and_its_texts_are_no_markup() -> None:
    rows = [("<b>one</b>", 0.5), ("two & three", None)]
    table = Table.of("Shares <i>", ["judge", Column("share", format="share")], rows, ["why & how"])
    html = table_html(table)
    page = Page(html)
    assert [tag for tag, _ in page.elements if tag in ("b", "i")] == []
    assert page.named("div") == [{"class": "wide", "tabindex": "0"}]
    for text in ("Shares &lt;i&gt;", "&lt;b&gt;one&lt;/b&gt;", "two &amp; three", "50.0", "Why"):
        assert text in html
    assert [one.get("class") for one in page.named("td")] == ["number", "number"]


def test_pictures_hold_shapes_and_texts_only(hostile_run: Path) -> None:
    chart = sections(read_material(hostile_run))[0].chart
    assert chart is not None
    drawn = picture(chart(), label="accuracy-says")
    tags = {tag for tag, _ in Page(drawn).elements}
    assert tags <= {"svg", "g", "path", "line", "rect", "text", "tspan", "title", "a"}
    links = [dict(pairs).get("href", "#") for tag, pairs in Page(drawn).elements if tag == "a"]
    assert all(str(link).startswith("#") for link in links)
    assert 'aria-labelledby="accuracy-says"' in drawn
    assert "style=" not in drawn


def test_tables_are_written_for_papers(shown: list[Section], tmp_path: Path) -> None:
    written = write_tables(shown, tmp_path)
    assert (tmp_path / "agreement.tex") in written
    assert r"\begin{tabular}" in (tmp_path / "agreement.tex").read_text()
    assert "| judge |" in (tmp_path / "agreement.md").read_text()


def test_a_report_without_answers_has_no_text_of_the_input(tmp_path: Path) -> None:
    """Every text of the input has a word of its own, looked for in the page and its packed data."""
    words = {"question": "Qvorm", "reference": "Rzelk", "answer": "Awump", "context": "Cdrix"}
    rows = [
        {"id": f"idno{place}x{system}", "question": f"Who {words['question']}{place} wrote it?",
         "references": [f"{words['reference']}{place} in 19{place:02}", "second Rzelk"],
         "answer": f"It was {words['answer']}{place}" if place % 3 else f"Rzelk{place}",
         "context": f"{words['context']}{place}", "system": system, "label": place % 2}
        for place in range(12)
        for system in ("first", "second")
    ]  # fmt: skip
    rows[0]["answer"] = None
    result = markscheme.judge(rows, ["exact_match", "contains", "examiner"])
    assert result.judgments["explanation"].drop_nulls().str.contains("Rzelk|Awump").any()
    failed = pl.col("answer_id") == "idno1xfirst"
    judgments = result.judgments.with_columns(
        status=pl.when(failed)
        .then(pl.lit("failed").cast(result.judgments.schema["status"]))
        .otherwise("status"),
        verdict=pl.when(~failed).then("verdict"),
        score=pl.when(~failed).then("score"),
        explanation=pl.when(failed)
        .then(pl.lit("server: no such Awump1"))
        .when(pl.col("answer_id") == "idno2xfirst")
        .then(pl.lit("Awump2 is meant (0.55, unsure)"))
        .otherwise("explanation"),
        scope=pl.when(pl.col("answer_id").str.starts_with("idno0x"))
        .then(pl.lit("learned from"))
        .otherwise("scope"),
    )
    run = SimpleNamespace(
        run=SimpleNamespace(folder=None), judgments=judgments, answers=result.answers
    )
    whole = report(run, tmp_path / "whole.html").path.read_text()
    found = report(run, tmp_path / "figures.html", without_answers=True, tables=tmp_path / "tables")
    page = found.path.read_text()
    assert "server: no such Awump1" in whole, "the whole report has reasons in a figure's table"
    trained = "1 of 12 questions trained exact_match"
    assert f"{trained} (&#39;Who Qvorm0 wrote it?&#39;)" in whole
    assert trained in page
    assert "xact_match is unsure of 1 of " in page
    hidden = re.compile("|".join((*words.values(), "idno")), re.IGNORECASE)
    assert hidden.search(page) is None
    for written in found.tables_written:
        assert hidden.search(written.read_text()) is None
    elements = Page(page)
    assert not elements.named("script"), "no data, and nothing that would read them"
    assert "script-src 'none'" in page
    assert "left out" in page
    links = {one["href"] for one in elements.named("a")}
    assert links == {"#figures", "#origin"}, "nothing leads to answers that are not there"
    kept = {section["id"] for section in elements.named("section")}
    assert kept == {section["id"] for section in Page(whole).named("section")} - {"answers"}


def test_a_note_on_labels_of_other_rows_quotes_no_text(tmp_path: Path) -> None:
    rows = [
        {"id": f"n{place}", "question": f"Qvorm {place}?", "references": ["yes"],
         "answer": "yes" if place % 2 else "Awump", "system": "one", "label": place % 2}
        for place in range(40)
    ]  # fmt: skip
    labels = [{**row, "id": f"n{(place + 7) % 40}"} for place, row in enumerate(rows)]
    markscheme.judge(rows, "exact_match", out=tmp_path / "run")
    found = report(
        tmp_path / "run", tmp_path / "page.html", labels=pl.DataFrame(labels), without_answers=True
    )
    page = found.path.read_text()
    assert found.labelled == 40
    assert (
        "ds are of other rows, so the texts are matched and not the ids (the first is row 1)"
        in page
    )
    assert not re.search("Qvorm|Awump", page)
