"""The trained listwise examiner on disk: trees, style, word rarities and calibration."""

from __future__ import annotations

import threading
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from markscheme.judges.weight_folder import WeightFolder
from markscheme.metrics.nonfactoid.tokens import token_weights
from markscheme.metrics.nonfactoid.words import Rarity
from markscheme.models.token_encoder import token_encoder
from markscheme.models.trees import Trees

Floats = npt.NDArray[np.float64]

SHIPPED = Path(__file__).parent / "weights" / "listwise"
"""The listwise examiner in the package."""

_loading = threading.Lock()


class ListwiseWeights(WeightFolder):
    """The parts of a folder, each loaded when first used."""

    files = (
        "listwise.json",
        "listwise_rarity.npz",
        "listwise_style.npz",
        "listwise_trees.onnx.zst",
        "listwise_words.onnx.zst",
    )
    command = "markscheme train-listwise"

    @cached_property
    def _settings(self) -> dict[str, Any]:
        content: dict[str, Any] = orjson.loads(self.path("listwise.json").read_bytes())
        return content

    def names(self, *, encoded: bool) -> list[str]:
        """The features that the trees were grown on."""
        return [str(name) for name in self._settings["encoded" if encoded else "words"]]

    def calibration(self, *, encoded: bool) -> tuple[float, float]:
        """Slope and intercept from the trees' sum to log-odds."""
        slope, intercept = self._settings["encoded_platt" if encoded else "words_platt"]
        return slope, intercept

    @cached_property
    def rarity(self) -> Rarity:
        """Word rarities."""
        with np.load(self.path("listwise_rarity.npz"), allow_pickle=False) as stored:
            return Rarity(table=stored["table"].astype(np.float64))

    @cached_property
    def style(self) -> Floats:
        """What each of `meaning.style_inputs` adds to the trees over embeddings."""
        with np.load(self.path("listwise_style.npz"), allow_pickle=False) as stored:
            return np.asarray(stored["weights"], dtype=np.float64)

    @cached_property
    def pieces(self) -> Floats:
        """How much each word piece of the shipped encoder counts in late interaction."""
        return token_weights(token_encoder().vocabulary(), self.rarity)

    @cached_property
    def encoded(self) -> Trees:
        """Trees over words and embeddings."""
        return Trees(self.path("listwise_trees.onnx.zst"))

    @cached_property
    def words(self) -> Trees:
        """Trees over words alone."""
        return Trees(self.path("listwise_words.onnx.zst"))


@cache
def _opened(folder: Path) -> ListwiseWeights:
    return ListwiseWeights(folder)


def open_listwise(folder: Path | None = None) -> ListwiseWeights:
    """The weights in a folder, the shipped ones by default, opened once a process."""
    with _loading:
        return _opened(SHIPPED if folder is None else folder)
