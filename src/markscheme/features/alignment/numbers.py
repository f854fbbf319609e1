"""Numbers, years and dates of the answer against those of its best reference."""

from __future__ import annotations

import numpy as np

from markscheme.features.alignment.batch import Array, Batch, spread
from markscheme.features.alignment.overlap import FeatureView, share
from markscheme.text import MONTH, NUMBER, UNITS, YEAR, ZERO


def number_features(view: FeatureView) -> dict[str, Array]:
    """Agreement and conflict of numbers, years, months and days."""
    batch, rows = view.batch, view.rows
    r_kind, a_kind = batch.kind[view.r_place], batch.kind[view.a_place]
    r_value = batch.known.value[batch.texts.word[view.r_place]]
    a_value = batch.known.value[batch.texts.word[view.a_place]]
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
    gap, ratio = _nearest(
        view, (r_kind & NUMBER) > 0, r_value, (a_kind & NUMBER > 0) & ~view.a_known, a_value
    )
    found["number_gap"] = gap
    found["number_ratio"] = ratio
    words = np.maximum(view.r_length, 1)
    found["reference_number_share"] = view.per_reference((r_kind & (NUMBER | MONTH)) > 0) / words
    found["reference_is_date"] = view.per_reference((r_kind & MONTH) > 0) + 2 * view.per_reference(
        (r_kind & YEAR) > 0
    ).clip(0, 1)
    found["answer_dates"] = view.per_answer((a_kind & (YEAR | MONTH)) > 0)
    found |= _finest_date(view)
    found["quantity"] = _quantity(view)
    assert all(len(values) == rows for values in found.values())
    return found


def _nearest(
    view: FeatureView, r_flag: Array, r_value: Array, a_flag: Array, a_value: Array
) -> tuple[Array, Array]:
    """Of the reference's first number: distance to, and ratio with, the answer's nearest number.

    -1 where one side has no number.
    """
    rows = view.rows
    target = np.full(rows, np.nan)
    place = np.flatnonzero(r_flag)[::-1]
    target[view.r_row[place]] = r_value[place]
    chosen = np.flatnonzero(a_flag)
    owner = view.a_row[chosen]
    distance = np.abs(a_value[chosen] - target[owner])
    gap = np.full(rows, np.inf)
    valid = ~np.isnan(distance)
    np.minimum.at(gap, owner[valid], distance[valid])
    missing = np.isinf(gap)
    size = np.maximum(np.abs(target), 1.0)
    ratio = np.where(missing, -1.0, np.minimum(gap, 1e6) / np.where(np.isnan(size), 1.0, size))
    return np.where(missing, -1.0, np.log1p(np.minimum(gap, 1e6))), np.minimum(ratio, 10)


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


def _quantity(view: FeatureView) -> Array:
    """Best agreement of amounts with units, after conversion.

    1 within 1.5 %, 0.5 within 10 %, 0 the same kind of amount but another value, -1 nothing to
    compare.
    """
    batch, rows = view.batch, view.rows
    owner, kind, amount = _amounts(batch)
    out = np.full(rows, -1.0)
    if not len(owner):
        return out
    low = np.searchsorted(owner, np.arange(len(batch.texts.count)), side="left")
    high = np.searchsorted(owner, np.arange(len(batch.texts.count)), side="right")
    some = np.flatnonzero((high > low)[view.reference] & (high > low)[batch.answer])
    for row in some.tolist():
        one, other = view.reference[row], batch.answer[row]
        mine = slice(low[one], high[one])
        theirs = slice(low[other], high[other])
        shared = np.intersect1d(kind[mine], kind[theirs])
        if not len(shared):
            continue
        least = min(
            _least_gap(amount[mine][kind[mine] == one], amount[theirs][kind[theirs] == one])
            for one in shared
        )
        if kind[mine][0] == _TEMPERATURE:  # one in 273 kelvin is one in 70 degrees
            least = least * 4
        out[row] = 1.0 if least <= 0.015 else 0.5 if least <= 0.1 else 0.0
    return out


def _least_gap(ours: Array, theirs: Array) -> float:
    """The least difference between two amounts, in shares of the one of `ours`."""
    theirs = np.sort(theirs)
    above = np.searchsorted(theirs, ours).clip(max=len(theirs) - 1)
    gaps = [np.abs(ours - theirs[place]) for place in (above, (above - 1).clip(0))]
    return float((np.minimum(*gaps) / np.maximum(np.abs(ours), 1e-9)).min())


_DIMENSIONS = sorted({unit.dimension for unit in UNITS.values()})
_TEMPERATURE = _DIMENSIONS.index("temperature")


def _amounts(batch: Batch) -> tuple[Array, Array, Array]:
    """Amounts with units in all texts: (text, dimension, value in its base unit), by text."""
    known = [UNITS.get(word) for word in batch.lexicon.canon_words]
    dimension = np.array([-1 if u is None else _DIMENSIONS.index(u.dimension) for u in known])
    factor = np.array([0.0 if u is None else u.factor for u in known])
    zero = np.array([ZERO.get(word, 0.0) for word in batch.lexicon.canon_words])
    canon = batch.canon
    value = batch.known.value[batch.texts.word].astype(float)
    text = np.repeat(np.arange(len(batch.texts.count)), batch.texts.count)
    counts = np.flatnonzero(
        ~np.isnan(value[:-1]) & (dimension[canon[1:]] >= 0) & (text[:-1] == text[1:])
    )
    unit = canon[counts + 1]
    amount = value[counts] * factor[unit] + zero[unit]
    keep = np.ones(len(counts), dtype=bool)
    close = np.flatnonzero(
        (np.diff(counts) <= 3)
        & (text[counts[1:]] == text[counts[:-1]])
        & (dimension[unit[1:]] == dimension[unit[:-1]])
        & (factor[unit[1:]] < factor[unit[:-1]])
    )
    for i in close.tolist():  # "3 hours and 48 minutes" is one amount
        amount[i + 1] += amount[i]
        keep[i] = False
    return text[counts][keep], dimension[unit][keep], amount[keep]
