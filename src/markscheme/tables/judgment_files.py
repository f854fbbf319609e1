"""Judgments, ours or another tool's, long or wide, as one row per answer and judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from markscheme.errors import AgreementError, DataError, UnknownNameError
from markscheme.flags import columns_option
from markscheme.tables.columns import KEYS, REQUIRED, renamed
from markscheme.tables.files import Source, read_table
from markscheme.tables.joins import check_key, text_keys
from markscheme.tables.judgments import (
    JUDGMENTS_SCHEMA,
    SCOPES,
    STATUSES,
    scope_kind,
    status_of_results,
)
from markscheme.tables.label_values import is_binary, looks_like_values, parse_values, text_values
from markscheme.tables.labels import LABEL_COLUMNS
from markscheme.tables.opened import check_named
from markscheme.tables.seal import check_exported, check_run, no_run
from markscheme.tables.validation import is_blank

NOT_JUDGES = {*KEYS, *LABEL_COLUMNS, "references", "context", "reference_kind", "reference_grades"}
_TABLES = ("judgments.parquet", "answers.parquet")
EXTRAS = ("relation", "marks", "explanation", "scope", "raw")


def load_judgments(
    source: Source,
    *,
    judges: Sequence[str] | None = None,
    threshold: float = 0.5,
    names: Mapping[str, str] | None = None,
    slices: Sequence[str] = (),
) -> pl.DataFrame:
    """Judgments as a long table: the key columns, `judge`, `status`, `score`, `verdict`.

    A wide table has one column a judge: those named in `judges`, or, where the table has neither
    `verdict` nor `score`, every other column that holds verdicts or numbers. A column of numbers
    other than 0 and 1 is a score; where a judge gives a score and no verdict, the verdict is
    `score >= threshold`.

    Args:
        source: a file, a data frame or a list of dicts.
        judges: long table: the judges to keep; wide table: the columns that are judges.
        threshold: from which score an answer is accepted where a judge gave no verdict.
        names: other names of columns, ours to theirs.
        slices: columns of the user's own that are retained where the table has them.

    Raises:
        DataError: no key, no judge, or values that are no verdict.
        AgreementError: the table has no rows.
    """
    given = read_table(source)
    table = renamed(
        given,
        dict(names or {}),
        ("answer_id", "question", "answer", "system", "judge", "verdict", "score", "label"),
        keep=judges or (),
    )
    if table.is_empty():
        raise AgreementError("the judgments table has no rows")
    check_key(table, "judgments", given.columns)
    table = text_keys(table)
    has_result = "verdict" in table.columns or "score" in table.columns
    if judges and all(name in table.columns for name in judges):
        long = _from_wide(table, judges, slices)
    elif has_result:
        long = _from_long(table, judges, slices)
    else:
        found = [
            name
            for name in table.columns
            if name not in {*NOT_JUDGES, *slices} and looks_like_values(table[name])
        ]
        if not found and not judges and {"question", "answer"} <= set(table.columns):
            raise DataError(
                "these are answers that are not judged yet: there is neither a verdict nor a "
                "score. 'markscheme judge FILE --out RUN' judges them; then give RUN here. The "
                f"columns are {', '.join(map(repr, given.columns))}"
            )
        if not found or judges:
            raise DataError(
                f"no judge column{f' {judges}' if judges else ''} found: a long table needs "
                "'verdict' or 'score', a wide one a column for each judge, named with --judge. "
                "Answers that are not judged yet need, where the command judges them ('judge', "
                f"'diff'), {columns_option(dict.fromkeys(REQUIRED, 'NAME'))}. "
                f"The columns are {', '.join(map(repr, given.columns))}"
            )
        long = _from_wide(table, found, slices)
    decided = pl.when(pl.col("verdict").is_null()).then(pl.col("score") >= threshold)
    long = long.with_columns(decided.otherwise(pl.col("verdict")).alias("verdict"))
    judged = pl.col("status") == "judged"
    return long.with_columns(
        pl.when(judged).then(pl.col("verdict")).alias("verdict"),
        pl.when(judged).then(pl.col("score")).alias("score"),
    )


def judgments_file(source: str | Path) -> tuple[str, bool]:
    """The table of judgments of a run's folder, or the file itself; and whether it has a seal.

    Judgments are read with the answers that they are of, so both tables have to be the run's.

    Raises:
        DataError: the name is empty, or the folder is no run's.
        RunError: the run has not ended, its tables are not as it left them, or the file was changed
            since a labelling project exported it.
    """
    check_named(str(source))
    folder = Path(source)
    if folder.name == _TABLES[0]:
        folder = folder.parent
    table = folder / _TABLES[0]
    if (folder / "run.json").exists():
        check_run(folder, _TABLES)
        return str(table), True
    if table.exists():
        return str(table), False
    if not folder.is_dir() or folder != Path(source):
        return str(source), bool(check_exported(Path(source)))
    raise DataError(no_run(folder))


def one_judge(judgments: pl.DataFrame, name: str | None = None) -> pl.DataFrame:
    """The rows of one judge, as a file or a table of judgments may have several.

    Args:
        judgments: with a column `judge`.
        name: whose; None where there is only one.

    Raises:
        UnknownNameError: there is no such judge.
        AgreementError: there are several, and none is named.
    """
    judges = judgments["judge"].cast(pl.String)
    known = judges.unique(maintain_order=True).to_list()
    listed = ", ".join(map(repr, known))
    if name is None and len(known) > 1:
        raise AgreementError(
            f"one judge's judgments are needed; choose with --judge one of {listed}"
        )
    if name is not None and name not in known:
        raise UnknownNameError("judge here", name, known, f"there are: {listed or 'none'}")
    return judgments if name is None else judgments.filter(judges == name)


def _from_long(
    table: pl.DataFrame, judges: Sequence[str] | None, slices: Sequence[str]
) -> pl.DataFrame:
    if "judge" not in table.columns:
        table = table.with_columns(pl.lit("judge").alias("judge"))
    if judges:
        known = table["judge"].unique().sort().to_list()
        unknown = [name for name in judges if name not in known]
        if unknown:
            raise DataError(
                f"no judgments by {', '.join(map(repr, unknown))}; "
                f"the judges are {', '.join(map(repr, known))}"
            )
        table = table.filter(pl.col("judge").is_in(judges))
    verdict, score = _column(table, "verdict"), _column(table, "score")
    if not is_binary(verdict):
        raise DataError("column 'verdict' has numbers other than 0 and 1; are they scores?")
    table = table.with_columns(verdict.cast(pl.Boolean).alias("verdict"), score.alias("score"))
    if "status" not in table.columns or not _is_ours(table["status"]):
        table = table.with_columns(status_of_results(table))
    return _tidy(table.with_columns(pl.col("status").cast(pl.String)), slices)


def _is_ours(status: pl.Series) -> bool:
    """Whether a column `status` is of our kind; another tool's with the same name is passed over.

    Raises:
        DataError: some of its values are ours and some are not.
    """
    values = status.cast(pl.String).drop_nulls().unique().sort().to_list()
    strange = [value for value in values if value not in STATUSES]
    if strange and len(strange) < len(values):
        raise DataError(
            f"column 'status' has {', '.join(map(repr, strange[:5]))}; "
            f"the statuses are {', '.join(STATUSES)}"
        )
    return not strange


def _from_wide(table: pl.DataFrame, judges: Sequence[str], slices: Sequence[str]) -> pl.DataFrame:
    keys = [name for name in dict.fromkeys([*KEYS, *slices]) if name in table.columns]
    parts = []
    for name in judges:
        values = parse_values(table[name])
        binary = is_binary(values)
        empty = pl.Series([None] * len(values), dtype=pl.Float64)
        parts.append(
            table.select(keys).with_columns(
                pl.lit(name).alias("judge"),
                pl.Series("verdict", values if binary else empty).cast(pl.Boolean),
                pl.Series("score", empty if binary else values),
            )
        )
    long = pl.concat(parts)
    return _tidy(long.with_columns(status_of_results(long)), slices)


def _tidy(table: pl.DataFrame, slices: Sequence[str]) -> pl.DataFrame:
    """The columns of judgments, in our types, and slices, whose blank cells are null.

    Another tool may call columns as `EXTRAS` are called: values that are none of ours are null.
    """
    ours = (*KEYS, "judge", "status", "score", "verdict")
    kept = [name for name in dict.fromkeys((*ours, *EXTRAS, *slices)) if name in table.columns]
    bare = [name for name in kept if table.schema[name] == pl.Null]  # of rows: never a value
    table = table.select(kept).with_columns(
        pl.col("judge").cast(pl.String),
        *(pl.col(name).cast(JUDGMENTS_SCHEMA.get(name, pl.String)) for name in bare),
    )
    table = table.with_columns(_extra(table[name]) for name in EXTRAS if name in kept)
    return table.with_columns(
        pl.when(~is_blank(name)).then(name)
        for name, kind in table.schema.items()
        if kind == pl.String and name not in ours
    )


def _extra(column: pl.Series) -> pl.Series:
    """A column of `EXTRAS` in our type, null where a value is none of ours."""
    if column.dtype.is_nested():
        column = pl.Series(column.name, [None] * len(column), dtype=pl.String)
    texts = column.cast(pl.String)
    if column.name == "marks":
        return text_values(texts)[0]
    if column.name == "scope":
        return texts.to_frame().select(pl.when(scope_kind().is_in(SCOPES)).then("scope"))["scope"]
    return texts.cast(JUDGMENTS_SCHEMA[column.name], strict=False)


def _column(table: pl.DataFrame, name: str) -> pl.Series:
    if name in table.columns:
        return parse_values(table[name])
    return pl.Series(name, [None] * table.height, dtype=pl.Float64)
