"""`amend`: references made better by people's labels.

The protocol of Kamalloo et al. (2023, section 4.3): accepted answers join the references of their
question, rejected ones leave them, and an answer is then matched exactly against what is left. An
answer that nobody labelled is right if it matches an amended reference, and wrong otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.agreement import (
    JudgmentsSource,
    answers_table,
    columns_of,
    labelled_table,
)
from markscheme.contract import parse_judge, run_judge
from markscheme.errors import AgreementError, DataError
from markscheme.flags import with_keywords
from markscheme.metrics import exact_match
from markscheme.models import Models
from markscheme.results import Column, Table, TableResult, columns, labels_of
from markscheme.tables import as_binary, is_blank, one_row_each, write_answers
from markscheme.text import counted
from markscheme_research.studies import literal_pattern
from markscheme_research.studies.options import AmendOptions

Matcher = Callable[[pl.DataFrame], pl.Series]
"""Takes a table with `answer` and `references`, gives one Boolean a row: does the answer match
exactly one of the references? Normalisation is the matcher's own affair."""


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
    before and after. A blank answer is no reference. Where references are regular expressions
    (`reference_kind`), accepted answers join them as escaped patterns that match whole words, and
    systems are scored by `regex`.

    Args:
        answers: questions, references and answers: a file, a frame, rows, or a `Result`.
        labels: of (question, answer), or by the answers' ids; None for those in the answers.
        options: how both are read; the defaults if None.
        keywords: fields of `AmendOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read, or there are no labels of (question, answer).
        AgreementError: labels contradict each other.
    """
    wanted = with_keywords(AmendOptions, options, keywords)
    table = answers_table(answers, wanted.reading(columns=columns_of(wanted.columns)))
    apart = labels if labels is not None else answers if wanted.label_column else None
    known = table.with_columns(label=labels_of(table.lazy()))
    if apart is not None:
        known = labelled_table(
            apart,
            column=wanted.label_column,
            columns=wanted.columns,
            positive_from=wanted.positive_from,
        )
        if "question" not in known.columns and "answer_id" in known.columns:
            texts = table.select("answer_id", "question", "answer")
            known = known.join(texts, on="answer_id", how="left", maintain_order="left")
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
    usable = _with_patterns(table, known.filter(~is_blank("answer")))
    amended = amend_references(table, usable)
    before = _matches(table).fill_null(value=False)
    after = match_amended(table, usable, _matches)
    questions = amended.unique("question", keep="first", maintain_order=True)
    counts = {
        "questions": questions.height,
        "questions_amended": questions.filter(
            (pl.col("references_added") > 0) | (pl.col("references_removed") > 0)
        ).height,
        "references_added": int(questions["references_added"].sum()),
        "references_removed": int(questions["references_removed"].sum()),
        "questions_without_references": questions.filter(
            pl.col("references").is_null(), pl.col("references_removed") > 0
        ).height,
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


def amend_references(questions: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Amended reference sets, row by row (Kamalloo et al. 2023, section 4.3).

    The answers accepted for a question join its references; each rejected answer then leaves
    them: that very string if it is among them, else its lower-case form. Strings are compared
    as they are, without normalisation, as the paper's released figures require.

    Args:
        questions: `question` and `references` (list of strings); other columns pass through. Rows
            of one question may have different references, and each is amended on its own.
        labels: `question`, `answer`, `label` (1 accepted, 0 rejected; null is ignored).

    Returns:
        `questions` in its order with `references` amended (the former ones first, then the
        accepted answers in label order, no string twice; null where all were rejected), and two
        counts: `references_added`, `references_removed`.

    Raises:
        AgreementError: contradictory or graded labels; no label is about any of the questions.
    """
    labelled = labels.select("question", "answer", as_binary(labels["label"])).drop_nulls()
    verdicts, _ = one_row_each(labelled, ("question", "answer"), "accepted", "labels")
    if verdicts.join(questions, on="question", how="semi").is_empty():
        raise AgreementError(
            "none of the labels is about any of these questions; "
            "labels and answers are joined on the exact text of `question`"
        )
    said: dict[bool, dict[str, list[str]]] = {True: {}, False: {}}
    for question, answer, accepted in verdicts.iter_rows():
        said[accepted].setdefault(question, []).append(answer)
    rows = []
    for question, references in questions.select("question", "references").iter_rows():
        known = dict.fromkeys(one for one in references or () if one is not None)
        pool = known | dict.fromkeys(said[True].get(question, ()))
        gone = {one if one in pool else one.lower() for one in said[False].get(question, ())}
        kept = [one for one in pool if one not in gone]
        added = sum(one not in known for one in kept)
        # An empty list would say that the question has no answer.
        left = kept if kept or not known else None
        rows.append((left, added, sum(one in gone for one in known)))
    amended = pl.DataFrame(
        rows,
        schema={
            "references": pl.List(pl.String),
            "references_added": pl.Int64,
            "references_removed": pl.Int64,
        },
        orient="row",
    )
    return questions.with_columns(amended.get_columns())


def matches_exactly(table: pl.DataFrame) -> pl.Series:
    """Exact match of `answer` with `references` as Boolean; false without an answer."""
    return exact_match(table["answer"], table["references"]).fill_null(0.0).cast(pl.Boolean)


def match_amended(
    answers: pl.DataFrame, labels: pl.DataFrame, matches: Matcher = matches_exactly
) -> pl.Series:
    """Verdict of each answer under the amended-references protocol.

    Args:
        answers: `question`, `references`, `answer`; one row an answer. A null answer is wrong.
        labels: see `amend_references`.
        matches: decides whether an answer equals one of its references; the paper's is SQuAD's
            exact match.

    Returns:
        Boolean Series `verdict`, never null, one value a row in order.

    Raises:
        AgreementError: see `amend_references`.
    """
    amended = amend_references(answers, labels)
    answered = answers["answer"].is_not_null()
    return (matches(amended) & answered).fill_null(value=False).alias("verdict")


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
    exact = matches_exactly(table)
    patterns = table.select(_IS_PATTERN & pl.col("answer").is_not_null()).to_series()
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
            f"{counts['references_added']:,} added, {counts['references_removed']:,} removed "
            "(counted in a question's first row)",
            *_lost(counts["questions_without_references"]),
        ],
    )


def _lost(questions: int) -> list[str]:
    if not questions:
        return []
    have = counted(questions, "question has", "questions have")
    return [
        f"{have} no reference left, since all were rejected: write new ones, or judge with "
        "--on-bad-row skip"
    ]
