"""Which system is better, and whether that is luck: paired differences, as `compare` gives them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, pairwise
from typing import Any

from markscheme.agreement import (
    ON_QUESTIONS,
    CompareResult,
    Comparison,
    PeoplesDifference,
    compare_answers,
    explained,
    pairs_population,
    unpaired_note,
)
from markscheme.reports.material import PEOPLE, Material
from markscheme.reports.section import Section
from markscheme.results import (
    Column,
    Table,
    by_judges,
    by_labels,
    columns,
    interval_note,
    methods_of,
    number,
    p_text,
)

_MOST_WITH_EVERY_PAIR = 8
"""With more systems the table has neighbours in the ranking alone; the p-values allow for all."""


def pairs(material: Material) -> Section | None:
    """Pairs of systems by people where every answer has a label, else by the leading judge.

    Where a part of the answers is labelled, what people would say is estimated from both.
    """
    every_label = material.labelled == material.answers.height
    leading, why = material.leading
    voice = PEOPLE if every_label else leading
    labels = None if every_label or not material.labelled else material.labels
    found = material.compared(voice, labels)
    if found is None:
        return None
    whole = len(found.order) <= _MOST_WITH_EVERY_PAIR
    shown = _shown(found, whole=whole)
    links: dict[tuple[int, int], dict[str, str]] = {}
    for row, (pair, _) in enumerate(shown):
        links[row, 3] = {"voice": voice, "right": pair.first, "wrong": pair.second}
        links[row, 4] = {"voice": voice, "right": pair.second, "wrong": pair.first}
    lead = ". ".join(found.lead)
    if every_label:
        lead = lead.replace("The judge alone accepts", "People accept")
        lead = lead.replace("the judge alone accepts", "people accept")
    by = PEOPLE if every_label else f"people, estimated with {voice}" if found.by_people else voice
    word = (
        by_labels(material.labelled, material.answers.height)
        if every_label or found.by_people
        else by_judges([voice])
    )
    every = [] if whole else [f"Of {len(found.pairs):,} pairs, those of neighbours in this order."]
    decisive = [people or pair for pair, people in shown]
    made = explained(methods_of(one.p for one in decisive))
    tests = f"p: {made}, corrected by Holm's method over all pairs. " if made else ""
    both = "On questions that both answered. " * any(not one.unpaired for one in decisive)
    return Section(
        key="pairs",
        title="Which system is better",
        caption=f"{lead}. The order, from the best: {', '.join(found.order)}."
        + (f" The judge is {voice} ({why})." if why and not every_label else ""),
        table=_table(
            f"Systems in pairs, by {by}: difference in points with 95% interval",
            [{**vars(pair), **_best(pair, people)} for pair, people in shown],
            pairs_population(decisive, word, systems=True),
            every,
            (
                f"{both}{tests}Counts are by {voice} and lead to the answers.",
                *unpaired_note(decisive),
            ),
            ON_QUESTIONS,
            p="p (Holm)",
            counts_by=voice if found.by_people else "",
        ),
        links=links,
    )


def runs(material: Material) -> Section | None:
    """How the verdicts of one judge differ between runs on the same answers, as `diff` gives it."""
    rows: list[dict[str, Any]] = []
    found: list[Comparison] = []
    links: dict[tuple[int, int], dict[str, str]] = {}
    for one, other in combinations(material.judges, 2):
        verdicts = material.answers.select("question").with_columns(
            first=one.rows["verdict"], second=other.rows["verdict"]
        )
        both = verdicts.drop_nulls(["first", "second"])
        if one.run == other.run or one.judge != other.judge or both.is_empty():
            continue
        pair = compare_answers((one.run, other.run), *both)
        links[len(rows), 3] = {"yes": one.name, "no": other.name}
        links[len(rows), 4] = {"yes": other.name, "no": one.name}
        rows.append({**vars(pair), "judge": one.judge})
        found.append(pair)
    if not rows:
        return None
    return Section(
        key="runs",
        title="What differs between the runs",
        caption="The same judge on the same answers in two runs. Counts lead to the answers.",
        table=_table(
            "Share accepted by one judge in two runs: difference in points with 95% interval",
            rows,
            pairs_population(found, by_judges(row["judge"] for row in rows), systems=False),
            (),
            ("On answers that both judged. p: tango (score test by question), each pair alone.",),
            "judge",
        ),
        links=links,
    )


def _table(
    title: str,
    rows: list[dict[str, Any]],
    about: str,
    before: Iterable[str],
    after: Iterable[str],
    *more: Column | str,
    p: str = "p",
    counts_by: str = "",
) -> Table:
    """Pairs with their difference, what only either has, and p; notes around the interval's."""
    by = f", by {counts_by}" if counts_by else ""
    return Table.of(
        title,
        (
            "first",
            "second",
            Column("first less second", "difference", number(1, scale=100, words=True)),
            *columns(
                "count",
                (f"only first right{by}", "only_first"),
                (f"only second right{by}", "only_second"),
            ),
            Column(p, "p", "p"),
            *more,
        ),
        rows,
        (*before, *interval_note((("", row["difference"]) for row in rows), about), *after),
    )


def _best(pair: Comparison, people: PeoplesDifference | None) -> dict[str, Any]:
    """Difference and corrected p: people's where known, else the judge's own."""
    shown = people or pair
    return {"difference": shown.difference, "p": p_text(shown.p_holm, shown.p.reason)}


def _shown(
    found: CompareResult, *, whole: bool
) -> list[tuple[Comparison, PeoplesDifference | None]]:
    """The pairs to show with people's difference: all, or those next to each other in the order."""
    people = found.people if found.by_people else [None] * len(found.pairs)
    both = list(zip(found.pairs, people, strict=True))
    if whole:
        return both
    known = {frozenset((one.first, one.second)): (one, other) for one, other in both}
    wanted = (frozenset(two) for two in pairwise(found.order))
    return [known[two] for two in wanted if two in known]
