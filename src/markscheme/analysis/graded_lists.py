"""Lists of references of several grades: drawn, and used as solved examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from markscheme.agreement import Draw
from markscheme.analysis.list_material import Material, open_material, read_loosely
from markscheme.datasets import catalog, load
from markscheme.errors import DataError
from markscheme.judges.listwise import solved_examples
from markscheme.tables import content_ids
from markscheme.text import normalise_series


@dataclass(frozen=True, kw_only=True)
class DrawnLists:
    """Answers with lists of references that were drawn for them.

    Attributes:
        answers: an answers table in random order, without repeats; `rows` counts these too.
        composition: of the lists. questions: how many. shortest, longest: lengths of the lists.
    """

    answers: pl.DataFrame
    rows: int
    composition: str
    questions: int
    shortest: int
    longest: int


def draw_lists(
    data: str,
    *,
    composition: str | None = None,
    protocol: Literal["rest", "butref"] = "rest",
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    data_dir: Path | None = None,
) -> DrawnLists:
    """Draw references out of graded answers; the rest, with these lists, are to be judged.

    Args:
        data: a dataset's name, or a file with question, answer and a grade.
        composition: a digit per reference; None for the data's usual one.
        protocol: `rest`: drawn references leave the answers; `butref`: they stay, which leaks.
        seed: of the draw.
        columns: columns with unusual names.
        data_dir: folder with the datasets.

    Raises:
        DataError: the data cannot be read. AgreementError: no such composition.
    """
    material = _material(data, columns, data_dir)
    made = composition or material.usual
    table = material.table(Draw(composition=made, seed=seed, protocol=protocol))
    lengths = table["references"].list.len().to_list()
    return DrawnLists(
        answers=table.with_columns(answer_id=content_ids(table)).unique(
            "answer_id", maintain_order=True
        ),
        rows=table.height,
        composition=made,
        questions=table["question"].n_unique(),
        shortest=min(lengths),
        longest=max(lengths),
    )


def choose_shots(
    data: str,
    *,
    count: int = 3,
    composition: str | None = None,
    apart: Sequence[str] = (),
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    data_dir: Path | None = None,
) -> tuple[pl.DataFrame, int]:
    """Solved examples for `listwise`, and how many questions of the data are left.

    Args:
        data: a dataset's name, or a file with question, answer and a grade.
        count: how many examples.
        composition: of their lists; None for the data's usual one.
        apart: files or datasets whose questions are not taken.
        seed: of the draw.
        columns: columns with unusual names.
        data_dir: folder with the datasets.

    Raises:
        DataError: the data cannot be read, or no question is left.
    """
    material = _material(data, columns, data_dir)
    table = material.table(Draw(composition=composition or material.usual, seed=seed))
    plain = normalise_series(table["question"])
    for other in apart:
        theirs = _questions(other, columns, data_dir)
        keep = ~plain.is_in(normalise_series(theirs).implode())
        table, plain = table.filter(keep), plain.filter(keep)
    if table.is_empty():
        raise DataError(f"every question of {data} is among those of --apart; nothing to choose")
    chosen = solved_examples(table, count=count, seed=seed)
    return chosen, table["question"].n_unique() - chosen.height


def _material(data: str, columns: Mapping[str, str] | None, data_dir: Path | None) -> Material:
    folder = None if data_dir is None else str(data_dir)
    return open_material(data, data_dir=folder, columns=dict(columns or {}))


def _questions(source: str, columns: Mapping[str, str] | None, data_dir: Path | None) -> pl.Series:
    """The questions of a dataset or file, graded or not."""
    if source in catalog():
        return load(source, data_dir=data_dir)["question"].unique()
    return read_loosely(source, dict(columns or {}))["question"].unique()
