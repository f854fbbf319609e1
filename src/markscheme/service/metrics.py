"""What Prometheus reads. Labels have few values, whatever clients send."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Callable, Iterable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

_METHODS = {"GET", "HEAD", "POST", "DELETE"}
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """The figures of one service."""

    def __init__(self) -> None:
        self._registry = to = CollectorRegistry()
        ProcessCollector(registry=to)
        self._requests = Counter(
            "markscheme_requests_total",
            "Requests answered.",
            ["method", "route", "status"],
            registry=to,
        )
        self._seconds = Histogram(
            "markscheme_request_seconds",
            "From a request's headers to its response's last byte.",
            ["route"],
            buckets=_SECONDS,
            registry=to,
        )
        self._rows = Counter(
            "markscheme_rows_total",
            "Answers by what became of them; all but 'judged' were not judged.",
            ["judge", "status"],
            registry=to,
        )
        self._batches = Histogram(
            "markscheme_batch_rows", "Answers judged in one call.", buckets=_ROWS, registry=to
        )
        self._judging = Histogram(
            "markscheme_judging_seconds", "Of one call.", ["judge"], buckets=_SECONDS, registry=to
        )
        self._queue = Gauge(
            "markscheme_queue_rows", "Answers that wait for a judge or are with one.", registry=to
        )
        self._jobs = Gauge("markscheme_jobs", "Jobs by state.", ["state"], registry=to)

    def watch(self, *, queue: Callable[[], int], jobs: Callable[[str], int]) -> None:
        """Gauges that are read when the metrics are requested."""
        self._queue.set_function(queue)
        for state in ("queued", "running", "done", "failed"):
            self._jobs.labels(state).set_function(lambda state=state: jobs(state))  # type: ignore[misc]

    def request(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """A request was answered."""
        known = method if method in _METHODS else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def batch(self, *, judge: str, statuses: Iterable[str], seconds: float) -> None:
        """A judge was called."""
        found = Counts(statuses)
        for status, count in found.items():
            self._rows.labels(judge, status).inc(count)
        self._batches.observe(found.total())
        self._judging.labels(judge).observe(seconds)

    def text(self) -> bytes:
        """Everything, in Prometheus' text format."""
        return generate_latest(self._registry)
