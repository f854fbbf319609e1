"""Manifests of weights: which files lie in a folder, so that a damaged or edited one is noticed.

`manifest.json` lists size and SHA-256 of each file of weights in its folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from markscheme.errors import ModelError, reading_weights

MANIFEST = "manifest.json"


def verified(path: Path) -> Path:
    """The path of a file of weights that is as the manifest in its folder, if any, says.

    Raises:
        ModelError: it was changed, or the manifest is damaged.
    """
    listed = _manifest(path.parent).get(path.name)
    if listed is not None and listed != sha256(path):
        raise ModelError(
            f"{path} is not the file that {MANIFEST} there lists; copy or train the weights again, "
            "or install markscheme again if they are the package's own"
        )
    return path


def _manifest(folder: Path) -> dict[str, str]:
    """SHA-256 by file, as a folder's manifest says; empty where there is none of ours."""
    file = folder / MANIFEST
    if not file.is_file():
        return {}
    with reading_weights(file):
        content = json.loads(file.read_bytes())
        files = content.get("files") if isinstance(content, dict) else None
        listed = files.items() if isinstance(files, dict) else ()
        return {name: str(one["sha256"]) for name, one in listed if "sha256" in one}


def write_manifest(folder: Path, names: Sequence[str] = ()) -> None:
    """List size and SHA-256 of a folder's files of weights there, so that damage to them shows.

    Args:
        folder: of the files; the manifest is written into it.
        names: which of them are weights; none for all.
    """
    files = {
        file.name: {
            "bytes": file.stat().st_size,
            "sha256": sha256(file),
        }
        for file in sorted(folder.iterdir())
        if file.is_file() and (file.name in names if names else file.name != MANIFEST)
    }
    text = json.dumps({"files": files}, indent=1) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def file_digest(files: Iterable[Path], digest: Any) -> str:
    """Hexadecimal digits of a hash (`hashlib`) over the content of files, in their order."""
    for file in files:
        with file.open("rb") as stream:
            hashlib.file_digest(stream, lambda: digest)
    return str(digest.hexdigest())


def sha256(file: Path) -> str:
    """The SHA-256 of a file of weights, computed once a process unless the file changes."""
    found = file.stat()
    return _sha256(file, found.st_size, found.st_mtime_ns)


@cache
def _sha256(file: Path, _size: int, _changed: int) -> str:
    return file_digest([file], hashlib.sha256())


def revision(file: Path) -> str:
    """Twelve hexadecimal digits of the SHA-256 of a file of weights.

    It goes into signatures: two scores are comparable only if the same weights made them.
    """
    return sha256(file)[:12]
