"""Names of runs: the folder that equal commands share, and the command as it can be typed again."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markscheme.contract import Judge, ModelSource
    from markscheme.tables import ReadOptions


def command_line(arguments: Sequence[str]) -> str:
    """The command as it can be typed again; what may be a secret in an address is left out.

    >>> command_line(["judge", "a b.csv", "--ledger", "postgresql://me:secret@host/replies"])
    "markscheme judge 'a b.csv' --ledger postgresql://host/replies"
    """
    bare = (re.sub(r"://\S*@", "://", one) for one in arguments)
    shown = (re.sub(r"(://[^?\s]*)\?\S*", r"\1", one) for one in bare)
    return shlex.join(["markscheme", *shown])


def default_folder(
    files: Sequence[str],
    judges: Sequence[Judge],
    clean: str | None,
    models: ModelSource | None,
    *,
    read: ReadOptions | None = None,
) -> Path:
    """`runs/<file>-<eight digits>`: equal commands on an unchanged file meet again.

    The digits are of judges, options (of reading as well: with other columns the same file holds
    other answers) and the files' names, sizes and times; standard input, which
    has none of these, gets a folder of its own each time.

    Raises:
        DataError: a file's name is empty, or not valid UTF-8.
    """
    from markscheme.contract import signature
    from markscheme.tables import check_named

    parts = [*(signature(one, models) for one in judges), str(clean)]
    parts += [] if read is None else read.changed()
    for name in files:
        check_named(name)
        file = Path(name)
        seen = file.stat() if name != "-" and file.is_file() else None
        stamp = f"{seen.st_size} {seen.st_mtime_ns}" if seen else str(time.time_ns())
        parts += [str(file.absolute()), stamp]
    text = "\n".join(parts)
    stem = "stdin" if files[0] == "-" else Path(files[0]).name.split(".")[0].strip("*?[]")
    stem = stem or Path(files[0]).parent.name or "answers"
    return Path("runs") / f"{stem}-{blake2b(text.encode(), digest_size=4).hexdigest()}"
