"""A service in this process, one in a process of its own, and rows to send."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from markscheme.service.app import make_app
from markscheme.service.settings import Keys, Limits, Settings

KEY = "a-key-that-nobody-guesses"
OTHER_KEY = "another-key-nobody-guesses"
ROW: dict[str, Any] = {
    "question": "Who wrote Emma?",
    "references": ["Jane Austen"],
    "answer": "Jane Austen",
}


def make(
    folder: Path, *, keys: Keys | None = None, allow: tuple[str, ...] = (), **limits: Any
) -> FastAPI:
    """An app whose jobs are in a folder; it judges in threads, as processes have own tests."""
    settings = Settings(jobs=folder / "jobs", limits=Limits(**limits), processes=False)
    return make_app(settings, keys=keys, allow=allow)


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def until(client: Any, path: str, *states: str, **options: Any) -> dict[str, Any]:
    """A job once it is in one of the states."""
    job: dict[str, Any] = {}
    for _ in range(1800):
        job = client.get(path, **options).json()
        if job["state"] in states:
            return job
        time.sleep(0.1)
    raise AssertionError(f"still {job}")


@contextmanager
def server(
    folder: Path, *options: str, program: Sequence[str] = ("-m", "markscheme")
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """`markscheme serve` in a process of its own, and its address; `program` gives its arguments
    to the command line."""
    log = folder / "log"
    command = [sys.executable, *program, "serve", "--port", "0",
               "--jobs", str(folder / "jobs"), *options]  # fmt: skip
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream)
    try:
        for _ in range(600):
            said = re.search(r"serving on (http\S+);", log.read_text())
            if said:
                yield process, said[1]
                break
            assert process.poll() is None, log.read_text()
            time.sleep(0.2)
        else:
            raise AssertionError(f"the service does not come up: {log.read_text()}")
    finally:
        process.kill()
        process.wait()
