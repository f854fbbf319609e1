"""A process that judges for the service: it can be ended, whatever it is doing.

A thread that runs native code, or Python that never looks up, cannot be stopped; a process can.
One worker belongs to one lane, is started when first needed, and lives on between calls, so that
weights are read once.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

from markscheme.engine import PATIENCE
from markscheme.errors import JudgeError, MarkschemeError

T = TypeVar("T")

_LOOK = 0.05
"""Seconds between two looks at whether anybody still waits."""

_START = 120.0
"""Seconds that a process may take to start, on a machine with much else to do."""

_FIRST = 30.0
"""Seconds that the first call of a process has beyond others, in which it reads weights. So long it
is not ended for want of anybody who waits: the next request would have to begin again."""


class AbandonedError(Exception):
    """Nobody waits for the work any more; it was ended."""


class Worker:
    """One process, started when first needed, and again after it was ended."""

    def __init__(self, *, name: str, idle: float | None = None, nice: int = 0) -> None:
        """Nothing is started yet.

        Args:
            name: of the process.
            idle: seconds without work after which the process ends and its memory is given back;
                None keeps it.
            nice: niceness of the process (Unix), for when cores are short.
        """
        self._name = name
        self._idle = idle
        self._nice = nice
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._warm = False
        self.starts: int = 0

    @property
    def pid(self) -> int | None:
        """Of the process, or None where none runs."""
        process = self._process
        return None if process is None else process.pid

    def call(
        self,
        function: Callable[..., T],
        *given: Any,
        seconds: float,
        abandoned: Callable[[], bool] = lambda: False,
    ) -> T:
        """What a function of a module returns in the process.

        Args:
            function: found by its module and name.
            given: its arguments.
            seconds: of processor time that it may take, the start of the process and its first call
                not counted. The system ends a process that takes more, in native code as well.
            abandoned: whether nobody waits any more; looked at while the process works.

        Raises:
            TimeoutError: it took longer; the process was ended.
            AbandonedError: nobody waits any more; the process was ended.
            JudgeError: the process died.
            What the function raises; errors that cannot be sent as a JudgeError of their text.
        """
        with self._lock:
            self._stop_timer()
            try:
                pipe = self._started()
                more = 0.0 if self._warm else _FIRST
                pipe.send((function, given, more + seconds))
                began = time.monotonic()
                while not pipe.poll(_LOOK):
                    took = time.monotonic() - began
                    if took > more and abandoned():
                        raise AbandonedError(f"{self._name}: nobody waits for it any more")
                    if took > PATIENCE * (more + seconds):
                        raise TimeoutError(f"{self._name}: not done within {seconds:g} s")
                done, value = pipe.recv()
                self._warm = True
            except (EOFError, OSError) as error:
                too_long = self._ended_by_its_limit()
                self.end()
                if isinstance(error, TimeoutError):
                    raise
                if too_long:
                    raise TimeoutError(f"{self._name}: not done within {seconds:g} s") from None
                raise JudgeError(
                    f"the process of {self._name} died while judging, perhaps for want of memory"
                ) from None
            except BaseException:
                self.end()
                raise
            self._start_timer()
        if not done:
            raise value
        return value  # type: ignore[no-any-return]

    def end(self) -> None:
        """End the process now; the next call starts another."""
        with self._lock:
            self._stop_timer()
            if self._pipe is not None:
                self._pipe.close()
            if self._process is not None:
                self._process.kill()
                self._process.join()
                self._process.close()
            self._pipe = self._process = None
            self._warm = False

    def _ended_by_its_limit(self) -> bool:
        """Whether the system ended the process for want of processor time."""
        if self._process is None:
            return False
        self._process.join(1)
        return self._process.exitcode == -signal.SIGXCPU

    def _started(self) -> Connection:
        if self._pipe is None:
            here, there = multiprocessing.Pipe()
            # Not forked: a fork would copy threads' locks as they happen to be.
            context = multiprocessing.get_context("spawn")
            self._process = context.Process(
                target=_serve, args=(there, self._nice), name=self._name, daemon=True
            )
            self._pipe = here
            self.starts += 1
            self._process.start()
            there.close()  # So that the end of the process is the end of the pipe.
            if not here.poll(_START):
                raise TimeoutError(f"{self._name} did not start within {_START:g} s")
            here.recv()
        return self._pipe

    def _start_timer(self) -> None:
        if self._idle is not None:
            self._timer = threading.Timer(self._idle, self.end)
            self._timer.daemon = True
            self._timer.start()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _serve(pipe: Connection, nice: int) -> None:
    """What the process does: a call after the other, until the pipe ends."""
    # Ctrl+C reaches every process of a terminal; the service decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(nice)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe.send("ready")
    while True:
        try:
            function, given, seconds = pipe.recv()
        except (EOFError, OSError):  # The service has ended, in whatever way.
            return
        _limit_processor_time(seconds)
        try:
            sent = True, function(*given)
        except MarkschemeError as error:
            sent = False, JudgeError(str(error))  # Some errors of the tree cannot be sent.
        except Exception as error:
            sent = False, RuntimeError(f"{type(error).__name__}: {error}")
        pipe.send(sent)


def _limit_processor_time(seconds: float) -> None:
    """Let the system end this process once it has computed for so much longer."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    wanted = math.ceil(time.process_time() + seconds)
    soft = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, most))
