"""The entailment test that ships: trees over how two answers to a question line up, both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.contract import Lineage, ModelSource, Needs, check_range
from markscheme.errors import ModelError
from markscheme.features.entailment import NAMES, entailment_features, settled
from markscheme.judges.entailment.tests import TESTED, register_entailment_test
from markscheme.judges.examiner import Examiner, open_weights, read_columns, score
from markscheme.judges.weight_folder import AlignedWeights
from markscheme.models.local import Trees
from markscheme.values import pairs_for_each

Floats = npt.NDArray[np.float64]
Key = tuple[int, str, str, str]
"""How many pairs of typed values are compared, question, premise, hypothesis."""

SHIPPED = Path(__file__).parent / "weights"
"""The test in the package; docs/entailment.md has its model card."""

_PAIRS_AT_ONCE = 16_384
_DECIMALS = 5
"""Scores are rounded, so that a pair's score cannot depend on its batch."""
_LEAST = 1e-4
"""The examiner's probabilities are clipped to this distance from 0 and 1."""
_EXAMINER = Examiner(depth="fast")
_DECIDED_ODDS = 1.5
"""Log-odds, at least, where a range or a place settles it."""


@register_entailment_test("embedded", needs=Needs(chat=False), shorthand="weights")
@dataclass(frozen=True, kw_only=True)
class EmbeddedEntailment:
    """Trees say how likely it is that question and one answer entail question and another.

    They see the bare answers and the question, or the statements where there is no bare answer.
    No network, no key, no GPU.

    Attributes:
        weights: folder that `markscheme research train entailment` wrote; None is the shipped one.
        threshold: entailed from this probability.
    """

    reads_answers: ClassVar[bool] = True
    """Bare answers are what it was trained on; statements by rules are not made for it."""

    weights: str | None = None
    threshold: float = 0.5

    def validate(self) -> None:
        """Raises JudgeError if the threshold is not within 0 and 1."""
        check_range("threshold", self.threshold, 0, 1)

    def test(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Score every different pair; see `EntailmentTest.test`.

        Raises:
            ModelError: the weights cannot be used.
        """
        del models

        def scored(keys: list[Key]) -> list[dict[str, Any]]:
            return [
                {"entailed": score >= self.threshold, "score": score, "status": "judged"}
                for score in self.scores(keys).tolist()
            ]

        sides = (_bare(side, pairs.columns) for side in ("premise", "hypothesis"))
        counts = pairs["row_pairs"] if "row_pairs" in pairs.columns else [1] * pairs.height
        most = pl.Series("most", map(pairs_for_each, counts), dtype=pl.Int64)
        keys = pairs.select(most, pl.col("question").fill_null(""), *sides)
        return TESTED.outcomes(pairs, scored, keys=keys)

    def scores(self, keys: Sequence[Key]) -> Floats:
        """Probabilities that question and premise entail hypothesis, for each key."""
        found = [
            self._scores(keys[start : start + _PAIRS_AT_ONCE])
            for start in range(0, len(keys), _PAIRS_AT_ONCE)
        ]
        return np.concatenate([np.zeros(0), *found])

    def _scores(self, keys: Sequence[Key]) -> Floats:
        """Of keys that are few enough.

        The trees say which way the two sides entail each other, the examiner whether they agree at
        all: its log-odds, the shorter text in the reference's place, take the place of a share of
        the trees' in the likelier direction, and the other direction moves along.
        """
        opened = self._opened()
        mirrored = [(most, question, other, one) for most, question, one, other in keys]
        odds, sure = opened.log_odds([*keys, *mirrored])
        forward, back = odds[: len(keys)], odds[len(keys) :]
        likelier = np.maximum(forward, back)
        agreed = _agreement(keys)
        # The examiner knows no places within places and no ranges.
        either = (sure[: len(keys)] > 0) | (sure[len(keys) :] > 0)
        agreed = np.where(either, np.maximum(agreed, likelier), agreed)
        moved = forward + opened.share * (agreed - likelier)
        moved = np.where(sure[: len(keys)] < 0, np.minimum(moved, -_DECIDED_ODDS), moved)
        return np.round(1.0 / (1.0 + np.exp(-moved)), _DECIMALS).astype(np.float64)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Hash of the weights, and what the examiner adds to its signature."""
        agreement = {f"examiner.{key}": text for key, text in _EXAMINER.identity(models).items()}
        opened = EntailmentWeights.open(self.weights, anew=True)
        return {"trained": opened.revision} | agreement

    def lineage(self) -> Lineage:
        """The questions that trained its trees, and those of the examiner that it asks."""
        return _together(self._opened().lineage, _EXAMINER.lineage())

    def _opened(self) -> EntailmentWeights:
        return EntailmentWeights.open(self.weights)


@cache
def _together(one: Lineage, other: Lineage) -> Lineage:
    """Both lineages as one, made once a process."""
    return one | other


def _agreement(keys: Sequence[Key]) -> Floats:
    """The examiner's log-odds that the longer text is right where the shorter is the reference."""
    known: dict[Key, int] = {}
    place = []
    for most, question, one, other in keys:
        short, long = (one, other) if len(one) < len(other) else (other, one)
        place.append(known.setdefault((most, question, short, long), len(known)))
    opened = open_weights(_EXAMINER.weights)
    table = pl.DataFrame(
        [(question, [short], long) for _, question, short, long in known],
        schema={"question": pl.String, "references": pl.List(pl.String), "answer": pl.String},
        orient="row",
    )
    reading = read_columns(table, opened.rarity, [most for most, *_ in known])
    texts = reading.texts.rows()
    share = score(opened, reading.matrix, texts, depth=_EXAMINER.depth).scores
    share = share.clip(_LEAST, 1 - _LEAST)
    return np.asarray(np.log(share / (1 - share)))[place]


def _bare(side: str, columns: Sequence[str]) -> pl.Expr:
    """A side's bare answer, or its statement where there is none."""
    answer = f"{side}_answer"
    return pl.coalesce([name for name in (answer, side) if name in columns]).alias(answer)


class EntailmentWeights(AlignedWeights):
    """The trees, word rarities and calibration of a folder, each loaded when first used."""

    files = ("entailment.json", "rarity.npz", "trees.onnx.zst")
    command = "markscheme research train entailment"
    shipped = SHIPPED

    def log_odds(self, keys: Sequence[Key]) -> tuple[Floats, npt.NDArray[np.int8]]:
        """Calibrated log-odds, and where a range or a place decides them (`settled`)."""
        matrix = entailment_features(
            [question for _, question, _, _ in keys],
            [premise for _, _, premise, _ in keys],
            [hypothesis for *_, hypothesis in keys],
            self.rarity,
            [most for most, *_ in keys],
        )
        with self.reading("entailment.json"):
            slope, intercept = map(float, self.stored["platt"])
        odds = slope * self.trees(matrix[:, self.columns]) + intercept
        sure = settled(matrix)
        odds = np.where(sure > 0, np.maximum(odds, _DECIDED_ODDS), odds)
        return np.where(sure < 0, np.minimum(odds, -_DECIDED_ODDS), odds), sure

    @property
    def share(self) -> float:
        """Share of the examiner in the log-odds that the sides agree."""
        with self.reading("entailment.json"):
            return float(self.stored["share"])

    @cached_property
    def columns(self) -> npt.NDArray[np.int64]:
        """Which of the features the trees take, in their order.

        Raises:
            ModelError: this version has no such feature.
        """
        places = {name: place for place, name in enumerate(NAMES)}
        with self.reading("entailment.json"):
            names = [str(name) for name in self.stored["features"]]
        unknown = [name for name in names if name not in places]
        if unknown:
            raise ModelError(
                f"{self.folder} was trained by another version of markscheme, with features that "
                f"this one lacks ({', '.join(unknown[:3])}); train again with '{self.command}'"
            )
        return np.array([places[name] for name in names])

    @cached_property
    def trees(self) -> Trees:
        """The forest."""
        return Trees(self.path("trees.onnx.zst"))
