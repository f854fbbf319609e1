"""`markscheme rank`: do judges rank the systems as people do?"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli.app import app
from markscheme.cli.output import (
    Answers,
    Columns,
    Confidence,
    Format,
    Judges,
    Judgments,
    Out,
    PositiveFrom,
    Printed,
    Seed,
    Threshold,
    emit,
    percent,
    read_both,
)

if TYPE_CHECKING:
    import polars as pl

    from markscheme.agreement import Ranking
    from markscheme.results import Table

HUMAN = "human"
EXACT = "exact_match"


class Protocol(StrEnum):
    """How verdicts on answers become a system's accuracy."""

    DIRECT = "direct"
    AMENDED = "amended"


@app.command("rank")
def rank(
    judgments: Judgments,
    labels: Annotated[
        str | None,
        typer.Option(help="People's labels of the same answers. [default: the same file]"),
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="The column with labels.")] = None,
    judges: Judges = "",
    protocol: Annotated[
        Protocol,
        typer.Option(
            help="direct: each answer's own verdict. amended: exact match against references "
            "amended by the verdicts (Kamalloo et al. 2023); needs --answers."
        ),
    ] = Protocol.DIRECT,
    baseline: Annotated[
        str | None,
        typer.Option(
            help="Judge that differences are taken from. [default: exact_match, or the first]"
        ),
    ] = None,
    scores: Annotated[
        bool, typer.Option("--scores", help="Rank by mean score rather than share accepted.")
    ] = False,
    columns: Columns = "",
    answers: Answers = None,
    threshold: Threshold = 0.5,
    positive_from: PositiveFrom = None,
    bootstrap: Annotated[
        int, typer.Option(min=0, help="Resamples of questions for the intervals; 0 for none.")
    ] = 1000,
    seed: Seed = 0,
    confidence: Confidence = 0.95,
    output: Printed = Format.TABLE,
    out: Out = None,
) -> None:
    """Systems under each judge beside people: differences, ranks, Kendall's tau-b, Spearman's rho.

    The table of Kamalloo et al. (2023). Every system must have the same questions, each labelled;
    answers that a judge did not judge count as wrong.
    """
    from markscheme.agreement import rank_systems
    from markscheme.results import plain

    amended = protocol is Protocol.AMENDED
    rows, known = read_both(
        judgments,
        labels,
        judges=judges,
        columns=columns,
        answers=None if amended else answers,
        threshold=threshold,
        label_column=label_column,
    )
    if amended:
        wide, said = _amended(rows, known, answers, positive_from)
    else:
        wide, said = _direct(rows, known, scores=scores, positive_from=positive_from)
    names = [n for n in wide.columns if n not in ("question", "system", "answer_id", HUMAN)]
    base = baseline or (EXACT if EXACT in names else names[0])
    ranking = rank_systems(
        wide,
        measures=names,
        human=HUMAN,
        baseline=base,
        resamples=bootstrap,
        seed=seed,
        confidence=confidence,
    )
    if bootstrap:
        said.append(
            f"{100 * confidence:g}% intervals: {bootstrap:,} bootstrap resamples of questions, "
            f"seed {seed}"
        )
    data: dict[str, Any] = {"command": "rank", "matched": said, **plain(ranking)}
    emit(_tables(ranking, said), data, output=output, out=out)


def _direct(
    rows: pl.DataFrame, labels: pl.DataFrame, *, scores: bool, positive_from: float | None
) -> tuple[pl.DataFrame, list[str]]:
    """A row an answer, a column a judge, by each answer's own verdict and label."""
    import polars as pl

    from markscheme.agreement import as_binary, join_labels
    from markscheme.errors import AgreementError

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
    human = pl.Series(HUMAN, as_binary(matched["label"], positive_from=positive_from))
    names = matched["judge"].unique(maintain_order=True).to_list()
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
    rows: pl.DataFrame, labels: pl.DataFrame, file: str | None, positive_from: float | None
) -> tuple[pl.DataFrame, list[str]]:
    """A row an answer, a column a judge, by exact match against references each judge amended."""
    import polars as pl

    from markscheme.agreement import match_amended
    from markscheme.errors import AgreementError
    from markscheme.metrics import exact_match
    from markscheme.tables import read_answers

    if file is None:
        raise AgreementError(
            "the amended protocol needs the systems' answers and references: give --answers"
        )

    def matches(table: pl.DataFrame) -> pl.Series:
        return exact_match(table["answer"], table["references"]) == 1

    answers = read_answers(file)
    if positive_from is not None:
        labels = labels.with_columns((pl.col("label") >= positive_from).cast(pl.Float64))
    wide = answers.select("question", "system").with_columns(
        matches(answers.with_columns(pl.col("answer").fill_null("")))
        .fill_null(value=False)
        .alias(EXACT)
    )
    columns = [match_amended(answers, labels, matches).alias(HUMAN)]
    for (judge,), part in rows.filter(pl.col("judge") != EXACT).group_by(
        "judge", maintain_order=True
    ):
        verdicts = _texts(part, answers).with_columns(pl.col("verdict").alias("label"))
        columns.append(match_amended(answers, verdicts, matches).alias(str(judge)))
    said = [
        f"{answers.height:,} answers marked by exact match against references that "
        f"{labels['label'].count():,} labels, or a judge's verdicts, amended",
        "an answer without label or verdict is right if it matches an amended reference",
    ]
    return wide.with_columns(columns), said


def _texts(judgments: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Judgments with the question and the answer as they stand in the file."""
    from markscheme.tables import with_answers

    if {"question", "answer"} <= set(judgments.columns):
        return judgments
    return with_answers(judgments, answers)


def _tables(ranking: Ranking, said: list[str]) -> list[Table]:
    from markscheme.results import Table

    base = ranking.baseline or ""
    others = [name for name in ranking.measures["measure"] if name not in (base, ranking.human)]
    header = ["system", "answers", base]
    for name in (*others, ranking.human):
        header += [name, f"{name} - {base}"]
    rows = []
    for row in ranking.systems.rows(named=True):
        cells = [row["system"], f"{row['answers']:,}", percent(row[base])]
        for name in (*others, ranking.human):
            cells += [percent(row[name]), percent(row[f"{name}_delta"], signed=True)]
        rows.append(tuple(cells))
    measures = []
    for row in ranking.measures.rows(named=True):
        name = row["measure"]
        with_people = name != ranking.human
        measures.append(
            (
                name,
                percent(row["mean"]),
                percent(row["gain"], signed=True),
                percent(row["shortfall"]),
                ranking.tau_b[name].text(digits=2) if with_people else "-",
                ranking.spearman[name].text(digits=2) if with_people else "-",
                str(row["rank_changes"]) if with_people else "-",
            )
        )
    places = tuple(
        (
            row["system"],
            *(str(row[f"{name}_rank"]) for name in (ranking.human, base, *others)),
        )
        for row in ranking.systems.rows(named=True)
    )
    names = ("judge", "mean", f"gain over {base}", "short of human", "Kendall tau-b", "Spearman")
    return [
        Table(
            title=f"Systems in per cent over {ranking.questions:,} questions, best by people first",
            header=tuple(header),
            rows=tuple(rows),
            numeric=frozenset(header[1:]),
        ),
        Table(
            title="Ranks",
            header=("system", ranking.human, base, *others),
            rows=places,
            numeric=frozenset((ranking.human, base, *others)),
        ),
        Table(
            title="Agreement with people's ranking",
            header=(*names, "ranks that differ"),
            rows=tuple(measures),
            numeric=frozenset((*names[1:], "ranks that differ")),
            notes=tuple(said),
        ),
    ]
