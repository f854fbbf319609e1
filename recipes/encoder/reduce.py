"""Make a run's results small enough to commit: trained states in 8 bits, figures without texts.

    python -m recipes.encoder.reduce state RUN/mpnet-*.npz --out trained/mpnet.npz
    python -m recipes.encoder.reduce results RUN --out results-2.json
    python -m recipes.encoder.reduce compare RUN/mpnet-*.npz --reduced trained/mpnet.npz \
        --base FOLDER --rows rows.parquet
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recipes.encoder.weights import open_archives, pack_trained, save

LEAST = 15
"""Fewest rows of a kind or a language that has figures."""
COLUMNS = ("rows", "auroc", "accuracy", "wrong_accepted", "right_rejected")


def reduce_state(archives: Sequence[Path], out: Path) -> None:
    """Write a trained state with matrices in 8 bits and vectors in float16."""
    state, metadata = open_archives(*archives)
    save(out, pack_trained(state), **metadata)


def reduce_results(results: dict[str, Any]) -> dict[str, Any]:
    """Plan, evaluations and the figures of the state that was saved, by stage.

    Figures are rows by set, by "set: kind" and by "contrast in: language", with `COLUMNS`.
    """
    stages = {}
    for stage, result in results.items():
        history = result["history"]
        best = max(history, key=lambda evaluation: evaluation["figure"])
        stages[stage] = {
            "plan": result["plan"],
            "evaluations": [
                {
                    "after": f"{evaluation['when']}, {evaluation['how']}",
                    "steps": evaluation["steps"],
                    "seconds": evaluation["seconds"],
                    "mean": round(evaluation["figure"], 4),
                    "contrast_auroc": round(evaluation["sets"]["contrast"]["auroc"], 3),
                    "contrast_accuracy": round(evaluation["sets"]["contrast"]["accuracy"], 3),
                    "worst_mark_is_a_wrong_word": round(evaluation["hit"], 3),
                }
                for evaluation in history
            ],
            "saved": f"{best['when']}, {best['how']}",
            "mean_in_8_bits": round(result["eight_bits"], 4),
            "figures": {
                name: [_number(figures[column]) for column in COLUMNS]
                for name, figures in best["sets"].items()
                if ":" not in name or figures["rows"] >= LEAST
            },
        }
    return {"columns": COLUMNS, "stages": stages}


def _number(value: float | None) -> float | None:
    """A figure with three digits; none where there are no rows of a label."""
    if value is None or value != value:
        return None
    return value if isinstance(value, int) else round(value, 3)


def as_json(results: dict[str, Any]) -> str:
    """JSON with one line for each evaluation and each row of figures."""
    lines = ["{", f'"columns": {json.dumps(results["columns"])},', '"stages": {']
    for number, (stage, result) in enumerate(results["stages"].items()):
        lines.append(f"{json.dumps(stage)}: {{")
        for name in ("plan", "saved", "mean_in_8_bits"):
            lines.append(f"{json.dumps(name)}: {json.dumps(result[name])},")
        evaluations = ",\n".join(map(json.dumps, result["evaluations"]))
        figures = ",\n".join(
            f"{json.dumps(name)}: {json.dumps(row)}" for name, row in result["figures"].items()
        )
        lines.append(f'"evaluations": [\n{evaluations}\n],\n"figures": {{\n{figures}\n}}')
        lines.append("}," if number + 1 < len(results["stages"]) else "}")
    return "\n".join([*lines, "}", "}", ""])


def compare(
    exact: Sequence[Path], reduced: Path, base: Path, rows: Path, most: int
) -> tuple[int, float, float, int]:
    """Differences in log-odds that 8 bits make on dev rows.

    Returns:
        Rows, the largest and the mean absolute difference, and how many verdicts changed.
    """
    import polars as pl

    from recipes.encoder.load import Scorer

    table = pl.read_parquet(rows).filter(pl.col("part") == "dev")
    if open_archives(reduced)[1]["encoder"] == "mpnet":
        table = table.filter(pl.col("readers") != "other")
    table = table[:: max(1, len(table) // most)].head(most)
    chosen = table.select("question", "references", "answer").rows()
    scores = [
        np.array([score.log_odds for score in Scorer(archives, base).score(chosen)])
        for archives in (exact, reduced)
    ]
    difference = np.abs(scores[0] - scores[1])
    changed = int(((scores[0] >= 0) != (scores[1] >= 0)).sum())
    return len(table), float(difference.max()), float(difference.mean()), changed


def main() -> None:
    """Write a reduced file, or compare one with what it was made from."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["state", "results", "compare"])
    parser.add_argument("run", type=Path, nargs="+", help="archives, or the folder of a run")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--reduced", type=Path)
    parser.add_argument("--base", type=Path)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--most", type=int, default=200)
    options = parser.parse_args()
    if options.what == "state":
        reduce_state(options.run, options.out)
    elif options.what == "results":
        results = json.loads((options.run[0] / "results.json").read_text("utf-8"))
        options.out.write_text(as_json(reduce_results(results)), encoding="utf-8")
    else:
        import torch

        torch.set_num_threads(1)
        rows, largest, mean, changed = compare(
            options.run, options.reduced, options.base, options.rows, options.most
        )
        print(f"{rows} dev rows: largest difference of log-odds {largest:.4f}, mean {mean:.4f}; "
              f"{changed} verdicts changed")  # fmt: skip


if __name__ == "__main__":
    main()
