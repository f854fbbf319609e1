"""From what the models of a learned judge say to a score for each answer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme_research.judges import conditional_information, informed_share
from markscheme_research.judges.finetuned.causal import Causal
from markscheme_research.judges.finetuned.templates import (
    CHOICES,
    INFORMED,
    UNINFORMED,
    VERDICT,
    fields_of,
)

Floats = npt.NDArray[np.float64]


def model_scores(
    causal: Causal, prompts: pl.DataFrame, *, role: str, template: str, by_length: bool = False
) -> Floats:
    """A model's score for each row of `learned_templates.material`.

    For the role `verdict` the probability of Yes against No; for the two others the natural
    logarithm of the reference's probability, with `by_length` divided by its tokens. Equal prompts
    are sent once.

    Raises:
        ModelError: the model cannot answer this.
    """
    names = fields_of(template)
    keys = names if role == VERDICT else list(dict.fromkeys([*names, "golden"]))
    distinct = prompts.select(keys).unique(maintain_order=True)
    fields = distinct.select(names).to_dicts()
    values = (
        causal.chances(template, fields, CHOICES)
        if role == VERDICT
        else causal.log_likelihoods(
            template, fields, distinct["golden"].to_list(), by_length=by_length
        )
    )
    found = prompts.select(keys).join(
        distinct.with_columns(model_scores=pl.Series(values, dtype=pl.Float64)),
        on=keys, how="left", maintain_order="left",
    )  # fmt: skip
    return found["model_scores"].to_numpy()


def scored(prompts: pl.DataFrame, found: Mapping[str, Floats]) -> pl.DataFrame:
    """A score and an explanation for each row of the prompts.

    Args:
        prompts: of `learned_templates.material`.
        found: what each role's model gave for them (`model_scores`).

    Returns:
        `row`, `score` from 0 to 1, `reason`. With conditional V-information the score is the
        share of the informed model's probability, of the reference for which it is highest.
    """
    if VERDICT in found:
        table = prompts.with_columns(score=pl.Series(found[VERDICT], dtype=pl.Float64))
        reason = pl.format("Yes {} against No", pl.col("score").round(3))
        if "entails" in prompts.columns:
            note = "; trained with: answer entails a reference {}, a reference entails it {}"
            reason = pl.concat_str([reason, pl.format(note, "entails", "entailed")])
        return table.select("row", "score", reason=reason)
    bits = conditional_information(found[INFORMED], found[UNINFORMED])
    table = prompts.with_columns(
        bits=pl.Series(bits, dtype=pl.Float64),
        score=pl.Series(informed_share(bits), dtype=pl.Float64),
    )
    best = table.sort("bits", descending=True, maintain_order=True).unique(
        "row", keep="first", maintain_order=True
    )
    reason = pl.format(
        'the answer holds {} bits about the reference "{}"',
        pl.col("bits").round(2),
        pl.col("golden").str.slice(0, 120),
    )
    return best.select("row", "score", reason=reason).sort("row")
