"""`compare`: judges on the same labelled answers, or systems under one judge, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.agreement.comparisons import compare_judges, compare_systems
from markscheme.agreement.options import CompareOptions
from markscheme.agreement.paired import Comparison
from markscheme.agreement.sources import (
    JudgmentsSource,
    TableSource,
    judged_and_labelled,
    judged_table,
    names_of,
)
from markscheme.errors import AgreementError
from markscheme.options import with_keywords
from markscheme.results import Table, TableResult, flat_frame, p_text
from markscheme.tables import join_labels

LEAST_RESAMPLES = 100


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CompareResult(TableResult):
    """What `compare` gives: one row of the frame per pair, with the fields of `Comparison`.

    Attributes:
        pairs: the same as objects, with the reason where a figure is undefined.
    """

    pairs: tuple[Comparison, ...]


def compare(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: CompareOptions | None = None,
    *,
    other: JudgmentsSource | None = None,
    answers: TableSource | None = None,
    **keywords: Any,
) -> CompareResult:
    """Compare judges on the same labelled answers, or systems under one judge, pair by pair.

    Exact McNemar test, permutation test that exchanges whole questions, Holm's correction over all
    pairs, and the difference with an interval clustered on question. Shares and differences are 0
    to 1, in the tables in per cent.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: people's labels, likewise; None for those that came with the judged answers.
        options: what is compared, by which statistic; the defaults if None.
        other: judgments of the same answers by other judges, or of another run; a judge that both
            have is called `NAME (other)` there.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `CompareOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: nothing matches, there is no pair, or a name is unknown.
    """
    wanted = with_keywords(CompareOptions, options, keywords)
    if wanted.resamples < LEAST_RESAMPLES:
        raise AgreementError(
            f"resamples is {wanted.resamples}, and must be {LEAST_RESAMPLES} or more: the tests "
            "rest on them"
        )
    reading: dict[str, Any] = {
        "judges": wanted.judges, "columns": wanted.columns, "answers": answers,
        "threshold": wanted.threshold,
    }  # fmt: skip
    if wanted.systems:
        rows = judged_table(judgments, **reading)
        pairs = compare_systems(rows, systems=names_of(wanted.only) or None, options=wanted)
        said, what = [f"{rows.height:,} judgments by {rows['judge'][0]}"], "share accepted"
    else:
        rows, known = judged_and_labelled(
            judgments, labels, label_column=wanted.label_column, **reading
        )
        if other is not None:
            rows = _with_other(rows, judged_table(other, **reading))
        joined = join_labels(rows, known)
        pairs = compare_judges(joined, options=wanted)
        said, what = joined.notes(), wanted.statistic
    return CompareResult(
        frame=flat_frame(pairs),
        tables=tuple(_tables(pairs, what, said, wanted)),
        data={
            "command": "compare", "statistic": what, "matched": said, "seed": wanted.seed,
            "resamples": wanted.resamples, "pairs": pairs,
        },
        pairs=tuple(pairs),
    )  # fmt: skip


def _with_other(rows: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Judgments of two runs as one table, judges of the second renamed where both have them."""
    taken = rows["judge"].unique().implode()
    name = pl.col("judge")
    renamed = pl.when(name.is_in(taken)).then(name + " (other)").otherwise(name)
    return pl.concat([rows, other.with_columns(renamed.alias("judge"))], how="diagonal_relaxed")


def _tables(
    pairs: Sequence[Comparison], what: str, said: Sequence[str], options: CompareOptions
) -> list[Table]:
    by_points = what not in ("kappa", "mcc")
    scale, digits = (100, 1) if by_points else (1, 3)
    values = [
        (
            pair.first,
            pair.second,
            pair.first_value.text(scale=scale, digits=digits),
            pair.second_value.text(scale=scale, digits=digits),
            pair.difference.text(scale=scale, digits=digits),
            f"{pair.shared:,}",
            f"{pair.questions:,}",
            f"{pair.left_out:,}",
        )
        for pair in pairs
    ]
    tests = [
        (
            pair.first,
            pair.second,
            f"{pair.only_first:,}",
            f"{pair.only_second:,}",
            p_text(pair.mcnemar.value, pair.mcnemar.reason),
            p_text(pair.mcnemar_holm),
            p_text(pair.permutation.value, pair.permutation.reason),
            p_text(pair.permutation_holm),
        )
        for pair in pairs
    ]
    unit = " in per cent" if by_points else ""
    header = ("first", "second", "of first", "of second", "difference", "compared", "questions")
    made = (
        f"{100 * options.confidence:g}% intervals and permutation tests: {options.resamples:,} "
        f"resamples of questions, seed {options.seed}; Holm's correction over {len(pairs)} pairs; "
        f"not judged: {options.unjudged.replace('_', ' ')}"
    )
    wins = ("only first right", "only second right")
    names = ("first", "second", *wins, "McNemar p", "Holm", "permutation p", "Holm, permutation")
    return [
        Table(
            title=f"Difference of {what}{unit}",
            header=(*header, "left out"),
            rows=tuple(values),
            numeric=frozenset((*header[2:], "left out")),
            notes=tuple(said),
        ),
        Table(
            title="Is it more than chance?",
            header=names,
            rows=tuple(tests),
            numeric=frozenset(names[2:]),
            notes=(made,),
        ),
    ]
