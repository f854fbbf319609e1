"""Words that are alike but not equal: spelling, short forms, namesakes, meaning."""

from __future__ import annotations

import numpy as np
from rapidfuzz import distance, fuzz, process

from markscheme.features.alignment.batch import Array, partial_ratios, spread
from markscheme.features.alignment.overlap import FeatureView, share
from markscheme.text import CAPITAL, MARK, NUMBER, STOPWORD, TITLE, same_given_name, thesaurus

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
        which, place = spread(start, batch.answer[view.r_row[open_words]])
        owner = open_words[which]
        offset = place - start[batch.answer[view.r_row[owner]]]
        kind = batch.kind[place]
        use = ((kind & (STOPWORD | NUMBER)) == 0) & (offset < _PER_ANSWER)
        owner, place = owner[use], place[use]
        pair = word[view.r_place[owner]].astype(np.int64) * len(lexicon) + word[place]
        different, inverse = np.unique(pair, return_inverse=True)
        words = [text.lower() for text in lexicon.words]
        ones = [words[i] for i in (different // len(lexicon)).tolist()]
        others = [words[i] for i in (different % len(lexicon)).tolist()]
        alike = np.asarray(
            process.cpdist(ones, others, scorer=distance.JaroWinkler.similarity, workers=1)
        ).astype(float)
        alike = np.where(alike < 0.75, 0.0, alike)
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


# --- Words that mean the same or the opposite, slips of spelling against other words, namesakes ---


"""Words of an answer, from its start, that missing reference words are compared with."""
_RUN = 4
"""Words of the longest alias that is looked for."""


def meaning_features(view: FeatureView) -> dict[str, Array]:
    """Synonyms, opposites, aliases, misspellings, and other people of the same surname."""
    slip, unrelated, same, opposite = _missing_words(view)
    key, weight = view.r_key, view.r_weight
    total = view.per_reference(weight * key)
    hit = view.r_hit
    return {
        "meaning_recall": share(view.per_reference(weight * key * (hit | same)), total),
        "opposites": view.per_reference(opposite),
        "slip_recall": share(view.per_reference(weight * key * np.where(hit, 1.0, slip)), total),
        "stranger_like": _most(view, key * ~hit * unrelated),
        "alias": _alias(view),
        "given_name": _given_name(view),
    }


def _most(view: FeatureView, values: Array) -> Array:
    out = np.zeros(view.rows)
    np.maximum.at(out, view.r_row, values)
    return out


def _missing_words(view: FeatureView) -> tuple[Array, Array, Array, Array]:
    """For each reference word that is missing, among the answer's words: likeness of the nearest
    that is no word (a slip) and that is one (an unrelated word); whether one means the same; the opposite.
    """
    batch, lexicon = view.batch, view.batch.lexicon
    size = len(view.r_row)
    slip, unrelated = np.zeros(size), np.zeros(size)
    same, opposite = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    missing = np.flatnonzero(
        view.r_key & ~view.r_hit & ((batch.kind[view.r_place] & (NUMBER | MARK | STOPWORD)) == 0)
    )
    if not len(missing):
        return slip, unrelated, same, opposite
    start = batch.texts.start
    which, place = spread(start, batch.answer[view.r_row[missing]])
    owner = missing[which]
    offset = place - start[batch.answer[view.r_row[owner]]]
    use = ((batch.kind[place] & (STOPWORD | NUMBER)) == 0) & (offset < _PER_ANSWER)
    owner, place = owner[use], place[use]
    word = batch.texts.word
    pair = word[view.r_place[owner]].astype(np.int64) * len(lexicon) + word[place]
    different, back = np.unique(pair, return_inverse=True)
    one, other = different // len(lexicon), different % len(lexicon)
    lower = [text.lower().removesuffix("'s") for text in lexicon.words]
    ones, others = [lower[i] for i in one.tolist()], [lower[i] for i in other.tolist()]
    alike = np.asarray(
        process.cpdist(ones, others, scorer=distance.DamerauLevenshtein.normalized_similarity)
    ).astype(float)
    alike = np.where(alike >= 0.6, alike, 0.0)
    book = thesaurus()
    near = np.flatnonzero(alike)
    exists = np.zeros(len(different), dtype=bool)
    exists[near] = book.exist([others[i] for i in near.tolist()])
    np.maximum.at(slip, owner, np.where(exists, 0.0, alike)[back])
    np.maximum.at(unrelated, owner, np.where(exists, alike, 0.0)[back])
    canon = batch.known.canon
    alike_meaning, apart = _related(view, canon[one], canon[other])
    np.logical_or.at(same, owner, alike_meaning[back])
    np.logical_or.at(opposite, owner, apart[back])
    return slip, unrelated, same, opposite


def _related(view: FeatureView, one: Array, other: Array) -> tuple[Array, Array]:
    """Which pairs of canonical words mean the same, and which the opposite."""
    names = view.batch.lexicon.canon_words
    used, place = np.unique(np.concatenate([one, other]), return_inverse=True)
    book = thesaurus()
    stems = [names[i] for i in used.tolist()]
    owner, meaning = book.meanings(stems)
    size = np.int64(len(used))
    has = np.unique(meaning * size + owner)
    first, second = place[: len(one)], place[len(one) :]
    begin = np.searchsorted(owner, first, side="left")
    count = np.searchsorted(owner, first, side="right") - begin
    pair = np.repeat(np.arange(len(one)), count)
    ends = np.cumsum(count)
    inner = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - count, count)
    wanted = meaning[inner + np.repeat(begin, count)] * size + second[pair]
    same = np.zeros(len(one), dtype=bool)
    if len(has) and len(wanted):
        spot = np.minimum(np.searchsorted(has, wanted), len(has) - 1)
        np.logical_or.at(same, pair, has[spot] == wanted)
    apart = book.opposites([stems[i] for i in first.tolist()], [stems[i] for i in second.tolist()])
    return same, apart


def _alias(view: FeatureView) -> Array:
    """Whether the whole reference and a run of the answer's words name the same thing."""
    batch, canon = view.batch, view.batch.canon
    names, start = batch.lexicon.canon_words, batch.texts.start
    out = np.zeros(view.rows)
    open_rows = np.flatnonzero(view.aligned.key_recall[view.aligned.best] < 1)
    texts: dict[int, str] = {}
    for text in {*view.reference[open_rows].tolist()}:
        words = canon[start[text] : start[text + 1]].tolist()
        words = words[1:] if words and names[words[0]] in ("the", "a", "an") else words
        if 0 < len(words) <= _RUN:
            texts[text] = " ".join(names[i] for i in words)
    book = thesaurus()
    owner, meaning = book.meanings(texts.values())
    keys = list(texts)
    wanted: dict[int, set[int]] = {}
    for place, value in zip(owner.tolist(), meaning.tolist(), strict=True):
        wanted.setdefault(keys[place], set()).add(value)
    phrases: list[str] = []
    asks: list[tuple[int, int]] = []
    for row in open_rows.tolist():
        text = int(view.reference[row])
        if text not in wanted:
            continue
        answer = int(batch.answer[row])
        words = [names[i] for i in canon[start[answer] : start[answer + 1]][:30].tolist()]
        for low in range(len(words)):
            for high in range(low + 1, min(low + _RUN, len(words)) + 1):
                phrases.append(" ".join(words[low:high]))
                asks.append((row, text))
    if phrases:
        own, values = book.meanings(phrases)
        for place, value in zip(own.tolist(), values.tolist(), strict=True):
            row, text = asks[place]
            if value in wanted[text] and phrases[place] != texts[text]:
                out[row] = 1.0
    return out


def _given_name(view: FeatureView) -> Array:
    """Where the reference is a person's full name and the answer has the surname with a given name:
    1 if that agrees (initials and nicknames do), 0 if it is another's, -1 if there is none.
    """
    batch = view.batch
    lexicon, kind, word = batch.lexicon, batch.kind, batch.texts.word
    start, canon = batch.texts.start, batch.canon
    out = np.full(view.rows, -1.0)
    named = ((kind & CAPITAL) > 0) & ((kind & TITLE) == 0)
    lower = lexicon.words
    for row, (reference, answer) in enumerate(
        zip(view.reference.tolist(), batch.answer.tolist(), strict=True)
    ):
        low, high = int(start[reference]), int(start[reference + 1])
        if not 2 <= high - low <= 4 or not named[low:high].all():
            continue
        surname = canon[high - 1]
        begin = int(start[answer])
        places = np.flatnonzero(canon[begin : int(start[answer + 1])] == surname)
        given = [lower[i].lower() for i in word[low : high - 1].tolist()]
        for place in places.tolist():
            at = begin + place
            back: list[str] = []
            while at - 1 >= begin and named[at - 1] and len(back) < 3:
                at -= 1
                back.append(lower[word[at]].lower())
            if not back:
                continue
            agree = all(any(same_given_name(g, b) for b in back) for g in given) or all(
                any(same_given_name(g, b) for g in given) for b in back
            )
            out[row] = max(out[row], float(agree))
    return out
