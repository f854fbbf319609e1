"""Writing files whole or not at all: a killed process or a full disk leaves what was there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from markscheme.errors import DataError

PART = ".part"
"""Ending of a file that is not complete yet."""


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
