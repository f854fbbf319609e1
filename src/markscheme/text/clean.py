"""Cleaning of chat answers before they are judged: plain formatting only, or as EVOUNA did.

Wang et al. 2023 took special symbols, references to sources and closing questions such as "Would
you like to know more about ...?" out of BingChat's answers, because they disturb lexical measures
and prompted judges alike. The paper lists no rules; these are ours, and `clean_series` applies all
of them. `without_formatting` takes out only what nobody would call part of an answer, and nothing
that question or reference speak of. All patterns run in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import polars as pl

from markscheme.text.frames import may_be_wrapped, unwrapped
from markscheme.text.words import words_of

_URL = r"https?://[^\s()]+(?:\([^\s()]*\)[^\s()]*)*"

_MARKS = (
    # [^1^], [1], [1, 2], [^1^][2], each with an address that may follow it
    rf"[ \t]*\[\^?[1-9]\d?\^?(?:[,;] ?\^?[1-9]\d?\^?)*\](?:\({_URL}\))?",
    r"[ \t]*【\d+(?::\d+)?†[^】\n]*】",
    r"\x{e200}cite\x{e202}[^\x{e201}\n]*\x{e201}",
)
_CITATIONS = (*_MARKS, r"(?i)[ \t]*\((?:sources?|via):[^()\n]*\)")
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

_PATTERNS = words_of(__file__)["patterns"]
_OFFERS, _WISHES = "|".join(_PATTERNS["offers"]), "|".join(_PATTERNS["wishes"])
_CLOSING_QUESTION = (
    r"(?is)(^|[.!?…:)\]\x22”’\n])\s*"
    rf"(?:(?:by the way|also|so)?,?\s*(?:{_OFFERS})[^?]*\?\s*)+$"
)
_CLOSING_WISH = rf"(?i)(^|[.!?…:)\]\x22”’\n])\s*(?:{_WISHES})[^.!?\n]*[.!]?\s*$"


def clean_series(texts: pl.Series) -> pl.Series:
    """Chat answers (String) without citation marks, symbols, sources and closing offers.

    Links become their text. An answer of which nothing would be left stays as it was; name, order
    and nulls are preserved.

    >>> clean_series(pl.Series(["Paris[^1^]. Would you like to know more about Paris?"]))[0]
    'Paris.'
    """
    column = pl.col("text")
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
    kept = pl.when(text == "").then(column).otherwise(text)
    return texts.to_frame("text").select(kept).to_series().alias(texts.name)


_END = '.!?…:)]"”’ \t\n'
"""What may precede a closing offer and is matched with it."""

_CODE = r"(?s:```.*?```)|`[^`\n]*`"
_FORMATTING = (
    # what is taken out, and what stays of it
    (_SOURCE_LINE, ""),
    (rf"({_CODE})|{'|'.join(_MARKS)}", "$1"),
)


def without_formatting(
    answers: pl.Series, questions: pl.Series, references: pl.Series
) -> pl.Series:
    """Answers without citation marks, sources at the end, closing offers and other wrappings.

    Wrappings (`frames.unwrapped`) are markup around the whole, a label or the question before it,
    and lines that speak of the answering. Marks are `[1]`, `[^1^]`, `[1, 2](https://...)` and
    `【4:0†handbook.md】`, outside of code. What question or reference contain stays, and so does
    what holds a word of a reference (a number, or four letters and more) that the rest of the
    answer lacks; addresses of pages do not count.

    Args:
        answers: String.
        questions: String, as long.
        references: List(String), as long.

    Returns:
        The answers, null where nothing was taken out; an answer of which nothing would be left
        keeps all of it.
    """
    text = answers.rename("text")
    text = _unwrapped(text, questions, references, may_be_wrapped(text))
    for pattern, left in _FORMATTING:
        shorter = text.to_frame().select(pl.col("text").str.replace_all(pattern, left)).to_series()
        changed = (shorter != text).arg_true()
        rows = (one.gather(changed).to_list() for one in (text, shorter, questions, references))
        kept = [
            place
            for place, row in zip(changed, zip(*rows, strict=True), strict=True)
            if _speaks_of(pattern, *row)
        ]
        text = shorter.scatter(kept, text.gather(kept)) if kept else shorter
    changed = text != answers  # Others would be read as before.
    text = _unwrapped(text, questions, references, may_be_wrapped(text) & changed)
    text = text.str.strip_chars()
    other = (text != "") & (text != answers.str.strip_chars())
    return pl.select(pl.when(other).then(text)).to_series()


def _unwrapped(
    texts: pl.Series, questions: pl.Series, references: pl.Series, wrapped: pl.Series
) -> pl.Series:
    """The texts without their wrappings, where they may be wrapped."""
    places = wrapped.arg_true()
    if places.is_empty():
        return texts
    rows = zip(
        *(one.gather(places).to_list() for one in (texts, questions, references)), strict=True
    )
    return texts.scatter(places, [unwrapped(*row) for row in rows])


def _speaks_of(
    pattern: str, text: str, shorter: str, question: str, references: Sequence[str] | None
) -> bool:
    """Whether question or references speak of what a pattern takes out of a text."""
    given = [one.casefold() for one in references or ()]
    removed = pl.Series([text]).str.extract_all(pattern)[0]
    pieces = {piece.lstrip(_END).rstrip().casefold() for piece in removed if piece[:1] != "`"}
    if any(piece in one for piece in pieces for one in (question.casefold(), *given)):
        return True
    lost = set(_words(text)) - set(_words(shorter))
    return any(word in lost for one in given for word in _words(one))


def _words(text: str) -> Iterator[str]:
    """Numbers and words of four letters and more, outside of addresses, in lower case."""
    for word in re.findall(r"\w+", re.sub(r"https?://\S+", " ", text.casefold())):
        if len(word) > 3 or any(character.isdigit() for character in word):
            yield word
