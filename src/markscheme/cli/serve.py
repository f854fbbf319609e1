"""`markscheme serve`: judging over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from markscheme.cli.app import notes
from markscheme.cli.models import opened
from markscheme.cli.options import Host, Port, command
from markscheme.flags import Fields, Option
from markscheme.models import ModelOptions

_LIMITS = "Limits"


@dataclass(frozen=True, kw_only=True)
class ServiceLimits:
    """What one client, one job and the queue may have."""

    max_rows: Annotated[
        int, Option("Answers in one request.", minimum=1, panel=_LIMITS, rare=True)
    ] = 1_000
    max_body_mb: Annotated[
        float, Option("Size of one request, in MB.", minimum=0.01, panel=_LIMITS, rare=True)
    ] = 4.0
    max_upload_mb: Annotated[
        float, Option("Size of a job's file, in MB.", minimum=0.01, panel=_LIMITS, rare=True)
    ] = 1_000.0
    max_job_rows: Annotated[
        int, Option("Answers in one job.", minimum=1, panel=_LIMITS, rare=True)
    ] = 10_000_000
    keep_days: Annotated[
        float,
        Option(
            "Days until a finished job is removed with its files.",
            minimum=0.01,
            maximum=100_000,
            panel=_LIMITS,
            rare=True,
        ),
    ] = 30.0
    max_jobs: Annotated[
        int, Option("Jobs that wait or run, at most.", minimum=1, panel=_LIMITS, rare=True)
    ] = 100
    request_seconds: Annotated[
        float,
        Option("Seconds until a request is abandoned.", minimum=0.1, panel=_LIMITS, rare=True),
    ] = 60.0
    queue_rows: Annotated[
        int,
        Option(
            "Answers that may wait; more are refused with 503.", minimum=1, panel=_LIMITS, rare=True
        ),
    ] = 8_000


@command("serve", example="markscheme serve --port 8080")
def serve(
    limits: ServiceLimits,
    models: Annotated[
        ModelOptions, Fields(without=("dry_run", "batch"), defaults={"timeout": 50.0, "retries": 2})
    ],
    allow: Annotated[
        tuple[str, ...],
        Option(
            'A judge that clients may ask for, such as examiner or "token_f1(threshold=0.6)"; '
            "repeatable. Its parameters are these and no others. [default: every judge that needs "
            "no model, key or extra]"
        ),
    ] = (),
    host: Host = "127.0.0.1",
    port: Port = 8000,
    keys: Annotated[Path | None, Option("File with the clients' keys, one per line.")] = None,
    keys_env: Annotated[str | None, Option("Environment variable that holds keys.")] = None,
    no_keys: Annotated[bool, Option("Answer everybody who can reach the address.")] = False,
    jobs: Annotated[Path, Option("Folder for jobs.")] = Path("runs/service-jobs"),
    batch_rows: Annotated[
        int,
        Option("Answers of several requests judged in one batch, at most.", minimum=1, rare=True),
    ] = 256,
    batch_ms: Annotated[
        float,
        Option(
            "How long an answer waits for others to form a batch, in milliseconds.",
            minimum=0,
            rare=True,
        ),
    ] = 2.0,
    linger: Annotated[
        float, Option("Seconds between SIGTERM and closing the port.", minimum=0, rare=True)
    ] = 1.0,
    grace: Annotated[
        float, Option("Seconds in which accepted requests are finished.", minimum=1, rare=True)
    ] = 60.0,
    access_log: Annotated[
        bool, Option("Log one line per request on standard error.", rare=True)
    ] = False,
) -> None:
    """Judge over HTTP: judgments, rewards for training, jobs for large files.

    /openapi.json describes every request. SIGTERM or Ctrl+C finishes what was accepted; jobs resume
    at the next start. --max-cost and --max-calls hold for all requests together, and for each job.
    """
    import logging

    try:
        from markscheme.service import (
            Batching,
            DrainingServer,
            Limits,
            Settings,
            make_app,
            read_keys,
        )
        from markscheme.web import LOCAL, is_loopback, take_port, url_of
    except ImportError:
        from markscheme.errors import MissingExtraError

        raise MissingExtraError("the service", "web") from None
    from markscheme.errors import MarkschemeError

    local = is_loopback(host)
    known = read_keys(keys, keys_env)
    if no_keys and known:
        raise MarkschemeError("--no-keys and keys contradict each other; give one of them")
    if not known and not local and not no_keys:
        raise MarkschemeError(
            f"listening on {host} without keys would answer everybody; give --keys FILE or "
            "--keys-env NAME, or say --no-keys if that is wanted"
        )
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("markscheme.service").setLevel(
        logging.INFO if access_log else logging.WARNING
    )
    settings = Settings(
        jobs=jobs,
        hosts=None if known or no_keys else LOCAL | {host.lower()},
        limits=Limits(
            body_bytes=round(limits.max_body_mb * 1e6),
            upload_bytes=round(limits.max_upload_mb * 1e6),
            rows=limits.max_rows,
            seconds=limits.request_seconds,
            queue_rows=limits.queue_rows,
            jobs=limits.max_jobs,
            job_rows=limits.max_job_rows,
            job_days=limits.keep_days,
        ),
        batching=Batching(rows=batch_rows, seconds=batch_ms / 1e3),
    )
    with opened(models) as asked:
        made = make_app(settings, allow=allow, keys=known, models=asked)
        with take_port(host, port) as listening:
            made.state.service.jobs.open()  # Before anything is promised.
            if no_keys:
                notes.print(
                    f"[bold yellow]warning:[/] everybody who can reach {host} can judge and send "
                    "files: no key is required"
                )
            names = ", ".join(served.name for served in made.state.service.allowed.served)
            notes.print(f"judges: {names}", markup=False)
            notes.print(f"serving on {url_of(host, listening)}; Ctrl+C stops it", markup=False)
            DrainingServer(made, linger=linger, grace=grace).run(sockets=[listening])
