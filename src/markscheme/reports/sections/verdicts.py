"""Verdicts by judge and system: with labels TP, FP, TN, FN (EVOUNA, Figure 1)."""

from __future__ import annotations

import polars as pl

from markscheme.reports.charts import shares, with_links
from markscheme.reports.material import Material
from markscheme.reports.section import Section, pivot_section

WITH_LABELS = {
    "rightly accepted (TP)": ("blue", "tp"),
    "rightly rejected (TN)": ("light blue", "tn"),
    "wrongly accepted (FP)": ("light orange", "fp"),
    "wrongly rejected (FN)": ("dark orange", "fn"),
    "no verdict": ("grey", "none"),
}
WITHOUT = {
    "accepted": ("blue", "accepts"),
    "rejected": ("light orange", "rejects"),
    "no verdict": ("grey", "none"),
}
"""Outcome to colour and to the filter that shows those answers."""


def verdicts(material: Material) -> Section:
    """How every judge's verdicts fall, per system."""
    labelled = bool(material.labelled)
    kinds = WITH_LABELS if labelled else WITHOUT
    rows = material.long.filter(pl.col("accepted").is_not_null()) if labelled else material.long
    counted = rows.group_by(
        "judge", "system", _outcome(labelled=labelled), maintain_order=True
    ).agg(answers=pl.len())
    shown = [kind for kind in kinds if kind in counted["outcome"].to_list()]

    def link(judge: str, system: str, outcome: str) -> dict[str, str]:
        return {"system": system, "judge": judge, "verdict": kinds[outcome][1]}

    return pivot_section(
        key="verdicts",
        title="Where verdicts are right and wrong" if labelled else "What judges say",
        caption=(
            "Blue: judge and people say the same. Orange: they differ; strong, the judge rejects "
            "what people accept; faint, it accepts what they reject."
            if labelled
            else "Share of each system's answers that a judge accepts, rejects or did not judge."
        ),
        table="Verdicts by judge and system",
        names=("judge", "system"),
        rows=[(name, system) for name in material.names for system in material.systems],
        across=shown,
        cells={row[:3]: row[3] for row in counted.iter_rows()},
        missing="0",
        link=link,
        chart=lambda: shares(
            with_links(counted, link, "judge", "system", "outcome"),
            colour="outcome",
            order=shown,
            colours=[kinds[kind][0] for kind in shown],
            judges=material.names,
            systems=material.systems,
        ),
    )


def _outcome(*, labelled: bool) -> pl.Expr:
    verdict, accepted = pl.col("verdict"), pl.col("accepted")
    tp, tn, fp, fn, none = map(pl.lit, WITH_LABELS)
    yes, no, _ = map(pl.lit, WITHOUT)
    if labelled:
        yes, no = (
            pl.when(accepted).then(one).otherwise(other) for one, other in ((tp, fp), (fn, tn))
        )
    found = pl.when(verdict.is_null()).then(none).when(verdict).then(yes).otherwise(no)
    return found.alias("outcome")
