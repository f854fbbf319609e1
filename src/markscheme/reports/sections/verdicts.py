"""Verdicts by judge and system: with labels TP, FP, TN, FN (EVOUNA, Figure 1)."""

from __future__ import annotations

import polars as pl

from markscheme.reports.charts import address, shares
from markscheme.reports.material import Material
from markscheme.reports.section import Section
from markscheme.results import Table

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
    counted = _counted(rows, labelled=labelled)
    shown = [kind for kind in kinds if kind in counted["outcome"].to_list()]
    cells = {(r["judge"], r["system"], r["outcome"]): r["answers"]
             for r in counted.iter_rows(named=True)}  # fmt: skip
    lines: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], dict[str, str]] = {}
    for one in material.judges:
        for system in material.systems:
            counts = [cells.get((one.name, system, kind), 0) for kind in shown]
            for at, kind in enumerate(shown):
                state = {"system": system, "judge": one.name, "verdict": kinds[kind][1]}
                links[len(lines), 2 + at] = state
            lines.append((one.name, system, *(f"{count:,}" for count in counts)))
    return Section(
        key="verdicts",
        title="Where verdicts are right and wrong" if labelled else "What judges say",
        caption=(
            "Blue: judge and people say the same. Orange: they differ; strong, the judge rejects "
            "what people accept; faint, it accepts what they reject."
            if labelled
            else "Share of each system's answers that a judge accepts, rejects or did not judge."
        ),
        table=Table(
            title="Verdicts by judge and system",
            header=("judge", "system", *shown),
            rows=tuple(lines),
            numeric=frozenset(shown),
        ),
        chart=lambda: shares(
            counted.with_columns(
                link=pl.struct("judge", "system", "outcome").map_elements(
                    lambda one: address({"system": one["system"], "judge": one["judge"],
                                         "verdict": kinds[one["outcome"]][1]}),
                    return_dtype=pl.String,
                )
            ), colour="outcome", order=shown, colours=[kinds[kind][0] for kind in shown],
            judges=[one.name for one in material.judges], systems=material.systems,
        ),
        links=links,
    )  # fmt: skip


def _counted(rows: pl.DataFrame, *, labelled: bool) -> pl.DataFrame:
    """`judge`, `system`, `outcome`, `answers`."""
    verdict, accepted = pl.col("verdict"), pl.col("accepted")
    if labelled:
        tp, tn, fp, fn, none = WITH_LABELS
        outcome = (
            pl.when(verdict.is_null()).then(pl.lit(none))
            .when(verdict & accepted).then(pl.lit(tp))
            .when(verdict).then(pl.lit(fp))
            .when(accepted).then(pl.lit(fn))
            .otherwise(pl.lit(tn))
        )  # fmt: skip
    else:
        yes, no, none = WITHOUT
        outcome = (
            pl.when(verdict.is_null()).then(pl.lit(none))
            .when(verdict).then(pl.lit(yes)).otherwise(pl.lit(no))
        )  # fmt: skip
    return rows.group_by("judge", "system", outcome.alias("outcome"), maintain_order=True).agg(
        answers=pl.len()
    )
