"""Where local copies of a dataset's files are looked for, and where they are put."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from markscheme.errors import DataError
from markscheme_research.datasets.catalogue import Dataset

VARIABLE = "MARKSCHEME_DATA"
"""Environment variable that names the data folder."""


@dataclass(frozen=True, kw_only=True)
class Local:
    """The local copy of a dataset: the files that are there, by their name in the catalogue.

    With `pointed_at` the user named one file, which then replaces whichever file is requested.
    """

    dataset: Dataset
    folder: Path
    files: Mapping[str, Path]
    pointed_at: bool = False

    def path(self, name: str) -> Path:
        """The local path of one file.

        Raises:
            DataError: that file is not there.
        """
        if self.pointed_at:
            return next(iter(self.files.values()))
        if name not in self.files:
            raise DataError(
                f"{self.dataset.name}: {name} is not in {self.folder}; "
                f"'markscheme research datasets fetch {self.dataset.name} --file {name}' gets it"
            )
        return self.files[name]


def cache_folder() -> Path:
    """The user's own data folder: where `fetch` puts files by default."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "markscheme" / "data"


def data_folders(data_dir: str | Path | None = None) -> list[Path]:
    """Data folders in the order they are searched.

    A folder that is given is the only one: what was requested is never silently replaced by
    another copy. Otherwise the environment variable's, then the user's cache.
    """
    if data_dir is not None:
        return [Path(data_dir).expanduser()]
    named = os.environ.get(VARIABLE)
    return [*([Path(named).expanduser()] if named else []), cache_folder()]


def find(entry: Dataset, data_dir: str | Path | None = None) -> Local | None:
    """The first local copy of the dataset that is complete, or None.

    `data_dir` may also be a file: then it is the dataset's only file, whatever its name.

    Raises:
        DataError: `data_dir` is a file and the dataset needs several.
    """
    for root in data_folders(data_dir):
        if root.is_file():
            return _single(entry, root)
        for folder in entry.folders:
            place = root / folder
            files = {
                file.name: path
                for file in entry.files
                for path in (place / file.name, place / Path(file.name).name)
                if path.is_file()
            }
            present = [file.name in files for file in entry.required]
            if all(present) if entry.need == "all" else any(present):
                return Local(dataset=entry, folder=place, files=files)
    return None


def locate(entry: Dataset, data_dir: str | Path | None = None) -> Local:
    """The local copy of the dataset.

    Raises:
        DataError: there is none; the message says where it was looked for and how to get it.
    """
    found = find(entry, data_dir)
    if found is None:
        places = ", ".join(str(root / entry.folders[0]) for root in data_folders(data_dir))
        raise DataError(
            f"dataset {entry.name!r} is not here: {_wanted(entry)} should be in {places}. "
            f"'markscheme research datasets fetch {entry.name}' downloads it; a copy you have is "
            f"found through {VARIABLE}=FOLDER in the environment, by research commands through "
            "--data-dir FOLDER too"
        )
    return found


def _wanted(entry: Dataset) -> str:
    """The files of a dataset in words, only counted where there are many."""
    names = [file.name for file in entry.required]
    if entry.need == "any":
        return " or ".join(names)
    return ", ".join(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} more files"


def _single(entry: Dataset, path: Path) -> Local:
    names = [file.name for file in entry.files]
    if path.name not in names and entry.need == "all" and len(entry.required) > 1:
        raise DataError(
            f"{path} is one file, but dataset {entry.name!r} has {len(entry.required)}; "
            "give the folder that holds them"
        )
    name = path.name if path.name in names else names[0]
    return Local(dataset=entry, folder=path.parent, files={name: path}, pointed_at=True)
