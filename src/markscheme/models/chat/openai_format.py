"""The OpenAI format of chat completions: bodies of requests, and replies out of what comes back.

Used for servers and for batch files alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from markscheme.models.chat.protocol import ChatReply, ChatRequest, TokenLogprobs

TOP_LOGPROBS = 10
"""Alternatives asked for in each place; servers commonly allow up to 20."""

KEPT_TOKENS = 16
"""Tokens at the start of a reply whose alternatives are kept: a verdict stands there."""

_REFUSAL_CODES = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation")


class MalformedReplyError(Exception):
    """A server answered with something that is no chat completion."""


def body_of(
    request: ChatRequest,
    model: str,
    *,
    with_schema: bool = True,
    with_logprobs: bool = True,
    with_temperature: bool = True,
    limit_name: str = "max_tokens",
) -> dict[str, Any]:
    """The body of `POST /chat/completions`.

    Args:
        request: what to ask.
        model: the model's name at the server.
        with_schema: ask the server to keep the reply to the request's schema.
        with_logprobs: ask for log-probabilities if the request does.
        with_temperature: send the request's temperature; some models have one of their own.
        limit_name: `max_tokens`, or `max_completion_tokens` where a server insists.
    """
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        limit_name: request.max_tokens,
    }
    if request.temperature is not None and with_temperature:
        body["temperature"] = request.temperature
    if request.top_p is not None:
        body["top_p"] = request.top_p
    if request.seed is not None:
        body["seed"] = request.seed
    if request.schema is not None and with_schema:
        schema = orjson.loads(request.schema)
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": schema, "strict": True},
        }
    if request.logprobs and with_logprobs:
        body["logprobs"] = True
        body["top_logprobs"] = TOP_LOGPROBS
    return body


def reply_of(completion: object, *, seconds: float | None = None) -> ChatReply:
    """The reply in the body of a completion.

    Raises:
        MalformedReplyError: it is no completion; the message says where it goes wrong.
    """
    if not isinstance(completion, Mapping):
        raise MalformedReplyError("the server's reply is no JSON object")
    choices = completion.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise MalformedReplyError("the server's reply has no choices")
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise MalformedReplyError("the server's reply has no message")
    content, refusal = message.get("content"), message.get("refusal")
    if not isinstance(content, str | None) or not isinstance(refusal, str | None):
        raise MalformedReplyError("the server's reply has a message that is no text")
    reason = choice.get("finish_reason")
    reason = reason if isinstance(reason, str) else None
    refused = bool(refusal) or reason == "content_filter"
    usage = completion.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    served = completion.get("model")
    return ChatReply(
        status="refused" if refused else "ok",
        text=well_formed(refusal or content or ""),
        finish_reason=reason,
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
        seconds=seconds,
        token_logprobs=_logprobs(choice.get("logprobs")),
        error="the model declined to answer" if refused else None,
        model=well_formed(served) if isinstance(served, str) else None,
    )


def is_refusal(error: Mapping[str, Any]) -> bool:
    """Whether an error body means that the provider will not answer this request, ever."""
    inner = error.get("innererror")
    codes = [error.get("code"), inner.get("code") if isinstance(inner, Mapping) else None]
    return any(code in _REFUSAL_CODES for code in codes)


def well_formed(text: str) -> str:
    """Text without lone surrogates, which JSON may carry and UTF-8 may not."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _logprobs(value: object) -> TokenLogprobs | None:
    """Alternatives of the first tokens; None where they are absent or not as they should be."""
    content = value.get("content") if isinstance(value, Mapping) else None
    if not isinstance(content, list):
        return None
    found: list[dict[str, float]] = []
    for token in content[:KEPT_TOKENS]:
        if not isinstance(token, Mapping):
            return None
        alternatives: dict[str, float] = {}
        for one in [*(token.get("top_logprobs") or []), token]:
            if not isinstance(one, Mapping):
                return None
            name, number = one.get("token"), one.get("logprob")
            if not isinstance(name, str) or not isinstance(number, int | float):
                return None
            alternatives.setdefault(well_formed(name), float(number))
        found.append(alternatives)
    return tuple(found) or None
