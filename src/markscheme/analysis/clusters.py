"""Where answers got worse: groups of pairs by question, way of answering, and slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from markscheme.agreement import compare_answers, holm_figures
from markscheme.analysis.wording import wording
from markscheme.features.alignment import says_nothing
from markscheme.text import asks_amount, asks_list, asks_time
from markscheme.values import split_items

LONGER = 2.0
"""An answer is longer (shorter) with so many times (one so many-th of) the words of the base's."""

_LISTED = 3
"""Items of a reference that is a list: "Austin, Texas" and "July 4, 1776" have two."""
_LEAST_WORDS = 5
"""A change of length is of at least so many words."""


def answered(answer: str | None) -> bool:
    """Whether an answer was given, and says anything."""
    return bool((answer or "").strip())


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """One group of pairs.

    Attributes:
        group: what they have in common.
        pairs: compared in it.
        worse, better: that flipped.
        change: share accepted among the new minus that among the base answers, -1 to 1.
        p: of no change, by the score test by questions that all pairs have (`compare_answers`),
            corrected by Holm's method for the number of groups; None where nothing flipped.
    """

    group: str
    pairs: int
    worse: int
    better: int
    change: float
    p: float | None


def clusters(pairs: pl.DataFrame, *, slices: Sequence[str] = ()) -> list[Cluster]:
    """The groups in which more got worse than better, those that lost most first.

    Groups overlap: an answer may be of several.

    Args:
        pairs: as `paired` gives them.
        slices: columns each of whose values is a group; a pair without one is in none.
    """
    compared = pairs.filter(pl.col("change") != "not compared")
    masks: dict[str, pl.Series] = {
        name: pl.Series([belongs(row) for row in compared.iter_rows(named=True)], dtype=pl.Boolean)
        for name, belongs in GROUPS.items()
    }
    for name in dict.fromkeys((*slices, "system")):
        values = compared[name].drop_nulls().unique(maintain_order=True)
        if name in slices or len(values) > 1:
            masks |= {f"{name}={value}": compared[name].eq_missing(value) for value in values}
    found = [_cluster(name, compared.filter(mask)) for name, mask in masks.items() if mask.any()]
    corrected = holm_figures([one.p for one in found])
    lost = [
        replace(one, p=p) for one, p in zip(found, corrected, strict=True) if one.worse > one.better
    ]
    return sorted(lost, key=lambda one: (one.better - one.worse, one.change))


def _cluster(name: str, mine: pl.DataFrame) -> Cluster:
    """A group's pairs, with its p by itself."""
    verdicts = (mine[f"{side}_verdict"] for side in ("new", "base"))
    found = compare_answers(("new", "base"), mine["question"], *verdicts)
    worse, better = found.only_second, found.only_first
    return Cluster(
        group=name,
        pairs=found.shared,
        worse=worse,
        better=better,
        change=(better - worse) / found.shared,
        p=found.p.value if worse or better else None,
    )


def _numbers(row: dict[str, Any]) -> bool:
    references = row["references"] or []
    return asks_amount(row["question"]) or any(
        said.numbers and not said.dates for said in map(wording, references)
    )


def _dates(row: dict[str, Any]) -> bool:
    return asks_time(row["question"]) or any(wording(one).dates for one in row["references"] or [])


def _lists(row: dict[str, Any]) -> bool:
    listed = (len(split_items(one)) >= _LISTED for one in row["references"] or [])
    return asks_list(row["question"]) or any(listed)


def _words(answer: str | None) -> int:
    return len((answer or "").split())


def _longer(answer: str | None, than: str | None) -> bool:
    words, others = _words(answer), _words(than)
    return words - others >= _LEAST_WORDS and words >= LONGER * others


GROUPS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "asks for a number or amount": _numbers,
    "asks for a date or time": _dates,
    "asks for a list": _lists,
    "no answer now, one before": (
        lambda row: answered(row["base_answer"]) and not answered(row["new_answer"])
    ),
    "declines now, did not before": (
        lambda row: (
            answered(row["new_answer"])
            and says_nothing(row["new_answer"])
            and not says_nothing(row["base_answer"])
        )
    ),
    "half as long as before, or less": (
        lambda row: answered(row["new_answer"]) and _longer(row["base_answer"], row["new_answer"])
    ),
    "twice as long as before, or more": (
        lambda row: _longer(row["new_answer"], row["base_answer"])
    ),
}
"""Groups that every comparison has, and which pairs belong to each."""
