# ruff: noqa: E501 - tables of patterns read better unfolded
"""What kind of answer a question asks for, as far as its wording says.

Failure modes and features of trained judges read it. `asks_list` is an input of shipped weights,
which fixes its wording.
"""

from __future__ import annotations

import re

_LIST = re.compile(
    r"^(?:please )?(?:list|name (?:all|the|some|\w+ (?:of )?\w+s\b)|enumerate)\b"
    r"|\b(?:list of|types of|kinds of|examples of|some of the|members of)\b"
    r"|\b(?:what|which|who) (?:are|were) "
    r"(?:the|some|all|its|my|your|their|\d+|two|three|four|five)\b"
    r"|\b(?:what|which) (?:\w+ ){0,2}\w+(?<!s)(?:ies|[^s\W\d]s) "
    r"(?:are|were|have|do|share|make|border)\b"
    r"|\bwho (?:all|plays|played|were|are)\b.*\b(?:cast|twins|members|stars|wives|sons|children)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:an? (?:good )?example of|example of an?|one of the|name (?:an?|one)\b|is an? good\b"
    r"|what would be an?\b|such as)",
    re.IGNORECASE,
)
_WH = r"(?:who|whom|what|which|when|where|why|how)"
_COMPOUND = re.compile(
    rf"\b{_WH}\b[^,?]*\b(?:and|&|,)\s+(?:in |by |at |to |from )?(?:{_WH})\b"
    rf"|\b(?:by|to|from|in) {_WH}\b.*\band\b.*\b{_WH}\b"
    r"|\b(?:start(?:ed)?|beg[iau]n|opened?|born|founded)\b(?: \w+){0,2} (?:and|&) (?:\w+ ){0,2}"
    r"(?:end(?:ed)?|finish(?:ed)?|stop(?:ped)?|closed?|die[ds]?|complete[d]?)\b"
    r"|\b(?:what|who|which) (?:are|were) the \w+(?: \w+)? and (?:the )?\w+(?: \w+)? of\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\bwhere(?:'?s)?\b|\b(?:birthplace|located|location|setting of|capital of)\b"
    r"|\b(?:what|which) (?:\w+ ){0,2}(?:city|country|state|place|town|county|continent|region|"
    r"island|river|sea|ocean|nation|area|province|stadium|venue|lake|street|planet)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\bwhen(?:'?s)?\b|\b(?:what|which|in what|what's the) (?:\w+ ){0,2}"
    r"(?:year|date|day|month|century|decade|time|season|years)\b|\bhow long ago\b|\bhow old\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"\bhow (?:many|much|long|far|tall|high|old|big|large|deep|wide|fast|hot|cold|heavy|often)\b"
    r"|\b(?:number|volume|average|percentage|population|temperature|lifespan|amount|price|cost|"
    r"speed|weight|height|length|distance) of\b",
    re.IGNORECASE,
)
_SHIFTS = re.compile(
    r"\b(?:next|latest|newest|current(?:ly)?|now|today|tonight|this (?:year|season|month|week)|"
    r"last (?:time|year|season|night)|new(?: \w+){0,2} (?:episode|season|series|album|movie)|"
    r"present|recent(?:ly)?|so far|come[s]? (?:out|on|back)|coming out|going to be|upcoming)\b"
    r"|\b(?:most|best|highest|richest|largest|record|all[- ]time)\b",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(r"\b(?:most|best|highest|richest|largest|biggest)\b", re.IGNORECASE)


def asks_list(question: str) -> bool:
    """Whether the question asks for several things: "list the ...", "which countries share ...".

    >>> asks_list("Which countries share a border with Luxembourg?"), asks_list("Who wrote Emma?")
    (True, False)
    """
    return bool(_LIST.search(question))


def asks_example(question: str) -> bool:
    """Whether any of many things will do: "what is an example of ...".

    >>> asks_example("What is an example of a mammal that lays eggs?")
    True
    """
    return bool(_OPEN.search(question))


def asks_several(question: str) -> bool:
    """Whether the question asks for several pieces of information at once.

    >>> asks_several("when was the canadian pacific railway started and finished")
    True
    """
    return bool(_COMPOUND.search(question))


def asks_place(question: str) -> bool:
    """Whether the question asks for a place."""
    return bool(_PLACE.search(question))


def asks_time(question: str) -> bool:
    """Whether the question asks for a time."""
    return bool(_TIME.search(question))


def asks_amount(question: str) -> bool:
    """Whether the question asks for a number or quantity."""
    return bool(_AMOUNT.search(question))


def changes_with_time(question: str) -> bool:
    """Whether the right answer depends on the day of the question.

    >>> changes_with_time("when does the next episode of izombie air"), changes_with_time("who wrote emma")
    (True, False)
    """
    return bool(_SHIFTS.search(question))


def asks_superlative(question: str) -> bool:
    """Whether the question asks for the first of a ranking, which changes with time and measure."""
    return bool(_SUPERLATIVE.search(question))
