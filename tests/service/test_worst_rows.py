"""One key's worst rows neither hold up another key's nor go on after their limit."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from markscheme.service.app import make_app
from markscheme.service.settings import Limits, Settings, read_keys
from service_helpers import KEY, OTHER_KEY, ROW, bearer

REFERENCES = 12
REQUESTS = 40


def heavy(words: int) -> dict[str, Any]:
    """A row for `claims` whose references and answer have `words` words each, all different."""
    texts = [
        " ".join(f"{place:x}{chr(97 + number)}" for place in range(words))
        for number in range(REFERENCES)
    ]
    return {"question": "What is it?", "references": texts, "answer": texts[0]}


@pytest.mark.proof(area="attacks")
def test_another_keys_answers_come_while_one_sends_the_worst(tmp_path: Path) -> None:
    """Twelve references of 15,000 words: once 108 s, not cancelled, while others got nothing."""
    keys = tmp_path / "keys"
    keys.write_text(f"{KEY}\n{OTHER_KEY}\n")
    settings = Settings(jobs=tmp_path / "jobs", limits=Limits(row_seconds=5, request_seconds=240))
    app = make_app(settings, keys=read_keys(keys, None), allow=("exact_match", "claims"))
    sent = {"judge": "claims", "answers": [heavy(2_400), heavy(15_000), ROW]}
    small = {"judge": "exact_match", "answers": [ROW]}
    waited = []
    with TestClient(app) as client, ThreadPoolExecutor(2) as threads:
        client.post("/v1/judgments", json={**sent, "answers": [ROW]}, headers=bearer(KEY))
        client.post("/v1/judgments", json=small, headers=bearer(OTHER_KEY))
        worst = [
            threads.submit(client.post, "/v1/judgments", json=sent, headers=bearer(KEY))
            for _ in range(2)
        ]
        during = 0
        for _ in range(REQUESTS):
            began = time.perf_counter()
            found = client.post("/v1/judgments", json=small, headers=bearer(OTHER_KEY))
            waited.append(time.perf_counter() - began)
            during += not all(one.done() for one in worst)
            assert found.json()["judgments"][0]["verdict"] is True
        assert during, "the worst rows were done before anybody else asked"
        assert client.get("/readyz", headers=bearer(OTHER_KEY)).status_code == 200
        for one in worst:
            outcomes = one.result(240).json()["judgments"]
            assert [each["status"] for each in outcomes[1:]] == ["failed", "judged"]
            assert outcomes[1]["explanation"].startswith("too long")
            print(f"the row within the limit: {outcomes[0]['status']}")
    print(f"the longest of {REQUESTS} waits of the other key: {max(waited) * 1000:.0f} ms")
