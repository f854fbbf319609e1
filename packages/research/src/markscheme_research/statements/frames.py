"""A statement with a gap, and how an inverted clause is put in the order of a statement."""

from __future__ import annotations

from dataclasses import dataclass, replace

from markscheme_research.statements.clauses import Clause, agreed, main_verb, predicate, slot_after
from markscheme_research.statements.sentence_forms import (
    AUXILIARIES,
    BE,
    DO,
    HAVE,
    MODALS,
    PARTICLES,
    PREPOSITIONS,
    PRONOUNS,
    is_participle,
    lowered,
    strength,
)
from markscheme_research.statements.word_classes import (
    ADJECTIVES,
    ADVERBS,
    DIRECTION,
    ORIGIN,
    STRANDED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A statement with a gap.

    Attributes:
        before, after: what surrounds the answer.
        kind: what fills the gap: `thing`, `time`, `place`, `reason`, `manner`, `count`, `measure`;
            `polar` where the answer is yes or no.
        preposition: what precedes the answer if it has none of its own.
        noun: what is counted, or the word that follows a measure.
        denied: of a yes/no question, the statement that the answer "no" makes.
    """

    before: str = ""
    after: str = ""
    kind: str = "thing"
    preposition: str = ""
    noun: str = ""
    denied: str = ""


def whole(words: list[str], low: list[str], gap: Frame, word: str) -> Frame:
    """What follows a bare question word: an inverted clause, or a predicate whose subject it is."""
    if not low:  # "how and why?"
        return gap
    if low[0] not in AUXILIARIES:
        if word in ("who", "whom") or gap.kind == "thing":
            return replace(gap, after=" ".join(words))
        return replace(gap, before=" ".join(words))
    if gap.kind == "thing" and not gap.preposition and is_subject(low, word):
        return Frame(after=" ".join(_written_out(words, low)))
    return inverted(words, low, gap)


def is_subject(low: list[str], word: str) -> bool:
    """Whether what the question seeks is the subject of the auxiliary that follows."""
    first, rest = low[0], low[1:]
    if not rest:
        return True
    if first in DO:
        return main_verb(rest) is None
    if first in MODALS:
        return strength(rest[0]) == 2 or rest[0] in ("be", "have") or main_verb(rest) is None
    if first in HAVE:
        if is_participle(rest[0]) or rest[0] in ("the", "a", "more", "been", "no", "most", "to"):
            return True
        if rest[0] in ADVERBS:
            return True
        return not perfect(rest)
    if rest[0] in PREPOSITIONS or (rest[0] in ADVERBS and rest[0] not in ("first",)):
        return True
    if is_participle(rest[0]) and not (len(rest) > 1 and is_participle(rest[-1])):
        return True
    return word == "who" and _who_is_subject(rest)


def _who_is_subject(rest: list[str]) -> bool:
    """The same for "who is", by what follows: not where a name or a bare preposition does."""
    adjective = rest[0] in ADJECTIVES and len(rest) > 1 and rest[1] in PREPOSITIONS
    if adjective and rest[-1] not in STRANDED:
        return True
    if rest[0].endswith("ing") and len(rest[0]) > 4:
        return True
    if rest[-1] in STRANDED:
        return False
    cut = predicate(rest)
    if cut is not None and slot_after(rest, cut) is not None:
        return False
    return rest[0] in ("the", "a", "an", "to")


def perfect(low: list[str]) -> bool:
    """Whether, after a form of "have", a subject and its participle follow."""
    cut = predicate(low)
    if not cut:
        return False
    after = low[cut + 1] if cut + 1 < len(low) else "in"
    return low[cut] == "been" or after in PREPOSITIONS or after in PARTICLES


def _written_out(words: list[str], low: list[str]) -> list[str]:
    """With a contracted "is" written out."""
    return words if low[0] != "'s" else ["is", *words[1:]]


def inverted(words: list[str], low: list[str], gap: Frame) -> Frame:
    """An auxiliary, its subject and the rest, put in the order of a statement."""
    clause = clause_of(words, low)
    rest = clause.rest
    if gap.kind in ("time", "reason", "manner"):
        return replace(gap, before=clause.text())
    if gap.kind == "place":
        return _placed(clause, gap)
    low_rest = [lowered(one) for one in rest]
    if gap.preposition:
        return replace(gap, before=clause.text())
    slot = slot_after(low_rest, 0) if rest else None
    if slot is None and clause.done and len(rest) > 1 and low_rest[1] in PREPOSITIONS:
        slot = 1  # "what do bees collect from flowers": the object comes after the verb
    elif slot is None and len(rest) > 1 and low_rest[0].endswith("ing") and (
        low_rest[1] in PREPOSITIONS
    ):  # fmt: skip
        slot = 1
    if low_rest[:1] in (["stand"], ["stands"], ["stood"]) and low_rest[1:2] == ["for"]:
        slot = 2
    elif "be" in low_rest[1:-1]:  # "what age do you have to be to vote"
        slot = low_rest.index("be", 1) + 1
    if slot is None:
        return replace(gap, before=clause.text())
    before = [*clause.subject, *clause.auxiliary, *rest[:slot]]
    return replace(gap, before=" ".join(before), after=" ".join(rest[slot:]))


def _placed(clause: Clause, gap: Frame) -> Frame:
    low = [lowered(one) for one in clause.rest]
    verb = low[0] if low else ""
    slot = slot_after(low, 0) if low else None
    if slot is not None:
        before = [*clause.subject, *clause.auxiliary, *clause.rest[:slot]]
        return replace(
            gap, before=" ".join(before), after=" ".join(clause.rest[slot:]),
            preposition="", kind="thing",
        )  # fmt: skip
    if verb in ORIGIN and "from" not in low:
        gap = replace(gap, preposition="from")
    elif verb in DIRECTION:
        gap = replace(gap, preposition="to")
    return replace(gap, before=clause.text())


def clause_of(words: list[str], low: list[str]) -> Clause:
    """The auxiliary's clause with subject and verb found."""
    first, rest, low_rest = low[0], words[1:], low[1:]
    if first in DO:
        place = main_verb(low_rest)
        if place is None:  # no verb we know: perhaps the word before a preposition
            place = _last_before_preposition(low_rest)
            return Clause(
                subject=tuple(rest[:place]), auxiliary=(low[0],), rest=tuple(rest[place:])
            )  # fmt: skip
        return Clause(
            subject=tuple(rest[:place]), auxiliary=(),
            rest=tuple(agreed(rest, low_rest, place, first)), done=True,
        )  # fmt: skip
    helper = "is" if first == "'s" else words[0].lower()
    if first in MODALS:
        place = main_verb(low_rest)
        if place is None:
            place, helper = predicate(low_rest), f"{helper} be"
    else:
        place = predicate(low_rest)
    if place is None and first in HAVE:
        place = main_verb(low_rest)
    if place is None and len(low_rest) > 1 and low_rest[-1] in STRANDED:
        place = len(low_rest) - 1
    if place is None and first in BE:
        slot = slot_after(low_rest, 1)  # "what channel is X on in the usa"
        place = slot - 1 if slot else None
    if place is None or place == 0:
        if low_rest and low_rest[0] in PRONOUNS:
            return Clause(subject=tuple(rest[:1]), auxiliary=(helper,), rest=tuple(rest[1:]))
        return Clause(subject=tuple(rest), auxiliary=(helper,), rest=())
    done = first in MODALS or first in HAVE
    return Clause(
        subject=tuple(rest[:place]), auxiliary=(helper,), rest=tuple(rest[place:]), done=done
    )


def _last_before_preposition(low: list[str]) -> int:
    for place in range(2, len(low)):
        if low[place] in PREPOSITIONS:
            return place - 1
    return max(len(low) - 1, 1)
