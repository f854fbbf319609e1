"""`markscheme plan-labels`: how many answers to label, and which."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markscheme.cli.app import app, console, notes
from markscheme.cli.output import (
    Answers,
    Columns,
    Confidence,
    Judgments,
    Seed,
    Threshold,
    read_labelled,
)
from markscheme.cli.output import read_judged as read_judgments

if TYPE_CHECKING:
    import polars as pl

    from markscheme.agreement import LabelNeed


class Design(StrEnum):
    """How answers are drawn."""

    RANDOM = "random"
    STRATIFIED = "stratified"


@app.command("plan-labels")
def plan_labels(
    judgments: Judgments,
    half_width: Annotated[
        float | None,
        typer.Option(help="Wanted half-width of the interval: 0.03 is 3 points of accuracy."),
    ] = None,
    labels: Annotated[
        int | None, typer.Option(min=1, help="Draw this many, whatever the half-width.")
    ] = None,
    pilot: Annotated[
        str | None, typer.Option(help="A few labels already there, to plan by.")
    ] = None,
    judge_accuracy: Annotated[
        float, typer.Option(help="Without a pilot: how often the judge is supposed to be right.")
    ] = 0.85,
    judge: Annotated[str | None, typer.Option(help="Whose judgments. [default: the only]")] = None,
    design: Annotated[
        Design, typer.Option(help="random, or stratified by the judge's score.")
    ] = Design.RANDOM,
    strata: Annotated[int, typer.Option(min=2, help="Ranges of the score, if stratified.")] = 5,
    by_system: Annotated[
        bool,
        typer.Option("--by-system", help="The half-width holds for each system's own estimate."),
    ] = False,
    answers: Answers = None,
    columns: Columns = "",
    threshold: Threshold = 0.5,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Labelling file to write: .csv, .tsv, .jsonl, .parquet."),
    ] = None,
) -> None:
    """Say how many labels a wanted half-width takes, and draw the answers to label.

    The file has an empty column 'label' to fill in, and the probability with which each answer was
    drawn, which 'markscheme estimate' needs. The judge's verdict is not in it: labellers should
    not see it.
    """
    import polars as pl

    from markscheme.agreement import choose_labels
    from markscheme.errors import AgreementError
    from markscheme.tables import write_table

    if half_width is None and labels is None:
        raise AgreementError("give --half-width, such as 0.03, or --labels with a number")
    rows = read_judgments(
        judgments, judges=judge or "", columns=columns, answers=answers, threshold=threshold
    )
    if rows["judge"].n_unique() > 1:
        raise AgreementError(
            "plans rest on one judge; choose with --judge one of "
            f"{', '.join(map(repr, rows['judge'].unique(maintain_order=True)))}"
        )
    scored = rows.with_columns(pl.coalesce("score", pl.col("verdict").cast(pl.Float64)))
    if by_system and "system" not in scored.columns:
        raise AgreementError("plans by system need the system of every judgment; give --answers")
    parts = scored.partition_by("system", maintain_order=True) if by_system else [scored]
    drawn = []
    for place, part in enumerate(parts):
        name = part["system"][0] if by_system else None
        wanted = labels
        if half_width is not None:
            need = _need(part, half_width, pilot, judge_accuracy, columns, confidence)
            _say(need, name, part.height, half_width)
            wanted = labels or need.labels or part.height
        picked = choose_labels(
            part,
            labels=wanted or 0,
            design=design.value,
            strata=strata,
            seed=seed + place,
        )
        if by_system and "stratum" in picked.columns:
            picked = picked.with_columns(
                pl.format("{} {}", pl.lit(name), "stratum").alias("stratum")
            )
        drawn.append(picked)
    plan = pl.concat(drawn)
    console.print(
        f"{plan.height:,} of {rows.height:,} answers drawn, {design.value}, seed {seed}",
        markup=False,
    )
    if out is not None:
        write_table(_labelling_file(plan, answers), out)
        notes.print(f"written to {out}: fill in the column 'label'", markup=False)
    else:
        console.print("nothing is written; --out to_label.csv writes them, to be labelled")


def _need(
    part: pl.DataFrame,
    half_width: float,
    pilot: str | None,
    judge_accuracy: float,
    columns: str,
    confidence: float,
) -> LabelNeed:
    from markscheme.agreement import join_labels, need_from_accuracy, need_from_pilot

    judged = part["verdict"].drop_nulls()
    if pilot is None:
        acceptance = float(judged.cast(int).to_numpy().mean()) if len(judged) else 0.5
        return need_from_accuracy(
            acceptance,
            judge_accuracy,
            answers=part.height,
            half_width=half_width,
            confidence=confidence,
        )
    known = read_labelled(pilot, column=None, columns=columns)
    matched = join_labels(part, known).rows.drop_nulls("score")
    return need_from_pilot(
        matched["score"].to_numpy(),
        matched["label"].to_numpy(),
        answers=part.height,
        half_width=half_width,
        confidence=confidence,
    )


def _say(need: LabelNeed, system: str | None, answers: int, half_width: float) -> None:
    points = f"{100 * half_width:g} points"
    whose = f"{system}: " if system else ""
    alone = "more than there are" if need.labels_alone is None else f"{need.labels_alone:,}"
    if need.labels is None:
        text = (
            f"even all {answers:,} labels give no less than {100 * need.reach:.1f} points, "
            f"so {points} cannot be reached"
        )
    else:
        text = f"{need.labels:,} labels for an interval of +-{points} ({alone} without the judge)"
    console.print(
        f"{whose}{text}; from {need.source}: correlation of judge and label {need.correlation:.2f}",
        markup=False,
        soft_wrap=True,
    )


def _labelling_file(plan: pl.DataFrame, answers: str | None) -> pl.DataFrame:
    """What the labeller sees first, then the empty label, then what the estimate needs."""
    import polars as pl

    from markscheme.tables import read_answers

    if answers and "answer_id" in plan.columns:
        references = read_answers(answers).select("answer_id", "references")
        plan = plan.join(references, on="answer_id", how="left", maintain_order="left")
    order = ("answer_id", "question", "references", "answer", "system")
    shown = [name for name in order if name in plan.columns]
    design = [name for name in ("inclusion_probability", "stratum") if name in plan.columns]
    return plan.select(*shown, pl.lit(None, dtype=pl.Float64).alias("label"), *design)
