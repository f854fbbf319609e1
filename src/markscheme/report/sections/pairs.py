"""Which system is better, and whether that is luck: paired differences with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from markscheme.agreement import CompareOptions, Comparison, compare_systems
from markscheme.errors import AgreementError
from markscheme.report.material import PEOPLE, Material
from markscheme.report.section import Section
from markscheme.results import Table, p_text, percent

_MOST_SYSTEMS = 8
_RESAMPLES = 1_000
_SURE = 0.05


def pairs(material: Material) -> Section | None:
    """Every pair of systems by people's word where there are labels, else by the last judge."""
    if not 1 < len(material.systems) <= _MOST_SYSTEMS:
        return None
    voice, verdicts = PEOPLE, material.answers["accepted"]
    if not material.labelled:
        voice, verdicts = material.judges[-1].name, material.judges[-1].rows["verdict"]
    rows = material.answers.select("question", "system", verdict=verdicts)
    try:
        found = compare_systems(rows, options=CompareOptions(resamples=_RESAMPLES))
    except AgreementError:  # Systems without a question in common.
        return None
    lines: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], dict[str, str]] = {}
    for pair in found:
        state = {"voice": voice}
        links[len(lines), 3] = {**state, "right": pair.first, "wrong": pair.second}
        links[len(lines), 4] = {**state, "right": pair.second, "wrong": pair.first}
        lines.append(
            (pair.first, pair.second, pair.difference.text(scale=100, digits=1),
             f"{pair.only_first:,}", f"{pair.only_second:,}",
             p_text(pair.permutation_holm, pair.permutation.reason))
        )  # fmt: skip
    return Section(
        key="pairs",
        title="Which system is better",
        caption=_order(rows, found, voice),
        table=Table(
            title=f"Systems in pairs, by {voice}: difference in points with 95% interval",
            header=("first", "second", "first less second", "only first right",
                    "only second right", "p"),
            rows=tuple(lines),
            numeric=frozenset({"first less second", "only first right", "only second right", "p"}),
            notes=(
                "On questions that both answered. Intervals and p: exchange (a permutation test "
                "that exchanges whole questions); p corrected by Holm's method over all pairs; "
                "counts lead to the answers.",
            ),
        ),
        links=links,
    )  # fmt: skip


def _order(rows: pl.DataFrame, found: Sequence[Comparison], voice: str) -> str:
    """The systems from best to worst, and which of them the answers cannot tell apart."""
    shares = rows.group_by("system", maintain_order=True).agg(pl.col("verdict").mean())
    ranked = shares.drop_nulls().sort("verdict", descending=True, maintain_order=True)
    order = ", ".join(f"{name} {percent(share)}" for name, share in ranked.iter_rows())
    alike = [
        f"{pair.first} and {pair.second}"
        for pair in found
        if pair.permutation_holm is None or pair.permutation_holm >= _SURE
    ]
    said = f"By {voice}, from the best: {order}. "
    if not alike:
        return said + "Every one of these differences is more than luck would make."
    return said + f"Not distinguished by these answers: {'; '.join(alike)}."
