"""Where in the answer the reference occurs, and what surrounds it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from markscheme.features.alignment.batch import Array
from markscheme.features.alignment.overlap import FeatureView, share
from markscheme.text import ALL_CAPS, CONTRAST, FORMERLY, HEDGE, NEGATION, OR

_NEAR = 6
"""Words before a match in which a cue is taken to bear on it."""


def place_features(view: FeatureView) -> dict[str, Array]:
    """Position of the match, its sentence, and cues, rivals and lists around it."""
    batch, rows = view.batch, view.rows
    texts, kind = batch.texts, batch.kind
    wanted = _wanted(view)
    word, inside = view.aligned.in_texts.hits(batch.answer[wanted.row], wanted.canon)
    row = wanted.row[word]
    start = texts.start[batch.answer[row]]
    flat = start + inside
    sentence = texts.sentence[flat]

    best = _best_sentence(rows, row, sentence, word, wanted.weight)
    in_best = sentence == best[row]
    first = np.full(rows, -1, dtype=np.int64)
    last = np.full(rows, -1, dtype=np.int64)
    order = np.argsort(-flat[in_best], kind="stable")
    first[row[in_best][order]] = inside[in_best][order]
    last[row[in_best][order[::-1]]] = inside[in_best][order[::-1]]
    found = first >= 0

    answer_start = texts.start[batch.answer]
    begin, end = _sentence_bounds(view, best, found)
    at = answer_start + np.maximum(first, 0)
    to = answer_start + np.maximum(last, 0) + 1
    near = np.maximum(at - _NEAR, begin)

    def between(bits: int, low: Array, high: Array) -> Array:
        total = np.concatenate([[0], np.cumsum((kind & bits) > 0)])
        low, high = np.where(found, low, 0), np.where(found, high, 0)
        return np.where(found, total[np.maximum(high, low)] - total[low], 0)

    new = view.a_content & ~view.a_known & ~view.a_ref
    rivals = _totals(new & view.a_entity)
    extra = _totals(new)
    base = np.concatenate([[0], np.cumsum(view.a_length)])[:-1]
    low, high = base + (begin - answer_start), base + (end - answer_start)
    spot = base + np.where(found, at - answer_start, 0)
    behind = base + np.where(found, to - answer_start, 0)
    listed = np.concatenate([[0], np.cumsum(texts.after_list)])
    span = np.where(found, last - first + 1, 0)
    in_sentence = wanted.counted(rows, word[in_best])
    sentences = np.zeros(rows)
    np.maximum.at(sentences, view.a_row, texts.sentence[view.a_place] + 1)
    whole_low, whole_high = answer_start, answer_start + view.a_length

    def whole(bits: int) -> Array:
        total = np.concatenate([[0], np.cumsum((kind & bits) > 0)])
        return np.asarray(total[whole_high] - total[whole_low])

    return {
        "match_position": np.where(found, first, -1),
        "match_share_before": np.where(found, share(first.astype(float), view.a_length), -1),
        "match_sentence": np.where(found, best, -1),
        "match_span": span,
        "match_density": share(in_sentence, span),
        "match_count": np.bincount(row, weights=wanted.times[word], minlength=rows),
        "sentences": sentences,
        "sentence_words": np.where(found, end - begin, 0),
        "sentence_key_recall": share(in_sentence, view.per_reference(view.r_key)),
        "sentence_question_recall": _sentence_question(view, best, found),
        "negation_before": between(NEGATION, near, at),
        "negation_in_sentence": between(NEGATION, begin, end),
        "negation_in_answer": whole(NEGATION),
        "hedge_before": between(HEDGE, begin, at),
        "hedge_in_answer": whole(HEDGE),
        "contrast_before": between(CONTRAST, near, at),
        "contrast_after": between(CONTRAST, to, end),
        "contrast_in_answer": whole(CONTRAST),
        "former_before": between(FORMERLY, begin, at),
        "former_in_answer": whole(FORMERLY),
        "or_near": between(OR, near, np.minimum(to + 3, end)),
        "or_in_answer": whole(OR),
        "all_caps_in_answer": whole(ALL_CAPS),
        "rivals_before": np.where(found, rivals[spot] - rivals[base], 0),
        "rivals_in_sentence": np.where(found, rivals[high] - rivals[low], 0),
        "rivals_after": np.where(found, rivals[base + view.a_length] - rivals[behind], 0),
        "new_before": np.where(found, extra[spot] - extra[base], 0),
        "new_in_sentence": np.where(found, extra[high] - extra[low], 0),
        "rivals_first_sentence": _first_sentence(view, new & view.a_entity),
        "new_first_sentence": _first_sentence(view, new),
        "key_first_sentence": share(
            wanted.counted(rows, word[sentence == 0]), view.per_reference(view.r_key), 0.0
        ),
        "list_in_sentence": np.where(found, listed[end] - listed[begin], 0),
        "list_in_answer": listed[whole_high] - listed[whole_low],
    }


def _totals(flags: Array) -> Array:
    return np.concatenate([[0], np.cumsum(flags)])


@dataclass(frozen=True)
class _Wanted:
    """The references' key words that the answer has: each once per row, however often it occurs.

    Otherwise a word that occurs a thousand times on both sides would be a million places.
    """

    row: Array
    canon: Array
    times: Array
    weight: Array

    def counted(self, rows: int, word: Array) -> Array:
        """How many words of the references these are, by row."""
        hit = np.zeros(len(self.row), dtype=bool)
        hit[word] = True
        return np.bincount(self.row[hit], weights=self.times[hit], minlength=rows)


def _wanted(view: FeatureView) -> _Wanted:
    key = np.flatnonzero(view.r_key & view.r_hit)
    row, canon = view.r_row[key], view.batch.canon[view.r_place[key]]
    size = int(canon.max(initial=0)) + 1
    _, first, inverse = np.unique(row * size + canon, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    group = place[inverse]
    return _Wanted(
        row=row[first[order]],
        canon=canon[first[order]],
        times=np.bincount(group, minlength=len(order)).astype(float),
        weight=np.bincount(group, weights=view.r_weight[key], minlength=len(order)),
    )


def _best_sentence(rows: int, row: Array, sentence: Array, word: Array, weight: Array) -> Array:
    """The sentence of each answer in which most of the reference's key words occur; first wins."""
    if not len(row):
        return np.zeros(rows, dtype=np.int64)
    width = int(sentence.max()) + 1
    size = len(weight)
    unique = np.unique((row * width + sentence) * size + word)
    where = unique // size
    cells, inverse = np.unique(where, return_inverse=True)
    score = np.bincount(inverse, weights=weight[unique % size])
    out = np.zeros(rows, dtype=np.int64)
    order = np.lexsort((-(cells % width), score, cells // width))
    out[cells[order] // width] = cells[order] % width
    return out


def _sentence_bounds(view: FeatureView, best: Array, found: Array) -> tuple[Array, Array]:
    """Flat places where each row's best sentence begins and ends."""
    texts, batch = view.batch.texts, view.batch
    chosen = texts.sentence[view.a_place] == best[view.a_row]
    begin = texts.start[batch.answer].copy()
    end = begin + view.a_length
    rows, places = view.a_row[chosen], view.a_place[chosen]
    end[rows] = places + 1
    begin[rows[::-1]] = places[::-1]
    return np.where(found, begin, texts.start[batch.answer]), end


def _sentence_question(view: FeatureView, best: Array, found: Array) -> Array:
    """Share of the answer's mentions of question words that occur in the matching sentence."""
    known = view.a_known & view.a_content
    chosen = view.batch.texts.sentence[view.a_place] == best[view.a_row]
    inside = view.per_answer(known & chosen)
    return np.where(found, share(inside, view.per_answer(known), -1.0), -1.0)


def _first_sentence(view: FeatureView, flags: Array) -> Array:
    return view.per_answer(flags & (view.batch.texts.sentence[view.a_place] == 0))
