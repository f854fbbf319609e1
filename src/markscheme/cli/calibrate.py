"""`markscheme calibrate`: thresholds, reliability, and maps from scores to probabilities."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli.app import app, notes
from markscheme.cli.output import (
    Answers,
    Columns,
    Format,
    Judgments,
    Out,
    PositiveFrom,
    Printed,
    Seed,
    emit,
    percent,
    read_both,
)

if TYPE_CHECKING:
    import polars as pl

    from markscheme.agreement import Chosen
    from markscheme.results import Table


class Method(StrEnum):
    """The shape of a calibration map."""

    PLATT = "platt"
    ISOTONIC = "isotonic"


@app.command("calibrate")
def calibrate(
    judgments: Judgments,
    labels: Annotated[
        str | None, typer.Option(help="People's labels. [default: the same file]")
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="The column with labels.")] = None,
    judge: Annotated[str | None, typer.Option(help="Whose scores. [default: the only]")] = None,
    by: Annotated[
        str, typer.Option(help="Choose by: accuracy, f1_positive, f1_macro, kappa or mcc.")
    ] = "accuracy",
    method: Annotated[
        Method, typer.Option(help="platt: few labels will do. isotonic: any rising shape.")
    ] = Method.PLATT,
    share: Annotated[
        float, typer.Option(help="Share of the questions to choose and fit on.")
    ] = 0.5,
    bins: Annotated[int, typer.Option(min=2, help="Of the reliability diagram.")] = 10,
    save_map: Annotated[
        Path | None,
        typer.Option("--save-map", help='Write the map, for calibrated(base=..., map="FILE").'),
    ] = None,
    columns: Columns = "",
    answers: Answers = None,
    positive_from: PositiveFrom = None,
    seed: Seed = 0,
    output: Printed = Format.TABLE,
    out: Out = None,
) -> None:
    """Choose a threshold and fit a calibration map on some questions; report on the others.

    The map that --save-map writes is the one that was reported on: fitted on the development
    questions only.
    """
    from markscheme.agreement import as_binary, choose_threshold, join_labels, sensitivity
    from markscheme.errors import AgreementError
    from markscheme.results import plain

    rows, known = read_both(
        judgments,
        labels,
        judges=judge or "",
        columns=columns,
        answers=answers,
        threshold=0.5,
        label_column=label_column,
    )
    joined = join_labels(rows, known)
    names = joined.rows["judge"].unique(maintain_order=True).to_list()
    if len(names) > 1:
        raise AgreementError(
            f"calibration is of one judge; choose with --judge one of {', '.join(map(repr, names))}"
        )
    scored = joined.rows.drop_nulls("score")
    if scored.is_empty():
        raise AgreementError(f"{names[0]!r} gives no scores, so there is nothing to calibrate")
    scores, truth = scored["score"].to_numpy(), as_binary(scored["label"],
                                                          positive_from=positive_from)  # fmt: skip
    clusters = scored["cluster"].to_numpy()
    chosen = choose_threshold(scores, truth, clusters, by=by, share=share, seed=seed)
    fitted = _fit(scored, truth, names[0], method, share=share, bins=bins, seed=seed)
    said = [*joined.notes(), f"{joined.rows.height - scored.height:,} answers have no score"]
    said.append(
        f"{100 * share:g}% of the questions to choose and fit on, the others to report on; "
        f"seed {seed}"
    )
    data: dict[str, Any] = {
        "command": "calibrate",
        "judge": names[0],
        "matched": said,
        "threshold": plain(chosen),
        "sensitivity": sensitivity(scores, truth).to_dicts(),
        "map": plain(fitted["map"]),
        "calibration": plain({name: fitted[name] for name in ("before", "after")}),
        "reliability": plain({name: fitted[f"diagram_{name}"] for name in ("before", "after")}),
        "seed": seed,
    }
    if save_map is not None:
        fitted["map"].save(save_map)
        notes.print(f"map written to {save_map}", markup=False)
    emit(
        [_threshold_table(chosen, said), _calibration_table(fitted), _diagram(fitted)],
        data,
        output=output,
        out=out,
    )


def _fit(
    scored: pl.DataFrame, truth: Any, judge: str, method: Method, *, share: float, bins: int,
    seed: int,
) -> dict[str, Any]:  # fmt: skip
    """The map of the development questions, and calibration of the others before and after it."""
    from markscheme.agreement import calibration_figures, fit_map, reliability, split_questions

    scores = scored["score"].to_numpy()
    part = split_questions(scored["cluster"].to_numpy(), share=share, seed=seed)
    fitted = fit_map(scores[part], truth[part], method=method.value, judge=judge)
    rest, labels = scores[~part], truth[~part]
    raw = rest.clip(0.0, 1.0)
    mapped = fitted(rest)
    return {
        "map": fitted,
        "before": calibration_figures(raw, labels, bins=bins),
        "after": calibration_figures(mapped, labels, bins=bins),
        "diagram_before": reliability(raw, labels, bins=bins),
        "diagram_after": reliability(mapped, labels, bins=bins),
    }


def _threshold_table(chosen: Chosen, said: list[str]) -> Table:
    from markscheme.results import Table

    shares = ("accuracy", "precision", "recall", "f1_positive", "f1_macro")
    rows = tuple(
        (name, figure.text(scale=100, digits=1) if name in shares else figure.text())
        for name, figure in chosen.held_out.items()
    )
    scale, digits = (100, 1) if chosen.criterion in shares else (1, 3)
    development = chosen.development.text(scale=scale, digits=digits)
    return Table(
        title=f"Accept from {chosen.threshold:.4g}: {chosen.held_out_answers:,} held-out answers",
        header=("statistic", "value"),
        rows=rows,
        numeric=frozenset({"value"}),
        notes=(
            *said,
            f"chosen by {chosen.criterion} on {chosen.development_answers:,} answers, where it is "
            f"{development}",
        ),
    )


def _calibration_table(fitted: dict[str, Any]) -> Table:
    from markscheme.results import Table

    names = {
        "ece_uniform": "expected calibration error (equal widths)",
        "ece_quantile": "expected calibration error (equal counts)",
        "brier": "Brier score",
    }
    rows = tuple(
        (label, fitted["before"][name].text(digits=4), fitted["after"][name].text(digits=4))
        for name, label in names.items()
    )
    header = (f"{fitted['map'].kind} map, held-out answers", "before", "after")
    return Table(
        title="Calibration", header=header, rows=rows, numeric=frozenset({"before", "after"})
    )


def _diagram(fitted: dict[str, Any]) -> Table:
    from markscheme.results import Table

    rows = tuple(
        (
            when,
            f"{row['low']:.2f} to {row['high']:.2f}",
            f"{row['answers']:,}",
            f"{row['mean_score']:.3f}",
            percent(row["accepted"]),
        )
        for when in ("before", "after")
        for row in fitted[f"diagram_{when}"].rows(named=True)
    )
    header = ("map", "score", "answers", "mean score", "accepted by people, per cent")
    return Table(
        title="Reliability on held-out answers",
        header=header,
        rows=rows,
        numeric=frozenset(header[2:]),
    )
