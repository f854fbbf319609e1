"""Anthropic's protocol: `POST /messages`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from markscheme.contract import ChatReply, Message
from markscheme.models.chat.images import as_base64
from markscheme.models.chat.reading import (
    MalformedReplyError,
    Usage,
    count,
    dollars,
    joined_text,
    mapping,
    well_formed,
    word,
)
from markscheme.models.chat.wire import Sending

_CUT_OFF = ("max_tokens", "model_context_window_exceeded")


class Messages:
    """The protocol has no seeds and no log-probabilities: neither is ever sent."""

    names: Mapping[str, tuple[str, ...]] = {
        "temperature": ("temperature",),
        "top_p": ("top_p",),
        "schema": ("output_config.format", "output_format", "json_schema", "structured output"),
        "effort": ("effort",),
    }
    key_header: tuple[str, str] = ("x-api-key", "")
    limit_name = "max_tokens"
    path = "/messages"
    takes_images = True

    def body(self, sending: Sending) -> dict[str, Any]:
        """See `Wire`. System messages go into a field of their own."""
        request, profile = sending.request, sending.profile
        system = [m.content for m in request.messages if m.role == "system"]
        body: dict[str, Any] = {
            "model": profile.served,
            "max_tokens": sending.limit,
            "messages": [
                {"role": m.role, "content": _content(m)}
                for m in request.messages
                if m.role != "system"
            ],
        }
        if system:
            body["system"] = "\n\n".join(system)
        for name in ("temperature", "top_p"):
            if sending.has(name):
                body[name] = getattr(request, name)
        output: dict[str, Any] = {}
        if sending.has("effort"):
            output["effort"] = profile.reasoning_effort
        if sending.has("schema"):
            output["format"] = {
                "type": "json_schema",
                "schema": orjson.loads(request.schema or "{}"),
            }
        if output:
            body["output_config"] = output
        if profile.service_tier is not None:
            body["service_tier"] = profile.service_tier
        return body | dict(profile.extra)

    def reply(self, body: object) -> ChatReply:
        """See `Wire`."""
        whole = mapping(body)
        content = whole.get("content")
        if not isinstance(content, list):
            raise MalformedReplyError("the server's reply has no content")
        reason = word(whole.get("stop_reason"))
        refused = reason == "refusal"
        return ChatReply(
            status="refused" if refused else "ok",
            text=well_formed(joined_text(content)),
            finish_reason={"end_turn": "stop"}.get(reason or "", reason)
            if reason not in _CUT_OFF
            else "length",
            error="the model declined to answer" if refused else None,
            model=word(whole.get("model")),
            **_usage(mapping(whole.get("usage"))).fields(),
        )


def _content(message: Message) -> str | list[dict[str, Any]]:
    """A message's content: its text, or images and text as blocks."""
    if not message.images:
        return message.content
    sources = (
        {"type": "base64", "media_type": one.media_type, "data": as_base64(one)}
        for one in message.images
    )
    return [
        *({"type": "image", "source": source} for source in sources),
        {"type": "text", "text": message.content},
    ]


def _usage(counted: Mapping[str, Any]) -> Usage:
    """Anthropic counts cached input apart from the other input."""
    fresh = count(counted.get("input_tokens"))
    cached = count(counted.get("cache_read_input_tokens"))
    written = count(counted.get("cache_creation_input_tokens"))
    thought = mapping(counted.get("output_tokens_details")).get("thinking_tokens")
    return Usage(
        tokens_in=None if fresh is None else fresh + (cached or 0) + (written or 0),
        tokens_out=count(counted.get("output_tokens")),
        tokens_cached=cached,
        tokens_reasoning=count(thought),
        cost_usd=dollars(counted.get("cost")),
    )
