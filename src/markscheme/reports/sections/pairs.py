"""Which system is better, and whether that is luck: paired differences with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import polars as pl

from markscheme.agreement import CompareOptions, Comparison, compare_systems
from markscheme.errors import AgreementError
from markscheme.reports.material import PEOPLE, Material
from markscheme.reports.section import Section
from markscheme.results import Figure, Table, interval, p_text, percent

_MOST_SYSTEMS = 30
_MOST_WITH_EVERY_PAIR = 8
"""With more systems the table has neighbours in the ranking alone; the p-values allow for all."""
_RESAMPLES_A_PAIR = 40
"""So that the least p-value, one in all resamples, is below 0.05 after Holm's correction."""
_SURE = 0.05


def pairs(material: Material) -> Section | None:
    """Pairs of systems by people's word where every answer has a label, else by the last judge."""
    if not 1 < len(material.systems) <= _MOST_SYSTEMS:
        return None
    voice, verdicts = PEOPLE, material.answers["accepted"]
    if material.labelled < material.answers.height:
        voice, verdicts = material.judges[-1].name, material.judges[-1].rows["verdict"]
    rows = material.answers.select("question", "system", verdict=verdicts)
    count = len(material.systems) * (len(material.systems) - 1) // 2
    plain = CompareOptions()  # as `compare` has it, so that both say the same
    wanted = replace(plain, resamples=max(plain.resamples, _RESAMPLES_A_PAIR * count))
    try:
        found = compare_systems(rows, options=wanted)
    except AgreementError:  # Systems without a question in common.
        return None
    ranked = _ranked(rows)
    lines: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], dict[str, str]] = {}
    every = len(ranked) <= _MOST_WITH_EVERY_PAIR
    for pair in found if every else _neighbours(found, list(ranked)):
        state = {"voice": voice}
        links[len(lines), 3] = {**state, "right": pair.first, "wrong": pair.second}
        links[len(lines), 4] = {**state, "right": pair.second, "wrong": pair.first}
        lines.append(
            (pair.first, pair.second, _points(pair.difference),
             f"{pair.only_first:,}", f"{pair.only_second:,}",
             p_text(pair.permutation_holm, pair.permutation.reason))
        )  # fmt: skip
    return Section(
        key="pairs",
        title="Which system is better",
        caption=_order(ranked, found, voice, every=every),
        table=Table(
            title=f"Systems in pairs, by {voice}: difference in points with 95% interval",
            header=("first", "second", "first less second", "only first right",
                    "only second right", "p"),
            rows=tuple(lines),
            numeric=frozenset({"first less second", "only first right", "only second right", "p"}),
            notes=(
                *(() if every else (
                    f"Of {len(found):,} pairs, those that follow each other in the ranking.",
                )),
                *((
                    f"People labelled {material.labelled:,} of {material.answers.height:,} "
                    "answers: 'markscheme compare RUN --systems' (with --labels FILE, if they are "
                    "in a file) estimates what they would say of "
                    "these pairs.",
                ) if 0 < material.labelled < material.answers.height else ()),
                "On questions that both answered. Intervals and p: exchange (a permutation test "
                "that exchanges whole questions); p corrected by Holm's method over all pairs; "
                "counts lead to the answers.",
            ),
        ),
        links=links,
    )  # fmt: skip


def _ranked(rows: pl.DataFrame) -> dict[str, float]:
    """The share of each system, from best to worst."""
    shares = rows.group_by("system", maintain_order=True).agg(pl.col("verdict").mean())
    ranked = shares.drop_nulls().sort("verdict", descending=True, maintain_order=True)
    return dict(ranked.iter_rows())


def _neighbours(found: Sequence[Comparison], ranked: Sequence[str]) -> list[Comparison]:
    """The pairs of systems that follow each other in the ranking, from the top."""
    pairs = {frozenset((pair.first, pair.second)): pair for pair in found}
    wanted = (frozenset(two) for two in pairwise(ranked))
    return [pairs[two] for two in wanted if two in pairs]


def _points(difference: Figure) -> str:
    """A difference in points with its interval, as the page's other figures have it."""
    if difference.value is None or difference.low is None or difference.high is None:
        return difference.text(scale=100, digits=1)
    return f"{percent(difference.value)} ({interval(difference.low, difference.high)})"


def _order(
    ranked: Mapping[str, float], found: Sequence[Comparison], voice: str, *, every: bool
) -> str:
    """The systems from best to worst, and which of them the answers cannot tell apart."""
    order = ", ".join(f"{name} {percent(share)}" for name, share in ranked.items())
    said = f"By {voice}, from the best: {order}. "
    alike = [
        (pair.first, pair.second)
        for pair in found
        if pair.permutation_holm is None or pair.permutation_holm >= _SURE
    ]
    if every:
        if not alike:
            return said + "Every one of these differences is more than luck would make."
        return said + f"Not distinguished by these answers: {'; '.join(map(' and '.join, alike))}."
    best = next(iter(ranked))
    others = {name for two in alike if best in two for name in two} - {best}
    if not others:
        return said + f"{best} is better than every other by more than luck would make."
    if len(others) == len(ranked) - 1:
        return said + f"These answers distinguish {best} from none of the others."
    names = ", ".join(name for name in ranked if name in others)
    return said + f"Not distinguished from {best} by these answers: {names}."
