"""Agreement of every judge with people."""

from __future__ import annotations

from markscheme.agreement import AgreementOptions, lineage_lines, overview_table
from markscheme.report.material import Material
from markscheme.report.section import Section


def against_people(material: Material) -> Section | None:
    """Accuracy, F1, kappa and AUROC of each judge, over all systems' answers."""
    joined = material.joined
    notes = (
        () if joined is None else tuple(f"{one}." for one in (*joined.notes(), *_learned(material)))
    )
    table = overview_table(material.agreement, notes)
    if not table.rows:
        return None
    return Section(
        key="agreement",
        title="How far each judge agrees with people",
        caption=(
            "Agreement and F1 in percent, each with its 95% interval (questions resampled 1,000 "
            "times, seed 0). Answers that were not judged are left out and counted."
        ),
        table=table,
        links={
            (place, 1): {"judge": row[0], "verdict": "differs"}
            for place, row in enumerate(table.rows)
        },
    )


def _learned(material: Material) -> list[str]:
    """How many of the labelled questions trained a judge, with its agreement on the rest."""
    assert material.joined is not None
    options = AgreementOptions(positive_from=material.positive_from, resamples=0)
    return lineage_lines(material.joined, options)
