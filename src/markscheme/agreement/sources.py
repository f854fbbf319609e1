"""What the public functions accept: paths, runs, frames and results, read into tidy tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard, runtime_checkable

import polars as pl

from markscheme.errors import DataError
from markscheme.options import parse_columns, split_list
from markscheme.results import NO_VALUE
from markscheme.tables import (
    KEYS,
    Joined,
    ReadOptions,
    check_run,
    join_labels,
    judgments_file,
    load_judgments,
    load_labels,
    numbered,
    read_answers,
    read_table,
    renamed,
    with_answers,
)

if TYPE_CHECKING:
    import pandas as pd


@runtime_checkable
class JudgedAnswers(Protocol):
    """What `markscheme.judge` gives, as far as statistics need it."""

    @property
    def judgments(self) -> pl.DataFrame:
        """The judgments table."""

    @property
    def answers(self) -> Callable[[], pl.DataFrame]:
        """Gives the answers table."""


TableSource: TypeAlias = "str | Path | pl.DataFrame | pd.DataFrame | Sequence[Mapping[str, Any]]"
"""A file's path, a Polars or pandas frame, or a list of rows."""

JudgmentsSource: TypeAlias = "TableSource | JudgedAnswers"
"""Judgments: a file, the folder of a run, a frame, a list of rows, or a `markscheme.Result`."""


def is_result(source: Any) -> TypeGuard[JudgedAnswers]:
    """Whether a source is a `markscheme.Result`, or anything else with judgments and answers."""
    frame = type(source).__module__.startswith(("pandas", "polars"))
    return not frame and isinstance(source, JudgedAnswers)


def names_of(names: str | Sequence[str]) -> list[str]:
    """Names given as a list, or in one text with commas; commas in brackets belong to a name."""
    return split_list(names) if isinstance(names, str) else list(names)


def columns_of(columns: str | Mapping[str, str]) -> dict[str, str]:
    """Our names of columns to a file's: a mapping, or a text such as `question=q,answer=pred`.

    Raises:
        MarkschemeError: a piece of the text without `=`.
    """
    return parse_columns(columns) if isinstance(columns, str) else dict(columns)


def judged_table(
    source: JudgmentsSource,
    *,
    judges: str | Sequence[str] = (),
    columns: str | Mapping[str, str] = "",
    answers: TableSource | None = None,
    threshold: float = 0.5,
) -> pl.DataFrame:
    """Judgments as a long table, with questions, answers and systems from the judged answers.

    These are `answers` where given, else what a run or a `Result` keeps.

    Raises:
        DataError, AgreementError: judgments or answers cannot be read, or do not fit together.
    """
    table = _judgments(source)
    found = load_judgments(
        table,
        judges=names_of(judges) or None,
        threshold=threshold,
        names={ours: theirs for ours, theirs in columns_of(columns).items() if ours != "label"},
    )
    if answers is not None:
        return with_answers(found, answers_table(answers))
    if is_result(source):
        return with_answers(found, source.answers())
    kept = answers_of_run(source)
    return found if kept is None else with_answers(found, read_answers(str(kept)))


def labelled_table(
    source: JudgmentsSource,
    *,
    column: str | None = None,
    columns: str | Mapping[str, str] = "",
) -> pl.DataFrame:
    """Labels as a table, by the column that holds them.

    Raises:
        DataError, AgreementError: they cannot be read.
    """
    table = source.answers() if is_result(source) else _table(source)
    known = {
        ours: theirs
        for ours, theirs in columns_of(columns).items()
        if ours in (*KEYS, "label") and theirs in table.columns
    }
    return load_labels(table, column=column, names=known)


def judged_and_labelled(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None,
    *,
    judges: str | Sequence[str] = (),
    columns: str | Mapping[str, str] = "",
    answers: TableSource | None = None,
    threshold: float = 0.5,
    label_column: str | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judgments and labels, of two tables or, where `labels` is None, of one, a run or a result.

    Raises:
        DataError, AgreementError: they cannot be read.
    """
    if is_result(labels):
        labels = labels.answers()
    elif labels is None and label_column is None:
        # A run keeps the labels that came with its answers.
        labels = judgments.answers() if is_result(judgments) else answers_of_run(judgments)
    judged: JudgmentsSource = judgments
    known: Any = labels
    if labels is None or labels is judgments or _same_file(labels, judgments):
        table = numbered(_judgments(judgments))
        named = label_column or columns_of(columns).get("label")
        # The label is found first, lest a column such as 'correct' be taken for a verdict too.
        judged = known = renamed(
            table, {"label": named} if named else {}, ("label",), keep=names_of(judges)
        )
        label_column = None
    rows = judged_table(
        judged, judges=judges, columns=columns, answers=answers, threshold=threshold
    )
    return rows, labelled_table(known, column=label_column, columns=columns)


def joined_with_labels(
    judgments: JudgmentsSource, labels: JudgmentsSource | None, **reading: Any
) -> Joined:
    """Judgments matched with labels; the keywords are those of `judged_and_labelled`.

    Raises:
        DataError, AgreementError: they cannot be read, or do not match.
    """
    return join_labels(*judged_and_labelled(judgments, labels, **reading))


def answers_table(source: Any, options: ReadOptions | None = None) -> pl.DataFrame:
    """An answers table from a file, a frame, rows, or what `markscheme.judge` returned.

    Raises:
        DataError: it cannot be read.
    """
    if is_result(source):
        return source.answers()
    return read_answers(str(source) if isinstance(source, Path) else source, options)


def answers_of_run(source: Any) -> Path | None:
    """The answers that a run has kept beside its judgments, if `source` is of a run."""
    if not isinstance(source, str | Path):
        return None
    path = Path(source)
    run = path if path.is_dir() else path.parent if path.name == "judgments.parquet" else None
    if run is None:
        return None
    if (run / "run.json").exists():
        check_run(run, ("answers.parquet",))
    answers = run / "answers.parquet"
    return answers if answers.exists() else None


def with_slices(
    rows: pl.DataFrame,
    source: JudgmentsSource,
    slices: Sequence[str],
    *,
    answers: TableSource | None = None,
) -> pl.DataFrame:
    """Judgments with columns of the user's own, as text, from the judged answers.

    Args:
        rows: judgments as `judged_table` gives them.
        source: where they came from: a run and a `Result` have kept the columns named to `judge`.
        slices: the columns.
        answers: the judged answers, where given.

    Raises:
        DataError: there is no such column.
    """
    options = ReadOptions(slices=tuple(slices))
    kept = answers if answers is not None else answers_of_run(source)
    table = (
        answers_table(kept, options) if kept is not None
        else source.answers() if is_result(source)
        else _judgments(source)
    )  # fmt: skip
    missing = [name for name in slices if name not in table.columns]
    if missing:
        raise DataError(
            f"there is no column {missing[0]!r} in the judged answers; judge with --slices "
            f"{missing[0]}, or give the answers with --answers FILE"
        )
    both = [name for name in KEYS if {name} <= {*rows.columns} & {*table.columns}]
    keys = ["answer_id"] if "answer_id" in both else both
    table = table.select(*keys, *slices).with_columns(pl.col(keys).cast(pl.String))
    rows = rows.drop(set(slices) & set(rows.columns)).join(
        table.unique(keys), on=keys, how="left", nulls_equal=True, maintain_order="left"
    )
    values = [pl.col(name).cast(pl.String).fill_null(NO_VALUE).alias(name) for name in slices]
    return rows.with_columns(values)


def _same_file(one: Any, other: Any) -> bool:
    paths = isinstance(one, str | Path) and isinstance(other, str | Path)
    return paths and str(one) == str(other)


def _judgments(source: JudgmentsSource) -> pl.DataFrame:
    if is_result(source):
        return source.judgments
    return _table(judgments_file(source) if isinstance(source, str | Path) else source)


def _table(source: Any) -> pl.DataFrame:
    """The table of a file, a frame or rows, as it stands.

    Raises:
        DataError: something else.
    """
    if isinstance(source, str | Path | pl.DataFrame):
        return read_table(source)
    if type(source).__module__.startswith("pandas"):
        values = source.astype(object).where(source.notna(), None)
        return pl.DataFrame(
            {str(name): values[name].tolist() for name in values.columns}, strict=False
        )
    if isinstance(source, Sequence):
        return pl.DataFrame([dict(row) for row in source], infer_schema_length=None)
    raise DataError(
        f"no table can be read from {type(source).__name__}; give a path, a run's folder, a Polars "
        "or pandas frame, a list of rows, or what markscheme.judge returned"
    )
