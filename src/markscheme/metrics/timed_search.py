"""Python's `re.search` with a time limit, in another process that can be killed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType

from markscheme.errors import MarkschemeError

_WORKER = Path(__file__).with_name("re_worker.py")
_START_SECONDS = 60.0


class TimedSearch:
    """Searches one text at a time; the process starts at the first one and runs until `close`.

    Use it in a `with` block. `limit` is in seconds for each search.
    """

    def __init__(self, *, limit: float) -> None:
        self.limit = limit
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> TimedSearch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def search(self, pattern: str, flags: int, text: str) -> bool | None:
        """Whether `pattern` is found in `text`; None if that could not be decided in time.

        Raises:
            MarkschemeError: the process does not start.
        """
        process = self._process or self._start()
        request = json.dumps([pattern, flags, text]).encode() + b"\n"
        reply = self._ask(process, request, self.limit)
        if reply not in (b"0\n", b"1\n"):
            self.close()
            return None
        return reply == b"1\n"

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._process = process
        if self._ask(process, b"", _START_SECONDS) != b"ready\n":
            self.close()
            raise MarkschemeError(
                f"the process that searches slow patterns did not start ({sys.executable}); "
                "check that this Python can start another, or use patterns that RE2 accepts"
            )
        return process

    @staticmethod
    def _ask(process: subprocess.Popen[bytes], request: bytes, limit: float) -> bytes:
        """One line of reply, or nothing if the process was killed because time ran out."""
        if process.stdin is None or process.stdout is None:
            return b""
        watchdog = threading.Timer(limit, process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            process.stdin.write(request)
            process.stdin.flush()
            reply = process.stdout.readline()
        except OSError:
            reply = b""
        finally:
            watchdog.cancel()
            watchdog.join()
        return reply if process.poll() is None else b""
