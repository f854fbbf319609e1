"""Telling a sentence from a word, a name or a phrase."""

from __future__ import annotations

import re

from markscheme.text.closed_classes import (
    AUXILIARIES,
    DETERMINERS,
    FUNCTION,
    PARTICLES,
    PREPOSITIONS,
    PRONOUNS,
    SUBORDINATORS,
    lowered,
)
from markscheme.text.closed_classes import words as lists_words
from markscheme.text.verbs import PASTS, THIRDS, is_past, strength

INNER_END = re.compile(r"[a-z0-9%\"'”’)\]]{3}[.!?][\"'”’)\]]*\s+[\"'“(]?[A-Z]")
"""Where one sentence of an answer ends and another begins."""
_FINITE = lists_words(
    "is are was were has had does did can cannot could will would may might should must isn't "
    "aren't wasn't weren't hasn't don't doesn't didn't can't couldn't won't wouldn't i'm it's he's "
    "she's that's there's they're"
)
_ALSO_PREPOSITIONS = lists_words("as than before after since until")
_MANY = lists_words("these those some many most others all both people men women")
_NO_VERB_AFTER = (DETERMINERS | PREPOSITIONS | AUXILIARIES) - _MANY
_READ = 80
"""Words of an answer among which its verb is looked for."""
_OTHER_FINITE = lists_words("have do")


def is_sentence(answer: str) -> bool:
    """Whether an answer is a sentence of its own rather than a word, a name or a phrase.

    It is where a finite verb occurs outside relative clauses and it is no title in capitals.

    >>> is_sentence("Paris, which is in France."), is_sentence("The one who won is Ali.")
    (False, True)
    """
    words = answer.split()[:_READ]
    if len(words) < 3:
        return False
    ended = answer.rstrip("\"'”’)]").endswith((".", "!", "?"))
    if INNER_END.search(answer):
        return len(words) > 6 or any(lowered(word) in _FINITE for word in words)
    if not ended and is_title(words):
        return False
    low = [lowered(word.replace("’", "'")) for word in words]
    if not ended and (low[0] in PREPOSITIONS or low[0] == "because"):
        return False
    waiting = int(
        low[0] in SUBORDINATORS and (low[0] not in _ALSO_PREPOSITIONS or low[1] in PRONOUNS)
    )
    for place in range(1, len(low)):
        if words[place - 1].endswith((",", ";", ":")):
            waiting = 0
        if _subordinates(words, low, place):
            waiting += 1
        elif _is_verb(words, low, place, ended):
            if not waiting:
                return True
            waiting -= 1
    return False


def _subordinates(words: list[str], low: list[str], place: int) -> bool:
    """Whether a clause with a verb of its own begins there."""
    word = low[place]
    if word not in SUBORDINATORS or not words[place][:1].islower():
        return False
    after = low[place + 1] if place + 1 < len(low) else ""
    return word not in _ALSO_PREPOSITIONS or after in PRONOUNS


def _is_verb(words: list[str], low: list[str], place: int, ended: bool) -> bool:
    """Whether the word there is a finite verb, and no participle or plural noun."""
    word, before = low[place], low[place - 1]
    after = low[place + 1] if place + 1 < len(low) else ""
    if word in _FINITE or (word in _OTHER_FINITE and after):
        return word != "may" or strength(after) > 0 or after in ("be", "have", "not")
    if words[place][:1].isupper():
        return False
    if before in SUBORDINATORS and before not in _ALSO_PREPOSITIONS:
        plain = before in ("who", "which", "that") and word not in FUNCTION
        return plain or word in PASTS or word in THIRDS or strength(word) > 0
    if before in _NO_VERB_AFTER:
        return False
    if before in PRONOUNS and (word in PASTS or word in THIRDS or strength(word)):
        return True
    opens = after in DETERMINERS or after in PREPOSITIONS or after in PARTICLES
    opens = opens or (after != "" and not words[place + 1][:1].islower())
    if word in PASTS or (ended and is_past(word)):
        aside = words[place - 1].endswith(",") and sum("," in one for one in words[:place]) < 2
        if after == "by" or aside or words[place - 1].endswith("("):
            return False
        return after in DETERMINERS or ended
    if word in THIRDS:
        sure = strength(THIRDS[word]) == 2
        if sure or not ended:
            return sure and after not in ("", "and", "or")
        return after != "of" and (opens or after.endswith("ly"))
    several = before.endswith("s") or before in _MANY or "and" in low[1:place]
    return ended and several and opens and after != "of" and strength(word) > 0


def is_title(words: list[str]) -> bool:
    """Whether three in four of the longer words are capitalised, and it is under ten words."""
    long = [word for word in words if len(word) > 3 and word[:1].isalpha()]
    return (
        0 < len(words) < 10
        and bool(long)
        and sum(word[:1].isupper() for word in long) >= 0.75 * len(long)
    )
