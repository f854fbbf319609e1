"""Run every benchmark, print the tables and write them to docs/benchmarks.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks import judges, shares, startup
from benchmarks.rows import SEED, write_rows

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "benchmarks.md"
SIZES = (10_000, 100_000, 1_000_000)
PEERS = ("evaluate", "rouge-score", "sacrebleu", "polars", "rapidfuzz")


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One job on one number of rows, the fastest of the repeats."""

    job: str
    rows: int
    seconds: float
    peak_mb: float

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.rows / self.seconds


def measure(job: str, rows: int, file: Path, *, repeats: int) -> Figure:
    """Run a job in processes of its own; print and return its figure."""
    command = [sys.executable, "-m", "benchmarks.jobs", job, str(file)]
    runs = [
        json.loads(
            subprocess.run(
                command, check=True, capture_output=True, text=True, cwd=ROOT
            ).stdout.splitlines()[-1]
        )
        for _ in range(repeats)
    ]
    figure = Figure(
        job=job,
        rows=rows,
        seconds=min(run["seconds"] for run in runs),
        peak_mb=max(run["peak_mb"] for run in runs),
    )
    print(
        f"{job:26}{rows:>10,} rows{figure.rate:>12,.0f} rows/s{figure.peak_mb:>8,.0f} MB",
        flush=True,
    )
    return figure


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, figures to the right."""
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [heads, rule, *rows])


OURS = ("three in memory", "three streamed from Parquet", "three through the engine")


def main_table(figures: dict[tuple[str, int], Figure], squad: Figure) -> str:
    """The three judges together at every size, next to evaluate's squad."""
    rows = []
    for job in (*OURS, "evaluate squad", "squad formulas"):
        for size in SIZES:
            if (job, size) in figures:
                figure = figures[job, size]
                cells = [figure.seconds, figure.rate, figure.rate / squad.rate, figure.peak_mb]
                shapes = ("{:.2f}", "{:,.0f}", "{:.1f}", "{:,.0f}")
                texts = [shape.format(cell) for shape, cell in zip(shapes, cells, strict=True)]
                rows.append([f"{job}, {size:,} rows", *texts])
    return table(["job", "seconds", "rows/s", f"ratio to squad at {squad.rows:,}", "peak MB"], rows)


def single_table(figures: dict[tuple[str, int], Figure]) -> str:
    """Each judge by itself at every size, and the library it equals."""
    peers = {f"rouge{n}": f"rouge-score rouge{n}" for n in ("1", "2", "L")} | {"bleu": "sacrebleu"}
    names = ["exact_match", "contains", "token_f1", *peers, "char_similarity"]
    rows = []
    for name in names:
        rates = [f"{figures[name, size].rate:,.0f}" for size in SIZES]
        peer = figures.get((peers.get(name, ""), SIZES[0]))
        ratio = f"{figures[name, SIZES[1]].rate / peer.rate:.1f}" if peer else ""
        peak = f"{figures[name, SIZES[-1]].peak_mb:,.0f}"
        rows.append([f"`{name}`", *rates, peak, f"{peer.rate:,.0f}" if peer else "", ratio])
    heads = ["judge", *(f"rows/s at {size:,}" for size in SIZES), f"peak MB at {SIZES[-1]:,}"]
    return table([*heads, f"its library, rows/s at {SIZES[0]:,}", "ratio"], rows)


def machine() -> str:
    """The machine and the versions, in words."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("markscheme", *PEERS))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores ({platform.machine()}), Python {platform.python_version()}, {versions}"


AGREEMENT = """Agreement with people's labels: the test part of EVOUNA-NQ (7,615 answers) and NQ301
(1,490), questions on which no judge of ours was trained or tuned. Accuracy is the share of answers
on which judge and people agree. Rates are of judging EVOUNA-NQ with the models loaded.
"""


PEERS_ELSEWHERE = "Other tools on the same rows, PEDANTS among them: [comparison](comparison.md)."


def agreement() -> str:
    """The section on agreement with people, where the data are at hand."""
    if not os.environ.get("MARKSCHEME_DATA") and not (ROOT.parent / "shared" / "data").is_dir():
        return "Not measured: the labelled data were not at hand (MARKSCHEME_DATA)."
    os.environ.setdefault("MARKSCHEME_DATA", str(ROOT.parent / "shared" / "data"))
    return AGREEMENT + "\n" + judges.section(judges.measured()) + "\n\n" + PEERS_ELSEWHERE


def document(figures: dict[tuple[str, int], Figure], squad: Figure) -> str:
    """The page."""
    started = table(["start", "time"], [list(row) for row in startup.rows()])
    spent = [[name, f"{100 * share:.0f}%"] for name, share in shares.shares()]
    parts = table(["step", "share of processor time"], spent)
    hub = os.environ.get("BENCH_EVALUATE_HUB") == "1"
    origin = (
        "`evaluate squad` is the metric's script from the hub."
        if hub
        else "`evaluate squad` is our own `evaluate.Metric` with the official SQuAD 1.1 formulas, "
        "since the hub's script cannot be fetched offline; `BENCH_EVALUATE_HUB=1 make bench` uses "
        "the hub's."
    )
    return f"""# Benchmarks

Speed of markscheme and of other tools, and agreement of judges with people. `make bench` writes
this page. Machine: {machine()}.

## Exact match, contains and token F1 together

{SIZES[-1]:,} synthetic answers of about 42 characters (`benchmarks/rows.py`, seed {SEED}). Each row
is the fastest run of a process of its own; peak memory includes imports and input.

- in memory: the judges alone on a table;
- streamed from Parquet: `markscheme.judge(file)`, judgments in memory;
- through the engine: from a Parquet file to the finished run folder.

`evaluate`'s squad computes exact match and F1, and is timed on its call alone. {origin} "squad
formulas" are the same formulas in plain Python.

{main_table(figures, squad)}

## Where the time of a run goes

The three judges through the engine, on one batch of {shares.ROWS:,} answers and one thread
(`python -m benchmarks.shares`):

{parts}

## Each judge by itself

The same synthetic answers. ROUGE and BLEU equal the libraries to 1e-9 (`tests/metrics`). The ratio
is our rate at {SIZES[1]:,} rows to the library's.

{single_table(figures)}

## Every judge on people's labels

{agreement()}

## Start

{started}
"""


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--repeats", type=int, default=3, help="runs of each job; the fastest counts"
    )
    repeats = parser.parse_args().repeats
    figures: dict[tuple[str, int], Figure] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES:
            file = Path(folder) / f"{size}.parquet"
            write_rows(file, size)
            jobs = [*OURS, "exact_match", "contains"]
            jobs += ["token_f1", "rouge1", "rouge2", "rougeL", "bleu", "char_similarity"]
            if size < SIZES[-1]:
                jobs += ["evaluate squad", "squad formulas"]
            if size == SIZES[0]:
                jobs += ["rouge-score rouge1", "rouge-score rouge2", "rouge-score rougeL"]
                jobs.append("sacrebleu")
            for job in jobs:
                figures[job, size] = measure(job, size, file, repeats=repeats)
    page = document(figures, figures["evaluate squad", SIZES[1]])
    DOCUMENT.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
