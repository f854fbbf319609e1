"""`markscheme agree`: how well judges agree with people, and people with each other."""

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
    read_both,
    read_judged,
    split,
)

if TYPE_CHECKING:
    from markscheme.agreement import Joined
    from markscheme.results import Table


class By(StrEnum):
    """What figures are broken down by."""

    SYSTEM = "system"


class Blanks(StrEnum):
    """What a blank cell of an annotator means."""

    MISSING = "missing"
    CATEGORY = "category"


@app.command("agree")
def agree(
    judgments: Judgments,
    labels: Annotated[
        str | None,
        typer.Option(help="People's labels: a file with a label column. [default: the same file]"),
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="The column with labels.")] = None,
    by: Annotated[By | None, typer.Option(help="Figures for each system too.")] = None,
    judges: Judges = "",
    columns: Columns = "",
    answers: Answers = None,
    threshold: Threshold = 0.5,
    positive_from: PositiveFrom = None,
    bootstrap: Annotated[
        int, typer.Option(min=0, help="Resamples of questions for the intervals; 0 for none.")
    ] = 1000,
    seed: Seed = 0,
    confidence: Confidence = 0.95,
    annotators: Annotated[
        bool, typer.Option("--annotators", help="Agreement between the people who labelled, too.")
    ] = False,
    people: Annotated[
        str, typer.Option(help="Annotators to take, by comma: annotator1,annotator2.")
    ] = "",
    blanks: Annotated[
        Blanks, typer.Option(help="Annotators' blanks: no rating, or a category of their own.")
    ] = Blanks.MISSING,
    alternative_annotator: Annotated[
        bool,
        typer.Option(
            "--alternative-annotator",
            help="May the judge replace an annotator (Calderon et al. 2025)? Needs three or more.",
        ),
    ] = False,
    epsilon: Annotated[
        float, typer.Option(help="Its handicap: 0.2 expert, 0.15 skilled, 0.1 crowd annotators.")
    ] = 0.15,
    relations: Annotated[
        bool,
        typer.Option("--relations", help="Test the order of relations, and marks (Yao & Barbosa)."),
    ] = False,
    per_question: Annotated[
        bool,
        typer.Option(
            "--per-question", help="Correlate scores with grades within questions (LINKAGE)."
        ),
    ] = False,
    repeat: Annotated[
        list[str] | None,
        typer.Option(help="Another run of the same judge, to see how alike runs are; repeatable."),
    ] = None,
    repeat_texts: Annotated[
        str | None,
        typer.Option(help="Compare these texts of the runs too: raw, explanation."),
    ] = None,
    output: Printed = Format.TABLE,
    out: Out = None,
) -> None:
    """Agreement of judges with people's labels, with intervals clustered on question.

    Accuracy, precision, recall, F1 (of the accepted class, and macro), Cohen's kappa, MCC, AUROC
    and average precision; with answers that were not judged left out, and counted as errors.
    """
    from markscheme.agreement import join_labels
    from markscheme.cli import agree_tables as shown
    from markscheme.cli.repeat_tables import repeat_tables, repeats_of
    from markscheme.results import plain

    rows, known = read_both(
        judgments,
        labels,
        judges=judges,
        columns=columns,
        answers=answers,
        threshold=threshold,
        label_column=label_column,
    )
    joined = join_labels(rows, known)
    tables: list[Table] = []
    data: dict[str, Any] = {"command": "agree", "matched": joined.notes(), "seed": seed}
    if not per_question or positive_from is not None or _binary(joined):
        found, made = _against_labels(
            joined,
            by_system=by is By.SYSTEM,
            positive_from=positive_from,
            resamples=bootstrap,
            seed=seed,
            confidence=confidence,
        )
        tables += made
        data |= {"resamples": bootstrap, "confidence": confidence, "judges": plain(found)}
    if per_question:
        correlations = shown.correlations_of(joined)
        tables.append(shown.correlation_table(correlations))
        data["per_question"] = plain(correlations)
    if relations:
        tests = shown.relation_tests(joined, positive_from)
        tables += shown.relation_tables(tests)
        data["relations"] = plain(tests)
    if annotators:
        between = shown.annotators_of(known, blanks.value, split(people))
        tables += shown.annotator_tables(between)
        data["annotators"] = plain(between)
    if alternative_annotator:
        tests = shown.alternatives(joined, epsilon, positive_from)
        tables.append(shown.alternative_table(tests))
        data["alternative_annotator"] = plain(tests)
    if repeat:
        others = [
            read_judged(path, judges=judges, columns=columns, answers=None, threshold=threshold)
            for path in repeat
        ]
        alike = repeats_of([rows, *others], joined, positive_from, texts=repeat_texts)
        tables += repeat_tables(alike)
        data["repeats"] = plain(alike)
    emit(tables, data, output=output, out=out)


def _binary(joined: Joined) -> bool:
    return bool(joined.rows["label"].is_in([0.0, 1.0]).all())


def _against_labels(
    joined: Joined,
    *,
    by_system: bool,
    positive_from: float | None,
    resamples: int,
    seed: int,
    confidence: float,
) -> tuple[list[Any], list[Table]]:
    from markscheme.agreement import AgreementOptions, agreement
    from markscheme.cli.agree_tables import agreement_tables

    options = AgreementOptions(
        by_system=by_system,
        positive_from=positive_from,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
    )
    found = agreement(joined, options)
    return found, agreement_tables(found, joined, options)
