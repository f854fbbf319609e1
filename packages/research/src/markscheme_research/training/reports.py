"""What training found on held-out questions, as results, for the judges of the research package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from markscheme.results import Table
from markscheme_research.training import TrainingReport, training_report
from markscheme_research.training.entailment import Quality
from markscheme_research.training.finetuned import HeldOutFigures
from markscheme_research.training.question_kind import Fitted


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
    return training_report("entailment", records, table)


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
    return training_report("learned", records, table, **about)


def listwise_report(held_out: pl.DataFrame, *, encoded: bool) -> TrainingReport:
    """Correlations with people's grades, and calibration, for each set and number of references.

    Args:
        held_out: the figures of one mode, as `train_listwise` finds them.
        encoded: whether the mode reads embeddings.
    """
    mode = "with embeddings" if encoded else "words alone (encoder=never)"
    table = _as_table(f"held out, {mode}", held_out, "{:.3f}")
    return training_report("listwise", held_out.to_dicts(), table, mode=mode)


def question_kind_report(fitted: Fitted) -> TrainingReport:
    """Share of questions classified right by source, cross-validated."""
    title = "factoid or not, cross-validated by question"
    table = _as_table(title, fitted.sources, "{:.1%}")
    return training_report("question-kind", fitted.sources.to_dicts(), table)


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
