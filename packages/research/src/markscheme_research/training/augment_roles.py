"""Made-up answers in which the reference, or a rival, is named in another role than the one sought.

"REST was written by W, a pupil of R" is wrong and "... by R, a pupil of W" right: the same words,
so that only their places can tell.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

Row = tuple[str, list[str], str, bool]

_NAMED = (
    ", a rival of {o}", ", working with {o}", ", not to be confused with {o}",
    ", who had studied under {o}", ", a student of {o}", "; {o} had only a small part in it",
    ". {o} is better known for something else", ". {o} appeared there as well",
    ". {o} followed later", ". Later {o} took over", ". {o} is often mentioned in the same breath",
    ", next to {o}", ". Critics compare it with {o}", ". Its nearest counterpart is {o}",
    ", north of {o}", ", named in honour of {o}", ", beating {o}", ". {o} came away empty-handed",
    ", while {o} did something else entirely", ". Other examples are {o} and {x}",
    ". {o} and {x} are smaller", ", after {o} had turned it down", "; {o} was the runner-up",
    ", unlike {o}", ". The other well-known one, {o}, has nothing to do with it",
    ", whose teacher was {o}", ", born in the same year as {o}", ", at the time married to {o}",
    ". In the following year it was the turn of {o}", ". {o} praised it", ", an admirer of {o}",
    ". {o}, {x} and others were guests", "; {o} ranks after it", ". {o} lies further south",
    ", in competition with {o}", ". A copy went to {o}", ", before {o}",
    ", together with the son of {o}", ". {o} tried the same and failed",
    ", to the annoyance of {o}", ", a neighbour of {o}", ". {o} inherited it",
    ". It was dedicated to {o}", ", with {o} looking on",
)  # fmt: skip
_DATED = (
    ", some years away from {o}", ". Work on it had begun in {o}", ". A second edition came in {o}",
    ". In {o} something else of note happened", ". It was restored in {o}",
    ", though plans go back to {o}", ". It had been announced in {o}",
    ". By {o} it was all forgotten", ". A film about it came out in {o}", ". {o} saw the next one",
    ". An earlier try in {o} failed", ", and was repeated in {o}",
    ". The last survivor died in {o}", ". Historians met in {o} to discuss it",
    ". It was celebrated again in {o}", " (the sequel: {o})", ", long before or after {o}",
)  # fmt: skip
_COUNTED = (
    ", of which {o} are well known", ". {o} more were planned",
    ". Only {o} of them are in use today", ", in {o} groups", ". About {o} others exist elsewhere",
    ". It took {o} years to find out", ". {o} people worked on it",
    ". Chapter {o} has more on this", ". The neighbours have {o}", ", up from {o}",
    ". Earlier there were {o}", ". Some {o} books have been written about it",
)  # fmt: skip
_WORDED = (
    ". {o} is something else", ", much like {o}", ". This has nothing to do with {o}",
    ", together with {o}", ". A different matter is {o}", ", in contrast to {o}",
    ". {o} comes later",
)  # fmt: skip
_OPENINGS = (
    "Unlike {o}, which is another story, ", "After the time of {o}, ", "Leaving {o} aside, ",
    "Much has been said of {o}. As for the question: ", "Following {o}, ",
    "Long compared with {o}: ", "Where {o} ends something else begins. ", "With {o} as a witness: ",
    "",
)  # fmt: skip
_EXTRAS = (
    " It drew a good deal of attention at the time.", " Opinions about its importance differ.",
    " Much has been written about this since.", " Visitors still ask about it today.",
    " The story has been told many times.", " There are several museums on the subject.",
    " It was reported by newspapers around the world.", "", "", "",
)  # fmt: skip
_WHO = re.compile(r"^who (?:is|was|are|were) (.+)$")
_WHO_DID = re.compile(r"^who ((?:\w+ed|wrote|sang|sings|plays|won|made|gave|led|built|began) .+)$")
_PASSIVE = re.compile(
    r"^who (\w+ed|wrote|sang|won|made|gave|led|built|began) (?!by |in |on |as |to )(.+)$"
)
_BE = re.compile(r"^(when|where|what|which) (is|was|are|were) (.+)$")
_MANY = re.compile(r"^how many (\w+) (?:are|were) (?:there )?(.+)$")
_WHICH = re.compile(r"^(?:what|which) (\w+) (is|was|has|had|won|made|plays|played) (.+)$")
_PARTICIPLES = {"wrote": "written", "sang": "sung", "gave": "given", "began": "begun"}


def statement(question: str, words: str, chance: random.Random) -> str:
    """The question turned into a sentence whose answer is `words`, without a full stop."""
    bare_question = question.strip().rstrip("?").strip()
    lower = bare_question.lower()
    if (found := _PASSIVE.match(lower)) and chance.random() < 0.6:
        verb = _PARTICIPLES.get(found[1], found[1])
        return f"{_upper(found[2])} was {verb} by {words}"
    if found := _WHO_DID.match(lower):
        return f"{_upper(words)} {found[1]}"
    if found := _WHO.match(lower):
        shape = chance.choice(("{r} was {w}", "{w} was {r}"))
        return _upper(shape.format(r=found[1], w=words))
    if found := _BE.match(lower):
        lead = " in" if found[1] == "where" or words[:4].isdigit() else ""
        return f"{_upper(found[3])} {found[2]}{lead} {words}"
    if found := _MANY.match(lower):
        return f"There are {words} {found[1]} {found[2]}"
    if found := _WHICH.match(lower):
        return f"{_upper(words)} {found[2]} {found[3]}"
    return chance.choice(("It was {}", "The answer is {}", "That would be {}")).format(words)


def asides(kind: str) -> tuple[str, ...]:
    """Ways to name something of a kind ("person", "year" and so on) in another role."""
    if kind in ("year", "date"):
        return _DATED
    return _COUNTED if kind == "number" else _WORDED if kind == "phrase" else _NAMED


def role_rows(
    question: str,
    references: list[str],
    chance: random.Random,
    *,
    reference: str,
    kind: str,
    wrong: list[str],
) -> Iterator[Row]:
    """Sentences made of the question, right and wrong, plain and with the other one in a role."""
    other = wrong[0]
    for right in (True, False):
        claimed, mentioned = (reference, other) if right else (other, reference)
        sentence = statement(question, claimed, chance)
        extra = chance.choice(_EXTRAS)
        aside = chance.choice(asides(kind)).format(o=mentioned, x=wrong[1])
        yield question, references, f"{sentence}{aside}.{extra}", right
        if chance.random() < 0.4:
            yield question, references, f"{sentence}.{extra}", right
        if chance.random() < 0.4:
            opening = chance.choice(_OPENINGS).format(o=mentioned)
            yield question, references, f"{opening}{sentence}.{extra}", right


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
