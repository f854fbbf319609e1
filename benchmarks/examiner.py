"""How well the shipped examiner agrees with people, and how fast it is: the figures of its card.

    python -m benchmarks.examiner [--data-dir DIR] [--json FILE]
                                  [--quality-only | --speed-only]

Every figure is on questions that no part of the examiner was trained or tuned on
(`markscheme_research.training.splits`: part `test`, in which every question of NQ301 lies).
Intervals are bootstrap intervals over questions.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks import squad
from benchmarks.jobs import peak_megabytes
from markscheme.agreement import AgreeOptions, agreement
from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.judges.examiner.weight_files import open_weights, platt, read_columns
from markscheme.models.sources import Models
from markscheme.results.figures import Figure, plain
from markscheme.tables.joins import join_labels
from markscheme.tables.judgment_files import load_judgments
from markscheme.tables.judgments import RELATIONS
from markscheme.tables.labels import load_labels
from markscheme_research import datasets
from markscheme_research.studies.answer_hierarchy import adjacent_sets, marks_test
from markscheme_research.training.splits import parts

ROOT = Path(__file__).parents[1]
CHECKLIST = ROOT / "tests" / "checklist"
EVERY = "all five"
SYSTEMS = ("DPR+FiD", "InstructGPT", "ChatGPT", "GPT-4", "BingChat")
ENTAILMENT = {
    EVERY: (93.5, 90.2),
    **dict(
        zip(
            SYSTEMS,
            ((94.8, 92.5), (92.7, 90.2), (92.6, 88.9), (93.8, 90.1), (92.6, 88.1)),
            strict=True,
        )
    ),
}
"""GPT-3.5 entailment's F1 and accuracy on all of EVOUNA-NQ, per cent (Yao & Barbosa 2024)."""
PUBLISHED_NQ301 = {
    "BEM": (0.806, 0.616),
    "text-davinci-003": (0.838, 0.675),
    "GPT-4": (0.848, 0.696),
    "a second human": (0.864, 0.728),
}
"""Accuracy and kappa of other judges on the labels of NQ301. The second human's are the paper's
agreement of two annotators (Kamalloo et al. 2023, section 4.3): 13.6% differ, Fleiss' kappa."""
JUDGES = {
    "fast": "examiner(depth=fast)", "default": "examiner", "full": "examiner(depth=full)",
}  # fmt: skip
STATISTICS = ("f1_positive", "accuracy", "auroc", "kappa")
FRESH_ROWS = {"fast": 4_000, "default": 4_000, "full": 1_000}
FRESH = """
import json, sys, time
start = time.perf_counter()
import polars as pl
from markscheme.engine.execute import apply
from markscheme.contract.grammar import parse_judge
from markscheme.models.sources import Models
imported = time.perf_counter()
judge, models, rows = parse_judge(sys.argv[1]), Models(), pl.read_parquet(sys.argv[2])
apply(judge, rows.head(1), models)
loaded = time.perf_counter()
began = time.perf_counter(), time.process_time()
apply(judge, rows[1:], models)
wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
from benchmarks.examiner import held_megabytes
print(json.dumps({
    "import_seconds": imported - start, "load_seconds": loaded - imported,
    "wall": wall, "cpu": cpu, "peak_mb": held_megabytes()}))
"""
"""A process of its own: seconds to import, to the first judgment, for all rows but that one, each
new to every cache, and the peak of memory."""


def test_part(data_dir: Path | None) -> pl.DataFrame:
    """EVOUNA-NQ's labelled answers to the questions of part `test`."""
    answers = datasets.load("evouna-nq", data_dir=data_dir).drop_nulls("answer")
    return answers.filter(parts(answers["question"]) == "test")


def judged(name: str, answers: pl.DataFrame) -> pl.DataFrame:
    """The outcomes of a judge next to the answers' ids."""
    outcomes = apply(parse_judge(name), answers, Models())
    return outcomes.with_columns(answers["answer_id"], judge=pl.lit(name))


def figures(
    outcomes: pl.DataFrame, answers: pl.DataFrame, *, by_system: bool
) -> dict[str, dict[str, Figure | int]]:
    """F1, accuracy, AUROC and kappa with intervals, answers that were not judged as errors."""
    joined = join_labels(load_judgments(outcomes), load_labels(answers))
    found: dict[str, dict[str, Figure | int]] = {}
    for one in agreement(joined, AgreeOptions(by="system" if by_system else None)):
        every = {**one.left_out, **one.as_errors}
        found[one.system or EVERY] = {
            "answers": one.answers,
            "questions": one.questions,
            **{name: every[name] for name in STATISTICS if name in every},
        }
    return found


def evouna(data_dir: Path | None) -> dict[str, Any]:
    """Agreement with people on EVOUNA-NQ, by judge and system; relations; marks."""
    answers = test_part(data_dir)
    by_depth = {use: judged(name, answers) for use, name in JUDGES.items()}
    found: dict[str, Any] = {
        use: figures(outcomes, answers, by_system=True) for use, outcomes in by_depth.items()
    }
    outcomes = by_depth["default"]
    accepted = answers["label"] >= 0.5
    relation = outcomes["relation"].cast(pl.String)
    found["relations"] = adjacent_sets(relation, accepted)
    found["marks"] = marks_test(outcomes["marks"], accepted)
    return found


def nq301(data_dir: Path | None) -> dict[str, Any]:
    """Agreement with the labels of NQ301, ours and recorded judgments where they are here."""
    answers = datasets.load("nq301", rows="pairs", data_dir=data_dir)
    if not (parts(answers["question"]) == "test").all():
        raise SystemExit("a question of NQ301 is not in the test part; its hash list is incomplete")
    found = {
        name: figures(judged(name, answers), answers, by_system=False)[EVERY]
        for name in JUDGES.values()
    }
    for name in ("bem", "text-davinci-003"):
        recorded = datasets.recorded("nq301", name, data_dir=data_dir)
        found[f"recorded {name}"] = figures(recorded, answers, by_system=False)[EVERY]
    return found


def checklist(folder: Path = CHECKLIST) -> dict[str, dict[str, Any]]:
    """Cases and how many the examiner passes, by capability, the weakest first."""
    cases = pl.concat(pl.read_ndjson(file) for file in sorted(folder.glob("*.jsonl")))
    answers = cases.with_columns(
        pl.lit(None, pl.String).alias("reference_kind"),
        pl.lit(None, pl.List(pl.Int64)).alias("reference_grades"),
        pl.lit(None, pl.String).alias("context"),
    )
    found: dict[str, dict[str, Any]] = {}
    right, ours = pl.col("verdict"), pl.col("ours").fill_null(value=False)
    counts = (
        pl.len().alias("cases"),
        (right == ours).sum().alias("passed"),
        (~right & ours).sum().alias("wrong_accepted"),
        (right & ~ours).sum().alias("right_rejected"),
    )
    for use, name in JUDGES.items():
        verdicts = apply(parse_judge(name), answers, Models())["verdict"]
        table = cases.select("capability", "verdict", ours=verdicts)
        every = table.with_columns(capability=pl.lit("all"))
        groups = pl.concat([table, every]).group_by("capability", maintain_order=True)
        for row in groups.agg(counts).to_dicts():
            found.setdefault(row.pop("capability"), {})[use] = row
    return dict(sorted(found.items(), key=lambda item: share_passed(item[1]["default"])))


def share_passed(one: Mapping[str, int]) -> float:
    """Share of cases with the verdict they should have; not judged counts as rejected."""
    return one["passed"] / one["cases"]


def speed(data_dir: Path | None) -> dict[str, Any]:
    """Judgments a second on EVOUNA-NQ's test rows, each row once, in a fresh process a judge; and
    of word F1 in plain Python on the same rows."""
    answers = test_part(data_dir).unique(["question", "answer"], maintain_order=True)
    answers = answers.sample(max(FRESH_ROWS.values()), seed=0)
    found: dict[str, Any] = {
        "rows": answers.height,
        "cores": len(os.sched_getaffinity(0)),
        "load_before": os.getloadavg()[0],
        "share_with_encoder": share_with_encoder(answers),
    }
    for use, name in JUDGES.items():
        found[use] = fresh(name, answers.head(FRESH_ROWS[use]))
    start = time.perf_counter(), time.process_time()
    for answer, references in answers.select("answer", "references").iter_rows():
        max(squad.f1(answer, reference) for reference in references)
    spent = time.perf_counter() - start[0], time.process_time() - start[1]
    found["f1"] = rates(answers.height, *spent)
    found["load_after"] = os.getloadavg()[0]
    return found


def held_megabytes() -> float:
    """Most memory of this program alone: `peak_megabytes` may hold its parent's from before."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return peak_megabytes()
    lines = status.read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1e3


def rates(rows: int, wall: float, cpu: float) -> dict[str, float]:
    """Judgments a second by the clock, and a processor second, which a busy machine sways less."""
    return {"a_second": rows / wall, "a_cpu_second": rows / cpu, "wall": wall, "cpu": cpu}


def share_with_encoder(answers: pl.DataFrame) -> float:
    """Share of the answers that the first stage leaves to the encoder."""
    opened = open_weights()
    matrix = read_columns(answers, opened.rarity).matrix
    score = platt(opened.trees(matrix), opened.settings.trees)
    return float(opened.settings.english.unsure(score).mean())


def fresh(name: str, answers: pl.DataFrame) -> dict[str, float]:
    """Import, load, rates and peak memory in a process of its own that judges every row once."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "rows.parquet")
        answers.write_parquet(file)
        done = subprocess.run(
            [sys.executable, "-c", FRESH, name, file],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
    found = dict(json.loads(done.stdout.splitlines()[-1]))
    return found | rates(answers.height - 1, found["wall"], found["cpu"])


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table."""
    for row in (heads, ["---"] * len(heads), *rows):
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def print_evouna(found: Mapping[str, Any]) -> None:
    """Agreement by system, then relations and marks."""
    for use, name in JUDGES.items():
        print(f"EVOUNA-NQ test, {name}; 95% intervals over questions\n")
        rows = []
        for system in (EVERY, *SYSTEMS):
            one = found[use][system]
            cells = [one[key].text(scale=100, digits=1) for key in ("f1_positive", "accuracy")]
            theirs = "{} / {}".format(*ENTAILMENT[system])
            rows.append([system, f"{one['answers']:,}", *cells, one["auroc"].text(), theirs])
        table(["system", "answers", "F1", "accuracy", "AUROC", "GPT-3.5 entailment"], rows)
    steps = found["relations"]
    counts = {one.higher: (one.higher_accepted, one.higher_answers) for one in steps}
    counts[RELATIONS[-1]] = (steps[-1].lower_accepted, steps[-1].lower_answers)
    tests = ["", *(one.p.reason or f"{one.p.value:.1e}" for one in steps)]
    rows = [
        [name, f"{size:,}", f"{100 * yes / size:.1f}" if size else "", p]
        for (name, (yes, size)), p in zip(counts.items(), tests, strict=True)
    ]
    print("Relations: share that people accept; one-tailed Fisher test against the set above\n")
    table(["relation", "answers", "accepted %", "p"], rows)
    print(f"Marks against labels: AUROC {found['marks'].auroc.text()}\n")


def print_nq301(found: Mapping[str, Any]) -> None:
    """Ours and the others'."""
    print("NQ301, 1,490 labelled answers, shipped threshold 0.5\n")
    rows = [[name, one["accuracy"].text(), one["kappa"].text()] for name, one in found.items()]
    rows += [[f"published: {name}", *map(str, pair)] for name, pair in PUBLISHED_NQ301.items()]
    table(["judge", "accuracy", "kappa"], rows)


def print_checklist(title: str, found: Mapping[str, Any]) -> None:
    """Pass rates, the weakest first."""
    print(f"{title}\n")
    rows = [
        [name, str(one["default"]["cases"]),
         *(f"{100 * share_passed(one[use]):.0f}" for use in JUDGES),
         str(one["default"]["wrong_accepted"]), str(one["default"]["right_rejected"])]
        for name, one in found.items()
    ]  # fmt: skip
    heads = ["capability", "cases", *(f"depth={use}, % passed" for use in JUDGES)]
    table([*heads, "wrong ones accepted", "right ones rejected"], rows)


def print_speed(found: Mapping[str, Any]) -> None:
    """Rates, memory and load."""
    print(
        f"Speed: {found['rows']:,} rows, {found['cores']} cores, load of the machine "
        f"{found['load_before']:.1f} before and {found['load_after']:.1f} after; the encoder ran "
        f"on {100 * found['share_with_encoder']:.1f}% of the rows\n"
    )
    rows = [
        [name, *paces(found[use], found["f1"]),
         *(f"{found[use][key]:.2f}" for key in ("import_seconds", "load_seconds")),
         f"{found[use]['peak_mb']:,.0f}"]
        for use, name in JUDGES.items()
    ]  # fmt: skip
    rows.append(["word F1 in plain Python", *paces(found["f1"], found["f1"]), "", "", ""])
    heads = ["judge", "judgments a second", "a processor second", "processor time, that of F1 as 1",
             "import s", "load s", "peak MB"]  # fmt: skip
    table(heads, rows)


def paces(one: Mapping[str, float], unit: Mapping[str, float]) -> list[str]:
    """Rates by the clock and the processor, and the processor time of a row in that of another."""
    times = unit["a_cpu_second"] / one["a_cpu_second"]
    return [f"{one['a_second']:,.0f}", f"{one['a_cpu_second']:,.0f}", f"{times:,.1f}"]


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, help="folder with EVOUNA-NQ and NQ301")
    parser.add_argument("--json", type=Path, help="where to keep the figures")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--speed-only", action="store_true")
    only.add_argument("--quality-only", action="store_true")
    options = parser.parse_args()
    found: dict[str, Any] = {"weights": open_weights().revision}
    print(f"examiner {found['weights']}\n")
    if not options.speed_only:
        found["evouna_nq"] = evouna(options.data_dir)
        print_evouna(found["evouna_nq"])
        found["nq301"] = nq301(options.data_dir)
        print_nq301(found["nq301"])
        found["checklist"] = checklist()
        print_checklist("Checklist", found["checklist"])
        found["held_out"] = checklist(CHECKLIST / "heldout")
        print_checklist("Cases held out while it was made", found["held_out"])
    if not options.quality_only:
        found["speed"] = speed(options.data_dir)
        print_speed(found["speed"])
    if options.json:
        options.json.write_text(json.dumps(plain(found), indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
