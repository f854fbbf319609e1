"""A trained examiner on disk: ensembles of trees, word rarities, calibration and thresholds."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from markscheme.errors import ModelError
from markscheme.features.alignment import COSINES
from markscheme.judges.examiner.columns import COLUMNS
from markscheme.judges.weight_folder import AlignedWeights
from markscheme.models.local import Trees

Array = npt.NDArray[Any]

SHIPPED = Path(__file__).parent / "weights"
"""The examiner in the package; docs/examiner.md is its model card."""

_loading = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What `examiner.json` says.

    `words` and `meaning` are the Platt maps (slope, intercept) of the two stages' log-odds; between
    `unsure_from` and `unsure_to` the second stage decides; `neutral` is each column's median, which
    explanations put in the column's place to see what it did.
    """

    words: tuple[float, float]
    meaning: tuple[float, float]
    unsure_from: float
    unsure_to: float
    neutral: tuple[float, ...]
    trained: dict[str, Any]


class Weights(AlignedWeights):
    """The examiner's parts, each loaded when first used."""

    files = ("examiner.json", "rarity.npz", "words.onnx.zst", "meaning.onnx.zst")
    command = "markscheme train examiner"

    @cached_property
    def settings(self) -> Settings:
        """What `examiner.json` says; ModelError where it was made for other features."""
        content = orjson.loads(self.path("examiner.json").read_bytes())
        if content.get("features") != list(COLUMNS) or content.get("cosines") != list(COSINES):
            raise ModelError(
                f"{self.folder} was trained by another version of markscheme, with other features; "
                "train again with 'markscheme train examiner --data FILE --out FOLDER'"
            )
        return Settings(
            words=tuple(content["words"]),
            meaning=tuple(content["meaning"]),
            unsure_from=content["unsure_from"],
            unsure_to=content["unsure_to"],
            neutral=tuple(content["neutral"]),
            trained=content["trained"],
        )

    @cached_property
    def words(self) -> Trees:
        """The first stage: features of words."""
        return Trees(self.path("words.onnx.zst"))

    @cached_property
    def meaning(self) -> Trees:
        """The second stage: features of words and cosines of embeddings."""
        return Trees(self.path("meaning.onnx.zst"))


@cache
def _opened(folder: Path) -> Weights:
    return Weights(folder)


def open_weights(folder: Path | None = None) -> Weights:
    """The weights in a folder, the shipped ones by default, opened once a process."""
    with _loading:
        return _opened(SHIPPED if folder is None else folder)


def platt(log_odds: Array, slope_and_intercept: tuple[float, float]) -> Array:
    """Probabilities of log-odds under a Platt map."""
    slope, intercept = slope_and_intercept
    return np.asarray(1.0 / (1.0 + np.exp(-(slope * log_odds + intercept))))
