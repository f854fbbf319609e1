"""Where a clause's subject ends and its verb begins, from words alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markscheme_research.statements.sentence_forms import (
    AUXILIARIES,
    DETERMINERS,
    NUMBERS,
    PARTICLES,
    PASTS,
    PREPOSITIONS,
    PRONOUNS,
    THIRDS,
    is_participle,
    past,
    strength,
    third,
)
from markscheme_research.statements.sentence_forms import words as word_set
from markscheme_research.statements.word_classes import ADJECTIVES, ADVERBS, STRANDED

_LAST_TIME = {("the", "last", "time"), ("the", "first", "time")}
_NAMED = word_set("called named termed titled nicknamed considered")
_RELATIVE = word_set("who that which")
_BEFORE_NOUNS = DETERMINERS - NUMBERS | PREPOSITIONS | {"and"}
_AMONG_NOUNS = word_set("last best most")
_OBJECTS = word_set("and to it him them her more first")
_NO_PREDICATE_AFTER = DETERMINERS | PREPOSITIONS | AUXILIARIES | _RELATIVE
_TAIL = ("able", "ible", "ous", "ful", "less", "ic", "ive", "al", "ory", "ary")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause in the order of statements; `done` where `rest` begins with the main verb."""

    subject: tuple[str, ...]
    auxiliary: tuple[str, ...]
    rest: tuple[str, ...]
    done: bool = False

    def text(self) -> str:
        """Subject, auxiliary and the rest as one string."""
        return " ".join((*self.subject, *self.auxiliary, *self.rest))


def main_verb(low: Sequence[str]) -> int | None:
    """Where, after "did" or "can", the subject ends and the verb comes; None if there is none.

    Among the words that may be verbs, those that are nothing else win, and of those the first;
    words after a determiner, a preposition or a possessive are nouns.
    """
    if low and low[0] in PRONOUNS:  # the verb follows at once
        for place in range(1, len(low)):
            if strength(low[place]):
                return place
            if low[place] not in ADVERBS:
                break
    best, found = 0.0, 0
    tries = 0
    for place in range(1, len(low)):
        worth = _verb_worth(low, place, tries)
        if worth is None:
            continue
        tries += 1
        if worth > best:
            best, found = worth, place
    while found > 1 and low[found - 1] in ADVERBS - _AMONG_NOUNS:
        found -= 1
    return found or None


def _verb_worth(low: Sequence[str], place: int, tries: int) -> float | None:
    """How likely the word there is the main verb, `tries` others before it; None if it is none."""
    word, before = low[place], low[place - 1]
    if before in _BEFORE_NOUNS or before.endswith("'s"):
        return None
    worth = float(strength(word))
    if not worth:
        known = word in PASTS and (place < len(low) - 1 or not tries)
        if not known and not (word in THIRDS and strength(THIRDS[word]) == 2):
            return None
        worth = 0.6
    if place > 1 and before in _RELATIVE:
        worth -= 1.5
    if place + 1 == len(low):
        worth += 0.5
    elif place + 2 == len(low) and low[place + 1] in PARTICLES:
        worth += 2.0  # "when did come fly with me come out"
    elif _opens(low[place + 1]):
        worth += 1.0
    elif strength(low[place + 1]) == 2:
        worth -= 0.8
    return worth - 0.45 * tries


def _opens(word: str) -> bool:
    """Whether a word may begin what follows a verb."""
    return word in PREPOSITIONS or word in DETERMINERS or word in PARTICLES or word in _OBJECTS


def predicate(low: Sequence[str]) -> int | None:
    """Where, after a form of "be" or "have", the subject ends and a participle or adjective comes.

    0 where it comes at once; None where there is none.
    """
    if tuple(low[:3]) in _LAST_TIME:
        return None
    best, found = 0.0, None
    tries = 0
    for place in range(len(low)):
        worth = _predicate_worth(low, place)
        if worth is None:
            continue
        worth -= 0.3 * tries
        tries += 1
        if worth > best:
            best, found = worth, place
    if found:
        while found > 1 and low[found - 1] in ADVERBS:
            found -= 1
        if found > 1 and low[found - 1] in ("been", "being"):
            found -= 1
    return found


def _predicate_worth(low: Sequence[str], place: int) -> float | None:
    """How likely the word there is the predicate's first; None if it cannot be."""
    word = low[place]
    if not is_participle(word) and not (place and is_predicative(low, place)):
        return None
    if place:
        before = low[place - 1]
        clause = place > 1 and (before in PRONOUNS or low[place - 2] in ("who", "that"))
        if clause or before in _NO_PREDICATE_AFTER:
            return None
    if place + 1 == len(low):
        return 2.0
    after = low[place + 1]
    if after in PREPOSITIONS or after in PARTICLES:
        return 1.8
    if after in DETERMINERS or after in ("when", "if", "and"):
        return 1.5
    if word in ("so", "too"):
        return 1.5
    return None if word.endswith("ing") else 0.5


def is_predicative(low: Sequence[str], place: int) -> bool:
    """Whether the word there is an adjective that describes what precedes it."""
    word = low[place]
    if word in ("in", "out", "over"):
        return False
    if word in ("so", "too"):
        return place + 1 < len(low)
    last = place + 1 == len(low)
    followed = last or low[place + 1] in PREPOSITIONS
    if word in ADJECTIVES:
        return followed
    return len(word) > 5 and word.endswith(_TAIL[:5]) and followed


def polar_cut(words: Sequence[str], low: Sequence[str]) -> int | None:
    """Where the subject of a yes/no question with "be" ends; asides in commas belong to it."""
    aside = False
    for place in range(1, len(low)):
        word, before = low[place], low[place - 1]
        if words[place - 1].endswith(","):
            aside = not aside and any(one.endswith(",") for one in words[place:])
        if aside or before in PREPOSITIONS or before in DETERMINERS:
            continue
        if low[0] == "there":
            return 1
        place_word = word in ("in", "on", "at", "from", "over", "out", "like")
        if word in ("a", "an", "the", "not", "part", "any", "one", "still", "more") or (
            not place_word and (word in ADJECTIVES or is_participle(word))
        ):
            return place
        if place_word:
            rest = low[place + 1 :]
            if not any(is_participle(one) or one in ADJECTIVES for one in rest):
                return place
        if len(word) > 5 and word.endswith(_TAIL):
            return place
    return None


def agreed(words: Sequence[str], low: Sequence[str], place: int, helper: str) -> list[str]:
    """The words from the verb on, the verb in the tense and number that "do" had."""
    found = list(words[place:])
    at = place
    while at < len(low) and low[at] in ADVERBS and not strength(low[at]):
        at += 1
    if at >= len(low):
        return found
    _inflect(found, low, at, place, helper)
    following = at + 1
    if following + 1 < len(low) and low[following] == "and" and strength(low[following + 1]):
        _inflect(found, low, following + 1, place, helper)
    return found


def _inflect(found: list[str], low: Sequence[str], at: int, place: int, helper: str) -> None:
    if not strength(low[at]):
        return
    if helper == "did":
        found[at - place] = past(low[at])
    elif helper == "does":
        found[at - place] = third(low[at])


def slot_after(low: Sequence[str], cut: int) -> int | None:
    """Behind which word of a clause the answer belongs: a preposition that has lost its object."""
    for place in range(max(cut, 1), len(low)):
        word = low[place]
        if low[place - 1] in _NAMED and place - 1 == cut:
            return place
        if word not in STRANDED or low[place - 1] in DETERMINERS:
            continue
        if place + 1 == len(low):
            return place + 1
        after = low[place + 1]
        if after in PREPOSITIONS and word not in ("out", "up", "off", "over", "like"):
            phrase = (word, after) in (("from", "within"), ("in", "between"), ("out", "of"))
            if not phrase and place - cut <= 3:
                return place + 1
    return None
