"""Disks that are full, folders that cannot be written, clocks that go backwards, locked runs."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.cli import run
from markscheme.contract import ChatReply, ChatRequest, Message
from markscheme.errors import DataError, ModelError, RunError
from markscheme.models.chat.cached import CachedChat
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.ledger.ledger import Ledger
from markscheme.tables.answers import write_table

SMALL = 256 * 1024


def answers_file(folder: Path, rows: int) -> Path:
    """Text that no compression makes small."""
    rng = random.Random(3)
    path = folder / "answers.jsonl"
    with path.open("w") as stream:
        for row in range(rows):
            record = {"question": f"q{row}", "references": [rng.random()], "answer": rng.random()}
            record = {name: [str(value[0])] if isinstance(value, list) else str(value)
                      for name, value in record.items()}  # fmt: skip
            stream.write(json.dumps(record) + "\n")
    return path


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB where one may be mounted, else a folder; files may be no longer either."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(place)]
    mounted = subprocess.run(mount, check=False, capture_output=True).returncode == 0
    yield place
    if mounted:
        subprocess.run(["umount", str(place)], check=True)


def command(*arguments: str, limited: bool = False) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))

    return subprocess.run(
        [sys.executable, "-m", "markscheme", *arguments], check=False, capture_output=True,
        text=True, preexec_fn=limit if limited else None,
    )  # fmt: skip


def is_told(done: subprocess.CompletedProcess[str], what: str) -> None:
    assert done.returncode == 2, done.stderr
    assert what in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.proof(area="attacks")
def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(
    tmp_path: Path, small_disk: Path
) -> None:
    path = answers_file(tmp_path, 12_000)
    out = small_disk / "run"
    judge = ["judge", str(path), "--judge", "exact_match", "--quiet", "--out"]
    is_told(command(*judge, str(out), limited=True), "cannot write")
    assert not list(small_disk.rglob("*.parquet.part")), "a full disk is not filled with halves"
    moved = tmp_path / "moved"
    if out.is_dir():  # Of a run that had judged nothing yet, nothing is left.
        subprocess.run(["cp", "-r", str(out), str(moved)], check=True)
    assert command(*judge, str(moved)).returncode == 0
    assert command(*judge, str(tmp_path / "whole")).returncode == 0
    for name in ("judgments.parquet", "answers.parquet", "summary.json"):
        assert (moved / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.proof(area="attacks")
def test_a_full_disk_leaves_no_half_table(tmp_path: Path, small_disk: Path) -> None:
    out = small_disk / "table.csv"
    out.write_text("a,b\n1,2\n")
    script = (
        "import sys, polars as pl; from markscheme.tables.answers import write_table\n"
        "from markscheme.errors import DataError\n"
        "import random\n"
        "try: write_table(pl.DataFrame({'a': [random.random() for _ in range(90_000)]}), "
        "sys.argv[1])\n"
        "except DataError as error: print(error)\n"
    )

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))

    for ending in ("csv", "jsonl", "parquet", "json"):
        target = out.with_suffix(f".{ending}")
        target.write_text("what was there before")
        done = subprocess.run(
            [sys.executable, "-c", script, str(target)], check=True, capture_output=True,
            text=True, preexec_fn=limit,
        )  # fmt: skip
        assert done.stdout.startswith(f"cannot write {target}"), (ending, done.stdout)
        assert target.read_text() == "what was there before"
        assert not list(small_disk.glob("*.part"))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "parquet"])
def test_a_table_is_there_whole_or_not_at_all_after_a_kill(tmp_path: Path, ending: str) -> None:
    """SIGKILL once the content is written and before it has the name: what was there stays."""
    target = tmp_path / f"table.{ending}"
    target.write_text("what was there before")
    script = (
        "import os, signal, sys, polars as pl\n"
        "from pathlib import Path\n"
        "from markscheme.tables.answers import write_table\n"
        "Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_table(pl.DataFrame({'a': [1, 2]}), sys.argv[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert target.read_text() == "what was there before"
    write_table(pl.DataFrame({"a": [1, 2]}), target)
    assert b"what was there" not in target.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == [target.name]


@pytest.mark.joint
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux's")
@pytest.mark.parametrize("megabytes", [4_000, 700, 450, 250])
def test_with_little_memory_a_run_is_right_or_unfinished(
    tmp_path: Path, example: Path, megabytes: int
) -> None:
    """How much is enough depends on the machine's cores. What ends the program for want of it ends
    it with an error, and the same command with more goes on."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, resource.RLIM_INFINITY))

    judge = [sys.executable, "-m", "markscheme", "judge", str(example), "-j", "exact_match", "-q"]
    little = [*judge, "-o", str(tmp_path / "little")]
    done = subprocess.run(
        little, check=False, capture_output=True, text=True, preexec_fn=limit, timeout=300
    )
    if done.returncode:
        assert done.stderr.strip(), "nothing said why"
        state = tmp_path / "little" / "run.json"
        assert not state.exists() or json.loads(state.read_bytes())["state"] != "done"
        subprocess.run(little, check=True, timeout=300)
    subprocess.run([*judge, "-o", str(tmp_path / "whole")], check=True, timeout=300)
    for name in ("judgments.parquet", "answers.parquet", "summary.json"):
        assert (tmp_path / "little" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_no_memory_left_is_told(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Python's own error, from where it would come: an allocation that the system refuses."""
    monkeypatch.setattr("markscheme.analysis.verify", lambda _run: bytearray(2**60))
    assert run(["verify", "run"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "there is no memory left" in said
    assert "resumes there" in said


def test_a_ledger_on_a_full_disk_is_told(small_disk: Path) -> None:
    script = (
        "import sys\n"
        "from markscheme.errors import ModelError\n"
        "from markscheme.contract import ChatRequest, Message\n"
        "from markscheme.models.chat.cached import CachedChat\n"
        "from markscheme.models.ledger.ledger import Ledger\n"
        "from markscheme.models.chat.scripted import ScriptedChat\n"
        "model = ScriptedChat(replies=lambda text: text * 400)\n"
        "chat = CachedChat(model=model, ledger=Ledger(sys.argv[1]))\n"
        "try:\n"
        "    for n in range(3000):\n"
        "        chat.complete([ChatRequest(messages=(Message(role='user', content=str(n)),))])\n"
        "except ModelError as error:\n"
        "    print(error, flush=True)\n"
        "import os; os._exit(0)\n"
    )

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))

    done = subprocess.run(
        [sys.executable, "-c", script, str(small_disk / "ledger.sqlite")], check=True,
        capture_output=True, text=True, preexec_fn=limit, timeout=120,
    )  # fmt: skip
    assert "does not work" in done.stdout, done.stdout + done.stderr


def test_a_file_in_place_of_the_folder_is_told(
    tmp_path: Path, example: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Root may write anywhere, so a file stands where a folder is wanted."""
    blocked = tmp_path / "file"
    blocked.touch()
    for out in (blocked, blocked / "run"):
        assert run(["judge", str(example), "--judge", "exact_match", "--out", str(out)]) == 2
        assert "cannot write to" in capsys.readouterr().err
    with pytest.raises(DataError, match="cannot write"):
        write_table(pl.DataFrame({"a": [1]}), blocked / "table.csv")


def test_a_folder_that_may_not_be_written_is_told(tmp_path: Path, example: Path) -> None:
    """As another user, since root may write anywhere; elsewhere the mode of the folder does it."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    readable = tmp_path / "answers.jsonl"
    readable.write_bytes(example.read_bytes())
    script = (
        "import os, sys\n"
        "from markscheme.engine.run_folder import RunFolder\n"
        "from markscheme.errors import RunError\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "try:\n"
        "    with RunFolder(sys.argv[1]).locked(): pass\n"
        "except RunError as error: print(error)\n"
    )
    for parent in (tmp_path, *tmp_path.parents[:3]):
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    done = subprocess.run(
        [sys.executable, "-c", script, str(closed / "run")], check=True, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.stdout.startswith(f"cannot write to {closed / 'run'}: Permission denied")


def test_two_runs_on_one_folder(tmp_path: Path, example: Path) -> None:
    """The second is told so at once, in one line, and the first is not disturbed."""
    out = tmp_path / "run"
    first = subprocess.Popen(
        [
            sys.executable, "-c",
            "import sys; from markscheme.engine.run_folder import RunFolder\n"
            "with RunFolder(sys.argv[1]).locked():\n"
            "    print('held', flush=True); sys.stdin.read()\n",
            str(out),
        ],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert first.stdin is not None
    assert first.stdout is not None
    assert first.stdout.readline() == "held\n"
    judge = ["judge", str(example), "--judge", "exact_match", "--out", str(out)]
    is_told(command(*judge), "another run is writing to")
    first.kill()
    first.wait()
    first.stdout.close()
    first.stdin.close()
    assert command(*judge).returncode == 0, "the lock falls with its process"


def test_a_run_of_the_other_engine_is_told(tmp_path: Path, example: Path) -> None:
    """Both engines lock the same file, and neither goes on with what the other began."""
    from markscheme.engine.ray_run import _Folder
    from markscheme.engine.run_folder import FORMAT

    out = tmp_path / "run"
    markscheme.judge(example, "exact_match", out=out)
    plan = json.loads((out / "run.json").read_text())
    with pytest.raises(RunError, match="holds a run with the local engine; choose another --out"):
        _Folder(str(out)).begin({**plan, "engine": "ray"})
    with (
        _Folder(str(out)).locked(),
        pytest.raises(RunError, match="another run is writing"),
    ):
        markscheme.judge(example, "exact_match", out=out)
    other = tmp_path / "other"
    with _Folder(str(other)).locked():
        _Folder(str(other)).begin({**plan, "engine": "ray", "input": "x", "format": FORMAT})
    with pytest.raises(RunError, match="holds a run with --engine ray; choose another --out"):
        markscheme.judge(example, "exact_match", out=other)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"format": 1}', '{"state": "done"}'])
def test_a_damaged_plan_is_told(tmp_path: Path, example: Path, content: str) -> None:
    out = tmp_path / "run"
    out.mkdir()
    (out / "run.json").write_text(content)
    with pytest.raises(RunError, match=r"run\.json.*choose a new --out"):
        markscheme.judge(example, "exact_match", out=out)


@pytest.mark.parametrize("jump", [-10_000_000.0, -3600.0, 10_000_000.0])
def test_the_clock_may_jump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: float) -> None:
    """Replies are kept and found, and claims are released, whatever the time of day does."""
    import time

    asked = 0

    def reply(text: str) -> ChatReply:
        nonlocal asked
        asked += 1
        if asked == 3:
            real = time.time
            monkeypatch.setattr(time, "time", lambda: real() + jump)
        return ChatReply(status="ok", text=text, finish_reason="stop")

    def requests(numbers: range) -> list[ChatRequest]:
        return [ChatRequest(messages=(Message(role="user", content=str(n)),)) for n in numbers]

    ledger = Ledger(tmp_path / "ledger.sqlite")
    chat = CachedChat(model=ScriptedChat(replies=reply), ledger=ledger)
    for numbers in (range(6), range(3, 9), range(9)):
        got = chat.complete(requests(numbers))
        assert [one.text for one in got] == [str(n) for n in numbers]
    assert asked == 9
    other = Ledger(tmp_path / "ledger.sqlite")
    again = CachedChat(model=ScriptedChat(replies=reply), ledger=other).complete(requests(range(9)))
    assert [one.text for one in again] == [str(n) for n in range(9)]
    assert asked == 9
    ledger.close()
    other.close()


def test_a_ledger_that_is_no_ledger_is_told(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"this is no database" * 100)
    with pytest.raises(ModelError, match="cannot be opened"):
        Ledger(path)


def test_an_empty_name_of_a_folder_is_named(example: Path, capsys: Any) -> None:
    assert run(["judge", str(example), "-j", "exact_match", "-q", "--out", ""]) == 2
    assert "the name of a folder is empty" in capsys.readouterr().err


@pytest.mark.proof(area="attacks")
def test_links_in_a_runs_folder_are_not_followed(tmp_path: Path, example: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("keep me")
    for name in (".lock", "run.json.part"):
        out = tmp_path / name.strip(".")
        out.mkdir()
        (out / name).symlink_to(precious)
        done = command("judge", str(example), "-j", "exact_match", "-q", "--out", str(out))
        assert "Traceback" not in done.stderr
        assert precious.read_text() == "keep me"
    away = tmp_path / "away"
    away.mkdir()
    (away / "file").write_text("keep me")
    out = tmp_path / "linked"
    out.mkdir()
    (out / "parts").symlink_to(away)
    is_told(command("judge", str(example), "-j", "exact_match", "-q", "--out", str(out)), "link")
    assert (away / "file").exists()
