"""Memory that ends while labels or replies are stored: what was acknowledged is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from annotate_helpers import answers, write_rows
from markscheme.annotate.database import Store
from markscheme.cli import run
from markscheme.contract import ChatRequest, Message
from markscheme.models.ledger.ledger import Ledger, LedgerEntry

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
from annotate_helpers import answers, place, write_rows
from markscheme.annotate.options import AnnotateOptions
file, project, more = sys.argv[1:]
setup = AnnotateOptions(file=file, annotators=("Ann",), order="file")
with place(project, setup) as made:
    ann = made.worker("Ann")
    limit(int(more))
    holding = []
    for number in range(60):
        item, value = ann.item, str(number % 2)
        holding.append(bytearray(2**20))
        said = ann.say(value, note="x" * 5_000)
        if not said.is_success:
            sys.exit(f"{said.status_code}: {said.text}")
        done(f"{item} {value}")
"""

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


@pytest.mark.parametrize("more", MORE)
def test_labels_that_were_acknowledged_are_there(tmp_path: Path, more: int) -> None:
    file = write_rows(tmp_path / "a.jsonl", answers(60))
    project = tmp_path / "labels.sqlite"
    ended = child(LABELLING, str(file), str(project), str(more))
    acknowledged = dict(line.split() for line in ended.stdout.splitlines())
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
