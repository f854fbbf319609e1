"""Candidates alongside drawn references, with their features: what the listwise examiner learns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.features.nonfactoid import (
    Rarity,
    Rows,
    meaning_features,
    style_inputs,
    token_weights,
    word_features,
)
from markscheme.models.local import TokenEncoder
from markscheme_research.lists import Draw, draw_references

Array = npt.NDArray[Any]

COMPOSITIONS = {"antique": "33221100", "trec-dl-nf": "3210"}
"""The paper's list for each set (section 4.2.2)."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Candidates with drawn references and their features.

    `rows` has `set`, `question`, `label`, `grade` (0 to 3), `mode` (many, one, none), `draw`; rows
    of one question and draw are adjacent. `words` and `meaning` are matrices with a row each,
    `style` has one row per text, `text` is the place of each row's answer in it.
    """

    rows: pl.DataFrame
    words: Array
    meaning: Array
    style: Array
    text: Array
    word_names: tuple[str, ...]
    meaning_names: tuple[str, ...]
    rarity: Rarity

    @property
    def group(self) -> Array:
        """Number of the list (question and draw) of each row, ascending."""
        keys = self.rows.select("set", "mode", "draw", "question").to_struct()
        return keys.rle_id().to_numpy().astype(np.int64)


def draw_all(
    sets: Mapping[str, pl.DataFrame], encoder: TokenEncoder, *, draws: int, seed: int
) -> Drawn:
    """Draw lists for every set and compute the features.

    Args:
        sets: by name, `question`, `passage`, `grade` as `datasets.passages` gives them.
        encoder: encodes every text once.
        draws: of the paper's list a set, each a copy of the data with other references; half as
            many draws have one top reference, and one has none.
        seed: of the first draw.
    """
    every = pl.concat([frame["passage"] for frame in sets.values()])
    rarity = Rarity.measure(every.unique(maintain_order=True))
    texts = pl.concat([every, *(frame["question"] for frame in sets.values())]).unique(
        maintain_order=True
    )
    encoded = encoder.details(texts.to_list())
    place = {text: row for row, text in enumerate(texts)}
    pieces = token_weights(encoder.vocabulary(), rarity)
    retained: list[pl.DataFrame] = []
    words, meaning, answers = [], [], []
    word_names: list[str] = []
    meaning_names: list[str] = []
    for name, passages in sets.items():
        low = passages["grade"].min()
        for mode, composition, one in _draws(name, draws):
            drawn = draw_references(passages, Draw(composition=composition, seed=seed + one))
            rows = Rows.of(
                drawn["question"], drawn["answer"], drawn["references"], drawn["reference_grades"]
            )
            word_names, matrix = word_features(rows, rarity)
            chosen = np.array([place[text] for text in rows.texts])
            meaning_names, more = meaning_features(rows, [encoded[i] for i in chosen], pieces)
            words.append(matrix)
            meaning.append(more)
            answers.append(chosen[rows.answer])
            retained.append(
                drawn.select(
                    "question", "label", set=pl.lit(name), mode=pl.lit(mode), draw=pl.lit(one),
                    grade=(pl.col("label") - low).cast(pl.Int64),
                )
            )  # fmt: skip
    return Drawn(
        rows=pl.concat(retained), words=np.vstack(words), meaning=np.vstack(meaning),
        style=style_inputs(encoded), text=np.concatenate(answers),
        word_names=tuple(word_names), meaning_names=tuple(meaning_names), rarity=rarity,
    )  # fmt: skip


def _draws(name: str, draws: int) -> list[tuple[str, str, int]]:
    many = [("many", COMPOSITIONS.get(name, "3210"), number) for number in range(draws)]
    one = [("one", "top", 100 + number) for number in range(max(3, draws // 2))]
    return [*many, *one, ("none", "none", 200)]
