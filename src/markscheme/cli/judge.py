"""`markscheme judge`: judge a file of answers."""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markscheme.cli import model_options
from markscheme.cli.app import app, console, notes
from markscheme.errors import MarkschemeError

if TYPE_CHECKING:
    from markscheme.contract import Judge
    from markscheme.engine import RunReport
    from markscheme.models import Models

_LONG = 30.0
"""Seconds of a run, from which its length is worth a hint."""

_IDLE = 0.7
"""Share of the cores, below which many were idle."""


class Engine(StrEnum):
    """What runs the judges."""

    LOCAL = "local"
    RAY = "ray"


@app.command("judge")
def judge(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Answers: JSONL, JSON, CSV, TSV or Parquet, compressed or not; "
            "- is standard input.",
        ),
    ],
    judges: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            "-j",
            help='A judge, such as exact_match or "token_f1(threshold=0.6)"; several may be given. '
            "'markscheme judges' lists all. [default: examiner]",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the results. An interrupted run goes on there. "
            "[default: runs/ and a name made from file and judges]",
        ),
    ] = None,
    columns: Annotated[
        str, typer.Option(help="Columns with unusual names: question=q,answer=pred.")
    ] = "",
    format: Annotated[
        str | None, typer.Option(help="jsonl, json, csv, tsv or parquet. [default: found out]")
    ] = None,
    reference_separator: Annotated[
        str,
        typer.Option(
            help="What separates references in one text; auto knows ' || ' and ' | '; "
            "none never splits; / for EVOUNA."
        ),
    ] = "auto",
    on_bad_row: Annotated[
        str, typer.Option(help="error: stop and name bad rows. skip: leave them out, counted.")
    ] = "error",
    max_bytes: Annotated[
        int, typer.Option(help="Longest text of one field, in bytes.")
    ] = 4_000_000,
    clean: Annotated[
        str | None,
        typer.Option(help="chat: remove citation marks, source lists, follow-up questions first."),
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Judge a finished run anew, to fill in what failed or was skipped; replies in "
            "the ledger cost nothing.",
        ),
    ] = False,
    fail_under: Annotated[
        float | None,
        typer.Option(
            help="Exit with 1 where a system's accuracy is below this (0.8, say): a gate for CI."
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="With --fail-under: be so sure (0.95, say) that the accuracy is not below it."
        ),
    ] = None,
    engine: Annotated[
        Engine,
        typer.Option(
            help="local: this machine. ray: workers of a Ray cluster, over Parquet on any file "
            "system (s3://...)."
        ),
    ] = Engine.LOCAL,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Processes that judge side by side; for many answers, where the judge is not "
            "lexical. [default: 1; with --engine ray, all cores]",
        ),
    ] = None,
    ray_address: Annotated[
        str | None,
        typer.Option(help="Cluster to join: auto, or ray://host:port. [default: one started here]"),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    model: model_options.Model = None,
    model_revision: model_options.Revision = "",
    base_url: model_options.BaseUrl = None,
    api_key_env: model_options.ApiKeyEnv = "OPENAI_API_KEY",
    ledger: model_options.LedgerPlace = None,
    concurrency: model_options.Concurrency = 16,
    requests_per_minute: model_options.RequestsPerMinute = None,
    tokens_per_minute: model_options.TokensPerMinute = None,
    timeout: model_options.Timeout = 120.0,
    retries: model_options.Retries = 6,
    prices: model_options.Prices = None,
    dry_run: model_options.DryRun = False,
    max_cost: model_options.MaxCost = None,
    max_calls: model_options.MaxCalls = None,
    replay: model_options.Replay = False,
) -> None:
    """Judge answers, print accuracy per system, and write the judgments.

    Results: `judgments.parquet`, `summary.json`, `summary.md` in the --out folder.
    """
    from markscheme.api import DEFAULT_JUDGE, run
    from markscheme.cli.progress import progress
    from markscheme.cli.reading import count_rows, read_options
    from markscheme.contract import asks_chat, parse_judge
    from markscheme.results import summary_table
    from markscheme.tables import AnswersReader

    if fail_under is not None:
        from markscheme.agreement import gates

        gates([], fail_under, confidence=confidence)  # a wrong limit is told before the work
    elif confidence is not None:
        raise MarkschemeError("--confidence is of --fail-under; give that as well")
    chosen = [parse_judge(name) for name in judges or [DEFAULT_JUDGE]]
    options = read_options(
        columns=columns,
        format=format,
        reference_separator=reference_separator,
        on_bad_row=on_bad_row,
        max_bytes=max_bytes,
    )
    reader = AnswersReader(list(files), options)
    named = partial(
        model_options.open_models,
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
        replay=replay,
    )
    if dry_run:
        from markscheme.cli.dry_run import plan_calls, print_plan

        models_for_plan = partial(named, dry_run=True)
        planned = plan_calls(reader, chosen, clean=clean, models=models_for_plan)
        print_plan(planned, model)
        return
    models = named(max_cost=max_cost, max_calls=max_calls)
    target = out or str(default_folder(files, chosen, clean, models))
    if again:
        _reopen(Path(target))
    total = None if quiet else count_rows(files)
    began = time.perf_counter(), time.process_time()
    with progress("judging", total=total and total * len(chosen), quiet=quiet) as advance:
        models.budget.on_change = lambda spending: advance.note(str(spending))
        try:
            command = command_line(sys.argv[1:])
            if engine is Engine.RAY:
                from markscheme.engine import RayOptions, run_on_ray

                report = run_on_ray(
                    files,
                    chosen,
                    target,
                    ray_options=RayOptions(address=ray_address, workers=workers),
                    read=options,
                    clean=clean,
                    models=models.options,
                    on_progress=advance,
                    render=lambda made: summary_table(made.records).markdown(),
                    command=command,
                )
            else:
                report = run(
                    reader,
                    chosen,
                    out=target,
                    clean=clean,
                    models=models,
                    workers=workers or 1,
                    on_progress=advance,
                    command=command,
                )
        finally:
            models.close()
    console.print(summary_table(report.records).rich())
    _print_notes(report, models)
    if engine is Engine.LOCAL and workers is None and not any(map(asks_chat, chosen)):
        seconds = time.perf_counter() - began[0]
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        busy = max(load, (time.process_time() - began[1]) / seconds)
        _hint_at_workers(seconds, busy=busy, cores=os.cpu_count() or 1)
    if fail_under is not None:
        _hold_gate(report, fail_under, confidence)


def _hold_gate(report: RunReport, limit: float, confidence: float | None) -> None:
    """Print how the figures stand against the limit, and exit with 1 if one is below."""
    from markscheme.agreement import gates

    held = gates(report.records, limit, confidence=confidence)
    sure = "" if confidence is None else f" with {100 * confidence:g}% confidence"
    for gate in held:
        word = "passed" if gate.passed else "FAILED"
        notes.print(f"gate {word}: {gate}; wanted {100 * limit:g}{sure}", markup=False)
    if not all(gate.passed for gate in held):
        raise typer.Exit(1)


def _hint_at_workers(seconds: float, *, busy: float, cores: int) -> None:
    """Say how a long run would have been shorter, where it and all else left cores idle."""
    if seconds > _LONG and busy < _IDLE * cores:
        notes.print(
            f"note: {busy:.1f} of {cores} cores were busy for {seconds:.0f} s; "
            f"--workers {cores} uses all of them",
            markup=False,
        )


def _reopen(folder: Path) -> None:
    """Mark a finished run as unfinished, so that it is judged anew from the ledger."""
    from markscheme.engine import RunFolder

    run = RunFolder(folder)
    if not run.path.is_dir():
        return
    with run.locked():
        plan = run.read_plan()
        if plan is not None and plan["state"] == "done":
            run.write_json("run.json", {**plan, "state": "running"})


def command_line(arguments: Sequence[str]) -> str:
    """The command as it can be typed again; what may be a secret in an address is left out.

    >>> command_line(["judge", "a b.csv", "--ledger", "postgresql://me:secret@host/replies"])
    "markscheme judge 'a b.csv' --ledger postgresql://host/replies"
    """
    bare = (re.sub(r"://\S*@", "://", one) for one in arguments)
    shown = (re.sub(r"(://[^?\s]*)\?\S*", r"\1", one) for one in bare)
    return shlex.join(["markscheme", *shown])


def default_folder(
    files: list[str], judges: list[Judge], clean: str | None, models: Models
) -> Path:
    """`runs/<file>-<eight digits>`: equal commands on an unchanged file meet again.

    The digits are of judges, options and the files' names, sizes and times; standard input, which
    has none of these, gets a folder of its own each time.
    """
    import time
    from hashlib import blake2b

    from markscheme.contract import signature

    parts = [*(signature(one, models) for one in judges), str(clean)]
    for name in files:
        file = Path(name)
        seen = file.stat() if name != "-" and file.is_file() else None
        stamp = f"{seen.st_size} {seen.st_mtime_ns}" if seen else str(time.time_ns())
        parts += [str(file.absolute()), stamp]
    text = "\n".join(parts)
    stem = "stdin" if files[0] == "-" else Path(files[0]).name.split(".")[0].strip("*?[]")
    stem = stem or Path(files[0]).parent.name or "answers"
    return Path("runs") / f"{stem}-{blake2b(text.encode(), digest_size=4).hexdigest()}"


def _print_notes(report: RunReport, models: Models) -> None:
    """What the reader met, what is where, and what was taken from an earlier run."""
    for text, count in report.notes.items():
        notes.print(f"note: {text} ({count:,} rows)", markup=False)
    if report.ignored:
        notes.print(f"note: columns not used: {', '.join(report.ignored)}", markup=False)
    if report.repeats:
        notes.print(
            f"note: {report.repeats:,} rows repeat an earlier row exactly; all were counted"
        )
    if report.skipped:
        notes.print(
            f"warning: {report.skipped:,} bad rows were skipped; see "
            f"{report.folder}/bad_rows.jsonl",
            markup=False,
        )
    if report.resumed:
        notes.print(f"{report.resumed:,} judgments were there from an earlier run")
    if any(record["not_judged"] for record in report.records):
        from markscheme.results import why_not_judged

        for line in why_not_judged(report.judgments):
            notes.print(line, markup=False)
    spending = models.budget.spending
    if spending.calls or spending.known or spending.skipped:
        notes.print(f"language models: {spending}", markup=False)
    if spending.failed or spending.skipped:
        notes.print(
            "the same command with --again asks for what failed or was skipped, and nothing else",
            markup=False,
        )
    notes.print(f"written to {report.folder}", markup=False)
