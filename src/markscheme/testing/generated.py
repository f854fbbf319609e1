"""Replies that say nothing, generated: what models and servers say when they fail, in any mixture.

None of the pieces is a verdict, a mark, a relation or a statement about the world, so no judge may
judge on any of them. Numbers occur as parts of errors, words of a verdict only inside other words.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator, Sequence

_NAMES = (
    "status", "code", "detail", "message", "error", "request_id", "retry_after", "type", "x",
    "data", "model", "usage", "trace", "object", "id", "param",
)  # fmt: skip
_FAULTS = (
    "rate limit exceeded", "upstream timed out", "connection reset by peer", "model overloaded",
    "quota exhausted", "invalid api key", "context length exceeded", "bad gateway",
    "service unavailable", "internal server error", "stream ended early", "out of memory",
)  # fmt: skip
_REFUSALS = (
    "I'm sorry, I can't help with that.", "I cannot assist with this request.",
    "As an AI language model, I am unable to judge this.", "I won't be able to evaluate that.",
    "I don't have enough information to decide.", "I'm unable to determine this.",
)  # fmt: skip
_EMPTY_TALK = (
    "Sure! Here is the result:", "Okay, let me look at this.", "Let me think step by step.",
    "As requested.", "Please provide the question and the answer.", "Here you go:",
    "One moment, please.", "The evaluation follows below.", "Thanks for the details!",
    "Working on it...", "Let's begin.",
)  # fmt: skip
_LATIN = (
    "lorem", "ipsum", "dolor", "sit", "amet", "consectetur", "adipiscing", "elit", "sed", "eiusmod",
    "tempor", "incididunt", "ut", "labore", "et", "dolore", "magna", "aliqua",
)  # fmt: skip
_BLANKS = (
    "", " \n\t ", "N/A", "n/a.", "null", "None", "undefined", "NaN", "{}", "[]", "[object Object]",
    "...", "?", "```", "```json\n```", "---", "\ufffd\ufffd", "\u200b", "<|im_end|>", "<unk><unk>",
    "<think>", "</think>", "<answer></answer>", '""', "()", "* * *", "TBD", "[REDACTED]",
)  # fmt: skip


def _value(chance: random.Random, depth: int) -> object:
    if depth < 2 and chance.random() < 0.3:
        return {
            chance.choice(_NAMES): _value(chance, depth + 1) for _ in range(chance.randint(0, 3))
        }
    if depth < 2 and chance.random() < 0.15:
        return [_value(chance, depth + 1) for _ in range(chance.randint(0, 3))]
    return chance.choice(
        [None, chance.randint(400, 599), chance.choice(_FAULTS), "", chance.random(), -1, 10**20]
    )


def _object(chance: random.Random) -> str:
    found = {chance.choice(_NAMES): _value(chance, 0) for _ in range(chance.randint(1, 4))}
    text = json.dumps(found, indent=chance.choice([None, 2]))
    if chance.random() < 0.3:
        text = text[: chance.randint(1, len(text))]  # A stream that ended.
    return f"```json\n{text}\n```" if chance.random() < 0.2 else text


def _error(chance: random.Random) -> str:
    fault, code = chance.choice(_FAULTS), chance.randint(400, 599)
    forms = (
        f"Error: {fault}", f"Error {code}: {fault}", f"HTTP {code} {fault.title()}",
        f"{fault} (attempt {chance.randint(1, 9)} of {chance.randint(1, 9)})",
        f"<html><head><title>{code} {fault}</title></head><body>{fault}</body></html>",
        f"Traceback (most recent call last):\n  File \"serve.py\", line {code}\nError: {fault}",
        f"{fault}; retry after {chance.randint(1, 60)} s", f"ERR_{fault.upper().replace(' ', '_')}",
    )  # fmt: skip
    return chance.choice(forms)


def _noise(chance: random.Random) -> str:
    letters = string.punctuation + "\u00e9\u4e16\u0416\u05d0\U0001f600\u202e\n"
    return "".join(chance.choice(letters) for _ in range(chance.randint(1, 30)))


def _words(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return " ".join([chance.choice(_LATIN)] * chance.randint(3, 40))
    return " ".join(chance.choices(_LATIN, k=chance.randint(3, 30))).capitalize() + "."


_KINDS: tuple[Callable[[random.Random], str], ...] = (
    _object, _error, _error, _noise, _words,
    lambda chance: chance.choice(_REFUSALS),
    lambda chance: chance.choice(_EMPTY_TALK),
    lambda chance: chance.choice(_BLANKS),
)  # fmt: skip


def generated_garbage(count: int, *, seed: int = 0) -> Sequence[str]:
    """Replies that say nothing: errors, pages, objects, refusals, talk, noise, and mixtures.

    Args:
        count: how many.
        seed: equal ones give equal replies.

    Example:
        >>> from markscheme.testing import check_garbage_replies, generated_garbage
        >>> check_garbage_replies("llm_kamalloo", replies=generated_garbage(20))
    """
    return list(_generated(count, random.Random(seed)))


def _generated(count: int, chance: random.Random) -> Iterator[str]:
    for _ in range(count):
        parts = [chance.choice(_KINDS)(chance) for _ in range(chance.choice((1, 1, 1, 2, 2, 3)))]
        yield chance.choice(("\n", " ", "\n\n")).join(parts)
