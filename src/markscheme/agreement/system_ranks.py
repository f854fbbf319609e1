"""`rank`: systems under each judge and under people's labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.agreement.options import RankOptions
from markscheme.agreement.ranking import Ranking, rank_systems
from markscheme.agreement.sources import (
    JudgmentsSource,
    TableSource,
    judged_and_labelled,
)
from markscheme.errors import AgreementError
from markscheme.flags import with_keywords
from markscheme.results import Column, Table, TableResult, columns, interval_note, population
from markscheme.stats import LEAST_QUESTIONS
from markscheme.tables import Joined, as_binary, join_labels

HUMAN = "human"
EXACT = "exact_match"


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
        AgreementError: systems, questions or answers are not known, or differ between systems.
    """
    wanted = with_keywords(RankOptions, options, keywords)
    rows, known = judged_and_labelled(
        judgments, labels, wanted, judges=wanted.judges, answers=answers
    )
    joined = join_labels(rows, known)
    wide, said = _side_by_side(joined, scores=wanted.scores, positive_from=wanted.positive_from)
    if wanted.common:
        wide, left = _common(wide)
        said.append(
            f"{left:,} questions without a labelled answer of every system are left out (--common)"
        )
        if (asked := wide["question"].n_unique()) < LEAST_QUESTIONS:
            said.append(f"only {asked:,} questions are left: the ranks are hardly more than chance")
    names = [n for n in wide.columns if n not in ("question", "system", "answer_id", HUMAN)]
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
    value = pl.col("score") if scores else pl.col("verdict").cast(pl.Float64)
    key = "answer_id" if "answer_id" in matched.columns else "answer"
    human = as_binary(matched["label"], positive_from=positive_from).alias(HUMAN)
    names = matched["judge"].unique(maintain_order=True).to_list()
    taken = {"question", "system", key, HUMAN}.intersection(names)
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
