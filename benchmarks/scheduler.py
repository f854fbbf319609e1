"""How near the asking of a server comes to what the server allows.

    python -m benchmarks.scheduler            # both tables
    python -m benchmarks.scheduler --limits   # the first alone: simulated time, a few seconds

The first table is in simulated time: servers that allow 10 to 1,000 requests a second and answer
after .3 s, sent 16 to 512 side by side, without any option that says so. Each turns away (HTTP
429, `Retry-After: 1`) what goes beyond a bucket of one second's allowance. Ideal is the time in
which the server can take all of it, or in which so many side by side can ask it.

The second is in real time, on loopback: 2% of the replies take fifteen times as long. The table is
judged as one stream, and in tables of 16 rows for each request side by side, one after another, as
it was before: 1,024 rows at 64 side by side, scaled down.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import random
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.contract import parse_judge
from markscheme.engine import apply, run_in_memory
from markscheme.models import ModelOptions, Models, ServerOptions
from markscheme.models.chat.throttle import Throttle
from markscheme.tables import AnswersReader

LIMITS = (10, 20, 50, 100, 300, 1000)
SIDE_BY_SIDE = (16, 64, 256, 512)


class SimulatedLoop(asyncio.SelectorEventLoop):
    """A loop whose clock jumps to the next thing to do."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = 0.0
        selector: Any = self._selector  # type: ignore[attr-defined]
        plain = selector.select

        def select(timeout: float | None = None) -> Any:
            self.clock += timeout or 0.0
            return plain(0)

        selector.select = select

    def time(self) -> float:
        """Simulated seconds."""
        return self.clock


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """What became of some requests: seconds, those of an ideal client, rejections a request."""

    seconds: float
    ideal: float
    rejections: float

    @property
    def ratio(self) -> float:
        """Time over ideal time."""
        return self.seconds / self.ideal


def simulate(
    *, limit: float, most: int, seconds: float = 60.0, latency: float = 0.3, burst: float = 1.0
) -> Simulated:
    """Ask a server that allows `limit` requests a second for as many as it takes in `seconds`.

    Args:
        limit: requests that the server allows a second.
        most: requests side by side.
        seconds: length of the work at the server's own pace.
        latency: seconds from a request to its reply, the way there included.
        burst: seconds' worth of requests that the server lets through at once.
    """
    loop = SimulatedLoop()
    throttle = Throttle(most=most)
    rows, left, seen, rejected = int(limit * seconds), limit * burst, 0.0, 0
    draw = random.Random(1)
    source = iter(range(rows))

    async def worker() -> None:
        nonlocal left, seen, rejected
        for _ in source:
            while True:
                sent_at = await throttle.enter()
                await asyncio.sleep(0.02)
                left = min(limit * burst, left + (loop.time() - seen) * limit)
                seen = loop.time()
                taken = left >= 1
                left -= taken
                await asyncio.sleep(latency * draw.uniform(0.7, 1.3) - 0.02 if taken else 0.01)
                throttle.leave()
                if taken:
                    throttle.taken()
                    break
                rejected += 1
                await asyncio.sleep(throttle.turned_away(sent_at, 1.0))

    async def crowd() -> None:
        # Twice as many ask as may be under way, as in a run.
        await asyncio.gather(*(worker() for _ in range(2 * most)))

    loop.run_until_complete(crowd())
    loop.close()
    ideal = max((rows - limit * burst) / limit + latency, rows * latency / most)
    return Simulated(seconds=loop.clock, ideal=ideal, rejections=rejected / rows)


def limits() -> None:
    """Print the first table."""
    print("time over ideal time, rejections a call (simulated time)")
    print(f"{'allowed a second':>18}" + "".join(f"{most:>7} together" for most in SIDE_BY_SIDE))
    for limit in LIMITS:
        found = [simulate(limit=limit, most=most) for most in SIDE_BY_SIDE]
        cells = "".join(f"{one.ratio:>9.3f} {one.rejections:.3f} " for one in found)
        print(f"{limit:>18,}{cells}")


def _delay(number: int, delay: float) -> float:
    return 15 * delay if number % 50 == 9 else delay


def _in_order(rows: int, *, concurrency: int, delay: float) -> float:
    """Seconds where each request starts, in order, as soon as another ends.

    More than the ideal by what a slow reply near the end takes: nobody knows beforehand which.
    """
    ends = [0.0] * concurrency
    for number in range(rows):
        heapq.heapreplace(ends, ends[0] + _delay(number, delay))
    return max(ends)


def tail(rows: int, *, concurrency: int, delay: float) -> None:
    """Print the second table."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
    from servers import Answer, ChatServer

    def behaviour(body: dict[str, Any], _seen: int) -> Answer:
        number = int(body["messages"][-1]["content"].split("Question ")[1].split("?")[0])
        return Answer(delay=_delay(number, delay))

    table = pl.DataFrame(
        [{"question": f"Question {n}?", "references": ["x"], "answer": "y"} for n in range(rows)]
    )
    judge = parse_judge("llm_kamalloo")
    ideal = rows * delay * (0.98 + 0.02 * 15) / concurrency
    in_order = _in_order(rows, concurrency=concurrency, delay=delay)
    taken = {}
    with ChatServer(behaviour) as server, tempfile.TemporaryDirectory() as folder:
        # Imports of the first call (aiohttp, SQLite) are no part of either way.
        first = ServerOptions(base_url=server.url, concurrency=concurrency)
        warm = Models(options=ModelOptions(model="m", server=first, ledger=f"{folder}/warm.sqlite"))
        run_in_memory(AnswersReader([table.head(2)]), [judge], models=warm)
        warm.close()
        for way in ("one stream", "tables"):
            reach = ServerOptions(base_url=server.url, concurrency=concurrency)
            options = ModelOptions(model="m", server=reach, ledger=f"{folder}/{way}.sqlite")
            models = Models(options=options)
            began, cpu = time.perf_counter(), time.process_time()
            if way == "one stream":
                run_in_memory(AnswersReader([table]), [judge], models=models)
            else:
                for part in pl.concat(list(AnswersReader([table]))).iter_slices(16 * concurrency):
                    apply(judge, part, models)
            taken[way] = time.perf_counter() - began
            models.close()
            busy = 1000 * (time.process_time() - cpu) / rows  # The server's share included.
            print(
                f"{way:>18}{taken[way]:>8.1f} s, {taken[way] / ideal:.2f} x ideal ({ideal:.1f} s), "
                f"{taken[way] / in_order:.2f} x in order ({in_order:.1f} s), "
                f"{busy:.2f} ms of processor time a row"
            )
    print(f"one stream takes {taken['one stream'] / taken['tables']:.2f} of the time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limits", action="store_true", help="the first table alone")
    parser.add_argument("--tail", action="store_true", help="the second table alone")
    parser.add_argument("--rows", type=int, default=768)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--delay", type=float, default=0.2)
    given = parser.parse_args()
    if not given.tail:
        limits()
    if not given.limits:
        tail(given.rows, concurrency=given.concurrency, delay=given.delay)


if __name__ == "__main__":
    main()
