"""Question and answer as one statement, by rules, without a model.

The conversion is the one that Demszky et al. 2018 call QA2D and that Yao & Barbosa 2024 (section 3)
put before their entailment test: "where is fe best absorbed in the body" with "in the duodenum"
becomes "Fe is best absorbed in the body in the duodenum." Answers that are sentences stay.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from markscheme_research.statements import answers as fit
from markscheme_research.statements.frames import Frame
from markscheme_research.statements.parse import parse
from markscheme_research.statements.sentence_forms import (
    is_sentence,
    lowered,
)

LONGEST = 2_000
"""Characters of a question, and of a fragment, that the rules read."""


def statement(question: str, answer: str) -> str:
    """A declarative sentence that says of the question what the answer says; English.

    "" where there is no answer. Takes any text and raises nothing.

    >>> statement("who wrote the first declaration of human rights", "Cyrus")
    'Cyrus wrote the first declaration of human rights.'
    >>> statement("Where is fe best absorbed in the body?", "in the duodenum")
    'Fe is best absorbed in the body in the duodenum.'
    >>> statement("How many strings does a violin have?", "four")
    'A violin has four strings.'
    """
    return _filled(parse(question[:LONGEST]), answer)


def statements(questions: pl.Series, answers: pl.Series) -> pl.Series:
    """`statement` of every row; null where the answer or the question is null.

    Each question is parsed once, and each pair filled in once.
    """
    frame = pl.DataFrame({"question": questions, "answer": answers})
    unique = frame.unique(maintain_order=True)
    made = pl.Series("statement", _made(unique.iter_rows()), dtype=pl.String)
    joined = frame.join(
        unique.with_columns(made), on=["question", "answer"], how="left", nulls_equal=True,
        maintain_order="left",
    )  # fmt: skip
    return joined["statement"]


def _made(pairs: Iterable[tuple[str | None, str | None]]) -> list[str | None]:
    frames: dict[str, Frame] = {}
    found: list[str | None] = []
    for question, answer in pairs:
        if question is None or answer is None:
            found.append(None)
            continue
        frame = frames.get(question)
        if frame is None:
            frame = frames[question] = parse(question[:LONGEST])
        found.append(_filled(frame, answer))
    return found


def _filled(frame: Frame, answer: str) -> str:
    text = " ".join(answer.split())
    if not text:
        return ""
    if len(text) > LONGEST:
        return _closed(text)
    if frame.kind == "polar":
        return _polar(frame, text)
    if ": " in text:
        text = fit.headed(text, _content(frame)) or text
    known = fit.led_in(text)
    if known is None and frame.kind not in ("reason", "manner") and is_sentence(text):
        return _closed(text)
    if frame.kind in ("reason", "manner") and text.endswith(".") and is_sentence(text):
        return _closed(text)
    fragment = fit.trimmed(text) if known is None else known
    if not fragment:
        return ""
    middle = _fitted(frame, fragment)
    if frame.before == "there are" and middle.startswith(("one ", "1 ")):
        return _closed(f"there is {middle} {_after(frame, middle)}")
    return _closed(f"{_before(frame.before, middle)} {_after(frame, middle)}")


def _content(frame: Frame) -> frozenset[str]:
    return frozenset(lowered(word) for word in f"{frame.before} {frame.after} {frame.noun}".split())


_THE = frozenset(["the", "a", "an", "this", "that", "these", "its", "his", "her", "their", "our"])


def _before(before: str, middle: str) -> str:
    """Both joined, the article before the answer being the right one, and only one."""
    head, _, last = before.rpartition(" ")
    if last not in ("a", "an", "the"):
        return f"{before} {middle}"
    if middle.split(" ", 1)[0] in _THE:
        return f"{head} {middle}"
    if last != "the":
        last = "an" if middle[:1].lower() in "aeiou" else "a"
    return f"{head} {last} {middle}"


def _after(frame: Frame, subject: str) -> str:
    """What follows the answer, its verb agreeing with an answer that is plainly one or several."""
    verb, space, rest = frame.after.partition(" ")
    if frame.before or frame.kind != "thing" or not verb:
        return frame.after
    several = " and " in subject or (subject.islower() and subject.endswith("s"))
    if several:
        return f"{fit.plural(verb)}{space}{rest}"
    if "," in subject or "&" in subject or subject.endswith("s"):
        return frame.after
    if verb in ("are", "were") and rest.split(" ", 1)[0] in _THE:
        return frame.after
    return f"{fit.singular(verb)}{space}{rest}"


def _fitted(frame: Frame, answer: str) -> str:
    kind, preposition = frame.kind, frame.preposition
    if kind == "time":
        return fit.timed(answer, preposition)
    if kind == "place":
        return fit.placed(answer, preposition)
    if kind == "reason":
        return fit.reasoned(answer)
    if kind == "manner":
        return fit.done_by(answer)
    if kind == "count":
        text = fit.counted(answer, frame.noun)
    elif kind == "measure":
        return fit.measured(answer, frame.noun, preposition)
    elif kind == "topic":
        return f": {answer}"
    else:
        text = fit.inside(answer) if frame.before else fit.agent(answer)
    if preposition and text.split(" ", 1)[0].lower() != preposition:
        return fit.timed(text, preposition) if preposition in ("in", "on") else (
            f"{preposition} {text}"
        )  # fmt: skip
    return text


def _polar(frame: Frame, answer: str) -> str:
    sign, rest = fit.yes_or_no(answer)
    if sign is None:
        if frame.before and not is_sentence(answer):
            return _closed(f"{frame.before} {fit.inside(fit.trimmed(answer))}")
        return _closed(answer)
    sentence = _closed(frame.after if sign else frame.denied)
    return f"{sentence} {_closed(rest)}" if is_sentence(rest) else sentence


def _closed(text: str) -> str:
    """With a capital and a stop, and spaces as they should be."""
    text = text.replace(" ,", ",").replace(" :", ":").strip()
    first = text[:1].upper() + text[1:]
    return first if first.endswith((".", "!", "?", '."', ".'", ".”")) else f"{first}."
