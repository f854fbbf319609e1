"""English word forms: a light stemmer, and contractions written out.

Made for comparing words with words, not for linguistics: both sides go through it, so that it only
has to be consistent. Short words stay as they are.
"""

from __future__ import annotations

import re

import polars as pl

from markscheme.text.normalisation import mapped_series
from markscheme.text.words import by_word, words_of

_FORMS = words_of(__file__)
_IRREGULAR = by_word(_FORMS["irregular"]) | by_word(_FORMS["spelling"])
_VOWELS = set("aeiouy")
_DROPPED_E = re.compile(r"[^aeiou][aeiou][^aeiouwxy]$")
"""What is left of short verbs in -e: "hoped", "making". Others double the last letter: "hopped"."""
_BRITISH = (
    ("isation", "ization"),
    ("ising", "izing"),
    ("ised", "ized"),
    ("ise", "ize"),
    ("our", "or"),
)


def stem(word: str) -> str:
    """The stem of a lower-case word without accents.

    >>> [stem(w) for w in ("cities", "boxes", "running", "hoped", "glass", "wives")]
    ['city', 'box', 'run', 'hope', 'glass', 'wife']
    """
    if word in _IRREGULAR:
        word = _IRREGULAR[word]
        return word[:-1] if word.endswith("e") and len(word) > 4 else word
    if len(word) <= 3 or not word.isalpha():
        return word
    word = _one_spelling(_singular(word))
    for ending in ("ing", "ed"):
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) >= 3 and _VOWELS & set(base):
            if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
                base = base[:-1]
            elif len(base) == 3 and _DROPPED_E.match(base):
                return base + "e"
            return base[:-1] if base.endswith("e") and len(base) > 4 else base
    if word.endswith("e") and len(word) > 4:
        return word[:-1]
    return word


def _one_spelling(word: str) -> str:
    """American endings for British ones: "organise", "colour"."""
    if len(word) > 5:
        for british, american in _BRITISH:
            if word.endswith(british):
                return word[: -len(british)] + american
    return word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


# --- Contractions of English written out: "didn't" and "did not" are the same words ---------------


_NOT = re.compile(r"\b(ca|wo|sha|ai|[a-z]+)n['’]t\b", re.IGNORECASE)
_SHORT_FORMS = {"ca": "can", "wo": "will", "sha": "shall", "ai": "is"}
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
    text = _NOT.sub(lambda hit: f"{_SHORT_FORMS.get(hit[1].lower(), hit[1])} not", text)
    text = _IS.sub(r"\1 is", text)
    text = _VERB.sub(lambda hit: f"{hit[1]} {_VERBS[hit[2].lower()]}", text)
    return _CANNOT.sub("can not", text)


def written_out_series(texts: pl.Series) -> pl.Series:
    """The same of a column of texts, or of lists of texts; most are returned as they are."""
    return mapped_series(texts, _ANY, written_out)
