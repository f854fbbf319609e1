"""`markscheme judge`: judge a file of answers."""

from __future__ import annotations

import os
import sys
import time
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from markscheme.cli.app import console, notes
from markscheme.cli.models import opened
from markscheme.cli.options import Files, OutAddress, Quiet, Shown, command
from markscheme.cli.output import Format
from markscheme.errors import MarkschemeError
from markscheme.models import ModelOptions
from markscheme.options import CONFIDENCE, Clean, Default, Fields, Judges, Option
from markscheme.tables import ReadOptions

if TYPE_CHECKING:
    from markscheme.contract import Judge
    from markscheme.engine import RunReport
    from markscheme.models import Models
    from markscheme.tables import AnswersReader

_LONG = 30.0
"""Seconds of a run, from which its length is worth a hint."""

_IDLE = 0.7
"""Share of the cores, below which many were idle."""


class Engine(StrEnum):
    """What runs the judges."""

    LOCAL = "local"
    RAY = "ray"


@command("judge")
def judge(
    files: Files,
    models: ModelOptions,
    read: ReadOptions,
    shown: Annotated[Shown, Fields(only=("format",))],
    judges: Annotated[Judges, Default("examiner")] = (),
    out: Annotated[
        OutAddress,
        Default("runs/ and a name made from file and judges; an interrupted run goes on there"),
    ] = None,
    clean: Clean = None,
    again: Annotated[
        bool,
        Option(
            "Judge a finished run anew, to fill in what failed or was skipped; replies in the "
            "ledger cost nothing."
        ),
    ] = False,
    fail_under: Annotated[
        float | None,
        Option(
            "Exit with 1 where a system's accuracy is below this (0.8, say): a gate for CI. "
            "--confidence: be so sure that it is not."
        ),
    ] = None,
    confidence: Annotated[float | None, CONFIDENCE] = None,
    engine: Annotated[
        Engine,
        Option(
            "local: this machine. ray: workers of a Ray cluster, over Parquet on any file system "
            "(s3://...)."
        ),
    ] = Engine.LOCAL,
    workers: Annotated[
        int | None,
        Option(
            "Processes that judge side by side; for many answers, where the judge is not lexical. "
            "[default: 1; with --engine ray, all cores]",
            minimum=1,
        ),
    ] = None,
    ray_address: Annotated[
        str | None,
        Option("Cluster to join: auto, or ray://host:port. [default: one started here]"),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Judge answers, print accuracy per system, and write the judgments.

    Results: `judgments.parquet`, `summary.json`, `summary.md` in the --out folder.
    """
    from markscheme.api import DEFAULT_JUDGE, Result, run
    from markscheme.cli.progress import progress
    from markscheme.contract import asks_chat, parse_judge
    from markscheme.engine import RunFolder, command_line, default_folder
    from markscheme.results import summary_table
    from markscheme.tables import AnswersReader, check_named, count_rows

    if fail_under is not None:
        from markscheme.agreement import gates

        gates([], fail_under, confidence=confidence)  # a wrong limit is named before the work
    elif confidence is not None:
        raise MarkschemeError("--confidence is of --fail-under; give that as well")
    chosen = [parse_judge(name) for name in judges or [DEFAULT_JUDGE]]
    reader = AnswersReader(list(files), read)
    if models.dry_run:
        _print_plan(reader, chosen, models, clean, shown)
        return
    with opened(models) as asked:
        target = default_folder(files, chosen, clean, asked) if out is None else out
        check_named(str(target), "folder")
        target = str(target)
        if again:
            RunFolder(target).reopen()
        total = None if quiet else count_rows(files)
        began = time.perf_counter(), time.process_time()
        with progress("judging", total=total and total * len(chosen), quiet=quiet) as advance:
            asked.budget.on_change = lambda spending: advance.note(str(spending))
            command = command_line(sys.argv[1:])
            if engine is Engine.RAY:
                from markscheme.engine import RayOptions, run_on_ray

                report = run_on_ray(
                    files,
                    chosen,
                    target,
                    ray_options=RayOptions(address=ray_address, workers=workers),
                    read=read,
                    clean=clean,
                    models=asked.options,
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
                    models=asked,
                    workers=workers or 1,
                    on_progress=advance,
                    command=command,
                )
    if shown.format is Format.TABLE:
        console.print(summary_table(report.records).rich())
    else:
        shown.show(Result.of(report, reader))
    _print_notes(report, asked)
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


def _print_plan(
    reader: AnswersReader,
    judges: list[Judge],
    models: ModelOptions,
    clean: str | None,
    shown: Shown,
) -> None:
    """What would be asked, and how it was counted."""
    from markscheme.analysis import plan_calls

    found = plan_calls(reader, judges, models, clean=clean)
    shown.show(found)
    for note in found.notes:
        notes.print(note, markup=False)


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
    if report.damaged:
        shown = ", ".join(report.damaged[:3]) + (", ..." if len(report.damaged) > 3 else "")
        notes.print(
            f"warning: {shown} in {report.folder} had been damaged or changed since; made again",
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
    for text, count in sorted(models.budget.remarks.items()):
        notes.print(f"note: {text} ({count:,} replies)", markup=False)
    if spending.failed or spending.skipped:
        notes.print(
            "the same command with --again asks for what failed or was skipped, and nothing else",
            markup=False,
        )
    notes.print(
        f"written to {report.folder}; 'markscheme view {report.folder}' shows every answer",
        markup=False, soft_wrap=True,
    )  # fmt: skip
