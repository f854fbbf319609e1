"""`markscheme calibrate`: thresholds, reliability, and maps from scores to probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from markscheme.agreement import CalibrateOptions
from markscheme.cli.options import Judgments, Shown, command
from markscheme.flags import Answers, Labels, Option


@command("calibrate", example="markscheme calibrate runs/answers-6dae129e --labels labels.csv")
def calibrate(
    judgments: Judgments,
    options: CalibrateOptions,
    shown: Shown,
    labels: Labels = None,
    answers: Answers = None,
    save_map: Annotated[
        Path | None,
        Option(
            'Write the calibration map to this file, for calibrated(base=..., map="FILE").',
            output=True,
        ),
    ] = None,
) -> None:
    """Choose a threshold and fit a calibration map on some questions; report on the others.

    The map that --save-map writes is the one reported on: it is fitted only on the --share of the
    questions.
    """
    from markscheme import agreement

    found = agreement.calibrate(judgments, labels, options, answers=answers)
    if save_map is not None:
        found.save_map(save_map)
        shown.note(f"map written to {save_map}")
    shown.show(found)
