"""`amend`: references made better by people's labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.agreement import (
    JudgmentsSource,
    amend_references,
    answers_table,
    columns_of,
    labelled_table,
    match_amended,
)
from markscheme.contract import parse_judge, run_judge
from markscheme.errors import DataError
from markscheme.flags import with_keywords
from markscheme.metrics import exact_match
from markscheme.models import Models
from markscheme.results import Column, Table, TableResult, columns
from markscheme.tables import write_answers
from markscheme_research.studies import literal_pattern
from markscheme_research.studies.options import AmendOptions


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AmendResult(TableResult):
    """What `amend` gives: the frame is the answers table with amended references.

    Attributes:
        questions: one row per question, with its amended `references`.
        counts: questions, questions amended, references added and removed, labels, answers.
        systems: exact match of each system before and after, as shares from 0 to 1.
    """

    questions: pl.DataFrame
    counts: Mapping[str, int]
    systems: pl.DataFrame

    def write(self, path: str | Path, *, dataset: bool = False) -> Path:
        """Write the answers, or as a `dataset` the questions and references alone."""
        write_answers(self.questions if dataset else self.frame, Path(path))
        return Path(path)


def amend(
    answers: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: AmendOptions | None = None,
    **keywords: Any,
) -> AmendResult:
    """Amend references by labels: add answers that people accept, remove those that they reject.

    The protocol of Kamalloo et al. (2023, section 4.3), with what exact match makes of each system
    before and after. Where references are regular expressions (`reference_kind`), accepted answers
    join them as escaped patterns that match whole words, and systems are scored by `regex`.

    Args:
        answers: questions, references and answers: a file, a frame, rows, or a `Result`.
        labels: of (question, answer); None for those in the answers.
        options: how both are read; the defaults if None.
        keywords: fields of `AmendOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read, or there are no labels of (question, answer).
        AgreementError: labels contradict each other.
    """
    wanted = with_keywords(AmendOptions, options, keywords)
    table = answers_table(answers, wanted.reading(columns=columns_of(wanted.columns)))
    apart = labels if labels is not None else answers if wanted.label_column else None
    known = table
    if apart is not None:
        known = labelled_table(
            apart,
            column=wanted.label_column,
            columns=wanted.columns,
            positive_from=wanted.positive_from,
        )
    if wanted.positive_from is not None:
        known = known.with_columns((pl.col("label") >= wanted.positive_from).cast(pl.Float64))
    if "question" not in known.columns or "answer" not in known.columns:
        raise DataError("labels that amend references need the columns 'question' and 'answer'")
    if known["label"].null_count() == known.height:
        source = labels if labels is not None else answers
        named = str(source) if isinstance(source, str | Path) else "the table"
        raise DataError(
            f"{named} has no labels to amend references by; give --labels FILE, or "
            "name their column with --label-column"
        )
    known = _with_patterns(table, known)
    amended = amend_references(table, known)
    before = _matches(table.with_columns(pl.col("answer").fill_null(""))).fill_null(value=False)
    after = match_amended(table, known, _matches)
    questions = amended.unique("question", keep="first", maintain_order=True)
    counts = {
        "questions": questions.height,
        "questions_amended": questions.filter(
            (pl.col("references_added") > 0) | (pl.col("references_removed") > 0)
        ).height,
        "references_added": int(questions["references_added"].sum()),
        "references_removed": int(questions["references_removed"].sum()),
        "labels": known["label"].count(),
        "answers": table.height,
    }
    systems = _by_system(table, before, after)
    return AmendResult(
        frame=amended.drop("references_added", "references_removed"),
        tables=(_table(systems, counts, _how(table)),),
        data={"command": "amend", **counts, "systems": systems},
        questions=questions.select("question", "references"),
        counts=counts,
        systems=systems,
    )


def _with_patterns(table: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Labels whose accepted answers are patterns where the question's references are.

    An answer is escaped and anchored: unescaped, "6" would be found in "1,600".
    """
    asked = table.filter(_IS_PATTERN)["question"].unique()
    if asked.is_empty():
        return labels
    joins = pl.col("question").is_in(asked.implode()) & (pl.col("label") == 1)
    return labels.with_columns(
        pl.when(joins)
        .then(pl.col("answer").map_elements(literal_pattern, return_dtype=pl.String))
        .otherwise(pl.col("answer"))
    )


def _matches(table: pl.DataFrame) -> pl.Series:
    """Exact match, or where references are patterns whether one is found; null where undecided."""
    exact = exact_match(table["answer"], table["references"]) == 1
    patterns = table.select(_IS_PATTERN).to_series()
    if not patterns.any():
        return exact
    found = run_judge(parse_judge("regex"), table.filter(patterns), Models())["verdict"]
    places = pl.arange(table.height, eager=True).filter(patterns)
    return exact.scatter(places, found)


_IS_PATTERN = (pl.col("reference_kind") == "regex").fill_null(value=False)


def _how(table: pl.DataFrame) -> str:
    patterns = table.select(_IS_PATTERN).to_series()
    if not patterns.any():
        return "Exact match"
    return "Pattern match" if patterns.all() else "Exact or pattern match"


def _by_system(table: pl.DataFrame, before: pl.Series, after: pl.Series) -> pl.DataFrame:
    return (
        table.select(pl.col("system").fill_null("(no system)"))
        .with_columns(before.alias("before"), after.alias("after"))
        .group_by("system", maintain_order=True)
        .agg(pl.len().alias("answers"), pl.col("before").mean(), pl.col("after").mean())
    )


def _table(systems: pl.DataFrame, counts: dict[str, int], how: str) -> Table:
    return Table.of(
        f"{how} in per cent, before and after amending the references",
        (
            "system",
            Column("answers", format="count"),
            *columns("share", "before", "after"),
            Column("difference", lambda row: row["after"] - row["before"], "change"),
        ),
        systems,
        [
            f"{counts['labels']:,} labels amended the references of "
            f"{counts['questions_amended']:,} of {counts['questions']:,} questions: "
            f"{counts['references_added']:,} joined, {counts['references_removed']:,} left "
            "(counted in a question's first row)"
        ],
    )
