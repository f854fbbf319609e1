"""How many tokens a request has, before a server has counted them."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from markscheme.models.chat.protocol import Message

TOKENS_A_MESSAGE = 4
"""What the chat format itself adds to a message, roughly (OpenAI's models: 3 or 4)."""

BYTES_A_TOKEN = 3.6
"""UTF-8 bytes to a token where there is no tokenizer: English prose has about 4.2 in OpenAI's
vocabularies, other languages fewer, so that this errs on the side of more tokens."""

_LOADING_SECONDS = 5.0


def rough_tokens(messages: Sequence[Message]) -> int:
    """Tokens of a conversation from its length alone; fast, for limits enforced by the client."""
    size = sum(len(message.content.encode()) for message in messages)
    return int(size / BYTES_A_TOKEN) + TOKENS_A_MESSAGE * len(messages) + 1


def count_tokens(messages: Sequence[Message], model: str) -> int:
    """Tokens of a conversation by the model's tokenizer where it is available, else roughly."""
    count, _ = _counter(model)
    if count is None:
        return rough_tokens(messages)
    return sum(count(message.content) + TOKENS_A_MESSAGE for message in messages)


def how_counted(model: str) -> str:
    """In words, how `count_tokens` counts for a model."""
    return _counter(model)[1]


@cache
def _counter(model: str) -> tuple[Callable[[str], int] | None, str]:
    rough = f"about one token to {BYTES_A_TOKEN} bytes"
    try:
        tiktoken: Any = importlib.import_module("tiktoken")
    except ImportError:
        return None, f"{rough}; pip install tiktoken counts exactly for OpenAI's models"
    try:
        name = tiktoken.encoding_name_for_model(model)
    except KeyError:
        name = "o200k_base"
    encoding = _within(_LOADING_SECONDS, lambda: tiktoken.get_encoding(name))
    if encoding is None:
        return None, f"{rough}; the tokenizer {name} could not be fetched"
    return lambda text: len(encoding.encode_ordinary(text)), f"tokenizer {name}"


def _within(seconds: float, work: Callable[[], Any]) -> Any:
    """The result of `work`, or None if it fails or takes longer: it may be waiting for a network
    that swallows everything."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(work())
        except Exception:
            found.append(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else None
