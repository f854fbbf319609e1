"""Writing files and folders whole or not at all: a kill or a full disk leaves what was there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from markscheme.errors import DataError, RunError

PART = ".part"
"""Ending of a file, or of a folder, that is not complete yet."""


@contextmanager
def whole_file(
    target: Path, *, ending: str = PART, final: Callable[[Path, Path], Path] | None = None
) -> Iterator[Path]:
    """A place to write to that takes the target's name only once it is complete and on disk.

    Whatever ends the block early removes what is half written at once: on a full disk every byte
    counts. Its error is raised on.

    Args:
        target: the file.
        ending: of the name until then; processes that may write the same file need their own.
        final: makes the name that it takes from the target and from what was written; None takes
            the target itself.
    """
    temporary = target.with_name(target.name + ending)
    with suppress(OSError):
        temporary.unlink()  # What a killed process left, or a link that somebody put there.
    try:
        yield temporary
        with temporary.open("rb") as handle:
            os.fsync(handle.fileno())
        temporary.replace(target if final is None else final(target, temporary))
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def replace_file(target: Path, content: bytes) -> None:
    """Write a file whole, with the folders above it.

    Raises:
        DataError: it cannot be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from None


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A new folder to write to that takes the target's name only once it is complete and on disk.

    Whatever ends the block early removes it. What a killed process left of one, the next removes.

    Raises:
        RunError: the target has files already.
    """
    target = target.resolve()
    check_new_folder(target)
    temporary = target.with_name(target.name + PART)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        for file in temporary.rglob("*"):
            if file.is_file():
                with file.open("rb") as handle:
                    os.fsync(handle.fileno())
        temporary.replace(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def check_new_folder(folder: Path) -> None:
    """Raises RunError where a folder that is to be written is a file, or has files already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RunError(f"{folder} is not empty; choose a new --out")
