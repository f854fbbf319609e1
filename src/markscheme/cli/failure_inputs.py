"""Reading for `markscheme failures`: answers that are accepted or not, and judges' verdicts."""

from __future__ import annotations

import polars as pl

from markscheme.errors import AgreementError, DataError


def read_accepted(
    source: str,
    *,
    labels: str | None,
    label_column: str | None,
    trusted: str | None,
    judges: str,
    columns: str,
    answers: str | None,
    threshold: float,
    positive_from: float | None,
) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """Answers with `accepted`, and judgments (`answer_id`, `judge`, `verdict`, `score`) if any.

    Raises:
        DataError: the files cannot be read, or have no references.
        AgreementError: nothing says which answers are right.
    """
    from markscheme.cli.output import answers_beside, read_judged, read_labelled

    beside = answers or answers_beside(source)
    judged = None
    if beside is not None or not _is_answers(source, columns):
        if beside is None:
            raise DataError(
                f"{source} holds judgments without references; name the judged file with --answers"
            )
        judged = read_judged(
            source, judges=judges, columns=columns, answers=beside, threshold=threshold
        )
    table = _answers(beside or source, columns, label_column).unique(
        "answer_id", maintain_order=True
    )
    table = table.filter(pl.col("reference_kind").fill_null("text") == "text")
    if trusted is not None:
        accepted = _of_judge(judged, trusted)
    elif labels is not None:
        known = read_labelled(labels, column=label_column, columns=columns)
        accepted = _matched(table, known, positive_from)
    else:
        accepted = _binary(table.select("answer_id", "label"), positive_from)
    table = table.join(accepted, on="answer_id", how="left", maintain_order="left")
    if table["accepted"].null_count() == table.height:
        raise AgreementError(
            "nothing says which answers are right: give --labels FILE, or --trusted JUDGE to take "
            "a judge's word"
        )
    verdicts = None
    if judged is not None:
        verdicts = judged.select("answer_id", "judge", "verdict", "score")
    return table, verdicts


def _is_answers(source: str, columns: str) -> bool:
    """Whether a file has what an answers table has, references above all."""
    from markscheme.options import parse_columns
    from markscheme.tables import judgments_file, read_table, renamed

    if judgments_file(source) != source:
        return False
    names = parse_columns(columns)
    table = renamed(read_table(source), names, ("question", "references", "answer"))
    return {"question", "references", "answer"} <= set(table.columns)


def _answers(source: str, columns: str, label_column: str | None) -> pl.DataFrame:
    from markscheme.options import parse_columns
    from markscheme.tables import ReadOptions, read_answers

    names = parse_columns(columns)
    if label_column is not None:
        names["label"] = label_column
    return read_answers(source, ReadOptions(columns=names))


def _of_judge(judged: pl.DataFrame | None, trusted: str) -> pl.DataFrame:
    found = None if judged is None else judged.filter(pl.col("judge") == trusted)
    if judged is None or found is None or found.is_empty():
        there = [] if judged is None else judged["judge"].unique(maintain_order=True).to_list()
        raise AgreementError(f"no judge {trusted!r} here; there are: {', '.join(there) or 'none'}")
    return found.select("answer_id", accepted="verdict").unique("answer_id", maintain_order=True)


def _matched(table: pl.DataFrame, known: pl.DataFrame, positive_from: float | None) -> pl.DataFrame:
    from markscheme.agreement import matching_key

    bare = table.drop("label")
    key = matching_key(bare, known)
    found = bare.select(list(dict.fromkeys(["answer_id", *key]))).join(
        known.select(*key, "label").unique(key, maintain_order=True), on=key, how="left"
    )
    return _binary(found.select("answer_id", "label"), positive_from)


def _binary(labels: pl.DataFrame, positive_from: float | None) -> pl.DataFrame:
    from markscheme.agreement import as_binary

    known = labels.filter(pl.col("label").is_not_null())
    accepted = pl.Series(
        "accepted", as_binary(known["label"], positive_from=positive_from), dtype=pl.Boolean
    )
    return known.select("answer_id").with_columns(accepted)
