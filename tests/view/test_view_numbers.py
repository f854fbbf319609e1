"""Every number of the viewer's pages is the one that its command gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson
import polars as pl
import pytest
from starlette.testclient import TestClient

import markscheme
from markscheme.reports import figures_html, read_material, table_html
from markscheme.view import make_app
from markscheme.view.app import cookie_name
from markscheme.view.runs import RunLabels
from page_numbers import Page, numbers, shares

JUDGES = ["contains", "token_f1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, example: Path) -> Path:
    """Two runs of the example; a third of its answers have a label."""
    top = tmp_path_factory.mktemp("view-numbers") / "runs"
    rows = pl.read_ndjson(example).head(120)
    label = next(name for name in ("label", "human", "correct") if name in rows.columns)
    few = pl.when(pl.int_range(pl.len()) % 3 == 0).then(pl.col(label)).alias(label)
    markscheme.judge(rows.with_columns(few), JUDGES, out=top / "first")
    markscheme.judge(rows, JUDGES[0], out=top / "second")
    return top


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    app = make_app(folder, token="secret", form="form")
    with TestClient(app, base_url="http://127.0.0.1") as found:
        found.cookies.set(cookie_name("secret"), "secret")
        yield found


def row_of(page: Page, name: str, heading: str) -> list[str]:
    """The cells of a run's row under a heading; a row is called by run, date and state."""
    (found,) = (
        texts for place, texts in page.texts.items()
        if place[-1] == heading and place[1].startswith(f"{name} · ")
    )  # fmt: skip
    return found


def test_the_index_has_the_figures_of_judge(client: TestClient, folder: Path) -> None:
    page = Page(client.get("/").text)
    assert numbers(" ".join(page.texts["page", "facts"]), [str(folder)]) == ["2"]
    for name in ("first", "second"):
        summary = orjson.loads((folder / name / "summary.json").read_bytes())
        (answers,) = row_of(page, name, "answers")
        assert numbers(answers) == [str(summary["answers"]["rows"])]
        (figures,) = row_of(page, name, "figures")
        wanted = [
            text
            for one in summary["figures"]
            if one["system"] == "(all)"
            for text in shares(one["accuracy"], one["accuracy_low"], one["accuracy_high"])
        ]
        assert numbers(figures, JUDGES) == wanted


def test_a_runs_figures_are_those_of_its_report(client: TestClient, folder: Path) -> None:
    """Whose numbers are compared with the commands' in `tests/report/test_page_numbers.py`."""
    shown = client.get("/runs/first/figures?with=second").text
    assert shown == figures_html(read_material(folder / "first", compare=[folder / "second"]))


def test_figures_of_labels_given_here_are_those_of_agree_and_estimate(
    client: TestClient, folder: Path
) -> None:
    run = folder / "second"
    names = pl.read_parquet(run / "judgments.parquet")["answer_id"].head(60).to_list()
    given = RunLabels(run)
    for place, name in enumerate(names):
        given.give(name, int(place % 4 != 0))
    said = client.post(
        "/runs/second/label", json={"answer_id": names[0], "label": 1},
        headers={"x-markscheme": "form"},
    )  # fmt: skip
    assert said.status_code == 200, said.text
    file = folder / "second.labels.jsonl"
    agreed, estimated = markscheme.agree(run, file), markscheme.estimate(run, file, judge=JUDGES[0])
    shown = said.json()
    assert shown["labels"] == 60
    tables = [*agreed.tables[:2], estimated.tables[0]]
    assert shown["tables"] == "".join(map(table_html, tables))
    page = Page(client.get("/").text)
    assert row_of(page, "second", "your labels") == ["60"]
