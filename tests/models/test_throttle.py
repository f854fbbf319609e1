"""The pace of requests against a server's limit, in simulated time: nothing waits for real."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from markscheme.models.chat.throttle import Throttle


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
        return self.clock


@pytest.mark.parametrize("most", [16, 256])
@pytest.mark.parametrize("limit", [20, 100])
def test_a_limited_server_is_used_to_the_full_and_seldom_turns_a_request_away(
    limit: int, most: int
) -> None:
    loop = SimulatedLoop()
    throttle = Throttle(most=most)
    rows, left, seen, rejected = 15 * limit, float(limit), 0.0, 0
    source = iter(range(rows))

    async def worker() -> None:
        nonlocal left, seen, rejected
        for _ in source:
            while True:
                sent_at = await throttle.enter()
                await asyncio.sleep(0.01)
                left = min(limit, left + (loop.time() - seen) * limit)
                seen = loop.time()
                taken = left >= 1
                left -= taken
                await asyncio.sleep(0.02)
                throttle.leave()
                if taken:
                    throttle.taken()
                    break
                rejected += 1
                await asyncio.sleep(throttle.turned_away(sent_at, 1.0))

    async def crowd() -> None:
        await asyncio.gather(*(worker() for _ in range(most)))

    loop.run_until_complete(crowd())
    loop.close()
    assert loop.clock < 1.15 * (rows - limit) / limit
    assert rejected < 0.08 * rows
