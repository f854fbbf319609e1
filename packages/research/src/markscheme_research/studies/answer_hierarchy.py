"""Do higher places in the answer hierarchy hold better answers? Yao & Barbosa 2024.

After section 4 and appendix B.2 of the paper. Answers fall into sets by their relation to the
reference: superior, equivalent, inferior, incorrect. If the order means anything, people accept a
larger share in each set than in the next; and within a set, marks should be higher for answers that
people accept.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement import statistics
from markscheme.errors import AgreementError
from markscheme.results import Column, Figure, Table, columns, figure
from markscheme.tables import NOT_GIVEN, RELATIONS

POLICIES: Mapping[str, tuple[str, ...]] = {
    "superior_or_inferior": ("superior", "equivalent", "inferior"),
    "superior_only": ("superior", "equivalent"),
    "inferior_only": ("equivalent", "inferior"),
    "both": ("equivalent",),
}
"""Which relations may count as right: in either set, in the superior or inferior one, in both."""

LEAST_GAP = 0.5
"""The gap of an inferior answer that takes no step, information or assumption of the scheme: less
than any that counts (the least is 3), and more than none, so that equivalent ones rank above it."""

INCORRECT = float("-inf")
"""Place of an incorrect answer in the paper's order: after every gap."""


@dataclass(frozen=True, kw_only=True)
class AdjacentSets:
    """One step of the hierarchy.

    Attributes:
        higher, lower: names of the sets.
        higher_accepted, higher_answers, lower_accepted, lower_answers: their counts.
        odds_ratio: odds of acceptance in the higher set over those in the lower.
        p: one-tailed Fisher exact test that the higher set is accepted more often.
    """

    higher: str
    lower: str
    higher_accepted: int
    higher_answers: int
    lower_accepted: int
    lower_answers: int
    odds_ratio: Figure
    p: Figure


@dataclass(frozen=True, kw_only=True)
class MarksTest:
    """Marks of answers that people accept against marks of those they reject.

    Attributes:
        accepted, rejected: answers with marks of either kind.
        auroc: chance that an accepted answer has higher marks than a rejected one, ties one half.
        p: one-tailed Brunner-Munzel test that it has.
        left_out: answers without marks.
    """

    accepted: int
    rejected: int
    auroc: Figure
    p: Figure
    left_out: int


def adjacent_sets(
    relations: pl.Series, accepted: pl.Series, *, order: Sequence[str] = RELATIONS
) -> list[AdjacentSets]:
    """Fisher's one-tailed exact test (`scipy.stats.fisher_exact`) between each set and the next.

    Args:
        relations: the set of each answer; null where not judged, and then left out.
        accepted: Boolean, the human label.
        order: the sets from best to worst.

    Raises:
        AgreementError: a relation that is not in `order`.
    """
    table = pl.DataFrame({"relation": relations.cast(pl.String), "accepted": accepted}).drop_nulls()
    strange = table.filter(~pl.col("relation").is_in(list(order)))
    if strange.height:
        raise AgreementError(
            f"no place in the hierarchy for {strange['relation'][0]!r}; "
            f"the sets are {', '.join(order)}"
        )
    counts = {
        str(name): (int(part["accepted"].sum()), part.height)
        for (name,), part in table.group_by("relation")
    }
    return [
        _step(higher, lower, counts.get(higher, (0, 0)), counts.get(lower, (0, 0)))
        for higher, lower in pairwise(order)
    ]


def _step(higher: str, lower: str, above: tuple[int, int], below: tuple[int, int]) -> AdjacentSets:
    from scipy.stats import fisher_exact

    empty = [name for name, (_, size) in ((higher, above), (lower, below)) if not size]
    if empty:
        odds = p = Figure(reason=f"no answer is {empty[0]}")
    else:
        cells = np.array([[yes, size - yes] for yes, size in (above, below)])
        found = fisher_exact(cells, alternative="greater")
        odds = figure(found.statistic, "a set is accepted or rejected as a whole")
        p = replace(figure(found.pvalue, "undefined"), method="fisher-exact")
    return AdjacentSets(
        higher=higher,
        lower=lower,
        higher_accepted=above[0],
        higher_answers=above[1],
        lower_accepted=below[0],
        lower_answers=below[1],
        odds_ratio=odds,
        p=p,
    )


def marks_test(marks: pl.Series, accepted: pl.Series) -> MarksTest:
    """AUROC of marks (scikit-learn) and the one-tailed Brunner-Munzel test (scipy).

    Both look at the order of marks only, so minus infinity may replace the last place.

    Args:
        marks: of each answer; null where there are none.
        accepted: Boolean, the human label.
    """
    from sklearn.metrics import roc_auc_score

    table = pl.DataFrame({"marks": marks.cast(pl.Float64), "accepted": accepted}).drop_nulls()
    table = table.with_columns(pl.col("marks").rank("dense").cast(pl.Float64))
    good = table.filter(pl.col("accepted"))["marks"].to_numpy()
    bad = table.filter(~pl.col("accepted"))["marks"].to_numpy()
    if not len(good) or not len(bad):
        auroc = p = Figure(reason="the labels of answers with marks know only one class")
    else:
        auroc = figure(roc_auc_score(table["accepted"].to_numpy(), table["marks"].to_numpy()), "")
        p = _higher(good, bad)
    return MarksTest(
        accepted=len(good),
        rejected=len(bad),
        auroc=auroc,
        p=p,
        left_out=len(marks) - table.height,
    )


def _higher(good: npt.NDArray[np.float64], bad: npt.NDArray[np.float64]) -> Figure:
    """p of the marks of accepted answers being no higher.

    The test's t knows no bound; of all orders of so many answers, the share that sets one kind
    above the other is one.
    """
    from scipy.special import gammaln
    from scipy.stats import brunnermunzel

    none = "marks and labels leave no variance for the test"
    if min(len(good), len(bad)) < 2:
        return Figure(reason=none)
    ways = gammaln(len(good) + len(bad) + 1) - gammaln(len(good) + 1) - gammaln(len(bad) + 1)
    if good.min() > bad.max():
        p = 0.0
    elif bad.min() > good.max():
        p = 1.0
    else:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            # scipy's `less`: values of the first sample tend to be less than the second's.
            p = float(brunnermunzel(bad, good, alternative="less").pvalue)
    return replace(figure(max(p, float(np.exp(-ways))), none), method="brunner-munzel")


def with_not_given(rows: pl.DataFrame) -> pl.DataFrame:
    """Judgments of a judge that gives relations, with answers that were not given as `incorrect`.

    The paper judges these like any other; here they are wrong before a judge sees them.
    """
    if "explanation" not in rows.columns:
        return rows
    not_given = (pl.col("explanation") == NOT_GIVEN).fill_null(value=False)
    incorrect = {"relation": pl.lit("incorrect"), "marks": pl.lit(0.0)}
    return rows.with_columns(
        pl.when(not_given).then(value.cast(rows.schema[name])).otherwise(name).alias(name)
        for name, value in incorrect.items()
        if name in rows.columns
    )


def set_counts(
    relations: pl.Series, accepted: pl.Series | None = None, *, order: Sequence[str] = RELATIONS
) -> pl.DataFrame:
    """How many answers each set holds, and how many of them people accept (Tables 9 and 10).

    Args:
        relations: the set of each answer; null where not judged, and then left out.
        accepted: Boolean, the human label; None where there are no labels.
        order: the sets from best to worst.

    Returns:
        One row per set: `rank` from 1, `relation`, `in_superior`, `in_inferior`, `count`, `share`
        of all in sets, `accepted` (null without labels).
    """
    known = pl.Series([None] * len(relations), dtype=pl.Boolean) if accepted is None else accepted
    table = pl.DataFrame({"relation": relations.cast(pl.String), "accepted": known})
    counted = (
        table.drop_nulls("relation")
        .group_by("relation")
        .agg(count=pl.len(), accepted=pl.col("accepted").sum())
    )
    every = pl.DataFrame({"relation": list(order)}).with_row_index("rank", offset=1)
    found = every.join(counted, on="relation", how="left", maintain_order="left").with_columns(
        pl.col("count").fill_null(0), pl.col("accepted").fill_null(0)
    )
    total = max(int(found["count"].sum()), 1)
    return found.select(
        "rank",
        "relation",
        in_superior=pl.col("relation").is_in(["superior", "equivalent"]),
        in_inferior=pl.col("relation").is_in(["equivalent", "inferior"]),
        count=pl.col("count").cast(pl.Int64),
        share=pl.col("count") / total,
        accepted=pl.lit(None, pl.Int64) if accepted is None else pl.col("accepted").cast(pl.Int64),
    )


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """What a policy makes of the relations of one system's answers.

    Attributes:
        policy: a key of `POLICIES`.
        system: whose answers; empty for all.
        answers: those with a relation and a label.
        f1: of the accepted class.
        accuracy: share of verdicts that equal the label.
    """

    policy: str
    system: str
    answers: int
    f1: Figure
    accuracy: Figure


def alternatives(
    relations: pl.Series, accepted: pl.Series, systems: pl.Series | None = None
) -> list[Alternative]:
    """F1 and accuracy under every policy, over all and for each system (Table 11).

    Args:
        relations: null where not judged, and then left out.
        accepted: Boolean, the human label.
        systems: whose answer each is; None for one figure over all.
    """
    whose = pl.Series([""] * len(relations), dtype=pl.String) if systems is None else systems
    table = pl.DataFrame(
        {"relation": relations.cast(pl.String), "accepted": accepted, "system": whose}
    ).drop_nulls(["relation", "accepted"])
    parts = [("", table)]
    if systems is not None and table["system"].n_unique() > 1:
        parts += [
            (str(name), part) for (name,), part in table.group_by("system", maintain_order=True)
        ]
    found = []
    for policy, right in POLICIES.items():
        for name, part in parts:
            verdict, label = part["relation"].is_in(list(right)), part["accepted"]
            pairs = (verdict & label, verdict & ~label, ~verdict & label, ~verdict & ~label)
            figures = statistics([int(cell.sum()) for cell in pairs])
            found.append(
                Alternative(
                    policy=policy,
                    system=name,
                    answers=part.height,
                    f1=figures["f1_positive"],
                    accuracy=figures["accuracy"],
                )
            )
    return found


def roc_curve(marks: pl.Series, accepted: pl.Series) -> pl.DataFrame:
    """The ROC curve of marks against labels (scikit-learn), its corners only.

    Returns:
        `rejected_share` (of rejected answers with marks from the threshold on), `accepted_share`
        (of accepted ones), `threshold`; from (0, 0), whose threshold is null, to (1, 1).

    Raises:
        AgreementError: the labels of answers with marks know only one class.
    """
    from sklearn.metrics import roc_curve as curve

    table = pl.DataFrame({"marks": marks.cast(pl.Float64), "accepted": accepted}).drop_nulls()
    if table["accepted"].n_unique() < 2:
        raise AgreementError("the labels of answers with marks know only one class")
    false, true, thresholds = curve(table["accepted"].to_numpy(), table["marks"].to_numpy())
    found = pl.DataFrame({"rejected_share": false, "accepted_share": true, "threshold": thresholds})
    finite = pl.col("threshold").is_finite()
    return found.with_columns(threshold=pl.when(finite).then(pl.col("threshold")))


def relation_tables(found: Mapping[str, Any]) -> list[Table]:
    """Adjacent sets and marks, one row per judge and test."""
    steps = [
        {"judge": judge, **vars(step)}
        for judge, tests in found.items()
        for step in tests.get("sets", ())
    ]
    marks = [
        {"judge": judge, **vars(tests["marks"])}
        for judge, tests in found.items()
        if "marks" in tests
    ]
    said = "p: {}; each answer is taken as independent, as in the paper"
    tables = (
        Table.of(
            "Are higher relations accepted more often? One-tailed Fisher exact tests",
            (
                *columns("text", "judge", ("sets", "{higher} > {lower}".format_map)),
                *columns(
                    "right",
                    ("accepted above", "{higher_accepted:,} of {higher_answers:,}".format_map),
                    ("accepted below", "{lower_accepted:,} of {lower_answers:,}".format_map),
                ),
                Column("odds ratio", "odds_ratio", 2),
                Column("p (Fisher)", "p", "p"),
            ),
            steps,
            (said.format("fisher-exact"),),
        ),
        Table.of(
            "Are marks higher for accepted answers?",
            (
                "judge",
                *columns("count", "accepted", "rejected", ("no marks", "left_out")),
                Column("AUROC", "auroc", 3),
                Column("p (Brunner-Munzel)", "p", "p"),
            ),
            marks,
            (said.format("brunner-munzel"),),
        ),
    )
    return [table for table in tables if table.rows]


def rank_scores(relations: pl.Series, gaps: pl.Series) -> pl.Series:
    """The paper's order of answers: equivalent ones, then by gap, then incorrect ones.

    Returns:
        0, minus the gap, or minus infinity; null where relation or gap are unknown. Superior and
        inferior answers are in one order by their gaps, as Table 13 has it; inferior ones rank
        below equivalent ones even where their gap is 0, as in the authors' code.
    """
    table = pl.DataFrame({"relation": relations.cast(pl.String), "gap": gaps.cast(pl.Float64)})
    return table.select(
        score=pl.when(pl.col("relation") == "equivalent")
        .then(0.0)
        .when(pl.col("relation") == "incorrect")
        .then(INCORRECT)
        .when((pl.col("relation") == "inferior") & (pl.col("gap") < LEAST_GAP))
        .then(-LEAST_GAP)
        .when(pl.col("relation").is_not_null())
        .then(-pl.col("gap"))
    )["score"]
