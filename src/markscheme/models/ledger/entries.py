"""Requests and replies as plain values, and the key under which a reply is stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import orjson

from markscheme.contract import ChatReply, ChatRequest, Image, Message
from markscheme.models.chat import is_logprob

_FIELDS = tuple(field.name for field in dataclasses.fields(ChatRequest))
_IMAGE_FIELDS = ("media_type", "sha256", "size", "width", "height")
_NUMBERS = ("temperature", "top_p")
_REPLY_FIELDS = tuple(field.name for field in dataclasses.fields(ChatReply))


def request_record(request: ChatRequest) -> dict[str, Any]:
    """Every field of a request that is set, as JSON can hold it.

    Fields that are None are left out, so that a field added later does not change the keys of
    requests that do not use it.
    """
    record: dict[str, Any] = {}
    for name in _FIELDS:
        value = getattr(request, name)
        if name == "messages":
            value = [_message_record(one) for one in value]
        elif name in _NUMBERS and value is not None:
            value = float(value)  # 0 and 0.0 are one temperature
        if value is not None:
            record[name] = value
    return record


def request_from(record: Mapping[str, Any]) -> ChatRequest:
    """The request that `request_record` wrote.

    Raises:
        KeyError, TypeError: the record is not one of a request.
    """
    values = dict(record)
    messages = tuple(_message_from(message) for message in values.pop("messages"))
    # What was left out as None must not come back as a default.
    absent = dict.fromkeys(("temperature", "top_p", "seed", "schema"))
    return ChatRequest(messages=messages, **{**absent, **values})


def _message_record(message: Message) -> dict[str, Any]:
    """A message without the bytes of its images, for which their hashes stand."""
    record: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.images:
        record["images"] = [
            {name: getattr(one, name) for name in _IMAGE_FIELDS} for one in message.images
        ]
    return record


def _message_from(record: Mapping[str, Any]) -> Message:
    values = dict(record)
    images = tuple(Image(**one) for one in values.pop("images", ()))
    return Message(**values, images=images)


def key_of(model: str, revision: str, request: ChatRequest) -> str:
    """32 hexadecimal digits that identify a model, its revision and every field of a request."""
    return key_of_record(model, revision, request_record(request))


def key_of_record(model: str, revision: str, record: Mapping[str, Any]) -> str:
    """`key_of` for a request that is a record already."""
    whole = {"model": model, "revision": revision, "request": record}
    text = orjson.dumps(whole, option=orjson.OPT_SORT_KEYS)
    return blake2b(text, digest_size=16).hexdigest()


def reply_record(reply: ChatReply) -> dict[str, Any]:
    """Every field of a reply that is set, as JSON can hold it."""
    record = {name: getattr(reply, name) for name in _REPLY_FIELDS}
    return {name: value for name, value in record.items() if value is not None}


def reply_from(record: Mapping[str, Any]) -> ChatReply:
    """The reply that `reply_record` wrote.

    Raises:
        TypeError: the record is not one of a reply.
    """
    values = dict(record)
    places = values.get("token_logprobs")
    if places is not None:
        # Ledgers of versions that stored any number may hold some that are no log-probabilities.
        right = all(is_logprob(number) for place in places for number in dict(place).values())
        values["token_logprobs"] = tuple(dict(place) for place in places) if right else None
    return ChatReply(**values)
