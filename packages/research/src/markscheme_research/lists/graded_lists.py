"""Lists of references of several grades: written, drawn, and used as solved examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from markscheme.errors import DataError
from markscheme.models import Models
from markscheme.results import TableResult
from markscheme.tables import content_ids, write_table
from markscheme.text import normalise_series
from markscheme_research.datasets import catalog, load
from markscheme_research.lists import Draw
from markscheme_research.lists.list_material import Material, open_material, read_loosely
from markscheme_research.lists.written_lists import (
    build_lists,
    read_lists,
    solved_examples,
    with_lists,
)


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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WrittenLists(TableResult):
    """Lists of references that chat models wrote. `frame` has a row per question.

    Attributes:
        complete: how many lists are complete.
        incomplete: how many are not, by the reason.
    """

    complete: int
    incomplete: Mapping[str, int]

    def write(self, path: str | Path) -> Path:
        """Write the lists, a line per question, as `references apply` and judges read them."""
        write_table(self.frame, Path(path))
        return Path(path)


_SHOWN = 3
"""Lists of other questions that a prompt shows."""


def write_lists(
    questions: str,
    models: Models,
    *,
    also: Sequence[str] = (),
    composition: str = "3210",
    examples: str | None = None,
    max_tokens: int = 300,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
) -> WrittenLists:
    """Have chat models write a list of graded references for each question of a file.

    Args:
        questions: a file of questions; the first reference, if any, is the golden answer.
        models: opens the chat models; its own writes the best answers.
        also: names of further models for the worse references.
        composition: a digit per reference, 3 (best) to 0.
        examples: lists of other questions to show; None for none. Three are shown.
        max_tokens: of one reference.
        seed: which technique and model each worse reference comes from.
        columns: columns with unusual names.

    Raises:
        DataError: the file cannot be read. JudgeError: the composition or the examples are wrong.
        ModelError: a model cannot be used.
    """
    frame = build_lists(
        read_loosely(questions, dict(columns or {})),
        [models.chat(), *(models.chat(name) for name in also)],
        composition=composition,
        seed=seed,
        examples=read_lists(examples)[:_SHOWN] if examples is not None else [],
        max_tokens=max_tokens,
    )
    counts = dict(frame["status"].value_counts(sort=True).iter_rows())
    complete = counts.pop("ok", 0)
    return WrittenLists(
        frame=frame,
        tables=(),
        data={"command": "references build", "complete": complete, "incomplete": counts,
              "lists": frame.to_dicts()},
        complete=complete,
        incomplete=counts,
    )  # fmt: skip


def apply_lists(
    answers: str, lists: str, *, columns: Mapping[str, str] | None = None
) -> tuple[pl.DataFrame, int, int]:
    """Answers with stored lists as their references, by question.

    Args:
        answers: a file of answers.
        lists: a file that `WrittenLists.write` wrote.
        columns: columns with unusual names.

    Returns:
        The answers table, how many rows have a list now, and how many keep the references that
        they had.

    Raises:
        DataError: a file cannot be read, or no question has a complete list.
    """
    table, missing = with_lists(read_loosely(answers, dict(columns or {})), read_lists(lists))
    if missing == table.height:
        raise DataError(f"no question of {answers} has a complete list in {lists}")
    return table, table.height - missing, missing


def draw_lists(
    data: str,
    *,
    composition: str | None = None,
    protocol: Literal["rest", "butref"] = "rest",
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    data_dir: Path | None = None,
) -> DrawnLists:
    """Draw references from graded answers, and write the other answers with them for judging.

    Args:
        data: a dataset's name, or a file with question, answer and a grade.
        composition: a digit per reference; None for the data's usual one.
        protocol: `rest`: drawn references leave the answers; `butref`: only the first of each list
            does, which leaks the others.
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
        answers=table.with_columns(_content=content_ids(table))
        .unique("_content", maintain_order=True)
        .drop("_content"),
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


def shot_lines(chosen: pl.DataFrame) -> list[str]:
    """A line per solved example of `choose_shots`: its rank, of how many, and the question."""
    return [
        f"rank {row['rank']} of {len(row['references']) + 1}  {row['question']}"
        for row in chosen.iter_rows(named=True)
    ]


def _material(data: str, columns: Mapping[str, str] | None, data_dir: Path | None) -> Material:
    folder = None if data_dir is None else str(data_dir)
    return open_material(data, data_dir=folder, columns=dict(columns or {}))


def _questions(source: str, columns: Mapping[str, str] | None, data_dir: Path | None) -> pl.Series:
    """The questions of a dataset or file, graded or not."""
    if source in catalog():
        return load(source, data_dir=data_dir)["question"].unique()
    return read_loosely(source, dict(columns or {}))["question"].unique()
