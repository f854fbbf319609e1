"""`load` and `check`: a dataset's answers by its name, and its sizes against the recorded ones."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import polars as pl

from markscheme.errors import DataError, UnknownNameError
from markscheme.tables import write_answers
from markscheme_research.datasets import evouna, gold, graded, linkage, openqa, prompt_files
from markscheme_research.datasets.catalogue import Dataset, catalog, dataset
from markscheme_research.datasets.locations import Local, locate
from markscheme_research.datasets.rows import Family

FAMILIES: Mapping[str, Family] = {
    "curatedtrec": gold.TREC,
    "evouna": evouna.FAMILY,
    "graded-answers": graded.FAMILY,
    "graded-passages": linkage.FAMILY,
    "nq-open": gold.NQ,
    "nq301": openqa.FAMILY,
    "openqa-predictions": openqa.FULL,
    "prompts": prompt_files.FAMILY,
    "triviaqa": gold.TRIVIA,
    "webglm": linkage.WEBGLM,
}
"""The loader of each `format` in the catalogue."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One comparison of a local copy with what the catalogue records; `found` is None if absent."""

    what: str
    recorded: str
    found: str | None

    @property
    def ok(self) -> bool:
        """Does what is here agree? True also for what is not here."""
        return self.found is None or self.found == self.recorded


def load(name: str, *, data_dir: str | Path | None = None, **options: Any) -> pl.DataFrame:
    """A dataset as an answers table.

    Args:
        name: as `markscheme research datasets` lists it.
        data_dir: where the files lie (see `data_folders`), or the file itself.
        options: of this dataset, as `options_of(name)` describes them; text is read as the
            option's type.

    Returns:
        Columns of `answers.SCHEMA`. Datasets without systems' answers have null `answer`.

    Raises:
        UnknownNameError: no such dataset or option.
        DataError: the files are not here, are not what they should be, or an option's value is
            not allowed.
    """
    entry = dataset(name)
    family = FAMILIES[entry.format]
    chosen = _choose(entry, family.options, options)
    local = locate(entry, data_dir)
    answers = family.load(local, chosen)
    if answers.is_empty():
        files = ", ".join(str(path) for path in local.files.values())
        raise DataError(f"{name} has no rows with these options; its files here are {files}")
    return answers


def export_answers(
    name: str, path: str | Path, *, data_dir: str | Path | None = None, **options: Any
) -> pl.DataFrame:
    """Write a dataset as an answers table, which every command reads, and return it.

    Args:
        name: as `markscheme research datasets` lists it.
        path: the file; its ending names the format (.jsonl, .csv, .tsv, .parquet).
        data_dir: where the files lie (see `data_folders`), or the file itself.
        options: as for `load`.

    Raises:
        UnknownNameError, DataError: as `load`; or the file cannot be written.
    """
    answers = load(name, data_dir=data_dir, **options)
    write_answers(answers, path)
    return answers


def passages(name: str, *, data_dir: str | Path | None = None, part: str = "auto") -> pl.DataFrame:
    """The graded passages of ANTIQUE or TREC-DL-NF as the file has them, references and all.

    Columns: `question_number` (from 1), `question`, `passage_id`, `passage`, `grade`. The order of
    rows is the file's, which is sorted by grade: it must not reach a judge.

    Args:
        name: `antique` or `trec-dl-nf`.
        data_dir: folder with the datasets, or one file.
        part: of ANTIQUE: `all`, `dev` (what the shipped weights learned from), `test` (the other
            half), or `auto`: all if the whole file is here, else `dev`.

    Raises:
        UnknownNameError: no such dataset or part.
        DataError: it has no graded passages or no parts, or its files are not here.
    """
    entry = dataset(name)
    if entry.format != "graded-passages":
        having = [n for n, e in catalog().items() if e.format == "graded-passages"]
        raise DataError(f"{name} has no graded passages; {' and '.join(having)} have")
    return linkage.read_passages(locate(entry, data_dir), part)


def options_of(name: str) -> dict[str, str]:
    """The options of a dataset: name to a phrase such as `one of dev, train (default dev)`."""
    kind = FAMILIES[dataset(name).format].options
    hints = typing.get_type_hints(kind)
    return {
        field.name: f"{_describe(hints[field.name])} (default {_shown(field.default)})"
        for field in dataclasses.fields(kind)
    }


def check(name: str, *, data_dir: str | Path | None = None) -> list[Check]:
    """Compares a local copy with the recorded sizes and checksums.

    Raises:
        UnknownNameError: no such dataset.
        DataError: the files are not here or cannot be read.
    """
    entry = dataset(name)
    local = locate(entry, data_dir)
    return [*_check_files(entry, local), *_check_counts(entry, local)]


def _check_files(entry: Dataset, local: Local) -> list[Check]:
    checks = []
    for file in entry.files:
        if file.sha256:
            path = local.files.get(file.name)
            found = None if path is None else sha256(path.read_bytes()).hexdigest()
            checks.append(Check(what=f"sha256 of {file.name}", recorded=file.sha256, found=found))
    return checks


def _check_counts(entry: Dataset, local: Local) -> list[Check]:
    found = FAMILIES[entry.format].counts(local)
    return [
        Check(
            what=what,
            recorded=f"{number:,}",
            found=f"{found[what]:,}" if what in found else None,
        )
        for what, number in entry.counts.items()
    ]


def _choose(entry: Dataset, kind: type, given: Mapping[str, Any]) -> Any:
    hints = typing.get_type_hints(kind)
    values = {}
    for key, value in given.items():
        if key not in hints:
            see = f"'markscheme research datasets {entry.name}' shows its options"
            raise UnknownNameError(f"option of {entry.name}", key, hints, see)
        values[key] = _coerce(entry, key, value, hints[key])
    return kind(**values)


_WORDS = {"true": True, "yes": True, "false": False, "no": False}


def _coerce(entry: Dataset, key: str, value: Any, hint: Any) -> Any:
    """`value` as the option's type, read from text if need be."""
    kinds = typing.get_args(hint) if typing.get_origin(hint) is not Literal else ()
    if hint is bool and isinstance(value, str):
        value = _WORDS.get(value.lower(), value)
    elif (hint is int or int in kinds) and isinstance(value, str) and value.lstrip("-").isdigit():
        value = int(value)
    if typing.get_origin(hint) is Literal:
        fits = value in typing.get_args(hint)
    else:
        allowed = kinds or (hint,)
        fits = type(value) in allowed
    if not fits:
        raise DataError(f"{entry.name}: {key}={value!r} must be {_describe(hint)}")
    return value


def _describe(hint: Any) -> str:
    if typing.get_origin(hint) is Literal:
        return "one of " + ", ".join(typing.get_args(hint))
    words = {bool: "true or false", int: "a whole number"}
    kinds = [kind for kind in typing.get_args(hint) or (hint,) if kind is not type(None)]
    return " or ".join(words[kind] for kind in kinds)


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return "the paper's" if default is None else str(default)
