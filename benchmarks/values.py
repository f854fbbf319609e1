# ruff: noqa: E501 - tables of patterns and words read better unfolded
"""Typed values against people's labels: precision of conflicts and agreements, false vetoes, speed.

    MARKSCHEME_DATA=... python -m benchmarks.values [--errors 40] [--half development]

Rows of `near-miss/contrast.jsonl` are split by the hash of their group. Half was set aside at
first; of that half, three quarters were read once its first figures had been taken, so `unseen` is
the eighth of which no row was ever read. False vetoes are conflicts on answers that people accepted: the training half of
EVOUNA-NQ (part `train` of the project's split) and EfficientQA, of which we hold one half only.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import zstandard

from markscheme.values import Comparison, Outcome, compare_values
from markscheme_research.training.splits import part_of

Row = dict[str, Any]
SHORT = 15
"""Words of a short answer."""


def half_of(key: str) -> str:
    """`development` or `unseen`, by the hash of a group or question."""
    return "unseen" if int(hashlib.sha256(key.encode()).hexdigest(), 16) % 8 == 7 else "development"


def contrast(data: Path, name: str = "contrast.jsonl") -> Iterator[Row]:
    """Rows of a near-miss file."""
    with (data / "near-miss" / name).open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield {**row, "half": half_of(row.get("group") or row["id"])}


def evouna(data: Path) -> Iterator[Row]:
    """Labelled answers of EVOUNA-NQ; `half` is the part of the project's own split."""
    for item in json.loads((data / "evouna" / "NQ.json").read_text(encoding="utf-8")):
        if item.get("improper"):
            continue
        half = part_of(item["question"])
        for system in ("fid", "gpt35", "chatgpt", "gpt4", "newbing"):
            label = item.get(f"judge_{system}")
            if label is None or not item.get(f"answer_{system}"):
                continue
            yield {
                "question": item["question"], "references": item["golden_answer"].split("/"), "answer": item[f"answer_{system}"],
                "label": float(label), "kind": system, "half": half,
            }  # fmt: skip


def graded(data: Path, name: str) -> Iterator[Row]:
    """Rows graded by people, the middle grades left out."""
    raw = (data / "graded" / f"{name}.jsonl.zst").read_bytes()
    text = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(raw)).read().decode()
    for line in text.splitlines():
        row = json.loads(line)
        if row["label"] >= 0.75 or row["label"] <= 0.25:
            yield {**row, "kind": name, "half": half_of(row["question"])}


def compare(rows: Iterable[Row]) -> list[tuple[Row, Comparison]]:
    """Each row with its comparison."""
    return [
        (row, compare_values(row["question"], row["references"], row["answer"])) for row in rows
    ]


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {100 * part / whole:.1f}%" if whole else "0/0"


def summary(name: str, compared: list[tuple[Row, Comparison]]) -> None:
    """Print precision of conflicts, missing and agreements, and the false-veto rate."""
    right = [one for one in compared if one[0]["label"] >= 0.75]
    wrong = [one for one in compared if one[0]["label"] <= 0.25]
    print(f"\n== {name}: {len(compared)} rows, {len(right)} right, {len(wrong)} wrong")
    for outcome in (Outcome.CONFLICT, Outcome.MISSING):
        for least in (0.0, 0.5):
            said = [
                one for one in compared if one[1].outcome is outcome and one[1].confidence >= least
            ]
            bad = [one for one in said if one[0]["label"] >= 0.75]
            print(
                f"  {outcome:9} confidence >= {least}: wrong answers among them {_share(len(said) - len(bad), len(said))}; right answers hit {_share(len(bad), len(right))}; wrong answers caught {_share(len(said) - len(bad), len(wrong))}"
            )
    agreed = [one for one in compared if one[1].outcome is Outcome.AGREE and one[1].decided]
    short = [one for one in agreed if len(one[0]["answer"].split()) <= SHORT]
    print(
        f"  agree, decided: right {_share(sum(one[0]['label'] >= 0.75 for one in agreed), len(agreed))}; in short answers {_share(sum(one[0]['label'] >= 0.75 for one in short), len(short))}"
    )


def by_kind(compared: list[tuple[Row, Comparison]], kinds: Iterable[str]) -> None:
    """Print outcomes by kind of row: how many are decided, and how many of those rightly."""
    print(
        f"\n  {'kind':22}{'rows':>6}{'conflict':>10}{'right':>8}{'agree':>8}{'right':>8}{'decided':>9}"
    )
    for kind in kinds:
        rows = [one for one in compared if one[0]["kind"] == kind]
        conflict = [
            one
            for one in rows
            if one[1].outcome in (Outcome.CONFLICT, Outcome.MISSING) and one[1].confidence >= 0.5
        ]
        agree = [one for one in rows if one[1].outcome is Outcome.AGREE and one[1].decided]
        right = (
            sum(one[0]["label"] <= 0.25 for one in conflict),
            sum(one[0]["label"] >= 0.75 for one in agree),
        )
        decided = (len(conflict) + len(agree)) / max(len(rows), 1)
        print(
            f"  {kind:22}{len(rows):6}{len(conflict):10}{100 * right[0] / max(len(conflict), 1):7.0f}%{len(agree):8}{100 * right[1] / max(len(agree), 1):7.0f}%{100 * decided:8.0f}%"
        )


VALUE_KINDS = [
    "sign",
    "magnitude",
    "rounding",
    "unit",
    "percent",
    "date_format",
    "duration",
    "version_identifier",
    "currency",
    "count",
    "range_bound",
    "granularity",
    "list_missing",
    "list_extra",
    "order",
    "choice",
    "several_alternatives",
    "temporal_qualifier",
]


def show_errors(compared: list[tuple[Row, Comparison]], count: int) -> None:
    """Print rows whose outcome contradicts the label."""
    shown: Counter[str] = Counter()
    for row, found in compared:
        veto = (
            found.outcome in (Outcome.CONFLICT, Outcome.MISSING)
            and found.confidence >= 0.5
            and row["label"] >= 0.75
        )
        support = found.outcome is Outcome.AGREE and found.decided and row["label"] <= 0.25
        if not (veto or support) or shown[found.outcome] >= count:
            continue
        shown[found.outcome] += 1
        print(
            f"\n{found.outcome} {found.confidence:.2f} {found.kind} label={row['label']} [{row['kind']}] {found.reason}\n   Q {row['question'][:200]}\n   R {row['references']}\n   A {row['answer'][:300]}"
        )


def speed(rows: list[Row]) -> None:
    """Rows a second on one core, and the time of one answer of a thousand words."""
    from markscheme.values import parse

    short = [row for row in rows if len(row["answer"].split()) <= SHORT]
    parse._parse.cache_clear()
    start = time.perf_counter()
    compare(short)
    taken = time.perf_counter() - start
    print(
        f"\n  {len(short) / taken:,.0f} short rows a second ({sum(len(row['references']) for row in short) / len(short):.1f} references each)"
    )
    words = " ".join(row["answer"] for row in rows if len(row["answer"].split()) > 60).split()[
        :1000
    ]
    start = time.perf_counter()
    compare_values("How much did it cost in 2019?", "$3.5 million", " ".join(words))
    print(f"  {1000 * (time.perf_counter() - start):.0f} ms for an answer of {len(words)} words")


PIECES = (
    "It cost $3.5 million in March 2019, up from 12.5 kg. ",
    "1 2 3 4 5 ",
    "one two ",
    "- " * 20,
    "a (",
    "3:3:",
    "1,1.1,1.",
    "May may ",
    "x^2 = ",
    "the third of the ",
)
"""What long texts are made of, to find a pattern whose time grows faster than the text."""


def growth() -> None:
    """Time of a text four times as long, as a ratio; 4 is linear growth, 16 quadratic."""

    def seconds(piece: str, size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        start = time.perf_counter()
        compare_values("How much did it cost in 2019?", "$4 million", text)
        return time.perf_counter() - start

    print("time of 12,000 characters over that of 3,000 (4 is linear)")
    for piece in PIECES:
        small, large = (
            min(seconds(piece, size + turn) for turn in range(3)) for size in (3_000, 12_000)
        )
        print(f"  {large / small:5.1f}  {piece!r}")


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", type=int, default=0)
    parser.add_argument("--half", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--near-miss", action="store_true", help="the test set, to be run once")
    parser.add_argument(
        "--growth", action="store_true", help="only how time grows with length; needs no data"
    )
    options = parser.parse_args()
    if options.growth:
        growth()
        return
    data = Path(os.environ.get("MARKSCHEME_DATA", "../shared/data"))
    if options.near_miss:
        compared = compare(contrast(data, "near-miss.jsonl"))
        summary("near-miss (test)", compared)
        return
    sets = {
        "contrast": list(contrast(data)),
        "evouna": list(evouna(data)),
        "efficientqa": list(graded(data, "efficientqa_test")),
    }
    for name, rows in sets.items():
        if options.only and name != options.only:
            continue
        for half in ("train",) if name == "evouna" else ("development", "unseen"):
            if options.half not in ("", half, "train" if name != "evouna" else half):
                continue
            if not (compared := compare(row for row in rows if row["half"] == half)):
                continue
            summary(f"{name}, {half}", compared)
            if name == "contrast":
                by_kind(compared, VALUE_KINDS)
            if options.errors:
                show_errors(compared, options.errors)
    speed(sets["contrast"])


if __name__ == "__main__":
    main()
