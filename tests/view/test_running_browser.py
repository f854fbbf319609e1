"""A run that is going on, seen in a browser: each new judgment, while the model is still slow."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from markscheme.testing import FaultServer, ServerReply
from markscheme.view import make_app
from markscheme.web import take_port

pytestmark = pytest.mark.proof(area="browser")


def test_a_judgment_of_a_running_run_is_seen_while_the_next_is_waited_for(
    chromium: str, tmp_path: Path
) -> None:
    import uvicorn
    from playwright.sync_api import sync_playwright

    rows = [
        {"question": f"What is {n}?", "references": ["r"], "answer": f"a{n}"} for n in range(400)
    ]
    file, runs = tmp_path / "rows.jsonl", tmp_path / "runs"
    file.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    runs.mkdir()
    seen = threading.Event()

    def says(body: dict[str, Any], before: int) -> ServerReply:
        """The first eight rows have replies; the others wait until the page shows one of them."""
        row = re.search(r"What is (\d+)\?", str(body["messages"]))
        assert row
        if int(row[1]) >= 8:
            seen.wait(120)
        return ServerReply(content="Yes")

    socket = take_port("127.0.0.1", 0)
    app = make_app(runs, token="running", form="form")
    web = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=web.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    with FaultServer(says) as server, sync_playwright() as playwright:
        command = [sys.executable, "-m", "markscheme", "judge", str(file), "-j", "llm_kamalloo",
                   "-m", "m", "--base-url", server.url, "--concurrency", "4", "--ledger",
                   str(tmp_path / "l.sqlite"), "-o", str(runs / "slow"), "-q"]  # fmt: skip
        process = subprocess.Popen(command)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(60_000)
        try:
            while not (runs / "slow" / "run.json").is_file():
                assert process.poll() is None
                time.sleep(0.05)
            page.goto(f"http://127.0.0.1:{socket.getsockname()[1]}/?token=running")
            page.wait_for_selector("td.progress:text-matches('llm_kamalloo [1-9]')")
            assert process.poll() is None
            assert "running: llm_kamalloo" in page.inner_text("td.progress")
            seen.set()
            page.wait_for_selector("td.progress:has-text('100.0')")
            assert process.wait(60) == 0
        finally:
            seen.set()
            process.wait(60)
            browser.close()
            web.should_exit = True
            thread.join(10)
