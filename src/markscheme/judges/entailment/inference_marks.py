"""Marks of answers whose relation is known, under every scheme. Yao & Barbosa 2024, section 4."""

from __future__ import annotations

import functools
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from markscheme.contract import (
    ChatModel,
    ChatReply,
    ChatRequest,
    Message,
    ModelSource,
    parse_judge,
    run_judge,
)
from markscheme.judges.entailment.grounding import mentions
from markscheme.judges.prompted import COST, Call, Sample, ask, request_of, shipped, total
from markscheme.metrics import credit, expected_marks, gap, marks, token_f1
from markscheme.tables import SPENT
from markscheme.text.replies import Reading, read_score, reads, undecided, unparsed

_NUMBERED = re.compile(r"^[\s>*_#-]*(?:step\s*)?(\d{1,3})\s*[.):][*_]*\s*(?=\S)", re.I | re.M)
_INLINE = re.compile(r"(?<!\S)(\d{1,3})[.)]\s+(?=\S)")
_INFO = re.compile(r"\[{1,2}\s*INFO(?:RMATION)?\s*\]{1,2}", re.IGNORECASE)
_ASSUMPTION = re.compile(r"\[{1,2}\s*ASSUMPTIONS?\s*\]{1,2}|\(\s*ASSUMPTIONS?\s*\)", re.IGNORECASE)
"""In brackets, or in parentheses, which the authors' own code counts as well."""
_WORDS = re.compile(r"\w+")
_NAMES = re.compile(r"\bS[12]\b")
"""What the prompt calls the two statements."""
_CIRCLE = 3
"""So many times the same step, and the model goes round in circles."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Steps:
    """What an explanation takes to get from one statement to the other.

    Attributes:
        steps: numbered statements; a repeated one counts once.
        info: of them, how many marks for outside information they bear; `assumptions` likewise.
    """

    steps: int
    info: int
    assumptions: int


@reads
def read_steps(text: str, *, finished: bool = True, s1: str = "", s2: str = "") -> Steps | Reading:
    """Count the numbered steps and their marks, `[[INFO]]` and `[[ASSUMPTION]]`.

    Args:
        text: the model's.
        finished: whether the model stopped by itself.
        s1, s2: the statements that the steps lead from and to; steps that have no word of them
            explain something else.

    Returns:
        The counts, or a `Reading` that says why there are none: an empty reply, no numbered step,
        a reply cut off by the token limit (its steps would be too few), a model that says the same
        step three times or more, a refusal.
    """
    steps = _steps(text)
    if not steps:
        return undecided(text, "no numbered step in it", finished=True)
    # Numbers stay: "3 plus 4 is 7" and "3 plus 5 is 8" are two steps.
    bare = [" ".join(_WORDS.findall(_unmarked(step).casefold())) for step in steps]
    step, times = Counter(bare).most_common(1)[0]
    if times >= _CIRCLE:
        return unparsed(f"it goes round in circles: {times} times {step[:60]!r}")
    if not finished:
        return unparsed(f"cut off by the token limit after {len(steps)} steps")
    if not (_NAMES.search(text) or mentions(" ".join(steps), of=f"{s1} {s2}")):
        return unparsed("the steps name nothing of the two statements")
    once = dict(zip(reversed(bare), reversed(steps), strict=True))
    return Steps(
        steps=len(once),
        info=sum(len(_INFO.findall(step)) for step in once.values()),
        assumptions=sum(len(_ASSUMPTION.findall(step)) for step in once.values()),
    )


def _steps(text: str) -> list[str]:
    """The texts of the numbered steps, on lines of their own or, failing that, in one line."""
    found = list(_NUMBERED.finditer(text))
    if len(found) < 2:
        inline, wanted = [], 1
        for match in _INLINE.finditer(text):
            if int(match[1]) == wanted:
                inline.append(match)
                wanted += 1
        found = inline if len(inline) > len(found) else found
    ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
    return [text[match.end() : end].strip() for match, end in zip(found, ends, strict=True)]


def _unmarked(step: str) -> str:
    return _ASSUMPTION.sub(" ", _INFO.sub(" ", step))


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

    Equal pairs are sent once. The rating is a second turn of the same conversation.

    Args:
        pairs: columns `s1` and `s2`, statements of which the first entails the second.
        chat: who explains.
        rate: ask how hard it is, from 1 to 5, as well.

    Returns:
        The pairs in order, with `COLUMNS`. The cost of a reply is in the first of equal pairs.
    """
    once = pairs.select("s1", "s2").unique(maintain_order=True)
    explain = shipped()[EXPLAIN]
    requests = [
        request_of(explain, explain.turns({"s1": s1, "s2": s2})) for s1, s2 in once.iter_rows()
    ]
    readers = [functools.partial(_read_steps, s1=s1, s2=s2) for s1, s2 in once.iter_rows()]
    samples = ask(
        chat,
        [Call(request=one, reader=read) for one, read in zip(requests, readers, strict=True)],
    )
    rows = [_explained(sample) for sample in samples]
    if rate:
        places = [place for place, sample in enumerate(samples) if sample.status == "judged"]
        again = [_rating_request(requests[place], samples[place].raw or "") for place in places]
        calls = [Call(request=request, reader=_read_rating) for request in again]
        for place, sample in zip(places, ask(chat, calls), strict=True):
            rows[place] = _rated(rows[place], sample)
    found = pl.DataFrame(rows, schema=COLUMNS)
    every = pairs.join(
        pl.concat([once, found], how="horizontal"),
        on=["s1", "s2"],
        how="left",
        maintain_order="left",
    )
    first = pl.struct("s1", "s2").is_first_distinct()
    return every.with_columns(pl.when(first).then(pl.col(name)).alias(name) for name in SPENT)


def _rating_request(request: ChatRequest, explanation: str) -> ChatRequest:
    prompt = shipped()[RATE]
    follow_up = request_of(prompt, prompt.turns({}))
    said = Message(role="assistant", content=explanation)
    return replace(follow_up, messages=(*request.messages, said, *follow_up.messages))


def _read_steps(reply: ChatReply, *, s1: str, s2: str) -> Reading:
    found = read_steps(reply.text or "", finished=reply.finished, s1=s1, s2=s2)
    if isinstance(found, Reading):
        return found
    return Reading(status="judged", reason="", product=found)


def _read_rating(reply: ChatReply) -> Reading:
    return read_score(reply.text or "", finished=reply.finished)


def _explained(sample: Sample) -> dict[str, Any]:
    row = {"inference": sample.raw, "gap_status": sample.status, **sample.spent}
    found = sample.product
    if not isinstance(found, Steps):
        return row | {"gap_reason": sample.reason}
    return row | {"steps": found.steps, "info": found.info, "assumptions": found.assumptions}


def _rated(row: dict[str, Any], sample: Sample) -> dict[str, Any]:
    both = {name: total((row[name], spent)) for name, spent in sample.spent.items()}
    row = row | both | {"rating": sample.raw}
    if sample.score is None:
        return row | {"gap_status": sample.status, "gap_reason": f"rating: {sample.reason}"}
    return row | {"difficulty": round(1 + 4 * sample.score)}


INFERENCE = ("CIA", "C", "IA", "difficulty")
"""Schemes that have an inference explained."""

_DECIMALS = 5
"""Of marks, as of the scores they are made from."""
_GAPS = {"gap": pl.Float64} | {name: COLUMNS[name] for name in COLUMNS if name not in SPENT}
_COST = {f"gap_{name}": COLUMNS[name] for name in SPENT}


def with_marks(
    decided: pl.DataFrame,
    *,
    pairs: pl.DataFrame,
    answers: pl.DataFrame,
    scheme: str,
    models: ModelSource,
) -> pl.DataFrame:
    """The answers with `marks`, and what they were made from: `gap` and the columns of `measure`,
    those of its cost with `gap_` before them.

    Args:
        decided: one row per answer: `row` (its place in `answers`), `relation` and the chances.
        pairs: one row per answer and reference, with statements and both directions.
        answers: the table that is judged.
        scheme: as `Entailment.marks`, `auto` resolved.
        models: give the chat model.
    """
    measured = _nothing(decided)
    if scheme in INFERENCE:
        pairs = pairs.join(decided.select("row", "relation"), on="row")
        measured = _smallest_gaps(pairs, scheme, models)
    elif scheme == "llm_score":
        measured = _llm_scores(decided, answers, models)
    found = decided.join(measured, on="row", how="left", maintain_order="left")
    if scheme in INFERENCE:
        value = marks(found["relation"], credit(found["gap"], scheme))
    elif scheme == "llm_score":
        value = found["marks"]
    elif scheme == "scores":
        value = expected_marks(found["entails_chance"], found["entailed_chance"])
    elif scheme == "off":
        value = pl.Series([None] * found.height, dtype=pl.Float64)
    else:
        selected = answers[found["row"].to_list()]
        value = token_f1(selected["answer"], selected["references"])
    return found.with_columns(marks=value.round(_DECIMALS))


def _nothing(rows: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(schema={"row": rows.schema["row"], **_GAPS, **_COST})


def _llm_scores(decided: pl.DataFrame, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
    """`marks` of the judge `llm_score` for answers whose relation is known, and what of a gap says
    why there are none and what they cost."""
    rows = decided.filter(pl.col("status") == "judged")["row"]
    scored = run_judge(parse_judge("llm_score"), answers[rows.to_list()], models)
    found = scored.select(
        rows,
        marks="score",
        gap_status=pl.col("status").cast(pl.String),
        gap_reason=pl.when(pl.col("status") != "judged").then("explanation"),
        **{f"gap_{name}": name for name in SPENT},
    )
    return pl.concat([_nothing(decided), found], how="diagonal")


def _smallest_gaps(pairs: pl.DataFrame, scheme: str, models: ModelSource) -> pl.DataFrame:
    """Of every superior or inferior answer the smallest gap over the pairs that entail.

    From the answer to a reference that it entails, or from a reference that entails it to the
    answer. Where no gap is known, the first pair says why.
    """
    superior = (pl.col("relation") == "superior") & pl.col("entails")
    inferior = (pl.col("relation") == "inferior") & pl.col("entailed")
    sides = (pl.col("answer_statement"), pl.col("reference_statement"))
    selected = pairs.filter(superior | inferior).select(
        "row",
        s1=pl.when(superior).then(sides[0]).otherwise(sides[1]),
        s2=pl.when(superior).then(sides[1]).otherwise(sides[0]),
    )
    if selected.is_empty():
        return _nothing(pairs)
    from markscheme.models import Models

    chat = (models if models is not None else Models()).chat()
    measured = measure(selected, chat, rate=scheme == "difficulty")
    return (
        measured.with_columns(gap=gap(measured, scheme))
        .sort("gap", nulls_last=True, maintain_order=True)
        .group_by("row", maintain_order=True)
        .agg(
            *(pl.col(name).first() for name in _GAPS),
            *(
                pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(f"gap_{name}")
                for name in SPENT
            ),
        )
    )
