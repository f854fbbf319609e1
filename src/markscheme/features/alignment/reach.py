"""What all references together reach in the answer, and words alike in their first letters."""

from __future__ import annotations

import numpy as np

from markscheme.features.alignment.batch import Array, Batch, Occurrences, content, spread
from markscheme.features.alignment.overlap import FeatureView, share

_STEM = 5
"""Letters that words of one family share: "nitrogen" and "nitrogenous", "China" and "Chinese" not."""


def reach_features(view: FeatureView) -> dict[str, Array]:
    """Recall by stems, weighted by rarity; the answer's new words that any reference explains."""
    batch, aligned = view.batch, view.aligned
    rows, pairs = view.rows, len(batch.reference)
    canon, start = batch.canon, batch.texts.start
    stem = _stems(batch)
    in_stems = Occurrences(batch.texts, stem[canon], len(stem))

    owner, place = spread(start, batch.reference)
    word = canon[place]
    row = batch.row[owner]
    weight = batch.idf[word] * np.where(content(batch.kind[place]), 1.0, 0.1)
    hit = aligned.in_texts.within(batch.answer[row], word)
    like = hit | in_stems.within(batch.answer[row], stem[word])
    new = content(batch.kind[place]) & ~aligned.in_texts.within(batch.question[row], word)

    def total(values: Array) -> Array:
        return np.bincount(owner, weights=values, minlength=pairs)

    stem_recall = share(total(weight * like), total(weight))
    stem_new_recall = share(total(weight * (like & new)), total(weight * new), -1.0)
    missing = _largest(owner, weight * (new & ~like), pairs)
    best = aligned.best
    found = {
        "stem_recall": stem_recall[best],
        "stem_new_recall": stem_new_recall[best],
        "rarest_new_missing": missing[best],
        "max_stem_recall": _row_max(batch, stem_recall),
        "mean_stem_recall": _row_mean(batch, stem_recall),
        "mean_key_recall": _row_mean(batch, aligned.key_recall),
        "mean_contained": _row_mean(batch, aligned.contained | aligned.packed),
    }
    return found | _explained(view, owner, word, rows)


def _explained(view: FeatureView, owner: Array, word: Array, rows: int) -> dict[str, Array]:
    """How much of what the answer adds to the question occurs in any of the references."""
    batch = view.batch
    size = np.int64(max(len(batch.lexicon.canon_words), 1))
    known = np.unique(batch.row[owner] * size + word)
    wanted = view.a_row * size + batch.canon[view.a_place]
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    covered = known[place] == wanted if len(known) else np.zeros(len(wanted), dtype=bool)
    new = view.a_content & ~view.a_known
    named = new & view.a_entity

    def first(mask: Array, *, last: bool = False) -> Array:
        """Whether the first (or last) of the masked words of each row is covered; -1: none."""
        out = np.full(rows, -1.0)
        places = np.flatnonzero(mask)
        if not last:
            places = places[::-1]
        out[view.a_row[places]] = covered[places]
        return out

    return {
        "new_covered_by_any": share(view.per_answer(new & covered), view.per_answer(new), -1.0),
        "names_covered_by_any": share(
            view.per_answer(named & covered), view.per_answer(named), -1.0
        ),
        "first_new_covered": first(new),
        "first_name_covered": first(named),
        "last_new_covered": first(new, last=True),
    }


def _stems(batch: Batch) -> Array:
    """For each canonical word, a number that words with the same first letters share."""
    numbers: dict[str, int] = {}
    return np.array(
        [
            numbers.setdefault(word[:_STEM] if word.isalpha() else word, len(numbers))
            for word in batch.lexicon.canon_words
        ],
        dtype=np.int64,
    )


def _largest(owner: Array, values: Array, count: int) -> Array:
    out = np.zeros(count)
    np.maximum.at(out, owner, values)
    return out


def _row_max(batch: Batch, values: Array) -> Array:
    return np.asarray(np.maximum.reduceat(values, batch.first[:-1]))


def _row_mean(batch: Batch, values: Array) -> Array:
    return np.add.reduceat(values.astype(float), batch.first[:-1]) / np.diff(batch.first)
