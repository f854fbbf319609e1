"""Manifests of weights: which files lie in a folder, so that a damaged or edited one is noticed.

`manifest.json` lists size and SHA-256 of each file of weights in its folder. Where a secret is set
in MARKSCHEME_SEAL_KEY, it is signed when it is written, and one that is not is refused, but for
those of the packages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from markscheme.errors import (
    KEY_VARIABLE,
    ModelError,
    reading_weights,
    signature_of,
    signature_wanted,
)

MANIFEST = "manifest.json"

_PACKAGES = ("markscheme", "markscheme_languages")
"""Whose weights are as trusted as their code, next to which they lie."""


def verified(path: Path, *, trained: bool = False) -> Path:
    """The path of a file of weights that is as the manifest in its folder, if any, says.

    Args:
        path: the file.
        trained: whether only our training writes such a file, and so lists it in a manifest.

    Raises:
        ModelError: it was changed, or the manifest is damaged, or lacks a valid signature where one
            is required.
    """
    files, is_signed = _manifest(path.parent)
    listed = files.get(path.name)
    checked = signature_wanted() is not None and (trained or bool(files))
    if checked and not (is_signed and listed) and not _in_a_package(path):
        raise ModelError(
            f"{path.parent} has no {MANIFEST} that is signed with the secret in {KEY_VARIABLE} and "
            f"lists {path.name}; train the weights again, or unset it"
        )
    if listed is not None and listed != sha256(path):
        raise ModelError(
            f"{path} is not the file that {MANIFEST} there lists; copy or train the weights again, "
            "or install markscheme again if they are the package's own"
        )
    return path


def _in_a_package(path: Path) -> bool:
    found = [one.origin for one in map(find_spec, _PACKAGES) if one is not None and one.origin]
    return any(path.resolve().is_relative_to(Path(origin).resolve().parent) for origin in found)


def _manifest(folder: Path) -> tuple[dict[str, str], bool]:
    """SHA-256 by file, as a folder's manifest says, empty where there is none of ours; and whether
    it is signed with the secret set now."""
    file = folder / MANIFEST
    if not file.is_file():
        return {}, False
    with reading_weights(file):
        content = json.loads(file.read_bytes())
        files = content.get("files") if isinstance(content, dict) else None
        listed = files.items() if isinstance(files, dict) else ()
        found = {name: str(one["sha256"]) for name, one in listed if "sha256" in one}
        return found, bool(found) and content == signed(content)


def signed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest with its signature, if what is written is to be signed, in place of any before."""
    content = {name: value for name, value in manifest.items() if name != "signature"}
    signature = signature_of(json.dumps(content, sort_keys=True).encode())
    return content | ({"signature": signature} if signature else {})


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
    text = json.dumps(signed({"files": files}), indent=1) + "\n"
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
