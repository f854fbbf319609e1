"""Which requests are in which batch at a provider: written before anything is sent."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markscheme.models.ledger.ledger import Ledger, pieces


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchJob:
    """A batch that was sent, or was about to be.

    Attributes:
        job: our name for it, which goes with it to the provider.
        service_id: the provider's; None where it is not known that the batch arrived.
        requests: how many it has.
        created_at: seconds since 1970, before it was sent.
    """

    job: str
    service_id: str | None
    requests: int
    created_at: float


class BatchJobs:
    """The batches of one model, in the run's ledger."""

    def __init__(self, ledger: Ledger, *, model: str, revision: str) -> None:
        """Take the ledger that keeps the replies as well."""
        self._ledger = ledger
        self._model = (model, revision)

    def of(self, keys: Sequence[str]) -> tuple[list[BatchJob], dict[str, tuple[str, str]]]:
        """The jobs that hold some of these requests; for each request its job and what was sent."""
        jobs: dict[str, BatchJob] = {}
        members: dict[str, tuple[str, str]] = {}
        for some in pieces(list(keys)):
            marks = ",".join("?" * len(some))
            sql = (
                "SELECT key, sent, job, service_id, requests, batch_jobs.created_at "  # noqa: S608
                f"FROM batch_members JOIN batch_jobs USING (job) WHERE key IN ({marks})"
            )
            for key, sent, job, service, requests, at in self._ledger.query(sql, some):
                jobs[job] = BatchJob(job=job, service_id=service, requests=requests, created_at=at)
                members[key] = (job, sent)
        return list(jobs.values()), members

    def begin(self, sent: Mapping[str, str]) -> BatchJob:
        """Note, durably, that a batch of these requests is about to be sent."""
        job, now = uuid.uuid4().hex, time.time()
        model, revision = self._model

        def work(cursor: object) -> None:
            cursor.execute(  # type: ignore[attr-defined]
                "INSERT INTO batch_jobs (job, service_id, model, revision, requests, created_at) "
                "VALUES (?, NULL, ?, ?, ?, ?)",
                (job, model, revision, len(sent), now),
            )
            cursor.executemany(  # type: ignore[attr-defined]
                "INSERT INTO batch_members (key, job, sent) VALUES (?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET job = excluded.job, sent = excluded.sent",
                [(key, job, how) for key, how in sorted(sent.items())],
            )

        self._ledger.change(work)
        return BatchJob(job=job, service_id=None, requests=len(sent), created_at=now)

    def arrived(self, job: str, service_id: str) -> None:
        """Note the provider's name for a batch."""
        self._ledger.change(
            lambda cursor: cursor.execute(
                "UPDATE batch_jobs SET service_id = ? WHERE job = ?", (service_id, job)
            )
        )

    def known(self) -> set[str]:
        """The provider's names of all batches of this ledger."""
        rows = self._ledger.query("SELECT service_id FROM batch_jobs WHERE service_id IS NOT NULL")
        return {row[0] for row in rows}

    def forget(self, keys: Iterable[str]) -> None:
        """Requests that no batch will answer any more: the next one may hold them again."""
        gone = [(key,) for key in sorted(keys)]
        if gone:
            self._ledger.change(
                lambda cursor: cursor.executemany("DELETE FROM batch_members WHERE key = ?", gone)
            )

    def forget_job(self, job: str) -> None:
        """A batch that never arrived."""
        self._ledger.change(
            lambda cursor: (
                cursor.execute("DELETE FROM batch_members WHERE job = ?", (job,)),
                cursor.execute("DELETE FROM batch_jobs WHERE job = ?", (job,)),
            )
        )
