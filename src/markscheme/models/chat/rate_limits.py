"""Keeping to a server's rate limits from this side, and waiting when it says so."""

from __future__ import annotations

import asyncio
import email.utils
import time
from collections.abc import Mapping

_BURST_SECONDS = 1.0


class Pace:
    """At most `per_minute` units a minute, evenly spread, with a burst of one second's worth.

    The generic cell rate algorithm: each unit moves the time at which the next is due; whoever
    comes before that waits. None means no limit.
    """

    def __init__(self, per_minute: float | None) -> None:
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._due = 0.0

    async def take(self, units: float) -> None:
        """Wait until `units` more are allowed."""
        if not self._interval:
            return
        now = time.monotonic()
        start = max(now - _BURST_SECONDS, self._due)
        self._due = start + units * self._interval
        if start > now:
            await asyncio.sleep(start - now)

    def give_back(self, units: float) -> None:
        """Return what was taken and not used; a negative number takes what was used beyond."""
        self._due -= units * self._interval


class Hold:
    """A pause that holds for every request to one server, since it told one of them to wait."""

    def __init__(self) -> None:
        self._until = 0.0

    def until(self, seconds: float) -> None:
        """Nobody asks for so many seconds."""
        self._until = max(self._until, time.monotonic() + seconds)

    async def wait(self) -> None:
        """Wait for the pause, if there is one, to end."""
        while (left := self._until - time.monotonic()) > 0:
            await asyncio.sleep(left)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response asks to wait, from `Retry-After` (seconds or date) or its
    millisecond form; None where it asks for nothing that can be read."""
    milliseconds = headers.get("retry-after-ms")
    value = headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if value is None:
            return None
        return max(0.0, float(value))
    except ValueError:
        moment = email.utils.parsedate_tz(value or "")
        if moment is None:
            return None
        return max(0.0, email.utils.mktime_tz(moment) - time.time())
