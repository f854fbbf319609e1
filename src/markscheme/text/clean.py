"""Cleaning of chat answers before they are judged, as EVOUNA did for BingChat's.

Wang et al. 2023 took special symbols, references to sources and closing questions such as "Would
you like to know more about ...?" out of BingChat's answers, because they disturb lexical measures
and prompted judges alike. The paper lists no rules; these are ours. All run in linear time.
"""

from __future__ import annotations

import polars as pl

_URL = r"https?://[^\s()]+(?:\([^\s()]*\)[^\s()]*)*"

_CITATIONS = (
    # [^1^], [1], [1, 2], [^1^][2], each with an address that may follow it
    rf"[ \t]*\[\^?[1-9]\d?\^?(?:[,;] ?\^?[1-9]\d?\^?)*\](?:\({_URL}\))?",
    r"[ \t]*【\d+(?::\d+)?†[^】\n]*】",
    r"\x{e200}cite\x{e202}[^\x{e201}\n]*\x{e201}",
    r"(?i)[ \t]*\((?:sources?|via):[^()\n]*\)",
)
_RAISED_NUMBER = (
    r"(\p{L}{4}|\p{Lu}\p{Ll}{2}|\b(?:1[5-9]|20)\d\d|[.,;:!?)\]\x22'”’])[⁰¹²³⁴-⁹]+|[ \t]+[⁰¹²³⁴-⁹]+"
)
"""Superscripts are citations after a word, a year, a mark or a space; not in "km²" and "10⁶"."""

_LINK = rf"\[([^\[\]\n]+)\]\({_URL}\)"
_BOLD = r"\*\*([^*\n]+)\*\*"
_SYMBOLS = (
    r"[\x{1f000}-\x{1faff}\x{2600}-\x{27bf}\x{2b50}\x{fe0f}\x{200d}"
    r"\x{200b}\x{2060}\x{feff}\x{e000}-\x{f8ff}\x{fffd}]"
)

_ITEM = rf"(?:{_URL}|\[|\(\d|\d+\.|[-*•])"
_SOURCE_LIST = (
    r"(?is)(?:^|\n)[ \t>*#_-]*(?:sources?|references?|citations?|learn more|read more|see also|"
    r"further reading)[ \t*_]*"
    rf"(?::[ \t*_]*(?:{_ITEM}|conversation with bing|\n|$).*|\n\s*{_ITEM}.*)$"
)
_BING_SOURCES = r"(?is)[ \t\n(]*\bsources?: ?conversation with bing\b.*$"
"""BingChat's list of sources, which some exports have in the line of the answer."""

_SOURCE_LINE = rf"(?m)^[ \t]*(?:\[\^?\d+\^?\]:?|\(\d+\))[^\n]*{_URL}[^\n]*(?:\n|$)"

_OFFERS = (
    "would you like",
    "do you (?:want|need|have any)",
    "are you (?:interested|looking|curious|planning (?:a|to|on|your))",
    "is there (?:anything|something) (?:else|more|specific|in particular)",
    "(?:is|does) (?:this|that) (?:help|answer)",
    "(?:what|how) else (?:can|may|would|do)",
    "(?:how|what) (?:can|may) i (?:help|do)",
    "(?:can|may|shall|should) i (?:help|tell|show|assist|explain)",
    "(?:do you )?want (?:me )?to (?:know|hear|learn|see|explain|tell)",
    "anything else",
)
_CLOSING_QUESTION = (
    r"(?is)(^|[.!?…:)\]\x22”’\n])\s*"
    rf"(?:(?:by the way|also|so)?,?\s*(?:{'|'.join(_OFFERS)})[^?]*\?\s*)+$"
)
_CLOSING_WISH = (
    r"(?i)(^|[.!?…:)\]\x22”’\n])\s*(?:i hope (?:this|that) (?:helps?|answers)|"
    r"let me know if|feel free to ask)[^.!?\n]*[.!]?\s*$"
)


def clean_expr(column: pl.Expr) -> pl.Expr:
    """A String column of chat answers without citation marks, symbols, sources and closing offers.

    Links become their text. An answer of which nothing would be left stays as it was; null stays
    null.
    """
    text = column.str.replace_all(_SOURCE_LINE, "").str.replace(_SOURCE_LIST, "")
    text = text.str.replace(_BING_SOURCES, "")
    for citation in _CITATIONS:
        text = text.str.replace_all(citation, "")
    text = (
        text.str.replace_all(_RAISED_NUMBER, "$1")
        .str.replace_all(_LINK, "$1")
        .str.replace_all(_BOLD, "$1")
        .str.replace_all(_SYMBOLS, "")
        .str.strip_chars()
        .str.replace(_CLOSING_QUESTION, "$1")
        .str.replace(_CLOSING_WISH, "$1")
        .str.replace(_CLOSING_QUESTION, "$1")
        .str.strip_chars()
    )
    return pl.when(text == "").then(column).otherwise(text)


def clean_series(texts: pl.Series) -> pl.Series:
    """`clean_expr` of a String series; name, order and nulls are preserved."""
    return texts.to_frame("text").select(clean_expr(pl.col("text"))).to_series().alias(texts.name)


def clean(text: str) -> str:
    """One chat answer without citation marks, symbols, sources and closing offers.

    >>> clean("Paris[^1^]. Would you like to know more about Paris?")
    'Paris.'
    """
    cleaned: str = clean_series(pl.Series([text]))[0]
    return cleaned
