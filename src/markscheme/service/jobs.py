"""Jobs: files that are judged in the background, each in a folder, one after the other.

A job's folder holds `job.json` (written last, so that a folder without it is an upload that broke
off), `input/` with the file, and `run/`, an ordinary run's folder. Whatever ends the service, a job
that was accepted resumes at the next start from its last saved piece.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import re
import secrets
import shutil
import sys
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, BinaryIO

import orjson

from markscheme.errors import RunError
from markscheme.models import ModelOptions
from markscheme.service.problems import Refusal
from markscheme.service.reading import COMPRESSED
from markscheme.service.settings import Limits
from markscheme.tables import whole_file

log = logging.getLogger("markscheme.service")

WORKER = "markscheme.service.job_worker"
_LONGEST_LINE = 2**24
_BETWEEN_CLEARINGS = 3600.0
_MEGABYTES = 4_000
"""Memory that the process of a job may reserve: it has two batches of rows at a time."""


@dataclass(kw_only=True)
class Job:
    """One job; `options` are how the file is read, judged and cleaned."""

    id: str
    owner: str
    file: str
    bytes: int
    judge: str
    created: str
    options: dict[str, Any] = field(default_factory=dict)
    state: str = "queued"
    finished: str | None = None
    rows_judged: int = 0
    rows_expected: int | None = None
    rows_skipped: int = 0
    error: str | None = None
    figures: list[dict[str, Any]] | None = None
    figures_left_out: int = 0


def now() -> str:
    """The time, as jobs show it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Jobs:
    """The jobs of one folder."""

    def __init__(self, folder: Path, *, limits: Limits, models: ModelOptions) -> None:
        self._folder = folder
        self._limits = limits
        self._models = models
        self._jobs: dict[str, Job] = {}
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self._running: tuple[str, asyncio.subprocess.Process] | None = None
        self._lock: IO[bytes] | None = None

    def open(self) -> None:
        """Take the folder, and queue what is unfinished in it; nothing more if it was taken before.

        Raises:
            RunError: it cannot be written, or another service has it.
        """
        if self._lock is not None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = (self._folder / ".lock").open("wb")
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(
                f"another service keeps its jobs in {self._folder}; choose another --jobs"
            ) from None
        except OSError as error:
            raise RunError(f"cannot write to {self._folder}: {error.strerror}") from None
        self._lock = lock
        found = []
        for folder in self._folder.iterdir():
            if (folder / "job.json").exists():
                try:
                    found.append(Job(**orjson.loads((folder / "job.json").read_bytes())))
                except (OSError, TypeError, orjson.JSONDecodeError) as error:
                    log.error("%s is not a job of this version, and is skipped: %s", folder, error)
            elif re.fullmatch(r"[0-9a-f]{32}", folder.name):
                shutil.rmtree(folder)
        for job in sorted(found, key=lambda one: one.created):
            self._jobs[job.id] = job
            if job.state in ("queued", "running"):
                self._queue.put_nowait(job.id)

    def close(self) -> None:
        """Give the folder back."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def count(self, *states: str, owner: str | None = None) -> int:
        """Jobs in one of the states, of one owner or of all."""
        jobs = [job for job in list(self._jobs.values()) if owner in (None, job.owner)]
        return sum(job.state in states for job in jobs)

    def find(self, job_id: str, owner: str) -> Job:
        """A job of this owner.

        Raises:
            Refusal: there is none.
        """
        job = self._jobs.get(job_id)
        if job is None or job.owner != owner:
            raise Refusal(404, "no job has this id")
        return job

    def judgments(self, job: Job) -> Path:
        """The file of a finished job's judgments.

        Raises:
            Refusal: the job is not done.
        """
        if job.state != "done":
            raise Refusal(409, f"the job is {job.state}; its judgments are there once it is done")
        return self._folder / job.id / "run" / "judgments.parquet"

    async def add(
        self, stream: BinaryIO, name: str, *, owner: str, judge: str, options: dict[str, Any]
    ) -> Job:
        """Keep a file and queue its judging.

        Args:
            stream: the file.
            name: what its sender calls it; the part of it that is safe names it here.
            owner: who may ask for the job.
            judge: the name of a judge that is allowed.
            options: how it is read and cleaned.

        Raises:
            Refusal: too many jobs wait, the file is empty or compressed, or the disk is full.
        """
        if self.count("queued", "running", owner=owner) >= self._limits.max_jobs:
            raise Refusal(429, "too many jobs wait; try again in 60 s", retry_after=60)
        job = Job(
            id=secrets.token_hex(16),
            owner=owner,
            file=_safe(name),
            bytes=0,
            judge=judge,
            created=now(),
            options=options,
        )
        try:
            job = replace(job, bytes=await asyncio.to_thread(self._keep, stream, job))
            await asyncio.to_thread(self._save, job)
        except OSError as error:
            await self._remove(job.id)
            log.error("a job could not be stored: %s", error)
            raise Refusal(507, "the file could not be stored") from None
        except BaseException:
            await self._remove(job.id)
            raise
        self._jobs[job.id] = job
        self._queue.put_nowait(job.id)
        return job

    def _keep(self, stream: BinaryIO, job: Job) -> int:
        head = stream.read(8)
        if head.startswith(COMPRESSED):
            raise Refusal(415, "send the file uncompressed (Parquet may compress inside)")
        if not head:
            raise Refusal(422, "the file is empty")
        target = self._folder / job.id / "input" / job.file
        target.parent.mkdir(parents=True)
        with target.open("wb") as out:
            out.write(head)
            shutil.copyfileobj(stream, out, 1 << 20)
            os.fsync(out.fileno())
            return out.tell()

    def _save(self, job: Job) -> None:
        with whole_file(self._folder / job.id / "job.json") as place:
            place.write_bytes(orjson.dumps(asdict(job), option=orjson.OPT_INDENT_2))

    async def remove(self, job: Job) -> None:
        """Stop a job if it runs, and remove its files."""
        self._jobs.pop(job.id, None)
        if self._running is not None and self._running[0] == job.id:
            process = self._running[1]
            _kill(process)
            await process.wait()
        await self._remove(job.id)

    async def _remove(self, job_id: str) -> None:
        # First without a name, so that what a crash leaves of it is no job.
        (self._folder / job_id / "job.json").unlink(missing_ok=True)
        await asyncio.to_thread(shutil.rmtree, self._folder / job_id, ignore_errors=True)

    async def forget(self) -> None:
        """Remove jobs past their retention time, now and every hour."""
        while True:
            oldest = datetime.now(UTC) - timedelta(days=self._limits.keep_days)
            for job in list(self._jobs.values()):
                if job.finished and datetime.fromisoformat(job.finished) < oldest:
                    try:
                        await self.remove(job)
                    except OSError as error:
                        log.error("job %s could not be removed: %s", job.id, error)
            await asyncio.sleep(_BETWEEN_CLEARINGS)

    async def work(self) -> None:
        """Do one job after the other, until cancelled."""
        while True:
            job = self._jobs.get(await self._queue.get())
            if job is None:
                continue
            try:
                await self._run(job)
            except Exception:  # Whatever one job meets, those after it are worked on.
                log.exception("job %s could not be worked on", job.id)
                with contextlib.suppress(OSError):
                    await self._end(
                        job, error="the service could not work on it; its log has the reason"
                    )

    async def _run(self, job: Job) -> None:
        job.state, job.rows_judged = "running", 0
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            WORKER,
            limit=_LONGEST_LINE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        self._running = (job.id, process)
        ended: dict[str, Any] = {}
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(orjson.dumps(self._order(job), default=str) + b"\n")
            async for line in process.stdout:
                said = orjson.loads(line)
                job.rows_judged = said.get("rows_judged", job.rows_judged)
                job.rows_expected = said.get("rows_expected", job.rows_expected)
                ended = said if "error" in said else ended
            code = await process.wait()
        finally:
            _kill(process)
            await process.wait()
            self._running = None
        if job.id not in self._jobs:
            return
        if not ended:
            log.error("job %s: its process ended with code %s", job.id, code)
            memory = f"a job may take {_MEGABYTES:,} MB of memory"
            ended = {"error": f"its process ended with code {code}; {memory}"}
        counted = ("error", "figures", "figures_left_out", "rows_skipped")
        await self._end(job, **{name: ended[name] for name in counted if name in ended})

    async def _end(self, job: Job, **found: Any) -> None:
        """Note how a job ended: in its folder first, so that no crash undoes what was seen."""
        state = "failed" if found["error"] else "done"
        ended = replace(job, state=state, finished=now(), **found)
        try:
            await asyncio.to_thread(self._save, ended)
        finally:
            if job.id in self._jobs:
                self._jobs[job.id] = ended

    def _order(self, job: Job) -> dict[str, Any]:
        """The worker's instructions. Over a pipe: a ledger's address may hold a password."""
        return {
            "folder": self._folder.absolute() / job.id,
            "file": job.file,
            "judge": job.judge,
            "most_rows": self._limits.max_job_rows,
            "megabytes": _MEGABYTES,
            "options": job.options,
            "models": asdict(self._models),
        }


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()


def _safe(name: str) -> str:
    """A file's name without anything that a path or a pattern could be made of."""
    bare = re.sub(r"[^A-Za-z0-9._-]+", "_", name.replace("\\", "/").rpartition("/")[2])
    return bare[-80:].lstrip(".-_") or "answers"
