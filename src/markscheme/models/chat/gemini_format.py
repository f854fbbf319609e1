"""Google's protocol for Gemini: `POST /models/NAME:generateContent`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from markscheme.contract import ChatReply, Message, TokenLogprobs
from markscheme.models.chat.images import as_base64
from markscheme.models.chat.reading import (
    MalformedReplyError,
    Usage,
    count,
    mapping,
    of_the_text,
    well_formed,
    word,
)
from markscheme.models.chat.wire import TOP_LOGPROBS, Sending

_REFUSALS = ("SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "RECITATION", "MODEL_ARMOR")
_REASONS = {"STOP": "stop", "MAX_TOKENS": "length"}


class GenerateContent:
    """Reasoning comes as parts marked `thought`, which are not the reply."""

    names: Mapping[str, tuple[str, ...]] = {
        "temperature": ("temperature",),
        "top_p": ("top_p", "topp"),
        "seed": ("seed",),
        "schema": (
            "json mode",
            "response_mime_type",
            "response_schema",
            "responsemimetype",
            "responsejsonschema",
            "response_json_schema",
        ),
        "logprobs": ("logprobs",),
        "effort": ("thinking",),
    }
    key_header: tuple[str, str] = ("x-goog-api-key", "")
    limit_name = "maxOutputTokens"
    path = "/models/{model}:generateContent"
    takes_images = True

    def body(self, sending: Sending) -> dict[str, Any]:
        """See `Wire`."""
        request, profile = sending.request, sending.profile
        settings: dict[str, Any] = {"maxOutputTokens": sending.limit}
        for name, theirs in (("temperature", "temperature"), ("top_p", "topP"), ("seed", "seed")):
            if sending.has(name):
                settings[theirs] = getattr(request, name)
        if sending.has("schema"):
            settings["responseMimeType"] = "application/json"
            settings["responseJsonSchema"] = orjson.loads(request.schema or "{}")
        if sending.has("logprobs"):
            settings["responseLogprobs"] = True
            settings["logprobs"] = TOP_LOGPROBS
        if sending.has("effort"):
            settings["thinkingConfig"] = {"thinkingLevel": profile.reasoning_effort}
        body: dict[str, Any] = {
            "contents": [
                {"role": "model" if m.role == "assistant" else "user", "parts": _parts(m)}
                for m in request.messages
                if m.role != "system"
            ],
            "generationConfig": settings,
        }
        system = [{"text": m.content} for m in request.messages if m.role == "system"]
        if system:
            body["systemInstruction"] = {"parts": system}
        extra = dict(profile.extra)
        settings.update(mapping(extra.pop("generationConfig", None)))
        return body | extra

    def reply(self, body: object) -> ChatReply:
        """See `Wire`."""
        whole = mapping(body)
        usage = _usage(mapping(whole.get("usageMetadata"))).fields()
        model = word(whole.get("modelVersion"))
        blocked = word(mapping(whole.get("promptFeedback")).get("blockReason"))
        if blocked:
            return ChatReply(
                status="refused",
                error=f"the provider blocked the request: {blocked}",
                finish_reason=blocked,
                model=model,
                **usage,
            )
        candidates = whole.get("candidates")
        if not isinstance(candidates, list) or not candidates:
            raise MalformedReplyError("the server's reply has no candidates")
        first = mapping(candidates[0])
        reason = word(first.get("finishReason"))
        parts = mapping(first.get("content")).get("parts")
        if parts is not None and not isinstance(parts, list):
            raise MalformedReplyError("the server's reply has parts that are not a list")
        text = "".join(
            part["text"]
            for part in map(mapping, parts or [])
            if isinstance(part.get("text"), str) and not part.get("thought")
        )
        refused = reason in _REFUSALS
        return ChatReply(
            status="refused" if refused else "ok",
            text=well_formed(text),
            finish_reason=_REASONS.get(reason or "", reason),
            token_logprobs=_logprobs(mapping(first.get("logprobsResult")), text),
            error=f"the provider stopped the reply: {reason}" if refused else None,
            model=model,
            **usage,
        )


def _parts(message: Message) -> list[dict[str, Any]]:
    """The parts of a turn: images first, then the text."""
    images = (
        {"inlineData": {"mimeType": one.media_type, "data": as_base64(one)}}
        for one in message.images
    )
    return [*images, {"text": message.content}]


def _usage(counted: Mapping[str, Any]) -> Usage:
    """Gemini counts reasoning apart from the reply, and cached input within the input."""
    out, thought = (
        count(counted.get("candidatesTokenCount")),
        count(counted.get("thoughtsTokenCount")),
    )
    known = out is not None or thought is not None
    return Usage(
        tokens_in=count(counted.get("promptTokenCount")),
        tokens_out=(out or 0) + (thought or 0) if known else None,
        tokens_cached=count(counted.get("cachedContentTokenCount")),
        tokens_reasoning=thought,
    )


def _logprobs(result: Mapping[str, Any], text: str) -> TokenLogprobs | None:
    chosen, top = result.get("chosenCandidates"), result.get("topCandidates")
    if not isinstance(chosen, list):
        return None
    others = top if isinstance(top, list) and len(top) == len(chosen) else [None] * len(chosen)
    places = []
    for one, other in zip(chosen, others, strict=True):
        listed = mapping(other).get("candidates")
        top = [_place(o) for o in listed] if isinstance(listed, list) else None
        places.append({**_place(one), "top_logprobs": top})
    return of_the_text(places, text)


def _place(candidate: object) -> dict[str, Any]:
    one = mapping(candidate)
    return {"token": one.get("token"), "logprob": one.get("logProbability")}
