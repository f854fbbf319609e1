"""Files that are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from markscheme.errors import DataError
from markscheme.tables.atomic_write import replace_file, whole_file


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
