"""`markscheme serve`: judging over HTTP."""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path
from typing import Annotated

from markscheme.cli.app import notes, print_warning
from markscheme.cli.models import opened
from markscheme.cli.options import Host, Port, command
from markscheme.errors import MarkschemeError, MissingExtraError, lacks_extras
from markscheme.flags import Fields, Option
from markscheme.models import ModelOptions
from markscheme.service import Limits


@command("serve", example="markscheme serve --port 8080")
def serve(
    limits: Annotated[Limits, Fields(without=("row_seconds", "row_characters", "open_requests"))],
    models: Annotated[
        ModelOptions, Fields(without=("dry_run", "batch"), defaults={"timeout": 50.0, "retries": 2})
    ],
    allow: Annotated[
        tuple[str, ...],
        Option(
            "A judge that clients may use, with exactly these parameters, such as examiner, "
            '"token_f1(threshold=0.6)" or ./mine.py:Judge; repeatable. [default: every judge that '
            "needs no model, key or extra]"
        ),
    ] = (),
    host: Host = "127.0.0.1",
    port: Port = 8000,
    keys: Annotated[Path | None, Option("File with the clients' keys, one per line.")] = None,
    keys_env: Annotated[
        str | None, Option("Environment variable that holds the clients' keys.")
    ] = None,
    no_keys: Annotated[
        bool, Option("Require no key: answer everybody who can reach the address.")
    ] = False,
    jobs: Annotated[
        Path | None, Option("Folder for jobs (deprecated). [default: runs/service-jobs]")
    ] = None,
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
    """Judge over HTTP: judgments, and rewards for training.

    /openapi.json describes every request. SIGTERM or Ctrl+C stops the server after it has finished
    the accepted requests. --max-cost and --max-calls limit all requests together. Jobs (/v1/jobs)
    are deprecated and will be removed in 0.3: judge a large file with 'markscheme judge FILE'.
    """
    import logging

    if lacks_extras("web"):
        raise MissingExtraError("the service", "web")
    from markscheme.contract import judge_in_file
    from markscheme.service import DrainingServer, Settings, make_app, read_keys
    from markscheme.web import LOCAL, is_loopback, take_port, url_of

    local = is_loopback(host)
    known = read_keys(keys, keys_env)
    if keys is not None and os.name == "posix" and keys.stat().st_mode & stat.S_IROTH:
        print_warning(
            f"everybody on this machine can read the keys in {keys}; 'chmod 600 "
            f"{shlex.quote(str(keys))}' makes them yours alone"
        )
    if no_keys and known:
        raise MarkschemeError("--no-keys and keys contradict each other; give one of them")
    if not known and not local and not no_keys:
        raise MarkschemeError(
            f"listening on {host} without keys would answer everybody; give --keys FILE or "
            "--keys-env NAME, or pass --no-keys to allow it"
        )
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("markscheme.service").setLevel(
        logging.INFO if access_log else logging.WARNING
    )
    _note_jobs(jobs, limits)
    settings = Settings(
        jobs=jobs or Path("runs/service-jobs"),
        hosts=None if known or no_keys else LOCAL | {host.lower()},
        limits=limits,
    )
    named = tuple(map(judge_in_file, allow))
    with opened(models) as asked:
        made = make_app(settings, allow=named, keys=known, models=asked)
        with take_port(host, port) as listening:
            made.state.service.jobs.open()  # Before anything is promised.
            if no_keys:
                print_warning(
                    f"everybody who can reach {host} can judge and send files: no key is required"
                )
            names = ", ".join(served.name for served in made.state.service.allowed.served)
            notes.print(f"judges: {names}")
            notes.print(f"serving on {url_of(host, listening.getsockname()[1])}; Ctrl+C stops it")
            DrainingServer(made, linger=linger, grace=grace).run(sockets=[listening])


_OF_JOBS = ("max_jobs", "max_job_rows", "max_upload_mb", "keep_days")


def _note_jobs(folder: Path | None, limits: Limits) -> None:
    """Warn where options are given that go with the jobs."""
    usual = Limits()
    changed = [name for name in _OF_JOBS if getattr(limits, name) != getattr(usual, name)]
    named = [f"--{name.replace('_', '-')}" for name in (folder and "jobs", *changed) if name]
    if named:
        print_warning(
            f"{', '.join(named)}: jobs (/v1/jobs) are deprecated and will be removed in 0.3; judge "
            "a large file with 'markscheme judge FILE'"
        )
