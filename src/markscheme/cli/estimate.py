"""`markscheme estimate`: human accuracy from many judgments and few labels."""

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
    Judgments,
    Out,
    PositiveFrom,
    Printed,
    Threshold,
    emit,
    percent,
    read_judged,
    read_labelled,
)

if TYPE_CHECKING:
    from markscheme.agreement import EstimateOptions, HumanAccuracy
    from markscheme.results import Table


class By(StrEnum):
    """What estimates are broken down by."""

    SYSTEM = "system"


class Predictions(StrEnum):
    """What the judge's word is taken to be."""

    AUTO = "auto"
    SCORE = "score"
    VERDICT = "verdict"


NAMES = {
    "ppi_tuned": "PPI, tuned (PPI++)",
    "ppi": "PPI",
    "rogan_gladen": "Rogan-Gladen",
    "labels_only": "labels only",
}


@app.command("estimate")
def estimate(
    judgments: Judgments,
    labels: Annotated[
        str, typer.Option(help="Labels of a random part of the answers, as plan-labels draws it.")
    ],
    label_column: Annotated[str | None, typer.Option(help="The column with labels.")] = None,
    judge: Annotated[str | None, typer.Option(help="Whose judgments. [default: the only]")] = None,
    by: Annotated[By | None, typer.Option(help="An estimate for each system too.")] = None,
    predictions: Annotated[
        Predictions, typer.Option(help="Scores, verdicts, or auto: scores where all have one.")
    ] = Predictions.AUTO,
    columns: Columns = "",
    answers: Answers = None,
    threshold: Threshold = 0.5,
    positive_from: PositiveFrom = None,
    confidence: Confidence = 0.95,
    least_labels: Annotated[int, typer.Option(min=2, help="Fewer are refused.")] = 30,
    trust_sample: Annotated[
        bool,
        typer.Option("--trust-sample", help="Go on where labels are evidently not random."),
    ] = False,
    output: Printed = Format.TABLE,
    out: Out = None,
) -> None:
    """Estimate what people would say of all answers, from judgments of all and labels of some.

    Prediction-powered inference, plain and power-tuned, with Rogan-Gladen and the labels alone
    beside it; intervals clustered on question. Refuses, with the reason, where the labels cannot
    support a figure.
    """
    from markscheme.agreement import EstimateOptions, human_accuracy
    from markscheme.results import plain

    rows = read_judged(
        judgments, judges=judge or "", columns=columns, answers=answers, threshold=threshold
    )
    known = read_labelled(labels, column=label_column, columns=columns)
    options = EstimateOptions(
        judge=judge,
        by_system=by is By.SYSTEM,
        predictions=predictions.value,
        positive_from=positive_from,
        confidence=confidence,
        least_labels=least_labels,
        trust_sample=trust_sample,
    )
    found = human_accuracy(rows, known, options)
    data: dict[str, Any] = {
        "command": "estimate",
        "confidence": confidence,
        "estimates": plain(found),
    }
    emit([_table(found, options)], data, output=output, out=out)


def _table(found: Sequence[HumanAccuracy], options: EstimateOptions) -> Table:
    from markscheme.results import Table

    rows = []
    said = [
        f"{100 * options.confidence:g}% intervals, clustered on question; judge: {found[0].judge}, "
        f"by its {found[0].predictions}s"
    ]
    for one in found:
        about = (one.system or "(all)", f"{one.answers:,}", f"{one.labelled:,}")
        if one.refusal:
            rows.append((*about, percent(one.judge_mean), "-", "refused; see below", "-", "-"))
            said.append(f"{about[0]}: {one.refusal}")
        for each in one.estimates:
            error = "-" if each.standard_error is None else f"{100 * each.standard_error:.2f}"
            weight = "-" if each.weight_of_judge is None else f"{each.weight_of_judge:.2f}"
            figure = each.figure.text(scale=100, digits=1)
            rows.append(
                (*about, percent(one.judge_mean), NAMES[each.method], figure, error, weight)
            )
        said += [f"{about[0]}: {note}" for note in one.notes]
    header = ("system", "answers", "labelled", "judge says", "method", "people would say")
    rest = ("standard error", "weight of judge")
    return Table(
        title="Human accuracy in per cent",
        header=(*header, *rest),
        rows=tuple(rows),
        numeric=frozenset((*header[1:4], header[5], *rest)),
        notes=tuple(said),
    )
