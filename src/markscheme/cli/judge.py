"""`markscheme judge`: judge a file of answers."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from markscheme.cli.app import console, notes
from markscheme.cli.models import opened, show_on
from markscheme.cli.options import Files, OutAddress, Quiet, Shown, command
from markscheme.errors import MarkschemeError, Problem, gathered, lacks_extras
from markscheme.flags import (
    CLEANING,
    CONFIDENCE,
    Clean,
    Cleaning,
    Default,
    FailUnder,
    Fields,
    Judges,
    Option,
)
from markscheme.models import ModelOptions
from markscheme.tables import ReadOptions
from markscheme.text import counted, printable

if TYPE_CHECKING:
    from markscheme.api import Result
    from markscheme.contract import Judge
    from markscheme.engine import RunReport
    from markscheme.models import Models
    from markscheme.tables import AnswersReader

_NAMED = 12
"""Columns that are not used, which are named."""


@command("judge", example="markscheme judge answers.jsonl --fail-under 0.8", reads_answers=True)
def judge(
    files: Files,
    models: ModelOptions,
    read: ReadOptions,
    shown: Annotated[Shown, Fields(only=("format",))],
    judges: Annotated[Judges, Default("examiner")] = (),
    out: Annotated[
        OutAddress,
        Default("runs/ and a name made from file and judges; an interrupted run resumes there"),
    ] = None,
    clean: Clean = CLEANING,
    again: Annotated[
        bool,
        Option(
            "Retry what failed in a finished run, or was skipped for its budget; replies in the "
            "ledger, unparsed ones included, are not requested again."
        ),
    ] = False,
    fail_under: FailUnder = None,
    gate_slices: Annotated[
        bool,
        Option(
            "With --fail-under and --slices: the share accepted of every slice must reach it too.",
            rare=True,
        ),
    ] = False,
    confidence: Annotated[float | None, CONFIDENCE] = None,
    fitness: Annotated[
        Path | None,
        Option(
            "With --fail-under: also print the judge's agreement with people, as saved by "
            "'markscheme agree': a run's folder, its fitness.json, or a file of --out. It is "
            "corrected for label errors where these are known; the gate is not.",
            rare=True,
        ),
    ] = None,
    engine: Annotated[
        Literal["local", "ray"],
        Option(
            "local: this machine. ray: workers of a Ray cluster, over Parquet on any file system "
            "(s3://...).",
            rare=True,
        ),
    ] = "local",
    workers: Annotated[
        int | None,
        Option(
            "Parallel processes. [default: 1, and one per core, up to 8, once judging "
            "has taken 10 s and left cores idle; with --engine ray, all cores]",
            minimum=1,
            rare=True,
        ),
    ] = None,
    ray_address: Annotated[
        str | None,
        Option(
            "Ray cluster to join: auto, or ray://host:port. [default: start one here]", rare=True
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Judge answers, print the share accepted per system, and write the judgments.

    Results: `judgments.parquet`, `summary.json`, `summary.md` in the --out folder.
    """
    from markscheme.api import DEFAULT_JUDGE, Result, run
    from markscheme.cli.options import check_folder
    from markscheme.cli.progress_bar import progress
    from markscheme.contract import parse_judge
    from markscheme.engine import command_line, default_folder
    from markscheme.tables import AnswersReader, check_named, count_rows

    _check_gate(fail_under, confidence, fitness, slices=read.slices if gate_slices else None)
    if (read.slices or models.batch) and engine == "ray":
        name = "--slices" if read.slices else "--batch"
        raise MarkschemeError(f"{name} requires --engine local")
    if ray_address is not None and engine != "ray":
        raise MarkschemeError("--ray-address requires --engine ray")
    chosen = [parse_judge(name) for name in judges or [DEFAULT_JUDGE]]
    reader = AnswersReader(list(files), read)
    if models.dry_run:
        _print_plan(reader, chosen, models, clean, shown)
        return
    with opened(models) as asked:
        if out is None:
            out = str(default_folder(files, chosen, clean, asked, read=read))
        check_named(out, "folder")
        check_folder(out)
        target = out
        total = None if quiet else count_rows(files)
        with (
            _report_saved_on_interrupt(target, asked, engine),
            progress("judging", total=total and total * len(chosen), quiet=quiet) as advance,
        ):
            show_on(advance, asked)
            command = command_line(sys.argv[1:])
            if engine == "ray":
                report = _on_ray(
                    files,
                    chosen,
                    target,
                    read=read,
                    clean=clean,
                    models=asked,
                    command=command,
                    workers=workers,
                    address=ray_address,
                    again=again,
                    on_progress=advance,
                )
            else:
                report = run(
                    reader,
                    chosen,
                    out=target,
                    clean=clean,
                    models=asked,
                    workers=workers,
                    on_progress=advance,
                    command=command,
                    again=again,
                )
    result = Result.of(report, reader)
    if fail_under is not None:
        held = result.gates(fail_under, confidence=confidence, slices=gate_slices)
        result = replace(result, held=tuple(held))
    shown.show(result, lambda: _print_figures(result))
    _print_warnings(report)
    if not quiet:
        _print_notes(report, chosen, asked)
    if engine == "local" and not quiet:
        _name_next(report)
    missed = fail_under is not None and not _gates_passed(result, confidence, fitness)
    _check_judged(report)
    raise typer.Exit(int(missed))


def _check_gate(
    limit: float | None,
    confidence: float | None,
    fitness: Path | None,
    *,
    slices: Sequence[str] | None,
) -> None:
    """Raises MarkschemeError for what is wrong with the gate's options: before the work.

    `slices` are those that are held against the limit too; None if they are not.
    """
    if limit is None:
        if confidence is not None or fitness is not None or slices is not None:
            raise MarkschemeError("--confidence, --fitness and --gate-slices require --fail-under")
        return
    from markscheme.agreement import fitness_line, gates

    gates([], limit, confidence=confidence)
    fitness_line("", "", fitness)
    if slices is not None and not slices:
        raise MarkschemeError("--gate-slices requires --slices, which names the columns")


def _check_judged(report: RunReport) -> None:
    """Raises MarkschemeError where a judge judged nothing: no script may take it for a run that
    passed, or for a check that failed."""
    from markscheme.results import judged_nothing

    none = judged_nothing(report.records)
    if none:
        raise MarkschemeError(f"{', '.join(none)} judged no answer")


@contextmanager
def _report_saved_on_interrupt(folder: str, models: Models, engine: str) -> Iterator[None]:
    """Say at an interrupt what of the run is saved, if anything is."""
    try:
        yield
    except KeyboardInterrupt:
        from markscheme.engine import RunFolder

        said = "no judgment was saved yet"
        if engine == "ray":  # Which pieces these are is not looked up: the folder may be far away.
            said = (
                f"finished pieces are saved in {folder}; the same command with that --out "
                "resumes there"
            )
        elif Path(folder).is_dir() and (saved := RunFolder(folder).progress().judgments):
            kept = counted(saved, "judgment is", "judgments are")
            said = f"{kept} saved in {folder}; the same command with that --out resumes there"
        notes.print(said, soft_wrap=True)
        if models.budget.spending.calls:
            notes.print(
                "every reply of a language model that came is in the ledger: the same command "
                "does not send these calls again",
                soft_wrap=True,
            )
        raise


def _on_ray(
    files: Sequence[str],
    judges: list[Judge],
    target: str,
    *,
    workers: int | None,
    address: str | None,
    models: Models,
    **how: Any,
) -> RunReport:
    from markscheme.engine import RayOptions, run_on_ray
    from markscheme.results import summary_table

    return run_on_ray(
        files,
        judges,
        target,
        ray_options=RayOptions(address=address, workers=workers),
        models=models.options,
        render=lambda made: summary_table(made.records).markdown(),
        **how,
    )


def _print_figures(result: Result) -> None:
    from markscheme.results import accuracy_note

    for table in result.tables:
        console.print(table.rich())
    for note in accuracy_note(result.records):
        console.print(note)


def _name_next(report: RunReport) -> None:
    from markscheme.analysis import next_commands

    notes.print("next:")
    for done, what in next_commands(report).items():
        command, comment = f"markscheme {done}", f"# {what}"
        one_line = f"  {command}  {comment}"
        if not notes.is_terminal or len(one_line) <= notes.width:
            notes.file.write(printable(one_line) + "\n")
        else:  # Neither a command nor a word may be broken by the edge of the terminal.
            notes.print(f"  {comment}")
            notes.file.write(printable(f"  {command}") + "\n")


def _gates_passed(result: Result, confidence: float | None, fitness: Path | None) -> bool:
    """Print how the figures compare with the limit; whether none is below.

    The first answers that a failing judge rejects are named at once, and what is known of judges.
    """
    from markscheme.agreement import fitness_line
    from markscheme.analysis import count_labels, rejected_at_gates
    from markscheme.results import records_population

    for gate in result.held:
        notes.print(gate.outcome)
    if confidence is not None:
        about = records_population(result.records)
        notes.print(f"these bounds are for {about}")
    for line in rejected_at_gates(result.run, result.held, result.slices):
        notes.print(line)
    labels = count_labels(result.run)
    for judge, signature in dict.fromkeys(
        (one["judge"], one["signature"]) for one in result.run.records
    ):
        line = fitness_line(judge, signature, fitness, labels=labels, run=result.run.address)
        notes.print(line)
    return all(gate.passed for gate in result.held)


def _print_plan(
    reader: AnswersReader,
    judges: list[Judge],
    models: ModelOptions,
    clean: Cleaning,
    shown: Shown,
) -> None:
    """The planned calls, and how they were counted."""
    from markscheme.analysis import plan_calls

    found = plan_calls(reader, judges, models, clean=clean)
    shown.show(found)
    for note in found.notes:
        notes.print(note)


def _not_used(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    hint = f" and {more} more; 'markscheme columns FILE' shows them" if more > 0 else ""
    return ", ".join(names[:_NAMED]) + hint


def _of_systems(report: RunReport) -> str:
    """Whose the rows that were skipped are, where they are of several systems or of one of them."""
    named = [f"{count:,} of {name}" for name, count in report.skipped_of.items() if name]
    several = len({*report.skipped_of, *(record["system"] for record in report.records)}) > 1
    return f" ({', '.join(named)})" if named and several else ""


def _print_unlabelled(report: RunReport) -> None:
    """Which labels could not be read, if any."""
    if not report.unlabelled:
        return
    labels = counted(
        len(report.unlabelled),
        "label could not be read; its answer is",
        "labels could not be read; their answers are",
    )
    notes.print(f"warning: {labels} judged, without a label:")
    _print_problems(report, report.unlabelled)


def _print_problems(report: RunReport, problems: Sequence[Problem]) -> None:
    """What was wrong with rows or labels, each kind once."""
    lines = gathered(problems)
    for line in lines[:_NAMED]:
        notes.print(f"  {line}", soft_wrap=True)
    if len(lines) > _NAMED:
        notes.print(f"  ...; all are in {report.address}/bad_rows.jsonl")


def _print_warnings(report: RunReport) -> None:
    """What was left out of the run, made again or not judged."""
    if report.skipped:
        notes.print(
            f"warning: {report.skipped:,} bad rows were skipped{_of_systems(report)}; see "
            f"{report.address}/bad_rows.jsonl"
        )
        _print_problems(report, report.left_out)
    for text in report.blank:
        notes.print(f"warning: {text}", soft_wrap=True)
    _print_unlabelled(report)
    if report.damaged:
        shown = ", ".join(report.damaged[:3]) + (", ..." if len(report.damaged) > 3 else "")
        notes.print(
            f"warning: {shown} in {report.address} were damaged or of another run, and were "
            "made again"
        )
    if any(record["not_judged"] for record in report.records):
        from markscheme.results import why_not_judged

        for line in why_not_judged(report.judgments):
            notes.print(line)


def _print_notes(report: RunReport, judges: Sequence[Judge], models: Models) -> None:
    """What the reader met, what is where, and what was taken from an earlier run."""
    from markscheme.tables import repeated

    for said in (*report.recognised, *report.offered, *report.counted):
        notes.print(f"note: {said}", soft_wrap=True)
    if report.ignored:
        said = _not_used(list(report.ignored))
        notes.print(f"note: columns not used: {said}", soft_wrap=True)
    for said in repeated(report.repeats):
        notes.print(f"note: {said}", soft_wrap=True)
    if report.resumed:
        notes.print(f"{report.resumed:,} judgments were reused from an earlier run")
    from markscheme.contract import asks_chat, judge_name
    from markscheme.results import again_notes, scope_notes

    for line in scope_notes(report.judgments, report.records, report.answers):
        notes.print(f"note: {line}")
    spending = models.budget.spending
    if spending.calls or spending.known or spending.skipped:
        notes.print(f"language models: {spending}")
    for text, count in sorted(models.budget.remarks.items()):
        notes.print(f"note: {text} ({count:,} replies)")
    names = [judge_name(one) for one in judges if asks_chat(one)]
    for line in again_notes(report.judgments, names) if names else ():
        notes.print(line, soft_wrap=True)
    where = f"written to {report.address}"
    if report.folder is not None:  # The viewer reads no addresses.
        where += f"; 'markscheme view {shlex.quote(str(report.folder))}' shows every answer"
        if lacks_extras("report", "web"):
            where += ", with the extras 'report' and 'web' installed"
    notes.print(where, soft_wrap=True)
