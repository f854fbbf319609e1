"""How well the entailment judge's hierarchy and marks agree with people, on its default path.

    python -m benchmarks.entailment [--data-dir DIR] [--judge JUDGE] [--part development]

By default on questions of EVOUNA-NQ that nothing in the judge was trained or tuned on
(`markscheme_research.training.splits`, part `test`); the paper's figures are GPT-3.5's on all.
Relations are also compared with those written into the bundled example.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.examiner import ENTAILMENT, EVERY, ROOT
from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.models.sources import Models
from markscheme.results import p_text
from markscheme.tables.answers import read_answers
from markscheme.tables.judgments import RELATIONS
from markscheme_research import datasets
from markscheme_research.papers.yao_2024 import TABLE_9, TABLE_12, TABLE_13
from markscheme_research.studies.answer_hierarchy import (
    adjacent_sets,
    alternatives,
    marks_test,
    set_counts,
)
from markscheme_research.training.splits import parts

EXAMPLE = ROOT / "examples" / "answers.jsonl"


def evouna(judge: str, part: str, data_dir: Path | None) -> pl.DataFrame:
    """The part's labelled answers with the judge's outcomes."""
    answers = datasets.load("evouna-nq", data_dir=data_dir).drop_nulls("answer")
    answers = answers.filter(parts(answers["question"]) == part)
    start = time.perf_counter()
    outcomes = apply(parse_judge(judge), answers, Models())
    seconds = time.perf_counter() - start
    print(f"{answers.height:,} answers of part {part}, {answers.height / seconds:,.0f} a second\n")
    return outcomes.with_columns(answers["system"], accepted=answers["label"] >= 0.5)


def line(*cells: Any) -> None:
    """One row, the first cell to the left."""
    first, *others = (str(cell) for cell in cells)
    print(f"{first:34}" + "".join(f"{cell:>17}" for cell in others))


def sets(rows: pl.DataFrame) -> None:
    """Counts and acceptance of the four sets, and the tests between neighbours."""
    print("The four sets (Table 9; the paper's counts in per cent of all)")
    line("set", "answers", "per cent", "paper", "accepted %")
    total = sum(TABLE_9.values())
    for row in set_counts(rows["relation"], rows["accepted"]).rows(named=True):
        share = row["accepted"] / row["count"] if row["count"] else float("nan")
        line(
            row["relation"], f"{row['count']:,}", f"{100 * row['share']:.1f}",
            f"{100 * TABLE_9[row['relation']] / total:.1f}", f"{100 * share:.1f}",
        )  # fmt: skip
    print(f"not judged: {(rows['status'] != 'judged').sum()}\n")
    for title, part in (
        ("all systems", rows),
        ("without DPR+FiD, as the paper", rows.filter(pl.col("system") != "DPR+FiD")),
    ):
        print(f"One-tailed Fisher tests, {title} (Table 12)")
        line("sets", "odds ratio", "paper", "p")
        steps = adjacent_sets(part["relation"], part["accepted"])
        for step, paper in zip(steps, TABLE_12.values(), strict=True):
            p = p_text(step.p.value, step.p.reason)
            line(f"{step.higher}>{step.lower}", step.odds_ratio.text(digits=2), paper, p)
        print()


def verdicts(rows: pl.DataFrame) -> None:
    """F1 and accuracy by system under every policy, next to Table 1's Entailment row."""
    print("F1 and accuracy in per cent (Table 1, Entailment; Table 11's alternatives)")
    line("policy, system", "F1", "paper", "accuracy", "paper")
    for one in alternatives(rows["relation"], rows["accepted"], rows["system"]):
        name = one.system or EVERY
        paper = ENTAILMENT[name] if one.policy == "superior_or_inferior" else ("", "")
        line(
            name if paper[0] else f"{one.policy}, {name}",
            one.f1.text(scale=100, digits=1), paper[0],
            one.accuracy.text(scale=100, digits=1), paper[1],
        )  # fmt: skip
    print()


def marks(rows: pl.DataFrame) -> None:
    """AUROC of marks and scores, and the one-tailed Brunner-Munzel test."""
    print(f"Marks against people's verdicts (Table 13; the paper's best {TABLE_13})")
    line("", "AUROC", "p")
    for name in ("marks", "score"):
        found = marks_test(rows[name], rows["accepted"])
        line(name, found.auroc.text(digits=4), p_text(found.p.value, found.p.reason))
    print()


def example(judge: str) -> None:
    """Relations of the bundled example next to those written into it."""
    known = pl.read_ndjson(EXAMPLE)
    found = apply(parse_judge(judge), read_answers(EXAMPLE), Models())
    both = known.select("relation").with_columns(ours=found["relation"].cast(pl.String))
    right = (both["relation"] == both["ours"]).sum()
    print(f"Relations of the bundled example: {right} of {both.height} right, "
          f"{100 * right / both.height:.1f} per cent")  # fmt: skip
    line("written / ours", *RELATIONS)
    for relation in RELATIONS:
        own = both.filter(pl.col("relation") == relation)
        line(relation, *((own["ours"] == ours).sum() for ours in RELATIONS))


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--judge", default="entailment")
    parser.add_argument("--part", default="test", choices=("test", "development"))
    arguments = parser.parse_args()
    rows = evouna(arguments.judge, arguments.part, arguments.data_dir)
    sets(rows)
    verdicts(rows)
    marks(rows)
    example(arguments.judge)


if __name__ == "__main__":
    main()
