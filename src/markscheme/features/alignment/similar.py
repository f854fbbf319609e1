"""Words that are alike but not equal: spelling, short forms, given names."""

from __future__ import annotations

import numpy as np
from rapidfuzz import distance, fuzz, process

from markscheme.features.alignment.batch import Array, partial_ratios, share, spread
from markscheme.features.alignment.overlap import FeatureView
from markscheme.text import CAPITAL, MARK, NUMBER, STOPWORD, same_given_name

_PER_ANSWER = 60
"""Words of an answer, from its start, that unmatched reference words are compared with."""


def similar_features(view: FeatureView) -> dict[str, Array]:
    """Character likeness of strings, and likeness of unmatched words."""
    batch, normal = view.batch, view.aligned.normal
    references = [normal[i].strip() for i in view.reference]
    answers = [normal[i].strip() for i in batch.answer]
    fresh = _fresh(view)
    key = _key_strings(view)

    def likeness(ones: list[str], others: list[str], scorer: object) -> Array:
        return np.asarray(process.cpdist(ones, others, scorer=scorer, workers=1)) / 100  # type: ignore[arg-type]

    soft, weakest, name_like = _soft_recall(view)
    return {
        "ratio": likeness(references, answers, fuzz.ratio),
        "partial_ratio": partial_ratios(references, answers),
        "token_set_ratio": likeness(references, answers, fuzz.token_set_ratio),
        "token_sort_ratio": likeness(key, fresh, fuzz.token_sort_ratio),
        "key_partial_ratio": partial_ratios(key, fresh),
        "soft_recall": soft,
        "weakest_word": weakest,
        "name_like": name_like,
        "acronym": _acronym(view),
    }


def _fresh(view: FeatureView) -> list[str]:
    """The answer's words that the question lacks, function words left out."""
    return _joined(view, view.a_row, view.a_place, view.a_content & ~view.a_known)


def _key_strings(view: FeatureView) -> list[str]:
    return _joined(view, view.r_row, view.r_place, view.r_key)


def _joined(view: FeatureView, row: Array, place: Array, keep: Array) -> list[str]:
    words = view.batch.lexicon.canon_words
    chosen = [words[i] for i in view.batch.canon[place[keep]].tolist()]
    ends = np.cumsum(np.bincount(row[keep], minlength=view.rows)).tolist()
    begins = [0, *ends[:-1]]
    return [" ".join(chosen[low:high]) for low, high in zip(begins, ends, strict=True)]


def _soft_recall(view: FeatureView) -> tuple[Array, Array, Array]:
    """Share of key words found, likeness counted for those not found; the least; name likeness."""
    batch = view.batch
    lexicon, word = batch.lexicon, batch.texts.word
    best = view.r_hit.astype(float)
    named = np.zeros(view.rows)
    open_words = np.flatnonzero(
        view.r_key & ~view.r_hit & ((batch.kind[view.r_place] & (NUMBER | MARK)) == 0)
    )
    if len(open_words):
        start = batch.texts.start
        which, place = spread(start, batch.answer[view.r_row[open_words]], most=_PER_ANSWER)
        owner = open_words[which]
        use = (batch.kind[place] & (STOPWORD | NUMBER)) == 0
        owner, place = owner[use], place[use]
        pair = word[view.r_place[owner]].astype(np.int64) * len(lexicon) + word[place]
        different, inverse = np.unique(pair, return_inverse=True)
        words = [text.lower() for text in lexicon.words]
        ones = [words[i] for i in (different // len(lexicon)).tolist()]
        others = [words[i] for i in (different % len(lexicon)).tolist()]
        alike = np.asarray(
            process.cpdist(ones, others, scorer=distance.JaroWinkler.similarity, workers=1)
        ).astype(float)
        # Another figure is another number, however few figures differ.
        figures = np.array([word[0].isdigit() for word in ones + others], dtype=bool).reshape(2, -1)
        alike = np.where((alike < 0.75) | figures.any(axis=0), 0.0, alike)
        capital = (batch.known.kind[(different // len(lexicon))] & CAPITAL) > 0
        capital |= (batch.known.kind[(different % len(lexicon))] & CAPITAL) > 0
        for i in np.flatnonzero(capital & (alike < 0.97)).tolist():
            near = ones[i][0] == others[i][0] or len(ones[i]) < 6
            if near and same_given_name(ones[i], others[i]):
                alike[i] = max(alike[i], 0.9)
        np.maximum.at(best, owner, alike[inverse])
        np.maximum.at(named, view.r_row[owner], alike[inverse])
    key = view.r_key
    soft = share(
        view.per_reference(view.r_weight * key * best), view.per_reference(view.r_weight * key)
    )
    weakest = np.ones(view.rows)
    np.minimum.at(weakest, view.r_row[key], best[key])
    return soft, weakest, named


def _acronym(view: FeatureView) -> Array:
    """Whether one side is, or has, the initials of the other's words."""
    batch = view.batch
    canon_words = batch.lexicon.canon_words
    initials = [word[:1] for word in canon_words]
    canon, kind, start = batch.canon, batch.kind, batch.texts.start
    out = np.zeros(view.rows)
    wanted = np.full(view.rows, -1, dtype=np.int64)
    for row, reference in enumerate(view.reference.tolist()):
        low, high = int(start[reference]), int(start[reference + 1])
        if 2 <= high - low <= 8:
            letters = "".join(
                initials[c]
                for c, k in zip(canon[low:high].tolist(), kind[low:high].tolist(), strict=True)
                if not k & STOPWORD
            )
            wanted[row] = batch.lexicon.canon_id(letters) if len(letters) > 1 else -1
        elif high - low == 1:
            short = canon_words[canon[low]]
            if 2 <= len(short) <= 6 and short.isalpha():
                answer = batch.answer[row]
                places = range(
                    int(start[answer]), min(int(start[answer + 1]), int(start[answer]) + 60)
                )
                text = "".join(initials[canon[i]] for i in places if not kind[i] & STOPWORD)
                out[row] = 0.5 * (len(short) > 2 and short in text)
    out[view.aligned.in_texts.within(batch.answer, wanted)] = 1.0
    return out
