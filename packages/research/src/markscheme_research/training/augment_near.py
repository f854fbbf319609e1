"""Made-up answers spelt nearly like the reference: slips, and other words that exist."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache

import orjson
from rapidfuzz import distance, process

from markscheme.models.local import MINILM
from markscheme.text import stem

Row = tuple[str, list[str], str, bool]

_FRAMES = (
    "{}",
    "{}.",
    "It was {}.",
    "the {}",
    "That would be {}.",
    "I think {}.",
    "{}, I believe.",
)


@cache
def _words() -> list[str]:
    """Words and names that exist: the whole words of the encoder's vocabulary."""
    stored = orjson.loads((MINILM / "tokenizer.json").read_bytes())
    return sorted(word for word in stored["model"]["vocab"] if len(word) > 4 and word.isalpha())


def near_rows(questions: Sequence[tuple[str, str]], chance: random.Random) -> Iterator[Row]:
    """For (question, reference of one or two words): a slip, and another word that exists."""
    for question, reference in questions:
        last = reference.split()[-1]
        if len(last) < 5 or not last.isalpha() or not last.isascii():
            continue
        found = process.extract(
            last.lower(),
            _words(),
            scorer=distance.DamerauLevenshtein.normalized_similarity,
            score_cutoff=0.6,
            limit=6,
        )
        others = [
            word for word, alike, _ in found if stem(word) != stem(last.lower()) and alike < 1
        ]
        frame = chance.choice(_FRAMES)
        if others:
            other = chance.choice(others)
            other = other.capitalize() if last[:1].isupper() else other
            wrong = reference[: len(reference) - len(last)] + other
            yield question, [reference], frame.format(wrong), False
        yield question, [reference], frame.format(slip(reference, chance)), True


def slip(text: str, chance: random.Random) -> str:
    """`text` with one letter of its last word left out, doubled, swapped or hit next to its key."""
    last = len(text.rsplit(maxsplit=1)[-1])
    at = len(text) - last + chance.randrange(1, last - 1)
    change = chance.randrange(4)
    if change == 0:
        return text[:at] + text[at + 1 :]
    if change == 1:
        return text[:at] + text[at] + text[at:]
    if change == 2 and text[at] != text[at + 1]:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + chance.choice("aeiorstn") + text[at + 1 :]
