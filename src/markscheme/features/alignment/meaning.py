"""Words that mean the same or the opposite, slips of spelling against other words, namesakes."""

from __future__ import annotations

import numpy as np
from rapidfuzz import distance, process

from markscheme.features.alignment.batch import Array, spread
from markscheme.features.alignment.overlap import FeatureView, share
from markscheme.text import CAPITAL, MARK, NUMBER, STOPWORD, TITLE, same_given_name, thesaurus

_PER_ANSWER = 60
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
