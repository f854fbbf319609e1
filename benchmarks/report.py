"""How fast the report opens, filters and searches, in a real browser from disk.

    python -m benchmarks.report [--answers 15000] [--data-dir DIR] [--run FOLDER] [--repeats 5]

Answers of EVOUNA-NQ, judged by exact_match, contains, token_f1 and examiner; beyond 15,099 they are
repeated under other systems' names. Targets: open in under 3 s and filter in under 200 ms at 15,000
answers. A filter's time runs from the event to the first frame that shows its rows.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import markscheme
from markscheme import datasets
from markscheme.report.html import write_report
from markscheme.report.material import read_material

JUDGES = ("exact_match", "contains", "token_f1", "examiner")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
STEPS: dict[str, tuple[str, str, str]] = {
    "filter: judge": ("#filter-judge", "change", "examiner"),
    "filter: wrongly rejects": ("#filter-verdict", "change", "fn"),
    "filter: agreement": ("#filter-agreement", "change", "judges"),
    "filter: failure mode": ("#filter-mode", "change", "synonym"),
    "search: a common word": ("#filter-q", "input", "the"),
    "search: a name": ("#filter-q", "input", "elizabeth"),
    "search: three words": ("#filter-q", "input", "who wrote song"),
    "search: nothing found": ("#filter-q", "input", "zzzz"),
    "sort: answer": ("#filter-sort", "change", "answer"),
    "sort: examiner": ("#filter-sort", "change", "judge:examiner"),
}
"""What is done to the page: control, event, value; from a page without filters each time."""

TIMED = """([control, event, value]) => new Promise((done) => {
  const element = document.querySelector(control);
  const begin = performance.now();
  element.value = value;
  element.dispatchEvent(new Event(event));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
})"""


def rows(count: int, data_dir: Path | None) -> pl.DataFrame:
    """So many labelled answers of EVOUNA-NQ, repeated under other names if need be."""
    known = datasets.load("evouna-nq", data_dir=data_dir)
    copies = -(-count // known.height)
    every = [
        known.with_columns(
            pl.col("answer_id") + f"/{copy}" * bool(copy),
            pl.col("system") + f" {copy}" * bool(copy),
        )
        for copy in range(copies)
    ]
    return pl.concat(every).head(count)


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Wall and processor seconds of a piece of work."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def browse(path: Path, repeats: int) -> dict[str, list[float]]:
    """Seconds of opening the report and of everything in `STEPS`, each so many times."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("MARKSCHEME_CHROMIUM") or shutil.which("chromium")
    found: dict[str, list[float]] = {"open": []} | {name: [] for name in STEPS}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
        for _ in range(repeats):
            page = browser.new_page()
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
            mark = "performance.getEntriesByName('markscheme rows')[0].startTime"
            found["open"].append(page.evaluate(mark) / 1000)
            page.wait_for_timeout(500)
            for name, step in STEPS.items():
                found[name].append(page.evaluate(TIMED, list(step)) / 1000)
                page.evaluate("location.hash = '#sort=disagreement'")
                page.wait_for_timeout(100)
            page.close()
        browser.close()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--answers", type=int, default=15_000)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--run", type=Path, help="a finished run to take instead of judging anew")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = options.run or Path(folder) / "run"
        if options.run is None:
            markscheme.judge(rows(options.answers, options.data_dir), list(JUDGES), out=run)
        target = Path(folder) / "report.html"
        wall, cpu = timed(lambda: write_report(read_material(run), target))
        answers = pl.scan_parquet(run / "answers.parquet").select(pl.len()).collect().item()
        print(f"{answers:,} answers; Python {sys.version.split()[0]}, {platform.machine()}, "
              f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")  # fmt: skip
        print(f"write     {wall:8.1f} s ({cpu:.1f} s of processor)")
        print(f"size      {target.stat().st_size / 1e6:8.2f} MB")
        for name, seconds in browse(target, options.repeats).items():
            middle, worst = statistics.median(seconds), max(seconds)
            print(f"{name:26}{1000 * middle:8.0f} ms  (slowest of {len(seconds)}: "
                  f"{1000 * worst:.0f})")  # fmt: skip


if __name__ == "__main__":
    main()
