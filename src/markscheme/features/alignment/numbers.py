"""Numbers, years and dates of the answer against those of its best reference."""

from __future__ import annotations

import numpy as np

from markscheme.features.alignment.batch import Array, Batch, spread
from markscheme.features.alignment.overlap import FeatureView, share
from markscheme.text import MONTH, NUMBER, YEAR


def number_features(view: FeatureView) -> dict[str, Array]:
    """Agreement and conflict of numbers, years, months and days."""
    batch, rows = view.batch, view.rows
    r_kind, a_kind = batch.kind[view.r_place], batch.kind[view.a_place]
    found: dict[str, Array] = {}
    day = days_of_month(batch)
    for name, bits in (("number", NUMBER), ("year", YEAR), ("month", MONTH), ("day", 0)):
        in_reference = ((r_kind & bits) > 0) if bits else day[view.r_place]
        in_answer = ((a_kind & bits) > 0) if bits else day[view.a_place]
        if name == "number":
            in_reference &= (r_kind & YEAR) == 0
            in_answer &= (a_kind & YEAR) == 0
        wanted = view.per_reference(in_reference)
        met = view.per_reference(in_reference & view.r_hit)
        rival = view.per_answer(in_answer & ~view.a_known & ~view.a_ref)
        found[f"{name}_recall"] = share(met, wanted, -1.0)
        found[f"{name}_rivals"] = np.where(wanted > 0, rival, -1)
        found[f"{name}_conflict"] = (wanted > met) & (rival > 0)
        found[f"{name}_absent"] = (wanted > 0) & (view.per_answer(in_answer & ~view.a_known) == 0)
        found[f"{name}_unasked"] = np.where(wanted == 0, rival, -1)
    words = np.maximum(view.r_length, 1)
    found["reference_number_share"] = view.per_reference((r_kind & (NUMBER | MONTH)) > 0) / words
    found["reference_is_date"] = view.per_reference((r_kind & MONTH) > 0) + 2 * view.per_reference(
        (r_kind & YEAR) > 0
    ).clip(0, 1)
    found["answer_dates"] = view.per_answer((a_kind & (YEAR | MONTH)) > 0)
    found |= _finest_date(view)
    assert all(len(values) == rows for values in found.values())
    return found


def days_of_month(batch: Batch) -> Array:
    """Which words are a day of a month: a number up to 31 next to a month's name in its text."""
    kind = batch.kind
    value = batch.known.value[batch.texts.word]
    text = np.repeat(np.arange(len(batch.texts.count)), batch.texts.count)
    month = (kind & MONTH) > 0
    near_month = np.zeros(len(kind), dtype=bool)
    near_month[1:] |= month[:-1] & (text[:-1] == text[1:])
    near_month[:-1] |= month[1:] & (text[:-1] == text[1:])
    near_month[:-2] |= month[2:] & (text[:-2] == text[2:])
    return np.asarray(near_month & ((kind & NUMBER) > 0) & (value >= 1) & (value <= 31))


def _finest_date(view: FeatureView) -> dict[str, Array]:
    """Agreement with the row's most detailed date, where a reference names a month."""
    batch, rows = view.batch, view.rows
    day = days_of_month(batch)
    owner, place = spread(batch.texts.start, batch.reference)
    kind = batch.kind[place]
    part = ((kind & (MONTH | YEAR)) > 0) | day[place]
    months = np.bincount(owner, weights=(kind & MONTH) > 0, minlength=len(batch.reference))
    parts = np.bincount(owner, weights=part, minlength=len(batch.reference))
    detail = np.where(months > 0, parts, 0)
    finest = np.lexsort((-detail, batch.row))[batch.first[:-1]]
    dated = detail[finest] > 0
    chosen = np.zeros(len(batch.reference), dtype=bool)
    chosen[finest[dated]] = True
    use = part & chosen[owner]
    row = batch.row[owner[use]]
    word = batch.canon[place[use]]
    hit = view.aligned.in_texts.within(batch.answer[row], word)
    total = np.bincount(row, minlength=rows)
    met = np.bincount(row, weights=hit, minlength=rows)
    in_finest = view.aligned.in_texts.within(
        batch.reference[finest][view.a_row], batch.canon[view.a_place]
    )
    a_kind = batch.kind[view.a_place]
    strange = ~in_finest & ~view.a_known
    return {
        "date_detail": np.where(dated, detail[finest], 0),
        "date_recall": share(met, total.astype(float), -1.0),
        "date_strange_day": np.where(dated, view.per_answer(strange & day[view.a_place]), -1),
        "date_strange_month": np.where(
            dated, view.per_answer(strange & ((a_kind & MONTH) > 0)), -1
        ),
        "date_strange_year": np.where(dated, view.per_answer(strange & ((a_kind & YEAR) > 0)), -1),
    }
