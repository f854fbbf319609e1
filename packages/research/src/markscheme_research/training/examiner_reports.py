"""What training found on held-out questions, as results: tables for people, frames for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from markscheme.results import Column, Form, Table, TableResult, cell, columns, flat_frame
from markscheme_research.training.examiner import HeldOut, SetAgreement


class TrainingReport(TableResult):
    """Figures on questions that were not trained on. `frame` has a row per row of the tables."""


def examiner_report(held_out: HeldOut) -> TrainingReport:
    """Accuracy, F1 of the accepted, Cohen's kappa and AUROC; the shipped examiner's for comparison.

    On the shipped training data the shipped examiner has seen these answers, the new one has not.
    """
    compared = {"this one, held out": held_out.trained, "as shipped": held_out.shipped}
    records = [{"examiner": name, **asdict(found)} for name, found in compared.items()]
    table = Table.of(
        f"Agreement with {held_out.rows:,} labels, questions held out in turn",
        (
            "examiner",
            *columns("share", "accuracy", ("F1 (accepted)", "f1")),
            *columns(3, "kappa", ("AUROC", "auroc")),
        ),
        records,
    )
    tables = (table, *([_by_set(held_out)] if held_out.sets else []))
    sets = [asdict(one) for one in held_out.sets]
    return training_report("examiner", records, *tables, labels=held_out.rows, sets=sets)


def _by_set(held_out: HeldOut) -> Table:
    """One row per file: the new examiner's figures, and in brackets the shipped one's."""

    def both(heading: str, name: str, form: Form) -> Column:
        def shown(one: SetAgreement) -> str:
            new = cell(form, getattr(one, name), "n/a")
            return f"{new} ({cell(form, getattr(one, f'shipped_{name}'), 'n/a')})"

        return Column(heading, shown, "right")

    return Table.of(
        "By set, questions held out in turn; in brackets the shipped examiner",
        (
            Column("set", "name"),
            *columns("count", ("answers", "rows"), "questions"),
            both("accuracy", "accuracy", "share"),
            both("kappa", "kappa", 3),
            both("AUROC", "auroc", 3),
            both("calibration error", "calibration_error", 3),
        ),
        held_out.sets,
    )


def training_report(
    trained: str, records: Sequence[Mapping[str, Any]], *tables: Table, **about: Any
) -> TrainingReport:
    data = {"command": f"train {trained}", **about, "rows": list(records)}
    return TrainingReport(frame=flat_frame(records), tables=tables, data=data)
