"""Agreement between people: kappas, AC1, alpha, disagreements and adjudication.

A ratings table has one column an annotator and one row an item; null is a blank (the annotator
gave no label). Every statistic says what it does with blanks:

- `missing`: a blank is no rating. Pairwise statistics use items that both rated; Fleiss' kappa,
  Gwet's AC1 and Krippendorff's alpha use every item that two or more rated, and AC1 the items that
  only one rated too, for how frequent a category is.
- `category`: leaving a cell blank is itself a rating, one more category.

Coefficients have an interval by leaving out one question at a time (`stats.coefficients`), or one
item where no questions are given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.options import Blanks
from markscheme.errors import AgreementError
from markscheme.results import (
    BY_ANNOTATORS,
    Column,
    Figure,
    Form,
    Table,
    cell,
    columns,
    flat_frame,
    interval_note,
    population,
)
from markscheme.stats import (
    Coefficient,
    Level,
    coefficient,
    cohen_kappas,
    fleiss_kappas,
    gwet_ac1s,
    krippendorff_alphas,
    pair_agreement,
    share_evidence,
)
from markscheme.tables import question_numbers, ratings_table

Array = npt.NDArray[np.float64]

ALL_SAME = "every rating is the same, so chance agreement is certain"
ONE_CATEGORY = "every rating is the same, so no second category is known"
NO_OVERLAP = "no item was rated by all of them"
NO_PAIR = "no item was rated by two annotators"
LOW_KAPPA, HIGH_AGREEMENT = 0.4, 0.9
PREVALENCE = (
    f"kappa is below {LOW_KAPPA} although people agree in {HIGH_AGREEMENT:.0%} or more: nearly all "
    "labels are of one kind, which lowers kappa but not Gwet's AC1"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Ratings:
    """A ratings table as numbers.

    Attributes:
        codes: (items, annotators) categories from 0 in their order, -1 for no rating.
        values: (categories,) of each; NaN for a blank that is a category.
        questions: (items,) a number for the question of each.
    """

    codes: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    questions: npt.NDArray[np.int64]
    confidence: float = 0.95

    @classmethod
    def of(
        cls,
        ratings: pl.DataFrame,
        blanks: Blanks,
        questions: pl.Series | None = None,
        confidence: float = 0.95,
    ) -> _Ratings:
        if ratings.width < 2:
            raise AgreementError(
                f"agreement between annotators needs two or more of them, not {ratings.width}"
            )
        cells = ratings.select(pl.all().cast(pl.Float64)).to_numpy().astype(np.float64)
        blank = np.isnan(cells)
        values, inverse = np.unique(cells[~blank], return_inverse=True)
        codes = np.full(cells.shape, -1, dtype=np.int64)
        codes[~blank] = inverse
        if blanks == "category" and blank.any():
            codes[blank] = len(values)
            values = np.append(values, np.nan)
        numbers = np.arange(len(cells))
        if questions is not None:
            numbers = question_numbers(questions.to_frame("question")).to_numpy()
        return cls(codes=codes, values=values, questions=numbers, confidence=confidence)

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """(items, categories) ratings of each item."""
        return np.asarray((self.codes[:, :, None] == np.arange(len(self.values))).sum(axis=1))

    def pair(self, first: int, second: int) -> _Ratings:
        """Two annotators' ratings of the items that both rated; the categories are those of all."""
        codes = self.codes[:, [first, second]]
        both = (codes >= 0).all(axis=1)
        return replace(self, codes=codes[both], questions=self.questions[both])

    def coefficient(self, name: str, level: Level = "nominal") -> Coefficient:
        """Cohen's (of a `pair`), Fleiss' kappa, AC1 or alpha."""
        counts = self.counts
        several = counts.sum(axis=1) > 1
        if not several.any():
            return Coefficient(reason=NO_OVERLAP if name == "cohen" else NO_PAIR)
        _, of_question = np.unique(self.questions[several], return_inverse=True)
        alike = (counts[several] > 0).sum(axis=1) == 1
        rarer = np.delete(counts, counts.sum(axis=0).argmax(), axis=1)
        return coefficient(
            self._without(name, level, self.questions),
            self._without(name, level, np.arange(len(counts))),
            int(several.sum()),
            share_evidence(np.bincount(of_question, alike), np.bincount(of_question)),
            ONE_CATEGORY if name == "ac1" else ALL_SAME,
            rarer=None if name == "ac1" else int((rarer > 1).any(axis=1).sum()),
            confidence=self.confidence,
        )

    def _without(self, name: str, level: Level, questions: npt.NDArray[np.int64]) -> Array:
        """The coefficient, then that without each question."""
        if name == "cohen":
            first, second = self.codes.T
            return cohen_kappas(first, second, len(self.values), questions)
        if name == "fleiss":
            return fleiss_kappas(self.counts, questions)
        if name == "ac1":
            return gwet_ac1s(self.counts, questions)
        return krippendorff_alphas(self.counts, questions, level, self.values)


def fleiss_kappa(ratings: pl.DataFrame, *, blanks: Blanks = "missing") -> Figure:
    """Fleiss' kappa of all items with two ratings or more, from -1 to 1, with its 95% interval.

    An item's raters may be any, and as many as it has (see `stats.fleiss_kappas`).
    Kamalloo et al. (2023, section 4.3) count blanks as a category: 0.7276 for their two
    annotators.
    """
    return _figure(_Ratings.of(ratings, blanks).coefficient("fleiss"))


def pairwise_kappas(ratings: pl.DataFrame, *, blanks: Blanks = "missing") -> pl.DataFrame:
    """Every pair of annotators, with Cohen's kappa and Gwet's AC1.

    Columns: `first`, `second`, `items`, `agree`, `accuracy`, `kappa`, `kappa_low`, `kappa_high`,
    `ac1`, `ac1_low`, `ac1_high`, `reason`, `no_interval`. `items` are those that count under the
    policy for blanks; the intervals are of 95%, by items. `kappa` is null where undefined and
    `reason` then says why; `no_interval` says why kappa has none.
    """
    return _pairs(ratings.columns, _Ratings.of(ratings, blanks))


def _pairs(names: Sequence[str], table: _Ratings, most: int | None = None) -> pl.DataFrame:
    """As `pairwise_kappas`; `most` of many pairs are those with most items in common."""
    rated = (table.codes >= 0).astype(np.int64)
    shared = rated.T @ rated
    pairs = list(combinations(range(len(names)), 2))
    if most is not None:
        pairs = sorted((pair for pair in pairs if shared[pair]), key=lambda pair: -shared[pair])
        pairs = sorted(pairs[:most])
    rows = []
    for first, second in pairs:
        both = table.pair(first, second)
        items, agree = len(both.codes), int((both.codes[:, 0] == both.codes[:, 1]).sum())
        kappa, ac1 = both.coefficient("cohen"), both.coefficient("ac1")
        lacking = kappa.reason if kappa.value is None else None
        rows.append(
            {
                "first": names[first],
                "second": names[second],
                "items": items,
                "agree": agree,
                "accuracy": agree / items if items else None,
                "kappa": _figure(kappa),
                "ac1": _figure(ac1),
                "reason": lacking,
                "no_interval": None if lacking else kappa.reason,
            }
        )
    return flat_frame(rows)


def disagreements(ratings: pl.DataFrame, *, blanks: Blanks = "missing") -> pl.Series:
    """Boolean Series: on this item not all ratings are equal.

    With `missing` blanks are passed over; with `category` a blank against a label is a
    disagreement (that rule gives the 202 of Kamalloo et al. 2023, section 4.3).
    """
    counts = _Ratings.of(ratings, blanks).counts
    return pl.Series("disagreement", (counts > 0).sum(axis=1) > 1)


def annotators_of(
    labels: pl.DataFrame, blanks: Blanks, people: Sequence[str] = (), *, confidence: float = 0.95
) -> dict[str, Any]:
    """Every statistic between annotators, or between the `people` named.

    Raises:
        AgreementError: the labels do not say who gave which, or have no such annotator.
    """
    labels = once_an_item(labels)
    ratings = ratings_of(labels)
    unknown = [name for name in people if name not in ratings.columns]
    if unknown:
        raise AgreementError(
            f"no annotator {', '.join(map(repr, unknown))}; there are {', '.join(ratings.columns)}"
        )
    return annotator_agreement(
        ratings.select(people or ratings.columns),
        blanks=blanks,
        questions=labels["question"] if "question" in labels.columns else None,
        confidence=confidence,
    )


def once_an_item(labels: pl.DataFrame) -> pl.DataFrame:
    """Labels of what several systems gave alike, one row of each; also of several exports."""
    if "item" not in labels.columns:
        return labels
    same = [name for name in ("item", "question", "answer") if name in labels.columns]
    return labels.unique(same, keep="first", maintain_order=True)


def annotator_agreement(
    ratings: pl.DataFrame,
    *,
    blanks: Blanks = "missing",
    most_pairs: int | None = None,
    questions: pl.Series | None = None,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Every statistic between annotators.

    What nobody rated is no item, as in a table with one row a rating.

    Args:
        ratings: one column an annotator, null where blank.
        blanks: what a blank is.
        most_pairs: how many pairs of annotators, those with most items in common; None for all.
        questions: of each item, null where it is of none; None where each has its own.
        confidence: of the intervals.

    Raises:
        AgreementError: fewer than two annotators.
    """
    rated = ~ratings.select(pl.all_horizontal(pl.all().is_null())).to_series()
    ratings = ratings.filter(rated)
    questions = None if questions is None else questions.filter(rated)
    table = _Ratings.of(ratings, blanks, questions, confidence)
    unfilled = _Ratings.of(ratings, "missing", questions, confidence)
    pairs = _pairs(ratings.columns, table, most_pairs)
    overall = {
        "fleiss_kappa": table.coefficient("fleiss"),
        "gwet_ac1": table.coefficient("ac1"),
        "krippendorff_alpha": table.coefficient("alpha"),
        "krippendorff_alpha_ordinal": unfilled.coefficient("alpha", "ordinal"),
    }
    given = unfilled.counts
    unsettled = (given == given.max(axis=1, keepdims=True, initial=0)).sum(axis=1) > 1
    agreement, kappa = pair_agreement(table.counts), overall["fleiss_kappa"].value
    shares = [(agreement, kappa), *((each["accuracy"], each["kappa"]) for each in pairs.to_dicts())]
    low = any(
        None not in both and both[0] >= HIGH_AGREEMENT and both[1] < LOW_KAPPA for both in shares
    )
    return {
        "items": ratings.height,
        "questions": None if questions is None else len(np.unique(table.questions)),
        "blanks": blanks,
        "blank_cells": {name: ratings[name].null_count() for name in ratings.columns},
        "confidence": confidence,
        "pairs": pairs,
        "pair_agreement": agreement,
        **{name: _figure(found) for name, found in overall.items()},
        "no_interval": {
            name: found.reason
            for name, found in overall.items()
            if None not in (found.value, found.reason)
        },
        "prevalence": PREVALENCE if low else None,
        "disagreements": int(disagreements(ratings, blanks=blanks).sum()),
        "without_majority": int(unsettled.sum()),
    }


def _figure(found: Coefficient) -> Figure:
    if found.value is None:
        return Figure(reason=found.reason)
    if found.low is None:
        return Figure(value=found.value)
    return Figure(value=found.value, low=found.low, high=found.high, method="fisher-z")


def rating_counts(ratings: pl.DataFrame) -> npt.NDArray[np.int64]:
    """(items, categories) how often each label was given; blanks are none."""
    return _Ratings.of(ratings, "missing").counts


def ratings_of(labels: pl.DataFrame) -> pl.DataFrame:
    """One column per annotator, by name where names are known.

    Raises:
        AgreementError: the labels do not say who gave which.
    """
    if "annotator_labels" not in labels.columns:
        raise AgreementError(
            "the labels do not say who gave which: a column 'annotator_labels' with lists, or "
            "columns annotator1, annotator2, ... are needed"
        )
    names = labels["annotators"] if "annotators" in labels.columns else None
    return ratings_table(labels["annotator_labels"], names)


def _of_pair(name: str) -> Callable[[Mapping[str, Any]], Figure]:
    """Reads `kappa` or `ac1` of a row of `pairwise_kappas`."""

    def read(pair: Mapping[str, Any]) -> Figure:
        value, low, high = (pair[name + end] for end in ("", "_low", "_high"))
        reason = pair["reason"] if value is None else None
        return _figure(Coefficient(value=value, low=low, high=high, reason=reason))

    return read


def annotator_tables(people: Mapping[str, Any]) -> list[Table]:
    """Pairs of annotators, if there are any, and what holds for all of them."""
    blank = ", ".join(f"{n} {name}" for name, n in people["blank_cells"].items() if n)
    policy = f"blank cells: {blank or 'none'}; a blank is {_MEANING[people['blanks']]}"
    lacking = [
        f"{_OF_ALL[name][0]} has no interval: {reason}"
        for name, reason in people["no_interval"].items()
    ]
    figures = [("", people[name]) for name, (_, form) in _OF_ALL.items() if form == 4]
    pair_figures = [
        ("", _of_pair(name)(pair))
        for pair in people["pairs"].rows(named=True)
        for name in ("kappa", "ac1")
    ]
    prevalence = [people["prevalence"]] if people["prevalence"] else []
    about = population(BY_ANNOTATORS, questions=people["questions"], answers=people["items"])
    tables = [
        Table.of(
            "Annotators, two by two",
            (
                *columns("text", ("annotator", "first"), ("annotator", "second")),
                *columns("count", "items", "agree"),
                Column("per cent", "accuracy", "share"),
                Column("Cohen's kappa", _of_pair("kappa"), 3),
                Column("Gwet's AC1", _of_pair("ac1"), 3),
            ),
            people["pairs"],
            interval_note(pair_figures, about, people["confidence"]),
        ),
        Table.of(
            "All annotators",
            ("what", Column("value", format="right")),
            [(heading, cell(form, people[name])) for name, (heading, form) in _OF_ALL.items()],
            (policy, *interval_note(figures, about, people["confidence"]), *lacking, *prevalence),
        ),
    ]
    return tables if people["pairs"].height else tables[1:]


_OF_ALL: dict[str, tuple[str, Form]] = {
    "items": ("items", "count"),
    "disagreements": ("items on which not all agree", "count"),
    "without_majority": ("items without a majority", "count"),
    "pair_agreement": ("pairs of ratings that agree, per cent", "share"),
    "fleiss_kappa": ("Fleiss' kappa", 4),
    "gwet_ac1": ("Gwet's AC1", 4),
    "krippendorff_alpha": ("Krippendorff's alpha, nominal", 4),
    "krippendorff_alpha_ordinal": ("Krippendorff's alpha, ordinal, blanks missing", 4),
}
"""What holds for all annotators: its heading, and how it is written."""


_MEANING = {"missing": "no rating (--blanks missing)", "category": "a category of its own"}
