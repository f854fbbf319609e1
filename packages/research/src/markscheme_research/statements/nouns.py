"""Questions that begin with "what", "which", "whose" or "how": what follows the question word."""

from __future__ import annotations

from dataclasses import replace

from markscheme_research.statements.clauses import main_verb, predicate, slot_after
from markscheme_research.statements.frames import (
    Frame,
    clause_of,
    inverted,
    is_subject,
    perfect,
    whole,
)
from markscheme_research.statements.sentence_forms import (
    AUXILIARIES,
    BE,
    DETERMINERS,
    DO,
    HAVE,
    MODALS,
    PARTICIPLES,
    PASTS,
    PREPOSITIONS,
    PRONOUNS,
    THIRDS,
    is_participle,
    lowered,
    past,
    strength,
    third,
)
from markscheme_research.statements.word_classes import (
    ADJECTIVES,
    ADVERBS,
    ATTRIBUTES,
    INTRANSITIVE,
    PLACES,
    PROPERTIES,
    STRANDED,
    TIMES,
)


def how_question(words: list[str], low: list[str], lead: str) -> Frame:
    property_word = low[1]
    if property_word in ("many", "much"):
        return _how_many(words, low, lead)
    if property_word in PROPERTIES:
        for place in range(2, min(len(low), 7)):
            if low[place] in AUXILIARIES:
                unit = PROPERTIES[property_word] if low[place] in BE else ""
                kind = Frame(kind="measure", noun=unit)
                if property_word == "long" and low[place] in HAVE:
                    kind = Frame(kind="measure", preposition="for")
                if property_word in ("fast", "quickly"):
                    kind = Frame(kind="measure", preposition="at")
                found = inverted(words[place:], low[place:], kind)
                if found.noun and found.after:
                    return replace(found, noun="")
                return found
        return Frame(before=" ".join(words[2:]), kind="measure")
    if property_word in ("come", "about"):
        return Frame(before=" ".join(words[2:]), kind="reason")
    if property_word in AUXILIARIES:
        return whole(words[1:], low[1:], Frame(kind="manner"), "how")
    return Frame(before=" ".join(words[1:]), kind="manner")


def _how_many(words: list[str], low: list[str], lead: str) -> Frame:
    end = _noun_end(low, 2)
    noun = " ".join(words[2:end])
    gap = Frame(kind="count", noun=noun, preposition=lead)
    if end >= len(low) and low[1] == "much":
        return Frame(before="it is", after=noun)
    if end >= len(low):
        return replace(gap, before="there are")
    rest, low_rest = words[end:], low[end:]
    if low_rest[0] not in AUXILIARIES:
        return replace(gap, after=" ".join(rest))
    if "there" in low_rest[1:]:
        place = low_rest.index("there", 1)
        tail = [*rest[1:place], *rest[place + 1 :]]
        return replace(gap, before=f"there {rest[0]}", after=" ".join(tail))
    if not lead and _counted_is_subject(low_rest):
        return replace(gap, after=" ".join(rest))
    return inverted(rest, low_rest, gap)


def _counted_is_subject(low: list[str]) -> bool:
    first, rest = low[0], low[1:]
    if not rest:
        return True
    if first in DO:
        return main_verb(rest) is None
    if first in MODALS:
        return strength(rest[0]) > 0 or rest[0] in ("be", "have")
    if rest[0] in PREPOSITIONS or is_participle(rest[0]) or rest[0] in ADVERBS:
        return True
    if first in HAVE:
        return not perfect(rest)
    return rest[0] in ADJECTIVES


def noun_question(words: list[str], low: list[str], lead: str) -> Frame:
    """After "what", "which", "whose": a noun may follow before the verb."""
    end = _noun_end(low, 1)
    noun, rest, low_rest = low[1:end], words[end:], low[end:]
    if not rest:
        return Frame(before="", after="is the " + " ".join(words[1:])) if noun else Frame()
    if not noun:
        if low_rest[0] in AUXILIARIES:
            return _what(rest, low_rest, lead)
        return Frame(after=" ".join(rest), preposition=lead)
    head = noun[-1] if "of" not in noun else noun[max(0, noun.index("of") - 1)]
    gap = Frame(preposition=lead)
    if not lead and head in TIMES:
        gap = Frame(kind="time", preposition="in")
    if not lead and head == "age" and "be" not in low_rest:
        gap = Frame(preposition="at")
    if low_rest[0] not in AUXILIARIES:
        return Frame(after=" ".join(rest), preposition=lead)
    if not lead and _noun_is_subject(low_rest, head):
        return Frame(after=" ".join(rest))
    if not lead and head in PLACES and low_rest[0] in DO | MODALS:
        clause = clause_of(rest, low_rest)
        found = [lowered(one) for one in clause.rest]
        away = len(found) > 1 and found[1] not in PREPOSITIONS
        if slot_after(found, 0) is None and (away or (found[:1] and found[0] in _homes())):
            gap = Frame(kind="place", preposition="in")
    whole = _share_of(noun, words, end) if head in ("share", "percentage", "fraction") else ""
    frame = inverted(rest, low_rest, gap)
    if gap.kind == "time" and frame.after:  # "what day is it on": no preposition of ours
        frame = replace(frame, kind="thing", preposition="")
    return replace(frame, after=f"{whole} {frame.after}".strip()) if whole else frame


def _homes() -> frozenset[str]:

    return frozenset(form for verb in INTRANSITIVE for form in (verb, past(verb), third(verb)))


def _share_of(noun: list[str], words: list[str], end: int) -> str:
    return " ".join(words[1 + noun.index("of") : end]) if "of" in noun else ""


def _noun_is_subject(low: list[str], head: str) -> bool:
    first, rest = low[0], low[1:]
    if not rest:
        return True
    if first in DO:
        return main_verb(rest) is None
    if first in MODALS:
        return strength(rest[0]) > 0 or rest[0] in ("be", "have")
    if first in HAVE:
        return rest[0] in DETERMINERS or is_participle(rest[0]) or not perfect(rest)
    if head in ATTRIBUTES or head in TIMES:
        adjective = rest[0] in ADJECTIVES or is_participle(rest[0])
        return rest[0] in PREPOSITIONS or (adjective and len(rest) > 1)
    if rest[0] in PREPOSITIONS or is_participle(rest[0]) or rest[0] in ADVERBS:
        return not (len(rest) > 2 and rest[-1] in STRANDED)
    if rest[-1] in STRANDED:
        return False
    adjective = len(rest) > 1 and (rest[1] in PREPOSITIONS or rest[1] == "and")
    if adjective and rest[0] not in PRONOUNS:
        return True  # "which metal is liquid at room temperature"
    cut = predicate(rest)
    return rest[0] in DETERMINERS | ADJECTIVES and (cut is None or cut < 2)


def _what(words: list[str], low: list[str], lead: str) -> Frame:
    """What follows a bare "what" or "which": an auxiliary and its clause."""
    if low[:3] == ["do", "you", "call"] or low[:3] == ["do", "we", "call"]:
        return Frame(before=" ".join([*words[3:], "is", "called"]))
    if low[0] in DO and len(low) > 3 and low[-1] == "do":
        return Frame(before=" ".join(words[1:-1]))
    gap = Frame(preposition=lead)
    if not lead and low[0] in BE:
        if len(low) > 1 and low[1] in ADVERBS and low[1] not in ("first", "last", "best",
                                                                       "most"):  # fmt: skip
            subject = words[2:]
            return Frame(before=" ".join([*subject, words[0].lower(), words[1]]))
        if is_subject(low, "what"):
            return Frame(after=" ".join(words))
        return _identity(words, low)
    if not lead and is_subject(low, "what"):
        return Frame(after=" ".join(words))
    return inverted(words, low, gap)


def _identity(words: list[str], low: list[str]) -> Frame:
    """ "what is X": X is the answer; "what is X used for": X is used for the answer."""
    rest, low_rest = words[1:], low[1:]
    helper = "is" if low[0] == "'s" else words[0].lower()
    cut = predicate(low_rest)
    if cut is not None and cut > 0:
        slot = slot_after(low_rest, cut)
        final = cut == len(low_rest) - 1 and not low_rest[cut].endswith("ing")
        if slot is not None or final:
            at = len(rest) if slot is None else slot
            before = [*rest[:cut], helper, *rest[cut:at]]
            return Frame(before=" ".join(before), after=" ".join(rest[at:]))
    if len(rest) > 2 and low_rest[-1] in STRANDED:
        return Frame(before=" ".join([*rest[:-1], helper, rest[-1]]))
    return Frame(before=" ".join([*rest, helper]))


def _noun_end(low: list[str], start: int) -> int:
    """Where the noun phrase after the question word ends: at the first finite verb."""
    for place in range(start, len(low)):
        word = low[place]
        if word in AUXILIARIES:
            return place
        if place > start and low[place - 1] not in DETERMINERS | PREPOSITIONS:
            if word in THIRDS and low[place - 1] not in ("first", "last") and place + 1 < len(low):
                plural_noun = strength(THIRDS[word]) == 1 and low[place + 1] in (
                    *AUXILIARIES, "of"
                )  # fmt: skip
                if not plural_noun:
                    return place
            if word in PASTS and not (
                word in PARTICIPLES and any(one in AUXILIARIES for one in low[place + 1 :])
            ):
                return place
            plural = low[place - 1].endswith("s") or low[place - 1] in ("people", "men", "women")
            if plural and strength(word) and place + 1 < len(low):
                return place
        elif (
            place == start
            and (word in PASTS or strength(THIRDS.get(word, "")) == 2)
            and place + 1 < len(low)
            and low[place + 1] not in AUXILIARIES  # "how many wins does ..."
        ):
            return place
    return len(low)
