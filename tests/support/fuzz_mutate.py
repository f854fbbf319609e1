"""Broken inputs out of good ones: bytes cut, flipped, doubled, and spiced with what hurts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

SPICE = (
    b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80",
    rb"\ud800", rb"\udc00\ud800", rb"\u0000", b"\r", b"\r\n", b"\n\n", b"\x0b", b"\x0c", b"\x1c",
    b"\x85", "\u2028".encode(), "\u202e".encode(),
    "e\u0301\u200d".encode(), "\U0001f469\u200d\U0001f680".encode(),
    b'"', b"'", b'""', b"\\", b"`", b"```", b"[[", b"]]", b"{", b"}", b"[", b"]", b"<think>",
    b"</think>", b"{{ x }}", b"{% for", b"%s", b"$(", b",", b";", b"\t", b" | ", b"||", b":", b"-",
    b"1e999", b"-1e999", b"9" * 400, b"-0", b"0x10", b"NaN", b"Infinity", b"null", b"true", b"none",
    b"18446744073709551616", b"9223372036854775807", b"1_0", "１２".encode(), "²".encode(),
    b"[" * 3000, b"(" * 3000, b'{"a":' * 3000, b"-" * 3000, b"not " * 800, b" " * 5000,
    b"\n" * 3000, b"yes no " * 500, b"1. " * 900, b"A" * 20_000, b"<think>" * 400, b"**" * 2000,
    b"PAR1", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd",
)  # fmt: skip
"""What is put into inputs: bytes that are no text, numbers off every scale, deep nesting."""

Change = Callable[[bytearray, random.Random], bytearray]


def _place(data: bytearray, rng: random.Random) -> int:
    return rng.randrange(len(data) + 1)


def _cut(data: bytearray, rng: random.Random) -> bytearray:
    return data[: _place(data, rng)]


def _cut_head(data: bytearray, rng: random.Random) -> bytearray:
    return data[_place(data, rng) :]


def _flip(data: bytearray, rng: random.Random) -> bytearray:
    for _ in range(rng.choice((1, 1, 2, 8))):
        if data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def _insert(data: bytearray, rng: random.Random) -> bytearray:
    place = _place(data, rng)
    data[place:place] = rng.choice(SPICE)
    return data


def _replace(data: bytearray, rng: random.Random) -> bytearray:
    place = _place(data, rng)
    data[place : place + rng.randint(1, 12)] = rng.choice(SPICE)
    return data


def _front(data: bytearray, rng: random.Random) -> bytearray:
    return bytearray(rng.choice(SPICE)) + data


def _back(data: bytearray, rng: random.Random) -> bytearray:
    return data + rng.choice(SPICE)


def _repeat(data: bytearray, rng: random.Random) -> bytearray:
    begin, end = sorted((_place(data, rng), _place(data, rng)))
    return data[:end] + data[begin:end] * rng.choice((1, 2, 20)) + data[end:]


def _drop(data: bytearray, rng: random.Random) -> bytearray:
    begin, end = sorted((_place(data, rng), _place(data, rng)))
    return data[:begin] + data[end:]


def _line_ends(data: bytearray, rng: random.Random) -> bytearray:
    ends = (b"\n", b"\r\n", b"\r")
    return bytearray().join(line + rng.choice(ends) for line in data.split(b"\n"))


def _digits(data: bytearray, rng: random.Random) -> bytearray:
    """One number becomes another, of a kind that overflows."""
    places = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    if places:
        place = rng.choice(places)
        data[place : place + 1] = rng.choice(
            (b"1e999", b"9" * 30, b"-1", b"0.1", b"1e400", b"0", b"99999999999999999999")
        )
    return data


CHANGES: Sequence[Change] = (
    _cut, _cut_head, _flip, _flip, _insert, _insert, _replace, _replace, _front, _back, _repeat,
    _drop, _line_ends, _digits,
)  # fmt: skip
LONGEST = 120_000
"""Bytes of the longest input, so that every one is bounded."""


def mutations(seeds: Sequence[bytes], *, count: int, seed: int) -> Iterator[bytes]:
    """The seeds, then `count` inputs with one to four changes each; the same each time."""
    yield from seeds
    rng = random.Random(seed)
    for _ in range(count):
        data = bytearray(rng.choice(seeds))
        if rng.random() < 0.1:
            data += rng.choice(seeds)
        for _ in range(rng.choice((1, 1, 2, 3, 4))):
            data = rng.choice(CHANGES)(data, rng)
        yield bytes(data[:LONGEST])
