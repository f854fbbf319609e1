"""How the shipped examiner's trees are trained: their rows, and what each weighs.

    MARKSCHEME_DATA=../shared/data python -m recipes.examiner read LOG-ODDS
    MARKSCHEME_DATA=../shared/data python -m recipes.examiner trees OUT --read LOG-ODDS
    MARKSCHEME_DATA=../shared/data python -m recipes.examiner record SHIPPED-ROWS

The rows are those of the encoder (`recipes.encoder.rows`) without pairs of sentences and without
what `recipes.labelled.part` holds out. How much the encoder weighs next to the trees is set on rows
that it did not learn from: the encoder's dev part, whose log-odds `read` writes (Parquet).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import polars as pl

from markscheme.judges.examiner import open_weights, read_columns, read_jointly, readers_of
from markscheme_research.training import TrainOptions, record_rows, train_examiner, usable
from recipes.encoder.rows import PAIRS, every_row

TREES = {
    "contrast": 1.0, "light": 4.0, "copies": 0.3, "evouna": 1.5, "nq": 0.7, "efficientqa_test": 1.0,
    "wrapped": 0.3, "junk": 0.3, "injected": 0.3,
}  # fmt: skip
"""What a row of a set weighs."""
OTHER = 0.4
"""The same for the other sets: many answers to few questions."""
TEXTS = ("question", "references", "answer")
GENERATED = ("wrapped", "junk", "injected")
COLUMNS = ("question", "references", "answer", "label", "set", "kind", "language", "part")


def tree_rows(data: Path) -> pl.DataFrame:
    """Every row that the trees learn from.

    Returns:
        question, references, answer, label (0 or 1), set, kind, language, part (`train` or `dev`),
        weight, unseen (whether the encoder did not learn from it) and reference_kind.
    """
    learned = [
        {name: row[name] for name in COLUMNS}
        for row in every_row(data)
        if row["set"] not in PAIRS and row["source_part"] != "held out"
    ]
    return pl.DataFrame(learned, infer_schema_length=None).with_columns(
        weight=pl.col("set").replace_strict(TREES, default=OTHER, return_dtype=pl.Float64),
        unseen=pl.col("part") != "train",
        reference_kind=pl.lit("text"),
    )


def read_unseen(table: pl.DataFrame) -> pl.DataFrame:
    """The texts of the unseen rows, and in `read` their encoders' log-odds of them."""
    opened = open_weights()
    unseen = table.filter("unseen").select(*TEXTS)
    texts = read_columns(unseen, opened.rarity).texts.rows()
    return unseen.with_columns(read=pl.Series(read_jointly(texts, readers_of(texts)).log_odds))


def main() -> None:
    """Read rows with the encoder, train the trees, or record their rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["read", "trees", "record"])
    parser.add_argument("out", type=Path)
    parser.add_argument("--read", type=Path, help="what `read` wrote; else the encoder reads now")
    options = parser.parse_args()
    table = usable(tree_rows(Path(os.environ.get("MARKSCHEME_DATA", "../shared/data"))))
    if options.what == "read":
        read_unseen(table).write_parquet(options.out)
        return
    if options.read is not None:
        known = pl.read_parquet(options.read).unique(TEXTS)
        table = table.join(known, on=TEXTS, how="left", maintain_order="left")
    people = pl.col("set") == "evouna"
    own, mixed = table.filter(people), table.filter(~people)
    if options.what == "record":
        recorded = record_rows(own, options.out, mixed=mixed)
        print(f"{len(recorded.labels):,} rows, {options.out.stat().st_size / 1e6:.1f} MB")
        return
    train_examiner(own, options.out, TrainOptions(), mixed=mixed)


if __name__ == "__main__":
    main()
