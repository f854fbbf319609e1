"""Whether a text that a model wrote about some inputs carries the content of those inputs.

A model that fails answers every input alike: "N/A", "Error: rate limit exceeded". Such a text is
fluent and passes for a statement; two of them are equal, and equal statements entail each other. So
what a stage writes must name what its own input names.
"""

from __future__ import annotations

import functools
import re

from rapidfuzz import fuzz

from markscheme.text import (
    DECADES,
    STOP,
    is_foreign,
    stem,
    unaccented,
    yes_or_no,
)
from markscheme.text.replies import VERDICT_WORDS
from markscheme.values import Outcome, compare_values, numbers_of

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""Scripts that set no spaces between words: a character is a word there."""
_SHORTENED = re.compile(r"(?:n['’]t|['’](?:s|re|ll|ve|d|m))$")
_EMPTY = frozenset(VERDICT_WORDS).union(
    """
    not never none nothing nobody neither nowhere yet zero 0 n absolutely definitely certainly
    sure surely indeed course exactly ca wo cannot f y unknown undisclosed unclear undefined tba
    tbd former latter many much me us mine yours
    """.split()
)
"""Words of an answer that have their content in the question: "None", "The former"."""
_ASIDE = STOP | _EMPTY
_NOT_ONE = re.compile(r"(?:\bnot|n['’]t|\bno) (?:a single )?(?:one|any)\b", re.IGNORECASE)
_NATIONS = (
    "danish dane denmark, dutch netherlands holland, french france, german deutschland, "
    "greek greece, irish ireland, spanish spain, swiss switzerland, welsh wales, english england, "
    "british britain, scottish scotland, american usa us, czech bohemia"
)
"""Peoples whose names share fewer than four first letters with their countries'."""
_NATION = {
    name: place for place, names in enumerate(_NATIONS.split(", ")) for name in names.split()
}
_SIGNS = str.maketrans({"$": " dollar ", "€": " euro ", "£": " pound ", "%": " percent "})
_LONGEST = 4000
_PREFIX = 4
_BEGINNING = 3
_MANY = 20
_LONG = 10
_ALIKE = 85.0
_GRAM = 6
_LEAST_OF_LONG = 2

LEAST_ABOUT = 0.25
"""Share of a text's content words that must come from its inputs."""
LEAST_CARRIED = 0.2
"""Share of the input's content words that a text must have: one at least, and four are enough, as
is half of the text's own words."""


def content_words(text: str) -> frozenset[str]:
    """Stems of the words that carry content; of a text without any, all of its words.

    >>> sorted(content_words("The cities of France")), sorted(content_words("It is"))
    (['city', 'franc'], ['be', 'it'])
    """
    return _words(text)[0]


@functools.lru_cache(maxsize=4096)
def _words(text: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Content words, all words, and the beginnings of the latter, as they are compared."""
    found = _found(text)
    every = frozenset(map(_key, found))
    content = frozenset(_key(word) for word in found if word not in STOP)
    starts = frozenset(word[:_PREFIX] for word in every if len(word) >= _PREFIX)
    return content or every, every, starts


def _found(text: str) -> list[str]:
    """Words in lower case, without accents."""
    plain = text[:_LONGEST].casefold().translate(_SIGNS)
    if not plain.isascii():
        plain = _UNSPACED.sub(lambda sign: f" {sign[0]} ", unaccented(plain))
    return _WORD.findall(plain)


@functools.lru_cache(maxsize=4096)
def _key(word: str) -> str:
    value = max(numbers_of(word), default=None)
    return stem(word.replace("'", "").replace("’", "")) if value is None else str(value)


def mentions(text: str, *, of: str) -> bool:
    """Whether a text has one content word of its input at least; true of an input without words."""
    _, every, starts = _words(text)
    wanted = content_words(of)
    return not wanted or any(_has(word, every, starts) for word in wanted)


def ungrounded(text: str, *, of: str, about: str = "") -> str | None:
    """Why a text does not carry the content of its input; None if it does.

    It must have a word of `of` (a fifth of them where there are many, or half of its own words
    from them), and a quarter of its own words must come from `of` or `about`. Words are compared
    by stem or their first four letters, numbers by value. Where none is the same, another form
    will do: a number in words or rounded, an abbreviation written out, another spelling, the option
    that a letter names. What says no more than yes, no or nobody ("Of course not") has its content
    in `about`.

    Args:
        text: what a model wrote.
        of: the input that it must carry, such as the answer that a statement is made of.
        about: what it may be written with besides, such as the question.

    >>> ungrounded("Paris is the capital of France.", of="Paris", about="the capital of France?")
    >>> ungrounded("The U.S. has it.", of="United States", about="who has it?")
    >>> ungrounded("Error: rate limit exceeded", of="Paris", about="the capital of France?")
    'it has nothing of its input (Paris)'
    """
    said, every, starts = _words(text)
    wanted = frozenset(map(_key, _content(_NOT_ONE.sub(" ", of), _ASIDE)))
    if not wanted or yes_or_no(of, alone=True) is not None:
        plain = _found(of)
        literal = all(len(word) == 1 or word not in _EMPTY for word in plain)
        if not (plain and literal and every.issuperset(map(_key, plain))):  # "It is A.", "I did."
            wanted = frozenset(map(_key, _content(about, _ASIDE)))
        wanted = wanted or content_words(of)
    if not wanted:
        return None
    if not every:
        return "it has no words"
    _, words_of, starts_of = _words(of)
    _, words_about, starts_about = _words(about)
    found = [word for word in wanted if _has(word, every, starts)]
    content = frozenset(map(_key, _content(text, STOP)))
    asked = sum(_has(word, words_about, starts_about) for word in content)
    short = len(wanted) < _LONG
    enough = len(found) >= max(1, min(LEAST_CARRIED * min(len(wanted), _MANY), len(said) / 2))
    if not short and len(found) + asked < _LEAST_OF_LONG:
        enough = False
    same = _same_value(text, of, about) if short else None
    otherwise = short and not enough and (same is True or _worded(text, of, about))
    if not enough and not otherwise:
        return f"it has nothing of its input ({_shown(of)})"
    if same is False:
        return f"it has another value than its input ({_shown(of)})"
    named = {word for word in content if not _is_sign(word)}
    bare = enough and all(map(_is_sign, found))
    if bare and named and not asked and content_words(about) and not _worded(text, of, about):
        return "it shares no more than a number with its input"
    known, beginnings = words_of | words_about, starts_of | starts_about
    shared = sum(_has(word, known, beginnings) for word in content) + otherwise
    if shared < LEAST_ABOUT * len(content):
        return "most of it is about something else than its input"
    return None


def says_yes(answer: str) -> bool:
    """Whether an answer is a bare yes in one of several languages.

    >>> says_yes("Sí."), says_yes("Certo!"), says_yes("No"), says_yes("Yes, Paris")
    (True, True, False, False)
    """
    word = answer.strip(" \t\r\n.!,。！").casefold()
    return VERDICT_WORDS.get(word, yes_or_no(answer, alone=True)) is True


def _has(word: str, words: frozenset[str], starts: frozenset[str]) -> bool:
    return word in words or (len(word) >= _PREFIX and word[:_PREFIX] in starts)


def _is_sign(word: str) -> bool:
    """Whether a word is a number or one letter, which a fault's message may have by chance."""
    return len(word) == 1 or word[0].isdigit()


def _shown(of: str) -> str:
    short = " ".join(of.split())
    return f"{short[:40]}{'...' if len(short) > 40 else ''}"


def _content(text: str, aside: frozenset[str]) -> list[str]:
    """A text's words in lower case, without those that are aside, short forms of them included."""
    return [word for word in _found(text) if _SHORTENED.sub("", word) not in aside]


# --- other forms ------------------------------------------------------------------------------


def _same_value(text: str, of: str, about: str) -> bool | None:
    """Whether a text has a value of an answer, or another in its place; None if it has neither."""
    found = compare_values(about, of, text)
    if found.outcome is Outcome.AGREE or found.granularity:
        return True
    if found.outcome is Outcome.CONFLICT and found.kind != "list":
        return False
    foreign = is_foreign(f"{about} {text}")
    said, wanted, known = (_numbers(part, foreign=foreign) for part in (text, of, about))
    if not said.isdisjoint(wanted):
        return True
    return False if wanted and said - known and not found.reason else None


def _numbers(text: str, *, foreign: bool) -> set[float]:
    """The numbers of a text, two digits as a year too, of decades in words the first year."""
    found = numbers_of(text[:_LONGEST], foreign=foreign)
    found |= {century + year for year in found for century in (1900, 2000) if 10 <= year < 100}
    return found | {float(DECADES[word]) for word in _found(text) if word in DECADES}


def _worded(text: str, of: str, about: str) -> bool:
    """Whether a text has a name or a word of an answer in another form."""
    said, input_words = (
        [one for one in _cased(part) if not one[0].isdigit()] for part in (text, of)
    )
    asked = {word.casefold() for word in _cased(about)}
    new = [word for word in said if word.casefold() not in asked]
    return (
        _abbreviated(input_words, said)
        or _abbreviated(new, input_words)
        or _alike({*_found(text)} - {*_found(about)}, _found(of))
    )


def _cased(text: str) -> list[str]:
    """Words with their letter case; what has dots inside is one word ("L.A.")."""
    return _WORD.findall(re.sub(r"\b((?:[^\W\d_]\.){2,})", _undotted, text[:_LONGEST]))


def _undotted(match: re.Match[str]) -> str:
    return match[1].replace(".", "") + " "


def _abbreviated(short: list[str], full: list[str]) -> bool:
    """Whether one of the words is made of the others' letters ("NASA", "TX", "the Fed")."""
    content = [word for word in full if word.casefold() not in STOP]
    initials = ["".join(word[0] for word in words).casefold() for words in (full, content) if words]
    for word in short:
        plain = word.casefold()
        if plain in _ASIDE and not word.isupper():
            continue
        letters = len(word) > 1 or len(short) == 1 < len(full)
        if word.isupper() and letters and len(word) <= _GRAM:
            others = (one.casefold() for one in content if one != word)
            if any(plain in run for run in initials) or any(_within(plain, one) for one in others):
                return True
        begun = any(one.casefold().startswith(plain) for one in content)
        if begun and word[:1].isupper() and len(word) >= _BEGINNING:
            return True
    return False


def _within(short: str, word: str) -> bool:
    """Whether a word begins so, or, of two letters ("TX"), with the one and has the other."""
    return word.startswith(short) or (
        len(short) == 2 and word[0] == short[0] and short[1] in word[1:]
    )


def _alike(new: set[str], of: list[str]) -> bool:
    """Whether a new word is spelled like one of the answer's, begins so, or is of its people."""
    for one in of:
        for other in new - _ASIDE if one not in _ASIDE else ():
            low, high = sorted((stem(one), stem(other)), key=len)
            if len(low) >= _BEGINNING and low.isalpha() and high.startswith(low):
                return True
            if min(len(one), len(other)) > _PREFIX and fuzz.ratio(one, other) >= _ALIKE:
                return True
            if _NATION.get(one, -1) == _NATION.get(other, -2):
                return True
    return False
