"""Where answers got worse: groups of pairs by question, way of answering, and slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.agreement import holm_figures
from markscheme.analysis.wording import wording
from markscheme.features.alignment import says_nothing
from markscheme.text import asks_amount, asks_list, asks_time

LONGER = 2.0
"""An answer is longer (shorter) with so many times (one so many-th of) the words of the base's."""

_LEAST_WORDS = 5
"""A change of length is of at least so many words."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """One group of pairs.

    Attributes:
        group: what they have in common.
        pairs: compared in it.
        worse, better: that flipped.
        change: share accepted among the new minus that among the base answers, -1 to 1.
        p: McNemar's exact p of worse and better being equally likely, corrected by Holm's method
            for the number of groups; None where nothing flipped.
        method: of p: `mcnemar`.
    """

    group: str
    pairs: int
    worse: int
    better: int
    change: float
    p: float | None
    method: str = "mcnemar"


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
    found = [_counts(name, compared.filter(mask)) for name, mask in masks.items() if mask.any()]
    corrected = holm_figures([one["p"] for one in found])
    lost = [
        Cluster(**{**one, "p": p})
        for one, p in zip(found, corrected, strict=True)
        if one["worse"] > one["better"]
    ]
    return sorted(lost, key=lambda one: (one.better - one.worse, one.change))


def _counts(name: str, mine: pl.DataFrame) -> dict[str, Any]:
    from scipy.stats import binomtest

    worse = int((mine["change"] == "worse").sum())
    better = int((mine["change"] == "better").sum())
    return {
        "group": name,
        "pairs": mine.height,
        "worse": worse,
        "better": better,
        "change": (better - worse) / mine.height,
        "p": float(binomtest(worse, worse + better).pvalue) if worse + better else None,
    }


def _numbers(row: dict[str, Any]) -> bool:
    references = row["references"] or []
    return asks_amount(row["question"]) or any(
        said.numbers and not said.dates for said in map(wording, references)
    )


def _dates(row: dict[str, Any]) -> bool:
    return asks_time(row["question"]) or any(wording(one).dates for one in row["references"] or [])


def _lists(row: dict[str, Any]) -> bool:
    items = max((one.count(",") + one.count(" and ") for one in row["references"] or []), default=0)
    return asks_list(row["question"]) or items > 1


def _answers(answer: str | None) -> bool:
    return bool((answer or "").strip())


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
        lambda row: _answers(row["base_answer"]) and not _answers(row["new_answer"])
    ),
    "declines now, did not before": (
        lambda row: (
            _answers(row["new_answer"])
            and says_nothing(row["new_answer"])
            and not says_nothing(row["base_answer"])
        )
    ),
    "half as long as before, or less": (
        lambda row: _answers(row["new_answer"]) and _longer(row["base_answer"], row["new_answer"])
    ),
    "twice as long as before, or more": (
        lambda row: _longer(row["new_answer"], row["base_answer"])
    ),
}
"""Groups that every comparison has, and which pairs belong to each."""
