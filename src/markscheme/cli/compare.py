"""`markscheme compare`: which of two judges, or of two systems, is better."""

from __future__ import annotations

from collections.abc import Sequence
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
    p_text,
    read_both,
    read_judged,
    split,
)

if TYPE_CHECKING:
    from markscheme.agreement import CompareOptions, Comparison
    from markscheme.results import Table


class Unjudged(StrEnum):
    """What becomes of answers that were not judged."""

    LEFT_OUT = "left_out"
    ERRORS = "errors"


@app.command("compare")
def compare(
    judgments: Judgments,
    labels: Annotated[
        str | None,
        typer.Option(help="People's labels, to compare judges by. [default: the same file]"),
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="The column with labels.")] = None,
    systems: Annotated[
        bool,
        typer.Option("--systems", help="Compare systems under one judge; no labels are needed."),
    ] = False,
    only: Annotated[str, typer.Option(help="Systems to compare, by comma. [default: all]")] = "",
    judges: Judges = "",
    statistic: Annotated[
        str,
        typer.Option(
            help="Of judges: accuracy, precision, recall, f1_positive, f1_macro, kappa, mcc."
        ),
    ] = "accuracy",
    unjudged: Annotated[
        Unjudged, typer.Option(help="Not judged: left out of the pair, or an error.")
    ] = Unjudged.LEFT_OUT,
    columns: Columns = "",
    answers: Answers = None,
    threshold: Threshold = 0.5,
    positive_from: PositiveFrom = None,
    resamples: Annotated[
        int, typer.Option(min=100, help="Of the interval and of the permutation test.")
    ] = 10_000,
    seed: Seed = 0,
    confidence: Confidence = 0.95,
    output: Printed = Format.TABLE,
    out: Out = None,
) -> None:
    """Compare judges on the same labelled answers, or systems under one judge, pair by pair.

    Exact McNemar test, permutation test that exchanges whole questions, Holm's correction over all
    pairs, and the difference with an interval clustered on question.
    """
    from markscheme.agreement import CompareOptions, compare_judges, compare_systems, join_labels
    from markscheme.results import plain

    options = CompareOptions(
        statistic=statistic,
        unjudged=unjudged.value,
        positive_from=positive_from,
        resamples=resamples,
        seed=seed,
        confidence=confidence,
    )
    if systems:
        rows = read_judged(
            judgments, judges=judges, columns=columns, answers=answers, threshold=threshold
        )
        pairs = compare_systems(rows, systems=split(only) or None, options=options)
        said, what = [f"{rows.height:,} judgments by {rows['judge'][0]}"], "share accepted"
    else:
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
        pairs = compare_judges(joined, options=options)
        said, what = joined.notes(), statistic
    data: dict[str, Any] = {
        "command": "compare",
        "statistic": what,
        "matched": said,
        "seed": seed,
        "resamples": resamples,
        "pairs": plain(pairs),
    }
    emit(_tables(pairs, what, said, options), data, output=output, out=out)


def _tables(
    pairs: Sequence[Comparison], what: str, said: Sequence[str], options: CompareOptions
) -> list[Table]:
    from markscheme.results import Table

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
