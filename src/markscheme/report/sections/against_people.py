"""Agreement of every judge with people."""

from __future__ import annotations

from markscheme.report.material import Material
from markscheme.report.section import Section
from markscheme.results import Table, measured, not_judged

_SHOWN = {
    "accuracy": ("agreement", 100.0, 1),
    "f1_positive": ("F1 (accepted)", 100.0, 1),
    "f1_macro": ("F1 (macro)", 100.0, 1),
    "kappa": ("kappa", 1.0, 3),
    "auroc": ("AUROC", 1.0, 3),
}


def against_people(material: Material) -> Section | None:
    """Accuracy, F1, kappa and AUROC of each judge, over all systems' answers."""
    rows: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], dict[str, str]] = {}
    for one in material.agreement:
        if one.system is None:
            cells = [measured(one.left_out[name], scale=scale, digits=digits)
                     for name, (_, scale, digits) in _SHOWN.items()]  # fmt: skip
            links[len(rows), 1] = {"judge": one.judge, "verdict": "differs"}
            rows.append((one.judge, *cells, not_judged(dict(one.not_judged))))
    if not rows:
        return None
    heads = [title for title, _, _ in _SHOWN.values()]
    joined = material.joined
    return Section(
        key="agreement",
        title="How far each judge agrees with people",
        caption=(
            "Agreement and F1 in percent, each with its 95% interval (questions resampled 1,000 "
            "times, seed 0). Answers that were not judged are left out and counted."
        ),
        table=Table(
            title="Agreement with people's labels",
            header=("judge", *heads, "not judged"),
            rows=tuple(rows),
            numeric=frozenset(heads),
            notes=() if joined is None else tuple(f"{note}." for note in joined.notes()),
        ),
        links=links,
    )
