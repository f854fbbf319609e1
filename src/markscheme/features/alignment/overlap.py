"""Words in common between the answer and its references, both ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from markscheme.features.alignment.batch import (
    Aligned,
    Array,
    Batch,
    content,
    entity_like,
    key_words,
    share,
    spread,
)
from markscheme.text import asks_list


@dataclass(frozen=True, slots=True)
class FeatureView:
    """Each row against its best reference, word by word.

    Reference words: `r_row` (row of each), `r_place` (flat place), `r_hit` (found in the answer),
    `r_key` (decides), `r_weight` (rarity). Answer words: `a_row`, `a_place`, `a_known` (occurs in
    the question), `a_ref` (occurs in the best reference), `a_content`.
    """

    batch: Batch
    aligned: Aligned
    reference: Array
    rows: int
    r_row: Array
    r_place: Array
    r_hit: Array
    r_key: Array
    r_weight: Array
    r_length: Array
    a_row: Array
    a_place: Array
    a_known: Array
    a_ref: Array
    a_content: Array
    a_entity: Array
    a_length: Array

    @classmethod
    def of(cls, batch: Batch, aligned: Aligned) -> FeatureView:
        """Expand the best pair of every row into words."""
        canon, kind, start = batch.canon, batch.kind, batch.texts.start
        rows = len(batch.answer)
        reference = batch.reference[aligned.best]
        r_row, r_place = spread(start, reference)
        a_row, a_place = spread(start, batch.answer)
        within = aligned.in_texts.within
        word = canon[a_place]
        return cls(
            batch=batch,
            aligned=aligned,
            reference=reference,
            rows=rows,
            r_row=r_row,
            r_place=r_place,
            r_hit=within(batch.answer[r_row], canon[r_place]),
            r_key=key_words(batch, r_row, r_place, aligned.in_texts, batch.question[r_row], rows),
            r_weight=batch.idf[canon[r_place]],
            r_length=batch.texts.count[reference],
            a_row=a_row,
            a_place=a_place,
            a_known=within(batch.question[a_row], word),
            a_ref=within(reference[a_row], word),
            a_content=content(kind[a_place]),
            a_entity=entity_like(kind[a_place]),
            a_length=batch.texts.count[batch.answer],
        )

    def per_reference(self, values: Array) -> Array:
        """Sum over the reference's words, by row."""
        return np.asarray(np.bincount(self.r_row, weights=values, minlength=self.rows))

    def per_answer(self, values: Array) -> Array:
        """Sum over the answer's words, by row."""
        return np.asarray(np.bincount(self.a_row, weights=values, minlength=self.rows))


def overlap_features(view: FeatureView) -> dict[str, Array]:
    """Shares of words found, containment, and what the answer adds."""
    batch, aligned, best = view.batch, view.aligned, view.aligned.best
    hit, key, weight = view.r_hit, view.r_key, view.r_weight
    kind = batch.kind[view.r_place]
    r_content = content(kind)
    first = np.zeros(len(hit), dtype=bool)
    last = np.zeros(len(hit), dtype=bool)
    begins = np.concatenate([[0], np.cumsum(view.r_length)])
    some = view.r_length > 0
    first[begins[:-1][some]] = True
    last[begins[1:][some] - 1] = True
    key_total = view.per_reference(key)
    key_found = view.per_reference(key & hit)
    new = view.a_content & ~view.a_known
    new_total = view.per_answer(new)
    new_covered = view.per_answer(new & view.a_ref)
    new_names = view.per_answer(new & view.a_entity)
    names_covered = view.per_answer(new & view.a_entity & view.a_ref)
    common = np.minimum(view.per_reference(hit), view.per_answer(view.a_ref))
    precision = share(view.per_answer(view.a_ref), view.a_length)
    recall = share(view.per_reference(hit), view.r_length)
    normal = aligned.normal
    references = [normal[i] for i in view.reference]
    answers = [normal[i] for i in batch.answer]
    questions = [normal[i] for i in batch.question]
    count = np.diff(batch.first)

    any_contained = np.add.reduceat(aligned.contained.astype(float), batch.first[:-1])
    entity = entity_like(kind)
    return {
        "exact": aligned.exact[best],
        "contained": aligned.contained[best],
        "packed_contained": aligned.packed[best],
        "answer_in_reference": np.array(
            [len(a) > 2 and a in r for a, r in zip(answers, references, strict=True)]
        ),
        "reference_in_question": np.array(
            [len(r) > 2 and r in q for r, q in zip(references, questions, strict=True)]
        ),
        "recall": recall,
        "content_recall": share(
            view.per_reference(r_content & hit), view.per_reference(r_content), 1.0
        ),
        "key_recall": aligned.key_recall[best],
        "key_found": key_found,
        "key_missing": key_total - key_found,
        "key_missing_weight": view.per_reference(weight * key * ~hit),
        "key_found_weight": view.per_reference(weight * key * hit),
        "rarest_missing": _largest(view.r_row, weight * key * ~hit, view.rows),
        "entity_recall": share(
            view.per_reference(entity & key & hit), view.per_reference(entity & key), -1.0
        ),
        "first_word_found": view.per_reference(first & hit),
        "last_word_found": view.per_reference(last & hit),
        "last_key_found": _last_key(view),
        "precision": precision,
        "f1": share(2 * precision * recall, precision + recall),
        "common_words": common,
        "new_covered": share(new_covered, new_total, 1.0),
        "new_uncovered": new_total - new_covered,
        "new_names_covered": share(names_covered, new_names, 1.0),
        "new_names_uncovered": new_names - names_covered,
        "answer_new_words": new_total,
        "question_covered": share(
            view.per_answer(view.a_known & view.a_content), np.maximum(_question_content(view), 1)
        ),
        "answer_words": view.a_length,
        "reference_words": view.r_length,
        "reference_key_words": key_total,
        "reference_weight": view.per_reference(weight * key),
        "several_references": np.minimum(count, 2),
        "references_contained": np.minimum(any_contained, 3),
        "listed_share": _listed_share(view, any_contained / count),
        "max_recall": _largest_in_row(batch, aligned.recall),
        "max_key_recall": _largest_in_row(batch, aligned.key_recall),
    }


_READ = 2_000
"""Characters of a question that are read for what it asks."""


def _listed_share(view: FeatureView, contained: Array) -> Array:
    """Share of the references found where the question asks for several things, else -1.

    Synonymous references of a question for one thing never get here, however many there are.
    """
    raw, batch = view.batch.raw, view.batch
    asks = {i: asks_list(raw[i][:_READ]) for i in set(batch.question.tolist())}
    several = np.array([asks[i] for i in batch.question.tolist()]) & (np.diff(batch.first) > 1)
    return np.where(several, contained, -1.0)


def _last_key(view: FeatureView) -> Array:
    """Whether the last of the reference's key words is found."""
    out = np.zeros(view.rows)
    out[view.r_row[view.r_key]] = view.r_hit[view.r_key]
    return out


def _question_content(view: FeatureView) -> Array:
    owner, place = spread(view.batch.texts.start, view.batch.question)
    return np.bincount(owner, weights=content(view.batch.kind[place]), minlength=view.rows)


def _largest(owner: Array, values: Array, count: int) -> Array:
    out = np.zeros(count)
    np.maximum.at(out, owner, values)
    return out


def _largest_in_row(batch: Batch, values: Array) -> Array:
    return np.asarray(np.maximum.reduceat(values, batch.first[:-1]))
