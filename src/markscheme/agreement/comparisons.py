"""Which of two is better: judges against labels on the same answers, or systems under one judge.

Comparisons are paired, with one test and one interval from one model (`agreement.paired`), in which
answers to one question may depend on each other. Over many pairs, p-values are corrected by Holm's
method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl

from markscheme.agreement.clustered import cluster_counts
from markscheme.agreement.options import CompareOptions
from markscheme.agreement.paired import (
    Comparison,
    compare_answers,
    expected_pairs,
    share_difference,
    statistic_difference,
    with_holm,
)
from markscheme.agreement.verdicts import FROM_COUNTS, cell_codes, statistics
from markscheme.errors import AgreementError
from markscheme.results import Figure
from markscheme.tables import Joined, as_binary, one_judge


def compare_judges(
    joined: Joined,
    *,
    judges: Sequence[str] | None = None,
    options: CompareOptions | None = None,
) -> list[Comparison]:
    """Every pair of judges on the labelled answers that both saw.

    Raises:
        AgreementError: fewer than two judges, an unknown judge or statistic, or a pair that
            shares no answer.
    """
    options = options or CompareOptions()
    if options.statistic not in FROM_COUNTS:
        raise AgreementError(
            f"no statistic {options.statistic!r} to compare by; there are {', '.join(FROM_COUNTS)}"
        )
    names = _chosen(joined.rows["judge"], judges, "judges")
    accepted = as_binary(joined.rows["label"], positive_from=options.positive_from)
    rows = joined.rows.with_columns(accepted)
    tables = {
        name: rows.filter(pl.col("judge") == name).select(
            *joined.identity, "cluster", "accepted", "verdict"
        )
        for name in names
    }
    pairs = [
        _judge_pair(tables, joined.identity, first, second, options)
        for first, second in combinations(names, 2)
    ]
    return with_holm(pairs)


def compare_systems(
    judgments: pl.DataFrame,
    *,
    judge: str | None = None,
    systems: Sequence[str] | None = None,
    options: CompareOptions | None = None,
) -> list[Comparison]:
    """Every pair of systems, by the share of answers that one judge accepts on shared questions.

    Args:
        judgments: `question`, `system`, `verdict`, and `judge` where there are several.
        judge: whose verdicts; may be left out where there is one judge.
        systems: which to compare; all by default.
        options: confidence and what not judged counts as; the defaults if None.

    Raises:
        AgreementError: fewer than two systems, several judges and none chosen, no system or
            question column, or a pair that shares no question.
    """
    options = options or CompareOptions()
    for name in ("question", "system"):
        if name not in judgments.columns or judgments[name].null_count():
            raise AgreementError(
                f"comparing systems needs the {name} of every judgment; give a judgments file "
                "with columns 'question' and 'system'"
            )
    rows = one_judge(judgments, judge) if "judge" in judgments.columns else judgments
    names = _chosen(rows["system"], systems, "systems")
    if options.unjudged == "errors":
        rows = rows.with_columns(pl.col("verdict").fill_null(value=False))
    by_question = rows.group_by("system", "question", maintain_order=True).agg(
        pl.col("verdict").sum().cast(pl.Int64).alias("accepted"),
        pl.col("verdict").count().cast(pl.Int64).alias("judged"),
    )
    tables = {name: by_question.filter(pl.col("system") == name).drop("system") for name in names}
    pairs = [
        _system_pair(tables, first, second, options) for first, second in combinations(names, 2)
    ]
    return with_holm(pairs)


def _judge_pair(
    tables: Mapping[str, pl.DataFrame],
    identity: Sequence[str],
    first: str,
    second: str,
    options: CompareOptions,
) -> Comparison:
    left, right = tables[first], tables[second]
    both = left.join(
        right.select(*identity, pl.col("verdict").alias("other")), on=identity, nulls_equal=True
    )
    union = left.height + right.height - both.height
    if options.unjudged == "left_out":
        both = both.drop_nulls(["verdict", "other"])
    if both.is_empty():
        raise AgreementError(f"{first!r} and {second!r} judged no labelled answer in common")
    # Not judged counts as judged wrongly: the opposite of the label.
    both = both.with_columns(
        pl.col(name).fill_null(~pl.col("accepted")) for name in ("verdict", "other")
    )
    labels = both["accepted"]
    one, two = (both[name] == labels for name in ("verdict", "other"))
    pair = compare_answers(
        (first, second), both["cluster"], one, two, confidence=options.confidence
    )
    pair = replace(pair, left_out=union - both.height)
    if options.statistic == "accuracy":
        return pair
    clusters = (both["cluster"].rank("dense") - 1).cast(pl.Int64).to_numpy()
    judged = np.ones(both.height, dtype=np.bool_)
    sides = [
        cluster_counts(clusters, cell_codes(labels.to_numpy(), both[name].to_numpy(), judged), 4)
        for name in ("verdict", "other")
    ]
    made = statistic_difference(
        options.statistic,
        np.stack(sides, axis=1),
        FROM_COUNTS[options.statistic],
        [statistics(side.sum(axis=0))[options.statistic] for side in sides],
        confidence=options.confidence,
    )
    return replace(pair, **made)


def _system_pair(
    tables: Mapping[str, pl.DataFrame], first: str, second: str, options: CompareOptions
) -> Comparison:
    known = pl.col("judged") > 0
    left, right = tables[first].filter(known), tables[second].filter(known)
    both = left.join(right, on="question", suffix="_other")
    if both.is_empty():
        raise AgreementError(f"{first!r} and {second!r} have no judged question in common")
    asked = pl.concat([tables[first]["question"], tables[second]["question"]]).n_unique()
    counts = both.select("accepted", "judged", "accepted_other", "judged_other").to_numpy()
    sides = counts.astype(np.int64).reshape(-1, 2, 2)
    totals = sides.sum(axis=0)
    # a/b > c/d without division: more of the first's answers accepted than of the second's.
    lead = sides[:, 0, 0] * sides[:, 1, 1] - sides[:, 1, 0] * sides[:, 0, 1]
    values = [float(right / answers) for right, answers in totals]
    return Comparison(
        first=first,
        second=second,
        first_value=Figure(value=values[0]),
        second_value=Figure(value=values[1]),
        **share_difference(
            *expected_pairs(sides),
            difference=values[0] - values[1],
            confidence=options.confidence,
        ),
        only_first=int((lead > 0).sum()),
        only_second=int((lead < 0).sum()),
        shared=both.height,
        left_out=asked - both.height,
        questions=both.height,
    )


def _chosen(column: pl.Series, wanted: Sequence[str] | None, what: str) -> list[str]:
    known = column.unique(maintain_order=True).to_list()
    unknown = [name for name in wanted or () if name not in known]
    if unknown:
        raise AgreementError(
            f"no {what} {', '.join(map(repr, unknown))}; there are {', '.join(map(repr, known))}"
        )
    names = list(dict.fromkeys(wanted or known))
    if len(names) < 2:
        other = ". To compare systems: --systems" if what == "judges" else ""
        raise AgreementError(
            f"comparing {what} needs two of them; there is "
            f"{', '.join(map(repr, names)) or 'none'}{other}"
        )
    return names
