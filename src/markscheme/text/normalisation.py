"""SQuAD normalisation of answers, for one string and for whole columns.

Lower case; the 32 ASCII punctuation marks out; the articles "a", "an", "the" out; white space of
every kind that Unicode knows folded to single spaces and trimmed (Rajpurkar et al. 2016, the
official evaluation script). `normalise` defines it by Python's own Unicode tables;
`normalise_series` gives equal results for columns, mostly outside Python.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable

import polars as pl

_ARTICLES = re.compile(r"\b(?:an?|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """`text` as SQuAD compares it: lower case, no ASCII punctuation, no articles, single spaces.

    >>> normalise("The  Beatles' (UK)")
    'beatles uk'
    """
    plain = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", plain).split())


def unaccented(text: str) -> str:
    """`text` without accents.

    >>> unaccented("Łódź, Zürich")
    'Łodz, Zurich'
    """
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return "".join(char for char in apart if not unicodedata.combining(char))


# The column version works on bytes. Whatever the engine's tables and Python's might see
# differently goes, row by row, through `normalise`: characters outside `_AGREED`, and articles that
# touch a character outside ASCII, where only Unicode can say whether a word ends.
SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680" + "".join(
    map(chr, [*range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000])
)
"""Every white-space character of `str.split`, except the plain space."""

_FOLD = [*string.punctuation, *SPACES]
_FOLD_TO = [""] * len(string.punctuation) + [" "] * len(SPACES)
_GAPS = r"(?-u: *(?: {2}|\b(?:an?|the)\b)(?: |\b(?:an?|the)\b)*)"

AGREED_RANGES = (
    (0x00, 0x12F),  # Latin; U+0130 lowers to two characters
    (0x131, 0x24F),
    (0x300, 0x36F),  # combining marks
    (0x370, 0x3A2),  # Greek without capital sigma, whose lower case depends on its place
    (0x3A4, 0x3FF),
    (0x400, 0x52F),  # Cyrillic
    (0x5D0, 0x5F4),  # Hebrew
    (0x600, 0x6FF),  # Arabic
    (0x900, 0x97F),  # Devanagari
    (0xE00, 0xE7F),  # Thai
    (0x1E00, 0x1EFF),  # Latin with diacritics
    (0x2000, 0x20C0),  # punctuation, superscripts, currency
    (0x2190, 0x22FF),  # arrows, mathematics
    (0x3000, 0x30FF),  # CJK punctuation, kana
    (0x4E00, 0x9FFF),  # CJK
    (0xAC00, 0xD7A3),  # Hangul
    (0xFF00, 0xFFEF),  # full-width forms
    (0x1F300, 0x1FAFF),  # pictographs
)
"""Code points whose lower case is the same in Python and in Polars, whatever comes next to them."""

_STRANGE = "[^" + "".join(rf"\x{{{low:x}}}-\x{{{high:x}}}" for low, high in AGREED_RANGES) + "]"
_TOUCHING = r"[^\x00-\x7f](?:an?|the)(?-u:\b)|(?-u:\b)(?:an?|the)[^\x00-\x7f]"


SLICE = 8_192
"""Fewest rows worth a thread of their own."""


_SAMPLE = 1_024
"""Texts in which repeats are looked for."""


def normalise_series(texts: pl.Series) -> pl.Series:
    """`normalise` of every string in `texts`; nulls stay null, name and order are preserved."""
    if texts.is_empty():
        return texts
    sample = texts.head(_SAMPLE)
    if len(texts) <= _SAMPLE or 2 * sample.n_unique() > len(sample):
        return _normalised(texts)
    # References, of which every system's answer to a question brings the same ones along.
    distinct = texts.unique()
    table = pl.DataFrame({"raw": distinct, "normal": _normalised(distinct)})
    every = texts.alias("raw").to_frame()
    return every.join(table, on="raw", how="left", maintain_order="left")["normal"].alias(
        texts.name
    )


def _normalised(texts: pl.Series) -> pl.Series:
    raw, folded = pl.col("raw"), pl.col("folded")
    wide = raw.str.len_bytes() != raw.str.len_chars()
    # Slices, since Polars runs the string functions of one column on one core.
    size = max(SLICE, -(-len(texts) // pl.thread_pool_size()))
    plans = [
        piece.lazy()
        .with_columns(raw.str.to_lowercase().str.replace_many(_FOLD, _FOLD_TO).alias("folded"))
        .select(
            folded.str.replace_all(_GAPS, " ").str.strip_chars(" ").alias("normal"),
            wide.alias("wide"),
            "folded",
        )
        for piece in texts.alias("raw").to_frame().iter_slices(size)
    ]
    frame = pl.concat(pl.collect_all(plans))
    normal = frame["normal"]
    candidates = frame["wide"].fill_null(value=False).arg_true()
    if candidates.len():
        wide_rows = pl.DataFrame(
            {"raw": texts.gather(candidates), "folded": frame["folded"].gather(candidates)}
        )
        unsure = wide_rows.select(
            raw.str.contains(_STRANGE) | folded.str.contains(_TOUCHING)
        ).to_series()
        if unsure.any():
            exact = [normalise(text) for text in wide_rows["raw"].filter(unsure)]
            normal = normal.scatter(candidates.filter(unsure), pl.Series(exact, dtype=pl.String))
    return normal.alias(texts.name)


def split_expr(normalised: pl.Expr) -> pl.Expr:
    """The tokens of an already normalised String column: List(String), empty for empty text."""
    words = normalised.str.split(" ")
    return pl.when(normalised == "").then(words.list.head(0)).otherwise(words)


def mapped_series(texts: pl.Series, pattern: str, change: Callable[[str], str]) -> pl.Series:
    """A column of texts, or of lists of texts, with a change made to each.

    The column itself is returned where no text has the pattern, in Polars' syntax, without which
    `change` must leave a text as it is. Nulls, name and order are preserved.
    """
    nested = texts.dtype == pl.List(pl.String)
    flat = texts.explode(empty_as_null=True) if nested else texts
    if not flat.str.contains(pattern).any():
        return texts
    changed: list[object] = [
        [one and change(one) for one in row] if isinstance(row, list) else row and change(row)
        for row in texts.to_list()
    ]
    return pl.Series(texts.name, changed, dtype=texts.dtype)
