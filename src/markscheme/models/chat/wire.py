"""What a protocol has to say: where a request goes, what its body is, how a reply is read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from markscheme.contract import ChatReply, ChatRequest
from markscheme.errors import DataError, ModelError
from markscheme.models.chat.profiles import FEATURES, Feature, ModelProfile, from_environment
from markscheme.models.chat.reading import plausible

TOP_LOGPROBS = 10
"""Alternatives requested for each token; servers commonly allow up to 20."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sending:
    """One request as it is sent to one model.

    Attributes:
        request: the request as made.
        profile: the model.
        limit: most tokens that may come, reasoning included.
        without: features that are not sent; see `profiles.FEATURES`.
        limit_name: the body's field for the limit; None for the protocol's usual one.
    """

    request: ChatRequest
    profile: ModelProfile
    limit: int
    without: frozenset[Feature] = frozenset()
    limit_name: str | None = None

    @classmethod
    def first(cls, request: ChatRequest, profile: ModelProfile) -> Sending:
        """A request as it is sent first: as the model's profile says."""
        return cls(
            request=request,
            profile=profile,
            limit=request.max_tokens + profile.room,
            without=frozenset(profile.lacks),
            limit_name=profile.limit_name,
        )

    def has(self, feature: str) -> bool:
        """Whether a feature is requested and sent."""
        if feature in self.without:
            return False
        if feature == "effort":
            return self.profile.reasoning_effort is not None
        if feature == "verbosity":
            return self.profile.verbosity is not None
        value = getattr(self.request, feature)
        return value is not None and value is not False


class Wire(Protocol):
    """A protocol of chat models.

    Attributes:
        names: for each feature, the words by which an error may name it, in lower case.
        key_header: the header of the key, with its prefix before the key.
        limit_name: the body's field for the most tokens that may come.
        path: what comes after the base address; `{model}` is the model's name.
        takes_images: whether a message may have images.
    """

    names: Mapping[str, tuple[str, ...]]
    key_header: tuple[str, str]
    limit_name: str
    path: str
    takes_images: bool

    def body(self, sending: Sending) -> dict[str, Any]:
        """The body that is posted."""
        ...

    def reply(self, body: object) -> ChatReply:
        """The reply in a response's body, without price and time.

        Raises:
            MalformedReplyError: it is no reply of this protocol.
        """
        ...


def body_of(wire: Wire, sending: Sending) -> dict[str, Any]:
    """The body that is posted.

    Raises:
        DataError: the protocol takes no images, or an image's bytes are not what they were.
    """
    if sending.request.images and not wire.takes_images:
        raise DataError(
            f"{sending.profile.name}: the protocol {sending.profile.protocol!r} takes no images; "
            "ask a model that does"
        )
    return wire.body(sending)


def read_reply(wire: Wire, body: object) -> ChatReply:
    """The reply in a response's body, without price and time, its counts as far as they can be
    right.

    Raises:
        MalformedReplyError: it is no reply of this protocol.
    """
    return plausible(wire.reply(body))


def wire_of(profile: ModelProfile) -> Wire:
    """The protocol of a model."""
    from markscheme.models.chat import anthropic_format, gemini_format, openai_format

    wires: dict[str, Wire] = {
        "chat": openai_format.ChatCompletions(),
        "completions": openai_format.Completions(),
        "responses": openai_format.Responses(),
        "messages": anthropic_format.Messages(),
        "gemini": gemini_format.GenerateContent(),
    }
    return wires[profile.protocol]


def address_of(
    profile: ModelProfile, wire: Wire, path: str | None = None
) -> tuple[str, dict[str, str], str]:
    """Where to post, with which headers, and the key that is in them.

    Args:
        profile: the model.
        wire: its protocol.
        path: what comes after the base address; None for the protocol's own.

    Raises:
        ModelError: there is no key, or a variable of the address is not set.
    """
    from urllib.parse import quote, urlencode

    key = os.environ.get(profile.key_env, "")
    if not key and profile.base_url is None:
        raise ModelError(
            f"no key: set {profile.key_env}, or name another variable with "
            "--api-key-env, or give --base-url for a server of your own"
        )
    header, scheme = wire.key_header
    if profile.key_header or profile.takes_api_key_header:
        header, scheme = profile.key_header or "api-key", ""
    headers = {
        name: from_environment(value, f"the header {name} of {profile.name}")
        for name, value in profile.headers.items()
    }
    headers[header] = scheme + (key or "none")
    parameters = profile.parameters()
    url = profile.address + (path or wire.path.format(model=quote(profile.served)))
    if parameters:
        url += ("&" if "?" in url else "?") + urlencode(parameters)
    return url, headers, key


def key_in_words(profile: ModelProfile) -> str:
    """What a server did not accept of a request without credit or access: its key, or none."""
    name = profile.key_env
    if os.environ.get(name):
        return f"the key in {name}"
    return f"requests without a key: {name} is not set (--api-key-env names another variable)"


LackingFeature = Feature | Literal["max_tokens"]
"""A feature that an error names, or the field of the limit."""


def lacking_feature(
    wire: Wire, status: int, error: Mapping[str, Any], message: str, sending: Sending
) -> LackingFeature | None:
    """The feature that an error names as the one the model lacks; None if it names none."""
    if status not in (400, 403, 404, 415, 422, 501):
        return None
    param = error.get("param")
    detail = f"{param if isinstance(param, str) else ''} {message}".lower()
    limit_name = sending.limit_name or wire.limit_name
    if limit_name == "max_tokens" and "max_completion_tokens" in detail:
        return "max_tokens"
    for feature in FEATURES:
        words = wire.names.get(feature, ())
        if sending.has(feature) and any(word in detail for word in words):
            return feature
    return None


def without(sending: Sending, feature: LackingFeature) -> Sending | None:
    """The request without a feature that the model lacks; None if it was without it already."""
    if feature == "max_tokens":
        return replace(sending, limit_name="max_completion_tokens")
    if feature in sending.without:
        return None
    return replace(sending, without=sending.without | {feature})


def changes(sending: Sending) -> dict[str, float | None] | None:
    """What was sent differently from the request; see `ChatReply.changed`."""
    request = sending.request
    found: dict[str, float | None] = {
        name: None
        for name in sorted(sending.without)
        if name in request.__slots__
        and getattr(request, name) is not None
        and getattr(request, name) is not False
    }
    if sending.limit != request.max_tokens:
        found["max_tokens"] = sending.limit
    return found or None


ROOM = 4096
"""Tokens more that a request is given at least, where reasoning left none for the reply."""

_MOST_ROOM = 32_768


def larger(sending: Sending, room: int) -> Sending | None:
    """The request with room for reasoning; None if it had as much already."""
    requested = sending.request.max_tokens
    limit = requested + min(_MOST_ROOM, max(room, ROOM, 4 * requested))
    return replace(sending, limit=limit) if limit > sending.limit else None


def no_text(reply: ChatReply) -> bool:
    """Whether a reply ended at its limit before it had begun."""
    return reply.status == "ok" and not (reply.text or "").strip() and not reply.finished
