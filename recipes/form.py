"""How often a wrapping changes a judge's verdict on a short answer.

    MARKSCHEME_DATA=data python -m recipes.form [--judge JUDGE] [--wrappings dev|test|test-second]

Half of the answers are right. `dev`: wrappings that nothing learned from, for makers, around
answers to questions kept from the encoder. `test` and `test-second`: frozen wrappings around
answers of the frozen English tests; each run is a look, to be written in `docs/examiner-looks.md`.
"""

from __future__ import annotations

import argparse
import os
import random
import tomllib
from pathlib import Path
from typing import Any

import polars as pl

import markscheme
from recipes.encoder.figures import ENGLISH, SEED, test_rows, wrap
from recipes.encoder.rows import is_plain_fact
from recipes.labelled import DATA, labelled

ANSWERS = 1500


def facts(name: str) -> list[dict[str, Any]]:
    """The short answers that are wrapped, with question, references and label."""
    if name == "dev":
        rows = labelled(Path(os.environ["MARKSCHEME_DATA"])).filter(
            pl.col("set").is_in(["contrast", "light"]),
            pl.col("part") == "calibration",
            pl.col("language") == "en",
        )
        found = rows.to_dicts()
    else:
        found = [row for one in ENGLISH for row in test_rows(one)]
    return [row for row in found if is_plain_fact(row)]


def wrapped(name: str, most: int = ANSWERS) -> pl.DataFrame:
    """Rows with question, references, label, kind of wrapping, answer and the `bare` answer."""
    chance = random.Random(SEED)
    text = (DATA / f"wrappings-{name}.toml").read_text("utf-8")
    wrappings = [
        one for one in tomllib.loads(text)["wrapping"] if one.get("language", "en") == "en"
    ]
    found, rows = facts(name), []
    for label in (0, 1):
        both = [(row, one) for row in found if row["label"] == label for one in wrappings]
        for row, one in chance.sample(both, most // 2):
            answer = wrap(one["text"], row["question"], row["answer"])
            new = {"kind": one["kind"], "bare": row["answer"], "answer": answer}
            rows.append({key: row[key] for key in ("question", "references", "label")} | new)
    return pl.DataFrame(rows)


def accepted(rows: pl.DataFrame, answer: str, judge: str) -> pl.Series:
    """Whether a judge accepts the answers in a column; null where there is no verdict."""
    named = rows.select("question", "references", answer=answer)
    named = named.with_columns(question_id=pl.int_range(pl.len()).cast(pl.String))
    return markscheme.judge(named, judges=judge).judgments["verdict"]


def main() -> None:
    """Print the share of verdicts that change, by kind of wrapping, and what is right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--judge", default="examiner")
    parser.add_argument("--wrappings", default="dev", choices=["dev", "test", "test-second"])
    options = parser.parse_args()
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
    with pl.Config(tbl_rows=-1, float_precision=3, tbl_hide_dataframe_shape=True):
        print(rows.select(*figures))
        print(rows.group_by("kind").agg(*figures).sort("changed", "kind", descending=True))


if __name__ == "__main__":
    main()
