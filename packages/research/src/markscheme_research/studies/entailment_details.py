"""What the entailment judge keeps of each answer in `raw`, as tables: statements, tests, gaps."""

from __future__ import annotations

from typing import Any

import polars as pl

_WAY = pl.Struct(
    {"entailed": pl.Boolean, "score": pl.Float64, "status": pl.String, "label": pl.String}
)
_FIELDS: dict[str, Any] = {
    "statement": pl.String,
    "statement_status": pl.String,
    "references": pl.List(
        pl.Struct(
            {
                "reference": pl.String,
                "statement": pl.String,
                "statement_status": pl.String,
                "answer_entails": _WAY,
                "entails_answer": _WAY,
            }
        )
    ),
    "marks": pl.Struct(
        {
            "scheme": pl.String,
            "steps": pl.Int64,
            "info": pl.Int64,
            "assumptions": pl.Int64,
            "difficulty": pl.Int64,
            "status": pl.String,
            "reason": pl.String,
        }
    ),
}
_KEPT = pl.Struct(_FIELDS)
BEGINS = '{"statement":'
"""How `raw` of the entailment judge begins; what begins otherwise is another judge's."""

WAYS = ("answer_entails", "entails_answer")


def details(judgments: pl.DataFrame) -> pl.DataFrame:
    """What was saved: `raw`'s JSON as columns, and the others of the judgments.

    Rows of other judges, and rows that were not compared, are left out. `references` is a list, to
    be exploded; see `tests`.
    """
    names = ["gap_of_marks" if name == "marks" else name for name in _FIELDS]
    others = judgments.drop(names, strict=False)
    if "raw" not in judgments.columns:
        others = others.clear().with_columns(raw=pl.lit(None, pl.String))
    own = others.filter(pl.col("raw").str.starts_with(BEGINS).fill_null(value=False))
    kept = pl.col("raw").str.json_decode(_KEPT).struct.rename_fields(names)
    return own.with_columns(kept=kept).unnest("kept")


def statements(kept: pl.DataFrame) -> pl.DataFrame:
    """The distinct statements of each answer: `answer_id`, `of` (null for the answer itself, else
    the reference), `statement` (null where none could be made), `status`."""
    own = kept.select(
        "answer_id",
        "statement",
        of=pl.lit(None, pl.String),
        status="statement_status",
    )
    theirs = kept.select("answer_id", "references").explode("references").unnest("references")
    return pl.concat(
        [
            own.select("answer_id", "of", "statement", "status"),
            theirs.select(
                "answer_id", "statement", of="reference", status="statement_status"
            ).select("answer_id", "of", "statement", "status"),
        ]
    )


def tests(kept: pl.DataFrame) -> pl.DataFrame:
    """One row per answer, reference and direction: `answer_id`, `reference`, `way` (one of `WAYS`),
    `entailed` (null where not decided), `score`, `status`, and `label` (entailment, neutral,
    contradiction) where the test gives one."""
    pairs = kept.select("answer_id", "references").explode("references").unnest("references")
    return pl.concat(
        [
            pairs.select("answer_id", "reference", pl.lit(way).alias("way"), way)
            .unnest(way)
            .select("answer_id", "reference", "way", "entailed", "score", "status", "label")
            for way in WAYS
        ]
    )


def gaps(kept: pl.DataFrame) -> pl.DataFrame:
    """One row per answer: the scheme of its marks, `steps`, `info`, `assumptions`, `difficulty`,
    and `gap_status` and `reason` where an inference was requested."""
    return kept.select(
        *(name for name in kept.columns if name != "gap_of_marks"),
        kept["gap_of_marks"].struct.rename_fields(
            ["scheme", "steps", "info", "assumptions", "difficulty", "gap_status", "reason"]
        ),
    ).unnest("gap_of_marks")
