"""From a question to the statement's frame: what precedes the answer, what after it.

The rules look only at closed classes of words (auxiliaries, prepositions, determiners) and at a
list of common verbs. Where a question is none they know, the frame says "X is the ..." or puts the
answer behind the topic.
"""

from __future__ import annotations

import re
from dataclasses import replace

from markscheme_research.statements.clauses import agreed, main_verb, polar_cut, predicate
from markscheme_research.statements.frames import Frame, inverted, whole
from markscheme_research.statements.nouns import how_question, noun_question
from markscheme_research.statements.sentence_forms import (
    AUXILIARIES,
    BE,
    DETERMINERS,
    DO,
    MODALS,
    PREPOSITIONS,
    THIRDS,
    lowered,
    strength,
)
from markscheme_research.statements.sentence_forms import words as word_set
from markscheme_research.statements.word_classes import COMMAND

_CONTRACTED = {
    "what's": "what is", "whats": "what is", "who's": "who is", "whos": "who is",
    "where's": "where is", "wheres": "where is", "when's": "when is", "how's": "how is",
    "how'd": "how did", "who'd": "who would", "that's": "that is", "there's": "there is",
    "it's": "it is", "isn't": "is not", "doesn't": "does not", "didn't": "did not",
    "aren't": "are not", "wasn't": "was not", "who've": "who have", "why's": "why is",
}  # fmt: skip
_SPACES = re.compile(r"\s+")
_SECOND = re.compile(
    r"(?<=\w),? and (?:(?:when|what|where|who|how|why) (?:is|are|was|were|did|does)\b|"
    r"(?:in )?what year|by (?:whom|what|which)\b).*",
    re.IGNORECASE,
)
_ENDS = word_set("is are was were has have called named the a an")


def parse(question: str) -> Frame:
    """The frame of a question's statement; for the empty question a frame that is all gap."""
    words = _words(question)
    if not words:
        return Frame()
    low = [lowered(word) for word in words]
    if len(low) > 2 and low[0] in AUXILIARIES and low[0] != "'s":
        return _polar(words, low)
    place = _wh_place(low)
    if place is None:
        return _unasked(words, low)
    if place and not _preposed(low, place):
        return _late(words, low, place)
    lead = " ".join(low[:place])
    return _question_frame(words[place:], low[place:], lead if lead else "")


def _words(question: str) -> list[str]:
    text = _SPACES.sub(" ", question.replace("’", "'")).strip(" ?.!:;,")
    second = _SECOND.search(text)
    if second is not None and second.start() > 12:
        text = text[: second.start()]
    found: list[str] = []
    for place, word in enumerate(text.split(" ") if text else []):
        known = _CONTRACTED.get(word.lower()) if place < 6 else None
        if known and (place == 0 or word.lower().startswith("wh") or word.lower() == "how's"):
            pieces = known.split()
            found += [pieces[0].capitalize() if word[:1].isupper() else pieces[0], *pieces[1:]]
        else:
            found.append(word)
    return found


_WH = word_set("who whom whose what which when where why how")


def _wh_place(low: list[str]) -> int | None:
    """Where the question word is: the first, unless it opens a relative clause."""
    if low[-1] in _WH and low[0] not in _WH:
        return len(low) - 1
    for place, word in enumerate(low):
        if word not in _WH:
            continue
        if place == 0 or _preposed(low, place):
            return place
        if word in ("what", "how", "why") or place == len(low) - 1:
            return place
        follows = low[place + 1]
        if word == "which" and place <= 2 and follows not in AUXILIARIES:
            return place
        plain = AUXILIARIES.isdisjoint(low[place:])
        if (
            word == "which"
            and plain
            and (
                len(low) - place <= 3 or (low[place - 1] in PREPOSITIONS and len(low) - place <= 5)
            )
        ):
            return place
        if word in ("which", "when", "where") and follows in AUXILIARIES and place > 2:
            return place if word != "which" else None
        return None
    return None


def _preposed(low: list[str], place: int) -> bool:
    return 0 < place <= 2 and low[0] in PREPOSITIONS and low[place] in (
        "what", "which", "whom", "whose", "who", "how"
    )  # fmt: skip


def _question_frame(words: list[str], low: list[str], lead: str) -> Frame:
    """A question with its question word first; `lead` is the preposition before it."""
    if lead and "and" in low[:6]:  # "by whom and in what year was ..."
        for place in range(1, min(8, len(low))):
            if low[place] in AUXILIARIES:
                return inverted(words[place:], low[place:], Frame(preposition=lead))
    word = low[0]
    if len(low) == 1:
        return Frame(preposition=lead)
    if word in ("who", "whom"):
        return whole(words[1:], low[1:], Frame(preposition=lead), word)
    if word == "when":
        return whole(words[1:], low[1:], Frame(kind="time", preposition="in"), word)
    if word == "where":
        return _where(words[1:], low[1:])
    if word == "why":
        return whole(words[1:], low[1:], Frame(kind="reason"), word)
    if word == "how" and low[1:3] == ["and", "why"]:
        return whole(words[3:], low[3:], Frame(kind="reason"), "why")
    if word == "how":
        return how_question(words, low, lead)
    return noun_question(words, low, lead)


def _where(words: list[str], low: list[str]) -> Frame:
    if low[0] in ("in", "on", "at") and len(low) > 2:  # "where in the body is ..."
        for place, word in enumerate(low):
            if word in AUXILIARIES:
                return whole(
                    [*words[place:], *words[:place]], [*low[place:], *low[:place]],
                    Frame(kind="place", preposition="in"), "where",
                )  # fmt: skip
    return whole(words, low, Frame(kind="place", preposition="in"), "where")


def _polar(words: list[str], low: list[str]) -> Frame:
    """A yes/no question: its statement, and its denial."""
    first, rest, low_rest = low[0], words[1:], low[1:]
    if first in DO:
        place = main_verb(low_rest)
        if place is None:
            return Frame(before=" ".join(words), kind="topic")
        subject, tail = rest[:place], rest[place:]
        clause = [*subject, *agreed(rest, low_rest, place, first)]
        denied = [*subject, first, "not", *tail]
    else:
        place = polar_cut(rest, low_rest) if first in BE else None
        if place is None:
            place = main_verb(low_rest) if first in MODALS else predicate(low_rest)
        place = place or 1
        helper = words[0].lower()
        clause = [*rest[:place], helper, *rest[place:]]
        denied = [*rest[:place], helper, "not", *rest[place:]]
    before = ""
    if "or" in low_rest[place:]:
        before = _alternative(clause)
    return Frame(kind="polar", after=" ".join(clause), denied=" ".join(denied), before=before)


def _alternative(clause: list[str]) -> str:
    """Of "X is part of A or B", what precedes A."""
    low = [lowered(word) for word in clause]
    at = low.index("or")
    for place in range(at - 1, -1, -1):
        if low[place] in PREPOSITIONS | DETERMINERS | AUXILIARIES:
            return " ".join(clause[: place + 1])
    return ""


def _late(words: list[str], low: list[str], place: int) -> Frame:
    """A question word amid or at the end: "the capital is what", "season 4 how many episodes"."""
    topic = words[:place]
    if place == len(low) - 1:
        gap = {"where": ("place", "in"), "when": ("time", "in")}.get(low[-1], ("thing", ""))
        return Frame(before=" ".join(topic), kind=gap[0], preposition=gap[1])
    if low[place - 1] in BE | PREPOSITIONS or low[place - 1] in THIRDS:
        return Frame(before=" ".join(topic))
    inner = _question_frame(words[place:], low[place:], "")
    if inner.kind == "count" and inner.before == "there are" and not inner.after:
        known = low[place - 1] in AUXILIARIES or low[place - 1] in THIRDS
        return replace(inner, before=" ".join([*topic, *([] if known else ["has"])]))
    opening = [] if low[0] in PREPOSITIONS else ["in"]
    return replace(inner, before=f"{' '.join([*opening, *topic])}, {inner.before}".strip())


def _unasked(words: list[str], low: list[str]) -> Frame:
    """No question word: a request ("name a ..."), a cut-off statement, or a bare topic."""
    if low[0] in COMMAND and len(low) > 1 and low[1] != "of":
        return _named(words[1:], low[1:])
    if low[-1] in _ENDS | PREPOSITIONS or strength(THIRDS.get(low[-1], low[-1])) == 2:
        return Frame(before=" ".join(words))
    if low[0] == "to" or (len(low) > 1 and low[0] in PREPOSITIONS):
        return Frame(before=" ".join(words), kind="topic")
    return _named(words, low)


def _named(words: list[str], low: list[str]) -> Frame:
    """A topic, as "capital of france" or "the three Baltic states"."""
    if low[0] in ("me", "us") and len(low) > 1:
        words, low = words[1:], low[1:]
    single = low[0] in ("a", "an") or low[:2] == ["one", "of"]
    people = low[0] in ("actor", "actress", "singer", "explorer", "author", "host", "winner")
    if single or people:
        article = [] if single else ["the"]
        return Frame(after=" ".join(["is", *article, *words]))
    counted = low[0] in DETERMINERS and low[0] not in ("the", "this", "that")
    several = counted or (low[0] in ("the", "all") and len(low) > 1 and low[1] in DETERMINERS)
    helper = "are" if several or (low[0].endswith("s") and low[0] not in ("this",)) else "is"
    article = [] if low[0] in DETERMINERS | {"most"} or words[0][:1].isupper() else ["the"]
    return Frame(before=" ".join([*article, *words, helper]))
