"""OpenAI's three protocols, which most servers speak: chat completions, completions, responses.

Used for servers and for batch files alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from markscheme.contract import ChatReply, ChatRequest, Message, TokenLogprobs
from markscheme.models.chat.images import as_address
from markscheme.models.chat.profiles import ModelProfile
from markscheme.models.chat.reading import (
    BrokenGenerationError,
    MalformedReplyError,
    Usage,
    count,
    dollars,
    joined_text,
    mapping,
    objects,
    of_the_text,
    well_formed,
    word,
)
from markscheme.models.chat.wire import TOP_LOGPROBS, Sending

_NAMES = {
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "seed": ("seed",),
    "schema": ("response_format", "json_schema", "structured output", "guided", "text.format"),
    "logprobs": ("logprob",),
    "effort": ("reasoning_effort", "reasoning.effort", "reasoning effort"),
    "verbosity": ("verbosity",),
}
_REFUSED = "the model declined to answer"
_BROKEN_OFF = ("error", "abort", "aborted", "cancelled", "insufficient_system_resource")
"""Why a generation ended that its server broke off: OpenRouter, vLLM, SGLang, DeepSeek."""
_REFUSAL_CODES = ("content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation")
_UNPAID_CODES = {
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "insufficient_balance",
    "Arrearage",
}
_UNPAID_WORDS = ("credit balance is too low", "insufficient balance", "insufficient credit")
"""What providers write that send the status of a malformed or a forbidden request: Anthropic,
DeepSeek, OpenRouter and those that follow them."""


class _OpenAI:
    """What the three have in common."""

    names: Mapping[str, tuple[str, ...]] = _NAMES
    key_header: tuple[str, str] = ("Authorization", "Bearer ")
    limit_name = "max_tokens"
    takes_images = True


class ChatCompletions(_OpenAI):
    """`POST /chat/completions`."""

    path = "/chat/completions"

    def body(self, sending: Sending) -> dict[str, Any]:
        """See `Wire`."""
        request, profile = sending.request, sending.profile
        body: dict[str, Any] = {
            "model": profile.served,
            "messages": [{"role": m.role, "content": _content(m)} for m in request.messages],
            sending.limit_name or self.limit_name: sending.limit,
            **_sampling(sending),
        }
        if sending.has("schema"):
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": _schema(request), "strict": True},
            }
        if sending.has("logprobs"):
            body["logprobs"] = True
            body["top_logprobs"] = TOP_LOGPROBS
        if sending.has("effort"):
            body["reasoning_effort"] = profile.reasoning_effort
        if sending.has("verbosity"):
            body["verbosity"] = profile.verbosity
        return body | _rest(profile)

    def reply(self, body: object) -> ChatReply:
        """See `Wire`."""
        choice, usage = _first_choice(body)
        message = choice.get("message")
        if not isinstance(message, Mapping):
            raise MalformedReplyError("the server's reply has no message")
        refusal = message.get("refusal")
        if not isinstance(refusal, str | None):
            raise MalformedReplyError("the server's reply has a message that is not text")
        text = joined_text(message.get("content"))
        return _chat_reply(
            body,
            choice,
            usage,
            text=refusal or text,
            refused=bool(refusal),
            token_logprobs=_logprobs(choice.get("logprobs"), text),
        )


class Completions(_OpenAI):
    """`POST /completions`, for base models: the conversation is one text that they continue."""

    path = "/completions"
    takes_images = False

    def body(self, sending: Sending) -> dict[str, Any]:
        """See `Wire`."""
        body: dict[str, Any] = {
            "model": sending.profile.served,
            "prompt": as_one_text(sending.request),
            sending.limit_name or self.limit_name: sending.limit,
            **_sampling(sending),
        }
        if sending.has("logprobs"):
            body["logprobs"] = 5  # The most that this protocol allows at OpenAI and vLLM.
        return body | _rest(sending.profile)

    def reply(self, body: object) -> ChatReply:
        """See `Wire`."""
        choice, usage = _first_choice(body)
        text = choice.get("text")
        if not isinstance(text, str):
            raise MalformedReplyError("the server's reply has no text")
        return _chat_reply(
            body,
            choice,
            usage,
            text=text,
            refused=False,
            token_logprobs=_old_logprobs(choice.get("logprobs"), text),
        )


class Responses(_OpenAI):
    """`POST /responses`."""

    limit_name = "max_output_tokens"
    path = "/responses"

    def body(self, sending: Sending) -> dict[str, Any]:
        """See `Wire`. The request tells the server to store nothing."""
        request, profile = sending.request, sending.profile
        body: dict[str, Any] = {
            "model": profile.served,
            "input": [{"role": m.role, "content": _input(m)} for m in request.messages],
            sending.limit_name or self.limit_name: max(16, sending.limit),
            "store": False,
            **_sampling(sending),
        }
        body.pop("seed", None)  # This protocol has none.
        text: dict[str, Any] = {}
        if sending.has("schema"):
            text["format"] = {
                "type": "json_schema",
                "name": "reply",
                "schema": _schema(request),
                "strict": True,
            }
        if sending.has("verbosity"):
            text["verbosity"] = profile.verbosity
        if text:
            body["text"] = text
        if sending.has("logprobs"):
            body["include"] = ["message.output_text.logprobs"]
            body["top_logprobs"] = TOP_LOGPROBS
        if sending.has("effort"):
            body["reasoning"] = {"effort": profile.reasoning_effort}
        return body | _rest(profile)

    def reply(self, body: object) -> ChatReply:
        """See `Wire`."""
        whole = mapping(body)
        output = whole.get("output")
        if not isinstance(output, list):
            raise MalformedReplyError("the server's reply has no output")
        parts = [
            part
            for item in objects(output)
            if item.get("type") == "message"
            for part in objects(item.get("content"))
        ]
        refusals = [part["refusal"] for part in parts if isinstance(part.get("refusal"), str)]
        text = joined_text(parts)
        reason = word(mapping(whole.get("incomplete_details")).get("reason"))
        state = word(whole.get("status"))
        if state in ("failed", "cancelled"):
            detail = word(mapping(whole.get("error")).get("message")) or "no reason given"
            raise BrokenGenerationError(f"the model {state}: {detail}")
        refused = bool(refusals) or reason == "content_filter"
        counted = mapping(whole.get("usage"))
        tokens = [token for part in parts for token in objects(part.get("logprobs"))]
        return ChatReply(
            status="refused" if refused else "ok",
            text=well_formed("".join(refusals) or text),
            finish_reason="length" if reason == "max_output_tokens" else reason or "stop",
            token_logprobs=_logprobs({"content": tokens}, text) if tokens else None,
            error=_REFUSED if refused else None,
            model=word(whole.get("model")),
            **Usage(
                tokens_in=count(counted.get("input_tokens")),
                tokens_out=count(counted.get("output_tokens")),
                tokens_cached=count(
                    mapping(counted.get("input_tokens_details")).get("cached_tokens")
                ),
                tokens_reasoning=count(
                    mapping(counted.get("output_tokens_details")).get("reasoning_tokens")
                ),
                cost_usd=dollars(counted.get("cost")),
            ).fields(),
        )


def _content(message: Message) -> str | list[dict[str, Any]]:
    """A message's content: its text, or images and text as parts."""
    if not message.images:
        return message.content
    return [
        *({"type": "image_url", "image_url": {"url": as_address(one)}} for one in message.images),
        {"type": "text", "text": message.content},
    ]


def _input(message: Message) -> str | list[dict[str, Any]]:
    """The same as the responses protocol has it."""
    if not message.images:
        return message.content
    return [
        *({"type": "input_image", "image_url": as_address(one)} for one in message.images),
        {"type": "input_text", "text": message.content},
    ]


def as_one_text(request: ChatRequest) -> str:
    """A conversation as one text, for models that only continue a text."""
    return "\n\n".join(message.content.strip() for message in request.messages) + "\n"


def is_refusal(error: Mapping[str, Any]) -> bool:
    """Whether an error body means that the provider will not answer this request, ever."""
    codes = [error.get("code"), mapping(error.get("innererror")).get("code")]
    moderated = "flagged_input" in mapping(error.get("metadata"))  # OpenRouter
    return moderated or any(code in _REFUSAL_CODES for code in codes)


def is_unpaid(error: Mapping[str, Any], message: str) -> bool:
    """Whether an error body means that the account has no credit, whatever the status."""
    codes = {error.get(name) for name in ("code", "type") if isinstance(error.get(name), str)}
    return bool(codes & _UNPAID_CODES) or any(word in message.lower() for word in _UNPAID_WORDS)


def chat_usage(body: object) -> Usage:
    """What a body of OpenAI's format says was used, whatever else is in it."""
    counted = mapping(mapping(body).get("usage"))
    tokens_in, out = count(counted.get("prompt_tokens")), count(counted.get("completion_tokens"))
    details = mapping(counted.get("completion_tokens_details"))
    reasoning = count(details.get("reasoning_tokens"))
    total = count(counted.get("total_tokens"))
    if tokens_in is not None and total is not None:
        # Some count reasoning apart from the reply (xAI), or in the total alone (Gemini).
        out = max(out or 0, total - tokens_in)
    cached = count(mapping(counted.get("prompt_tokens_details")).get("cached_tokens"))
    return Usage(
        tokens_in=tokens_in,
        tokens_out=out,
        tokens_cached=count(counted.get("prompt_cache_hit_tokens")) if cached is None else cached,
        tokens_reasoning=reasoning,
        cost_usd=dollars(counted.get("cost")),
    )


def _sampling(sending: Sending) -> dict[str, Any]:
    names = ("temperature", "top_p", "seed")
    return {name: getattr(sending.request, name) for name in names if sending.has(name)}


def _rest(profile: ModelProfile) -> dict[str, Any]:
    tier = {} if profile.service_tier is None else {"service_tier": profile.service_tier}
    return {**tier, **profile.extra}


def _schema(request: ChatRequest) -> Any:
    return orjson.loads(request.schema or "{}")


def _first_choice(body: object) -> tuple[Mapping[str, Any], Usage]:
    if not isinstance(body, Mapping):
        raise MalformedReplyError("the server's reply is not a JSON object")
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise MalformedReplyError("the server's reply has no choices")
    _check_whole(choices[0])
    return choices[0], chat_usage(body)


def _check_whole(choice: Mapping[str, Any]) -> None:
    """Raise BrokenGenerationError where the server broke off, whatever text there is."""
    error, reason = choice.get("error"), word(choice.get("finish_reason"))
    if error or reason in _BROKEN_OFF:
        detail = mapping(error)
        message = detail.get("message") or (error if isinstance(error, str) else None)
        words = [f"HTTP {detail['code']}"] if isinstance(detail.get("code"), int) else []
        words.append(word(message) or f"finish_reason {reason!r}")
        raise BrokenGenerationError(f"the reply broke off: {': '.join(words)}")


def _chat_reply(
    body: object,
    choice: Mapping[str, Any],
    usage: Usage,
    *,
    text: str,
    refused: bool,
    token_logprobs: TokenLogprobs | None,
) -> ChatReply:
    reason = word(choice.get("finish_reason"))
    refused = refused or reason == "content_filter"
    return ChatReply(
        status="refused" if refused else "ok",
        text=well_formed(text),
        finish_reason=reason,
        token_logprobs=token_logprobs,
        error=_REFUSED if refused else None,
        model=word(mapping(body).get("model")),
        **usage.fields(),
    )


def _logprobs(value: object, text: str) -> TokenLogprobs | None:
    """Alternatives of the reply's first tokens; None where they are not as they should be."""
    content = mapping(value).get("content")
    return of_the_text(content, text) if isinstance(content, list) else None


def _old_logprobs(value: object, text: str) -> TokenLogprobs | None:
    """The same of the completions protocol, where an object maps tokens to log-probabilities."""
    listed = mapping(value)
    tokens, chosen, top = (
        listed.get(name) for name in ("tokens", "token_logprobs", "top_logprobs")
    )
    if not isinstance(tokens, list) or not isinstance(chosen, list) or len(tokens) != len(chosen):
        return None
    others = top if isinstance(top, list) and len(top) == len(tokens) else [None] * len(tokens)
    places = [
        {
            "token": token,
            "logprob": number,
            "top_logprobs": [{"token": t, "logprob": n} for t, n in mapping(other).items()],
        }
        for token, number, other in zip(tokens, chosen, others, strict=True)
    ]
    return of_the_text(places, text)
