"""Marks of answers whose relation is known, under every scheme. Yao & Barbosa 2024, section 4."""

from __future__ import annotations

from typing import Any

import polars as pl

from markscheme.judges.inference_marks import COLUMNS, measure
from markscheme.judgments import SPENT
from markscheme.metrics.lexical import token_f1
from markscheme.metrics.marks import credit, expected_marks, gap, marks

INFERENCE = ("CIA", "C", "IA", "difficulty")
"""Schemes that have an inference explained."""

_DECIMALS = 5
"""Of marks, as of the scores they are made from."""
_GAPS = {"gap": pl.Float64} | {name: COLUMNS[name] for name in COLUMNS if name not in SPENT}
_COST = {f"gap_{name}": COLUMNS[name] for name in SPENT}


def with_marks(
    decided: pl.DataFrame, *, pairs: pl.DataFrame, answers: pl.DataFrame, scheme: str, models: Any
) -> pl.DataFrame:
    """The answers with `marks`, and what they were made from: `gap` and the columns of `measure`,
    those of its cost with `gap_` before them.

    Args:
        decided: a row an answer, with `row` (its place in `answers`), `relation` and the chances.
        pairs: a row an answer and reference, with statements and both directions.
        answers: the table that is judged.
        scheme: as `Entailment.marks`, `auto` resolved.
        models: give the chat model.
    """
    if scheme in INFERENCE:
        found = decided.join(
            _smallest_gaps(pairs.join(decided.select("row", "relation"), on="row"), scheme, models),
            on="row",
            how="left",
            maintain_order="left",
        )
        return found.with_columns(
            marks=marks(found["relation"], credit(found["gap"], scheme)).round(_DECIMALS)
        )
    found = decided.with_columns(
        pl.lit(None, kind).alias(name) for name, kind in (_GAPS | _COST).items()
    )
    if scheme == "scores":
        value = expected_marks(found["entails_chance"], found["entailed_chance"])
    elif scheme == "off":
        value = pl.Series([None] * found.height, dtype=pl.Float64)
    else:
        asked = answers[found["row"].to_list()]
        value = _token_f1(asked) if scheme == "token_f1" else _llm_score(asked, models)
    return found.with_columns(marks=value.round(_DECIMALS))


def _smallest_gaps(pairs: pl.DataFrame, scheme: str, models: Any) -> pl.DataFrame:
    """Of every superior or inferior answer the smallest gap over the pairs that entail.

    From the answer to a reference that it entails, or from a reference that entails it to the
    answer. Where no gap is known, the first pair says why.
    """
    superior = (pl.col("relation") == "superior") & pl.col("entails")
    inferior = (pl.col("relation") == "inferior") & pl.col("entailed")
    sides = (pl.col("answer_statement"), pl.col("reference_statement"))
    asked = pairs.filter(superior | inferior).select(
        "row",
        s1=pl.when(superior).then(sides[0]).otherwise(sides[1]),
        s2=pl.when(superior).then(sides[1]).otherwise(sides[0]),
    )
    if asked.is_empty():
        return pl.DataFrame(schema={"row": pairs.schema["row"], **_GAPS, **_COST})
    from markscheme.models.container import Models

    chat = (models if models is not None else Models()).chat()
    measured = measure(asked, chat, rate=scheme == "difficulty")
    return (
        measured.with_columns(gap=gap(measured, scheme))
        .sort("gap", nulls_last=True, maintain_order=True)
        .group_by("row", maintain_order=True)
        .agg(
            *(pl.col(name).first() for name in _GAPS),
            *(
                pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(f"gap_{name}")
                for name in SPENT
            ),
        )
    )


def _token_f1(answers: pl.DataFrame) -> pl.Series:
    return token_f1(answers["answer"], answers["references"])


def _llm_score(answers: pl.DataFrame, models: Any) -> pl.Series:
    from markscheme.grammar import parse_judge
    from markscheme.judges.nested import ask

    return ask(parse_judge("llm_score"), answers, models)["score"]
