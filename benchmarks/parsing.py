"""What the service's largest bodies cost before they are judged: `python -m benchmarks.parsing`.

Each shape fills a limit: bytes, texts and commas, rows, fields of a row. Read as the service reads
it, five times, in a process of its own: least processor time, the longest time for which the event
loop of that process came to nothing else meanwhile (the least of the five), and the memory that the
process had more at its peak. Small bodies are read on the event loop, so that their hold is their
time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROW = {"question": "Who wrote Emma?", "references": ["Jane Austen"], "answer": "Jane Austen"}
LARGEST, SMALL = 3_990_000, 19_900


def rows(*some: Any) -> bytes:
    return json.dumps({"answers": some}).encode()


def fitting(most: int, made: Callable[[int], bytes]) -> bytes:
    """The longest of what is made of a number that has no more bytes than `most`."""
    least, number = 0, most
    while least < number - 1:
        middle = (least + number) // 2
        least, number = (middle, number) if len(made(middle)) <= most else (least, middle)
    return made(least)


def unknown(count: int) -> dict[str, int]:
    return {f"n{number}": 1 for number in range(count)}


LARGE: dict[str, Callable[[], bytes]] = {
    "1,000 ordinary rows": lambda: rows(*[ROW] * 1000),
    "1,000 rows of 3.9 kB": lambda: rows(*[{**ROW, "answer": "ab cd " * 640}] * 1000),
    "of control characters": lambda: rows(*[{**ROW, "answer": "\x01" * 600}] * 1000),
    "45 references each": lambda: rows(*[{**ROW, "references": ["ab"] * 45}] * 1000),
    "40 unknown fields each": lambda: rows(*[unknown(40)] * 1000),
    "wrong types": lambda: rows(*[{**ROW, "references": [1] * 70}] * 1000),
    "wrong types in a row": lambda: rows({**ROW, "references": [1] * 95_000}),
    "49,000 names": lambda: json.dumps(unknown(49_000)).encode(),
    "numbers of 300 digits": lambda: rows({**ROW, "references": [9**300] * 13_000}),
    "deep arrays": lambda: b'{"answers":' + b"[" * LARGEST,
    "objects in arrays": lambda: b'{"answers":[{"a":' + b"[{}" + b",[{}]" * 90_000 + b"]}]}",
    "empty arrays, deep": lambda: b'{"answers":[' + b"[[[[[[[[]]]]]]]]," * 990 + b"[]]}",
    "blanks": lambda: b'{"answers":[' + b" " * (LARGEST - 20) + b"]}",
    "a long text": lambda: rows({**ROW, "answer": "a" * (LARGEST - 200)}),
    "quotes": lambda: rows({**ROW, "answer": '"' * (LARGEST // 2 - 200)}),
}
LITTLE: dict[str, Callable[[], bytes]] = {
    "ordinary rows": lambda: fitting(SMALL, lambda n: rows(*[ROW] * n)),
    "empty rows": lambda: rows(*[{}] * 1000),
    "unknown fields": lambda: fitting(SMALL, lambda n: rows(*[unknown(40)] * n)),
    "wrong types": lambda: fitting(SMALL, lambda n: rows({**ROW, "references": [1] * n})),
    "references": lambda: fitting(SMALL, lambda n: rows({**ROW, "references": ["a"] * n})),
}
SHAPES = LARGE | {f"small: {name}": shape for name, shape in LITTLE.items()}


def main() -> None:
    """Print a line for each shape."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("shape", nargs="?", choices=SHAPES, help="only this, in this process")
    chosen = options.parse_args()
    if chosen.shape:
        print(measured(chosen.shape))
        return
    for name in SHAPES:
        subprocess.run([sys.executable, "-m", "benchmarks.parsing", name], check=True)


def measured(name: str) -> str:
    """Processor time, hold and memory of one shape."""
    from markscheme.service import Settings, make_app
    from markscheme.service.reading import _read
    from markscheme.service.routes import judging_routes

    with tempfile.TemporaryDirectory() as folder:
        state = make_app(Settings(jobs=Path(folder), processes=False)).state.service
    field = next(
        one.body_field for one in judging_routes(state).routes if one.path == "/v1/judgments"
    )
    body, outcome = SHAPES[name](), "read"
    before = peak()

    def read() -> float:
        nonlocal outcome
        began = time.thread_time()
        try:
            _read(body, field, state.settings.limits)
        except Exception as error:
            outcome = f"{type(error).__name__} {getattr(error, 'status_code', '')}"
        return time.thread_time() - began

    took, holds = zip(*(asyncio.run(beside(read)) for _ in range(5)), strict=True)
    return (
        f"{name}: {len(body):,} bytes, {1e3 * min(took):.0f} ms of processor time, "
        f"hold {1e3 * min(holds):.0f} ms, {peak() - before:.0f} MB, {outcome}"
    )


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def beside(function: Callable[[], float]) -> tuple[float, float]:
    """What the function returns from a thread, and the longest time in which the event loop came to
    nothing meanwhile."""
    working = asyncio.create_task(asyncio.to_thread(function))
    longest, last = 0.0, time.monotonic()
    while not working.done():
        await asyncio.sleep(0.001)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    return working.result(), longest


if __name__ == "__main__":
    main()
