"""What is timed. `python -m benchmarks.jobs JOB FILE` runs one job alone and prints its figures.

A job prepares its input, is timed over the work itself, and the process's peak memory is read at
the end: so each figure is of a fresh process that did nothing else.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.peer_judges import Scorer, rouge_score, sacrebleu

LEXICAL = ("exact_match", "contains", "token_f1")


def judges_in_memory(*names: str) -> Callable[[Path], Callable[[], object]]:
    """Our judges on a table in memory."""

    def prepare(file: Path) -> Callable[[], object]:
        import polars as pl

        from markscheme.contract.grammar import parse_judge
        from markscheme.engine.execute import apply

        table = pl.read_parquet(file)
        judges = [parse_judge(name) for name in names]
        return lambda: [apply(judge, table) for judge in judges]

    return prepare


def judges_streamed(*names: str) -> Callable[[Path], Callable[[], object]]:
    """Our judges streamed from a Parquet file with the judgments held in memory."""

    def prepare(file: Path) -> Callable[[], object]:
        import markscheme
        from markscheme.contract.registry import judges

        judges()
        return lambda: markscheme.judge(file, list(names)).summary

    return prepare


def judges_through_engine(*names: str) -> Callable[[Path], Callable[[], object]]:
    """Our judges streamed from a Parquet file into a run's folder, summary included."""

    def prepare(file: Path) -> Callable[[], object]:
        from markscheme.contract.grammar import parse_judge
        from markscheme.engine.local_run import run_in_folder
        from markscheme.tables.answers import AnswersReader

        judges = [parse_judge(name) for name in names]

        def work() -> object:
            with tempfile.TemporaryDirectory() as folder:
                return run_in_folder(AnswersReader([str(file)]), judges, Path(folder) / "run").rows

        return work

    return prepare


def evaluate_squad(file: Path) -> Callable[[], object]:
    """Hugging Face evaluate's `squad` path: `Metric.compute` on predictions and references."""
    import polars as pl

    from benchmarks.peers import squad_metric

    table = pl.read_parquet(file)
    predictions = [
        {"id": str(number), "prediction_text": answer}
        for number, answer in enumerate(table["answer"])
    ]
    references = [
        {"id": str(number), "answers": {"text": texts, "answer_start": [0] * len(texts)}}
        for number, texts in enumerate(table["references"].to_list())
    ]
    metric = squad_metric()
    return lambda: metric.compute(predictions=predictions, references=references)


def squad_formulas(file: Path) -> Callable[[], object]:
    """The same formulas without evaluate around them."""
    import polars as pl

    from benchmarks.squad import scores

    table = pl.read_parquet(file)
    rows = list(zip(table["answer"], table["references"].to_list(), strict=True))
    return lambda: scores(rows)


def peer(make: Callable[[], Scorer]) -> Callable[[Path], Callable[[], object]]:
    """Another library's measure, best over the references."""

    def prepare(file: Path) -> Callable[[], object]:
        import polars as pl

        table = pl.read_parquet(file)
        pairs = list(zip(table["answer"], table["references"].to_list(), strict=True))
        scorer = make()
        return lambda: scorer(pairs)

    return prepare


JOBS: dict[str, Callable[[Path], Callable[[], object]]] = {
    "three in memory": judges_in_memory(*LEXICAL),
    "three streamed from Parquet": judges_streamed(*LEXICAL),
    "three through the engine": judges_through_engine(*LEXICAL),
    "evaluate squad": evaluate_squad,
    "squad formulas": squad_formulas,
    **{
        name: judges_in_memory(name)
        for name in (*LEXICAL, "rouge1", "rouge2", "rougeL", "bleu", "char_similarity")
    },
    **{
        f"rouge-score {kind}": peer(partial(rouge_score, kind))
        for kind in ("rouge1", "rouge2", "rougeL")
    },
    "sacrebleu": peer(sacrebleu),
}


def peak_megabytes() -> float:
    """Most memory this process has held, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # Unlike ru_maxrss, it does not count what the parent held at the fork.
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1e3
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def main(name: str, file: str) -> None:
    """Run one job and print its figures as JSON."""
    work = JOBS[name](Path(file))
    before = peak_megabytes()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "before_mb": before, "peak_mb": peak_megabytes()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
