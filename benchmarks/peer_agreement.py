"""Other tools on the examiner's verdicts of the bundled example: the tables of docs/comparison.md.

    python -m benchmarks.peer_agreement PYTHON [--json FILE]

PYTHON has `pip install judgekeeper truescore judgy`. It reads 248 answers with their labels and the
examiner's verdicts and scores: `judgekeeper check` and `truescore agreement` all of the labels,
`truescore audit` and judgy's `estimate_success_rate` (seed 0) the 60 that the page draws. The test
tests/test_peer_agreement.py compares the page with tests/recorded/peer_agreement.json, which
`--json` writes.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import polars as pl

import markscheme
from benchmarks.side_by_side import run

EXAMPLE = Path(__file__).parents[1] / "examples" / "answers.jsonl"
DRAWN = 60
PEERS = """
import csv, json, os, subprocess, sys, tempfile
from importlib.metadata import version
import judgy, numpy, truescore
rows, binary = json.load(sys.stdin), os.path.dirname(sys.executable)
os.chdir(tempfile.mkdtemp())
with open("rows.csv", "w", newline="") as file:
    table = csv.DictWriter(file, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
def ran(tool, *words, out):
    # Both end with 1 also where all went well and the judge is not to be relied on.
    subprocess.run([os.path.join(binary, tool), *words], check=False, stdout=subprocess.DEVNULL)
    with open(out) as file:
        return json.load(file)
def interval(found):
    return [found["point"], found["low"], found["high"]]
def share(name):
    return [headline[name + "_mean"], headline[name + "_ci"]["lo"], headline[name + "_ci"]["hi"]]
def audit(judge):
    return interval(ran("truescore", "audit", "rows.csv", "--judge", judge, "--gold", "gold",
                        "--json", "audit.json", out="audit.json")["corrected"])
found = {"versions": {name: version(name) for name in ("judgekeeper", "truescore", "judgy")}}
report = ran("judgekeeper", "check", "rows.csv", "--out", "report", out="report/report.json")
headline = report["headline"]
found["judgekeeper"] = {
    "recall": share("tpr"), "rejected": share("tnr"), "kappa": [headline["kappa_mean"]],
    "words": report["verdict"]["summary"].partition(":")[0]}
# What the command `truescore agreement` prints; it writes no file.
agreed = truescore.judge_agreement([one["verdict"] for one in rows], [one["label"] for one in rows])
names = {"accuracy": "accuracy", "precision": "precision", "recall": "sensitivity",
         "rejected": "specificity", "kappa": "cohen_kappa"}
found["truescore"] = {
    ours: [getattr(getattr(agreed, theirs), part) for part in ("point", "low", "high")]
    for ours, theirs in names.items()}
found["audit of scores"], found["audit of verdicts"] = audit("score"), audit("verdict")
numpy.random.seed(0)
known = [one for one in rows if one["gold"] is not None]
found["judgy"] = judgy.estimate_success_rate(
    [one["gold"] for one in known], [one["verdict"] for one in known],
    [one["verdict"] for one in rows if one["gold"] is None])
print("found", json.dumps(found))
"""
FIGURES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall: right answers accepted",
    "rejected": "wrong answers rejected",
    "kappa": "Cohen's kappa",
}
"""Rows of the first table."""


def rows() -> list[dict[str, Any]]:
    """The example's answers: label, verdict, score, and as `gold` the label if it is drawn."""
    table = pl.read_ndjson(EXAMPLE)
    judgments = markscheme.judge(EXAMPLE, "examiner").judgments.select(
        pl.col("answer_id").alias("id"), pl.col("verdict").cast(pl.Int8), "score"
    )
    drawn = random.Random(0).sample(table["id"].to_list(), DRAWN)
    whole = table.select("id", pl.col("label").cast(pl.Int8)).join(judgments, on="id")
    gold = pl.when(pl.col("id").is_in(drawn)).then("label").alias("gold")
    return whole.with_columns(gold).to_dicts()


def cell(key: str, figure: list[float] | None, digits: int = 1) -> str:
    """A figure with its interval, in per cent; kappas as they are."""
    if figure is None:
        return "not shown"
    shape = "{:.2f}" if key == "kappa" else f"{{:.{digits}f}}"
    point, *ends = (shape.format(one if key == "kappa" else 100 * one) for one in figure)
    return f"{point} [{', '.join(ends)}]" if ends else point


def tables(found: dict[str, Any]) -> list[str]:
    """Lines of both tables of the page, from what the tools gave."""
    versions, headline, agreed = found["versions"], found["judgekeeper"], found["truescore"]
    lines = [
        f"| | judgekeeper {versions['judgekeeper']} `check` "
        f"| truescore {versions['truescore']} `agreement` |"
    ]
    lines += [
        f"| {words} | {cell(key, headline.get(key), 0)} | {cell(key, agreed[key])} |"
        for key, words in FIGURES.items()
    ]
    lines.append(f'| the verdict in words | "{headline["words"]}" | none |')
    names = {
        f"truescore {versions['truescore']} `audit`, scores": "audit of scores",
        "truescore, verdicts": "audit of verdicts",
        f"judgy {versions['judgy']}, verdicts": "judgy",
    }
    for name, key in names.items():
        estimate, low, high = (f"{100 * one:.1f}" for one in found[key])
        lines.append(f"| {name} | {estimate} | {low} to {high} |")
    return lines


def main() -> None:
    """Call the tools, print the tables and write what they gave."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("python", metavar="PYTHON")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    found = run(options.python, PEERS, rows())
    print("\n".join(tables(found)))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
