"""Exact match, containment and token F1 on SQuAD-normalised text, the best over the references.

Every function takes n answers (String) and n lists of references (List(String)) and gives n
scores (Float64, 0 to 1) in the same order; null where the answer is null or has no reference.
"""

from __future__ import annotations

import operator
import re
from functools import partial
from typing import Literal

import numpy as np
import polars as pl

from markscheme.metrics.pairs import (
    Pairs,
    as_written,
    by_pieces,
    pair_grams,
    shared,
    without_repeats,
)
from markscheme.text import normalise_series, split_expr

Empty = Literal["everywhere", "verbatim"]
"""Where a reference that normalises to nothing is found."""

SHORT_REFERENCE = 12
"""References up to this many tokens are looked up in the answer as text, longer ones by sorting."""

LONG_REFERENCE = 256
"""References longer than so many bytes are looked for by Python."""

_PIECE_BYTES = 2**23
"""Of texts that are split, or made Python's, at once."""

_WORD_EDGE = re.compile(r"\b")


def exact_match(
    answers: pl.Series, references: pl.Series, *, empty_reference: Empty = "everywhere"
) -> pl.Series:
    """1 where the normalised answer equals a normalised reference, else 0 (Rajpurkar et al. 2016).

    With `everywhere`, two texts that normalise to nothing ("A" and "the", or no words at all) are
    equal, as in SQuAD's script; with `verbatim` the answer must be the reference as it is written,
    upper and lower case alike.
    """
    raw = Pairs.of(answers, references)
    return exact_match_of(raw.map(normalise_series), raw, empty_reference=empty_reference)


def exact_match_of(pairs: Pairs, raw: Pairs, *, empty_reference: Empty = "everywhere") -> pl.Series:
    """`exact_match` of pairs already normalised, and the same pairs as they were written."""
    found = pairs.spread(pairs.answers) == pairs.references
    if empty_reference == "verbatim":
        found = as_written(found, pairs, raw, operator.eq)
    return pairs.best(found)


def contains(
    answers: pl.Series, references: pl.Series, *, empty_reference: Empty = "everywhere"
) -> pl.Series:
    """1 where a normalised reference occurs in the normalised answer, else 0.

    Containment is of characters, not words, as in Wang et al. 2023 (EVOUNA): "art" is found in
    "started". A reference that normalises to nothing ("A", "*") is found in every answer with
    `everywhere`, as in those papers; with `verbatim` it must occur in the answer as it is written,
    not within a word, upper and lower case alike.
    """
    raw = Pairs.of(answers, references)
    return contains_of(raw.map(normalise_series), raw, empty_reference=empty_reference)


def contains_of(pairs: Pairs, raw: Pairs, *, empty_reference: Empty = "everywhere") -> pl.Series:
    """`contains` of pairs already normalised, and the same pairs as they were written."""
    found = _contained(pairs.spread(pairs.answers), pairs.references)
    if empty_reference == "verbatim":
        apart = partial(by_pieces, _contained_apart, size=_PIECE_BYTES)
        found = as_written(found, pairs, raw, apart)
    return pairs.best(found)


def _contained(answers: pl.Series, references: pl.Series) -> pl.Series:
    table = pl.DataFrame({"answer": answers, "reference": references})
    # Polars takes time in proportion to the product of both lengths, Python's search to their sum.
    is_long = pl.col("reference").str.len_bytes() > LONG_REFERENCE
    short = pl.when(is_long).then(None).otherwise("reference")
    found = table.select(pl.col("answer").str.contains(short, literal=True)).to_series()
    places = table.select((is_long & pl.col("answer").is_not_null()).arg_true()).to_series()
    return found.scatter(places, [part in text for text, part in table[places].iter_rows()])


def _contained_apart(answers: pl.Series, references: pl.Series) -> pl.Series:
    """Whether a reference occurs in an answer, its letters not touching those of another word."""
    distinct, owner = without_repeats(answers)
    texts, parts = (
        [None if text is None else _WORD_EDGE.sub("\0", text) for text in side]
        for side in (distinct, references)
    )
    found = [
        None if (text := texts[place]) is None or part is None else part in text
        for place, part in zip(owner.tolist(), parts, strict=True)
    ]
    return pl.Series(found, dtype=pl.Boolean)


def token_f1(
    answers: pl.Series, references: pl.Series, *, empty_reference: Empty = "everywhere"
) -> pl.Series:
    """Highest F1 of normalised tokens, counted with repeats, over the references.

    2PR / (P + R) with P and R the shares of the answer's and the reference's tokens that the two
    have in common (Rajpurkar et al. 2016). With `everywhere`, as in SQuAD 1.1 and in the figures of
    Kamalloo et al. 2023, two texts without any token get 0, though they match exactly; with
    `verbatim` an answer gets 1 where it is such a reference as it is written.
    """
    raw = Pairs.of(answers, references)
    return token_f1_of(raw.map(normalise_series), raw, empty_reference=empty_reference)


def token_f1_of(pairs: Pairs, raw: Pairs, *, empty_reference: Empty = "everywhere") -> pl.Series:
    """`token_f1` of pairs already normalised, and the same pairs as they were written."""
    answer, common = pl.col("answer"), pl.col("common")
    # Of an answer once, and not for each of its references, which may be very many.
    answers = pairs.answers.to_frame("answer").with_columns(
        padded=pl.concat_str(pl.lit(" "), answer, pl.lit(" ")),
        words=answer.str.count_matches(" ", literal=True) + 1,
    )
    table = pl.DataFrame(
        {column.name: pairs.spread(column) for column in answers} | {"reference": pairs.references}
    ).with_columns(tokens=split_expr(pl.col("reference")))
    lengths = pl.col("tokens").list.len()
    table = table.with_columns(
        size=lengths,
        simple=(lengths <= SHORT_REFERENCE) & (pl.col("tokens").list.n_unique() == lengths),
    )
    overlap = _looked_up(table)
    if not table["simple"].all():
        hard = table.filter(~pl.col("simple"))
        counted = by_pieces(_counted, hard["answer"], hard["reference"], size=_PIECE_BYTES)
        overlap = overlap.scatter((~table["simple"]).arg_true(), counted)
    # Only answers that share a token need their tokens counted.
    sharing = (overlap > 0).arg_true()
    parts = table.with_columns(common=overlap)[sharing].select(
        2 * common / (pl.col("words") + pl.col("size"))
    )
    scores = pl.zeros(table.height, pl.Float64, eager=True).scatter(sharing, parts.to_series())
    if empty_reference == "verbatim":
        scores = as_written(scores, pairs, raw, operator.eq)
    return pairs.best(scores.set(table["answer"].is_null(), None))


def _looked_up(table: pl.DataFrame) -> pl.Series:
    """How many of a simple reference's tokens occur in its answer as whole tokens: UInt32.

    That is the size of the multiset intersection, since such a reference repeats no token. Looking
    few tokens up in the answer's text is several times faster than splitting the answer.
    """
    answer, token = pl.col("answer"), pl.col("token")
    tokens = table.select(pl.when("simple").then("tokens")).to_series()
    counts = tokens.list.len().fill_null(0).to_numpy().astype(np.int64)
    found = (
        pl.DataFrame(
            {
                "answer": table["padded"].gather(np.repeat(np.arange(len(counts)), counts)),
                "token": tokens.explode(empty_as_null=False, keep_nulls=False),
            }
        )
        .select(answer.str.contains(pl.concat_str(pl.lit(" "), token, pl.lit(" ")), literal=True))
        .to_series()
    )
    running = np.concatenate([[0], np.cumsum(found.fill_null(value=False).to_numpy())])
    ends = np.cumsum(counts)
    return pl.Series((running[ends] - running[ends - counts]).astype(np.uint32))


def _counted(answers: pl.Series, references: pl.Series) -> pl.Series:
    """Size of the multiset intersection of the tokens of each pair: UInt32."""
    return pl.Series(shared(*pair_grams(answers, references, split_expr)).astype(np.uint32))
