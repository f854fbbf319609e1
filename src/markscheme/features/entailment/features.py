"""Features of whether one answer to a question entails another, looked at from both sides.

Does a premise (question and answer A) entail a hypothesis (question and answer B)? The examiner's
alignment and its typed values are computed twice, once with the hypothesis in the reference's place
(what of it does the premise say?) and once with the premise there (what does the hypothesis say
beyond it?), and both sides' surplus is weighed: content words, names and numbers that neither the
question nor the other side has. "The answer entails the reference" follows Yao & Barbosa 2024,
section 3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.features.alignment import (
    FEATURES,
    Array,
    Batch,
    FeatureView,
    Occurrences,
    Rarity,
    alignment,
    entity_like,
    share,
)
from markscheme.features.entailment.containment import place_within, within
from markscheme.features.values import VALUES, compare_rows, value_features
from markscheme.text import HEDGE, NUMBER, stem
from markscheme.values import pairs_for_each

Matrix = npt.NDArray[np.float32]

BACK = "back_"
"""Begins the names of features that have the premise in the reference's place."""

SURPLUS: dict[str, str] = {
    "adds_words": "telling words that one side adds to the question and the other side",
    "adds_weight": "their rarity, added up",
    "adds_rarest": "rarity of the rarest of them",
    "adds_names": "names among them",
    "adds_numbers": "numbers among them",
    "adds_share": "their share of the side's content words",
}
"""Of the premise; with `BACK` before them, of the hypothesis."""

WITHIN: dict[str, str] = {
    "range_within": "the premise's number or year lies within a range that the hypothesis gives",
    "season_within": "the premise's month lies within the season that the hypothesis gives",
    "place_within": "a place that the premise names lies within one that the hypothesis names",
}
"""1 it does, -1 it does not, 0 there is none; with `BACK` before them, the other way round."""

NAMES: tuple[str, ...] = tuple(
    side + name for side in ("", BACK) for name in (*FEATURES, *VALUES, *SURPLUS, *WITHIN)
)
"""Every column of `entailment_features`, in order."""

_FILLER = frozenset(
    stem(word)
    for word in """
        think believe guess know sure certain certainly answer question say said tell told call
        named name known recall remember memory correct right exact exactly course honestly
        actually simply really normally usually generally probably perhaps possibly apparently
        likely afraid sorry look check expert ask mean word thing one fact case time well good
        great best assume suppose imagine reckon understand understanding knowledge mistaken
        confident wikipedia source according widely commonly often considered refer referred also
        indeed definitely surely clearly specifically namely far read heard serves verify confirm
    """.split()
)
"""Words that frame an answer and say nothing about the world."""


def entailment_features(
    questions: Sequence[str],
    premises: Sequence[str],
    hypotheses: Sequence[str],
    rarity: Rarity,
    most: Sequence[int] | None = None,
) -> Matrix:
    """One row for each pair, shape (pairs, len(NAMES)), columns in the order of `NAMES`.

    A pair and its mirror image share their work: tested both ways they cost two alignments, not
    four. `most` is how many pairs of typed values are compared of each; by default, as many as of
    a row that has no other.
    """
    places: dict[tuple[str, str, str, int], int] = {}
    forward, back = np.empty(len(questions), np.int64), np.empty(len(questions), np.int64)
    if most is None:
        most = [pairs_for_each(1)] * len(questions)
    for row, (question, premise, hypothesis, pairs) in enumerate(
        zip(questions, premises, hypotheses, most, strict=True)
    ):
        forward[row] = places.setdefault((question, premise, hypothesis, pairs), len(places))
        back[row] = places.setdefault((question, hypothesis, premise, pairs), len(places))
    questions = [question for question, *_ in places]
    first, second = [one for _, one, _, _ in places], [other for _, _, other, _ in places]
    most = [pairs for *_, pairs in places]
    aligned, view = alignment(
        pl.Series("question", questions, dtype=pl.String),
        pl.Series("references", [[text] for text in second], dtype=pl.List(pl.String)),
        pl.Series("answer", first, dtype=pl.String),
        rarity,
    )
    inside = [within(first, second, most), place_within(questions, first, second)[:, None]]
    references = [(text,) for text in second]
    values = value_features(compare_rows(questions, references, first, most), references, first)
    both = np.hstack([aligned, values, _surplus(view), *inside])
    return np.hstack([both[forward], both[back]])


def settled(matrix: Matrix) -> npt.NDArray[np.int8]:
    """Rows where a range, season, place or date decides: 1 entailed, -1 not, 0 it does not decide.

    A premise within the hypothesis's range or place entails it, and not the other way round, unless
    the hypothesis says more than that.
    """
    inside, outside = ((matrix[:, columns] == 1).any(axis=1) for columns in (_INSIDE, _OUTSIDE))
    short, premise_short = (
        matrix[:, words] - matrix[:, numbers] <= _NO_MORE for words, numbers in _ADDS
    )
    # A date without its day or month does not entail the date with it.
    vaguer = (matrix[:, _COARSER] > 0) & (matrix[:, _IS_TIME] > 0)
    denied = (outside & ~inside & premise_short) | vaguer
    return np.where(denied, -1, np.where(inside & short, 1, 0)).astype(np.int8)


_INSIDE, _OUTSIDE = ([NAMES.index(side + name) for name in WITHIN] for side in ("", BACK))
_COARSER, _IS_TIME = NAMES.index("value_coarser"), NAMES.index("value_is_time")
_ADDS = [
    (NAMES.index(side + "adds_words"), NAMES.index(side + "adds_numbers")) for side in (BACK, "")
]
_LETTERS = 5
"""That words of one family share: "nitrogen" and "nitrogenous", "China" and "Chinese" not."""
_NO_MORE = 3
"""Telling words, numbers apart, that a text may add and say no more than the range or place."""


def _surplus(view: FeatureView) -> Matrix:
    """What each answer of a view tells beyond its question and its reference."""
    batch = view.batch
    family = _families(batch)
    occurs = Occurrences(batch.texts, family[batch.canon], len(family)).within
    start = family[batch.canon[view.a_place]]
    given = occurs(batch.question[view.a_row], start) | occurs(view.reference[view.a_row], start)
    telling = _telling(batch)[batch.canon[view.a_place]]
    kind = batch.kind[view.a_place]
    content = view.a_content & telling & ((kind & HEDGE) == 0)
    new = content & ~view.a_known & ~view.a_ref & ~given
    weight = np.where(new, batch.idf[batch.canon[view.a_place]], 0.0)
    rarest = np.zeros(view.rows)
    np.maximum.at(rarest, view.a_row, weight)
    words = view.per_answer(new)
    every = view.per_answer(content)
    found: dict[str, Array] = {
        "adds_words": words,
        "adds_weight": view.per_answer(weight),
        "adds_rarest": rarest,
        "adds_names": view.per_answer(new & entity_like(kind) & ((kind & NUMBER) == 0)),
        "adds_numbers": view.per_answer(new & ((kind & NUMBER) > 0)),
        "adds_share": share(words, every),
    }
    return np.stack([found[name] for name in SURPLUS], axis=1).astype(np.float32)


def _families(batch: Batch) -> Array:
    """For each canonical word, a number that words with the same first letters share."""
    numbers: dict[str, int] = {}
    return np.array(
        [
            numbers.setdefault(word[:_LETTERS] if word.isalpha() else word, len(numbers))
            for word in batch.lexicon.canon_words
        ],
        dtype=np.int64,
    )


def _telling(batch: Batch) -> Array:
    """For each canonical word whether it can tell something about the world."""
    return np.array([word not in _FILLER for word in batch.lexicon.canon_words], dtype=bool)
