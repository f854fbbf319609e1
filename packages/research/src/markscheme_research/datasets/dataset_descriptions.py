"""Which public datasets there are, what is on this machine, and whether it is what it should be."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from markscheme.results import Column, Table, TableResult, flat_frame
from markscheme_research.datasets import Dataset, Local, catalog, check, data_folders, dataset, find
from markscheme_research.datasets import options_of as dataset_options


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DatasetList(TableResult):
    """The catalogue, a row per dataset: name, rows, licence, whether it is here, title."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DatasetDescription(TableResult):
    """One dataset. `frame` has a row per file: name, here, bytes, sha256, optional, address.

    Attributes:
        dataset: the catalogue's entry.
        folder: where it lies; None where it is not on this machine.
        looked_in: the folders that were searched.
    """

    dataset: Dataset
    folder: Path | None
    looked_in: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DatasetCheck(TableResult):
    """A local copy against the catalogue. `frame`: what, recorded, found, same; one row per check.

    Attributes:
        different: how many checks differ; what is not here does not count.
    """

    different: int


def list_datasets(data_dir: str | Path | None = None) -> DatasetList:
    """Every dataset of the catalogue, and whether it is on this machine.

    Args:
        data_dir: folder with the datasets; None for the usual places.
    """
    records = [
        {
            "name": one.name,
            "rows": one.rows,
            "licence": one.licence,
            "here": find(one, data_dir) is not None,
            "title": one.title,
        }
        for one in catalog().values()
    ]
    table = Table.of(
        "Public datasets",
        (
            "name",
            Column("rows", format="count"),
            "licence",
            Column("here", lambda one: "yes" if one["here"] else "no"),
            Column("what it is", "title"),
        ),
        records,
    )
    data = {"command": "datasets", "datasets": records}
    return DatasetList(frame=flat_frame(records), tables=(table,), data=data)


def describe_dataset(name: str, data_dir: str | Path | None = None) -> DatasetDescription:
    """One dataset: licence, citation, files, sizes, options, and where it is looked for.

    Args:
        name: as `list_datasets` lists it.
        data_dir: folder with the datasets; None for the usual places.

    Raises:
        UnknownNameError: no dataset has the name.
    """
    entry = dataset(name)
    local = find(entry, data_dir)
    looked_in = tuple(root / entry.folders[0] for root in data_folders(data_dir))
    files = [
        {
            "file": one.name,
            "here": local is not None and one.name in local.files,
            "bytes": one.size,
            "sha256": one.sha256 or None,
            "optional": one.optional,
            "address": one.address or None,
        }
        for one in entry.files
    ]
    about = {"name": entry.name, "title": entry.title, "licence": entry.licence,
             "homepage": entry.homepage, "folder": None if local is None else str(local.folder),
             "looked_in": [str(one) for one in looked_in]}  # fmt: skip
    data = {
        "command": "datasets",
        **about,
        "need": entry.need,
        "files": files,
        "sizes": dict(entry.counts),
        "options": dataset_options(name),
        "notes": list(entry.notes),
        "citation": entry.citation.strip(),
    }
    return DatasetDescription(
        frame=flat_frame(files),
        tables=tuple(_description(entry, local, looked_in)),
        data=data,
        dataset=entry,
        folder=None if local is None else local.folder,
        looked_in=looked_in,
    )


def check_dataset(name: str, data_dir: str | Path | None = None) -> DatasetCheck:
    """Compare the local copy of a dataset with recorded sizes and checksums.

    Raises:
        UnknownNameError: no dataset has the name.
        DataError: its files are not here or cannot be read.
    """
    checks = check(name, data_dir=data_dir)
    records = [asdict(one) | {"same": None if one.found is None else one.ok} for one in checks]
    table = Table(
        title=f"{name}, against the catalogue",
        header=("what", "recorded", "here", ""),
        rows=tuple(
            (
                one.what,
                _short(one.recorded),
                "not here" if one.found is None else _short(one.found),
                "" if one.found is None else "same" if one.ok else "DIFFERENT",
            )
            for one in checks
        ),
    )
    return DatasetCheck(
        frame=flat_frame(records),
        tables=(table,),
        data={"command": "datasets check", "dataset": name, "checks": records},
        different=sum(not one.ok for one in checks),
    )


def _description(entry: Dataset, local: Local | None, looked_in: tuple[Path, ...]) -> list[Table]:
    """Facts, files, sizes, options and notes, each where there are some."""
    place = str(local.folder) if local else f"no; looked in {', '.join(map(str, looked_in))}"
    facts = (("licence", entry.licence), ("homepage", entry.homepage), ("here", place))
    addresses = dict.fromkeys(one.address.rpartition("/")[0] for one in entry.files)
    tables = [
        Table(
            title=f"{entry.name}: {entry.title}",
            header=("", "what is known"),
            rows=(*facts, *(("note", note) for note in entry.notes)),
            notes=(entry.citation.strip(),),
        ),
        Table(
            title="Files" if entry.need == "all" else "Files (any one is enough)",
            header=("file", "here", "bytes", "sha256", ""),
            rows=tuple(
                (
                    one.name,
                    "here" if local and one.name in local.files else "not here",
                    f"{one.size:,}" if one.size else "",
                    _short(one.sha256) if one.sha256 else "not recorded",
                    "optional" if one.optional else "",
                )
                for one in entry.files
            ),
            numeric=frozenset({"bytes"}),
            notes=tuple(f"from {address}" for address in addresses if address),
        ),
    ]  # fmt: skip
    if entry.counts:
        sizes = tuple((what, f"{number:,}") for what, number in entry.counts.items())
        tables.append(
            Table(title="Sizes", header=("of", "number"), rows=sizes, numeric=frozenset({"number"}))
        )
    options = dataset_options(entry.name)
    if options:
        tables.append(
            Table(
                title="Options (export --option NAME=VALUE, markscheme_research.datasets.load)",
                header=("option", "values"),
                rows=tuple(options.items()),
            )
        )
    return tables


def _short(text: str) -> str:
    return text if len(text) < 64 else f"{text[:12]}..."
