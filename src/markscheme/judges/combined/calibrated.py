"""A judge whose scores are mapped to probabilities by a map that `markscheme calibrate` wrote."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from markscheme.contract import Judge, ModelSource, register, run_judge
from markscheme.errors import JudgeError
from markscheme.judges.outcomes import COMBINED

Array = npt.NDArray[np.float64]


@register(
    "calibrated",
    paper="Platt 1999; Zadrozny & Elkan 2002",
    needs=replace(COMBINED, weights="required", note="a map written by 'markscheme calibrate'"),
    example='calibrated(base=token_f1, map="map.json")',
)
@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """Another judge's scores as probabilities of being acceptable to people.

    Attributes:
        base: the judge whose scores are mapped; it must give scores.
        map: JSON file with a Platt or isotonic map.
        threshold: accept from this probability.
    """

    base: Judge
    map: str
    threshold: float = 0.5

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """The base judge's outcomes with mapped scores, and verdicts by the threshold.

        Raises:
            JudgeError: the map cannot be read, the threshold is no probability, or the base judge
                gave a verdict without a score.
        """
        if not 0 <= self.threshold <= 1:
            raise JudgeError(f"threshold={self.threshold} is out of range; choose from 0 to 1")
        content = _read(self.map)
        outcomes = run_judge(self.base, answers, models)
        judged = outcomes["status"] == "judged"
        bare = int((judged & outcomes["score"].is_null()).sum())
        if bare:
            raise JudgeError(
                f"{bare} of {len(outcomes)} judgments of the base judge have no score, and only "
                "scores can be calibrated; choose a base judge that gives scores"
            )
        scores = outcomes["score"].fill_null(0.0).to_numpy()
        mapped = pl.Series("score", _mapped(content, scores))
        return outcomes.with_columns(
            score=pl.when(judged).then(mapped),
            verdict=pl.when(judged).then(mapped >= self.threshold),
        )

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What the signature adds: a hash of the map, since its file may change."""
        return {"map": hashlib.sha256(_bytes(self.map)).hexdigest()[:16]}


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise JudgeError(
            f"the calibration map {path!r} cannot be read ({error.strerror}); "
            "'markscheme calibrate --save-map FILE' writes one"
        ) from error


def _read(path: str) -> dict[str, Any]:
    try:
        content = orjson.loads(_bytes(path))
    except orjson.JSONDecodeError as error:
        raise JudgeError(f"{path!r} is no calibration map: {error}") from error
    if not isinstance(content, dict) or content.get("markscheme_calibration") != 1:
        raise JudgeError(f"{path!r} is no calibration map; 'markscheme calibrate' writes them")
    return content


def _mapped(content: dict[str, Any], scores: Array) -> Array:
    """The map at each score; the same as `agreement.calibration.CalibrationMap`."""
    try:
        if content["kind"] == "platt":
            steep = -(float(content["slope"]) * scores + float(content["intercept"]))
            return np.asarray(1.0 / (1.0 + np.exp(np.clip(steep, -700, 700))))
        x, y = (np.array(content[name], dtype=float) for name in ("scores", "probabilities"))
        return np.asarray(np.interp(scores, x, y), dtype=np.float64)
    except (KeyError, TypeError, ValueError) as error:
        raise JudgeError(f"the calibration map has a missing or wrong part: {error}") from error
