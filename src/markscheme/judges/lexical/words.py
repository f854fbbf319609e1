"""Judges that compare normalised words: exact match, containment, token F1."""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass

import polars as pl

from markscheme.contract import ModelSource, register
from markscheme.judges.outcomes import LEXICAL, Thresholded, by_threshold
from markscheme.metrics import Empty, Pairs, contains_of, exact_match_of, token_f1_of
from markscheme.text import normalise_series

_FOUND_EVERYWHERE = (
    "a reference normalises to nothing, which every answer contains; "
    "contains(empty_reference=verbatim) looks for it as written"
)
_MANY = 256
"""References among which texts are looked for that are there several times."""


class _Latest(threading.local):
    """The pairs of the table seen last: judges that run one after the other on it share them."""

    table: weakref.ref[pl.DataFrame] | None = None
    pairs: tuple[Pairs, Pairs] | None = None

    def of(self, answers: pl.DataFrame) -> tuple[Pairs, Pairs]:
        """The pairs normalised, and as they were written."""
        if self.pairs is None or self.table is None or self.table() is not answers:
            references = answers["references"]
            if (references.list.len() > _MANY).any():
                references = references.list.unique(maintain_order=True)
            raw = Pairs.of(answers["answer"], references)
            self.pairs = raw.map(normalise_series), raw
            self.table = weakref.ref(answers, self._forget)
        return self.pairs

    def _forget(self, gone: weakref.ref[pl.DataFrame]) -> None:
        if self.table is gone:
            self.pairs = None


_latest = _Latest()


@register(
    "exact_match",
    paper="Rajpurkar et al. 2016",
    needs=LEXICAL,
    example="exact_match(empty_reference=everywhere)",
)
@dataclass(frozen=True, kw_only=True)
class ExactMatch:
    """Equal to a reference after SQuAD normalisation.

    Score 1 or 0. Lower case, punctuation, articles and white space do not count. A reference that
    normalises to nothing ("A", "*") must be the answer as written, but for lower case; with
    `empty_reference=everywhere` it equals every answer that normalises to nothing, as in SQuAD.
    """

    empty_reference: Empty = "verbatim"

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        scores = exact_match_of(*_latest.of(answers), empty_reference=self.empty_reference)
        return by_threshold(answers, scores, 1.0)


@register(
    "contains",
    paper="Wang et al. 2023 (EVOUNA), lexical matching",
    needs=LEXICAL,
    example="contains(empty_reference=everywhere)",
)
@dataclass(frozen=True, kw_only=True)
class Contains:
    """A reference occurs in the answer, both SQuAD-normalised.

    Score 1 or 0. Containment is of characters, as in EVOUNA: "art" is found in "started".
    References that normalise to nothing ("A", "*") must occur in the answer as written, not within
    a word, in lower or upper case; with `empty_reference=everywhere` they are found everywhere, as
    in EVOUNA, and the explanation says so.
    """

    empty_reference: Empty = "verbatim"

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        pairs, raw = _latest.of(answers)
        scores = contains_of(pairs, raw, empty_reference=self.empty_reference)
        outcomes = by_threshold(answers, scores, 1.0)
        empty = pairs.references == ""
        if self.empty_reference == "everywhere" and empty.any():
            trivial = pl.Series("trivial", pairs.best(empty) == 1)
            outcomes = outcomes.with_columns(
                explanation=pl.when(trivial & pl.col("verdict"))
                .then(pl.lit(_FOUND_EVERYWHERE))
                .otherwise("explanation")
            )
        return outcomes


@register(
    "token_f1", paper="Rajpurkar et al. 2016", needs=LEXICAL, example="token_f1(threshold=0.6)"
)
@dataclass(frozen=True, kw_only=True)
class TokenF1(Thresholded):
    """Highest F1 of normalised tokens over the references, accepted at or above a threshold.

    An answer that is a reference which normalises to nothing ("A", "*"), as written but for lower
    case, scores 1; with `empty_reference=everywhere` 0, as in SQuAD.
    """

    empty_reference: Empty = "verbatim"

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        scores = token_f1_of(*_latest.of(answers), empty_reference=self.empty_reference)
        return by_threshold(answers, scores, self.threshold)
