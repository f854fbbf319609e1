"""Memory that ends while labels or replies are stored, or a judge is trained."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from annotate_helpers import Worker, answers, server, write_rows
from markscheme.annotate.database import Store
from markscheme.cli import run
from markscheme.contract import ChatRequest, Message
from markscheme.models.ledger.ledger import Ledger, LedgerEntry
from markscheme.web import NO_MEMORY

pytestmark = [
    pytest.mark.proof(area="attacks"),
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux's"),
]
SUPPORT = Path(__file__).parents[1] / "support"
MORE = (0, 2, 8, 32, 128)
"""Megabytes that a process may reserve beyond what it has once it is ready; the last are enough
for a while."""

LIMIT = """
import resource, sys
from pathlib import Path
def limit(megabytes):
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + megabytes * 2**20, resource.RLIM_INFINITY))
def done(what):
    sys.stdout.write(f"{what}\\n")
    sys.stdout.flush()
"""

LABELLING = """
import sys
from markscheme.annotate.database import Store
from markscheme.cli import run
submit, holding = Store.submit, []
def smaller(store, work):
    holding.append(bytearray(2**20))
    return submit(store, work)
Store.submit = smaller
sys.exit(run(sys.argv[1:]))
"""
"""The labelling server, whose process holds a megabyte more with each thing that it stores."""

REPLIES = """
from markscheme.contract import ChatReply, ChatRequest, Message
from markscheme.models.ledger.ledger import Ledger, LedgerEntry
path, more = sys.argv[1:]
ledger = Ledger(path)
holding = []
def put(number):
    message = Message(role="user", content=f"Is answer {number} right?")
    entry = LedgerEntry.of("m", "r", ChatRequest(messages=(message,), seed=number))
    ledger.put(entry, ChatReply(status="ok", text=f"reply {number} " * 20_000))
put(0)
limit(int(more))
for number in range(1, 60):
    put(number)
    done(number)
    holding.append(bytearray(2**20))
ledger.flush()
"""

TRAINING = """
from markscheme.cli import run
import lightgbm, onnx, sklearn.linear_model, markscheme_research.training.examiner
file, out, more = sys.argv[1:]
train = ["train", "examiner", "--data", file, "--out", out, "--alone"]
limit(int(more))
sys.exit(run([*train, "--rounds", "10", "--folds", "2"]))
"""


def limit(process: int, megabytes: int) -> None:
    """How much address space a process may take beyond what it has now."""
    now = int(Path(f"/proc/{process}/statm").read_text().split()[0]) * resource.getpagesize()
    resource.prlimit(process, resource.RLIMIT_AS, (now + megabytes * 2**20, resource.RLIM_INFINITY))


def child(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process that ends as it will: by an error that says why, or by a signal, since orjson and
    other native code may crash where no memory is left."""
    environment = {**os.environ, "PYTHONPATH": f"{SUPPORT}:{os.environ.get('PYTHONPATH', '')}"}
    ended = subprocess.run(
        [sys.executable, "-c", LIMIT + script, *arguments],
        check=False, capture_output=True, text=True, timeout=300, env=environment,
    )  # fmt: skip
    assert ended.returncode <= 0 or ended.stderr.strip(), "nothing said why"
    return ended


@pytest.mark.parametrize("begun", [True, False], ids=["at the first label", "at the start"])
@pytest.mark.parametrize("more", MORE)
def test_labels_that_were_acknowledged_are_there(tmp_path: Path, more: int, begun: bool) -> None:
    """Of `markscheme annotate`, which replies to each request or ends, and never hangs."""
    file, project = write_rows(tmp_path / "a.jsonl", answers(60)), tmp_path / "labels.sqlite"
    acknowledged: dict[str, str] = {}
    refused = "Server Error"
    arguments = (file, "--project", str(project), "-a", "Ann", "--order", "file")
    with server(*arguments, log=tmp_path / "log", script=LABELLING) as running:
        with httpx.Client(base_url=running.address, timeout=60) as http:
            try:
                limit(running.process.pid, 1000 if begun else more)
                ann = Worker(http, running.links["Ann"].partition("#")[2])
                ann.look()
                limit(running.process.pid, more)
                for number in range(60):
                    item, value = ann.item, str(number % 2)
                    replied = ann.say(value, note="x" * 5_000)
                    if not replied.is_success:
                        assert replied.status_code >= 500
                        break
                    acknowledged[item] = value
            except AssertionError as error:
                refused = str(error)  # Where a page was needed.
            except (httpx.NetworkError, httpx.RemoteProtocolError):
                pass  # The connection was closed: by an error in the event loop, or by the end.
        ended = running.process.poll()
    if len(acknowledged) < 60:
        log = running.log.read_text()
        assert NO_MEMORY in log or "MemoryError" in log or (ended or 0) < 0, log
        assert "The server cannot save" in refused or "Server Error" in refused
    store = Store(project)
    found = store.read(
        lambda c: c.execute(
            text("SELECT item_id, value FROM ratings WHERE value IS NOT NULL")
        ).all()
    )
    store.close()
    labels = {str(item): f"{value:g}" for item, value in found}
    assert acknowledged.items() <= labels.items()
    assert len(labels) <= len(acknowledged) + 1, "one may be stored whose reply was lost"
    if acknowledged:
        export = ["annotate-export", str(project), "-o", str(tmp_path / "out.jsonl")]
        assert run(export) == 0


@pytest.mark.parametrize("more", MORE)
def test_replies_that_were_acknowledged_are_there(tmp_path: Path, more: int) -> None:
    path = tmp_path / "ledger.sqlite"
    ended = child(REPLIES, str(path), str(more))
    acknowledged = [0, *map(int, ended.stdout.split())]
    ledger = Ledger(path)
    keys = {}
    for number in range(60):
        message = Message(role="user", content=f"Is answer {number} right?")
        request = ChatRequest(messages=(message,), seed=number)
        keys[number] = LedgerEntry.of("m", "r", request).key
    found = ledger.find(keys.values())
    assert all(keys[number] in found for number in acknowledged)
    for number, key in keys.items():
        if key in found:
            assert found[key].text == f"reply {number} " * 20_000
    assert len(found) <= len(acknowledged) + 1


@pytest.mark.parametrize("more", [0, 32, 512])
def test_training_leaves_no_folder(tmp_path: Path, example: Path, more: int) -> None:
    ended = child(TRAINING, str(example), str(tmp_path / "weights"), str(more))
    assert ended.returncode == 2 or ended.returncode < 0
    if ended.returncode == 2:
        assert "there is no memory left" in " ".join(ended.stderr.split())
    assert not list(tmp_path.iterdir())
