"""Keeping to a server's rate limits from this side, and reading those that it states."""

from __future__ import annotations

import asyncio
import email.utils
import math
import re
import time
from collections.abc import Mapping

_BURST_SECONDS = 1.0
_LONGEST_HOLD = 1.0
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_REMAINING = ("x-ratelimit-remaining-requests", "anthropic-ratelimit-requests-remaining")


class Pace:
    """At most `per_minute` units a minute, evenly spread, with a burst of one second's worth.

    The generic cell rate algorithm: each unit moves the time at which the next is due; a
    request before that time waits. None means no limit.
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


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a response asks to wait, from `Retry-After` (seconds or date) or its
    millisecond form; None where it asks for nothing that can be read."""
    milliseconds = headers.get("retry-after-ms")
    value = headers.get("retry-after")
    try:
        if milliseconds is not None:
            return _finite(float(milliseconds) / 1000)
        if value is None:
            return None
        return _finite(float(value))
    except ValueError:
        moment = email.utils.parsedate_tz(value or "")
        if moment is None:
            return None
        return max(0.0, email.utils.mktime_tz(moment) - time.time())


def _finite(seconds: float) -> float | None:
    return max(0.0, seconds) if math.isfinite(seconds) else None


def no_requests_left(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait where a server says that no requests are left; None where it does not.

    At most one: servers whose allowance comes back bit by bit state when all of it will be back.
    """
    if not any(headers.get(name, "").strip() == "0" for name in _REMAINING):
        return None
    reset = headers.get("x-ratelimit-reset-requests", "")
    parts = re.findall(r"([0-9.]+)(ms|s|m|h)", reset)
    try:
        seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    except ValueError:
        return None
    return min(seconds or _LONGEST_HOLD, _LONGEST_HOLD)
