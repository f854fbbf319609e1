"""What training found on held-out questions, as results: tables for people, frames for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from markscheme.results import Table, TableResult, flat_frame
from markscheme_research.training.examiner import HeldOut


class TrainingReport(TableResult):
    """Figures on questions that were not trained on. `frame` has a row per row of the tables."""


def examiner_report(held_out: HeldOut) -> TrainingReport:
    """Accuracy, F1 of the accepted, Cohen's kappa and AUROC; the shipped examiner's for comparison.

    On the shipped training data the shipped examiner has seen these answers, the new one has not.
    """
    compared = {"this one, held out": held_out.trained, "as shipped": held_out.shipped}
    records = [{"examiner": name, **asdict(found)} for name, found in compared.items()]
    table = Table(
        title=f"Agreement with {held_out.rows:,} labels, questions held out in turn",
        header=("examiner", "accuracy", "F1 (accepted)", "kappa", "AUROC"),
        rows=tuple(
            (
                one["examiner"],
                f"{100 * one['accuracy']:.1f}",
                f"{100 * one['f1']:.1f}",
                f"{one['kappa']:.3f}",
                f"{one['auroc']:.3f}",
            )
            for one in records
        ),
        numeric=frozenset({"accuracy", "F1 (accepted)", "kappa", "AUROC"}),
    )
    tables = (table, *([_by_set(held_out)] if held_out.sets else []))
    sets = [asdict(one) for one in held_out.sets]
    return training_report("examiner", records, *tables, labels=held_out.rows, sets=sets)


def _by_set(held_out: HeldOut) -> Table:
    """One row per file: the new examiner's figures, and in brackets the shipped one's."""

    def both(one: float | None, shipped: float | None, form: str) -> str:
        shown = ["n/a" if value is None else format(value, form) for value in (one, shipped)]
        return f"{shown[0]} ({shown[1]})"

    header = ("set", "answers", "questions", "accuracy", "kappa", "AUROC", "calibration error")
    return Table(
        title="By set, questions held out in turn; in brackets the shipped examiner",
        header=header,
        rows=tuple(
            (
                one.name,
                f"{one.rows:,}",
                f"{one.questions:,}",
                both(100 * one.accuracy, 100 * one.shipped_accuracy, ".1f"),
                both(one.kappa, one.shipped_kappa, ".3f"),
                both(one.auroc, one.shipped_auroc, ".3f"),
                both(one.calibration_error, one.shipped_calibration_error, ".3f"),
            )
            for one in held_out.sets
        ),
        numeric=frozenset(header[1:]),
    )


def training_report(
    trained: str, records: Sequence[Mapping[str, Any]], *tables: Table, **about: Any
) -> TrainingReport:
    data = {"command": f"train {trained}", **about, "rows": list(records)}
    return TrainingReport(frame=flat_frame(records), tables=tables, data=data)
