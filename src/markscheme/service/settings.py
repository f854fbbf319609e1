"""Settings of the service, chosen by its operator."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from markscheme.errors import MarkschemeError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much may be asked.

    Attributes:
        body_bytes: of a request, uploads aside.
        upload_bytes: of a job's file.
        rows: answers in one request.
        seconds: until a request is answered, and between two pieces of an upload.
        row_seconds: of processor time that one answer may take.
        row_characters: of one answer with its question, references and context.
        open_requests: requests under way at once.
        queue_rows: answers that wait for the judge.
        jobs: jobs that wait or run.
        job_rows: answers in one job.
        job_days: until a job that ended is removed with its files.
    """

    body_bytes: int = 4_000_000
    upload_bytes: int = 1_000_000_000
    rows: int = 1_000
    seconds: float = 60.0
    row_seconds: float = 10.0
    row_characters: int = 200_000
    open_requests: int = 256
    queue_rows: int = 8_000
    jobs: int = 100
    job_rows: int = 10_000_000
    job_days: float = 30.0

    def __post_init__(self) -> None:
        """Raises MarkschemeError where a request within its own limit would never be taken."""
        if self.queue_rows < self.rows:
            raise MarkschemeError(
                f"a queue of {self.queue_rows} rows cannot take a request of {self.rows}; raise "
                "--queue-rows or lower --max-rows"
            )


@dataclass(frozen=True, kw_only=True)
class Batching:
    """How requests share a call of the judge.

    Attributes:
        rows: answers that are judged at once, if requests are not larger.
        seconds: how long an answer waits for company when the judge is idle.
    """

    rows: int = 256
    seconds: float = 0.002


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One service.

    Attributes:
        jobs: folder that jobs are kept in.
        hosts: names under which requests are answered; None for any.
        processes: whether judges work in processes of their own, which can be ended; else in
            threads of this one, where native code is waited for.
    """

    jobs: Path
    hosts: frozenset[str] | None = None
    limits: Limits = field(default_factory=Limits)
    batching: Batching = field(default_factory=Batching)
    processes: bool = True
