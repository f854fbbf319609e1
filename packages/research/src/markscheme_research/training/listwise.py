"""How the shipped listwise examiner is made: cross-validated, calibrated, grown on everything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import orjson
import polars as pl
import zstandard

from markscheme.contract import Lineage
from markscheme.errors import MarkschemeError
from markscheme.manifests import write_manifest
from markscheme.models.local import TokenEncoder
from markscheme.tables import whole_folder
from markscheme_research.datasets import passages
from markscheme_research.lists import averaged_over_draws
from markscheme_research.training import Forest, fold_of, need_trainers, save_onnx
from markscheme_research.training.listwise_draws import Drawn, draw_all
from markscheme_research.training.listwise_models import ListwiseOptions, fit_style, grow

if TYPE_CHECKING:
    from markscheme_research.training import TrainingReport

Array = npt.NDArray[Any]
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Trained:
    """One of the judge's two modes: with embeddings or by words alone.

    Attributes:
        forest: the trees grown on everything.
        style: weights of the style inputs; None by words alone.
        names: the features.
        slope, intercept: of the calibration, fitted on out-of-fold scores.
        report: `held_out`'s table.
    """

    forest: Forest
    style: Array | None
    names: tuple[str, ...]
    slope: float
    intercept: float
    report: pl.DataFrame


def train_listwise(
    folder: Path,
    options: ListwiseOptions | None = None,
    *,
    data_dir: Path | None = None,
    part: str = "dev",
    say: Say = print,
    report: Callable[[TrainingReport], None] | None = None,
) -> tuple[Trained, Trained]:
    """Train the listwise examiner on ANTIQUE and TREC-DL-NF and write its weights to `folder`.

    Args:
        folder: where the weights go; a new one.
        options: how to train.
        data_dir: folder with the datasets.
        part: of ANTIQUE, as `datasets.passages` has them.
        say: receives a line for each step.
        report: receives the figures of each mode on held-out questions, before anything is saved.

    Returns:
        The mode with embeddings, and the mode that reads words alone.

    Raises:
        MarkschemeError: fewer than three draws.
        DataError: the datasets are not here.
        MissingExtraError: LightGBM or onnx is not installed.
    """
    from markscheme_research.training.reports import listwise_report

    options = options or ListwiseOptions()
    if options.draws < 3:
        raise MarkschemeError(
            f"draws is {options.draws}; three draws or more are needed for the held-out figures"
        )
    need_trainers()
    sets = {
        "antique": passages("antique", data_dir=data_dir, part=part),
        "trec-dl-nf": passages("trec-dl-nf", data_dir=data_dir),
    }
    say("encoding every passage, drawing lists, computing features ...")
    drawn = draw_all(sets, TokenEncoder(), draws=options.draws, seed=options.seed)
    say(f"{drawn.rows.height:,} candidates with drawn lists")
    modes = []
    for encoded in (True, False):
        trained = train_mode(drawn, options, encoded=encoded, say=say)
        if report is not None:
            report(listwise_report(trained.report, encoded=encoded))
        modes.append(trained)
    meaning, words = modes
    save_listwise(drawn, meaning, words, folder)
    return meaning, words


def inputs(drawn: Drawn, *, encoded: bool) -> tuple[Array, tuple[str, ...]]:
    """The matrix that the trees read, and its columns' names."""
    if not encoded:
        return drawn.words, drawn.word_names
    return np.hstack([drawn.words, drawn.meaning]), drawn.word_names + drawn.meaning_names


def train_mode(
    drawn: Drawn, options: ListwiseOptions, *, encoded: bool, say: Say = print
) -> Trained:
    """Cross-validate by question, calibrate on the out-of-fold scores, grow on everything.

    Raises:
        MissingExtraError: LightGBM is not installed.
    """
    scores = out_of_fold(drawn, options, encoded=encoded, say=say)
    slope, intercept = _platt(scores, drawn.rows)
    forest, style = _fit(drawn, np.ones(len(scores), dtype=bool), options, encoded=encoded)
    return Trained(
        forest=forest, style=style, names=inputs(drawn, encoded=encoded)[1], slope=slope,
        intercept=intercept, report=held_out(drawn, scores, slope=slope, intercept=intercept),
    )  # fmt: skip


def out_of_fold(
    drawn: Drawn, options: ListwiseOptions, *, encoded: bool, say: Say = print
) -> Array:
    """Scores of every row by a model that has not seen its question."""
    fold = np.array([fold_of(question, options.folds) for question in drawn.rows["question"]])
    matrix, _ = inputs(drawn, encoded=encoded)
    scores = np.zeros(len(matrix))
    for held in range(options.folds):
        forest, style = _fit(drawn, fold != held, options, encoded=encoded)
        out = fold == held
        scores[out] = forest(matrix[out])
        if style is not None:
            scores[out] += (drawn.style @ style)[drawn.text[out]]
        say(f"fold {held + 1} of {options.folds}")
    return scores


def _fit(
    drawn: Drawn, retained: npt.NDArray[np.bool_], options: ListwiseOptions, *, encoded: bool
) -> tuple[Forest, Array | None]:
    matrix, names = inputs(drawn, encoded=encoded)
    group = drawn.group
    forest = grow(matrix[retained], drawn.rows.filter(retained), group[retained], names, options)
    if not encoded:
        return forest, None
    # Without references every passage is a candidate, once.
    once = retained & (drawn.rows["mode"] == "none").to_numpy()
    style = fit_style(drawn.style, drawn.rows.filter(once), group[once], drawn.text[once], options)
    return forest, style


def held_out(
    drawn: Drawn, scores: Array, *, slope: float, intercept: float, draws: int = 3
) -> pl.DataFrame:
    """How the scores agree with people's grades: one row per set and number of references.

    Returns:
        `set`, `references`, `questions`, `draws`; Kendall, Spearman (with the standard deviation
        over draws) and Pearson within questions, averaged; `upper`, the share of grades in the
        upper half, `predicted`, the mean calibrated score, and `brier`, its mean squared error.
    """
    chance = 1 / (1 + np.exp(-(slope * scores + intercept)))
    table = drawn.rows.with_columns(score=pl.Series(scores), chance=pl.Series(chance))
    found = []
    for (name, mode), part in table.group_by("set", "mode", maintain_order=True):
        first = part["draw"].unique().sort()[:draws]
        chosen = part.filter(pl.col("draw").is_in(first.implode()))
        upper = (chosen["grade"] >= 2).cast(pl.Float64)
        figures = averaged_over_draws(chosen.drop("grade").rename({"label": "grade"}))
        spread = figures.spreads.get("spearman")
        found.append(
            {"set": name, "references": mode, "questions": round(figures.questions),
             "draws": len(first)}
            | {key: figure.value for key, figure in figures.means.items()}
            | {"deviation": None if spread is None else spread.value, "upper": upper.mean(),
               "predicted": chosen["chance"].mean(),
               "brier": ((chosen["chance"] - upper) ** 2).mean()}
        )  # fmt: skip
    return pl.DataFrame(found)


def save_listwise(drawn: Drawn, encoded: Trained, words: Trained, folder: Path) -> None:
    """Write the weights; the same training gives the same bytes.

    Raises:
        MissingExtraError: the package onnx is not installed.
    """
    settings: dict[str, Any] = {}
    with whole_folder(folder) as place:
        for key, file, trained in (("encoded", "trees", encoded), ("words", "words", words)):
            path = place / f"listwise_{file}.onnx"
            save_onnx(trained.forest, path, features=len(trained.names))
            packed = zstandard.ZstdCompressor(level=19).compress(path.read_bytes())
            path.with_suffix(".onnx.zst").write_bytes(packed)
            path.unlink()
            settings[key] = list(trained.names)
            settings[f"{key}_platt"] = [trained.slope, trained.intercept]
        if encoded.style is not None:
            style = encoded.style.astype(np.float32)
            np.savez_compressed(place / "listwise_style.npz", weights=style)
        Lineage.of(drawn.rows["question"].unique().to_list()).save(place)
        rarity = drawn.rarity.table.astype(np.float16)
        np.savez_compressed(place / "listwise_rarity.npz", table=rarity)
        (place / "listwise.json").write_bytes(orjson.dumps(settings, option=orjson.OPT_INDENT_2))
        write_manifest(place)


def _platt(scores: Array, rows: pl.DataFrame) -> tuple[float, float]:
    """Slope and intercept for the chance of a grade in the upper half of the scale."""
    from sklearn.linear_model import LogisticRegression

    upper = (rows["grade"] >= 2).to_numpy()
    fitted = LogisticRegression(C=1e6).fit(scores[:, None], upper)
    return float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
