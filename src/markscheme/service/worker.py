"""A process that judges for the service: it can be ended, whatever it is doing.

A thread that runs native code, or Python that never looks up, cannot be stopped; a process can.
One worker belongs to one lane, is started when first needed, and lives on between calls, so that
weights are read once.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

from markscheme.engine import PATIENCE, end_with_parent, limit_memory, limit_processor_time
from markscheme.errors import JudgeError, MarkschemeError

T = TypeVar("T")

_LOOK = 0.05
"""Seconds between two looks at whether anybody still waits."""

_START = 120.0
"""Seconds that a process may take to start, on a machine with much else to do."""

_START_COSTS = 3.0
"""Seconds until a new process is where the old one was. Work that nobody waits for goes on as long,
since the next request would wait for the new one."""

_FIRST = 10.0
"""Seconds that the first call of a process has beyond others, in which it reads weights. So long it
is not ended for want of anybody who waits: the next request would have to begin again."""

_MEGABYTES = 2_000
"""Memory that a process may reserve beyond what it has at its start."""


class AbandonedError(Exception):
    """Nobody waits for the work any more; it was ended."""


class DiedError(JudgeError, TimeoutError):
    """The process died, as one does that takes more memory than it may: what time limits do."""


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
        self._warm = False
        self.starts: int = 0

    @property
    def pid(self) -> int | None:
        """Of the process, or None where none runs."""
        process = self._process
        return process.pid if process is not None and process.is_alive() else None

    def call(
        self,
        function: Callable[..., T],
        *given: Any,
        seconds: float,
        patience: float | None = None,
        abandoned: Callable[[], bool] = lambda: False,
    ) -> T:
        """What a function of a module returns in the process.

        Args:
            function: found by its module and name.
            given: its arguments.
            seconds: of processor time that it may take, the start of the process and its first call
                not counted. The system ends a process that takes more, in native code as well.
            patience: seconds of the clock that it may take, counted in the same way; None is
                `PATIENCE` times as many.
            abandoned: whether nobody waits any more; looked at while the process works.

        Raises:
            TimeoutError: it took longer; the process was ended.
            AbandonedError: nobody waits any more; the process was ended.
            DiedError: the process died.
            What the function raises; errors that cannot be sent as a JudgeError of their text.
        """
        try:
            pipe = self._started()
            more = 0.0 if self._warm else _FIRST
            pipe.send((function, given, more + seconds))
            began = time.monotonic()
            while not pipe.poll(_LOOK):
                took = time.monotonic() - began
                if took > max(more, _START_COSTS) and abandoned():
                    raise AbandonedError(f"{self._name}: no client waits for it any more")
                if took > more + (patience or PATIENCE * (more + seconds)):
                    raise TimeoutError(f"{self._name}: not done within {seconds:g} s")
            done, value = pipe.recv()
            self._warm = True
        except (EOFError, OSError) as error:
            code = self._exit_code()
            self.end()
            if isinstance(error, TimeoutError):
                raise
            if code == 0:  # It ended for want of work just now.
                return self.call(
                    function, *given, seconds=seconds, patience=patience, abandoned=abandoned
                )
            if code == -signal.SIGXCPU:
                raise TimeoutError(f"{self._name}: not done within {seconds:g} s") from None
            raise DiedError(
                f"its process died while judging; it may take {_MEGABYTES:,} MB of memory"
            ) from None
        except BaseException:
            self.end()
            raise
        if not done:
            raise value
        return value  # type: ignore[no-any-return]

    def end(self) -> None:
        """End the process now; the next call starts another."""
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        self._pipe = self._process = None
        self._warm = False

    def _exit_code(self) -> int | None:
        if self._process is None:
            return None
        self._process.join(1)
        return self._process.exitcode

    def _started(self) -> Connection:
        if self.pid is None:
            self.end()
        if self._pipe is None:
            here, there = multiprocessing.Pipe()
            # Not forked: a fork would copy threads' locks as they happen to be.
            context = multiprocessing.get_context("spawn")
            self._process = context.Process(
                target=_serve, args=(there, self._nice, self._idle), name=self._name, daemon=True
            )
            self._pipe = here
            self.starts += 1
            self._process.start()
            there.close()  # So that the end of the process is the end of the pipe.
            if not here.poll(_START):
                raise TimeoutError(f"{self._name} did not start within {_START:g} s")
            here.recv()
        return self._pipe


def _serve(pipe: Connection, nice: int, idle: float | None) -> None:
    """What the process does: a call after the other, until the pipe ends, or nothing comes."""
    # Ctrl+C reaches every process of a terminal; the service decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(nice)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit_memory(_MEGABYTES)
    end_with_parent()
    pipe.send("ready")
    while pipe.poll(idle):
        try:
            function, given, seconds = pipe.recv()
        except (EOFError, OSError):  # The service has ended, in whatever way.
            return
        limit_processor_time(seconds)
        try:
            sent = True, function(*given)
        except MemoryError:
            os._exit(1)
        except MarkschemeError as error:
            sent = False, JudgeError(str(error))  # Some errors of the tree cannot be sent.
        except Exception as error:
            sent = False, RuntimeError(f"{type(error).__name__}: {error}")
        pipe.send(sent)
