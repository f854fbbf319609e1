"""Which of the things that a question offers an answer chooses: "Which is deeper, Lorn or Tay?"

"Tay is deeper", "Lorn is the shallower of the two" and "the latter" are one choice. The words say
little here, for answers to such questions name both things; what the answer states of them decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations

from markscheme.values.comparisons import Degree, degree_of, degrees_of, orientation, turn
from markscheme.values.outcome import Comparison, agreement, conflict

_MOST_WORDS = 30
"""Words of an answer, and of a reference, of which the choice is read."""
_BARE = 4
"""Words of an answer to a question with a denial, and of one that denies what it names."""
_SENTENCE = re.compile(r"[^.?!]*(?:[.][^.?!\s][^.?!]*)*\?")
_AFTER_COLON = re.compile(r":\s*(?P<list>[^:?]+?\s+or\s+[^,:?]+?)\s*(?:\?|,? and\b)", re.IGNORECASE)
_AFTER_COMMA = re.compile(
    r"^\W*(?:at|in|on|under|of|for|by|with)?\b.*?\b(?:which|who|whose|what|where|when)\b[^,:?]*,\s*"
    r"(?P<list>[^:?]+?\s+or\s+[^,:?]+?)\s*(?:\?|,? and\b)",
    re.IGNORECASE,
)
_SMALL = r"(?:(?:the|an?|on|in|at|by|as|per|only|for|with|from|to|of|into) )?"
_NAME = r"[\w'’.^+-]+"
_INSIDE = re.compile(rf"(?P<list>(?:{_NAME},\s+{_SMALL})*{_NAME},?\s+or\s+{_SMALL}{_NAME})")
_OR = re.compile(r",?\s+or\s+|,\s+", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:[.^+-][^\W_]+)*")
_EMPTY = frozenset(
    """
    the a an is are was were be it its his her their of in on at by for to from as per one ones than
    that this either whether do does did has have had and or not which who what only with into
    """.split()
)
_NO_OPTION = re.compile(r"^(?:which|what|who|how|when|where|why)\b|\band\b|/", re.IGNORECASE)
_ROLES = re.compile(
    r"\bwhom\b|\bto (?:which|whom)\b|\beach other\b|\bthe other (?:way|one|round)\b|and ?/ ?or",
    re.IGNORECASE,
)
_MORE_ASKED = re.compile(r",? and (?:\w+ )?(?:how|why|what|which|when|where|who)\b", re.IGNORECASE)
_ALL_OR_NONE = re.compile(
    r"\bneither\b|\bequal(?:ly)?\b|\bno difference\b|^\W*(?:they )?both\b"
    r"|\b(?:are|is|was|were|earn|cost|take|weigh|have) the same\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"(?:\b(?:not|never|rather than|instead of|unlike|(?:all|any\w*|every\w*|none?) but)|n['’]t)"
    r"\W+(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|never|no|hardly|neither|nor|cannot|except|without|but)\b|n['’]t\b", re.IGNORECASE
)
_SO = re.compile(
    r"\b(?:so|thus|hence|therefore|i\.e\.|in short)\b[,:]?\s+(?:it(?: is|['’]s) )?([^.;:,]+?)\W*$",
    re.IGNORECASE,
)
_PLACES = {"former": 0, "first": 0, "latter": -1, "second": 1, "last": -1, "third": 2}
_PLACE = re.compile(
    r"\bthe (former|latter|first|second|third|last)"
    r"(?: (?:one|option|box|choice|alternative|of (?:the|these) two))?"
    r"(?=\W*(?:$|[,.;:]|is\b|was\b|has\b))",
    re.IGNORECASE,
)
_HEIGHT = re.compile(r"\b(?:(above|exceed\w*|beats?|outweighs?)|(below|behind|under))\b")
_BARE_NAME = re.compile(r"\s*(?:$|[,;:.!(–—])")
_ALL_OR_NONE_OF_THEM = -1


@dataclass(frozen=True)
class Option:
    """A thing that the question offers, and the words that distinguish it from the others."""

    text: str
    keys: frozenset[str]


@dataclass(frozen=True)
class _Mention:
    option: int
    start: int
    end: int


def compare_alternatives(question: str, reference: str, answer: str) -> Comparison | None:
    """Whether an answer chooses what the reference chooses of what the question offers.

    None where the question offers nothing, asks for roles, or a choice cannot be read. Where the
    question asks for more than the choice, only another choice is reported.

    >>> compare_alternatives(
    ...     "Which is deeper, Lorn or Tay?", "Tay", "Lorn is the shallower of the two."
    ... ).reason
    'both choose Tay'
    """
    if max(len(answer.split()), len(reference.split())) > _MOST_WORDS:
        return None
    options = offered(question)
    if not options or (_NEGATED.search(question) and len(answer.split()) > _BARE):
        return None
    asked = degree_of(question)
    wanted, given = (_chosen(text, question, options, asked) for text in (reference, answer))
    if wanted is None or given is None:
        return None
    chosen, other = (
        options[one].text if one >= 0 else "both or neither" for one in (wanted, given)
    )
    if wanted == given:
        if wanted < 0 or _turned(question, answer, options) or _MORE_ASKED.search(question):
            return None
        return agreement("comparison", reference, answer, 0.9, f"both choose {chosen}")
    reason = f"{other} where the reference has {chosen}"
    return conflict("comparison", reference, answer, 0.9, reason)


def _turned(question: str, answer: str, options: tuple[Option, ...]) -> bool:
    """Whether an answer has the question's words in another order: "B above A" for "A above B"."""
    keys = frozenset[str]().union(*(one.keys for one in options))
    asked, said = (
        [key for hit in _WORD.finditer(text) if (key := _key(hit[0])) not in keys | _EMPTY]
        for text in (question, answer)
    )
    order = [asked.index(key) for key in said if key in asked]
    return order != sorted(order)


def offered(question: str) -> tuple[Option, ...]:
    """The things that a question offers, each with words that no other has; none if unclear.

    >>> [one.text for one in offered("Is Istanbul, Ankara or Izmir the capital of Turkey?")]
    ['Istanbul', 'Ankara', 'Izmir']
    """
    if " or " not in question or _ROLES.search(question):
        return ()
    plain = re.sub(r"\([^)]*\)|\"[^\"]*\"|'[^']{12,}'", "", question)
    asked = [hit[0] for hit in _SENTENCE.finditer(plain) if " or " in hit[0]]
    if len(asked) != 1:
        return ()
    whole = _AFTER_COLON.search(asked[0]) or _AFTER_COMMA.search(asked[0])
    hit = whole or _INSIDE.search(asked[0])
    if hit is None:
        return ()
    parts = [part.strip() for part in _OR.split(hit["list"]) if part.strip()]
    if any(_NO_OPTION.search(part) for part in parts):
        return ()
    words = [_words(part) for part in parts]
    shared = {word for one, other in combinations(words, 2) for word in one & other}
    options = tuple(
        Option(part, frozenset(own - shared)) for part, own in zip(parts, words, strict=True)
    )
    return options if all(one.keys for one in options) else ()


def _words(text: str) -> set[str]:
    return {
        _key(hit[0])
        for hit in _WORD.finditer(text)
        if hit[0].lower() not in _EMPTY or (len(hit[0]) == 1 and hit[0].isupper())
    }


def _key(word: str) -> str:
    if len(word) == 1:
        return word
    word = re.sub(r"['’]s$", "", word.lower())
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _chosen(
    text: str, question: str, options: tuple[Option, ...], asked: Degree | None
) -> int | None:
    """The place of the option that a text chooses; -1 for all or none of them; None if unclear."""
    concluded = _SO.search(text)
    if concluded and len({one.option for one in _mentions(concluded[1], options)}) == 1:
        return _mentions(concluded[1], options)[0].option
    found = _mentions(text, options)
    named = list(dict.fromkeys(one.option for one in found))
    if pick := _PLACE.search(text):
        among = named if len(named) > 1 else list(range(len(options)))
        place = _PLACES[pick[1].lower()]
        return among[place] if place < len(among) else None
    some = _ALL_OR_NONE.search(text)
    if some and not any("both" in one.keys for one in options):
        ahead = any(one.end <= some.start() for one in found)
        return None if ahead or len(named) == 1 else _ALL_OR_NONE_OF_THEM
    kept = [one for one in found if not _NOT.search(text[max(0, one.start - 40) : one.start])]
    still = {one.option for one in kept}
    if len(still) < len(named):
        if len(still) == 1 and not degrees_of(text):
            return kept[0].option
        return None
    if len(named) == 1:
        return _of_one(text, found[0], question, len(options), asked)
    if len(named) == 2:
        return _of_two(text, found, question, asked)
    return None


def _mentions(text: str, options: tuple[Option, ...]) -> list[_Mention]:
    """Mentions of options in the order of the text."""
    return [
        _Mention(place, hit.start(), hit.end())
        for hit in _WORD.finditer(text)
        for place, one in enumerate(options)
        if _key(hit[0]) in one.keys
        and not (hit[0] == "A" and re.match(r"\s+[a-z]", text[hit.end() :]))
    ]


def _of_one(
    text: str, named: _Mention, question: str, offered_count: int, asked: Degree | None
) -> int | None:
    """The choice of a text that names one option."""
    said = [one for one in degrees_of(text) if not named.start <= one.start < named.end]
    if _NEGATED.search(text):
        return None
    if asked is not None and said:
        ways = {turn(asked, one) for one in said}
        if len(ways) != 1 or not (way := ways.pop()):
            return None
        second = re.search(r"\bthan\b[^.;,]*$", text[: named.start]) is not None
        if (way > 0) != second:
            return named.option
        return 1 - named.option if offered_count == 2 else None
    beside = _words(text[: named.start] + text[named.end :]) - _words(question)
    if not beside:
        return named.option
    headed = _words(text[: named.start]) <= _words(question) and _BARE_NAME.match(text[named.end :])
    return named.option if headed and not _HEIGHT.search(text) else None


def _of_two(text: str, found: list[_Mention], question: str, asked: Degree | None) -> int | None:
    """The choice of a text that names two options, by what it says of them."""
    first = found[0]
    second = next(one for one in found if one.option != first.option)
    between, after = text[first.end : second.start], text[second.end :]
    if asked is not None:
        said = degrees_of(between)
        height = _HEIGHT.search(between)
        way = 0
        if said:
            way = turn(asked, said[-1])
        elif height:
            way = (1 if height[1] else -1) * orientation(asked.base) * asked.sign
        if way:
            way = -way if _NEGATED.search(between) else way
            return first.option if way > 0 else second.option
    headed = _words(text[: first.start]) <= _words(question) and _BARE_NAME.match(between)
    if headed and not _NEGATED.search(between):
        return first.option
    denied = re.match(r"[^.;,]*(?:\b(?:is|was|does|do|did|are|has|have) not\b|n['’]t\b)", after)
    if denied and not _NEGATED.search(between) and not degrees_of(text):
        return first.option
    return None
