"""`rank`: systems under each judge and under people's labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from markscheme.agreement.options import RankOptions
from markscheme.agreement.protocols import match_amended
from markscheme.agreement.ranking import Ranking, rank_systems
from markscheme.agreement.sources import (
    JudgmentsSource,
    TableSource,
    answers_table,
    judged_and_labelled,
    open_run,
)
from markscheme.errors import AgreementError
from markscheme.flags import with_keywords
from markscheme.metrics import exact_match
from markscheme.results import Column, Table, TableResult, columns, interval_note, population
from markscheme.tables import as_binary, join_labels, label_notes, row_keys, with_answers

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
    """Systems under each judge and under labels: differences, ranks, Kendall's tau-b, Spearman.

    The table of Kamalloo et al. (2023). Every system must have the same questions, each labelled;
    answers that a judge did not judge count as wrong.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: people's labels, likewise; None for those that came with the judged answers.
        options: the protocol, the baseline, the intervals; the defaults if None.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `RankOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: systems, questions or answers are not known, or differ between systems.
    """
    wanted = with_keywords(RankOptions, options, keywords)
    amended = wanted.protocol == "amended"
    run = open_run(judgments)
    rows, known = judged_and_labelled(
        run, labels, judges=wanted.judges, columns=wanted.columns,
        answers=None if amended else answers, threshold=wanted.threshold,
        label_column=wanted.label_column,
    )  # fmt: skip
    if amended:
        if answers is None:
            answers = run.stored_answers
        wide, said = _amended(rows, known, answers, wanted.positive_from)
    else:
        wide, said = _direct(rows, known, scores=wanted.scores, positive_from=wanted.positive_from)
    if wanted.common:
        wide, left = _common(wide)
        said.append(f"{left:,} questions that not all systems answered are left out (--common)")
    names = [n for n in wide.columns if n not in ("question", "system", "answer_id", HUMAN)]
    ranking = rank_systems(
        wide,
        measures=names,
        human=HUMAN,
        baseline=wanted.baseline or (EXACT if EXACT in names else names[0]),
        resamples=wanted.resamples,
        seed=wanted.seed,
        confidence=wanted.confidence,
    )
    if wanted.resamples:
        systems = f"of these {ranking.systems.height} systems as the labels say"
        shown = int(ranking.systems["answers"].sum())
        about = population(systems, questions=ranking.questions, answers=shown)
        figures = (("", one) for one in ranking.tau_b.values())
        said += [
            f"{note}; tau-b is of the pairs of systems that both sides distinguish "
            f"({wanted.resamples:,} resamples of questions, seed {wanted.seed})"
            for note in interval_note(figures, about, wanted.confidence)
        ]
    return RankResult(
        frame=ranking.systems,
        tables=tuple(_tables(ranking, said)),
        data={
            "command": "rank", "matched": said,
            **{field.name: getattr(ranking, field.name) for field in fields(ranking)},
        },
        ranking=ranking,
    )  # fmt: skip


def _common(wide: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The rows of questions that all systems answered, and how many questions are left out."""
    everywhere = pl.col("system").n_unique().over("question") == wide["system"].n_unique()
    kept = wide.filter(everywhere)
    if kept.is_empty():
        raise AgreementError("no question was answered by all systems; there is nothing in common")
    return kept, wide["question"].n_unique() - kept["question"].n_unique()


def _direct(
    rows: pl.DataFrame, labels: pl.DataFrame, *, scores: bool, positive_from: float | None
) -> tuple[pl.DataFrame, list[str]]:
    """One row per answer, one column per judge, by each answer's own verdict and label."""
    joined = join_labels(rows, labels)
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


def _amended(
    rows: pl.DataFrame,
    labels: pl.DataFrame,
    source: TableSource | None,
    positive_from: float | None,
) -> tuple[pl.DataFrame, list[str]]:
    """One row per answer, one column per judge: exact match against that judge's references."""

    if source is None:
        raise AgreementError("--protocol amended requires --answers, with the references")

    def matches(table: pl.DataFrame) -> pl.Series:
        return exact_match(table["answer"], table["references"]) == 1

    answers = answers_table(source)
    if positive_from is not None:
        labels = labels.with_columns((pl.col("label") >= positive_from).cast(pl.Float64))
    wide = answers.select("question", "system").with_columns(
        matches(answers.with_columns(pl.col("answer").fill_null("")))
        .fill_null(value=False)
        .alias(EXACT)
    )
    columns = [match_amended(answers, labels, matches).alias(HUMAN)]
    said = [
        f"{answers.height:,} answers marked by exact match against references that "
        f"{labels['label'].count():,} labels, or a judge's verdicts, amended",
        "an answer without label or verdict is right if it matches an amended reference",
        *label_notes(answers, labels),
    ]
    for (judge,), part in rows.filter(pl.col("judge") != EXACT).group_by(
        "judge", maintain_order=True
    ):
        verdicts = _texts(part, answers).with_columns(pl.col("verdict").alias("label"))
        asked, verdicts, torn = _by_references(answers, verdicts)
        columns.append(match_amended(asked, verdicts, matches).alias(str(judge)))
        if torn:
            said.append(
                f"{judge} accepts {torn:,} answers against some systems' references and rejects "
                "them against others': each counts for its own references, and as rejected for "
                "references that it was not judged against"
            )
    return wide.with_columns(columns), said


def _by_references(
    answers: pl.DataFrame, verdicts: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, int]:
    """Answers and verdicts with a question of its own for each list of references.

    Files of several systems may give one question different references. A verdict is about the
    answer and the references of its row, and amends these; other lists of the same question take
    it too, unless they have a verdict of their own on that answer. Where verdicts from other lists
    contradict each other the rejection counts, as rejected answers leave last.

    Returns:
        Both tables, and how many answers (of a question) were accepted and rejected.
    """
    listed = answers.select(pl.col("references").list.drop_nulls().fill_null([]))
    keyed = answers.with_columns(row_keys(listed).alias("list"))
    lists = keyed.select("question", "list").unique(maintain_order=True)
    known = verdicts.filter(pl.col("label").is_not_null() & pl.col("answer").is_not_null())
    known = known.with_columns(pl.col("label").cast(pl.Float64))
    if "answer_id" in known.columns:
        own = keyed.select("answer_id", "list").unique("answer_id")
        known = known.join(own, on="answer_id", how="left")
    else:
        known = known.with_columns(pl.lit(None, pl.String).alias("list"))
    torn = (
        known.group_by("question", "answer")
        .agg(pl.col("label").n_unique().alias("kinds"))
        .filter(pl.col("kinds") > 1)
        .height
    )
    anyones = known.group_by("question", "answer", maintain_order=True).agg(pl.col("label").min())
    its_own = known.group_by("question", "answer", "list").agg(pl.col("label").min().alias("own"))
    spread = (
        lists.join(anyones, on="question", maintain_order="right_left")
        .join(its_own, on=["question", "answer", "list"], how="left", maintain_order="left")
        .with_columns(pl.coalesce("own", "label").alias("label"))
    )
    # The list's key is of one length, so that no two questions with their lists are the same.
    name = pl.concat_str("list", "question").alias("question")
    return (
        keyed.with_columns(name).drop("list"),
        spread.select(name, "answer", "label"),
        torn,
    )


def _texts(judgments: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Judgments with the question and the answer as in the file."""

    if {"question", "answer"} <= set(judgments.columns):
        return judgments
    return with_answers(judgments, answers)


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
            f"Systems in per cent over {ranking.questions:,} questions, best by people first",
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
