"""A judge whose scores are mapped to probabilities by a map that `markscheme calibrate` wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl

from markscheme.contract import (
    Judge,
    ModelSource,
    check_range,
    judge_name,
    register,
    run_judge,
)
from markscheme.errors import JudgeError
from markscheme.judges.outcomes import COMBINED, content_hash, read_file
from markscheme.tables import replace_file

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class CalibrationMap:
    """A non-decreasing map from a judge's score to the probability of being right.

    Attributes:
        kind: `platt`: 1 / (1 + exp(-(slope * score + intercept))); `isotonic`: straight lines
            between `scores` and `probabilities`, flat beyond them.
        judge: whose scores it maps; empty where that is not known.
        answers: labelled answers it was fitted on.
        slope, intercept: of a Platt map.
        scores, probabilities: corners of an isotonic map.
    """

    kind: Literal["platt", "isotonic"]
    judge: str = ""
    answers: int = 0
    slope: float = 0.0
    intercept: float = 0.0
    scores: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()

    def __call__(self, scores: Array) -> Array:
        """Probabilities, from 0 to 1, of an array of scores."""
        if self.kind == "platt":
            from scipy.special import expit  # loaded when used: it would slow every command's start

            return np.asarray(expit(self.slope * scores + self.intercept), dtype=np.float64)
        return np.asarray(np.interp(scores, self.scores, self.probabilities), dtype=np.float64)

    def save(self, path: str | Path) -> None:
        """Write the map as JSON, whole or not at all.

        Raises:
            DataError: it cannot be written.
        """
        content = {"markscheme_calibration": 1, **asdict(self)}
        replace_file(Path(path), orjson.dumps(content, option=orjson.OPT_INDENT_2))

    @classmethod
    def load(cls, path: str) -> CalibrationMap:
        """The map that `save` wrote.

        Raises:
            JudgeError: the file cannot be read, or is no map.
        """
        try:
            content = orjson.loads(_content(path))
        except orjson.JSONDecodeError as error:
            raise JudgeError(f"{path!r} is not a calibration map: {error}") from error
        if not isinstance(content, dict) or content.get("markscheme_calibration") != 1:
            raise JudgeError(
                f"{path!r} is not a calibration map; 'markscheme calibrate' writes them"
            )
        judge = str(content.get("judge") or "")
        try:
            if content["kind"] == "platt":
                slope, intercept = float(content["slope"]), float(content["intercept"])
                return cls(kind="platt", judge=judge, slope=slope, intercept=intercept)
            x, y = (np.array(content[name], dtype=float) for name in ("scores", "probabilities"))
            np.interp(0.0, x, y)  # Corners of different lengths, or none.
            return cls(
                kind="isotonic",
                judge=judge,
                scores=tuple(x.tolist()),
                probabilities=tuple(y.tolist()),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise JudgeError(f"the calibration map has a missing or wrong part: {error}") from error


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

    def validate(self) -> None:
        """Raises JudgeError if the threshold is not within 0 and 1."""
        check_range("threshold", self.threshold, 0, 1)

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """The base judge's outcomes with mapped scores, and verdicts by the threshold.

        Raises:
            JudgeError: the map cannot be read or is of another judge, or the base judge gave a
                verdict without a score.
        """
        mapping = CalibrationMap.load(self.map)
        if mapping.judge and mapping.judge != (base := judge_name(self.base)):
            raise JudgeError(
                f"{self.map!r} maps the scores of {mapping.judge}, not of {base}: 'markscheme "
                f"calibrate --save-map FILE' on judgments of {base} makes its map; if both are one "
                'judge, write this name in the file under "judge"'
            )
        outcomes = run_judge(self.base, answers, models)
        judged = outcomes["status"] == "judged"
        bare = int((judged & outcomes["score"].is_null()).sum())
        if bare:
            raise JudgeError(
                f"{bare} of {len(outcomes)} judgments of the base judge have no score, and only "
                "scores can be calibrated; choose a base judge that gives scores"
            )
        scores = outcomes["score"].fill_null(0.0).to_numpy()
        mapped = pl.Series("score", mapping(scores))
        return outcomes.with_columns(
            score=pl.when(judged).then(mapped),
            verdict=pl.when(judged).then(mapped >= self.threshold),
        )

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What the signature adds: a hash of the map, since its file may change."""
        return {"map": content_hash(_content(self.map))}


def _content(path: str) -> bytes:
    return read_file(path, "the calibration map", "markscheme calibrate --save-map FILE")
