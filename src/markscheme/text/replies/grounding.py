"""Whether a text that a model wrote about some inputs carries the content of those inputs.

A model that fails answers every input alike: "N/A", "Error: rate limit exceeded". Such a text is
fluent and passes for a statement; two of them are equal, and equal statements entail each other. So
what a stage writes must name what its own input names.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata

from markscheme.text.inflection import stem
from markscheme.text.lexicon import STOP
from markscheme.text.numbers import word_value

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""Scripts that set no spaces between words: a character is a word there."""
_BARE_VERDICT = re.compile(
    r"^\W*(?:yes|no|true|false|yeah|yep|nope|never|none|nothing|nobody|no one|not?)\b",
    re.IGNORECASE,
)
_LONGEST = 4000
_PREFIX = 4
_MANY = 20

LEAST_ABOUT = 0.25
"""Share of a text's content words that must come from its inputs."""
LEAST_CARRIED = 0.2
"""Share of the input's content words that a text must have: one at least, and four are enough."""


def content_words(text: str) -> frozenset[str]:
    """Stems of the words that carry content; of a text without any, all of its words.

    >>> sorted(content_words("The cities of France")), sorted(content_words("It is"))
    (['city', 'france'], ['is', 'it'])
    """
    return _words(text)[0]


@functools.lru_cache(maxsize=4096)
def _words(text: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Content words, all words, and the beginnings of the latter, as they are compared."""
    plain = text[:_LONGEST].casefold()
    if not plain.isascii():
        parts = unicodedata.normalize("NFKD", plain)
        plain = "".join(mark for mark in parts if not unicodedata.combining(mark))
        plain = _UNSPACED.sub(lambda sign: f" {sign[0]} ", plain)
    found = _WORD.findall(plain)
    every = frozenset(map(_key, found))
    content = frozenset(_key(word) for word in found if word not in STOP)
    starts = frozenset(word[:_PREFIX] for word in every if len(word) >= _PREFIX)
    return content or every, every, starts


@functools.lru_cache(maxsize=4096)
def _key(word: str) -> str:
    value = word_value(word)
    if value is not None and math.isfinite(value) and value == int(value):
        return str(int(value))
    return stem(word.replace("'", "").replace("’", ""))


def mentions(text: str, *, of: str) -> bool:
    """Whether a text has one content word of its input at least; true of an input without words."""
    _, every, starts = _words(text)
    wanted = content_words(of)
    return not wanted or any(_has(word, every, starts) for word in wanted)


def ungrounded(text: str, *, of: str, about: str = "") -> str | None:
    """Why a text does not carry the content of its input; None if it does.

    It must have a word of `of` (a fifth of them where there are many), and a quarter of its own
    words must come from `of` or `about`. Words are compared by stem or their first four letters,
    numbers by value. A bare yes or no ("No.") has its content in `about`.

    Args:
        text: what a model wrote.
        of: the input that it must carry, such as the answer that a statement is made of.
        about: what it may be written with besides, such as the question.

    >>> ungrounded("Paris is the capital of France.", of="Paris", about="the capital of France?")
    >>> ungrounded("Error: rate limit exceeded", of="Paris", about="the capital of France?")
    'it has nothing of its input (Paris)'
    """
    said, every, starts = _words(text)
    wanted = content_words(_BARE_VERDICT.sub("", of)) or content_words(about) or content_words(of)
    if not wanted:
        return None
    if not said:
        return "it has no words"
    carried = sum(_has(word, every, starts) for word in wanted)
    if carried < max(1.0, LEAST_CARRIED * min(len(wanted), _MANY)):
        short = " ".join(of.split())
        return f"it has nothing of its input ({short[:40]}{'...' if len(short) > 40 else ''})"
    _, words_of, starts_of = _words(of)
    _, words_about, starts_about = _words(about)
    known, beginnings = words_of | words_about, starts_of | starts_about
    if sum(_has(word, known, beginnings) for word in said) < LEAST_ABOUT * len(said):
        return "most of it is about something else than its input"
    return None


def _has(word: str, words: frozenset[str], starts: frozenset[str]) -> bool:
    return word in words or (len(word) >= _PREFIX and word[:_PREFIX] in starts)
