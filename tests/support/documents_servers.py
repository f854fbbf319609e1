"""What documents take to be elsewhere, on loopback: a language model, a database, a store, Ray.

The model is a real server of OpenAI's protocol whose replies are made by rules from what it is
asked, so that the client, the ledger, the budget and the reading of replies are the real ones.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from zlib import crc32

from s3_store import s3_store
from servers import Answer, ChatServer, last_message

OURS = re.compile(r"localhost:8000")
"""Where documents say that a service of ours listens."""

SECONDS = 120
"""How long a server may take to come up or to stop."""


# --- a language model ---------------------------------------------------------------------------

PAIR = re.compile(r"convert this pair:\s+Q: (?P<q>.*)\sA: (?P<a>.*)\sS:$", re.DOTALL)
TEST = re.compile(r"Premise: (?P<p>.*)\sHypothesis: (?P<h>.*)\s\sIs it entailment", re.DOTALL)
KAMALLOO = re.compile(r"\n\nAnswer: (?P<r>.*)\n\nCandidate: (?P<a>.*)\n\nIs candidate", re.DOTALL)
EVOUNA = re.compile(r"Golden Answers: (?P<r>[^;]*); AI-generated answer: (?P<a>.*); A:$", re.DOTALL)
SCORE = re.compile(r"Golden answers: (?P<r>.*) AI answer: (?P<a>.*)", re.DOTALL)
STRICT = re.compile(r"References: (?P<r>.*)\nAnswer: (?P<a>.*)\nIs the answer right", re.DOTALL)
TAGGED = r"<{}-[0-9a-f]+>\n(.*?)\n</{}-"


def said(message: str, schema: bool) -> str:
    """What the model replies: a reference that stands in the answer makes it right."""
    if found := PAIR.search(message):
        from markscheme_research.statements.statement import statement

        return statement(found["q"], found["a"]) or "It is so."
    if found := TEST.search(message):
        entails = set(found["h"].casefold().split()) <= set(found["p"].casefold().split())
        return "entailment" if entails else "neutral"
    if schema:
        (answer,) = re.findall(TAGGED.format("answer", "answer"), message, re.DOTALL)
        return graded(right(re.findall(TAGGED.format("reference", "reference"), message), answer))
    if found := KAMALLOO.search(message):
        return "Yes" if right(found["r"].split(" or "), found["a"]) else "No"
    if found := EVOUNA.search(message):
        return "Yes" if right(found["r"].split("/"), found["a"]) else "No"
    if found := SCORE.search(message):
        return "5" if right(found["r"].split("/"), found["a"]) else "1"
    if found := STRICT.search(message):
        return "Yes" if right(found["r"].split("; "), found["a"]) else "No"
    if "rank in double brackets" in message:
        return f"[[{1 + len(message) % 3}]]"
    # Each text its own: a list in which two grades have one text is incomplete.
    return f"Some {crc32(message.encode())} in reply to: {message[-60:]}"


def right(references: list[str], answer: str) -> bool:
    """Whether a reference stands in the answer."""
    return any(one.casefold() in answer.casefold() for one in references)


def graded(accepted: bool) -> str:
    """The object that llm_grader asks for."""
    return json.dumps(
        {
            "reason": "By the words of the reference.",
            "supported_claims": [],
            "unattributable_claims": [],
            "relation": "equivalent" if accepted else "incorrect",
            "verdict": "yes" if accepted else "no",
            "marks": float(accepted),
        }
    )


class ChatModel(ChatServer):
    """The model's server."""

    def __init__(self) -> None:
        super().__init__(lambda body, _: Answer(text=said(last_message(body), schema_in(body))))


def schema_in(body: dict[str, Any]) -> bool:
    """Whether a request wants JSON."""
    return "response_format" in body


# --- our own servers ----------------------------------------------------------------------------


class Serving:
    """`markscheme serve` or `annotate` in a process of its own, as typed but for the port.

    Attributes:
        address: host and port.
    """

    def __init__(self, words: list[str]) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"localhost:{port}"
        self._log = Path("build", f"{words[0]}-{port}.txt").resolve()
        command = [sys.executable, "-m", "markscheme", *words, "--port", str(port)]
        with self._log.open("wb") as stream:
            self._process = subprocess.Popen(command, stdout=stream, stderr=stream)
        until_it_answers(
            f"http://127.0.0.1:{port}/{'readyz' if words[0] == 'serve' else 'health'}",
            self._process, self._log,
        )  # fmt: skip

    def label_everything(self) -> None:
        """Let everybody who got a link label all that there is, at the same time, as people do.

        Ben differs now and then, and who settles disagreements comes last. The second time there
        is nothing left.
        """
        rows = map(json.loads, Path("examples/answers.jsonl").read_text("utf-8").splitlines())
        known = {" ".join(row["answer"].split()) or "(no answer)": row["label"] for row in rows}
        links = re.findall(r"^  (\S+) +(\w+) +http\S+#(\S+)$", self._log.read_text(), re.MULTILINE)
        assert {"Ann", "Ben"} <= {name for name, _, _ in links}, self._log.read_text()
        for group in ("annotator", "adjudicator"):
            people = [(name, token) for name, role, token in links if role == group]
            with ThreadPoolExecutor(2) as pool:
                list(pool.map(lambda one: self._label(*one, known), people))

    def _label(self, name: str, token: str, known: dict[str, int]) -> None:
        """Sit before the browser until nothing is left for this person."""
        import httpx

        from annotate_helpers import Worker

        with httpx.Client(base_url=f"http://{self.address}", timeout=60) as http:
            worker = Worker(http, token)
            worker.look()
            while worker.item:
                right = bool(known[" ".join(html.unescape(worker.answer).split())])
                differs = name == "Ben" and int(worker.item) % 10 == 0
                assert worker.say("1" if right != differs else "0").is_success

    def stop(self, *, checked: bool) -> None:
        """Ask it to stop, as Ctrl+C does.

        Raises:
            AssertionError: it does not, or does not end with 0.
        """
        self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        assert code == 0 or not checked, f"ends with {code}: {self._log.read_text()}"


def until_it_answers(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server says anything but that it is not ready.

    Raises:
        AssertionError: it ends, or takes too long.
    """
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except urllib.error.HTTPError as error:
            if error.code != 503:
                return
        except OSError:
            pass
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"no server at {url}: {log.read_text()}")
        time.sleep(0.1)


# --- servers of others --------------------------------------------------------------------------


@contextlib.contextmanager
def database() -> Iterator[None]:
    """PostgreSQL, found under whatever host a URL names, with an empty database `ledger`."""
    import psycopg

    from postgres import PASSWORD, running

    with running() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE ledger")
        port = url.rpartition(":")[2].partition("/")[0]
        os.environ |= {"PGHOSTADDR": "127.0.0.1", "PGPORT": port, "PGPASSWORD": PASSWORD}
        yield


@contextlib.contextmanager
def store() -> Iterator[None]:
    """S3, with the example in two Parquet files."""
    import polars as pl
    import s3fs

    with s3_store() as variables:
        os.environ |= variables
        found = s3fs.S3FileSystem()
        found.mkdir("bucket")
        answers = pl.read_ndjson("examples/answers.jsonl")
        for name, part in (("a", answers.head(124)), ("b", answers.tail(124))):
            part.write_parquet(f"build/{name}.parquet")
            found.put(f"build/{name}.parquet", f"bucket/answers/{name}.parquet")
        yield


CLUSTER = """
import sys, ray
begun = ray.init("local", num_cpus=2, include_dashboard=False)
print(begun.address_info["gcs_address"], flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def cluster() -> Iterator[None]:
    """A Ray cluster in a process of its own, which `auto` finds; it ends with its input."""
    import ray

    process = subprocess.Popen(
        [sys.executable, "-c", CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    os.environ["RAY_ADDRESS"] = process.stdout.readline().strip()
    try:
        yield
    finally:
        ray.shutdown()
        process.stdin.close()
        process.wait(SECONDS)


ELSEWHERE: dict[str, Callable[[], AbstractContextManager[None]]] = {
    r"postgresql://": database,
    r"s3://": store,
    r"--ray-address auto": cluster,
}
"""What a page that names it needs. Ray comes last: its workers get the others' addresses."""
