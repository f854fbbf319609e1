"""Candidates a second of the listwise examiner on TREC-DL-NF: `python -m benchmarks.listwise`."""

from __future__ import annotations

import time

import polars as pl

from markscheme.datasets import load
from markscheme.engine.apply import apply
from markscheme.grammar import parse_judge

ROWS = 1500


def main() -> None:
    """Print the speed with and without embeddings, loading of weights apart."""
    answers: pl.DataFrame = load("trec-dl-nf").head(ROWS)
    for name in ("listwise_examiner(encoder=never)", "listwise_examiner"):
        judge = parse_judge(name)
        apply(judge, answers.head(10))
        begin = time.perf_counter()
        apply(judge, answers)
        spent = time.perf_counter() - begin
        print(f"{name}: {answers.height / spent:,.0f} candidates a second")


if __name__ == "__main__":
    main()
