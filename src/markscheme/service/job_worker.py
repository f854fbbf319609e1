"""The process that works on one job: instructions on standard input, reports line by line.

A process of its own: a large file takes neither memory nor the interpreter's lock from requests, it
can be stopped at any moment, and if it dies only its job fails.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from markscheme.api import run
from markscheme.contract import parse_judge
from markscheme.engine import ALL_SYSTEMS, limit_memory
from markscheme.errors import DataError, MarkschemeError
from markscheme.flags import CLEANING
from markscheme.models import ModelOptions, Models, ServerOptions
from markscheme.tables import AnswersReader, ReadOptions, count_rows

_TELL_EVERY = 0.25
_ORPHAN = 70
_MOST_FIGURES = 1_000


class LimitedReader(AnswersReader):
    """Reads answers, up to a number of them."""

    most_rows = 0

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Batches; raises DataError after too many rows."""
        for batch in super().__iter__():
            if self.met.rows > self.most_rows:
                raise DataError(
                    f"more than {self.most_rows:,} answers, which is this limit of jobs"
                )
            yield batch


def work(order: dict[str, Any], tell: Any) -> None:
    """Judge a job's file into its run's folder; `tell` receives progress and the end."""
    folder, options = Path(order["folder"]), order["options"]
    file = folder / "input" / order["file"]
    reader = LimitedReader([str(file)], ReadOptions(**options["read"]))
    reader.most_rows = order["most_rows"]
    tell({"rows_expected": count_rows([file])})
    models = Models(options=_model_options(order["models"]))
    rows, last_report = 0, 0.0

    def progress(more: int) -> None:
        nonlocal rows, last_report
        rows += more
        if time.monotonic() - last_report > _TELL_EVERY:
            last_report = time.monotonic()
            tell({"rows_judged": rows})

    try:
        report = run(
            reader,
            [parse_judge(order["judge"])],
            out=folder / "run",
            clean=options["clean"] or CLEANING,
            models=models,
            on_progress=progress,
        )
    except MarkschemeError as error:
        # Clients know their file's name, and need not know where it is stored.
        said = str(error).replace(f"{file.parent}{os.sep}", "").replace(str(folder), "the job")
        tell({"error": said})
    else:
        figures, left_out = _told(report.records)
        tell(
            {
                "rows_judged": report.rows,
                "rows_expected": report.rows,
                "error": None,
                "rows_skipped": report.skipped,
                "figures": figures,
                "figures_left_out": left_out,
            }
        )
    finally:
        models.close()


def _told(records: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """The figures that a job shows, and how many it leaves out.

    A column that is no system's name has as many values as rows: too many for one response.
    """
    if len(records) <= _MOST_FIGURES:
        return records, 0
    of_all = [record for record in records if record["system"] == ALL_SYSTEMS]
    return of_all, len(records) - len(of_all)


def _model_options(given: dict[str, Any]) -> ModelOptions:
    server = given["server"] and ServerOptions(**given["server"])
    prices = given["prices"] and Path(given["prices"])
    return ModelOptions(**{**given, "server": server, "prices": prices})


def main() -> None:
    """Take an order from standard input, and report on standard output."""
    os.nice(10)
    # Whatever else prints goes to the log, not among the reports.
    reports = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    order = orjson.loads(sys.stdin.buffer.readline())
    limit_memory(order["megabytes"])

    def leave_with_parent() -> None:
        sys.stdin.buffer.read()
        os._exit(_ORPHAN)

    threading.Thread(target=leave_with_parent, daemon=True).start()
    work(order, lambda said: reports.write(orjson.dumps(said) + b"\n"))
    os._exit(0)  # Past the thread that still reads.


if __name__ == "__main__":
    main()
