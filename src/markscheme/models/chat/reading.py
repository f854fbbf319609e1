"""Values out of a server's reply, which may hold anything: what cannot be right is not taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markscheme.contract import ChatReply, TokenLogprobs

STORED_TOKENS = 640
"""Tokens of a reply whose alternatives are stored. Of a longer one, those at its start and end are
stored, since the verdict is in one of them, with an empty place between."""
WHOLE_TOKENS = 16
"""Tokens at the start whose alternatives are all stored; later, only likely ones are."""
_UNLIKELY = math.log(0.001)

SHOWN = 400
"""Characters of what a server says that a message quotes."""

_MOST_TOKENS = 1 << 31
_MOST_DOLLARS = 1e6
_ROUNDING = 1e-3
"""Log-probabilities a little above 0, which servers round to."""

TEXT_PARTS = ("text", "output_text")
"""Types of content parts that are the reply; any other (thinking, tool calls) is not."""


class MalformedReplyError(Exception):
    """A server answered with something that is no reply of its protocol."""


class BrokenGenerationError(MalformedReplyError):
    """A server began a reply and broke off: what there is of it is no answer. It may be billed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens and money as a server counted them, made alike for every protocol.

    Attributes:
        tokens_in: all that was sent, what the server had cached included.
        tokens_out: all that was generated, reasoning included.
        tokens_cached, tokens_reasoning: those of them that were cached, and reasoning.
        cost_usd: the server's own bill.
    """

    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_cached: int | None = None
    tokens_reasoning: int | None = None
    cost_usd: float | None = None

    def fields(self) -> dict[str, Any]:
        """As fields of a `ChatReply`."""
        return {name: getattr(self, name) for name in self.__slots__}


def plausible(reply: ChatReply) -> ChatReply:
    """The reply without counts that cannot be right, so that nothing is taken for free by them.

    No request has no tokens and no text has none, though servers that do not count say so; what
    such a server calls free, it has not counted either.
    """
    tokens_in = reply.tokens_in or None
    tokens_out = (reply.tokens_out or None) if reply.text else reply.tokens_out
    cost = reply.cost_usd
    if tokens_in is None or tokens_out is None:
        cost = cost or None
    return replace(reply, tokens_in=tokens_in, tokens_out=tokens_out, cost_usd=cost)


def added(before: ChatReply | None, reply: ChatReply) -> ChatReply:
    """A reply with what the one before it used as well: both are billed.

    Of two replies, what one did not count is not known. What an attempt that failed used, it does
    not say; that is counted where it failed.
    """
    if before is None:
        return reply
    failed = "failed" in (before.status, reply.status)
    sums: dict[str, Any] = {}
    for name in Usage.__slots__:
        pair = getattr(before, name), getattr(reply, name)
        unknown = pair == (None, None) or (None in pair and not failed)
        sums[name] = None if unknown else sum(one or 0 for one in pair)
    return replace(reply, **sums)


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def objects(value: object) -> list[Mapping[str, Any]]:
    """The objects in the value if it is a list, else none."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def count(value: object) -> int | None:
    """A number of tokens; None for what cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value < _MOST_TOKENS or value != int(value):
        return None
    return int(value)


def dollars(value: object) -> float | None:
    """An amount of money; None for what cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _MOST_DOLLARS else None


def word(value: object) -> str | None:
    """A short text, such as a name or a reason."""
    return well_formed(value)[:200] if isinstance(value, str) else None


def error_in(body: object) -> tuple[Mapping[str, Any], str]:
    """The error that a body reports, and its message; "" where it has none."""
    found = mapping(body).get("error", body)
    message = found if isinstance(found, str) else mapping(found).get("message")
    return mapping(found), message if isinstance(message, str) else ""


def on_a_line(text: str) -> str:
    """What a server says on one line, shortened."""
    text = " ".join(well_formed(text).split())
    return text if len(text) <= SHOWN else text[:SHOWN] + " ..."


def well_formed(text: str) -> str:
    """Text without lone surrogates, which JSON may carry and UTF-8 may not."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def joined_text(content: object) -> str:
    """The reply in a message's content: a text, or the text parts of a list of parts.

    Raises:
        MalformedReplyError: it is neither.
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise MalformedReplyError("the server's reply has a message that is not text")
    found = []
    for part in content:
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, Mapping):
            if part.get("type", "text") in TEXT_PARTS and isinstance(part.get("text"), str):
                found.append(part["text"])
        else:
            raise MalformedReplyError("the server's reply has a part that is not an object")
    return "".join(found)


def _alternatives(place: object) -> dict[str, float] | None:
    """Alternatives for one token, the chosen one first; None if a number is not valid."""
    token = mapping(place)
    top = token.get("top_logprobs")
    found: dict[str, float] = {}
    for one in [token, *(top if isinstance(top, list) else [])]:
        text, value = mapping(one).get("token"), mapping(one).get("logprob")
        if not isinstance(text, str) or not is_logprob(value):
            return None
        found.setdefault(well_formed(text), min(0.0, float(value)))  # type: ignore[arg-type]
    return found


def is_logprob(value: object) -> bool:
    """Whether a value can be the natural logarithm of a probability."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value <= _ROUNDING and math.isfinite(value)


def of_the_text(places: Sequence[object], text: str) -> TokenLogprobs | None:
    """Alternatives of the first tokens of `text`, which need not be the first that were generated.

    A server that takes reasoning out of the reply may still give the log-probabilities of all
    tokens. Those of other tokens than the reply's own would be a confidence in something else.

    Args:
        places: for each generated token an object with `token`, `logprob`, `top_logprobs`.
        text: the reply.

    Returns:
        None where the reply's first token is not found, or one of its places could not be read.
    """
    wanted = text.strip()
    found = [mapping(place).get("token") for place in places]
    tokens = [well_formed(token) for token in found if isinstance(token, str)]
    if not wanted or not tokens or len(tokens) < len(found):
        return None
    whole = "".join(tokens)
    at = whole.rfind(wanted)
    if at < 0:
        # Tokens that are parts of characters do not add up to the text; its beginning must do.
        first = tokens[0].strip()
        if not first or not wanted.startswith(first):
            return None
        at = 0
    start, end = 0, len(tokens[0])
    while end <= at:
        start += 1
        end += len(tokens[start])
    return stored_places([_alternatives(place) for place in places[start:]])


def stored_places(places: Sequence[dict[str, float] | None]) -> TokenLogprobs | None:
    """The places of a reply that are stored, see `STORED_TOKENS`; None if one is None."""
    if any(place is None for place in places):
        return None
    whole = [place for place in places if place is not None]
    start, rest = whole[:WHOLE_TOKENS], whole[WHOLE_TOKENS:]
    tail = rest[-(STORED_TOKENS - WHOLE_TOKENS) :]
    gap: list[dict[str, float]] = [{}] if len(tail) < len(rest) else []
    return (*start, *gap, *map(_likely, tail))


def _likely(place: dict[str, float]) -> dict[str, float]:
    """A place without what is all but impossible in it; the chosen token stays."""
    chosen = next(iter(place), None)
    return {t: value for t, value in place.items() if t == chosen or value >= _UNLIKELY}
