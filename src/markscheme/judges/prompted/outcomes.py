"""From a chat model's replies to one item to that item's outcome: reading, voting, adding up."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markscheme.contract import ChatReply
from markscheme.judges.outcomes import Vote, decided
from markscheme.judges.prompted.asking import Sample, spent
from markscheme.judges.prompted.confidence import confidence_of
from markscheme.judges.prompted.parsers import Parser
from markscheme.text.replies import Reading, read_grade, read_score, read_yes_no

READERS: Mapping[str, Callable[..., Reading]] = {
    "yes_no": read_yes_no,
    "yes_no_last": functools.partial(read_yes_no, verdict_last=True),
    "score": read_score,
    "grade": read_grade,
}
"""Parsers that prompts may name."""

VERDICTS = ("yes_no", "yes_no_last", "grade")
"""Those of them that read a verdict."""


def read_reply(
    reply: ChatReply, *, parser: str, accept_from: float, own: Parser | None = None
) -> Reading:
    """A reply as a reading, with a verdict by the threshold where it has a score alone."""
    read = READERS[parser] if own is None else own
    reading = read(reply.text or "", finished=reply.finished)
    if reading.status != "judged":
        return reading
    score, reason = reading.score, reading.reason
    if reply.token_logprobs:
        sure = confidence_of(reply, reading, own or parser)
        if sure.score is not None:
            score = sure.score
        else:
            note = f"log-probabilities not used: {sure.why}"
            reason = f"{reason}; {note}" if reason else note
    verdict = reading.verdict
    if verdict is None and score is not None:
        verdict = score >= accept_from
    return replace(reading, verdict=verdict, score=score, reason=reason)


def outcome(samples: Sequence[Sample], *, vote: Vote, accept_from: float) -> dict[str, Any]:
    """The outcome of an item from its samples, as a row of the judgments table.

    Samples that were not judged have no vote, and are counted in the explanation. A tie is
    decided by the mean score, and left unparsed where that is undecided too.
    """
    row = {"raw": _raw(samples), **spent(samples)}
    judged = [sample for sample in samples if sample.status == "judged"]
    if not judged:
        return row | _not_judged(samples)
    if len(samples) == 1:
        only = judged[0]
        return row | {
            "status": "judged",
            "verdict": only.verdict,
            "score": only.score,
            "relation": only.relation,
            "marks": only.marks,
            "explanation": only.reason or None,
        }
    opinions = [(bool(one.verdict), one.score or 0.0, one.relation, one.marks) for one in judged]
    found = decided(opinions, vote=vote, accept_from=accept_from)
    explanation = f"{sum(one[0] for one in opinions)} of {len(judged)} samples accept"
    if len(judged) < len(samples):
        explanation += f"; {_missing([one for one in samples if one.status != 'judged'], samples)}"
    if found["status"] != "judged":
        return row | found | {"explanation": f"a tie: {explanation}"}
    agreeing = [sample for sample in judged if sample.verdict == found["verdict"]] or judged
    reason = next((sample.reason for sample in agreeing if sample.reason), "")
    return row | found | {"explanation": f"{explanation}: {reason}" if reason else explanation}


def compared(samples: Sequence[Sample], *, accept_from: float) -> dict[str, Any]:
    """The outcome of comparisons that count together: judged only where all of them were read."""
    row = outcome(samples, vote="mean", accept_from=accept_from)
    unread = [sample for sample in samples if sample.status != "judged"]
    if unread:  # One order alone would be judged by its place.
        why = f"{len(unread)} of {len(samples)} comparisons were not read: {unread[0].reason}"
        row |= dict.fromkeys(("verdict", "score", "relation", "marks"))
        row |= {"status": unread[0].status, "explanation": why}
    return row


def _missing(unjudged: Sequence[Sample], samples: Sequence[Sample]) -> str:
    """How many samples have no vote, by status, with a reason; `again_notes` counts by it."""
    counts = Counter(sample.status for sample in unjudged).most_common()
    why = min(unjudged, key=lambda sample: ("skipped", "failed").count(sample.status) == 0).reason
    statuses = ", ".join(f"{count} {status}" for status, count in counts)
    return f"{len(unjudged)} of {len(samples)} were not judged ({statuses}: {why})"


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
    labelled = [
        f"[sample {place}]\n{text}" for place, text in enumerate(texts, 1) if text is not None
    ]
    return "\n\n".join(labelled) or None


# --- When enough samples of one item were drawn: the verdict is sure, or cannot change any more ---
# After Aggarwal et al. 2023 (Adaptive-Consistency, EMNLP): with an even prior on the share of
# samples that accept, `a` that accept and `r` that do not, the chance that more than half of all
# samples ever drawn would accept is that of Beta(a + 1, r + 1) above one half. Samples that were
# not judged tell nothing.


def certainty(leading: int, trailing: int) -> float:
    """Chance that the side with `leading` samples has the majority in the long run.

    Example:
        >>> [round(certainty(count, 0), 3) for count in (1, 2, 3, 4)]
        [0.75, 0.875, 0.938, 0.969]
    """
    tosses = leading + trailing + 1
    return float(sum(math.comb(tosses, heads) for heads in range(leading + 1)) / 2**tosses)


def further(accepting: int, rejecting: int, *, left: int, sure: float) -> int:
    """How many samples to ask for next: the fewest after which the item could be decided.

    Args:
        accepting, rejecting: samples so far.
        left: samples that may still be drawn.
        sure: certainty from which on an item is decided.

    Returns:
        0 where it is decided, or where what is left cannot turn the majority.
    """
    leading, trailing = max(accepting, rejecting), min(accepting, rejecting)
    if leading - trailing > left:
        return 0
    for count in range(left + 1):
        if leading + count > 0 and certainty(leading + count, trailing) >= sure:
            return count
    return left
