"""From a chat model's replies to one item to that item's outcome: reading, voting, adding up."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from markscheme.judges.prompted.asking import Sample, spent
from markscheme.judges.prompted.parsers import Parser, Scale
from markscheme.models.chat import ChatReply, TokenLogprobs
from markscheme.text.replies import (
    Reading,
    as_bool,
    read_grade,
    read_relation,
    read_score,
    read_yes_no,
)

Vote = Literal["majority", "mean"]

_MARKUP = " \t\r\n▁Ġ*_`#>\"'“”‘’([{:-"
_ENOUGH = 0.5
"""Of a token's probability, the share that must be on yes and no for their ratio to mean much."""


def _yes_no_last(reply: str, *, finished: bool) -> Reading:
    return read_yes_no(reply, finished=finished, verdict_last=True)


READERS: Mapping[str, Callable[..., Reading]] = {
    "yes_no": read_yes_no,
    "yes_no_last": _yes_no_last,
    "score": read_score,
    "relation": read_relation,
    "grade": read_grade,
}
"""Parsers that prompts may name."""


def read_reply(
    reply: ChatReply, *, parser: str, accept_from: float, own: Parser | None = None
) -> Reading:
    """A reply as a reading, with a verdict by the threshold where it has a score alone."""
    read = READERS[parser] if own is None else own
    reading = read(reply.text or "", finished=reply.finished)
    if reading.status != "judged":
        return reading
    score = reading.score
    if reply.token_logprobs:
        score = _score_by_logprobs(reply.token_logprobs, own or parser, score)
    verdict = reading.verdict
    if verdict is None and score is not None:
        verdict = score >= accept_from
    return replace(reading, verdict=verdict, score=score)


def outcome(samples: Sequence[Sample], *, vote: Vote, accept_from: float) -> dict[str, Any]:
    """The outcome of an item from its samples, as a row of the judgments table.

    Samples that were not judged have no vote, and are counted in the explanation. A tie is
    settled by the mean score, and left unparsed where that is undecided too.
    """
    row = {"raw": _raw(samples), **spent(samples)}
    judged = [sample for sample in samples if sample.status == "judged"]
    if not judged:
        return row | _not_judged(samples)
    if len(samples) == 1:
        only = judged[0]
        return row | {
            "status": "judged", "verdict": only.verdict, "score": only.score,
            "relation": only.relation, "marks": only.marks, "explanation": only.reason or None,
        }  # fmt: skip
    accepting = sum(bool(sample.verdict) for sample in judged)
    score = math.fsum(sample.score or 0.0 for sample in judged) / len(judged)
    explanation = f"{accepting} of {len(judged)} samples accept"
    if len(judged) < len(samples):
        explanation += f"; {len(samples) - len(judged)} of {len(samples)} were not judged"
    verdict = score >= accept_from
    if vote == "majority":
        rejecting = len(judged) - accepting
        verdict = accepting > rejecting if accepting != rejecting else score > _ENOUGH
        if accepting == rejecting and score == _ENOUGH:
            return row | {"status": "unparsed", "explanation": f"a tie: {explanation}"}
    agreeing = [sample for sample in judged if sample.verdict == verdict] or judged
    relations = Counter(sample.relation for sample in agreeing if sample.relation)
    marks = [sample.marks for sample in judged if sample.marks is not None]
    reason = next((sample.reason for sample in agreeing if sample.reason), "")
    return row | {
        "status": "judged", "verdict": verdict, "score": score,
        "relation": relations.most_common(1)[0][0] if relations else None,
        "marks": math.fsum(marks) / len(marks) if marks else None,
        "explanation": f"{explanation}: {reason}" if reason else explanation,
    }  # fmt: skip


def _not_judged(samples: Sequence[Sample]) -> dict[str, Any]:
    """The commonest status, the first of them on a tie, with its reason."""
    status, count = Counter(sample.status for sample in samples).most_common(1)[0]
    reason = next(sample.reason for sample in samples if sample.status == status)
    if len(samples) > 1:
        reason = f"{count} of {len(samples)} samples: {reason}"
    return {"status": status, "explanation": reason}


def _raw(samples: Sequence[Sample]) -> str | None:
    texts = [sample.raw for sample in samples]
    if len(samples) == 1:
        return texts[0]
    said = [f"[sample {place}]\n{text}" for place, text in enumerate(texts, 1) if text is not None]
    return "\n\n".join(said) or None


def _score_by_logprobs(
    logprobs: TokenLogprobs, parser: str | Parser, otherwise: float | None
) -> float | None:
    """A finer score from the probabilities of the first word, where it is the verdict or mark."""
    if parser == "yes_no":
        found = yes_share(logprobs)
    elif parser == "score":
        found = expected_mark(logprobs, low=1, high=5)
    elif isinstance(parser, Scale):
        found = expected_mark(logprobs, low=parser.low, high=parser.high)
    else:
        found = None
    return otherwise if found is None else found


def yes_share(logprobs: TokenLogprobs) -> float | None:
    """Probability of yes over that of yes and no, at the first word; None if it is neither."""

    def value(token: str) -> float | None:
        verdict = None if token.isdigit() or token in ("y", "n") else as_bool(token)
        return None if verdict is None else float(verdict)

    return expectation(logprobs, value)


def expected_mark(logprobs: TokenLogprobs, *, low: int, high: int) -> float | None:
    """Mean of the marks by their probabilities, from 0 to 1; None if the first word is no mark."""

    def value(token: str) -> float | None:
        if not token.isascii() or not token.isdigit() or not low <= int(token) <= high:
            return None
        return (int(token) - low) / (high - low)

    return expectation(logprobs, value)


def expectation(logprobs: TokenLogprobs, value: Callable[[str], float | None]) -> float | None:
    """Mean worth, from 0 to 1, of the words that may stand first; None if they have no worth.

    Args:
        logprobs: of the reply's first tokens.
        value: what a token is worth, without marks and in lower case; None if nothing.
    """
    for likely in logprobs:
        total = weighted = 0.0
        for token, logprob in likely.items():
            worth = value(token.strip(_MARKUP + ".,!").lower())
            if worth is not None:
                share = math.exp(logprob)
                total += share
                weighted += share * worth
        if total >= _ENOUGH:
            return min(1.0, weighted / total)
        if not likely or max(likely, key=likely.__getitem__).strip(_MARKUP):
            return None  # The first word is something else; later ones may stand in any sentence.
    return None
