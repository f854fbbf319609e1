"""PEDANTS of qa-metrics next to the examiner, on the same rows, where its weights can be had.

It fetches its classifiers, which are pickles, when it is first used: so it runs in an interpreter
of its own (BENCH_PEDANTS names one that has qa-metrics), never in ours, and not without a network.
"""

from __future__ import annotations

import os

from benchmarks.examiner import PEDANTS_ROWS, time_pedants


def section() -> str:
    """A paragraph for the page."""
    python = os.environ.get("BENCH_PEDANTS")
    if python is None:
        return (
            "PEDANTS (qa-metrics) was not run: it downloads pickled classifiers at first use. "
            "`BENCH_PEDANTS=/path/to/python make bench` runs it in an interpreter that has it."
        )
    import polars as pl

    from markscheme_research import datasets
    from markscheme_research.training.splits import parts

    answers = datasets.load("evouna-nq")
    answers = answers.filter(parts(answers["question"]) == "test", pl.col("label").is_not_null())
    found = time_pedants(answers.sample(PEDANTS_ROWS, seed=0), python)
    if "not_run" in found:
        return f"PEDANTS (qa-metrics) did not run: {found['not_run']}"
    return (
        f"PEDANTS (qa-metrics): {found['a_second']:,.0f} answers a second and accuracy "
        f"{100 * found['accuracy']:.1f} on {PEDANTS_ROWS} of these rows."
    )
