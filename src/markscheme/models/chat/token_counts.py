"""How many tokens a request has, before a server has counted them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from markscheme.contract import Image, Message

TOKENS_A_MESSAGE = 4
"""What the chat format itself adds to a message, roughly (OpenAI's models: 3 or 4)."""

BYTES_A_TOKEN = 3.6
"""UTF-8 bytes to a token: English prose has about 4.2 in OpenAI's vocabularies, other languages
fewer, so that this errs on the side of more tokens."""

_PATCH = 28
_TOKENS_A_PATCH = 2
_FEWEST_IMAGE_TOKENS = 1_200
"""Of an image, where a model's entry does not say (`image_tokens`): above what GPT-6, Claude 5.5,
Gemini 3 and the models before them are known to count for any size, GPT-4o mini apart, whose entry
says. By area they count up to 1.2 tokens for 32 x 32 pixels, or 2.46 for small images; Gemini
counts 1,120 for all."""


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
    """Tokens of a conversation from its length alone: no model's own tokenizer, which most have to
    download, is needed.

    Args:
        messages: the conversation.
        most_an_image: see `image_tokens`.
    """
    size = sum(len(message.content.encode()) for message in messages)
    tokens = int(size / BYTES_A_TOKEN) + TOKENS_A_MESSAGE * len(messages) + 1
    return tokens + sum(image_tokens(one.images, most_an_image) for one in messages if one.images)
