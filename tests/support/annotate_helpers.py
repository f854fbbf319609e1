"""A project in memory of a test, a client signed in, and a server in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import orjson
from fastapi.testclient import TestClient

from markscheme.annotate.app import make_app
from markscheme.annotate.context import Site
from markscheme.annotate.database import Store
from markscheme.annotate.options import AnnotateOptions
from markscheme.annotate.setup import Ready, prepare

ADDRESS = "http://127.0.0.1"


def write_rows(path: Path, rows: list[dict[str, Any]]) -> str:
    """Rows as a JSONL file; its path."""
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return str(path)


def answers(count: int = 4, *, systems: int = 1) -> list[dict[str, Any]]:
    """Questions 0, 1, ...; each system answers differently."""
    return [
        {
            "id": f"q{n}-s{s}",
            "question": f"Question {n}?",
            "references": [f"right {n}"],
            "answer": f"answer {n} of {s}",
            "system": f"system-{s}",
        }
        for n in range(count)
        for s in range(systems)
    ]


def fields_of(html: str) -> dict[str, str]:
    """Names and values of the hidden fields of the form for the answer."""
    form = html[html.index('id="answer"') :] if 'id="answer"' in html else html
    found: dict[str, str] = {}
    for tag in re.findall(r'<input type="hidden"[^>]*>', form):
        name = re.search(r'name="([^"]*)"', tag)
        value = re.search(r'value="([^"]*)"', tag)
        assert name
        assert value
        found.setdefault(name[1], value[1])
    return found


class Worker:
    """Somebody at a browser that understands neither scripts nor styles."""

    def __init__(self, http: Any, token: str) -> None:
        self.http = http
        signed = http.post("/session", data={"token": token})
        assert signed.status_code == 303, signed.text
        self.html = ""

    def look(self) -> str:
        """Load the page."""
        page = self.http.get("/", headers={"hx-request": "true"})
        assert page.status_code == 200, page.text
        self.html = page.text
        return self.html

    @property
    def item(self) -> str:
        """The item before them; empty if there is none."""
        return fields_of(self.html).get("item", "") if 'id="answer"' in self.html else ""

    @property
    def answer(self) -> str:
        """The answer before them."""
        found = re.search(r"<div class=\"answer-text\"><p[^>]*>([^<]*)</p>", self.html)
        return found[1] if found else ""

    def post(self, path: str, **data: str) -> httpx.Response:
        """Send a form as htmx does."""
        response: httpx.Response = self.http.post(path, data=data, headers={"hx-request": "true"})
        return response

    def say(self, what: str, **more: str) -> httpx.Response:
        """Press a button of the form before them."""
        response = self.post("/label", **{**fields_of(self.html), "say": what, **more})
        if response.status_code in (200, 409):
            self.html = response.text
        return response

    def undo(self) -> str:
        """Press undo."""
        form = self.html[self.html.index('id="undo"') :]
        response = self.post("/undo", **fields_of(form))
        assert response.status_code == 200, response.text
        self.html = response.text
        return self.html


class Place:
    """A project with its app, in this process."""

    def __init__(self, location: str | Path, setup: AnnotateOptions) -> None:
        self.store = Store(location)
        self.ready: Ready = prepare(self.store, setup)
        self.tokens = {name: token for name, _, token in self.ready.tokens}
        self.site = Site(
            store=self.store,
            project=self.ready.project,
            address=ADDRESS,
        )
        self.app = make_app(self.site)

    def client(self) -> TestClient:
        """A browser without cookies."""
        return TestClient(self.app, base_url=ADDRESS, follow_redirects=False)

    def worker(self, name: str) -> Worker:
        """Somebody signed in, with their first page before them if they label."""
        worker = Worker(self.client(), self.tokens[name])
        if name != "admin":
            worker.look()
        return worker

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a query of the test's own gives."""
        return self.store.read(lambda c: [tuple(r) for r in c.exec_driver_sql(sql).fetchall()])


@contextmanager
def place(location: str | Path, setup: AnnotateOptions) -> Iterator[Place]:
    """A project that is closed at the end."""
    made = Place(location, setup)
    try:
        yield made
    finally:
        made.store.close()


class Server:
    """`markscheme annotate` in a process of its own, or what a script makes of it."""

    def __init__(self, *arguments: str, log: Path, script: str = "") -> None:
        self.log = log
        begun = [sys.executable, *(["-c", script] if script else ["-m", "markscheme"])]
        with log.open("wb") as stream:
            self.process = subprocess.Popen(
                [*begun, "annotate", *arguments, "--port", "0"],
                stdout=stream,
                stderr=stream,
            )
        self.address = self._wait()

    def _wait(self) -> str:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            said = re.search(r"serving on (http\S+);", self.log.read_text())
            if said:
                try:
                    if httpx.get(f"{said[1]}/health", timeout=5).text == "ok":
                        return said[1]
                except httpx.TransportError:
                    pass
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)
        raise AssertionError(f"the server does not come up: {self.log.read_text()}")

    @property
    def links(self) -> dict[str, str]:
        """Personal links by name, as they were printed."""
        found = re.findall(r"^  (\S+) +\w+ +(http\S+)$", self.log.read_text(), re.MULTILINE)
        return dict(found)

    def kill(self) -> None:
        """As the power cut does it to a process."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """As Ctrl+C does it."""
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()


@contextmanager
def server(*arguments: str, log: Path, script: str = "") -> Iterator[Server]:
    """A server that is stopped at the end."""
    made = Server(*arguments, log=log, script=script)
    try:
        yield made
    finally:
        made.stop()
