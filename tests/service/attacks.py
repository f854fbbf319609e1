"""Attacks on a running service, each known by its name; run as a process of its own at nice 19.

`python attacks.py NAME ADDRESS KEY SECONDS` goes on until the seconds are over. An attack is bytes
that many connections send: a request, again and again, or a beginning and then a little at a time.
`python attacks.py load SHARE SECONDS` attacks nobody: it uses that share of a processor.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

LARGEST = 3_900_000
ROW: dict[str, Any] = {"question": "Who?", "references": ["Ann"], "answer": "Ann"}
PATH = "/v1/judgments"


@dataclass(frozen=True, kw_only=True)
class Attack:
    """What each of `connections` sends.

    Attributes:
        sent: made from the key, when the attack begins.
        drip: sent after it, every `pause` seconds; without it the reply is read and the connection
            closed, and another opened.
        read: whether replies are read.
        times: how often `sent` is sent before the reply is read.
    """

    sent: Callable[[str], bytes]
    drip: bytes = b""
    pause: float = 0.2
    connections: int = 16
    read: bool = True
    times: int = 1


def request(
    key: str,
    body: bytes = b"",
    *,
    method: str = "POST",
    path: str = PATH,
    authorization: str = "Bearer {key}",
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """A whole request; `headers` replace those that it would have."""
    lines = {
        "Host": "localhost",
        "Authorization": authorization.format(key=key),
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **(headers or {}),
    }
    shown = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
    return f"{method} {path} HTTP/1.1\r\n{shown}\r\n".encode() + body


def answers(*rows: Mapping[str, Any], judge: str | None = None) -> bytes:
    return json.dumps({"judge": judge, "answers": rows}, separators=(",", ":")).encode()


def patterns(source: str, answer: str, *, count: int, rows: int = 1) -> bytes:
    """Rows of patterns that are all different."""
    found = [
        {**ROW, "answer": answer, "references": [f"{source}{row}_{n}?$" for n in range(count)],
         "reference_kind": "regex"} for row in range(rows)
    ]  # fmt: skip
    return answers(*found, judge="regex")


def words(count: int, step: int = 0) -> str:
    """Words that are all different."""
    return " ".join(f"{place + step:x}" for place in range(count))


def numbers(length: int) -> str:
    """Numbers that are all different, up to a length."""
    return " ".join(map(str, range(length)))[:length]


def ranges(first: int) -> str:
    """Thirty ranges."""
    return "".join(f"from {n} to 9{n} km. " for n in range(first, first + 30))


def long_row(judge: str, answer: str, reference: str, *, references: int = 1) -> bytes:
    return answers({**ROW, "answer": answer, "references": [reference] * references}, judge=judge)


def slow(path: str, method: str = "POST", *, key: bool = False, length: str = "3000000") -> Attack:
    """300 connections whose bodies come a byte at a time."""
    headers = {"Content-Length": length}
    return Attack(
        sent=partial(
            request,
            method=method,
            path=path,
            headers=headers,
            authorization="Bearer {key}" if key else "",
        ),
        drip=b" ",
        connections=300,
    )


def body(content: bytes, *, path: str = PATH, connections: int = 4) -> Attack:
    return Attack(sent=partial(request, body=content, path=path), connections=connections)


def plain(text: str, **options: Any) -> Attack:
    return Attack(sent=lambda key: text.format(key=key).encode("latin-1"), **options)


CHUNKED = {"Content-Length": "", "Transfer-Encoding": "chunked"}
OPEN_HEAD = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"

ATTACKS: dict[str, Callable[[], Attack]] = {
    # Connections
    "headers, slow": lambda: plain("POST / HTTP/1.1\r\nX: ", drip=b"a", connections=400),
    "headers, endless": lambda: plain(OPEN_HEAD, drip=b"X-A: " + b"a" * 4000 + b"\r\n"),
    "headers, 100,000 in one": lambda: plain(OPEN_HEAD + "X: y\r\n" * 100_000 + "\r\n"),
    "nothing sent, 1,500 connections": lambda: plain("", connections=1500),
    "idle after one request, 1,500 connections": lambda: plain(
        OPEN_HEAD + "\r\n", connections=1500
    ),
    "idle after a request with a key": lambda: Attack(
        sent=partial(request, method="GET", path="/v1/judges"), connections=1500
    ),
    "connections opened and reset": lambda: plain("G", connections=200, read=False),
    "pages requested, replies never read": lambda: plain(
        "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
        times=400,
        drip=b"\r\n",
        connections=1200,
        read=False,
    ),
    "pipelined, 5,000 on a connection": lambda: plain(OPEN_HEAD + "\r\n", times=5000),
    "websockets": lambda: plain(
        OPEN_HEAD + UPGRADE + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        drip=b"\x81\x00",
        connections=400,
    ),
    "upgrade to HTTP/2": lambda: plain("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", drip=b"\0" * 9),
    "TLS and other bytes": lambda: plain("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", connections=64),
    "HEAD flood": lambda: plain(OPEN_HEAD.replace("GET", "HEAD") + "\r\n", connections=64),
    "OPTIONS flood": lambda: plain(
        "OPTIONS /v1/judgments HTTP/1.1\r\nHost: localhost\r\n\r\n", connections=64
    ),
    # Open paths, and no key
    "slow body to /healthz": lambda: slow("/healthz"),
    "slow body to /readyz by GET": lambda: slow("/readyz", "GET"),
    "slow body to a page": lambda: slow("/playground", "GET"),
    "slow body to /metrics without a key": lambda: slow("/metrics", "GET"),
    "slow body without a key": lambda: slow(PATH),
    "slow upload without a key": lambda: slow("/v1/jobs"),
    "whole bodies to /healthz": lambda: body(b"a" * LARGEST, path="/healthz"),
    "whole bodies without a key": lambda: Attack(
        sent=partial(request, body=b"a" * LARGEST, authorization="Bearer no")
    ),
    "wrong keys, many": lambda: Attack(
        sent=partial(request, authorization="Bearer {key}" + "x" * 8000), connections=64
    ),
    # Bodies with a key
    "slow body with a key": lambda: slow(PATH, key=True),
    "slow body to a GET with a key": lambda: slow("/v1/judges", "GET", key=True),
    "slow upload with a key": lambda: slow("/v1/jobs", key=True),
    "chunks without an end": lambda: Attack(
        sent=partial(request, headers=CHUNKED),
        drip=b"ffff\r\n" + b"a" * 65535 + b"\r\n",
        pause=0.01,
    ),
    "chunks of one byte": lambda: Attack(
        sent=partial(request, headers=CHUNKED), drip=b"1\r\na\r\n" * 500, pause=0.01
    ),
    "chunks of one byte, 200 connections": lambda: Attack(
        sent=partial(request, headers=CHUNKED),
        drip=b"1\r\na\r\n" * 500,
        pause=0.01,
        connections=200,
    ),
    "chunk with an endless extension": lambda: Attack(
        sent=partial(request, headers=CHUNKED), drip=b"1;" + b"a" * 60_000
    ),
    "length larger than the body": lambda: Attack(
        sent=partial(request, headers={"Content-Length": "1000"}), connections=300
    ),
    "length too large, wrong or twice": lambda: plain(
        "POST /v1/judgments HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
        "Content-Length: 7\r\nContent-Length: 99999999999999\r\n\r\n{{}}"
    ),
    "client that leaves at once": lambda: Attack(
        sent=partial(request, body=answers(*[ROW] * 1000)), read=False, connections=16
    ),
    # What is in bodies
    "400,000 tiny rows": lambda: body(
        b'{"answers":[' + b",".join([b"{}"] * 400_000) + b"," + b" " * 1_900_000 + b"{}]}"
    ),
    "60,000 whole rows": lambda: body(answers(*[ROW] * 60_000)),
    "1,000 rows of many references": lambda: body(
        answers(*[{**ROW, "references": ["a"] * 900}] * 1000)
    ),
    "1,000,000 empty texts": lambda: body(b'{"answers":[' + b'"",' * 1_000_000 + b'""]}'),
    "300,000 names": lambda: body(b"{" + b",".join(b'"%x":1' % n for n in range(300_000)) + b"}"),
    "deep JSON": lambda: body(b"[" * LARGEST),
    "deep objects": lambda: body(b'{"a":' * (LARGEST // 5)),
    "quotes that never end": lambda: body(b'{"answers":["' + b'\\"' * (LARGEST // 2)),
    "numbers of a million digits": lambda: body(b'{"answers":[' + b"9" * LARGEST + b"]}"),
    "one text of 3.9 MB": lambda: body(answers({**ROW, "answer": "a" * LARGEST})),
    "full-size rows": lambda: body(answers(*[{**ROW, "answer": words(700)}] * 1000)),
    # Judging
    "patterns that backtrack, 20 rows": lambda: body(
        patterns("(?<=x)(a+)+", "x" + "a" * 40 + "b", count=1, rows=20)
    ),
    "patterns that backtrack, 900 in a row": lambda: body(
        patterns("(?<=x)(a+)+", "x" + "a" * 40 + "b", count=900)
    ),
    "patterns of huge repeats": lambda: body(
        patterns("((a{1,99}){1,99}){1,99}", "a" * 1000, count=50)
    ),
    "and and and, entailment": lambda: body(
        long_row("entailment", "and " * 24_000, "and " * 24_000)
    ),
    # The slow lane: each value of a long question was looked for in each of the answer, 10 s a row.
    "numbers in question and answer, entailment": lambda: body(
        answers(
            {**ROW, "question": numbers(8000), "answer": numbers(8000), "references": ["12 km"]},
            judge="entailment",
        )
    ),
    "ranges against 100 references, entailment": lambda: body(
        answers(
            {**ROW, "answer": ranges(50), "references": [ranges(1000 * n) for n in range(100)]},
            judge="entailment",
        )
    ),
    "worst for contains": lambda: body(
        long_row("contains", "ab" * 20_000 + "c", "ba" * 20_000 + "d")
    ),
    "worst for claims": lambda: body(long_row("claims", words(2400), words(2400, 7), references=8)),
    "worst for the examiner": lambda: body(
        long_row("examiner", "1,234.5 km " * 4_000, "1.2345e3 m " * 4_000)
    ),
    "worst for similarity of characters": lambda: body(
        long_row("char_similarity", "ab" * 24_000, "ba" * 24_000, references=2)
    ),
    "worst for ROUGE": lambda: body(
        long_row("rougeL", words(15_000), words(15_000, 9), references=2)
    ),
    "900 references": lambda: body(long_row("examiner", words(30), words(30), references=900)),
    "explanations, largest": lambda: body(
        json.dumps(
            {
                "question": "Who?",
                "references": [words(1200)[:5000]] * 20,
                "answer": words(1200)[:5000],
            }
        ).encode(),
        path="/v1/explanations",
    ),
    "many small requests": lambda: body(answers(ROW), connections=200),
    "queue filled": lambda: body(answers(*[ROW] * 1000), connections=32),
}


async def attack(kind: Attack, address: str, key: str, sent: bytes) -> None:
    """One connection of an attack, again and again."""
    place = urlsplit(address)
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            try:
                writer.write(sent)
                while kind.drip:
                    await asyncio.sleep(kind.pause)
                    writer.write(kind.drip)
                    if writer.transport.is_closing():
                        break
                    await asyncio.wait_for(writer.drain(), 30)
                if kind.read:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(30):
                            while await reader.read(65536):
                                pass
            except TimeoutError:
                pass
            finally:
                writer.transport.abort()
        await asyncio.sleep(0.05)


async def main(name: str, address: str, key: str, seconds: float) -> None:
    kind = ATTACKS[name]()
    sent = kind.sent(key) * kind.times
    print("begun", flush=True)
    asyncio.get_running_loop().call_later(seconds, os._exit, 0)
    await asyncio.gather(*(attack(kind, address, key, sent) for _ in range(kind.connections)))


def load(share: float, seconds: float) -> None:
    """Compute for a share of the time, 0 to 1."""
    print("begun", flush=True)
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        if time.process_time() > share * passed:
            time.sleep(0.005)


if __name__ == "__main__":
    os.nice(19)
    if sys.argv[1] == "load":
        load(*map(float, sys.argv[2:]))
        sys.exit()
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])))
