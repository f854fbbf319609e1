"""Tables of labels and judgments as other tools write them: files, names of columns, keys.

A row is known by `answer_id`, or by `question` and `answer` (and `system` where there is one).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.errors import AgreementError, BadRowsError, DataError, Problem, RunError
from markscheme.tables import columns
from markscheme.tables.files import RawBatch, check_named, iter_raw
from markscheme.tables.validation import check_characters

KEYS = ("answer_id", "question", "answer", "system")
ALIASES = columns.ALIASES | {
    "label": (*columns.ALIASES["label"], "gold label", "grade"),
    "judge": ("evaluator", "metric", "grader"),
    "verdict": ("is correct", "correct", "judgment", "judgement"),
    "score": ("probability", "confidence"),
}
"""Our names of columns to those that other tools use, compared without case, `_`, `-` and `?`."""


def read_table(source: pl.DataFrame | str | Path) -> pl.DataFrame:
    """A table as it stands in a CSV, TSV, JSON, JSONL or Parquet file, compressed or not.

    Raises:
        DataError: the file cannot be read or has no rows.
        BadRowsError: some of its rows cannot be read.
    """
    if isinstance(source, pl.DataFrame):
        return source
    batches = list(iter_raw(str(source), batch_rows=1_000_000))
    problems = [problem for batch in batches for problem in (*batch.problems, *_not_unicode(batch))]
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


def judgments_file(source: str | Path) -> str:
    """The table of judgments of a run's folder, or the file itself.

    Raises:
        DataError: the name is empty, or the folder is no run's.
        RunError: the folder is of a run that has not ended.
    """
    check_named(str(source))
    folder = Path(source)
    table = folder / "judgments.parquet"
    if table.exists():
        return str(table)
    if not folder.is_dir():
        return str(source)
    if (folder / "run.json").is_file():
        raise RunError(
            f"{folder} holds an unfinished run; the command that began it goes on where it stopped"
        )
    raise DataError(
        f"{folder} is a folder without judgments.parquet; "
        f"'markscheme judge FILE --out {folder}' makes one"
    )


def _not_unicode(batch: RawBatch) -> list[Problem]:
    """Rows with bytes that are not UTF-8, which CSV and TSV may hold."""
    found = []
    for name, values in batch.columns.items():
        if isinstance(values, pl.Series):
            continue
        for line, value in zip(batch.lines, values, strict=True):
            if isinstance(value, str) and not value.isascii():
                try:
                    check_characters(value, name)
                except ValueError as error:
                    found.append(Problem(batch.source, line, str(error), unit=batch.unit))
    return found


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
        if ours in table.columns:
            continue
        if len(near) > 1:
            raise DataError(
                f"{' and '.join(map(repr, near))} could each be the {ours}; say which with "
                f"--columns {ours}={near[0]}"
            )
        if near:
            table = table.rename({near[0]: ours})
    return table


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


def text_keys(table: pl.DataFrame) -> pl.DataFrame:
    """The table with keys as text, and without keys that are empty throughout."""
    empty = [n for n in KEYS if n in table.columns and table[n].null_count() == table.height]
    return table.drop(empty).with_columns(
        pl.col(n).cast(pl.String) for n in KEYS if n in table.columns and n not in empty
    )


def check_key(table: pl.DataFrame, what: str) -> None:
    """Raises DataError where a table has no key to match it by."""
    if "answer_id" not in table.columns and not {"question", "answer"} <= set(table.columns):
        raise DataError(
            f"the {what} need 'answer_id', or 'question' and 'answer', to be matched; "
            f"the columns are {', '.join(map(repr, table.columns))}"
        )


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-?]+", " ", name).strip().lower()
