"""`calibrate`: thresholds, reliability, and maps from scores to probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.agreement.calibration import (
    CalibrationMap,
    calibration_figures,
    fit_map,
    reliability_diagram,
)
from markscheme.agreement.options import CalibrateOptions
from markscheme.agreement.sources import JudgmentsSource, TableSource, joined_with_labels
from markscheme.agreement.thresholds import (
    Chosen,
    choose_threshold,
    sensitivity,
    split_questions,
)
from markscheme.agreement.verdicts import STATISTICS
from markscheme.errors import AgreementError
from markscheme.flags import with_keywords
from markscheme.results import Column, Figure, Table, TableResult, cell, columns
from markscheme.tables import as_binary, one_judge


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CalibrateResult(TableResult):
    """What `calibrate` gives: the frame is the reliability diagram on held-out answers.

    Columns: `map` (`before`, `after`), `low`, `high` (of the score's range), `answers`,
    `mean_score`, `accepted` (share that people accept, 0 to 1).

    Attributes:
        threshold: the chosen threshold, with its figures on held-out answers.
        map: from scores to probabilities, fitted on the development questions only.
    """

    threshold: Chosen
    map: CalibrationMap

    def save_map(self, path: str | Path) -> Path:
        """Write the map, for the judge `calibrated(base=..., map="FILE")`."""
        self.map.save(Path(path))
        return Path(path)


def calibrate(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: CalibrateOptions | None = None,
    *,
    answers: TableSource | None = None,
    **keywords: Any,
) -> CalibrateResult:
    """Choose a threshold and fit a calibration map on some questions; report on the others.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: people's labels, likewise; None for those that came with the judged answers.
        options: criterion, shape of the map, split; the defaults if None.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `CalibrateOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: nothing matches, several judges and none named, or no scores.
    """
    wanted = with_keywords(CalibrateOptions, options, keywords)
    joined = joined_with_labels(
        judgments, labels, wanted, judges=wanted.judge or "", answers=answers
    )
    rows = one_judge(joined.rows)
    judge = rows["judge"][0]
    scored = rows.drop_nulls("score")
    if scored.is_empty():
        raise AgreementError(f"{judge!r} gives no scores, so there is nothing to calibrate")
    scores = scored["score"].to_numpy()
    truth = as_binary(scored["label"], positive_from=wanted.positive_from).to_numpy()
    clusters = scored["cluster"].to_numpy()
    chosen = choose_threshold(
        scores, truth, clusters, by=wanted.criterion, share=wanted.share, seed=wanted.seed
    )
    part = split_questions(clusters, share=wanted.share, seed=wanted.seed)
    fitted = fit_map(scores[part], truth[part], method=wanted.method, judge=judge)
    rest, accepted = scores[~part], truth[~part]
    sides = {"before": rest.clip(0.0, 1.0), "after": fitted(rest)}
    figures = {
        name: calibration_figures(side, accepted, bins=wanted.bins) for name, side in sides.items()
    }
    diagrams = {
        name: reliability_diagram(side, accepted, bins=wanted.bins) for name, side in sides.items()
    }
    said = [*joined.notes(), f"{rows.height - scored.height:,} answers have no score"]
    said.append(
        f"{100 * wanted.share:g}% of the questions to choose and fit on, the others to report on; "
        f"seed {wanted.seed}"
    )
    frame = pl.concat(
        diagram.select(pl.lit(name).alias("map"), pl.all()) for name, diagram in diagrams.items()
    )
    return CalibrateResult(
        frame=frame,
        tables=(
            _threshold_table(chosen, said),
            _calibration_table(fitted.kind, figures),
            _diagram(frame),
        ),
        data={
            "command": "calibrate",
            "judge": judge,
            "matched": said,
            "threshold": chosen,
            "sensitivity": sensitivity(scores, truth),
            "map": fitted,
            "calibration": figures,
            "reliability": diagrams,
            "seed": wanted.seed,
        },
        threshold=chosen,
        map=fitted,
    )


def _threshold_table(chosen: Chosen, said: list[str]) -> Table:
    def written(name: str, figure: Figure) -> str:
        return cell(3 if STATISTICS[name].lowest else "share", figure)

    return Table.of(
        f"Accept from {chosen.threshold:.4g}: {chosen.held_out_answers:,} held-out answers",
        ("statistic", Column("value", format="right")),
        [(name, written(name, figure)) for name, figure in chosen.held_out.items()],
        (
            *said,
            f"chosen by {chosen.criterion} on {chosen.development_answers:,} answers, where it is "
            f"{written(chosen.criterion, chosen.development)}",
        ),
    )


def _calibration_table(kind: str, figures: Mapping[str, Mapping[str, Figure]]) -> Table:
    names = {
        "ece_uniform": "expected calibration error (equal widths)",
        "ece_quantile": "expected calibration error (equal counts)",
        "brier": "Brier score",
    }
    return Table.of(
        "Calibration",
        (Column(f"{kind} map, held-out answers"), *columns(4, "before", "after")),
        [(label, figures["before"][name], figures["after"][name]) for name, label in names.items()],
    )


def _diagram(reliability: pl.DataFrame) -> Table:
    return Table.of(
        "Reliability on held-out answers",
        (
            "map",
            Column("score", "{low:.2f} to {high:.2f}".format_map),
            Column("answers", format="count"),
            Column("mean score", format=3),
            Column("accepted by people, per cent", "accepted", "share"),
        ),
        reliability,
    )
