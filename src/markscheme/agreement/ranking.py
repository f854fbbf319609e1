"""`rank`: systems under each judge and under people's labels, and whether judges rank as people do.

`rank_systems` takes one table of scores: one row per answer (`question`, `system`), one column per
measure (EM, F1, a judge's verdict, the human verdict), values from 0 to 1, Booleans allowed. A
system's figure under a measure is the mean over its answers (Kamalloo et al. 2023).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.options import RankOptions
from markscheme.agreement.question_averages import correlations
from markscheme.agreement.sources import JudgmentsSource, TableSource, judged_and_labelled
from markscheme.errors import AgreementError, DataError, no_such_name
from markscheme.flags import with_keywords
from markscheme.results import (
    Column,
    Figure,
    Table,
    TableResult,
    columns,
    interval_note,
    population,
)
from markscheme.stats import LEAST_QUESTIONS, TIE_DIGITS, tau_interval
from markscheme.tables import Joined, as_binary, join_labels

Array = npt.NDArray[np.float64]

HUMAN, EXACT = "human", "exact_match"
_DERIVED = ("rank", "delta", "rank_change")
"""Endings of the columns that a ranking adds for each measure."""
CONSTANT = "all systems are equal on one side"


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
            `stats.tau_interval`.
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
    means = (sums.sum(axis=0) / counts.sum(axis=0)[:, None]).round(TIE_DIGITS)

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
        tau[name] = _with_interval(point, sums[:, :, sides], counts, confidence)
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


def _with_interval(point: Figure, sums: Array, counts: Array, confidence: float) -> Figure:
    if point.value is None or len(counts) < LEAST_QUESTIONS:
        return point
    low, high = tau_interval(point.value, sums, counts, confidence=confidence)
    return Figure(value=point.value, low=low, high=high, method="pairs")


def _check(scores: pl.DataFrame, columns: Sequence[str]) -> None:
    missing = [name for name in ("question", "system", *columns) if name not in scores.columns]
    if missing:
        raise DataError(
            f"the scores table lacks {', '.join(map(repr, missing))}; "
            f"its columns are {', '.join(map(repr, scores.columns))}"
        )
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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RankResult(TableResult):
    """What `rank` gives: one row of the frame per system, best by people first.

    Columns: `system`, `answers`, and of every judge `NAME` (share accepted, 0 to 1), `NAME_delta`
    (less the baseline's) and `NAME_rank`.

    Attributes:
        ranking: the figures as one object: Kendall's tau-b, Spearman's rho, differences.
    """

    ranking: Ranking


def rank(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: RankOptions | None = None,
    *,
    answers: TableSource | None = None,
    **keywords: Any,
) -> RankResult:
    """Rank systems under each judge and by labels: differences, ranks, Kendall's tau-b, Spearman.

    The table of Kamalloo et al. (2023). Every system must have the same questions, each labelled;
    answers that a judge did not judge count as wrong.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: people's labels, likewise; None for those that came with the judged answers.
        options: the baseline, the confidence; the defaults if None.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `RankOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: systems, questions or answers are not known, or differ between systems;
            mean scores are requested of scores outside 0 to 1.
    """
    wanted = with_keywords(RankOptions, options, keywords)
    joined = join_labels(
        *judged_and_labelled(judgments, labels, wanted, judges=wanted.judges, answers=answers)
    )
    wide, said = _side_by_side(joined, scores=wanted.scores, positive_from=wanted.positive_from)
    if wanted.common:
        wide, left = _common(wide)
        said.append(
            f"{left:,} questions without a labelled answer of every system are left out (--common)"
        )
        if (asked := wide["question"].n_unique()) < LEAST_QUESTIONS:
            said.append(f"only {asked:,} questions are left: the ranks are hardly more than chance")
    names = [n for n in wide.columns if n not in ("question", "system", HUMAN)]
    if wanted.baseline is not None and wanted.baseline not in names:
        raise AgreementError(no_such_name("judge", wanted.baseline, names))
    ranking = rank_systems(
        wide,
        measures=names,
        human=HUMAN,
        baseline=wanted.baseline or (EXACT if EXACT in names else names[0]),
        confidence=wanted.confidence,
    )
    systems = f"of these {ranking.systems.height} systems according to the labels"
    shown = int(ranking.systems["answers"].sum())
    about = population(systems, questions=ranking.questions, answers=shown)
    figures = (("", one) for one in ranking.tau_b.values())
    said += [
        f"{note}; tau-b is of the pairs of systems that both sides distinguish"
        for note in interval_note(figures, about, wanted.confidence)
    ]
    return RankResult(
        frame=ranking.systems,
        tables=tuple(_tables(ranking, said)),
        data={
            "command": "rank",
            "matched": said,
            **vars(ranking),
        },
        ranking=ranking,
    )


def _common(wide: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The rows of questions that all systems answered, and how many questions are left out."""
    everywhere = pl.col("system").n_unique().over("question") == wide["system"].n_unique()
    kept = wide.filter(everywhere)
    if kept.is_empty():
        raise AgreementError(
            "no question has labels of all systems' answers; there is nothing in common. "
            "'markscheme compare --systems' needs labels of a random part of the answers only"
        )
    return kept, wide["question"].n_unique() - kept["question"].n_unique()


def _side_by_side(
    joined: Joined, *, scores: bool, positive_from: float | None
) -> tuple[pl.DataFrame, list[str]]:
    """One row per answer, one column per judge, by each answer's own verdict and label."""
    matched = joined.rows
    missing = [name for name in ("question", "system") if name not in matched.columns]
    if missing:
        raise AgreementError(
            f"ranking needs the {' and the '.join(missing)} of every answer; give the judged file "
            "with --answers"
        )
    verdict = pl.col("verdict").cast(pl.Float64)
    value = pl.coalesce("score", verdict) if scores else verdict
    if scores and (strange := matched.filter(~pl.col("score").is_between(0, 1))).height:
        name, score = strange.select("judge", "score").row(0)
        raise AgreementError(
            f"{name!r} has the score {score:g}, and mean scores are compared with the share that "
            "people accept, from 0 to 1: leave out --by-score (Python: scores=False) to rank by "
            "verdicts, which --threshold makes of scores"
        )
    key = "answer_id" if "answer_id" in matched.columns else "answer"
    human = as_binary(matched["label"], positive_from=positive_from).alias(HUMAN)
    names = matched["judge"].unique(maintain_order=True).to_list()
    derived = {f"{name}_{end}" for name in (*names, HUMAN) for end in _DERIVED}
    taken = {"question", "system", "answers", key, HUMAN, *derived}.intersection(names)
    if taken:
        raise AgreementError(
            f"a judge is called {taken.pop()!r}, which is a column of the ranking: give it another "
            "name"
        )
    wide = matched.with_columns(value.alias("value"), human).pivot(
        on="judge",
        index=list(dict.fromkeys(["question", "system", key, HUMAN])),
        values="value",
    )
    unjudged = sum(wide[name].null_count() for name in names)
    said = joined.notes()
    if unjudged:
        said.append(f"{unjudged:,} answers that were not judged count as wrong")
    kept = ["question", "system", HUMAN, *names]
    return wide.select(kept).with_columns(pl.col(names).fill_null(0.0)), said


def _tables(ranking: Ranking, said: list[str]) -> list[Table]:
    human, base = ranking.human, ranking.baseline or ""
    others = [name for name in ranking.measures["measure"] if name not in (base, human)]

    means: list[Column | str] = [
        "system",
        Column("answers", format="count"),
        Column(base, base, "share"),
    ]
    for name in (*others, human):
        means += [
            Column(name, name, "share"),
            Column(f"{name} - {base}", f"{name}_delta", "change"),
        ]
    ranked = ((name, f"{name}_rank") for name in (human, base, *others))
    changes = dict(ranking.measures.select("measure", "rank_changes").iter_rows())
    return [
        Table.of(
            f"Systems in percent over {ranking.questions:,} questions, best by people first",
            means,
            ranking.systems,
        ),
        Table.of("Ranks", ("system", *columns("count", *ranked)), ranking.systems),
        Table.of(
            "Agreement with people's ranking",
            (
                Column("judge", "measure"),
                Column("mean", format="share"),
                Column(f"gain over {base}", "gain", "change"),
                Column("short of human", "shortfall", "share"),
                Column("Kendall tau-b", _of_judge(ranking, ranking.tau_b), 2),
                Column("Spearman", _of_judge(ranking, ranking.spearman), 2),
                Column("ranks that differ", _of_judge(ranking, changes), "count", missing="-"),
            ),
            ranking.measures,
            said,
        ),
    ]


def _of_judge(ranking: Ranking, values: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Any]:
    """A measure's value, where the measure is not the people's own."""
    return lambda row: None if row["measure"] == ranking.human else values[row["measure"]]
