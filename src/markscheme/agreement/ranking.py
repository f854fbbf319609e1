"""Do the judges rank the systems as people do? Rank correlations and the table of Kamalloo et al.

The input is one table of scores: one row per answer (`question`, `system`), one column per measure
(EM, F1, a judge's verdict, the human verdict), values from 0 to 1, Booleans allowed. A system's
figure under a measure is the mean over its answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.protocols import require
from markscheme.agreement.question_averages import correlations
from markscheme.errors import AgreementError
from markscheme.results import Figure
from markscheme.stats import LEAST_QUESTIONS, freedom_of, jackknife_variance, kish, t_quantile

Array = npt.NDArray[np.float64]

CONSTANT = "all systems are equal on one side"
DIGITS = 9
"""Means closer than this many decimals are ties: sums in another order must not break them."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """How systems rank under each measure, and in the human ranking.

    Attributes:
        systems: one row per system in human order, best first: `system`, `answers`, each measure's
            mean, `MEASURE_delta` (minus the baseline's), `MEASURE_rank` (1 is best, ties share
            the lowest) and `MEASURE_rank_change` (human rank minus rank under the measure:
            positive where the measure ranks the system lower than people do).
        measures: one row per measure: `measure`, `mean`, `gain` (average over the baseline),
            `shortfall` (average below human; negative where the measure is more generous),
            `rank_changes` (systems whose rank differs from the human one).
        tau_b: Kendall's tau-b with the human ranking, by measure; interval of
            `tau_interval`.
        spearman: Spearman's rho with the human ranking, by measure. It has no interval: none is
            known that holds the truth where systems are near each other.
        human: the measure that is people's verdicts.
        baseline: the measure that gains are over; None if there is none.
        questions: how many questions the means are over.
    """

    systems: pl.DataFrame
    measures: pl.DataFrame
    tau_b: dict[str, Figure]
    spearman: dict[str, Figure]
    human: str
    baseline: str | None
    questions: int


def rank_systems(
    scores: pl.DataFrame,
    *,
    measures: Sequence[str],
    human: str,
    baseline: str | None = None,
    confidence: float = 0.95,
) -> Ranking:
    """System means, differences to a baseline and to people, and rank correlation with people.

    Args:
        scores: `question`, `system`, and a numeric or Boolean column for each measure and for
            `human`, a value in each row. Every system must have the same questions, or a ranking
            would compare different exams.
        measures: columns to compare with the human one.
        human: the column with human verdicts.
        baseline: the measure that deltas and gains are taken from (EM in the paper).
        confidence: of the intervals.

    Raises:
        AgreementError: systems with different questions, or fewer than two systems.
        DataError: a column is missing.
    """
    columns = list(dict.fromkeys([*measures, human, *([baseline] if baseline else [])]))
    _check(scores, columns)
    cells = (
        scores.group_by("system", "question")
        .agg(pl.col(columns).cast(pl.Float64).sum(), pl.len().alias("answers"))
        .sort("question", "system")
    )
    systems, questions = cells["system"].unique().sort(), cells["question"].n_unique()
    shape = questions, len(systems)
    sums = np.stack([cells[name].to_numpy().reshape(shape) for name in columns], axis=2)
    counts = cells["answers"].to_numpy().reshape(shape).astype(np.float64)
    means = (sums.sum(axis=0) / counts.sum(axis=0)[:, None]).round(DIGITS)

    table = pl.DataFrame(
        {"system": systems, "answers": counts.sum(axis=0).astype(np.int64)}
        | {name: means[:, place] for place, name in enumerate(columns)}
    )
    table = _with_ranks(table, columns, human, baseline)
    compared = [name for name in columns if name != human]
    people = columns.index(human)
    tau, rho = {}, {}
    for name in compared:
        sides = [columns.index(name), people]
        found = correlations(*means[:, sides].T)
        point = Figure(value=found["kendall"]) if found else Figure(reason=CONSTANT)
        tau[name] = tau_interval(point, sums[:, :, sides], counts, confidence=confidence)
        rho[name] = Figure(value=found["spearman"]) if found else Figure(reason=CONSTANT)
    return Ranking(
        systems=table,
        measures=_measure_rows(table, columns, human, baseline),
        tau_b=tau,
        spearman=rho,
        human=human,
        baseline=baseline,
        questions=questions,
    )


def tau_interval(point: Figure, sums: Array, counts: Array, *, confidence: float = 0.95) -> Figure:
    """Kendall's tau with bounds from the pairs of systems that both rankings distinguish.

    A pair counts as ranked alike or contrariwise where the difference of its means is beyond chance
    on both sides, for all pairs and both sides together (Student's t with the jackknife over
    questions; Bonferroni); every other pair may be either. The percentiles of resampled tau do not
    hold: where systems are near each other a resample's order is worse than the sample's, and their
    interval leaves out a truth of 1.

    Args:
        point: tau-b of the sample.
        sums: (questions, systems, 2) of the answers' values by the measure and by people.
        counts: (questions, systems) answers.
        confidence: of the bounds.
    """
    questions = len(counts)
    if point.value is None or questions < LEAST_QUESTIONS:
        return point
    left, right = np.triu_indices(counts.shape[1], k=1)
    total, answers = sums.sum(axis=0), counts.sum(axis=0)
    means = total / answers[:, None]
    differences = (means[left] - means[right]).round(DIGITS)
    without = (total - sums) / (answers - counts)[:, :, None]
    moved = np.apply_along_axis(jackknife_variance, 0, without[:, left] - without[:, right])
    # Where no question moves it, one answer more would: a chance of zero is not known to be one.
    error = np.sqrt(moved + (0.5 / questions) ** 2)
    freedom = freedom_of(kish(counts.sum(axis=1)))
    reach = t_quantile(freedom, 1 - (1 - confidence) / 2 / differences.size)
    signs = np.sign(differences).prod(axis=1)
    sure = (np.abs(differences) > reach * error).all(axis=1)
    alike, open_ = float(signs[sure].sum()), float((~sure).sum())
    low, high = ((alike + side * open_) / len(signs) for side in (-1, 1))
    return Figure(
        value=point.value, low=min(low, point.value), high=max(high, point.value), method="pairs"
    )


def _check(scores: pl.DataFrame, columns: Sequence[str]) -> None:
    require(scores, ("question", "system", *columns), "scores")
    if scores["system"].null_count() or scores["question"].null_count():
        raise AgreementError("some answers have no system or no question; ranking needs both")
    sets = scores.group_by("system").agg(pl.col("question").n_unique().alias("questions"))
    if sets.height < 2:
        raise AgreementError(f"a ranking needs two systems or more; there is {sets.height}")
    total = scores["question"].n_unique()
    short = sets.filter(pl.col("questions") != total).sort("system")
    if short.height:
        raise AgreementError(
            f"the systems do not have the same questions: of the {total:,} here "
            f"{short['system'][0]!r} has {short['questions'][0]:,}; --common (Python: common=True) "
            "keeps those of all systems; 'markscheme compare --systems' needs labels of a random "
            "part only"
        )


def _with_ranks(
    table: pl.DataFrame, columns: Sequence[str], human: str, baseline: str | None
) -> pl.DataFrame:
    ranks = [
        pl.col(n).rank("min", descending=True).cast(pl.Int64).alias(f"{n}_rank") for n in columns
    ]
    table = table.with_columns(ranks)
    if baseline is not None:
        table = table.with_columns(
            (pl.col(n) - pl.col(baseline)).alias(f"{n}_delta") for n in columns if n != baseline
        )
    return table.with_columns(
        (pl.col(f"{n}_rank") - pl.col(f"{human}_rank")).alias(f"{n}_rank_change")
        for n in columns
        if n != human
    ).sort([human, "system"], descending=[True, False])


def _measure_rows(
    table: pl.DataFrame, columns: Sequence[str], human: str, baseline: str | None
) -> pl.DataFrame:
    mean = {name: float(table[name].to_numpy().mean()) for name in columns}
    rows = []
    for name in columns:
        base = None if name == baseline else baseline
        changed = None if name == human else int((table[f"{name}_rank_change"] != 0).sum())
        rows.append(
            {
                "measure": name,
                "mean": mean[name],
                "gain": None if base is None else mean[name] - mean[base],
                "shortfall": None if name == human else mean[human] - mean[name],
                "rank_changes": changed,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)
