"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from markscheme.errors import DataError, RunError
from markscheme.tables.atomic_write import check_new_folder, replace_file, whole_file, whole_folder


def test_a_file_has_its_name_only_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    with whole_file(target) as place:
        place.write_text("half")
        assert not target.exists()
        place.write_text("whole")
    assert target.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_what_was_there_stays_whatever_stops_the_writing(
    tmp_path: Path, stop: type[BaseException] | OSError
) -> None:
    target = tmp_path / "a.txt"
    target.write_text("before")

    def write() -> None:
        with whole_file(target, ending=".7.part") as place:
            place.write_text("half")
            raise stop

    with pytest.raises((KeyboardInterrupt, OSError)):
        write()
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"cannot write .*file/a\.html: File exists"):
        replace_file(tmp_path / "file" / "a.html", b"x")


def test_folders_above_are_made(tmp_path: Path) -> None:
    replace_file(tmp_path / "new" / "folder" / "a.html", b"x")
    assert (tmp_path / "new" / "folder" / "a.html").read_bytes() == b"x"


KILLED = """
import os, signal, sys
from pathlib import Path
from markscheme.tables.atomic_write import whole_folder

with whole_folder(Path(sys.argv[1])) as place:
    for number in range(3):
        if str(number) == sys.argv[2]:
            os.kill(os.getpid(), signal.SIGKILL)
        (place / str(number)).write_text("whole")
    if sys.argv[2] == "the name":
        Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(target: Path, where: str) -> int:
    command = [sys.executable, "-c", KILLED, str(target), where]
    return subprocess.run(command, check=False).returncode


@pytest.mark.parametrize("where", ["0", "2", "the name"])
def test_a_folder_is_there_whole_or_not_at_all_after_a_kill(tmp_path: Path, where: str) -> None:
    target = tmp_path / "weights"
    assert killed(target, where) == -signal.SIGKILL
    assert [one.name for one in tmp_path.iterdir()] == ["weights.part"]
    check_new_folder(target)  # The same command may begin again.
    assert killed(target, "nowhere") == 0
    assert list(tmp_path.iterdir()) == [target]
    assert {one.name: one.read_text() for one in target.iterdir()} == dict.fromkeys("012", "whole")


def test_a_folder_that_could_not_be_written_leaves_nothing(tmp_path: Path) -> None:
    def write() -> None:
        with whole_folder(tmp_path / "weights") as place:
            (place / "a").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert not list(tmp_path.iterdir())


def test_a_folder_with_files_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").write_text("before")
    (tmp_path / "empty").mkdir()
    with (
        pytest.raises(RunError, match="is not empty; choose a new --out"),
        whole_folder(tmp_path / "full"),
    ):
        pass
    assert (tmp_path / "full" / "a").read_text() == "before"
    with pytest.raises(RunError, match="is not empty"):
        check_new_folder(tmp_path / "full" / "a")
    with whole_folder(tmp_path / "empty") as place:
        (place / "a").write_text("whole")
    assert (tmp_path / "empty" / "a").read_text() == "whole"
