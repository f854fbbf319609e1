r"""The examiner's figures on near misses and graded sets, with ablation and reliability diagram.

    MARKSCHEME_DATA=../shared/data python -m recipes.card [--contrast-test]
    MARKSCHEME_DATA=../shared/data python -m recipes.card --judge examiner \
        --svg docs/examiner-reliability.svg

Held-out questions of the graded sets (`recipes.labelled.part`), `near-miss.jsonl`; and, only on
request, the frozen contrast test: every look at that is a line in docs/examiner-looks.md. The
diagram has the near misses and the graded sets with 500 answers or more; bins of fewer than ten
answers are left out of it.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import markscheme
from markscheme.contract import parse_judge
from markscheme.engine import apply
from markscheme.models import Models
from recipes.labelled import DATA, GRADED, labelled, rows_of

Array = npt.NDArray[Any]
SURE = 0.4
"""Scores so far from one half, or farther, are confident: above .9 or below .1."""
BINS = 10
DRAWN, LEAST = 500, 10
"""Answers of a graded set, and of a bin, from which the diagram shows them."""
BY_KIND = ("second", "near", "reports'", "public", "languages'")
"""How the names of sets begin of which kinds are looked at too (languages are those of theirs)."""
AS_FILES = ("reports' kinds, new rows", "public reports")
"""Sets of whole replies, some with reasoning or instructions, which reading files takes out."""
JUDGES = ("examiner(depth=fast)", "examiner", "examiner(depth=full)")


def near_misses(data: Path) -> pl.DataFrame:
    """The project's 158 published near misses."""
    lines = (data / "near-miss" / "near-miss.jsonl").read_text(encoding="utf-8").splitlines()
    return plain([json.loads(line) for line in lines])


def contrast_test(name: str = "contrast-test", kind: str = "kind") -> pl.DataFrame:
    """A frozen contrast test: `contrast-test`, or that with `-second`, `-languages`, `-reports`."""
    return plain(list(rows_of(DATA / f"{name}.jsonl.zst")), kind)


def public_reports(data: Path) -> pl.DataFrame:
    """Rows made from public reports of wrong verdicts; nothing was trained or tuned on them."""
    lines = (data / "reports" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    return plain([json.loads(line) for line in lines])


def plain(rows: Sequence[dict[str, Any]], kind: str = "kind") -> pl.DataFrame:
    """Question, references, answer, label and kind, which is the row's field of that name."""
    kept = ("question", "references", "answer", kind)
    table = pl.DataFrame([{name: row[name] for name in kept} for row in rows])
    labels = pl.Series([float(row["label"]) for row in rows])
    return table.rename({kind: "kind"}).with_columns(label=labels)


def scored(judge: str, table: pl.DataFrame, *, as_files: bool = False) -> Array:
    """A judge's scores of labelled rows, shape (rows,).

    Args:
        judge: which.
        table: the rows.
        as_files: whether answers are read as those of files are, without what frames them.
    """
    answers = table.select("question", "references", "answer").with_columns(
        answer_id=pl.int_range(pl.len()).cast(pl.String)
    )
    if as_files:
        return markscheme.judge(answers, judge).judgments["score"].to_numpy()
    answers = answers.with_columns(reference_kind=pl.lit("text"))
    return apply(parse_judge(judge), answers, Models())["score"].to_numpy()


def calibration_error(accepted: Array, scores: Array) -> float:
    """Mean distance of score and share accepted over ten bins of equal width, weighted by rows."""
    place = np.minimum((scores * BINS).astype(int), BINS - 1)
    parts = [place == number for number in range(BINS)]
    return float(
        sum(
            part.mean() * abs(scores[part].mean() - accepted[part].mean())
            for part in parts
            if part.any()
        )
    )


def interval(right: Array, groups: Sequence[str]) -> tuple[float, float]:
    """95% interval of an accuracy, by resampling questions a thousand times."""
    _, number = np.unique(np.array(groups), return_inverse=True)
    hits, rows = np.bincount(number, right), np.bincount(number)
    drawn = np.random.default_rng(0).integers(0, len(hits), (1000, len(hits)))
    shares = hits[drawn].sum(1) / rows[drawn].sum(1)
    low, high = np.quantile(shares, [0.025, 0.975])
    return float(low), float(high)


def line(name: str, table: pl.DataFrame, scores: Array) -> str:
    """One row of the table of figures."""
    from sklearn.metrics import cohen_kappa_score, roc_auc_score

    accepted = (table["label"] > 0.5).to_numpy()
    verdict = scores >= 0.5
    right = verdict == accepted
    far = abs(scores - 0.5)
    sure = far > SURE
    surer = far >= np.median(far)
    low, high = interval(right, table["question"].to_list())
    return (
        f"{name:30} {len(table):6,}  {100 * right.mean():5.1f} ({100 * low:.1f}-{100 * high:.1f})"
        f"  {100 * verdict[~accepted].mean():5.1f} / {100 * (~verdict[accepted]).mean():4.1f}"
        f"  {roc_auc_score(accepted, scores):.3f}  {cohen_kappa_score(accepted, verdict):.3f}"
        f"  {calibration_error(accepted, scores):.3f}"
        f"  {100 * sure.mean():3.0f}%: {100 * right[sure].mean() if sure.any() else np.nan:5.1f}"
        f"  {100 * right[surer].mean():5.1f}"
    )


HEAD = (
    f"{'set':30} {'rows':>6}  accuracy (95%)      wrong acc. / right rej.  AUROC  kappa  "
    "cal.   sure: right    surer half"
)


def by_kind(table: pl.DataFrame, scores: Array, least: int = 10) -> str:
    """Share and count of right verdicts of kinds of at least so many rows, the weakest first."""
    right = (scores >= 0.5) == (table["label"] > 0.5).to_numpy()
    kinds = (
        table.with_columns(right=pl.Series(right))
        .group_by("kind")
        .agg(pl.len(), pl.col("right").sum(), share=pl.col("right").mean())
        .filter(pl.col("len") >= least)
        .sort("share")
    )
    return ", ".join(
        f"{kind} {100 * share:.0f} ({right} of {rows})" for kind, rows, right, share in kinds.rows()
    )


def reliability(table: pl.DataFrame, scores: Array) -> list[tuple[float, float, int]]:
    """Mean score, share accepted and rows of each of ten bins with at least `LEAST` rows."""
    accepted = (table["label"] > 0.5).to_numpy()
    place = np.minimum((scores * BINS).astype(int), BINS - 1)
    parts = [place == number for number in range(BINS)]
    return [
        (float(scores[one].mean()), float(accepted[one].mean()), int(one.sum()))
        for one in parts
        if one.sum() >= LEAST
    ]


def picture(curves: dict[str, list[tuple[float, float, int]]]) -> str:
    """A reliability diagram as SVG."""
    colours = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#806000", "#404040")
    size, edge = 320, 40
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size + 2 * edge + 160} '
        f'{size + 2 * edge}" font-family="sans-serif" font-size="12" role="img" '
        'aria-label="Reliability diagram of the examiner">',
        f'<rect x="{edge}" y="{edge}" width="{size}" height="{size}" fill="none" stroke="#888"/>',
        f'<path d="M{edge} {edge + size}L{edge + size} {edge}" stroke="#bbb"/>',
        f'<text x="{edge}" y="{size + 2 * edge - 8}">score</text>',
        f'<text x="4" y="{edge - 10}">share accepted by people</text>',
        *(
            f'<text x="{edge + size * tick - 8:.0f}" y="{size + edge + 16}">{tick:g}</text>'
            f'<text x="{edge - 26}" y="{edge + size * (1 - tick) + 4:.0f}">{tick:g}</text>'
            for tick in (0, 0.25, 0.5, 0.75, 1)
        ),
    ]
    for number, (name, points) in enumerate(curves.items()):
        colour = colours[number % len(colours)]
        at = [(edge + size * x, edge + size * (1 - y)) for x, y, _ in points]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in at)
        drawn.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        drawn += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in at]
        drawn.append(
            f'<text x="{edge + size + 12}" y="{edge + 16 + 18 * number}" fill="{colour}">{name}'
            "</text>"
        )
    return "\n".join([*drawn, "</svg>", ""])


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contrast-test", action="store_true", help="look at the frozen tests")
    parser.add_argument("--svg", type=Path, help="write the reliability diagram there")
    parser.add_argument("--judge", action="append", choices=JUDGES, help="only this one")
    given = parser.parse_args()
    data = Path(os.environ.get("MARKSCHEME_DATA", "../shared/data"))
    rows = labelled(data)
    sets = {
        **{
            f"{name}, held out": rows.filter(
                (pl.col("set") == name) & (pl.col("part") == "held out")
            )
            for name in GRADED
        },
        "near-miss": near_misses(data),
    }
    if given.contrast_test:
        sets["contrast test"] = contrast_test()
        sets["second contrast test"] = contrast_test("contrast-test-second")
        sets["languages' contrast test"] = contrast_test("contrast-test-languages", "language")
        sets[AS_FILES[0]] = contrast_test("contrast-test-reports")
        sets[AS_FILES[1]] = public_reports(data)
    curves = {}
    for judge in given.judge or JUDGES:
        print(f"\n{judge}\n{HEAD}")
        for name, table in sets.items():
            scores = scored(judge, table, as_files=name in AS_FILES)
            print(line(name, table, scores), flush=True)
            if judge == "examiner" and name.startswith(BY_KIND):
                print("    by kind:", by_kind(table, scores))
            if judge == "examiner" and (name == "near-miss" or len(table) >= DRAWN):
                curves[f"{name} ({len(table):,})"] = reliability(table, scores)
    if given.svg:
        given.svg.write_text(picture(curves), encoding="utf-8")


if __name__ == "__main__":
    main()
