"""What the question asks for, and whether the reference or a rival is where it is answered.

"The bridge was designed by A, a pupil of B": both are named, one is claimed. The sentence and the
clause that repeat most of the question are taken for the place where it is answered.
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from markscheme.features.alignment.batch import Array, Batch, spread
from markscheme.features.alignment.overlap import FeatureView
from markscheme.text import (
    CAPITAL,
    INJECTION,
    LATEST,
    MONTH,
    NUMBER,
    OUTDATED,
    QUESTION_KINDS,
    REFUSAL,
    SEVERAL,
    STOPWORD,
    TITLE,
    YEAR,
)

YEARS, MONTHS, NUMBERS, NAMES, WORDS = range(5)
"""Kinds of references: what may be a rival of one."""

_CLAIMS = (
    "is", "was", "are", "were", "be", "been", "by", "call", "name", "say", "answer", "become",
    "remain", "equal",
)  # fmt: skip
_ASIDES = (
    "of", "with", "than", "after", "before", "like", "unlike", "while", "though", "although", "and",
    "or", "from", "near", "to", "for", "not", "never", "nor", "whereas", "over", "against", "beside",
    "behind", "about", "unless", "until", "since", "whose", "between",
)  # fmt: skip
_FAR = 30.0


def slot_features(view: FeatureView) -> dict[str, Array]:
    """Match and rivals in the sentence and clause that answer, and the words that lead to them."""
    batch, row, place = view.batch, view.a_row, view.a_place
    kind = batch.kind[place]
    wanted = reference_kind(view)
    typed = _typed(kind, wanted[row], view.a_content) & ~view.a_known
    in_reference = in_any_reference(view)
    clause = batch.texts.clause[place].astype(np.int64)
    match = typed & in_reference
    rival = typed & ~in_reference & ~_with_match(match, kind, row, clause)
    first_clause = np.zeros(view.rows, dtype=np.int64)
    some = view.a_length > 0
    first_clause[some] = clause[(np.cumsum(view.a_length) - view.a_length)[some]]
    clause -= first_clause[row]
    found: dict[str, Array] = {"reference_kind": wanted}
    found |= _slot_features(view, match, rival, clause)
    found |= _next_to_question(view, match, rival, typed, clause=clause, wanted=wanted)
    return found | _led_to(view, match, rival, typed, clause=clause)


def _slot_features(
    view: FeatureView, match: Array, rival: Array, clause: Array
) -> dict[str, Array]:
    """Match and rivals in the sentence and the clause that repeat most of the question."""
    batch, rows, row = view.batch, view.rows, view.a_row
    canon = batch.canon[view.a_place]
    weight = batch.idf[canon] * (view.a_known & view.a_content)
    sentence = batch.texts.sentence[view.a_place].astype(np.int64)
    has_match = np.where(view.per_answer(match) > 0, 0.0, -1.0)
    found: dict[str, Array] = {}
    for name, unit in (("sentence", sentence), ("clause", clause)):
        inside = unit == _best(rows, row, unit, canon, weight, len(batch.lexicon.canon_words))[row]
        met = view.per_answer(match & inside) > 0
        found[f"asked_{name}_match"] = np.where(met, 1.0, has_match)
        found[f"asked_{name}_rivals"] = view.per_answer(_runs(rival & inside, row))
        found[f"first_in_asked_{name}"] = _first(rows, row, match & inside, rival & inside)
    found["first_of_kind"] = _first(rows, row, match, rival)
    found["last_of_kind"] = _first(rows, row[::-1], match[::-1], rival[::-1])
    found["match_runs"] = view.per_answer(_runs(match, row))
    found["rival_runs"] = view.per_answer(_runs(rival, row))
    return found


def _next_to_question(
    view: FeatureView, match: Array, rival: Array, typed: Array, *, clause: Array, wanted: Array
) -> dict[str, Array]:
    """How near match and rivals are to words of the question and to what it asks about."""
    row, kind = view.a_row, view.batch.kind[view.a_place]
    known = view.a_known & view.a_content
    apart = _distance(known, row, view.batch.texts.sentence[view.a_place])
    plain = typed | ((kind & (STOPWORD | NUMBER | MONTH | TITLE)) > 0)
    # "four small moons": what is counted may have any word before it.
    plain |= (wanted[row] == NUMBERS) & ~known
    next_to = _next_to(known, plain, row, clause)
    at_focus = _next_to(_focus(view), plain, row, clause)
    found: dict[str, Array] = {}
    for name, mine in (("match", match), ("rival", rival)):
        count = view.per_answer(mine)
        found[f"{name}_from_question"] = _least(view.rows, row, mine, apart)
        for where, there in (("in_slot", next_to), ("at_focus", at_focus)):
            inside = view.per_answer(_runs(mine & there, row))
            found[f"{name}_{where}"] = np.where(count > 0, inside, -1.0)
    return found


def _led_to(
    view: FeatureView, match: Array, rival: Array, typed: Array, *, clause: Array
) -> dict[str, Array]:
    """Whether words such as "is" and "by", or "with" and "after", lead to match and rivals."""
    batch, row = view.batch, view.a_row
    lead = _lead(view, row, batch.kind[view.a_place], clause, typed)
    claims, asides = _table(batch, _CLAIMS), _table(batch, _ASIDES)
    made_by = _table(batch, ("by",))
    before = np.where(lead >= 0, batch.canon[view.a_place][np.maximum(lead, 0)], -1)
    claimed = (before >= 0) & claims[before]
    aside = (before >= 0) & asides[before]
    found: dict[str, Array] = {}
    for name, mine in (("match", match), ("rival", rival)):
        runs = _runs(mine, row)
        count = view.per_answer(runs)
        none = np.where(count > 0, 0.0, -1.0)
        led = np.where(view.per_answer(runs & claimed) > 0, 1.0, none)
        by = view.per_answer(runs & claimed & made_by[before]) > 0
        found[f"{name}_claimed"] = np.where(by, 2.0, led)
        found[f"{name}_aside"] = np.where(
            (count > 0) & (view.per_answer(runs & aside) == count), 1.0, none
        )
    return found


def _with_match(match: Array, kind: Array, row: Array, clause: Array) -> Array:
    """Words of a phrase that has the match: the first two of "British actress Jane Doe"."""
    if not len(match):
        return match
    breaks = (kind & STOPWORD) > 0
    breaks[1:] |= breaks[:-1] | (row[1:] != row[:-1]) | (clause[1:] != clause[:-1])
    phrase = np.cumsum(breaks)
    return np.asarray(np.bincount(phrase, weights=match)[phrase] > 0)


def in_any_reference(view: FeatureView) -> Array:
    """Which of the answer's words occur in any of the row's references."""
    batch = view.batch
    size = np.int64(max(len(batch.lexicon.canon_words), 1))
    owner, place = spread(batch.texts.start, batch.reference)
    known = np.unique(batch.row[owner] * size + batch.canon[place])
    wanted = view.a_row * size + batch.canon[view.a_place]
    if not len(known):
        return np.zeros(len(wanted), dtype=bool)
    spot = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.asarray(known[spot] == wanted)


def reference_kind(view: FeatureView) -> Array:
    """What the best reference is: a year, a month, another number, a name, or other words."""
    kind = view.batch.kind[view.r_place]
    key = view.r_key

    def some(bits: int) -> Array:
        return np.asarray(view.per_reference(key & ((kind & bits) > 0)) > 0)

    return np.select(
        [some(YEAR), some(MONTH), some(NUMBER), some(CAPITAL)],
        [YEARS, MONTHS, NUMBERS, NAMES],
        default=WORDS,
    ).astype(np.float64)


def _typed(kind: Array, wanted: Array, is_content: Array) -> Array:
    """Words of the answer that are of the kind that the reference is."""
    named = ((kind & CAPITAL) > 0) & ((kind & TITLE) == 0)
    number = ((kind & NUMBER) > 0) & ((kind & YEAR) == 0)
    return np.asarray(
        np.select(
            [wanted == YEARS, wanted == MONTHS, wanted == NUMBERS, wanted == NAMES],
            [(kind & YEAR) > 0, (kind & (MONTH | YEAR)) > 0, number, named],
            default=is_content & ~number,
        )
    )


def _best(rows: int, row: Array, unit: Array, canon: Array, weight: Array, size: int) -> Array:
    """In each row the unit with most of the question's words, the first of equals."""
    if not len(row):
        return np.zeros(rows, dtype=np.int64)
    most = int(unit.max()) + 1
    use = np.flatnonzero(weight > 0)
    keys = (row[use] * most + unit[use]) * size + canon[use]
    _, chosen = np.unique(keys, return_index=True)
    chosen = use[chosen]
    units, back = np.unique(row[chosen] * most + unit[chosen], return_inverse=True)
    cover = np.round(np.bincount(back, weights=weight[chosen], minlength=len(units)), 3)
    order = np.lexsort((-units, cover, units // most))  # the last of each row is its best
    out = np.zeros(rows, dtype=np.int64)
    out[units[order] // most] = units[order] % most
    return out


def _runs(flags: Array, row: Array) -> Array:
    """The first word of each run of flagged words."""
    starts = flags.copy()
    starts[1:] &= ~(flags[:-1] & (row[1:] == row[:-1]))
    return np.asarray(starts)


def _first(rows: int, row: Array, match: Array, rival: Array) -> Array:
    """1: the first of them is a match, 0: a rival, -1: there is neither."""
    out = np.full(rows, -1.0)
    places = np.flatnonzero(match | rival)[::-1]
    out[row[places]] = match[places]
    return out


def _distance(known: Array, row: Array, sentence: Array) -> Array:
    """Words between each word and the nearest word of the question in its sentence."""
    size = len(known)
    index = np.arange(size)
    last = np.maximum.accumulate(np.where(known, index, -1)) if size else index
    following = np.where(known, index, size)
    following = np.minimum.accumulate(following[::-1])[::-1] if size else following
    out = np.full(size, _FAR)
    for near in (last, following):
        inside = (near >= 0) & (near < size)
        spot = np.clip(near, 0, max(size - 1, 0))
        if size:
            inside &= (row[spot] == row) & (sentence[spot] == sentence)
        out = np.where(inside, np.minimum(out, np.abs(index - spot)), out)
    return out


_ASKING = re.compile(
    r"\b(?:who(?:se|m)?|which|what|when|where|how (?:many|much|long|old|far|tall|big|often|high|deep))\b"
)

_IS = re.compile(r"(?: (?:is|was|are|were|do|does|did|has|have)|['’]s) ")
_EARLY = 4
"""Words within which a question asks; later it is no plain question."""


def _focus(view: FeatureView) -> Array:
    """Which of the answer's words are what the question asks about: the first full word after "who",
    as "painted" in "who painted it", the first two after "which" and the like, for "when" the last.
    None for "where" and "who is", whose answers may be anywhere.
    """
    batch = view.batch
    kind, canon, start = batch.kind, batch.canon, batch.texts.start
    size = np.int64(max(len(batch.lexicon.canon_words), 1))
    wanted: dict[int, list[int]] = {}
    for question in set(batch.question.tolist()):
        raw = batch.raw[question].lower()
        found = _ASKING.search(raw)
        words = range(int(start[question]), int(start[question + 1]))
        full = [canon[i] for i in words if not kind[i] & (STOPWORD | NUMBER)]
        leading = len(raw[: found.end()].split()) if found else 0
        skipped = sum(not kind[i] & (STOPWORD | NUMBER) for i in words[:leading])
        if found is None or leading > _EARLY:
            wanted[question] = []
        elif found.group() == "when":
            wanted[question] = full[-1:]
        elif found.group() == "who":
            wanted[question] = [] if _IS.match(raw[found.end() :]) else full[skipped : skipped + 1]
        else:
            wanted[question] = [] if found.group() == "where" else full[skipped : skipped + 2]
    keys = np.array(
        sorted(
            {
                row * size + word
                for row, q in enumerate(batch.question.tolist())
                for word in wanted[q]
            }
        ),
        dtype=np.int64,
    )
    mine = view.a_row * size + canon[view.a_place]
    if not len(keys):
        return np.zeros(len(mine), dtype=bool)
    spot = np.minimum(np.searchsorted(keys, mine), len(keys) - 1)
    return np.asarray(keys[spot] == mine)


def _next_to(known: Array, plain: Array, row: Array, clause: Array) -> Array:
    """Words whose nearest full word on the left or right in their clause is one of the question's.

    `plain` words (function words, numbers, and others of the requested kind) are passed over.
    """
    size = len(known)
    index = np.arange(size)
    out = np.zeros(size, dtype=bool)
    if not size:
        return out
    stops = known | ~plain
    last = np.maximum.accumulate(np.where(stops, index, -1))
    following = np.minimum.accumulate(np.where(stops, index, size)[::-1])[::-1]
    for near in (last, following):
        inside = (near >= 0) & (near < size)
        spot = np.clip(near, 0, size - 1)
        out |= inside & known[spot] & (row[spot] == row) & (clause[spot] == clause)
    return out


def _least(rows: int, row: Array, flags: Array, values: Array) -> Array:
    out = np.full(rows, _FAR + 1)
    np.minimum.at(out, row[flags], values[flags])
    return out


def _lead(view: FeatureView, row: Array, kind: Array, clause: Array, typed: Array) -> Array:
    """For each word the place of the word that leads to it, names, titles and articles skipped.

    -1 where the clause begins before one is met.
    """
    articles = _table(view.batch, ("a", "an", "the", "its", "his", "her", "their"))
    skip = typed | ((kind & (CAPITAL | TITLE | NUMBER | MONTH)) > 0)
    skip |= articles[view.batch.canon[view.a_place]]
    index = np.arange(len(row))
    last = np.maximum.accumulate(np.where(skip, -1, index)) if len(row) else index
    before = np.concatenate([[-1], last[:-1]]) if len(row) else last
    spot = np.maximum(before, 0)
    same = (before >= 0) & (row[spot] == row) & (clause[spot] == clause) if len(row) else before
    return np.where(same, before, -1)


def _table(batch: Batch, words: tuple[str, ...]) -> Array:
    """Which canonical words are among `words`."""
    out = np.zeros(len(batch.lexicon.canon_words), dtype=bool)
    for word in words:
        place = batch.lexicon.canon_id(word)
        if place >= 0:
            out[place] = True
    return out


# --- What the question asks for, and whether the answer declines ----------------------------------


def question_features(view: FeatureView) -> dict[str, Array]:
    """Kind of question, answers of the wanted type, signs of refusal."""
    batch = view.batch
    raw = batch.raw
    questions = sorted(set(batch.question.tolist()))
    place = {text: i for i, text in enumerate(questions)}
    at = np.array([place[i] for i in batch.question.tolist()], dtype=np.int64)
    lower = [raw[i].lower() for i in questions]
    found: dict[str, Array] = {
        name: np.array([bool(pattern.search(text)) for text in lower], dtype=float)[at]
        for name, pattern in QUESTION_KINDS
    }
    found["asks_latest"] = np.array([bool(LATEST.search(text)) for text in lower], dtype=float)[at]
    found["asks_list"] = np.array([bool(SEVERAL.search(text)) for text in lower], dtype=float)[at]
    found["question_words"] = batch.texts.count[batch.question]

    distinct = sorted(set(batch.answer.tolist()))
    where = {text: i for i, text in enumerate(distinct)}
    of_row = np.array([where[i] for i in batch.answer.tolist()], dtype=np.int64)
    small = [raw[i][:2000].lower() for i in distinct]
    lowered = pl.Series(small, dtype=pl.String)

    def found_in(pattern: re.Pattern[str]) -> Array:
        """Where a pattern without lookaround is found, all texts at once."""
        return lowered.str.contains(pattern.pattern).to_numpy()

    refusals = [
        REFUSAL.search(text) if has else None
        for text, has in zip(small, found_in(REFUSAL).tolist(), strict=True)
    ]
    found["refusal"] = np.array([float(hit is not None) for hit in refusals])[of_row]
    found["refusal_place"] = np.array(
        [-1.0 if hit is None else float(hit.start()) for hit in refusals]
    )[of_row]
    found["outdated_cue"] = found_in(OUTDATED).astype(float)[of_row]
    found["speaks_to_marker"] = found_in(INJECTION).astype(float)[of_row]
    kind = batch.kind[view.a_place]
    new = ~view.a_known
    found["answer_numbers"] = view.per_answer(((kind & NUMBER) > 0) & new)
    found["answer_names"] = view.per_answer(((kind & CAPITAL) > 0) & new)
    found["lacks_wanted_type"] = (
        (found["asks_when"] > 0)
        & (view.per_answer(((kind & (YEAR | MONTH | NUMBER)) > 0) & new) == 0)
    ) | ((found["asks_how_many"] > 0) & (found["answer_numbers"] == 0))
    return found
