"""How many tokens a request has, before a server has counted them."""

from __future__ import annotations

import importlib
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from markscheme.contract import Image, Message

TOKENS_A_MESSAGE = 4
"""What the chat format itself adds to a message, roughly (OpenAI's models: 3 or 4)."""

BYTES_A_TOKEN = 3.6
"""UTF-8 bytes to a token where there is no tokenizer: English prose has about 4.2 in OpenAI's
vocabularies, other languages fewer, so that this errs on the side of more tokens."""

_PATCH = 28
_TOKENS_A_PATCH = 2
_FEWEST_IMAGE_TOKENS = 1_200
"""Of an image, where a model's entry does not say (`image_tokens`): above what GPT-6, Claude 5.5,
Gemini 3 and the models before them are known to count for any size, GPT-4o mini apart, whose entry
says. By area they count up to 1.2 tokens for 32 x 32 pixels, or 2.46 for small images; Gemini
counts 1,120 for all."""

_LOADING_SECONDS = 5.0


def image_tokens(images: Iterable[Image], most: int | None = None) -> int:
    """Tokens that images cost at most; `most` is what a model's entry says of one image."""
    if most is not None:
        return most * sum(1 for _ in images)
    return sum(
        max(
            _FEWEST_IMAGE_TOKENS,
            _TOKENS_A_PATCH * math.ceil(one.width / _PATCH) * math.ceil(one.height / _PATCH),
        )
        for one in images
    )


def rough_tokens(messages: Sequence[Message], most_an_image: int | None = None) -> int:
    """Tokens of a conversation from its length alone; fast, for limits enforced by the client.

    Args:
        messages: the conversation.
        most_an_image: see `image_tokens`.
    """
    size = sum(len(message.content.encode()) for message in messages)
    tokens = int(size / BYTES_A_TOKEN) + TOKENS_A_MESSAGE * len(messages) + 1
    return tokens + sum(image_tokens(one.images, most_an_image) for one in messages if one.images)


def count_tokens(messages: Sequence[Message], model: str, most_an_image: int | None = None) -> int:
    """Tokens of a conversation by the model's tokenizer where it is available, else roughly.

    Of its images the most that they may cost; see `image_tokens`.
    """
    count, _ = _counter(model)
    if count is None:
        return rough_tokens(messages, most_an_image)
    return sum(
        count(one.content) + TOKENS_A_MESSAGE + image_tokens(one.images, most_an_image)
        for one in messages
    )


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
