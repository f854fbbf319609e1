"""Asking a chat model how far it is from one statement to another. Yao & Barbosa 2024, sec. 4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from markscheme.judges.asked import messages, total
from markscheme.judges.asked_pairs import COST
from markscheme.judges.inference_marks_steps import Steps, read_steps
from markscheme.judgments import SPENT
from markscheme.models.chat import ChatModel, ChatReply, ChatRequest, Message
from markscheme.prompts import Prompt, shipped
from markscheme.text.grades import read_score

EXPLAIN, RATE = "inference_yao", "inference_difficulty_yao"

COLUMNS: dict[str, Any] = {
    "steps": pl.Int64,
    "info": pl.Int64,
    "assumptions": pl.Int64,
    "difficulty": pl.Int64,
    "gap_status": pl.String,
    "gap_reason": pl.String,
    "inference": pl.String,
    "rating": pl.String,
    **COST,
}
"""What `measure` finds out about each pair. Counts are null where the explanation could not be
read, the difficulty (1 to 5) where the rating could not or was not wanted; `gap_status` and
`gap_reason` then say why. `inference` and `rating` are the replies."""


def measure(pairs: pl.DataFrame, chat: ChatModel, *, rate: bool) -> pl.DataFrame:
    """Have every inference from `s1` to `s2` explained, its steps counted, and rated if wanted.

    Equal pairs are asked about once. The rating is a second turn of the same conversation.

    Args:
        pairs: columns `s1` and `s2`, statements of which the first entails the second.
        chat: who explains.
        rate: ask how hard it is, from 1 to 5, as well.

    Returns:
        The pairs in order, with `COLUMNS`. What a reply cost stands in the first of equal pairs.
    """
    once = pairs.select("s1", "s2").unique(maintain_order=True)
    explain = shipped()[EXPLAIN]
    requests = [
        _request(explain, explain.turns({"s1": s1, "s2": s2})) for s1, s2 in once.iter_rows()
    ]
    told = [_explained(reply) for reply in chat.complete(requests)] if requests else []
    if rate:
        places = [place for place, row in enumerate(told) if row["gap_status"] == "judged"]
        again = [_rating_request(requests[place], told[place]["inference"]) for place in places]
        for place, reply in zip(places, chat.complete(again) if again else [], strict=True):
            told[place] = _rated(told[place], reply)
    found = pl.DataFrame(told, schema=COLUMNS)
    every = pairs.join(
        pl.concat([once, found], how="horizontal"),
        on=["s1", "s2"],
        how="left",
        maintain_order="left",
    )
    first = pl.struct("s1", "s2").is_first_distinct()
    return every.with_columns(pl.when(first).then(pl.col(name)).alias(name) for name in SPENT)


def _request(prompt: Prompt, turns: Sequence[tuple[str, str]]) -> ChatRequest:
    return ChatRequest(
        messages=messages(turns),
        max_tokens=prompt.max_tokens,
        temperature=prompt.temperature,
    )


def _rating_request(request: ChatRequest, explanation: str) -> ChatRequest:
    prompt = shipped()[RATE]
    follow_up = _request(prompt, prompt.turns({}))
    said = Message(role="assistant", content=explanation)
    return ChatRequest(
        messages=(*request.messages, said, *follow_up.messages),
        max_tokens=follow_up.max_tokens,
        temperature=follow_up.temperature,
    )


def _explained(reply: ChatReply) -> dict[str, Any]:
    row = {"inference": reply.text, **_spent(reply)}
    if reply.status != "ok":
        return row | {"gap_status": reply.status, "gap_reason": reply.why_none}
    found = read_steps(reply.text or "", finished=reply.finished)
    if not isinstance(found, Steps):
        return row | {"gap_status": found.status, "gap_reason": found.reason}
    counts = {"steps": found.steps, "info": found.info, "assumptions": found.assumptions}
    return row | counts | {"gap_status": "judged"}


def _rated(row: dict[str, Any], reply: ChatReply) -> dict[str, Any]:
    spent = _spent(reply)
    both = {name: total((row[name], spent[name])) for name in SPENT}
    row = row | both | {"rating": reply.text}
    if reply.status != "ok":
        return row | {"gap_status": reply.status, "gap_reason": f"rating: {reply.why_none}"}
    found = read_score(reply.text or "", finished=reply.finished)
    if found.score is None:
        return row | {"gap_status": found.status, "gap_reason": f"rating: {found.reason}"}
    return row | {"difficulty": round(1 + 4 * found.score)}


def _spent(reply: ChatReply) -> dict[str, Any]:
    return {name: getattr(reply, name) for name in SPENT}
