"""What a protocol has to say: where a request goes, what its body is, how a reply is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from markscheme.models.chat.profiles import ModelProfile
from markscheme.models.chat.protocol import ChatReply, ChatRequest

TOP_LOGPROBS = 10
"""Alternatives asked for in each place; servers commonly allow up to 20."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sending:
    """One request as it is sent to one model.

    Attributes:
        request: what was asked for.
        profile: the model.
        limit: most tokens that may come, reasoning included.
        without: features that are not sent; see `profiles.FEATURES`.
        limit_name: the body's field for the limit; None for the protocol's usual one.
    """

    request: ChatRequest
    profile: ModelProfile
    limit: int
    without: frozenset[str] = frozenset()
    limit_name: str | None = None

    def has(self, feature: str) -> bool:
        """Whether a feature is asked for and sent."""
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
        key_header: the header of the key, with what stands before the key in it.
        limit_name: the body's field for the most tokens that may come.
        path: what comes after the base address; `{model}` is the model's name.
    """

    names: Mapping[str, tuple[str, ...]]
    key_header: tuple[str, str]
    limit_name: str
    path: str

    def body(self, sending: Sending) -> dict[str, Any]:
        """The body that is posted."""
        ...

    def reply(self, body: object) -> ChatReply:
        """The reply in a response's body, without price and time.

        Raises:
            MalformedReplyError: it is no reply of this protocol.
        """
        ...


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
