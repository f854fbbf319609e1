"""How often a wrapping changes a judge's verdict on a short answer, and the order of systems.

    MARKSCHEME_DATA=data python -m recipes.form [--judge JUDGE] [--styles 12] [--references 0]
        [--wrappings dev|dev-second|test|test-second]

Half of the answers are right. Two systems answer 500 questions each, the one 2 to 10 points better,
each with all its answers in one wrapping of its own: `order kept` is the share of simulated pairs
that the judge puts in their true order, and the same of pairs without wrappings.

`--references 60`: in place of that, 60 first references, word for word, in each of the wrappings,
and how many the judge rejects.

`dev` and `dev-second`: wrappings that nothing learned from, for makers, around answers to questions
that the encoder never read. `test` and `test-second`: frozen wrappings around answers of the frozen
English tests; each run is a look, to be written in `docs/examiner-looks.md`.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import markscheme
from recipes.encoder.figures import SEED, english_wrappings, facts_of_tests, wrap, wrapped_rows
from recipes.encoder.rows import is_plain_fact
from recipes.labelled import labelled

WRAPPINGS = ("dev", "dev-second", "test", "test-second")


def facts(name: str) -> list[dict[str, Any]]:
    """The short answers that are wrapped, with question, references and label."""
    if not name.startswith("dev"):
        return facts_of_tests()
    rows = labelled(Path(os.environ["MARKSCHEME_DATA"])).filter(
        pl.col("set").is_in(["contrast", "light"]),
        pl.col("part") == "calibration",
        pl.col("language") == "en",
    )
    return [row for row in rows.to_dicts() if is_plain_fact(row)]


def wrapped(name: str) -> pl.DataFrame:
    """Rows with question, references, label, kind of wrapping, the `bare` answer and answer."""
    columns = ("question", "references", "label", "kind", "bare", "answer")
    rows = wrapped_rows(facts(name), name)
    return pl.DataFrame([{column: row[column] for column in columns} for row in rows])


def accepted(rows: pl.DataFrame, answer: str, judge: str) -> pl.Series:
    """Whether a judge accepts the answers in a column; null where there is no verdict."""
    named = rows.select("question", "references", answer=answer)
    named = named.with_columns(question_id=pl.int_range(pl.len()).cast(pl.String))
    return markscheme.judge(named, judges=judge).judgments["verdict"]


def wrapped_references(name: str, count: int) -> pl.DataFrame:
    """So many first references in each wrapping of a file: rows as of `wrapped`, all right."""
    right = [row for row in facts(name) if row["label"] >= 0.5]
    chosen = random.Random(SEED).sample(right, count)
    rows = [
        {
            "question": row["question"],
            "references": list(row["references"]),
            "kind": wrapping["kind"],
            "answer": wrap(wrapping["text"], row["question"], row["references"][0]),
        }
        for wrapping in english_wrappings(name)
        for row in chosen
    ]
    return pl.DataFrame(rows)


QUESTIONS, PAIRS = 500, 4_000
"""Questions that a simulated system answers, and pairs of systems."""


def styles(name: str, count: int, judge: str) -> tuple[np.ndarray, np.ndarray]:
    """Whether a judge accepts each short answer, bare and in some wrappings of a file.

    Returns:
        Labels, shape (answers,), and verdicts, shape (1 + count, answers), the first without one.
    """
    answers = facts(name)
    chosen = random.Random(SEED).sample(english_wrappings(name), count)
    texts = ["{answer}", *(wrapping["text"] for wrapping in chosen)]
    rows = [
        row | {"references": list(row["references"]), "answer": wrap(text, row["question"], said)}
        for text in texts
        for row in answers
        if (said := row["answer"])
    ]
    columns = ("question", "references", "answer")
    table = pl.DataFrame([{column: row[column] for column in columns} for row in rows])
    verdicts = accepted(table, "answer", judge).fill_null(value=False).to_numpy()
    right = np.array([row["label"] >= 0.5 for row in answers])
    return right, verdicts.reshape(len(texts), -1)


def order_kept(
    right: np.ndarray, verdicts: np.ndarray, gap: int, *, wrapped: bool, pairs: int = PAIRS
) -> float:
    """The share of pairs of systems whose shares of accepted answers are in their true order.

    Args:
        right, verdicts: see `styles`.
        gap: how many per cent more answers of the one system are right.
        wrapped: each system has another wrapping; else neither has one.
        pairs: how many are simulated; a tie counts half.
    """
    chance = np.random.default_rng(SEED + gap)
    known, wrong = np.flatnonzero(right), np.flatnonzero(~right)
    kept = 0.0
    for _ in range(pairs):
        worse = chance.integers(QUESTIONS * 4 // 10, QUESTIONS * 8 // 10)
        which = 1 + chance.choice(len(verdicts) - 1, 2, replace=False) if wrapped else (0, 0)
        shares = [
            verdicts[style, chance.choice(known, count, replace=False)].sum()
            + verdicts[style, chance.choice(wrong, QUESTIONS - count, replace=False)].sum()
            for style, count in zip(which, (worse, worse + QUESTIONS * gap // 100), strict=True)
        ]
        kept += 0.5 * (1 + np.sign(int(shares[1]) - int(shares[0])))
    return kept / pairs


def show(rows: pl.DataFrame, figures: Sequence[pl.Expr], first: str) -> None:
    """Print figures of all rows, then by kind of wrapping, those with most of `first` on top."""
    with pl.Config(tbl_rows=-1, float_precision=3, tbl_hide_dataframe_shape=True):
        print(rows.select(*figures))
        print(rows.group_by("kind").agg(*figures).sort(first, "kind", descending=True))


def main() -> None:
    """Print the share of verdicts that change, by kind of wrapping, and what is right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--judge", default="examiner")
    parser.add_argument("--wrappings", default="dev", choices=WRAPPINGS)
    parser.add_argument("--styles", type=int, default=12, help="wrappings of systems; 0 for none")
    parser.add_argument("--references", type=int, default=0, help="of each wrapping; 0 for none")
    options = parser.parse_args()
    if options.references:
        rows = wrapped_references(options.wrappings, options.references)
        rows = rows.with_columns(accepted(rows, "answer", options.judge).alias("accepted"))
        counts = (pl.len().alias("references"), (~pl.col("accepted")).sum().alias("rejected"))
        show(rows, counts, "rejected")
        return
    rows = wrapped(options.wrappings)
    rows = rows.with_columns(
        accepted(rows, "bare", options.judge).alias("before"),
        accepted(rows, "answer", options.judge).alias("after"),
        right=pl.col("label") >= 0.5,
    )
    figures = (
        pl.len().alias("answers"),
        (pl.col("before") != pl.col("after")).mean().alias("changed"),
        (pl.col("before") & ~pl.col("after")).mean().alias("no longer accepted"),
        (pl.col("before") == pl.col("right")).mean().alias("right, bare"),
        (pl.col("after") == pl.col("right")).mean().alias("right, wrapped"),
    )
    show(rows, figures, "changed")
    if options.styles:
        found = styles(options.wrappings, options.styles, options.judge)
        gaps = range(2, 11)
        kept = [
            {
                "points apart": gap,
                "order kept": order_kept(*found, gap, wrapped=True),
                "without wrappings": order_kept(*found, gap, wrapped=False),
            }
            for gap in gaps
        ]
        table = pl.DataFrame(kept)
        mean = table.select(
            pl.lit("2 to 10").alias("points apart"), pl.exclude("points apart").mean()
        )
        with pl.Config(tbl_rows=-1, float_precision=3, tbl_hide_dataframe_shape=True):
            print(pl.concat([mean, table.with_columns(pl.col("points apart").cast(pl.String))]))


if __name__ == "__main__":
    main()
