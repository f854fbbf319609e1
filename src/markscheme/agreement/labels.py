"""Reading labels and judgments, ours or another tool's, into two tidy tables.

Both are known by `answer_id`, or by `question` and `answer` (and `system` where there is one).
A judgments table may be long (a row an answer and judge) or wide (a column a judge).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from markscheme import columns
from markscheme.agreement.values import is_binary, looks_like_values, parse_values
from markscheme.errors import AgreementError, BadRowsError, DataError
from markscheme.files import iter_raw

KEYS = ("answer_id", "question", "answer", "system")
ALIASES = columns.ALIASES | {
    "label": (*columns.ALIASES["label"], "gold label", "grade"),
    "judge": ("evaluator", "metric", "grader"),
    "verdict": ("is correct", "correct", "judgment", "judgement"),
    "score": ("probability", "confidence"),
}
"""Our names of columns to those that other tools use, compared without case, `_`, `-` and `?`."""

LABEL_COLUMNS = ("label", "annotator_labels", "inclusion_probability", "stratum")
NOT_JUDGES = {*KEYS, *LABEL_COLUMNS, "references", "context", "reference_kind", "reference_grades"}
JUDGMENT_EXTRAS = ("relation", "marks", "explanation", "raw")


def read_labels(
    source: pl.DataFrame | str | Path,
    *,
    column: str | None = None,
    names: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Labels as a table: the key columns present, `label` (Float64, null is unlabelled).

    `annotator1`, `annotator2`, ... or a list column `annotator_labels` are kept as
    `annotator_labels`; without a `label` column the annotators' majority is the label (a tie
    leaves it null). `inclusion_probability` and `stratum`, as `plan-labels` writes them, are kept.

    Args:
        source: a table, or a CSV, TSV, JSON, JSONL or Parquet file.
        column: the column that holds the label, where it is not called `label`.
        names: other names of columns, ours to theirs (`{"question": "Frage"}`).

    Raises:
        DataError: no label column, no key, or values that are no label.
    """
    mapping = dict(names or {}) | ({"label": column} if column else {})
    table = renamed(
        read_table(source), mapping, ("answer_id", "question", "answer", "system", "label")
    )
    table = _with_annotators(table)
    if "label" in table.columns and table["label"].null_count() < table.height:
        table = table.with_columns(parse_values(table["label"]).alias("label"))
    elif "annotator_labels" in table.columns:
        from markscheme.agreement.annotators import majority, ratings_table

        table = table.with_columns(majority(ratings_table(table["annotator_labels"])))
    else:
        raise DataError(
            "the labels have no column 'label'; name it with --label-column (Python: column=...). "
            f"The columns are {', '.join(map(repr, table.columns))}"
        )
    _check_key(table, "labels")
    kept = [name for name in (*KEYS, *LABEL_COLUMNS) if name in table.columns]
    return _text_keys(table.select(kept))


def read_judgments(
    source: pl.DataFrame | str | Path,
    *,
    judges: Sequence[str] | None = None,
    threshold: float = 0.5,
    names: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Judgments as a long table: the key columns, `judge`, `status`, `score`, `verdict`.

    A wide table has one column a judge: those named in `judges`, or, where the table has neither
    `verdict` nor `score`, every other column that holds verdicts or numbers. A column of numbers
    other than 0 and 1 is a score; where a judge gives a score and no verdict, the verdict is
    `score >= threshold`.

    Args:
        source: a table, or a CSV, TSV, JSON, JSONL or Parquet file.
        judges: long table: the judges to keep; wide table: the columns that are judges.
        threshold: from which score an answer is accepted where a judge gave no verdict.
        names: other names of columns, ours to theirs.

    Raises:
        DataError: no key, no judge, or values that are no verdict.
        AgreementError: the table has no rows.
    """
    table = renamed(
        read_table(source),
        dict(names or {}),
        ("answer_id", "question", "answer", "system", "judge", "verdict", "score", "label"),
        keep=judges or (),
    )
    if table.is_empty():
        raise AgreementError("the judgments table has no rows")
    _check_key(table, "judgments")
    table = _text_keys(table)
    has_result = "verdict" in table.columns or "score" in table.columns
    if judges and all(name in table.columns for name in judges):
        long = _from_wide(table, judges)
    elif has_result:
        long = _from_long(table, judges)
    else:
        found = [
            name
            for name in table.columns
            if name not in NOT_JUDGES and looks_like_values(table[name])
        ]
        if not found or judges:
            raise DataError(
                f"no judge column {judges or ''} found: a long table needs 'verdict' or 'score', "
                "a wide one a column a judge, named with --judges. "
                f"The columns are {', '.join(map(repr, table.columns))}"
            )
        long = _from_wide(table, found)
    decided = pl.when(pl.col("verdict").is_null()).then(pl.col("score") >= threshold)
    long = long.with_columns(decided.otherwise(pl.col("verdict")).alias("verdict"))
    judged = pl.col("status") == "judged"
    return long.with_columns(
        pl.when(judged).then(pl.col("verdict")).alias("verdict"),
        pl.when(judged).then(pl.col("score")).alias("score"),
    )


def numbered(table: pl.DataFrame) -> pl.DataFrame:
    """A table that holds judgments and labels together, with row numbers as `answer_id`.

    So a label is matched with the judgments of its own row even where an answer occurs twice.
    Tables that have ids already, or several rows an answer (a `judge` column), stay as they are.
    """
    taken = {ours for ours in ("answer_id", "judge") for name in table.columns
             if _plain(name) in (*ALIASES[ours], _plain(ours))}  # fmt: skip
    if taken:
        return table
    return table.with_row_index("answer_id", offset=1)


def with_answers(judgments: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Judgments with the `question`, `answer` and `system` of an answers table, by `answer_id`.

    Columns that the judgments have already stay as they are.

    Raises:
        AgreementError: the judgments have no `answer_id`, or none of them is in the answers.
    """
    new = [
        name
        for name in ("question", "answer", "system")
        if name not in judgments.columns and answers[name].null_count() < answers.height
    ]
    if "answer_id" not in judgments.columns:
        raise AgreementError("judgments are matched with answers by 'answer_id', which they lack")
    joined = judgments.join(
        answers.select("answer_id", *new), on="answer_id", how="left", maintain_order="left"
    )
    lost = judgments.join(answers, on="answer_id", how="anti").height
    if lost:
        raise AgreementError(
            f"{lost} of {judgments.height} judgments are of answers that the answers file does not "
            f"have, the first being {judgments['answer_id'][0]!r}; is it the file that was judged?"
        )
    return joined


def read_table(source: pl.DataFrame | str | Path) -> pl.DataFrame:
    """A table as it stands in a CSV, TSV, JSON, JSONL or Parquet file, compressed or not.

    Raises:
        DataError: the file cannot be read or has no rows.
        BadRowsError: some of its rows cannot be read.
    """
    if isinstance(source, pl.DataFrame):
        return source
    batches = list(iter_raw(str(source), batch_rows=1_000_000))
    problems = [problem for batch in batches for problem in batch.problems]
    if problems:
        raise BadRowsError(problems)
    frames = [
        pl.DataFrame({name: _series(name, values) for name, values in batch.columns.items()})
        for batch in batches
        if batch.lines
    ]
    if not frames:
        raise DataError(f"{str(source)!r} has no rows")
    return pl.concat(frames, how="diagonal_relaxed")


def _series(name: str, values: Sequence[Any] | pl.Series) -> pl.Series:
    """Python values as a column; values of mixed kinds (`true` beside `"yes"`) as text."""
    if isinstance(values, pl.Series):
        return values
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) > 1 and not kinds <= {int, float} and list not in kinds and dict not in kinds:
        return pl.Series(name, [None if v is None else str(v) for v in values], dtype=pl.String)
    return pl.Series(name, values, strict=False)


def renamed(
    table: pl.DataFrame,
    mapping: Mapping[str, str],
    wanted: Sequence[str],
    keep: Sequence[str] = (),
) -> pl.DataFrame:
    """The table with our column names: by the user's mapping first, then by common names.

    Columns in `keep` are never renamed.

    Raises:
        DataError: the mapping names a column that is not there.
    """
    strangers = [theirs for theirs in mapping.values() if theirs not in table.columns]
    if strangers:
        raise DataError(
            f"no column {', '.join(map(repr, strangers))}; "
            f"the columns are {', '.join(map(repr, table.columns))}"
        )
    table = table.drop(o for o, t in mapping.items() if o in table.columns and o != t)
    table = table.rename({theirs: ours for ours, theirs in mapping.items()})
    for ours in wanted:
        near = [n for n in table.columns if n not in keep and _plain(n) in ALIASES[ours]]
        if ours not in table.columns and near:
            table = table.rename({near[0]: ours})
    return table


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-?]+", " ", name).strip().lower()


def _from_long(table: pl.DataFrame, judges: Sequence[str] | None) -> pl.DataFrame:
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
    if "status" not in table.columns:
        judged = pl.col("verdict").is_not_null() | pl.col("score").is_not_null()
        status = pl.when(judged).then(pl.lit("judged")).otherwise(pl.lit("failed"))
        table = table.with_columns(status.alias("status"))
    return _tidy(table.with_columns(pl.col("status").cast(pl.String)))


def _from_wide(table: pl.DataFrame, judges: Sequence[str]) -> pl.DataFrame:
    keys = [name for name in KEYS if name in table.columns]
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
                pl.Series("judged", values.is_not_null()),
            )
        )
    status = pl.when("judged").then(pl.lit("judged")).otherwise(pl.lit("failed"))
    return _tidy(pl.concat(parts).with_columns(status.alias("status")))


def _tidy(table: pl.DataFrame) -> pl.DataFrame:
    keys = [name for name in KEYS if name in table.columns]
    extras = [name for name in JUDGMENT_EXTRAS if name in table.columns]
    return table.select(
        *keys, pl.col("judge").cast(pl.String), "status", "score", "verdict", *extras
    )


def _column(table: pl.DataFrame, name: str) -> pl.Series:
    if name in table.columns:
        return parse_values(table[name])
    return pl.Series(name, [None] * table.height, dtype=pl.Float64)


def _with_annotators(table: pl.DataFrame) -> pl.DataFrame:
    if "annotator_labels" in table.columns:
        if table["annotator_labels"].null_count() == table.height:
            return table.drop("annotator_labels")
        return table.with_columns(pl.col("annotator_labels").cast(pl.List(pl.Float64)))
    names = sorted(
        (name for name in table.columns if name.startswith("annotator")),
        key=lambda name: (len(name), name),
    )
    if len(names) < 2:
        return table
    parsed = table.select(parse_values(table[name]).alias(name) for name in names)
    return table.with_columns(
        parsed.select(pl.concat_list(names)).to_series().alias("annotator_labels")
    )


def _text_keys(table: pl.DataFrame) -> pl.DataFrame:
    empty = [n for n in KEYS if n in table.columns and table[n].null_count() == table.height]
    return table.drop(empty).with_columns(
        pl.col(n).cast(pl.String) for n in KEYS if n in table.columns and n not in empty
    )


def _check_key(table: pl.DataFrame, what: str) -> None:
    if "answer_id" not in table.columns and not {"question", "answer"} <= set(table.columns):
        raise DataError(
            f"the {what} need 'answer_id', or 'question' and 'answer', to be matched; "
            f"the columns are {', '.join(map(repr, table.columns))}"
        )
