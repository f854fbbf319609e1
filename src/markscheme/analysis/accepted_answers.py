"""Reading for `failures`: answers that are accepted or not, and judges' verdicts."""

from __future__ import annotations

from typing import Any

import polars as pl

from markscheme.agreement import (
    JudgmentsSource,
    TableSource,
    answers_of_run,
    is_result,
    judged_table,
    labelled_table,
)
from markscheme.analysis.judged_answers import columns_of_table, is_answers, named_source
from markscheme.analysis.options import FailureOptions
from markscheme.errors import AgreementError, DataError
from markscheme.tables import (
    ReadOptions,
    as_binary,
    matching_key,
    read_answers,
    scan_parquet,
)


def has_labels(
    source: JudgmentsSource, options: FailureOptions, answers: TableSource | None
) -> bool:
    """Whether people's labels came with judgments, or with the answers that were judged.

    True as well of answers without judgments: nothing but labels can be looked at there.
    """
    given: Any = source
    kept = answers_of_run(given)
    if is_result(given):
        table = given.answers()
    elif kept is not None:
        table = scan_parquet(kept).select("label").collect()
    elif is_answers(given, options.columns):
        table = _answers(given, options)
        if not options.judges and not _VERDICTS & set(columns_of_table(given, options.columns)):
            return True
    elif answers is not None:
        table = _answers(answers, options)
    else:
        return False
    return table["label"].null_count() < table.height


_VERDICTS = {"verdict", "score"}


def read_accepted(
    source: JudgmentsSource,
    options: FailureOptions,
    *,
    labels: TableSource | None,
    answers: TableSource | None,
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Answers with `accepted`, and judgments (`answer_id`, `judge`, `verdict`, `score`) if any.

    Raises:
        DataError: the files cannot be read, or have no references.
        AgreementError: nothing says which answers are right.
    """
    given: Any = source
    kept: Any = answers
    if kept is None:
        kept = given.answers() if is_result(given) else answers_of_run(given)
    judged = None
    if kept is not None or not is_answers(given, options.columns):
        if kept is None:
            raise DataError(
                f"{named_source(given)} holds judgments without references; name the judged file "
                "with --answers"
            )
        judged = judged_table(
            source, judges=options.judges, columns=options.columns, answers=kept,
            threshold=options.threshold,
        )  # fmt: skip
    table = _answers(given if kept is None else kept, options).unique(
        "answer_id", maintain_order=True
    )
    table = table.filter(pl.col("reference_kind").fill_null("text") == "text")
    if options.trusted is not None:
        accepted = _of_judge(judged, options.trusted)
    elif labels is not None:
        known = labelled_table(labels, column=options.label_column, columns=options.columns)
        accepted = _matched(table, known, options.positive_from)
    else:
        accepted = _binary(table.select("answer_id", "label"), options.positive_from)
    table = table.join(accepted, on="answer_id", how="left", maintain_order="left")
    if table["accepted"].null_count() == table.height:
        raise AgreementError(
            "nothing says which answers are right: give --labels FILE, or --trusted JUDGE to take "
            "a judge's word; what a judge rejects is listed without labels: 'markscheme judge "
            "FILE', then 'markscheme failures RUN'"
        )
    verdicts = None
    if judged is not None:
        verdicts = judged.select("answer_id", "judge", "verdict", "score")
    return table, verdicts


def _answers(source: Any, options: FailureOptions) -> pl.DataFrame:
    names = dict(options.columns)
    if options.label_column is not None:
        names["label"] = options.label_column
    return read_answers(source, ReadOptions(columns=names))


def _of_judge(judged: pl.DataFrame | None, trusted: str) -> pl.DataFrame:
    found = None if judged is None else judged.filter(pl.col("judge") == trusted)
    if judged is None or found is None or found.is_empty():
        there = [] if judged is None else judged["judge"].unique(maintain_order=True).to_list()
        raise AgreementError(f"no judge {trusted!r} here; there are: {', '.join(there) or 'none'}")
    return found.select("answer_id", accepted="verdict").unique("answer_id", maintain_order=True)


def _matched(table: pl.DataFrame, known: pl.DataFrame, positive_from: float | None) -> pl.DataFrame:
    bare = table.drop("label")
    key = matching_key(bare, known)
    found = bare.select(list(dict.fromkeys(["answer_id", *key]))).join(
        known.select(*key, "label").unique(key, maintain_order=True), on=key, how="left"
    )
    return _binary(found.select("answer_id", "label"), positive_from)


def _binary(labels: pl.DataFrame, positive_from: float | None) -> pl.DataFrame:
    known = labels.filter(pl.col("label").is_not_null())
    accepted = pl.Series(
        "accepted", as_binary(known["label"], positive_from=positive_from), dtype=pl.Boolean
    )
    return known.select("answer_id").with_columns(accepted)
