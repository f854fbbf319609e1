"""What trained judges learn from unless other data are named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from markscheme.errors import DataError
from markscheme.flags import columns_option
from markscheme.results import labels_of
from markscheme.tables import FileOptions, read_answers, read_dataset
from markscheme_research.statements import read_entailment_pairs
from markscheme_research.training.splits import parts


def labelled_answers(files: Sequence[str], options: FileOptions | None = None) -> pl.DataFrame:
    """The answers of files, some of them labelled at least; `set` names the file of each.

    Raises:
        DataError: they cannot be read, or none has a label.
    """
    reading = (options or FileOptions()).reading()
    names = [Path(one).name for one in files]
    if len(set(names)) < len(names):
        names = [str(one) for one in files]
    answers = pl.concat(
        [
            read_answers([one], reading).with_columns(set=pl.lit(name))
            for one, name in zip(files, names, strict=True)
        ],
        how="diagonal_relaxed",
    )
    labels = labels_of(answers.lazy()).alias("label")
    if not labels.count():
        named = columns_option({"label": "NAME"})
        raise DataError(f"the answers have no labels; name their column with {named}")
    return answers.with_columns(labels)


def shipped_data(*, part: str | None = None, data_dir: Path | None = None) -> pl.DataFrame:
    """EVOUNA-NQ, which the judges that ship learned from: all, one part, or `!part` for the others.

    Raises:
        DataError: it is not here.
    """
    answers = read_dataset("evouna-nq", data_dir=data_dir)
    if part is None:
        return answers
    where = parts(answers["question"])
    return answers.filter(where != part[1:] if part.startswith("!") else where == part)


def training_answers(
    files: Sequence[str] = (),
    options: FileOptions | None = None,
    *,
    part: str | None = None,
    data_dir: Path | None = None,
) -> pl.DataFrame:
    """The labelled answers of files, or without files what the shipped judges learned from.

    Args:
        files: labelled answers of the user's own.
        options: how they are read; the defaults if None.
        part: of EVOUNA-NQ, where no files are given; see `shipped_data`.
        data_dir: folder with the datasets.

    Raises:
        DataError: they cannot be read, none has a label, or EVOUNA-NQ is not here.
    """
    if files:
        return labelled_answers(files, options)
    return shipped_data(part=part, data_dir=data_dir)


def read_pairs(source: str | Path, *, entailed: str | None = None) -> pl.DataFrame:
    """The pairs of an NLI file to learn from: see `read_entailment_pairs`.

    Returns:
        `question`, `premise`, `hypothesis`, `label`, `kind` and `direction`.

    Raises:
        DataError: it cannot be read, or all pairs have the same label.
    """
    pairs = read_entailment_pairs(source, entailed=entailed)
    if pairs["label"].n_unique() < 2:
        raise DataError(
            f"{source}: of {pairs.height} pairs {int(pairs['label'].sum())} are entailed; both "
            "kinds are needed to learn from"
        )
    return pairs.with_columns(kind=pl.lit("given"), direction=pl.lit("forward"))


def read_all_pairs(files: Sequence[str], *, entailed: str | None = None) -> pl.DataFrame | None:
    """The pairs of NLI files, one after the other; None without files.

    Raises:
        DataError: a file cannot be read.
    """
    if not files:
        return None
    return pl.concat([read_pairs(one, entailed=entailed) for one in files])
