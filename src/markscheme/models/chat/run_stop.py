"""Which failures end a run, and how everything that waits for a server then ends at once."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from markscheme.errors import ModelError, RunStoppedError

PATIENCE = 120.0
_LEAST_PATIENCE = 60.0
_PATIENCE_A_TRY = 20.0
"""Seconds without any answer after which a server is given up: at most; at least, since limits are
commonly per minute; and for each further try that the user allows."""

_FAILING = 10
"""Requests that fail one after another before it is the server that fails, and not they."""

_LEAST_ROUNDS = 3
"""Times that requests are turned away, each after the pause that was required, at least."""

_ALIKE = 20


class RunStop:
    """Distinguishes failures of a server from those of a row, and ends all requests for the former.

    A failure is the server's where no other request could survive it (any `ModelError`: the key,
    the credit, the address), where many requests fail one after another, where nothing is let
    through for `patience` seconds, and where the first requests all fail alike. Every request that
    is under way or waits is then cancelled, whatever it waits for, and raises the same error.
    A request that comes after all of them have ended tries anew: the fault may be repaired.

    Attributes:
        name: the model, for messages.
        tries: further tries that a server has which fails every request.
        patience: seconds without any answer after which the server is given up.
        on_wait: called with a few words while the server turns requests away.
        answered: whether the server has ever answered a request.
        useful: whether it has ever answered with a text.
    """

    def __init__(
        self, name: str, *, tries: int, on_wait: Callable[[str], None] = lambda _: None
    ) -> None:
        self.name = name
        self.tries = max(1, tries)
        self.patience = min(PATIENCE, max(_LEAST_PATIENCE, _PATIENCE_A_TRY * tries))
        self.on_wait = on_wait
        self.answered = self.useful = False
        self._alike: tuple[str, int] = "", 0
        self._failing: set[int] = set()
        self._outages = 0
        self._silent_since: float | None = None
        self._under_way: set[asyncio.Task[Any]] = set()
        self._error: ModelError | None = None

    @contextmanager
    def request(self) -> Iterator[None]:
        """One request, with all its attempts and waits; it ends when the run does.

        Raises:
            ModelError: of this request, or of another that it could not survive either.
        """
        task = asyncio.current_task()
        assert task is not None
        if self._error is not None:
            raise _again(self._error)
        self._under_way.add(task)
        try:
            yield
        except ModelError as error:
            self._end(error, task)
            raise
        except asyncio.CancelledError:
            # As in asyncio.timeout: it was this object, unless someone else has cancelled as well.
            if self._error is None or task.uncancel() > 0:
                raise
            raise _again(self._error) from None
        finally:
            self._under_way.discard(task)
            if not self._under_way:
                self._error = None

    def _end(self, error: ModelError, task: asyncio.Task[Any]) -> None:
        if self._error is None:
            self._error = error
            for other in self._under_way - {task}:
                other.cancel()

    # --- what happens to requests -------------------------------------------------------------

    def succeeded(self) -> None:
        """The server answered a request."""
        self.answered = True
        self._failing.clear()
        self._outages = 0
        self._silent_since = None

    def useful_reply(self) -> None:
        """A reply had a text."""
        self.useful = True
        self._alike = "", 0

    def failed(self, request: object) -> int | None:
        """An attempt failed for a reason that may pass.

        Returns:
            None where it may be this request's. Where the server fails every request, how many
            times all of them have waited for it.
        """
        self._silent()
        self._failing.add(id(request))
        return None if len(self._failing) < _FAILING else self._outages

    def waited_for(self, reason: str) -> None:
        """All requests wait for the server once more.

        Raises:
            RunStoppedError: they have done so often enough, or for too long.
        """
        self._outages += 1
        if self._outages > self.tries or (self._outages > 1 and self._silent() > self.patience):
            state = "stopped answering" if self.answered else "answers no request"
            raise self.stopped(
                f"the server {state}: {len(self._failing)} requests failed one after another, "
                f"the last: {reason}",
                "once it works again",
            )

    def turned_away(self, reason: str, *, rounds: int, wait: float, longest: float) -> None:
        """The server takes no more requests now.

        Args:
            reason: in the server's words.
            rounds: times that it has done so in a row, each after the pause that it required.
            wait: seconds that it requires now.
            longest: seconds that a run waits at most.

        Raises:
            RunStoppedError: it requires more, or has taken nothing for too long.
        """
        silent = self._silent()
        if wait > longest:
            raise self.stopped(
                f"the server takes no request for the next {wait:,.0f} s: {reason}", "after that"
            )
        if rounds >= _LEAST_ROUNDS and silent > self.patience:
            raise self.stopped(
                f"the server has taken no request for {silent:,.0f} s: {reason}",
                "once the limit allows it; --requests-per-minute keeps below a limit",
            )
        if rounds > 1:
            since = time.strftime("%H:%M:%S", time.localtime(time.time() - silent))
            status = reason.partition(":")[0]  # The rest is the server's text.
            self.on_wait(
                f"the server has taken no request since {since} ({status}): tried again in "
                f"{wait:,.0f} s, given up after {self.patience:,.0f} s and {_LEAST_ROUNDS} tries; "
                "--requests-per-minute keeps below a limit"
            )

    def failed_alike(self, reason: str) -> None:
        """A request failed as it always would.

        Raises:
            RunStoppedError: so did all the first requests, for the same reason.
        """
        last, times = self._alike
        alike = re.sub(r"\d+", "0", reason)
        self._alike = alike, times + 1 if alike == last else 1
        if self._alike[1] >= _ALIKE and not self.useful:
            raise RunStoppedError(
                f"{self.name}: the first {_ALIKE} requests all failed alike, and the rest were not "
                f"sent: {reason}"
            )

    def stopped(self, what: str, then: str) -> RunStoppedError:
        """The error that says what happened, what is saved, and what to do.

        Args:
            what: what happened, the server's words included.
            then: when the same command goes on.
        """
        return RunStoppedError(
            f"{self.name}: {what}. The rest was not sent; what was answered is saved, and the same "
            f"command continues {then}"
        )

    def _silent(self) -> float:
        """Seconds since the server failed for the first time since it last answered."""
        now = asyncio.get_running_loop().time()
        if self._silent_since is None:
            self._silent_since = now
        return now - self._silent_since


def _again(error: ModelError) -> ModelError:
    """The same error for another request: an exception that is raised twice mixes tracebacks."""
    return type(error)(str(error))
