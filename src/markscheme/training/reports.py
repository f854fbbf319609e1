"""What training found on held-out questions, as results: tables for people, frames for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from markscheme.results import Table, TableResult, flat_frame
from markscheme.training.entailment import Quality
from markscheme.training.examiner import HeldOut
from markscheme.training.finetuned import HeldOutFigures
from markscheme.training.question_kind import Fitted


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
    return _report("examiner", records, *tables, labels=held_out.rows, sets=sets)


def _by_set(held_out: HeldOut) -> Table:
    """A row a file: the new examiner's figures, and in brackets the shipped one's."""

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


def entailment_report(held_out: Sequence[Quality]) -> TrainingReport:
    """Accuracy at 0.5 and AUROC for each kind and direction of pairs."""
    records = [asdict(one) for one in held_out]
    table = Table(
        title="Pairs of questions that were held out in turn",
        header=("kind, direction", "pairs", "entailed", "accuracy", "AUROC"),
        rows=tuple(
            (
                one.kind,
                f"{one.pairs:,}",
                f"{100 * one.entailed:.0f}%",
                f"{100 * one.accuracy:.1f}",
                "-" if one.auroc is None else f"{one.auroc:.3f}",
            )
            for one in held_out
        ),
        numeric=frozenset({"pairs", "entailed", "accuracy", "AUROC"}),
    )
    return _report("entailment", records, table)


def finetuned_report(figures: HeldOutFigures) -> TrainingReport:
    """Accuracy, F1 of the accepted and AUROC, with two judges that learned nothing."""
    compared = {
        "this one": figures.trained,
        "contains (a reference occurs in the answer)": figures.contains,
        "every answer accepted": figures.accept_all,
    }
    if figures.tuned is not None:
        at = f"{figures.tuned.threshold:.3f}"
        compared |= {
            "this one, each half by the other half's threshold": figures.tuned.honest,
            f"this one at {at}, chosen on these answers (flattering)": figures.tuned.flattered,
        }
    records = [{"judge": name, **asdict(found)} for name, found in compared.items()]
    table = Table(
        title=f"Agreement with {figures.rows:,} labels, {figures.questions:,} questions held out "
        f"({figures.part} part)",
        header=("judge", "accuracy", "F1 (accepted)", "AUROC"),
        rows=tuple(
            (
                one["judge"],
                f"{100 * one['accuracy']:.1f}",
                f"{100 * one['f1']:.1f}",
                f"{one['auroc']:.3f}",
            )
            for one in records
        ),
        numeric=frozenset({"accuracy", "F1 (accepted)", "AUROC"}),
    )
    about = {"part": figures.part, "labels": figures.rows, "questions": figures.questions}
    return _report("learned", records, table, **about)


def listwise_report(held_out: pl.DataFrame, *, encoded: bool) -> TrainingReport:
    """Correlations with people's grades, and calibration, for each set and number of references.

    Args:
        held_out: the figures of one mode, as `train_listwise` finds them.
        encoded: whether the mode reads embeddings.
    """
    mode = "with embeddings" if encoded else "words alone (encoder=never)"
    table = _as_table(f"held out, {mode}", held_out, "{:.3f}")
    return _report("listwise", held_out.to_dicts(), table, mode=mode)


def question_kind_report(fitted: Fitted) -> TrainingReport:
    """Share of questions classified right by source, cross-validated, and by category."""
    tables = (
        _as_table("factoid or not, cross-validated by question", fitted.sources, "{:.1%}"),
        _as_table("categories by rules, against one reader's", fitted.categories, "{:.1%}"),
    )
    records = [
        {"table": name, **row}
        for name, frame in (("sources", fitted.sources), ("categories", fitted.categories))
        for row in frame.to_dicts()
    ]
    return _report("question-kind", records, *tables)


def _as_table(title: str, frame: pl.DataFrame, number: str) -> Table:
    def cell(value: Any) -> str:
        if value is None:
            return ""
        return number.format(value) if isinstance(value, float) else str(value)

    numeric = {name for name, kind in frame.schema.items() if kind.is_numeric()}
    return Table(
        title=title,
        header=tuple(frame.columns),
        rows=tuple(tuple(map(cell, row)) for row in frame.iter_rows()),
        numeric=frozenset(numeric),
    )


def _report(
    trained: str, records: Sequence[Mapping[str, Any]], *tables: Table, **about: Any
) -> TrainingReport:
    data = {"command": f"train {trained}", **about, "rows": list(records)}
    return TrainingReport(frame=flat_frame(records), tables=tables, data=data)
