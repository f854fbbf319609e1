"""How many requests go to a server, and how fast: found out from what it turns away.

Three things hold a request back: the number under way, which grows with each success up to the
user's limit; a pace, once the server has turned requests away; and a pause, when the server
requires one or does not work at all.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
import re
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

_FIRST_AT_ONCE = 8
"""Requests that leave at once at the start: few servers allow fewer."""

_FIRST_PACE = 50.0
_FIRST_DOUBLING = 0.25
_UNSURE_DOUBLING = 1.0
_UNSURE = 8
_SECOND_DOUBLING = 4.0
_GROWTH = 0.005
_FALL = 0.93
_STEEPEST_FALL = 0.85
_BREATH = 0.1
_ENDLESS = 20_000.0
_BURST_SECONDS = 0.02
_UNSAID_PAUSE = 0.5
LONGEST_PAUSE = 900.0
"""Seconds that a server may have requests wait, at most."""


@dataclass(kw_only=True)
class Throttle:
    """Lets requests through to one server.

    The pace begins at some dozens a second and doubles four times a second, until the server turns
    requests away (HTTP 429). Everything then pauses for as long as the server says, and the pace
    becomes what the server took up to then by that time or that pause, whichever is longer. From
    then on it grows slowly. When a request is turned away again, the pace falls by a little and
    only that request waits; when one sent after the fall is turned away as well, everything pauses
    again and the pace falls towards what the server took since the last time.

    Attributes:
        most: requests under way at the same time, at most.
        probing: one request at a time, to see whether the server works again.
        in_a_row: times that requests were turned away, since one was taken, after what all waited
            for.
    """

    most: int
    probing: bool = False
    in_a_row: int = field(default=0, init=False)
    _under_way: int = field(default=0, init=False)
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque, init=False)
    _timer: asyncio.TimerHandle | None = field(default=None, init=False)
    _pause_until: float = field(default=0.0, init=False)
    _pace: float = field(default=_FIRST_PACE, init=False)
    _pace_at: float | None = field(default=None, init=False)
    _doubling: float | None = field(default=_FIRST_DOUBLING, init=False)
    _due: float = field(default=0.0, init=False)
    _sent: int = field(default=0, init=False)
    _since: float = field(default=0.0, init=False)
    _fell_at: float = field(default=-math.inf, init=False)

    async def enter(self) -> float:
        """Wait until a request may be sent; returns when that is. `leave` must follow."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        self._let_through(loop)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._under_way -= 1
            self._let_through(loop)
            raise
        return loop.time()

    def leave(self) -> None:
        """A request came back, with whatever result."""
        self._under_way -= 1
        self._let_through(asyncio.get_running_loop())

    def taken(self) -> None:
        """The server took a request and answered it."""
        self.in_a_row = 0

    def pause(self, seconds: float) -> None:
        """Nothing is sent for so long."""
        now = asyncio.get_running_loop().time()
        self._pause_until = max(self._pause_until, now + min(seconds, LONGEST_PAUSE))

    def pause_again(self, seconds: float) -> bool:
        """Pause unless there is a pause already; whether this one is new."""
        if asyncio.get_running_loop().time() < self._pause_until:
            return False
        self.pause(seconds)
        return True

    def turned_away(self, sent_at: float, wait: float | None) -> float:
        """The server would not take a request, since there were too many.

        Args:
            sent_at: what `enter` returned for it.
            wait: seconds that the server requires; None where it states none.

        Returns:
            Seconds that this request is to wait before it enters again.
        """
        now = asyncio.get_running_loop().time()
        self._sent -= 1
        crowd = sent_at <= self._fell_at  # Sent before the pace fell: this is known already.
        self.in_a_row += not crowd
        if wait is None:
            wait = _UNSAID_PAUSE * 2 ** min(max(self.in_a_row, 1) - 1, 6)
        if not crowd:
            self._fall(now, wait)
        return wait

    def _fall(self, now: float, wait: float) -> None:
        pace = self._pace_now(now)
        allowed = max(1, self._sent) / max(now - self._since, 0.1)
        if self._fell_at < 0:
            # What a server lets through at once, it often counts for the time it then asks to wait.
            self._pace = max(1, self._sent) / max(now - self._since, wait, 0.1)
            self._doubling = _UNSURE_DOUBLING if self._sent < _UNSURE else _SECOND_DOUBLING
            pause = wait
        elif self.in_a_row == 1:
            self._pace, self._doubling, pause = _FALL * pace, None, _BREATH * wait
        else:
            lower = max(_STEEPEST_FALL * pace, math.sqrt(allowed * pace))
            self._pace, self._doubling, pause = min(_FALL * pace, lower), None, wait
        self.pause(pause)
        self._pace_at = self._due = now + pause
        self._fell_at = self._since = now
        self._sent = 0

    def _pace_now(self, now: float) -> float:
        passed = max(0.0, now - (now if self._pace_at is None else self._pace_at))
        if self._doubling is None:
            return self._pace * (1 + _GROWTH * passed)
        return self._pace * 2 ** min(passed / self._doubling, 20.0)

    def _let_through(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        while self._waiting and self._under_way < (1 if self.probing else self.most):
            start = max(self._pause_until, self._due)
            if start > now:
                self._wake_at(loop, start)
                return
            turn = self._waiting.popleft()
            if turn.done():
                continue
            if self._pace_at is None:
                self._pace_at = self._since = now
                self._due = now - (_FIRST_AT_ONCE - 1) / _FIRST_PACE
            pace = self._pace_now(now)
            if pace < _ENDLESS:
                early = _BURST_SECONDS if self._fell_at > 0 else _FIRST_AT_ONCE / _FIRST_PACE
                self._due = max(self._due, now - early) + 1 / pace
            self._under_way += 1
            self._sent += 1
            turn.set_result(None)

    def _wake_at(self, loop: asyncio.AbstractEventLoop, moment: float) -> None:
        if self._timer is not None and not self._timer.cancelled():
            if self._timer.when() <= moment and self._timer.when() > loop.time():
                return
            self._timer.cancel()
        self._timer = loop.call_at(moment, self._woken, loop)

    def _woken(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._let_through(loop)


# --- Keeping to a server's rate limits from this side, and reading those that it states -----------


_PACE_BURST_SECONDS = 1.0
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
        start = max(now - _PACE_BURST_SECONDS, self._due)
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
