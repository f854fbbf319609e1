"""How fast the report and the viewer's page of a run open, filter and search, in a real browser.

    python -m benchmarks.report [--answers 15000] [--data-dir DIR] [--run FOLDER] [--repeats 5]

Answers of EVOUNA-NQ, judged by exact_match, contains, token_f1 and examiner; beyond 15,099 they are
repeated under other systems' names. Targets at 50,000 answers: open in under 1 s, filter in under
200 ms. The viewer is started again, so that it has seen no run before: its page opens from the
run's tables, and asks for reasons and figures afterwards. A filter's time is from the event to the
first frame that shows its rows; next to it is the time that the page's thread computed, which
other work on the machine does not change.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import markscheme
from markscheme.reports import read_material, report_html
from markscheme.tables import replace_file
from markscheme_research import datasets

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


ROWS = "performance.getEntriesByName('markscheme rows')[0].startTime"
"""Milliseconds from the navigation until the first rows are drawn."""


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


def browse(path: Path, repeats: int) -> dict[str, list[tuple[float, float]]]:
    """Wall and thread seconds of opening the report and of everything in `STEPS`, repeatedly."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("MARKSCHEME_CHROMIUM") or shutil.which("chromium")
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ("open", *STEPS)}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
        for _ in range(repeats):
            page = browser.new_page()
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})

            def thread(session: Any = session) -> float:
                metrics = session.send("Performance.getMetrics")["metrics"]
                return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))

            before = thread()
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
            found["open"].append((page.evaluate(ROWS) / 1000, thread() - before))
            page.wait_for_timeout(500)
            for name, step in STEPS.items():
                before = thread()
                wall = page.evaluate(TIMED, list(step)) / 1000
                found[name].append((wall, thread() - before))
                page.evaluate("location.hash = '#sort=disagreement'")
                page.wait_for_timeout(100)
            page.close()
        browser.close()
    return found


def serve(run: Path) -> dict[str, tuple[float, float]]:
    """Seconds until the viewer's page of a run shows rows, reasons and figures, then rows again.

    Next to the wall time is that of the server's processor and the page's thread.
    """
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("MARKSCHEME_CHROMIUM") or shutil.which("chromium")
    command = [sys.executable, "-m", "markscheme", "view", str(run.parent), "--no-browser"]
    found: dict[str, tuple[float, float]] = {}
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as
        server, sync_playwright() as playwright,
    ):  # fmt: skip
        try:
            assert server.stdout is not None
            said = next(line for line in server.stdout if "token=" in line)
            browser = playwright.chromium.launch(executable_path=chromium, args=list(QUIET))
            page = browser.new_page()
            page.set_default_timeout(600_000)
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})

            def busy() -> float:
                """Processor seconds of the server and of the page's thread."""
                metrics = session.send("Performance.getMetrics")["metrics"]
                ticks = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
                spent = (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")
                return spent + next(m["value"] for m in metrics if m["name"] == "TaskDuration")

            page.goto(said[said.index("http") :].split()[0])
            page.wait_for_timeout(5000)  # Somebody reads the index.
            before = busy()
            page.get_by_role("link", name=run.name, exact=True).click(no_wait_after=True)
            page.wait_for_selector("html[data-rows]", state="attached")
            found["rows"] = page.evaluate(ROWS) / 1000, busy() - before
            for name, state in (("reasons", "ready"), ("figures", "figures")):
                page.wait_for_selector(f"html[data-{state}]", state="attached")
                found[name] = page.evaluate("performance.now()") / 1000, busy() - before
            before = busy()
            page.reload()
            page.wait_for_selector("html[data-rows]", state="attached")
            found["rows, again"] = page.evaluate(ROWS) / 1000, busy() - before
            browser.close()
        finally:
            server.terminate()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--answers", type=int, default=15_000)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--run", type=Path, help="a finished run to take instead of judging again")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = options.run or Path(folder) / "run"
        if options.run is None:
            markscheme.judge(rows(options.answers, options.data_dir), list(JUDGES), out=run)
        target = Path(folder) / "report.html"
        wall, cpu = timed(lambda: replace_file(target, report_html(read_material(run)).encode()))
        answers = pl.scan_parquet(run / "answers.parquet").select(pl.len()).collect().item()
        print(f"{answers:,} answers; Python {sys.version.split()[0]}, {platform.machine()}, "
              f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")  # fmt: skip
        print(f"write     {wall:8.1f} s ({cpu:.1f} s of processor)")
        print(f"size      {target.stat().st_size / 1e6:8.2f} MB")
        print(f"{'median of ' + str(options.repeats):26}{'wall':>8}{'slowest':>10}{'thread':>10}")
        for name, seconds in browse(target, options.repeats).items():
            wall, cpu = (sorted(1000 * one[at] for one in seconds) for at in (0, 1))
            print(f"{name:26}{statistics.median(wall):6.0f}ms{wall[-1]:8.0f}ms"
                  f"{statistics.median(cpu):8.0f}ms")  # fmt: skip
        for name, (wall, cpu) in serve(run).items():
            print(f"{'viewer: ' + name:26}{wall:6.2f} s ({cpu:.2f} s of processor)")


if __name__ == "__main__":
    main()
