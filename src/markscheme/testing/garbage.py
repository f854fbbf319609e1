"""Replies of models and servers that fail: none is a verdict."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from markscheme.contract import Judge, judge_name, parse_judge
from markscheme.engine import apply
from markscheme.errors import JudgeError
from markscheme.models import Models
from markscheme.models.chat import ScriptedChat
from markscheme.tables import read_answers
from markscheme.text import words_of

GARBAGE_REPLIES: tuple[str, ...] = words_of(__file__)["replies"]
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
        replies: what the model says, one after another.

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
