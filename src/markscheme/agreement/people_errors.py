"""What people's disagreements are worth: labels that are wrong, and answers without a majority.

Where people differ, some labels are wrong: how many, and what a share of them would be without. And
answers on which annotators are tied have no label and count in no figure. They are those that
people find hard, so that figures of the others may be too good; deciding them either way says how
far.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import polars as pl

from markscheme.agreement.annotators import once_an_item, ratings_of
from markscheme.errors import AgreementError
from markscheme.results import Figure, interval, share_text
from markscheme.stats import (
    LEAST_OF_OVERLAP,
    LabelNoise,
    noise_from_pairs,
    of_majorities,
    without_noise,
)
from markscheme.tables import KEYS, as_binary, is_tied, matched_on

_AS_THEY_SAY = (
    "according to these labellers: {} (--label-errors RATE corrects for an assumed share)"
)
_UNKNOWN = _AS_THEY_SAY.format("how many labels are wrong is not known")
NOTHING_TWICE = _AS_THEY_SAY.format(
    "no answers were labelled twice, so how many labels are wrong is not known"
)


def label_noise(
    labels: pl.DataFrame,
    *,
    supposed: float | None = None,
    positive_from: float | None = None,
    confidence: float = 0.95,
) -> LabelNoise | str:
    """The share of wrong labels: as supposed, or from answers that several people labelled.

    Args:
        labels: as `load_labels` gives them.
        supposed: the share, 0 to below .5, of the labels that count.
        positive_from: grade from which an answer is acceptable.
        confidence: of the interval.

    Returns:
        Of the labels that count, which are a majority's where several labelled an answer; why it
        is not known where fewer than `LEAST_OF_OVERLAP` pairs of labels are of one answer, or
        labels are grades.

    Raises:
        AgreementError: no such share.
    """
    if supposed is not None:
        if not 0 <= supposed < 0.5:
            raise AgreementError(
                f"a share of wrong labels of {supposed:g} is out of range; "
                "give one from 0 to below 0.5"
            )
        return LabelNoise(rate=supposed, low=supposed, high=supposed)
    if "annotator_labels" not in labels.columns:
        return NOTHING_TWICE
    labels = once_an_item(labels)
    ratings = ratings_of(labels)
    if positive_from is None and not are_verdicts(ratings):
        return _UNKNOWN
    cells = np.column_stack(
        [
            as_binary(ratings[name], positive_from=positive_from).cast(pl.Float64).to_numpy()
            for name in ratings.columns
        ]
    )
    known = ~np.isnan(cells)
    people, accepted = known.sum(axis=1), np.where(known, cells, 0.0).sum(axis=1)
    questions = np.arange(labels.height)
    if "question" in labels.columns:
        questions = labels["question"].rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
    pairs = np.bincount(questions, people * (people - 1) / 2)
    differ = np.bincount(questions, accepted * (people - accepted))
    if pairs.sum() < LEAST_OF_OVERLAP:
        return _too_few(int((people > 1).sum()), int(pairs.sum()), int(differ.sum()))
    noise = noise_from_pairs(differ, pairs, confidence=confidence)
    counted = as_binary(labels["label"], positive_from=positive_from).cast(pl.Float64).to_numpy()
    is_counted = ~np.isnan(counted)
    ahead = np.where(counted == 1, 2 * accepted - people, people - 2 * accepted)
    is_one_persons = (cells == counted[:, None])[is_counted].all(axis=0).any()
    if is_one_persons and (ahead[is_counted] <= 0).any():  # Ties, or most people, went for nothing.
        return noise
    # Somebody decided on ties, or against most: as one more person would.
    return of_majorities(noise, np.maximum(ahead[is_counted & (people > 0)], 1))


def with_questions(labels: pl.DataFrame, judgments: pl.DataFrame) -> pl.DataFrame:
    """Labels with the question of each answer, where they are known by `answer_id` alone.

    So a file of labels has the same intervals whether it repeats the question or not.
    """
    known = {"answer_id", "question"}
    if "question" in labels.columns or not known <= set(judgments.columns):
        return labels
    if "answer_id" not in labels.columns:
        return labels
    labels = matched_on(judgments, labels).table
    questions = judgments.select("answer_id", "question").unique("answer_id", keep="first")
    return labels.join(questions, on="answer_id", how="left", maintain_order="left")


def are_verdicts(ratings: pl.DataFrame) -> bool:
    """Whether annotators gave 0 and 1 alone, and no grades."""
    known = pl.all().cast(pl.Float64).is_in([0.0, 1.0])
    return bool(ratings.select(known.all()).to_numpy().all())


def _too_few(answers: int, pairs: int, differ: int) -> str:
    if not pairs:
        return NOTHING_TWICE
    many = f"{pairs} pairs of labels are of the same answers"
    if pairs == answers:
        many = f"{answers} {'answers were' if answers > 1 else 'answer was'} labelled twice"
    return _AS_THEY_SAY.format(
        f"{many} ({differ} differ); {LEAST_OF_OVERLAP} are needed to say how many labels are wrong"
    )


def undone(figure: Figure, noise: LabelNoise) -> Figure:
    """A share of labels, or of agreement with them, without their errors; of no value, itself.

    A share that so many wrong labels cannot give has none: it is surely above 1 - e, or below e.
    """
    if figure.value is None or figure.low is None or figure.high is None:
        return figure
    above = figure.low > 1 - noise.low
    if above or figure.high < noise.low:
        end, limit = ("above", 1 - noise.low) if above else ("below", noise.low)
        return Figure(
            reason=f"{100 * noise.low:.3g}% wrong labels do not fit a share of "
            f"{share_text(figure.value, digits=0)}%, as none is {end} {100 * limit:.3g}% then"
        )
    value, low, high = without_noise(figure.value, figure.low, figure.high, noise)
    return Figure(value=value, low=low, high=high, method=figure.method)


def noise_sentence(noise: LabelNoise, without: Mapping[str, Figure]) -> str:
    """How many labels are wrong, and figures without their errors, by the name of what they are."""
    shares = ", ".join(f"{name} {_text(figure)}".lstrip() for name, figure in without.items())
    wrong = f"{share_text(noise.rate)}% of labels"
    if not noise.pairs:
        return f"assuming that {wrong} are wrong, corrected for these errors: {shares}"
    wrong = f"about {share_text(noise.rate)}% ({interval(noise.low, noise.high)})"
    if noise.single is None:
        said = f"{wrong} of one person's labels, which count here, are wrong"
    else:
        said = (
            f"about {share_text(noise.single)}% of one person's labels are wrong, and {wrong} of "
            "the majority's, which count here"
        )
    return (
        f"people differ on {share_text(noise.differ)}% of {noise.pairs:,} pairs of labels: {said}; "
        f"corrected for these errors: {shares}"
    )


def agreement_sentence(noise: LabelNoise, agreement: Figure) -> str:
    """A judge's agreement with people once the labels' errors are undone."""
    supposed = "" if noise.pairs else " assumed"
    return (
        "these shares are according to the labels; without the "
        f"{share_text(noise.rate)}%{supposed} wrong ones it agrees with people on "
        f"{_text(undone(agreement, noise))}"
    )


def _text(figure: Figure) -> str:
    if figure.value is None:
        return f"an unknown share ({figure.reason})"
    return figure.text(scale=100, digits=0, unit="%", words=True)


def tied_answers(labels: pl.DataFrame) -> list[dict[str, Any]]:
    """What is known of each answer on which annotators are tied: id, texts, system."""
    key = [name for name in KEYS if name in labels.columns]
    return labels.filter(is_tied(labels)).select(key).unique(maintain_order=True).to_dicts()


def decided(labels: pl.DataFrame, way: Literal["lowest", "highest"]) -> pl.DataFrame:
    """Labels with every tie decided for the lowest, or the highest, that somebody gave."""
    ratings = pl.col("annotator_labels").list
    end = ratings.min() if way == "lowest" else ratings.max()
    return labels.with_columns(label=pl.when(is_tied(labels)).then(end).otherwise("label"))


def tie_sentence(ties: int, ways: str, ends: Mapping[str, tuple[float, float]]) -> str:
    """Between which ends figures lie, by their names, if all ties are decided one of two ways."""
    bounds = ", ".join(
        f"{name} {share_text(low)} to {share_text(high)}%" for name, (low, high) in ends.items()
    )
    return (
        f"if annotators' ties ({ties:,}) were all decided {ways}: {bounds} (--format json lists "
        "them as 'tied')"
    )
