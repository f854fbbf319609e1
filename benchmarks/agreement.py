"""Intervals of a million judgments: seconds and peak memory.

    python -m benchmarks.agreement [--rows 1000000] [--seed 20260101]

Three shapes of data, since the cost of clustered intervals lies in how many different questions
there are: a million questions with one answer, a hundred thousand with ten systems each, and ten
thousand with a hundred. Each is a process of its own. "Intervals" times confusion counts to
intervals of all seven statistics under both policies for what was not judged; "whole table" times
`agreement` on Polars tables, with AUROC and average precision of the scores as well.

    python -m benchmarks.agreement --coverage 1000

draws labels from EVOUNA-NQ (`MARKSCHEME_DATA`), where all answers are labelled, and counts how
often each method of `estimate` covers the share that people accept. The judge is `contains`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

SHAPES = (1, 10, 100)


def judged(rows: int, per_question: int, seed: int) -> dict[str, np.ndarray]:
    """Labels that depend on the question, and a judge right nine times in ten, judging 99%."""
    rng = np.random.default_rng(seed)
    questions = rows // per_question
    clusters = np.repeat(np.arange(questions), per_question)
    labels = rng.random(rows) < rng.beta(2, 1, questions)[clusters]
    scores = np.clip(np.where(labels, 0.75, 0.25) + rng.normal(0, 0.2, rows), 0, 1)
    return {
        "clusters": clusters,
        "labels": labels,
        "scores": scores,
        "judged": rng.random(rows) > 0.01,
    }


def intervals(data: dict[str, np.ndarray]) -> float:
    """Seconds from labels and verdicts to intervals of every statistic."""
    import polars as pl

    from markscheme.agreement.verdicts import cell_table, clustered_statistics, four_cells

    rows = pl.DataFrame(data).select(
        cluster="clusters",
        accepted="labels",
        verdict=pl.when("judged").then(pl.col("scores") >= 0.5),
    )
    start = time.perf_counter()
    table = cell_table(rows)
    for policy in ("left_out", "errors"):
        clustered_statistics(four_cells(table, policy), 0.95)
    return time.perf_counter() - start


def whole_table(data: dict[str, np.ndarray]) -> float:
    """Seconds of `agreement` on joined tables."""
    import polars as pl

    from markscheme.agreement import agreement
    from markscheme.tables.joins import join_labels
    from markscheme.tables.judgment_files import load_judgments
    from markscheme.tables.labels import load_labels

    rows = len(data["labels"])
    answers = pl.DataFrame(
        {"answer_id": np.arange(rows), "question": data["clusters"], "label": data["labels"]}
    )
    scores = pl.Series("score", data["scores"])
    table = answers.select("answer_id", "question").with_columns(
        pl.when(pl.Series(data["judged"])).then(scores).alias("score")
    )
    start = time.perf_counter()
    joined = join_labels(load_judgments(table), load_labels(answers))
    agreement(joined)
    return time.perf_counter() - start


def coverage(draws: int, seed: int) -> None:
    """How often intervals hold the known truth, and how wide they are, by number of labels."""
    import polars as pl

    from markscheme.agreement.accuracy_estimates import METHODS, estimates
    from markscheme.metrics.lexical import contains
    from markscheme.stats import Sample
    from markscheme_research.datasets import load

    table = load("evouna-nq")
    predictions = contains(table["answer"].fill_null(""), table["references"]).to_numpy()
    predictions = predictions.astype(np.float64)
    labels = table["label"].to_numpy()
    clusters = (table["question"].rank("dense") - 1).cast(pl.Int64).to_numpy()
    print(f"{len(labels):,} answers: people accept {labels.mean():.3f}, the judge "
          f"{predictions.mean():.3f}; right in {(predictions == labels).mean():.3f}")  # fmt: skip
    print(f"{draws:,} draws, seed {seed}; coverage and half-width of 95% intervals")
    rng = np.random.default_rng(seed)
    for number in (50, 100, 200, 400):
        covered, widths, shown = (dict.fromkeys(METHODS, 0.0) for _ in range(3))
        for _ in range(draws):
            chosen = rng.choice(len(labels), number, replace=False)
            known = np.full(len(labels), np.nan)
            known[chosen] = labels[chosen]
            sample = Sample(
                predictions=predictions[:, None],
                labels=known,
                weights=np.ones(len(labels)),
                clusters=clusters,
            )
            for found in estimates(sample):
                low, high = found.figure.low, found.figure.high
                if low is not None and high is not None:
                    shown[found.method] += 1
                    covered[found.method] += low <= labels.mean() <= high
                    widths[found.method] += (high - low) / 2
        print(f"{number} labels")
        for method in METHODS:
            count = shown[method]
            print(f"  {method:<14}{covered[method] / count:>7.3f}{widths[method] / count:>8.4f}"
                  f"   shown in {count:,.0f}")  # fmt: skip


JOBS = {"intervals": intervals, "whole table": whole_table}


def run(job: str, rows: int, per_question: int, seed: int) -> None:
    """One measurement, as a line of JSON."""
    seconds = JOBS[job](judged(rows, per_question, seed))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mb": peak}))


def main() -> None:
    """Measure every job on every shape, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=20260101)
    parser.add_argument("--job", choices=JOBS)
    parser.add_argument("--per-question", type=int, choices=SHAPES)
    parser.add_argument("--coverage", type=int, metavar="DRAWS")
    options = parser.parse_args()
    if options.coverage:
        coverage(options.coverage, options.seed)
        return
    if options.job:
        run(options.job, options.rows, options.per_question, options.seed)
        return
    print(f"{options.rows:,} judgments, seed {options.seed}")
    print(f"{'job':<14}{'answers a question':>20}{'seconds':>10}{'peak MB':>10}")
    for job in JOBS:
        for per_question in SHAPES:
            arguments = ["--job", job, "--per-question", str(per_question)]
            for name in ("rows", "seed"):
                arguments += [f"--{name}", str(getattr(options, name))]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.agreement", *arguments],
                capture_output=True,
                text=True,
                check=True,
            )
            found = json.loads(done.stdout)
            print(f"{job:<14}{per_question:>20}{found['seconds']:>10.2f}{found['peak_mb']:>10.0f}")


if __name__ == "__main__":
    main()
