"""`markscheme serve`: judging over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markscheme.cli import model_options
from markscheme.cli.app import app, notes

_LIMITS = "Limits"


@app.command("serve")
def serve(
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help='A judge that clients may ask for, such as examiner or "token_f1(threshold=0.6)"; '
            "repeatable. Its parameters are these and no others. [default: every judge that needs "
            "no model, key or extra]",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; other than loopback needs keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8000,
    keys: Annotated[
        Path | None, typer.Option(help="File with the keys of clients, one a line.")
    ] = None,
    keys_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds keys.")
    ] = None,
    no_keys: Annotated[
        bool, typer.Option("--no-keys", help="Answer everybody who can reach the address.")
    ] = False,
    jobs: Annotated[Path, typer.Option(help="Folder that jobs are kept in.")] = Path(
        "runs/service-jobs"
    ),
    max_rows: Annotated[
        int, typer.Option(min=1, help="Answers in one request.", rich_help_panel=_LIMITS)
    ] = 1_000,
    max_body_mb: Annotated[
        float, typer.Option(min=0.01, help="Of one request, in MB.", rich_help_panel=_LIMITS)
    ] = 4.0,
    max_upload_mb: Annotated[
        float, typer.Option(min=0.01, help="Of a job's file, in MB.", rich_help_panel=_LIMITS)
    ] = 1_000.0,
    max_job_rows: Annotated[
        int, typer.Option(min=1, help="Answers in one job.", rich_help_panel=_LIMITS)
    ] = 10_000_000,
    keep_days: Annotated[
        float,
        typer.Option(
            min=0.01,
            max=100_000,
            help="Until a job that ended is removed with its files, in days.",
            rich_help_panel=_LIMITS,
        ),
    ] = 30.0,
    max_jobs: Annotated[
        int, typer.Option(min=1, help="Jobs that wait or run.", rich_help_panel=_LIMITS)
    ] = 100,
    request_seconds: Annotated[
        float, typer.Option(min=0.1, help="Until a request is given up.", rich_help_panel=_LIMITS)
    ] = 60.0,
    queue_rows: Annotated[
        int,
        typer.Option(
            min=1,
            help="Answers that may wait; more are told to come back.",
            rich_help_panel=_LIMITS,
        ),
    ] = 8_000,
    batch_rows: Annotated[
        int, typer.Option(min=1, help="Answers of several requests judged at once.")
    ] = 256,
    batch_ms: Annotated[
        float, typer.Option(min=0, help="How long an answer waits for company, in milliseconds.")
    ] = 2.0,
    linger: Annotated[
        float, typer.Option(min=0, help="Seconds between SIGTERM and closing the port.")
    ] = 1.0,
    grace: Annotated[
        float, typer.Option(min=1, help="Seconds in which accepted requests are finished.")
    ] = 60.0,
    access_log: Annotated[
        bool, typer.Option("--access-log", help="A line a request on standard error.")
    ] = False,
    model: model_options.Model = None,
    model_revision: model_options.Revision = "",
    base_url: model_options.BaseUrl = None,
    api_key_env: model_options.ApiKeyEnv = "OPENAI_API_KEY",
    ledger: model_options.LedgerPlace = None,
    concurrency: model_options.Concurrency = 16,
    requests_per_minute: model_options.RequestsPerMinute = None,
    tokens_per_minute: model_options.TokensPerMinute = None,
    timeout: model_options.Timeout = 50.0,
    retries: model_options.Retries = 2,
    prices: model_options.Prices = None,
    max_cost: model_options.MaxCost = None,
    max_calls: model_options.MaxCalls = None,
    replay: model_options.Replay = False,
) -> None:
    """Judge over HTTP: judgments, rewards for training, jobs for large files.

    /openapi.json describes every request. SIGTERM or Ctrl+C finishes what was accepted; jobs go on
    at the next start. --max-cost and --max-calls hold for all requests together, and for each job.
    """
    import logging

    try:
        from markscheme.service import (
            LOCAL,
            Batching,
            DrainingServer,
            Limits,
            Settings,
            make_app,
            read_keys,
        )
        from markscheme.web import is_loopback, take_port
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
    models = model_options.open_models(
        model=model,
        revision=model_revision,
        base_url=base_url,
        api_key_env=api_key_env,
        ledger=ledger,
        server={
            "concurrency": concurrency,
            "requests_per_minute": requests_per_minute,
            "tokens_per_minute": tokens_per_minute,
            "timeout": timeout,
            "retries": retries,
        },
        prices=prices,
        max_cost=max_cost,
        max_calls=max_calls,
        replay=replay,
    )
    settings = Settings(
        jobs=jobs,
        hosts=None if known or no_keys else LOCAL | {host.lower()},
        limits=Limits(
            body_bytes=round(max_body_mb * 1e6),
            upload_bytes=round(max_upload_mb * 1e6),
            rows=max_rows,
            seconds=request_seconds,
            queue_rows=queue_rows,
            jobs=max_jobs,
            job_rows=max_job_rows,
            job_days=keep_days,
        ),
        batching=Batching(rows=batch_rows, seconds=batch_ms / 1e3),
    )
    made = make_app(settings, allow=allow or (), keys=known, models=models)
    with take_port(host, port) as listening:
        made.state.service.jobs.open()  # Before anything is promised.
        if no_keys:
            notes.print(
                f"[bold yellow]warning:[/] everybody who can reach {host} can judge and send "
                "files: no key is asked for"
            )
        names = ", ".join(served.name for served in made.state.service.allowed.served)
        notes.print(f"judges: {names}", markup=False)
        shown = f"[{host}]" if ":" in host else host
        notes.print(
            f"serving on http://{shown}:{listening.getsockname()[1]}; Ctrl+C stops it",
            markup=False,
        )
        try:
            DrainingServer(made, linger=linger, grace=grace).run(sockets=[listening])
        finally:
            models.close()
