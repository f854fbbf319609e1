"""Contractions of English written out: "didn't" and "did not" are the same words."""

from __future__ import annotations

import re

import polars as pl

_NOT = re.compile(r"\b(ca|wo|sha|ai|[a-z]+)n['’]t\b", re.IGNORECASE)
_IRREGULAR = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}
_IS = re.compile(
    r"\b(it|he|she|that|there|here|what|who|where|how|when)['’]s\b(?!\s+(?:own|been)\b)",
    re.IGNORECASE,
)
_VERBS = {"re": "are", "ve": "have", "ll": "will", "m": "am"}
_VERB = re.compile(r"\b(i|you|we|they|he|she|it|that|there|who)['’](re|ve|ll|m)\b", re.IGNORECASE)
_CANNOT = re.compile(r"\bcannot\b", re.IGNORECASE)
_ANY = r"(?i)n['’]t\b|['’](?:s|re|ve|ll|m)\b|\bcannot\b"


def written_out(text: str) -> str:
    """A text with its contractions written out.

    >>> written_out("It didn't, and you can't: that's all we've got.")
    'It did not, and you can not: that is all we have got.'
    """
    text = _NOT.sub(lambda hit: f"{_IRREGULAR.get(hit[1].lower(), hit[1])} not", text)
    text = _IS.sub(r"\1 is", text)
    text = _VERB.sub(lambda hit: f"{hit[1]} {_VERBS[hit[2].lower()]}", text)
    return _CANNOT.sub("can not", text)


def written_out_series(texts: pl.Series) -> pl.Series:
    """The same of a column of texts, or of lists of texts; most are returned as they are."""
    if texts.dtype == pl.List(pl.String):
        flat = texts.explode(empty_as_null=True)
        if not flat.str.contains(_ANY).any():
            return texts
        lists = [
            None if some is None else [None if one is None else written_out(one) for one in some]
            for some in texts.to_list()
        ]
        return pl.Series(texts.name, lists, dtype=texts.dtype)
    if not texts.str.contains(_ANY).any():
        return texts
    return pl.Series(
        texts.name,
        [None if text is None else written_out(text) for text in texts.to_list()],
        dtype=texts.dtype,
    )
