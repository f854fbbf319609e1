"""The environment's proxy is used, its exceptions are, and no password is taken from ~/.netrc."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import markscheme
from markscheme.models import ModelOptions, Models, ServerOptions
from markscheme.models.chat import http
from markscheme.testing import FaultServer, ServerReply

ROWS = [{"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Jane Austen"}]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "")
    http._proxy_for.cache_clear()
    yield
    http._proxy_for.cache_clear()


def judged(address: str, folder: Path) -> str:
    server = ServerOptions(base_url=address, retries=0, timeout=10)
    options = ModelOptions(model="m", server=server, ledger=str(folder / "ledger.sqlite"))
    with contextlib.closing(Models(options=options)) as models:
        return str(markscheme.judge(ROWS, "llm_kamalloo", models=models).judgments["status"][0])


def test_requests_go_through_the_proxy_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultServer([ServerReply(content="Yes")]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        assert judged("http://models.example/v1", tmp_path) == "judged"
        assert len(proxy.requests) == 1


def test_what_no_proxy_names_is_asked_directly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FaultServer([ServerReply(content="Yes")]) as server:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert judged(server.url, tmp_path) == "judged"


def test_a_server_without_a_key_gets_no_password_of_netrc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret-of-mine\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with FaultServer([ServerReply(content="Yes")]) as server:
        assert judged(server.url, tmp_path) == "judged"
        (headers,) = server.headers
    assert not any("basic" in value.lower() for value in headers.values())
