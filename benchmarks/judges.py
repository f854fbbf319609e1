"""Every judge that runs here, on people's labels: agreement, speed, memory and cost in one table.

    MARKSCHEME_DATA=... python -m benchmarks.judges

Agreement is on questions that no judge of ours was trained or tuned on: part `test` of EVOUNA-NQ,
and NQ301. Each judge runs in a process of its own, on the same rows, one after the other; speed is
answers judged a second on EVOUNA-NQ, its models already loaded, memory the process's peak. What
other people's judges gave on NQ301 was recorded by Kamalloo et al.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

JUDGES = (
    "exact_match",
    "contains",
    "token_f1",
    "rougeL",
    "bleu",
    "char_similarity",
    "embedding_cosine",
    "entailment",
    "claims",
    "examiner(encoder=never)",
    "examiner",
)
"""Judges that need no key and no download, as they are without any option."""

RECORDED = ("bem", "text-davinci-003")
"""Judges whose verdicts on NQ301 were released."""


def figures(name: str, *, rows: int | None = None) -> dict[str, Any]:
    """Agreement of one judge with people's labels, its rate and its peak memory."""
    import polars as pl
    from sklearn.metrics import cohen_kappa_score, f1_score, roc_auc_score

    from benchmarks.jobs import peak_megabytes
    from markscheme import datasets
    from markscheme.engine.apply import apply
    from markscheme.grammar import parse_judge, signature
    from markscheme.models.container import Models
    from markscheme.training.splits import parts

    models = Models()
    judge = parse_judge(name)
    evouna = datasets.load("evouna-nq")
    evouna = evouna.filter(parts(evouna["question"]) == "test", pl.col("label").is_not_null())
    evouna = evouna if rows is None else evouna.head(rows)
    apply(judge, evouna.head(64), models)
    began = time.perf_counter()
    found = apply(judge, evouna, models)
    seconds = time.perf_counter() - began
    labels = evouna["label"].to_numpy() > 0
    verdicts = found["verdict"].to_numpy()
    nq = datasets.load("nq301", rows="pairs")
    other = apply(judge, nq, models)["verdict"].to_numpy()
    people = nq["label"].to_numpy() > 0
    return {
        "judge": name,
        "signature": signature(judge, models),
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

    from markscheme import datasets

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
    slowest = min(one["rate"] for one in found)
    lines = [
        "| judge | EVOUNA-NQ F1 | accuracy | AUROC | NQ301 accuracy | kappa | answers/s | "
        "times the slowest | peak MB | cost |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for one in found:
        lines.append(
            f"| `{one['judge']}` | {100 * one['f1']:.1f} | {100 * one['accuracy']:.1f} | "
            f"{one['auroc']:.3f} | {one['nq301_accuracy']:.3f} | {one['nq301_kappa']:.3f} | "
            f"{one['rate']:,.0f} | {one['rate'] / slowest:,.0f} | {one['peak_mb']:,.0f} | $0 |"
        )
    lines += [
        f"| {one['judge']}, as released | | | | {one['nq301_accuracy']:.3f} | "
        f"{one['nq301_kappa']:.3f} | | | | |"
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
