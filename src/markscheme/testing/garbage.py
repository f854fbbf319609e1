"""Replies of models and servers that fail, listed and generated: none is a verdict."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator, Sequence

import polars as pl

from markscheme.contract import Judge, judge_name, parse_judge
from markscheme.engine import apply
from markscheme.errors import JudgeError
from markscheme.models import Models
from markscheme.models.chat import ScriptedChat
from markscheme.tables import read_answers
from markscheme.text import words_of

_PIECES = words_of(__file__)
GARBAGE_REPLIES: tuple[str, ...] = _PIECES["replies"]
"""What servers and models say when they fail; none of it is a verdict, a mark or a statement."""

_ROWS = (
    ("What is the capital of France?", ["Paris", "Paname"], "Lyon"),
    ("What is the capital of France?", ["Paris"], "It is Paris, on the Seine."),
    ("Who wrote Ulysses?", ["James Joyce"], "The Irish novelist Joyce"),
    ("Why is the sky blue?", ["Air scatters blue light more than red light."], "Light scatters."),
)


def check_garbage_replies(judge: str | Judge, *, replies: Sequence[str] = GARBAGE_REPLIES) -> None:
    """Raise an error that names the first garbage reply that a judge takes for a judgment.

    The model gives the same garbage to everything the judge asks, repairs included. A judge that
    judges without asking (equal texts, an empty answer, the first stage of a cascade) is not at
    fault: only rows that were sent to the model count.

    Args:
        judge: a judge's name, or a judge.
        replies: what the model says, one after another; see also `generated_garbage`.

    Raises:
        JudgeError: a row was judged on garbage; the message names the reply and the outcome.
    """
    made = parse_judge(judge)
    answers = read_answers(
        [
            {
                "question": question,
                "references": references,
                "answer": answer,
                "id": str(place),
                "context": "Paris is the capital of France. James Joyce wrote Ulysses.",
            }
            for place, (question, references, answer) in enumerate(_ROWS)
        ]
    )
    unasked: set[int] = set()
    for reply in replies:
        chat = ScriptedChat(replies=lambda _, reply=reply: reply)  # type: ignore[misc]
        found = apply(made, answers, Models(chat=chat))
        unread = found.filter(pl.col("status") != "judged")
        if unread["verdict"].null_count() < unread.height or unread["explanation"].null_count():
            raise JudgeError(
                f"{judge_name(made)}, on the reply {reply!r}: a row that was not judged has a "
                "verdict or no reason"
            )
        for place in (found["status"] == "judged").arg_true():
            if place in unasked:
                continue
            chat.seen.clear()
            again = apply(made, answers[place : place + 1], Models(chat=chat))
            if not chat.seen:
                unasked.add(place)
                continue
            row = again.row(0, named=True)
            raise JudgeError(
                f"{judge_name(made)} judged on the reply {reply!r}: verdict {row['verdict']}, "
                f"score {row['score']} ({row['explanation']}); a reply that says nothing must be "
                "'unparsed' or 'refused'"
            )


# --- Replies that say nothing, generated ----------------------------------------------------------
# None of the pieces is a verdict, a mark, a relation or a statement about the world, so no judge
# may judge on any of them. Numbers occur as parts of errors, words of a verdict only inside others.


_NAMES = tuple(
    """
    status code detail message error request_id retry_after type x data model usage trace object
    id param
    """.split()
)
_FAULTS: tuple[str, ...] = _PIECES["faults"]
_REFUSALS: tuple[str, ...] = _PIECES["refusals"]
_EMPTY_TALK: tuple[str, ...] = _PIECES["empty_talk"]
_LATIN = tuple(
    """
    lorem ipsum dolor sit amet consectetur adipiscing elit sed eiusmod tempor incididunt ut labore
    et dolore magna aliqua
    """.split()
)
_BLANKS: tuple[str, ...] = _PIECES["blanks"]


def _value(chance: random.Random, depth: int) -> object:
    if depth < 2 and chance.random() < 0.3:
        return {
            chance.choice(_NAMES): _value(chance, depth + 1) for _ in range(chance.randint(0, 3))
        }
    if depth < 2 and chance.random() < 0.15:
        return [_value(chance, depth + 1) for _ in range(chance.randint(0, 3))]
    return chance.choice(
        [None, chance.randint(400, 599), chance.choice(_FAULTS), "", chance.random(), -1, 10**20]
    )


def _object(chance: random.Random) -> str:
    found = {chance.choice(_NAMES): _value(chance, 0) for _ in range(chance.randint(1, 4))}
    text = json.dumps(found, indent=chance.choice([None, 2]))
    if chance.random() < 0.3:
        text = text[: chance.randint(1, len(text))]  # A stream that ended.
    return f"```json\n{text}\n```" if chance.random() < 0.2 else text


def _error(chance: random.Random) -> str:
    fault, code = chance.choice(_FAULTS), chance.randint(400, 599)
    forms = (
        f"Error: {fault}",
        f"Error {code}: {fault}",
        f"HTTP {code} {fault.title()}",
        f"{fault} (attempt {chance.randint(1, 9)} of {chance.randint(1, 9)})",
        f"<html><head><title>{code} {fault}</title></head><body>{fault}</body></html>",
        f'Traceback (most recent call last):\n  File "serve.py", line {code}\nError: {fault}',
        f"{fault}; retry after {chance.randint(1, 60)} s",
        f"ERR_{fault.upper().replace(' ', '_')}",
    )
    return chance.choice(forms)


def _noise(chance: random.Random) -> str:
    letters = string.punctuation + "\u00e9\u4e16\u0416\u05d0\U0001f600\u202e\n"
    return "".join(chance.choice(letters) for _ in range(chance.randint(1, 30)))


def _words(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return " ".join([chance.choice(_LATIN)] * chance.randint(3, 40))
    return " ".join(chance.choices(_LATIN, k=chance.randint(3, 30))).capitalize() + "."


_KINDS: tuple[Callable[[random.Random], str], ...] = (
    _object,
    _error,
    _error,
    _noise,
    _words,
    lambda chance: chance.choice(_REFUSALS),
    lambda chance: chance.choice(_EMPTY_TALK),
    lambda chance: chance.choice(_BLANKS),
)


def generated_garbage(count: int, *, seed: int = 0) -> Sequence[str]:
    """Replies that say nothing: errors, pages, objects, refusals, talk, noise, and mixtures.

    Args:
        count: how many.
        seed: equal ones give equal replies.

    Example:
        >>> from markscheme.testing import check_garbage_replies, generated_garbage
        >>> check_garbage_replies("llm_kamalloo", replies=generated_garbage(20))
    """
    return list(_generated(count, random.Random(seed)))


def _generated(count: int, chance: random.Random) -> Iterator[str]:
    for _ in range(count):
        parts = [chance.choice(_KINDS)(chance) for _ in range(chance.choice((1, 1, 1, 2, 2, 3)))]
        yield chance.choice(("\n", " ", "\n\n")).join(parts)
