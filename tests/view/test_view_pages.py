"""The viewer over HTTP: who gets in, what a run's page has, what becomes of a verdict."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.testclient import TestClient

import markscheme
from markscheme.cli import run
from markscheme.reports import figures_html, read_material
from markscheme.view import make_app, view
from markscheme.view.app import LARGEST_BODY, cookie_name
from markscheme.web.serving import BoundedProtocol, Server

ROWS = [
    {"id": str(n), "question": f"{n}?", "references": ["Paris"], "answer": said, "system": system}
    for system in ("one", "two")
    for n, said in enumerate(["Paris", "<b>Rome</b>", "It is **Paris**"])
]
ROWS = [{**row, "id": f"{row['system']}-{row['id']}"} for row in ROWS]
POST = {"x-markscheme": "form"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("view") / "runs"
    markscheme.judge(ROWS, ["exact_match", "contains"], out=top / "first")
    markscheme.judge(ROWS, ["contains"], out=top / "second")
    return top


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    app = make_app(folder, token="secret", form="form")
    with TestClient(app, base_url="http://127.0.0.1") as found:
        found.cookies.set(cookie_name("secret"), "secret")
        yield found


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs whose labels are grades from 1 to 3, three annotators' grades, and verdicts."""
    top = tmp_path_factory.mktemp("graded") / "runs"
    grades = [3, 1, 2, 1, 2, 3]
    for name, labels in (
        ("graded", [{"label": grade} for grade in grades]),
        ("rated", [{"annotator1": one, "annotator2": one, "annotator3": 1} for one in grades]),
        ("verdicts", [{"label": int(grade > 1)} for grade in grades]),
    ):
        rows = [{**row, **label} for row, label in zip(ROWS, labels, strict=True)]
        markscheme.judge(rows, "contains", out=top / name)
    return top


@contextmanager
def opened(folder: Path, **how: float) -> Iterator[TestClient]:
    app = make_app(folder, token="secret", form="form", **how)
    with TestClient(app, base_url="http://127.0.0.1") as found:
        found.cookies.set(cookie_name("secret"), "secret")
        yield found


@pytest.mark.parametrize("name", ["graded", "rated"])
def test_a_run_whose_labels_are_grades_opens_without_them_and_says_so(
    name: str, graded: Path
) -> None:
    with opened(graded) as client:
        page, figures = client.get(f"/runs/{name}"), client.get(f"/runs/{name}/figures").text
        assert page.status_code == 200
        assert "no labels" in page.text
        assert "labels are grades (1, 2, 3), which are left out here" in figures
        assert "--positive-from" in figures
        assert "No answer has a label" not in figures
        assert "left out here" in client.get(f"/runs/{name}/file").text
        assert client.get("/compare", params={"run": name, "with": "verdicts"}).status_code == 200
        assert "left out here" not in client.get("/runs/verdicts/figures").text


@pytest.mark.parametrize("name", ["graded", "rated"])
def test_a_grade_that_is_acceptable_shows_them_as_the_report_does(name: str, graded: Path) -> None:
    with opened(graded, positive_from=2) as client:
        assert "6 labels" in client.get(f"/runs/{name}").text
        shown = client.get(f"/runs/{name}/figures").text
        assert shown == figures_html(read_material(graded / name, positive_from=2))
        assert client.get("/runs/verdicts/figures").text == figures_html(
            read_material(graded / "verdicts")
        )


def test_a_comment_alone_is_no_verdict(graded: Path) -> None:
    with opened(graded) as client:

        def give(**body: Any) -> Any:
            sent = {"answer_id": "one-0", **body}
            said = client.post("/runs/verdicts/label", json=sent, headers=POST)
            assert said.status_code == 200, said.text
            return said.json()

        alone = give(comment="odd")
        assert (alone["labels"], alone["given"], alone["comments"]) == (0, {}, {"one-0": "odd"})
        given = give(label=0, comment="odd")
        assert (given["labels"], given["given"]) == (1, {"one-0": 0})
        again = give(comment="odd, and wrong")
        assert (again["labels"], again["comments"]) == (1, {"one-0": "odd, and wrong"})


def test_only_the_token_lets_in_and_only_under_this_machines_names(folder: Path) -> None:
    app = make_app(folder, token="secret", form="form")
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as stranger:
        assert stranger.get("/").status_code == 401
        assert stranger.get("/?token=wrong").status_code == 401
        assert stranger.get("/?token=secret", headers={"host": "evil.example"}).status_code == 421
        entered = stranger.get("/?token=secret")
        assert entered.status_code == 303
        assert "token" not in entered.headers["location"]
        cookies = " ".join(entered.headers.get_list("set-cookie")).lower()
        assert "httponly" in cookies
        assert cookies.count("samesite=strict") == 1
        assert stranger.get("/").status_code == 200


def test_two_viewers_in_one_browser_sign_nobody_out(folder: Path) -> None:
    """A browser sends the cookies of all ports of a machine to each of them."""
    first, second = (make_app(folder, token=one, form=f"form-{one}") for one in ("one", "two"))
    with TestClient(first, base_url="http://127.0.0.1") as client:
        client.get("/?token=one")
        with TestClient(second, base_url="http://127.0.0.1", cookies=client.cookies) as other:
            assert other.get("/?token=two").status_code == 200
            client.cookies = other.cookies
        assert 'data-form="form-one"' in client.get("/runs/first").text


def test_the_index_has_figures_and_dates(client: TestClient) -> None:
    page = client.get("/").text
    assert 'href="/runs/first"' in page
    assert "66.7" in page
    assert "done" in page


def test_a_runs_page_is_the_report_with_what_a_server_adds(client: TestClient) -> None:
    page = client.get("/runs/first")
    assert page.status_code == 200
    assert 'data-live="/runs/first"' in page.text
    assert "connect-src 'self'" in page.text
    assert page.headers["x-frame-options"] == "DENY"
    assert "section-accuracy" in client.get("/runs/first/figures").text
    later = client.get("/runs/first/later").json()
    assert len(later["answers"]["aligned"]) == 6
    assert [set(one) >= {"explanation", "raw"} for one in later["judges"]] == [True, True]


def test_two_runs_stand_side_by_side(client: TestClient) -> None:
    page = client.get("/compare", params={"run": "first", "with": "second"}).text
    assert 'data-query="?with=second"' in page
    assert "contains (second)" in page
    assert "section-runs" in client.get("/runs/first/figures", params={"with": "second"}).text
    assert len(client.get("/runs/first/later", params={"with": "second"}).json()["judges"]) == 3


def test_two_runs_side_by_side_are_saved_as_one_file(client: TestClient) -> None:
    page = client.get("/compare", params={"run": "first", "with": "second"}).text
    assert 'href="/runs/first/file?with=second"' in page
    saved = client.get("/runs/first/file", params={"with": "second"})
    assert 'filename="first-and-second.html"' in saved.headers["content-disposition"]
    assert "contains (second)" in saved.text


def test_runs_that_cannot_stand_side_by_side_lead_back_to_the_choice(client: TestClient) -> None:
    page = client.get("/")
    assert "<option selected>first" in page.text
    assert "<option selected>second" in page.text
    refused = client.get("/compare", params={"run": "first", "with": "<b>third"})
    assert refused.status_code == 404
    assert "there is no run" in refused.text
    assert "&lt;b&gt;third" in refused.text
    assert "Two runs side by side" in refused.text


def test_a_verdict_becomes_a_label_and_the_figures_follow(client: TestClient, folder: Path) -> None:
    for row in ROWS:
        said = client.post(
            "/runs/first/label",
            json={"answer_id": row["id"], "label": int("Paris" in row["answer"]), "comment": ""},
            headers=POST,
        )
        assert said.status_code == 200, said.text
    found = said.json()
    assert found["labels"] == 6
    assert "exact_match" in found["tables"]
    file = folder / "first.labels.jsonl"
    assert file.is_file()
    assert client.get("/runs/first").text.count("6 labels") == 1
    assert run(["agree", str(folder / "first"), "--labels", str(file)]) == 0


def test_no_label_is_stored_of_an_answer_that_the_run_has_not(
    client: TestClient, folder: Path
) -> None:
    body = {"answer_id": "no such id", "label": 1, "comment": ""}
    refused = client.post("/runs/second/label", json=body, headers=POST)
    assert refused.status_code == 422
    assert "no answer 'no such id'" in refused.json()["problem"]
    assert not (folder / "second.labels.jsonl").exists()


def test_nothing_is_written_for_another_sites_page(client: TestClient) -> None:
    body = {"answer_id": "one-0", "label": 1}
    assert client.post("/runs/first/label", json=body).status_code == 403
    assert client.post("/runs/first/label", json={"label": 7}, headers=POST).status_code == 422
    assert client.post("/runs/none/label", json=body, headers=POST).status_code == 409


@pytest.mark.parametrize("name", ["../first", "first/../second", "%2e%2e", "nothing"])
def test_only_runs_of_the_folder_can_be_named(client: TestClient, name: str) -> None:
    found: httpx.Response = client.get(f"/runs/{name}")
    assert found.status_code in (404, 200)
    assert found.status_code == 404 or 'data-live="/runs/second"' in found.text


def test_the_viewer_listens_on_this_machine_only(folder: Path) -> None:
    assert run(["view", str(folder), "--host", "0.0.0.0", "--no-browser"]) == 2
    assert run(["view", str(folder / "nothing"), "--no-browser"]) == 2


def test_a_body_without_a_length_is_measured(client: TestClient) -> None:
    refused = client.post(
        "/runs/first/label", content=iter([b"x" * LARGEST_BODY] * 2), headers=POST
    )
    assert refused.status_code == 413


def test_a_connection_whose_headers_never_end_is_closed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, addresses = threading.Event(), Queue[str]()

    async def is_over(server: Server, counter: int) -> bool:
        return stop.is_set()

    monkeypatch.setattr(BoundedProtocol, "header_seconds", 0.05)
    monkeypatch.setattr(Server, "on_tick", is_over)
    serving = threading.Thread(target=view, args=[folder], kwargs={"on_ready": addresses.put})
    serving.start()
    try:
        port = urlsplit(addresses.get(timeout=60)).port
        with socket.create_connection(("127.0.0.1", port or 0), timeout=60) as slow:
            slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-a: ")
            with suppress(ConnectionError):
                assert slow.recv(1) == b""
    finally:
        stop.set()
        serving.join()
