"""What nobody would call part of an answer is taken out before it is judged.

Nothing goes that question or reference speak of. All patterns run in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import polars as pl

from markscheme.text.frames import may_be_wrapped, unwrapped

_URL = r"https?://[^\s()]+(?:\([^\s()]*\)[^\s()]*)*"

_MARKS = (
    # [^1^], [1], [1, 2], [^1^][2], each with an address that may follow it
    rf"[ \t]*\[\^?[1-9]\d?\^?(?:[,;] ?\^?[1-9]\d?\^?)*\](?:\({_URL}\))?",
    r"[ \t]*【\d+(?::\d+)?†[^】\n]*】",
    r"\x{e200}cite\x{e202}[^\x{e201}\n]*\x{e201}",
)
_SOURCE_LINE = rf"(?m)^[ \t]*(?:\[\^?\d+\^?\]:?|\(\d+\))[^\n]*{_URL}[^\n]*(?:\n|$)"

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
    pieces = {piece.strip().casefold() for piece in removed if piece[:1] != "`"}
    if any(piece in one for piece in pieces for one in (question.casefold(), *given)):
        return True
    lost = set(_words(text)) - set(_words(shorter))
    return any(word in lost for one in given for word in _words(one))


def _words(text: str) -> Iterator[str]:
    """Numbers and words of four letters and more, outside of addresses, in lower case."""
    for word in re.findall(r"\w+", re.sub(r"https?://\S+", " ", text.casefold())):
        if len(word) > 3 or any(character.isdigit() for character in word):
            yield word
