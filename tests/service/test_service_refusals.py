"""Whatever is wrong is answered in one shape, and nothing of the inside is shown."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from markscheme.errors import DataError, ModelError
from markscheme.service import judging
from markscheme.service.guard import OPEN
from markscheme.service.settings import Keys, Limits, Settings, read_keys
from service_helpers import KEY, OTHER_KEY, ROW, bearer, make

JSON = {"content-type": "application/json"}


def is_problem(response: Any, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert body["status"] == status
    assert body["type"] == "about:blank"
    assert body["title"] == HTTPStatus(status).phrase
    assert body["detail"]
    assert body["request_id"] == response.headers["x-request-id"]
    assert "Traceback" not in response.text
    return body


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"nul", 400),
        (b"[" * 100_000, 400),
        (b'{"answers": [' + b"9" * 5000 + b"]}", 400),
        (b"null", 422),
        (b"[]", 422),
        (b'"text"', 422),
        (b"{}", 422),
        (b'{"answers": []}', 422),
        (b'{"answers": {}}', 422),
        (b'{"answers": [1]}', 422),
        (b'{"answers": [NaN]}', 422),
        (b'{"answers": [{"question": "q", "references": ["r"]}]}', 422),
        (b'{"answers": [{"question": 1, "references": ["r"], "answer": "a"}]}', 422),
        (b'{"answers": [{"question": " ", "references": ["r"], "answer": "a"}]}', 422),
        (b'{"answers": [{"question": "q", "references": [""], "answer": "a"}]}', 422),
        (b'{"answers": [{"question": "q", "references": " ", "answer": "a"}]}', 422),
        (b'{"answers": [{"question": "q", "references": {"a": "r"}, "answer": "a"}]}', 422),
        (b'{"answers": [{"question": "q\\u0000", "references": ["r"], "answer": "a"}]}', 422),
        (b'{"answers": [{"question": "q", "references": ["r"], "answer": "a\\u0000"}]}', 422),
        (b'{"answers": [{"question": "q", "references": ["r"], "answer": "\\ud800"}]}', 422),
        (b'{"answers": [{"question": "q", "references": ["\\udfff"], "answer": "a"}]}', 422),
        (
            b'{"answers": [{"question": "q", "references": ["r"], "answer": "a", "\\ud800": 1}]}',
            422,
        ),
        (b'{"answers": [{"question": "q", "references": ["r"], "answer": "a", "label": 1}]}', 422),
        (
            b'{"answers": [{"question": "q", "references": ["r"], "answer": "a", '
            b'"reference_grades": [1, 2]}]}',
            422,
        ),
        (b'{"answers": [{"question": "q", "references": ["r"], "answer": "a"}], "judge": 7}', 422),
        (
            b'{"answers": [{"question": "q", "references": ["r"], "answer": "a"}], '
            b'"judge": "\\ud800"}',
            422,
        ),
    ],
)
def test_bodies_that_are_not_requests(client: TestClient, body: bytes, status: int) -> None:
    for path in ("/v1/judgments", "/v1/rewards"):
        is_problem(client.post(path, content=body, headers=JSON), status)


def test_what_is_wrong_is_said_with_its_place(client: TestClient) -> None:
    answers = [ROW, {**ROW, "answer": 7}]
    body = is_problem(client.post("/v1/judgments", json={"answers": answers}), 422)
    assert body["errors"] == [
        {"where": "body.answers.1.answer", "message": "Input should be a valid string"}
    ]


def test_too_many_problems_are_counted(client: TestClient) -> None:
    body = is_problem(client.post("/v1/judgments", json={"answers": [1] * 500}), 422)
    assert len(body["errors"]) == 20
    assert "500 values" in body["detail"]


@pytest.mark.parametrize("path", ["/v1/judgments", "/v1/rewards", "/v1/explanations"])
def test_the_problems_of_a_body_are_bounded_by_its_rows(client: TestClient, path: str) -> None:
    """Each costs memory and holds up the event loop: 70,000 wrong references once took 141 MB."""
    many = {**ROW, "references": [1] * 900}
    rows = [{**many, "reference_grades": ["a"] * 900}] * 30
    body = is_problem(client.post(path, json=many if "expl" in path else {"answers": rows}), 422)
    assert body["errors"][0]["where"].endswith("references.0")
    assert body["detail"].startswith("1 value " if "expl" in path else "60 values ")
    names = {f"n{number}": 1 for number in range(41)}
    assert "41 fields" in is_problem(client.post(path, json=names), 413)["detail"]


def test_rewards_between_numbers(client: TestClient) -> None:
    for value in ("NaN", "Infinity", "1e308", '"1"', "null"):
        sent = b'{"right": %s, "answers": []}' % value.encode()
        is_problem(client.post("/v1/rewards", content=sent, headers=JSON), 422)


def test_bodies_of_another_kind(client: TestClient) -> None:
    unnamed = is_problem(client.post("/v1/judgments", content=b'{"answers": []}'), 422)
    assert "content-type: application/json" in unnamed["detail"]
    is_problem(client.post("/v1/judgments", content=b"question=q"), 422)
    is_problem(client.post("/v1/judgments", data={"question": "q"}), 422)
    is_problem(client.post("/v1/jobs", json={"answers": [ROW]}), 422)


def test_compressed_bodies_are_named_so(client: TestClient) -> None:
    body = json.dumps({"answers": [ROW]}).encode()
    for sent, headers in (
        (gzip.compress(body), JSON | {"content-encoding": "gzip"}),
        (gzip.compress(body), JSON),
        (body, JSON | {"content-encoding": "br"}),
    ):
        refused = client.post("/v1/judgments", content=sent, headers=headers)
        assert "uncompressed" in is_problem(refused, 415)["detail"]
    plain = JSON | {"content-encoding": "identity"}
    assert client.post("/v1/judgments", content=body, headers=plain).status_code == 200


def test_a_text_alone_is_one_reference(client: TestClient) -> None:
    for path, one, several in (
        ("/v1/judgments", {"answers": [{**ROW, "references": "Jane Austen"}]}, {"answers": [ROW]}),
        (
            "/v1/explanations",
            {"question": "Who wrote Emma?", "references": "Austen", "answer": "Austen"},
            {"question": "Who wrote Emma?", "references": ["Austen"], "answer": "Austen"},
        ),
    ):
        found, right = (client.post(path, json=body) for body in (one, several))
        assert found.status_code == right.status_code == 200
        if path == "/v1/judgments":
            found, right = (one.json()["judgments"][0] for one in (found, right))
            assert (found["verdict"], found["id"]) == (right["verdict"], right["id"])
        else:
            assert found.json() == right.json()


def test_too_many_rows_and_too_large_bodies(opened: Any) -> None:
    client = opened(max_rows=3, max_body_mb=0.01)
    assert "limit is 3" in is_problem(
        client.post("/v1/judgments", json={"answers": [ROW] * 4}), 413
    )["detail"]  # fmt: skip
    large = {"answers": [{**ROW, "answer": "a" * 20_000}]}
    is_problem(client.post("/v1/judgments", json=large), 413)

    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield b" " * 1000

    is_problem(client.post("/v1/judgments", content=pieces(), headers=JSON), 413)
    for length in ("-1", "9" * 5000):
        is_problem(client.post("/v1/judgments", headers={**JSON, "content-length": length}), 413)
    assert client.post("/v1/judgments", json={"answers": [ROW] * 3}).status_code == 200


def test_other_addresses_and_methods(client: TestClient) -> None:
    is_problem(client.get("/nowhere"), 404)
    is_problem(client.get("/v1/jobs/" + "0" * 32), 404)
    is_problem(client.get("/v1/jobs/../../etc/passwd"), 404)
    is_problem(client.get("/v1/jobs/short"), 422)
    refused = client.get("/v1/judgments")
    assert is_problem(refused, 405)["detail"] == "this address takes POST"
    assert refused.headers["allow"] == "POST"
    refused = client.put("/v1/jobs/" + "0" * 32)
    is_problem(refused, 405)
    assert refused.headers["allow"] == "DELETE, GET"


def test_keys(opened: Any, keys: Keys, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    client = opened(keys=keys)
    sent = {"judge": "contains", "answers": [ROW]}
    wrong = ["", "Bearer", "Bearer ", "Bearer nonsense", f"Basic {KEY}", KEY, f"Bearer {KEY}x",
             f"Bearer {KEY[:-1]}", "Bearer # who may ask"]  # fmt: skip
    for value in wrong:
        refused = client.post("/v1/judgments", json=sent, headers={"authorization": value})
        is_problem(refused, 401)
        assert refused.headers["www-authenticate"].startswith("Bearer")
    is_problem(client.post("/v1/judgments", content=b"{", headers=JSON), 401)
    for path in ("/metrics", "/v1/judges", "/v1/jobs/" + "0" * 32):
        is_problem(client.get(path), 401)
    assert client.post("/v1/judgments", json=sent, headers=bearer(KEY)).status_code == 200
    for path in ("/healthz", "/openapi.json"):
        assert client.get(path).status_code == 200
    assert KEY not in caplog.text + repr(keys) + client.get("/metrics", headers=bearer(KEY)).text


def test_where_keys_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEYS", f"{KEY} another-long-enough-key")
    assert len(read_keys(None, "SOME_KEYS").digests) == 2
    assert not read_keys(None, None)
    short = tmp_path / "short"
    short.write_text("sesame\n")
    with pytest.raises(DataError, match="line 1: a key needs at least 16") as told:
        read_keys(short, None)
    assert "sesame" not in str(told.value)
    for file, variable in ((tmp_path / "none", None), (None, "NO_SUCH_VARIABLE")):
        with pytest.raises(DataError):
            read_keys(file, variable)
    (tmp_path / "empty").write_text("# nothing\n")
    with pytest.raises(DataError, match="holds no key"):
        read_keys(tmp_path / "empty", None)


def test_a_key_that_no_client_can_send_is_refused_at_the_start(tmp_path: Path, opened: Any) -> None:
    file = tmp_path / "keys"
    file.write_text(f"{KEY}\n", encoding="utf-8-sig")  # as Windows' editors save it
    client = opened(keys=read_keys(file, None))
    assert client.get("/v1/judges", headers=bearer(KEY)).status_code == 200
    for line in (f"{KEY} # for Ann", "schlüssel-für-die-anwendung"):
        file.write_text(f"{KEY}\n{line}\n", encoding="utf-8")
        with pytest.raises(DataError, match="line 2: a key has printable ASCII") as told:
            read_keys(file, None)
        assert line not in str(told.value)


def test_headers_of_every_response(client: TestClient) -> None:
    for path in ("/healthz", "/nowhere"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]
    named = {"x-request-id": "trace-7"}
    assert client.get("/healthz", headers=named).headers["x-request-id"] == "trace-7"
    named = {"x-request-id": "a b\tc" * 50}
    assert client.get("/healthz", headers=named).headers["x-request-id"] != named["x-request-id"]


def test_what_breaks_is_not_shown(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*given: Any) -> Any:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr(judging, "judge_rows", broken)
    refused = client.post("/v1/judgments", json={"answers": [ROW]})
    body = is_problem(refused, 500)
    assert "secret" not in refused.text
    assert body["request_id"] in caplog.text
    assert "a secret of the inside" in caplog.text


def test_a_judge_that_cannot_work_is_no_secret_told(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*given: Any) -> Any:
        raise ModelError("no weights in some/folder")

    monkeypatch.setattr(judging, "judge_rows", broken)
    refused = client.post("/v1/rewards", json={"answers": [ROW]})
    assert is_problem(refused, 503)["request_id"] in caplog.text
    assert "folder" not in refused.text


class Held:
    """A judge's work that stands still until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        real = judging.judge_rows

        def slow(*given: Any) -> Any:
            self.begun.set()
            assert self.go.wait(60)
            return real(*given)

        monkeypatch.setattr(judging, "judge_rows", slow)


@contextmanager
def answered_in_the_end(client: TestClient, held: Held) -> Iterator[None]:
    """A request is being judged; at the end it is let go, and gets its answer."""
    with ThreadPoolExecutor(1) as thread:
        sent = thread.submit(client.post, "/v1/judgments", json={"answers": [ROW]})
        assert held.begun.wait(60)
        yield
        held.go.set()
        assert sent.result(60).status_code == 200


def ready(client: TestClient) -> None:
    for _ in range(600):
        if client.get("/readyz").status_code == 200:
            return
        threading.Event().wait(0.1)
    raise AssertionError("not ready")


def test_a_full_queue_says_when_to_come_back(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client = opened(max_rows=1, queue_rows=1)
    ready(client)
    held = Held(monkeypatch)
    with answered_in_the_end(client, held):
        refused = client.post("/v1/judgments", json={"answers": [ROW]})
        is_problem(refused, 429)
        assert int(refused.headers["retry-after"]) >= 1


def test_what_takes_too_long_is_given_up(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client = opened(request_seconds=0.3)
    ready(client)
    held = Held(monkeypatch)
    refused = client.post("/v1/judgments", json={"answers": [ROW]})
    held.go.set()
    assert "time limit" in is_problem(refused, 503)["detail"]


def test_what_was_accepted_before_a_stop_has_no_time_limit(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = opened(request_seconds=600)
    ready(client)
    held = Held(monkeypatch)
    service = client.app.state.service
    with answered_in_the_end(client, held):
        (limit,) = service.time_limits
        assert limit.when() is not None
        client.portal.call(service.finish_accepted)
        assert limit.when() is None
    assert not service.time_limits


def test_ready_then_stopping(client: TestClient) -> None:
    ready(client)
    client.app.state.service.stopping = True  # type: ignore[attr-defined]
    stopping = client.get("/readyz")
    assert (stopping.status_code, stopping.json()) == (503, {"status": "stopping"})
    assert client.get("/healthz").status_code == 200
    is_problem(client.post("/v1/judgments", json={"answers": [ROW]}), 503)


def test_without_keys_other_names_are_refused(tmp_path: Path) -> None:
    from markscheme.service.app import make_app

    settings = Settings(jobs=tmp_path, hosts=frozenset({"localhost"}), limits=Limits())
    with TestClient(make_app(settings)) as client:
        is_problem(client.get("/v1/judges", headers={"host": "evil.example"}), 421)
        assert client.get("/v1/judges", headers={"host": "localhost:99"}).status_code == 200


def test_metrics(client: TestClient) -> None:
    ready(client)
    client.post("/v1/judgments", json={"judge": "contains", "answers": [ROW]})
    sent = {"judge": "contains", "answers": [{**ROW, "reference_kind": "regex"}]}
    client.post("/v1/rewards", json=sent)
    client.request("BREW", "/coffee/pot")
    text = client.get("/metrics").text
    for line in (
        'markscheme_requests_total{method="POST",route="/v1/judgments",status="200"} 1.0',
        'markscheme_requests_total{method="other",route="other",status="404"} 1.0',
        'markscheme_rows_total{judge="contains",status="judged"} 1.0',
        'markscheme_rows_total{judge="contains",status="skipped"} 1.0',
        "markscheme_queue_rows 0.0",
        'markscheme_jobs{state="queued"} 0.0',
    ):
        assert line in text
    assert 'markscheme_request_seconds_bucket{le="0.25",route="/v1/judgments"}' in text


def test_limits_that_contradict_each_other(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="a queue of 5 rows cannot take a request of 10"):
        make(tmp_path, max_rows=10, queue_rows=5)


@pytest.mark.parametrize("path", sorted(OPEN))
def test_no_body_is_waited_for_where_no_key_is_asked_for(path: str, tmp_path: Path) -> None:
    """300 slow bodies to /healthz took all places of those who have a key."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        raise AssertionError("the body is not read")

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "path": path, "raw_path": b"",
        "query_string": b"", "scheme": "http", "client": ("127.0.0.1", 1), "server": ("s", 1),
        "headers": [(b"host", b"localhost"), (b"content-length", b"1000")],
    }  # fmt: skip
    asyncio.run(make(tmp_path)(scope, receive, send))
    assert sent[0]["status"] == 405
    assert (b"allow", b"GET") in sent[0]["headers"]


TINY = b'{"answers":[' + b"{}," * 200_000 + b"{}]}"


@pytest.mark.parametrize(
    "body",
    [
        TINY,
        b'{"answers":[' + b'"",' * 200_000 + b'""]}',
        b"{" + b",".join(b'"%x":1' % n for n in range(100_000)) + b"}",
        b'{"answers":["' + b'\\"' * 300_000,
        b'{"answers":[{' + b",".join(b'"%x":1' % n for n in range(49_000)) + b"}]}",
        b"[" * 3_000_000,
        b'{"answers":[' + b"9" * 3_000_000 + b"]}",
        TINY.decode().encode("utf-16"),
    ],
)
def test_bodies_of_very_many_parts_are_refused_before_they_are_checked(
    client: TestClient, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def checked(*given: Any, **options: Any) -> Any:
        raise AssertionError("the schema is not reached")

    monkeypatch.setattr("fastapi._compat.ModelField.validate", checked)
    refused = client.post("/v1/judgments", content=body, headers=JSON)
    assert refused.status_code in (400, 413), refused.text


def test_large_bodies_are_checked_as_small_ones_are(client: TestClient) -> None:
    answers = [{**ROW, "answer": f"{n} Jane Austen"} for n in range(400)]
    sent = {"judge": "contains", "answers": answers}
    found = client.post("/v1/judgments", json=sent).json()["judgments"]
    assert all(one["verdict"] for one in found)
    body = is_problem(
        client.post("/v1/judgments", json={"answers": [*answers, {**ROW, "answer": 7}]}), 422
    )
    assert body["errors"][0]["where"] == "body.answers.400.answer"
    assert "limit is 1000" in is_problem(
        client.post("/v1/judgments", json={"answers": [{}] * 1_001}), 413
    )["detail"]  # fmt: skip


def test_one_key_cannot_take_anothers_room(tmp_path: Path, keys: Keys) -> None:
    """Requests and bytes under way are counted by key, and given back."""
    app = make(tmp_path, keys=keys, open_requests=2, max_body_mb=0.01)
    statuses: dict[str, list[int]] = {KEY: [], OTHER_KEY: []}

    async def ask(key: str, go: asyncio.Event) -> None:
        async def receive() -> dict[str, Any]:
            await go.wait()
            return {"type": "http.request", "body": b"{", "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses[key].append(message["status"])

        headers = {**bearer(key), "host": "localhost", "content-length": "1", **JSON}
        scope = {
            "type": "http", "http_version": "1.1", "method": "POST", "path": "/v1/judgments",
            "raw_path": b"", "query_string": b"", "scheme": "http", "client": ("127.0.0.1", 1),
            "server": ("s", 1), "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
        }  # fmt: skip
        await app(scope, receive, send)

    async def all_of_them() -> None:
        go = asyncio.Event()
        waiting = [asyncio.create_task(ask(KEY, go)) for _ in range(5)]
        await asyncio.sleep(0.05)
        assert statuses[KEY] == [429] * 3
        other = asyncio.create_task(ask(OTHER_KEY, go))
        await asyncio.sleep(0.05)
        assert not statuses[OTHER_KEY]
        go.set()
        await asyncio.gather(*waiting, other)
        await ask(KEY, go)

    asyncio.run(all_of_them())
    assert statuses == {KEY: [429] * 3 + [400] * 3, OTHER_KEY: [400]}


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json", "/", "/metrics"])
def test_reading_takes_no_body(client: TestClient, path: str, method: str) -> None:
    """None is read: the answer is as without it, and the connection ends with it."""
    answered = client.request(method, path, content=b"a")
    assert answered.headers["connection"] == "close"
    bare = client.request(method, path)
    assert (answered.status_code, "connection" in bare.headers) == (bare.status_code, False)


def test_a_method_that_a_path_lacks_is_405_with_a_body_too(client: TestClient) -> None:
    for path in ("/v1/judgments", "/v1/jobs", "/v1/explanations"):
        refused = client.request("GET", path, content=b"{}")
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
