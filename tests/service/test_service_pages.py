"""Pages of the service: what it is, its reference, a playground; and explanations."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from starlette.testclient import TestClient

from markscheme.service.pages import _reached
from markscheme.service.settings import Keys
from service_helpers import KEY, ROW, bearer

PAGES = ("/", "/docs", "/playground")


@pytest.mark.parametrize("path", PAGES)
def test_a_page_says_what_the_service_is_and_loads_nothing_from_elsewhere(
    client: TestClient, path: str
) -> None:
    page = client.get(path)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    for address in re.findall(r'(?:src|href)="([^"]*)"', page.text):
        assert address.startswith(("/", "data:,")), address
    assert "{{" not in page.text


@pytest.mark.parametrize(
    ("host", "shown"), [("127.0.0.1:8000", "curl http://127.0.0.1:8000/v1"),
                        ("localhost", "curl http://localhost/v1")]
)  # fmt: skip
def test_the_command_to_copy_has_the_address_under_which_the_service_was_reached(
    client: TestClient, host: str, shown: str
) -> None:
    assert shown in client.get("/", headers={"host": host}).text


def test_an_address_that_is_none_is_not_shown() -> None:
    assert _reached("http", "evil'; rm -rf ~") == "ADDRESS"
    assert _reached("http", "<b>") == "ADDRESS"


@pytest.mark.parametrize("path", PAGES)
def test_pages_need_no_key_and_tell_nothing_that_a_key_guards(
    opened: Callable[..., TestClient], keys: Keys, path: str
) -> None:
    client = opened(keys=keys, allow=("exact_match",))
    page = client.get(path)
    assert page.status_code == 200
    assert KEY not in page.text
    assert "exact_match" not in page.text
    assert client.post(path).status_code in (401, 405)
    assert client.get("/v1/judges").status_code == 401


def test_an_explanation_has_what_decided(client: TestClient) -> None:
    found = client.post("/v1/explanations", json={**ROW, "answer": "It was **Jane Austin**."})
    assert found.status_code == 200, found.text
    said = found.json()
    assert "<strong>" in said["answer"]
    assert [one["spans"] for one in said["references"]] == [[0, 4]]
    assert said["decided"]["effects"]


def test_the_examiner_is_explained_only_where_it_judges_as_explained(
    opened: Callable[..., TestClient],
) -> None:
    """One with another threshold may reject what the explanation says is accepted."""
    client = opened(allow=("examiner(threshold=0.999, depth=fast)",))
    assert client.post("/v1/judgments", json={"answers": [ROW]}).status_code == 200
    assert client.post("/v1/explanations", json=ROW).json()["decided"] is None


def test_explanations_are_bounded_and_guarded(
    opened: Callable[..., TestClient], keys: Keys
) -> None:
    client = opened(keys=keys, allow=("exact_match",))
    assert client.post("/v1/explanations", json=ROW).status_code == 401
    long = {**ROW, "answer": "x" * 5_001}
    assert client.post("/v1/explanations", json=long, headers=bearer(KEY)).status_code == 422
    many = {**ROW, "references": ["a"] * 21}
    assert client.post("/v1/explanations", json=many, headers=bearer(KEY)).status_code == 422
    found = client.post("/v1/explanations", json=ROW, headers=bearer(KEY)).json()
    assert found["decided"] is None, "the examiner is not served"
