"""The protocol of chat models, which belongs to the judge contract, under its name among models."""

from __future__ import annotations

from markscheme.contract import (
    ChatModel,
    ChatReply,
    ChatRequest,
    Image,
    Message,
    OnReply,
    ReplyStatus,
    Role,
    TokenLogprobs,
)

__all__ = [
    "ChatModel", "ChatReply", "ChatRequest", "Image", "Message", "OnReply", "ReplyStatus", "Role",
    "TokenLogprobs",
]  # fmt: skip
