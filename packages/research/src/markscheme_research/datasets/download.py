"""Downloading a dataset's files: checked against the catalogue, and never left half-written."""

from __future__ import annotations

import http.client
import os
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO

from markscheme.errors import DataError, UnknownNameError
from markscheme_research.datasets.catalogue import Dataset, File, dataset
from markscheme_research.datasets.locations import data_folders

CHUNK = 1 << 16
TIMEOUT_SECONDS = 30.0

Progress = Callable[[str, int, int | None], None]
"""Called with the file's name, bytes received so far, and bytes expected (None if unknown)."""


def fetch(
    name: str | Dataset,
    *,
    data_dir: str | Path | None = None,
    files: Sequence[str] = (),
    force: bool = False,
    progress: Progress | None = None,
) -> list[Path]:
    """Download a dataset's files and return their paths.

    A file is written under a temporary name and renamed only when its size and checksum agree with
    the catalogue, so an interrupted or broken download leaves nothing behind. A file that is
    already there and agrees is left alone.

    Args:
        name: of a dataset in the catalogue, or a catalogue entry.
        data_dir: the data folder to put them in (see `locate.data_folders`).
        files: names of the files wanted. If empty, all that are published, but for optional ones
            of which no copy was ever held here: their addresses are not sure.
        force: replace files that are there and differ from the recorded checksum.
        progress: is called with how far each download is.

    Raises:
        UnknownNameError: no such dataset or file.
        DataError: a download failed or does not agree with the catalogue, a different file is in
            its place, or the folder cannot be written. The message says what to do.
    """
    entry = name if isinstance(name, Dataset) else dataset(name)
    target = data_folders(data_dir)[0] / entry.folders[0]
    missing = []
    for file in _wanted(entry, files):
        if force or not _present(entry, file, target / file.name):
            missing.append(file)
    for address in dict.fromkeys(file.address for file in missing):
        group = [file for file in missing if file.address == address]
        _fetch_group(entry, address, group, target, progress or _silent)
    return [target / file.name for file in _wanted(entry, files)]


def _wanted(entry: Dataset, names: Sequence[str]) -> list[File]:
    published = {file.name: file for file in entry.files if file.address}
    for name in names:
        if name not in published:
            see = f"its files are {', '.join(published)}"
            raise UnknownNameError(f"published file of {entry.name}", name, published, see)
    return [
        file
        for file in published.values()
        if (file.name in names if names else file.sha256 or not file.optional)
    ]


def _present(entry: Dataset, file: File, path: Path) -> bool:
    if not path.exists():
        return False
    if file.sha256 and _digest(path) != file.sha256:
        raise DataError(
            f"{path} is there but is not the published {file.name} of {entry.name} "
            f"(its sha256 is not {file.sha256}); move it away, or pass --force to replace it"
        )
    return True


def _fetch_group(
    entry: Dataset, address: str, group: Sequence[File], target: Path, progress: Progress
) -> None:
    """Download one address and put the file, or the archive's members, in place."""
    with _temporary(target, address) as download:
        _download(entry, group[0], download, progress)
        for file in group:
            if not file.member:
                _put(entry, file, download, target / file.name)
                continue
            with _temporary(target, address) as extracted:
                _extract(address, download, file.member, extracted)
                _put(entry, file, extracted, target / file.name)


@contextmanager
def _temporary(target: Path, address: str) -> Iterator[Path]:
    """A new empty file next to the download's place, removed afterwards."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        handle, path = tempfile.mkstemp(prefix=".download-", dir=target)
        os.close(handle)
    except OSError as error:
        raise DataError(
            f"cannot write {target} ({error.strerror or error}); "
            f"choose another folder with --data-dir to put {address} in"
        ) from error
    try:
        yield Path(path)
    finally:
        Path(path).unlink(missing_ok=True)


def _download(entry: Dataset, file: File, path: Path, progress: Progress) -> None:
    """Write what is at the file's address to `path`, whole."""
    address, name = file.address, file.name
    if not address.startswith(("https://", "http://")):
        raise DataError(f"{address!r} is not a web address")
    request = urllib.request.Request(address, headers={"User-Agent": "markscheme"})  # noqa: S310
    try:
        with (
            # An opener of our own: the shared one keeps the proxies of its first use.
            urllib.request.build_opener().open(request, timeout=TIMEOUT_SECONDS) as reply,
            path.open("wb") as out,
        ):
            length = reply.headers.get("Content-Length")
            announced = int(length) if length and length.isdigit() else None
            received = _copy(reply, out, lambda done: progress(name, done, announced))
    except urllib.error.HTTPError as error:
        raise DataError(
            f"the server answered {error.code} {error.reason} for {address}; "
            f"see {entry.homepage} for where {name} is now"
        ) from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(
            f"cannot download {address}: {reason}. Without a network, get it by other means and "
            f"put it at {path.parent / name}"
        ) from error
    if announced is not None and received != announced:
        raise DataError(
            f"the download of {address} broke off after {received:,} of {announced:,} bytes; "
            "nothing was saved, try again"
        )


def _copy(source: IO[bytes], out: IO[bytes], report: Callable[[int], None]) -> int:
    done = 0
    while block := source.read(CHUNK):
        out.write(block)
        done += len(block)
        report(done)
    return done


def _extract(address: str, archive: Path, member: str, path: Path) -> None:
    """Write one member of a tar archive to `path`; nothing else in the archive is touched."""
    try:
        with tarfile.open(archive) as opened, path.open("wb") as out:
            source = opened.extractfile(member)
            if source is None:
                raise KeyError(member)
            shutil.copyfileobj(source, out)
    except (tarfile.TarError, KeyError, EOFError, OSError) as error:
        raise DataError(f"the archive at {address} has no readable file {member!r}") from error


def _put(entry: Dataset, file: File, source: Path, target: Path) -> None:
    """Check a downloaded file and move it into place."""
    size = source.stat().st_size
    if file.sha256 and (found := _digest(source)) != file.sha256:
        raise DataError(
            f"{file.address} is not the file recorded for {entry.name}: {size:,} bytes with sha256 "
            f"{found}, recorded are {file.size or 0:,} bytes with {file.sha256}. "
            f"Nothing was saved; it may have changed at its source, see {entry.homepage}"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        source.chmod(0o644)
        source.replace(target)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from error


def _digest(path: Path) -> str:
    hashed = sha256()
    with path.open("rb") as source:
        while block := source.read(1 << 20):
            hashed.update(block)
    return hashed.hexdigest()


def _silent(_name: str, _done: int, _expected: int | None) -> None:
    """Progress that nobody watches."""
