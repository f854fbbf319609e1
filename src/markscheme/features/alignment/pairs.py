"""First look at every pair of answer and reference: cheap overlaps, and which reference is best."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import fuzz, process

from markscheme.features.alignment.batch import Array, Batch, Occurrences, content, spread


@dataclass(frozen=True, slots=True)
class Aligned:
    """What is known of every pair, and the pair with each row's best reference.

    Arrays of pairs: `exact`, `contained` (the reference occurs in the answer as a run of words),
    `packed` (so without spaces), `recall` (share of the reference's words), `key_recall` (share of
    the key words, by rarity: content words that the question lacks, else content words, else all).
    `best` is one pair a row. `normal` is each text as canonical words with spaces around.
    """

    exact: Array
    contained: Array
    packed: Array
    recall: Array
    key_recall: Array
    rank: Array
    best: Array
    normal: list[str]
    in_texts: Occurrences


LONGEST_PART = 400
"""Characters of the shorter text that `partial_ratios` looks for in the longer one."""


def partial_ratios(ones: Sequence[str], others: Sequence[str]) -> Array:
    """How like the shorter text of each pair is to the likest part of the longer one, 0 to 1.

    Every place of the longer text is tried, at a cost that grows with the square of the shorter
    one: of that only the first `LONGEST_PART` characters are looked for.
    """
    pairs = [
        (one[:LONGEST_PART], other) if len(one) <= len(other) else (one, other[:LONGEST_PART])
        for one, other in zip(ones, others, strict=True)
    ]
    found = process.cpdist(
        [one for one, _ in pairs],
        [other for _, other in pairs],
        scorer=fuzz.partial_ratio,
        workers=1,
    )
    return np.asarray(found / 100)


def align(batch: Batch) -> Aligned:
    """Compare every pair of the batch."""
    canon = batch.canon
    in_texts = Occurrences(batch.texts, canon, len(batch.lexicon.canon_words))
    normal = _normal(batch, canon)
    pairs = len(batch.reference)
    answer = batch.answer[batch.row]
    question = batch.question[batch.row]

    owner, place = spread(batch.texts.start, batch.reference)
    word = canon[place]
    hit = in_texts.within(answer[owner], word)
    key = key_words(batch, owner, place, in_texts, question[owner], pairs)
    weight = batch.idf[word]
    recall = _share(owner, np.ones(len(owner)), hit, pairs)
    key_recall = _share(owner, weight * key, hit, pairs)

    references = [normal[one] for one in batch.reference]
    answers = [normal[one] for one in answer]
    exact = np.array([r == a for r, a in zip(references, answers, strict=True)], dtype=bool)
    contained = np.array(
        [len(r) > 1 and r in a for r, a in zip(references, answers, strict=True)], dtype=bool
    )
    tight = [text.replace(" ", "") for text in normal]
    packed = np.array(
        [
            len(tight[r]) > 3 and tight[r] in tight[a]
            for r, a in zip(batch.reference, answer, strict=True)
        ],
        dtype=bool,
    )
    likeness = np.ones(pairs)
    unsure = np.flatnonzero(~contained)
    if len(unsure):
        likeness[unsure] = partial_ratios(
            [references[i] for i in unsure], [answers[i] for i in unsure]
        )
    length = np.bincount(owner, weights=weight * hit, minlength=pairs)
    rank = (
        4.0 * exact
        + 2.0 * contained
        + packed
        + 2.0 * key_recall
        + 0.3 * recall
        + 0.5 * likeness
        + 0.01 * np.minimum(length, 40)
    )
    order = np.lexsort((-rank, batch.row))
    best = order[batch.first[:-1]]
    return Aligned(
        exact=exact,
        contained=contained,
        packed=packed,
        recall=recall,
        key_recall=key_recall,
        rank=rank,
        best=best,
        normal=normal,
        in_texts=in_texts,
    )


def key_words(
    batch: Batch, owner: Array, place: Array, in_texts: Occurrences, question: Array, pairs: int
) -> Array:
    """Which words of references decide: content words new to the question, else wider choices."""
    is_content = content(batch.kind[place])
    new = is_content & ~in_texts.within(question, batch.canon[place])
    has_new = np.bincount(owner, weights=new, minlength=pairs) > 0
    has_content = np.bincount(owner, weights=is_content, minlength=pairs) > 0
    return np.where(has_new[owner], new, np.where(has_content[owner], is_content, True))


def _share(owner: Array, weight: Array, hit: Array, pairs: int) -> Array:
    total = np.bincount(owner, weights=weight, minlength=pairs)
    part = np.bincount(owner, weights=weight * hit, minlength=pairs)
    return np.divide(part, total, out=np.zeros(pairs), where=total > 0)


def _normal(batch: Batch, canon: Array) -> list[str]:
    words = batch.lexicon.canon_words
    flat = [words[one] for one in canon.tolist()]
    start = batch.texts.start.tolist()
    return [f" {' '.join(flat[begin:end])} " for begin, end in itertools.pairwise(start)]
