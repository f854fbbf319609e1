"""A folder of trained weights: its files, and the revision that signatures name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
import orjson

from markscheme.contract import LINEAGE, Lineage
from markscheme.errors import ModelError, reading_weights
from markscheme.features.alignment import Rarity
from markscheme.manifests import file_digest, verified
from markscheme.models.local import one_at_a_time

_OPEN: dict[tuple[type, Path], Any] = {}


class WeightFolder:
    """Files of a trained judge; a subclass names them and loads each when first used."""

    files: ClassVar[tuple[str, ...]]
    command: ClassVar[str]
    """The command that writes such a folder."""
    shipped: ClassVar[Path]
    """The folder in the package."""

    @classmethod
    @one_at_a_time
    def open(cls, folder: str | Path | None = None, *, anew: bool = False) -> Self:
        """The weights in a folder, the shipped ones by default, opened once a process.

        Signatures open them `anew` where a file has changed: a run has the weights of its own.
        """
        place = cls.shipped if folder is None else Path(folder)
        found = _OPEN.get((cls, place))
        if found is None or (anew and found.written != cls(place).written):
            found = _OPEN[cls, place] = cls(place)
        return cast("Self", found)

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        files = [folder / name for name in self.files if (folder / name).is_file()]
        self.written = [(one.st_size, one.st_mtime_ns) for one in map(Path.stat, files)]

    @cached_property
    def revision(self) -> str:
        """Twelve hexadecimal digits over all files, for signatures."""
        return file_digest(map(self.path, self.files), hashlib.sha256())[:12]

    @cached_property
    def lineage(self) -> Lineage:
        """The questions that the judge learned from. They decide nothing: no part of `revision`."""
        if (self.folder / LINEAGE).is_file():
            verified(self.folder / LINEAGE, trained=True)
        return Lineage.load(self.folder)

    @cached_property
    def stored(self) -> dict[str, Any]:
        """What the folder's JSON file says, the first of its files."""
        with self.reading(self.files[0]) as path:
            return dict(orjson.loads(path.read_bytes()))

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        """A file's path, to be read within: whatever that raises is one error with its name.

        Raises:
            ModelError: the file is not there, was changed, or is not what it should be.
        """
        path = self.path(name)
        with reading_weights(path):
            yield path

    @contextmanager
    def arrays(self, name: str) -> Iterator[Any]:
        """The arrays of an `.npz` file, as `reading`."""
        with self.reading(name) as path, np.load(path, allow_pickle=False) as stored:
            yield stored

    def path(self, name: str) -> Path:
        """Where a file lies.

        Raises:
            ModelError: the folder has no such file, or it was changed.
        """
        path = self.folder / name
        if not path.is_file():
            raise ModelError(
                f"{self.folder} holds no {name}; give a folder that {self.command!r} wrote, or "
                "leave `weights` out for the one that ships"
            )
        return verified(path, trained=True)


class AlignedWeights(WeightFolder):
    """Weights of judges that align words by how rare they are; `rarity.npz` says."""

    @cached_property
    def rarity(self) -> Rarity:
        """Word rarities."""
        with self.arrays("rarity.npz") as stored:
            words = stored["words"].tobytes().decode().split("\n")
            return Rarity(words, stored["idf"].astype(np.float32), float(stored["unknown"]))
