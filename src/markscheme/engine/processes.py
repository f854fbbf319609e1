"""Judging on several cores: processes that each judge a part of every chunk.

Python runs on one core a process, and reading words is Python. A judge's outcome of one answer
depends on no other answer, so a chunk may be cut anywhere and the judgments are the same.
"""

from __future__ import annotations

import copy
import ctypes
import math
import mmap
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from markscheme.contract import Judge, ModelSource, asks_chat, judge_name, origin_of, parts
from markscheme.engine.execute import Ask, apply
from markscheme.errors import JudgeError, MarkschemeError, RunError
from markscheme.models.local import available_cores

if TYPE_CHECKING:
    from markscheme.models import ModelOptions

_LEAST = 128
"""Items of a table for which processes are started; below, starting costs more than judging here.
Those that run judge every table, so that this one need not load the weights too."""


_MMAP_THRESHOLD = -3
"""The number of that option in glibc's malloc.h."""

_PAYS_FROM = 10.0
"""Seconds of judging in one process after which starting others is worth what it costs."""
_IDLE = 0.7
"""Share of the cores in use, this program's and others', from which no more processes help."""
_MOST = 8
"""Processes that are started unasked: each loads the weights of the judges."""


@contextmanager
def process_pool(count: int | None, models: ModelSource | None = None) -> Iterator[Ask]:
    """What to ask judges with: `apply`, or the same over `count` processes.

    Judges that may ask a language model stay in this process, which counts what they spend; they
    wait for replies and not for a core. Those are all that do not declare `Needs(chat=False)`. So
    do judges that cannot be sent, such as one that holds a connection once it has judged.

    Args:
        count: how many processes; 1 for none but this one. None begins with this one and starts
            one a core once judging has taken ten seconds and left cores idle.
        models: the run's models. Such as hold objects that were given to them stay here too.

    Raises:
        RunError: within, where a process dies.
    """
    from markscheme.models import Models

    made_of_options = isinstance(models, Models) and models.from_options
    if count == 1 or not (models is None or made_of_options):
        yield apply
        return
    options = models.options if isinstance(models, Models) else None
    with ExitStack() as stack:
        pool = None if count is None else stack.enter_context(_spawned(count, options))
        watch = _Watch()
        started = False

        def ask(judge: Judge, items: pl.DataFrame, models: ModelSource | None) -> pl.DataFrame:
            nonlocal pool, started
            if asks_chat(judge) or not (started or items.height >= _LEAST):
                return apply(judge, items, models)
            if pool is None and not watch.pays():
                with watch.watching():
                    return apply(judge, items, models)
            if not can_be_sent(judge):
                return apply(judge, items, models)
            width = count or min(available_cores(), _MOST)
            pool = pool or stack.enter_context(_spawned(width, options))
            started = True
            size = max(1, -(-items.height // width))
            try:
                sources = _sources(judge)
                coming = [
                    pool.submit(_judged, judge, part, sources) for part in items.iter_slices(size)
                ]
                return pl.concat([one.result() for one in coming])
            except BrokenProcessPool:
                raise RunError(
                    f"one of {width} worker processes died while {judge_name(judge)} judged: its "
                    "memory ended, the judge ended it, or a script without `if __name__ == "
                    "'__main__':` started it; what was finished in a run's folder is saved, and "
                    "the same command with that --out resumes from there, perhaps with fewer "
                    "workers"
                ) from None

        yield ask


def can_be_sent(judge: Judge) -> bool:
    """Whether another process can be given a judge, with all that it holds by now."""
    try:
        pickle.dumps(judge)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
    return True


@contextmanager
def _spawned(count: int, options: ModelOptions | None) -> Iterator[ProcessPoolExecutor]:
    # Not forked: a fork would copy threads' locks as they happen to be.
    pool = ProcessPoolExecutor(
        count,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin,
        initargs=(options,),
    )
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@dataclass
class _Watch:
    """How long one process has judged, and how many cores it used meanwhile."""

    seconds: float = field(default=0.0, init=False)
    used: float = field(default=0.0, init=False)

    @contextmanager
    def watching(self) -> Iterator[None]:
        began, used = time.perf_counter(), time.process_time()
        yield
        self.seconds += time.perf_counter() - began
        self.used += time.process_time() - used

    def pays(self) -> bool:
        """Whether more processes would shorten what is left of a run this long."""
        if self.seconds < _PAYS_FROM:
            return False
        cores = available_cores()
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        return cores > 1 and max(load, self.used / max(self.seconds, 1e-9)) < _IDLE * cores


_models: ModelSource | None = None


def _begin(options: ModelOptions | None) -> None:
    """Make a worker process ready."""
    global _models  # noqa: PLW0603 - one process, one run's models
    from markscheme.models import Models

    _models = Models(options=options)
    # Ctrl+C reaches every process of a terminal; the run's own decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def end_with_parent() -> None:
    """Let this process end when the one that started it does: killed, it leaves none behind."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def limit_memory(megabytes: int) -> None:
    """Let this process reserve so much more address space than it has (MB of 2**20 bytes).

    Libraries reserve more than they use, so that what they have does not count. Beyond the limit
    Python raises MemoryError, and native code may end the process. With glibc, buffers of 128 kB
    or more go back to the system when they are freed: else a process that once judged long
    answers keeps hundreds of megabytes.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, 2**17)
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        pages = 0
    _limit("RLIMIT_AS", pages * mmap.PAGESIZE + megabytes * 2**20)


def limit_processor_time(seconds: float) -> None:
    """Let the system end this process once it has computed for so much longer."""
    _limit("RLIMIT_CPU", math.ceil(time.process_time() + seconds))


def _limit(name: str, wanted: int) -> None:
    import resource  # Windows has none, and judges there without limits.

    kind = getattr(resource, name)
    _, most = resource.getrlimit(kind)
    soft = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(kind, (soft, most))


def _sources(judge: Judge) -> tuple[str | None, ...]:
    """Hashes of the code of a judge and those inside it, where it is not markscheme's."""
    return tuple(origin_of(type(one)).get("source") for one in parts(judge))


def _judged(judge: Judge, part: pl.DataFrame, sources: tuple[str | None, ...]) -> pl.DataFrame:
    if _sources(judge) != sources:
        raise JudgeError(
            f"the code of {judge_name(judge)} was changed while it judged: give the same command "
            "again with another --out"
        )
    try:
        return apply(judge, part, _models)
    except MarkschemeError as error:
        # Some errors of the tree cannot be sent; their message can.
        raise JudgeError(str(error)) from None
    except Exception as error:
        try:
            copy.copy(error)  # As the other process would make it again.
            pickle.dumps(error)
        except Exception:  # Some, made again there, would end all processes; their message can go.
            said = "; ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
            raise JudgeError(said) from None
        raise
