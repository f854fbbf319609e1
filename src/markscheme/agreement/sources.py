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
    slices: Sequence[str] = (),
    labels: JudgmentsSource | None = None,
) -> pl.DataFrame:
    """Judgments as a long table, with questions, answers and systems from the judged answers.

    These are `answers` where given, else what a run or a `Result` keeps.

    Args:
        source: the judgments.
        judges: which of them; all if empty.
        columns: our names of columns to the table's.
        answers: the judged answers.
        threshold: from which score an answer is accepted where a judge gave no verdict.
        slices: columns of the user's own, of the judgments or else of the answers, as text.
        labels: a table of labels, whose columns `columns` may name as well.

    Raises:
        DataError, AgreementError: judgments or answers cannot be read, do not fit together, or
            neither has a slice.
    """
    table = _judgments(source)
    names = {ours: theirs for ours, theirs in columns_of(columns).items() if ours != "label"}
    if labels is not None:
        names = names_of_judged(names, table, labels)
        for ours, theirs in names.items():
            if theirs != "none" and theirs not in table.columns:
                raise DataError(
                    f"neither the judgments nor the labels have a column {theirs!r} (named as "
                    f"{ours}); the judgments have {', '.join(map(repr, table.columns))}; "
                    f"the labels have {', '.join(map(repr, _columns(labels)))}"
                )
    found = load_judgments(
        table,
        judges=names_of(judges) or None,
        threshold=threshold,
        names=names,
        slices=slices,
    )
    kept = answers if answers is not None else answers_of_run(source)
    if kept is not None:
        known = answers_table(kept, ReadOptions(slices=tuple(set(slices) - set(found.columns))))
    elif is_result(source):
        known = source.answers()
    else:
        return _sliced(found, slices)
    return _sliced(with_answers(found, known, slices), slices)


def names_of_judged(
    names: Mapping[str, str], judged: JudgmentsSource, labels: JudgmentsSource
) -> dict[str, str]:
    """The names of columns without those that the labels have and what was judged has not."""
    if not names:
        return {}
    of_labels = set(_columns(labels)) - set(_columns(judged))
    return {ours: theirs for ours, theirs in names.items() if theirs not in of_labels}


def _columns(source: JudgmentsSource) -> list[str]:
    return (source.answers() if is_result(source) else _table(source)).columns


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
        if (ours in (*KEYS, "label") or ours.startswith("annotator")) and theirs in table.columns
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
    elif labels is None:
        labels = labels_of_run(judgments, label_column)
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
    else:
        known = _table(labels)
    rows = judged_table(
        judged, judges=judges, columns=columns, answers=answers, threshold=threshold,
        labels=None if known is judged else known,
    )  # fmt: skip
    return rows, labelled_table(known, column=label_column, columns=columns)


def labels_of_run(source: JudgmentsSource, column: str | None) -> pl.DataFrame | None:
    """The answers of a run or a result, with the labels that came with them; None of a file.

    Raises:
        DataError: there are none.
    """
    file = answers_of_run(source)
    if not is_result(source) and file is None:
        return None
    kept = source.answers() if is_result(source) else read_table(str(file))
    hint = column or "COLUMN"
    advice = (
        f"judge again with --columns label={hint}, or name the file that has them: --labels FILE"
        + (f" --label-column {column}" if column else "")
    )
    known = [column] if column else ["label", "annotator_labels"]
    if not all(kept[name].null_count() == kept.height for name in known if name in kept.columns):
        return kept
    if isinstance(source, str | Path):
        judgments_file(source)  # A damaged run is called damaged first.
    raise DataError(
        f"none of the {kept.height:,} answers of the run has a label"
        + (f" (column {column!r})" if column else "")
        + f"; {advice}"
        if known[0] in kept.columns
        else f"the run has kept no column {column!r}; {advice}"
    )


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


def _sliced(rows: pl.DataFrame, slices: Sequence[str]) -> pl.DataFrame:
    """Judgments with the columns of the user's own as text.

    Raises:
        DataError: there is no such column.
    """
    for name in slices:
        if name not in rows.columns:
            raise DataError(
                f"there is no column {name!r} in the judged answers; judge with --slices {name}, "
                "or give the answers with --answers FILE"
            )
    values = [pl.col(name).cast(pl.String).fill_null(NO_VALUE) for name in slices]
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
