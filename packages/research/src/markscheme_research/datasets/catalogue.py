"""The catalogue of datasets: what each is, where its files are published, and what they hold.

Everything is in `catalog.toml` next to this file; the data themselves are never shipped.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from markscheme.errors import DataError, UnknownNameError

SEE = "'markscheme research datasets' lists all"


@dataclass(frozen=True, kw_only=True)
class File:
    """One published file of a dataset.

    Attributes:
        name: path inside the dataset's folder.
        address: where it is published, or empty where it is not published by itself.
        member: the file's path inside the archive at `address`; empty where that is the file.
        sha256: checksum of the file, or empty where we never held a copy.
        size: in bytes, or None where we never held a copy.
        optional: the dataset is complete without it.
    """

    name: str
    address: str = ""
    member: str = ""
    sha256: str = ""
    size: int | None = None
    optional: bool = False


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """What is known of one dataset before its files are opened.

    Attributes:
        format: the loader that reads it.
        folders: where inside a data folder its files may lie; the first is where `fetch` puts them.
        need: `all` the files that are not optional, or `any` one of them.
        rows: how many rows `load` gives without options, where recorded.
        counts: recorded sizes, checked by `datasets.check`.
    """

    name: str
    title: str
    format: str
    homepage: str
    licence: str
    citation: str
    folders: tuple[str, ...]
    files: tuple[File, ...]
    need: Literal["all", "any"] = "all"
    rows: int | None = None
    counts: Mapping[str, int]
    notes: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[File, ...]:
        """The files that must all be there, or of which one must be."""
        return tuple(file for file in self.files if not file.optional)


def read_catalog(text: str) -> dict[str, Dataset]:
    """Datasets by name, sorted, from a catalogue in TOML.

    Raises:
        DataError: an entry lacks something or has something unknown.
    """
    found = {}
    for name, entry in sorted(tomllib.loads(text).items()):
        try:
            found[name] = _dataset(name, entry)
        except (TypeError, KeyError) as error:
            raise DataError(f"dataset {name!r} in the catalogue is malformed: {error}") from None
    return found


def _dataset(name: str, entry: dict[str, Any]) -> Dataset:
    entry = {"counts": {}, **entry}
    entry["files"] = tuple(File(**file) for file in entry["files"])
    entry["folders"] = tuple(entry["folders"])
    entry["notes"] = tuple(entry.get("notes", ()))
    return Dataset(name=name, **entry)


@functools.cache
def catalog() -> dict[str, Dataset]:
    """Every dataset of the catalogue by name, sorted."""
    return read_catalog(resources.files(__package__).joinpath("catalog.toml").read_text("utf-8"))


def dataset(name: str) -> Dataset:
    """The catalogue's entry for `name`.

    Raises:
        UnknownNameError: there is none; the message suggests near names.
    """
    known = catalog()
    if name not in known:
        raise UnknownNameError("dataset", name, known, SEE)
    return known[name]
