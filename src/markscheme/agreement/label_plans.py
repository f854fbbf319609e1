"""How many of some answers to label, and which: the estimate that they serve, simulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from markscheme.agreement.accuracy_estimates import running, sample_of, unequal_chances
from markscheme.agreement.options import EstimateOptions, PlanOptions
from markscheme.errors import AgreementError
from markscheme.stats import (
    ASSURANCE,
    Powered,
    Supposed,
    correlation_within,
    labels_needed,
)


@dataclass(frozen=True, kw_only=True)
class LabelNeed:
    """How many labels a question takes.

    Attributes:
        labels: how many, known ones included, never fewer than `estimate` takes and never more than
            without the judge; None where not even labels of all answers do.
        labels_alone: how many without the judge's help, or None likewise.
        reach: the half-width that four in five samples of so many labels (or of all) stay within.
        share: of samples of so many labels (or of all) that answer the question.
        value: what is supposed of the share that people accept, or of the difference.
        source: what that rests on.
        known: labels that are there already.
        more: how many more than these.
        more_anytime: about how many more if one looks after every label and stops when the
            interval is narrow enough, as `estimate --anytime` says; None without a pilot, and
            where the plan is not about these answers alone.
    """

    labels: int | None
    labels_alone: int | None
    reach: float | None
    share: float
    value: float
    source: str
    known: int = 0
    more: int | None = None
    more_anytime: int | None = None


def label_need(answers: pl.DataFrame, options: PlanOptions) -> LabelNeed:
    """How many labels the wanted half-width, the winner or the limit takes.

    Args:
        answers: of one judge, as `accuracy_estimates.with_labels` gives them: `score`, `verdict`,
            `cluster`, and `label` where one is known; of two systems also `system`.
        options: what is wanted.

    Raises:
        AgreementError: a judge accuracy of chance or less, or a half-width or limit that cannot be.
    """
    wanted, confidence = _wanted(options)
    supposed = _supposed(answers, options)
    how = {"about": options.about, "confidence": confidence, "seed": options.seed}
    found = labels_needed(supposed, wanted, **how)  # type: ignore[arg-type]
    alone = labels_needed(supposed, wanted, judges=False, **how)  # type: ignore[arg-type]
    if alone.share >= ASSURANCE and (found.share < ASSURANCE or alone.labels < found.labels):
        found = alone  # What the judge may cost is left to chance, and to the labels.
    labels, labels_alone = (
        each.labels if each.share >= ASSURANCE else None for each in (found, alone)
    )
    known = int((~np.isnan(supposed.labels)).sum())
    source = f"{known} labels" if known else f"a supposed judge accuracy of {supposed.right:g}"
    return LabelNeed(
        labels=labels, labels_alone=labels_alone, reach=found.half_width, share=found.share,
        value=found.value, source=source, known=known,
        more=None if labels is None or not known else max(0, labels - known),
        more_anytime=_more_anytime(answers, options) if known else None,
    )  # fmt: skip


def _wanted(options: PlanOptions) -> tuple[Callable[[Powered], bool], float]:
    """Whether an estimate shows what is wanted, and the confidence that its interval needs."""
    half, limit = options.half_width, options.above
    if half is not None and not 0 < half < 1:
        raise AgreementError(f"a half-width of {half:g} cannot be; give one between 0 and 1")
    if limit is not None and not 0 < limit < 1:
        raise AgreementError(f"a limit of {limit:g} cannot be; give one between 0 and 1")

    def shown(found: Powered) -> bool:
        if found.low is None or found.high is None:
            return False
        if half is not None:
            return found.high - found.low <= 2 * half
        if limit is not None:
            return found.low >= limit
        return found.low > 0 or found.high < 0

    one_sided = limit is not None and half is None  # as a gate is
    return shown, 2 * options.confidence - 1 if one_sided else options.confidence


def _supposed(answers: pl.DataFrame, options: PlanOptions) -> Supposed:
    right = options.judge_accuracy
    if not 0.5 < right <= 1.0:
        raise AgreementError(
            f"a judge accuracy of {right:g} tells nothing; suppose one above 0.5, at most 1"
        )
    sample, _ = sample_of(answers, EstimateOptions(positive_from=options.positive_from))
    if not sample.labelled.any() and answers["verdict"].null_count() == answers.height:
        raise AgreementError(
            f"{answers['judge'][0]} judged none of the {answers.height:,} answers, so that nothing "
            "is known of them: judge them first, give a --pilot, or only a --count"
        )
    # What was not judged is like the answers whose scores are as the average.
    accepted = answers["verdict"].fill_null(bool(sample.predictions.mean() >= 0.5)).to_numpy()
    pair = options.for_difference
    return Supposed(
        predictions=sample.predictions,
        accepted=accepted,
        labels=sample.labels,
        clusters=sample.clusters,
        units=units(answers, questions=bool(pair)),
        second=(answers["system"] == pair[1]).to_numpy() if pair else None,
        right=right,
        alike=correlation_within(
            np.bincount(sample.clusters, accepted), np.bincount(sample.clusters)
        ),
    )


def units(answers: pl.DataFrame, *, questions: bool) -> np.ndarray:
    """(answers,) numbers from 0 of what is drawn: answers, or whole questions (`cluster`)."""
    if questions:
        return (answers["cluster"].rank("dense") - 1).cast(pl.Int64).to_numpy()
    return np.arange(answers.height)


def _more_anytime(answers: pl.DataFrame, options: PlanOptions) -> int | None:
    """What `estimate --anytime` says, which is about these answers alone."""
    half = options.half_width
    if half is None or options.for_difference or options.about == "future":
        return None
    if unequal_chances(answers):
        return None
    sample, _ = sample_of(answers, EstimateOptions(positive_from=options.positive_from))
    return running(answers, sample, options.confidence)[0].more_for(half)


def choose_labels(
    answers: pl.DataFrame, labels: int, *, questions: bool = False, seed: int = 0
) -> pl.DataFrame:
    """Draw answers to label, each with equal probability: answers, or all those to a question.

    Args:
        answers: as for `label_need`. Those that have a `label`, which must have been drawn at
            random as well, come first and are among the `labels`.
        labels: how many to draw.
        questions: whether questions are drawn, as many as have about so many answers.
        seed: of the draw.

    Returns:
        The drawn rows, those drawn last at the end, with `inclusion_probability`.

    Raises:
        AgreementError: more labels than answers.
    """
    if not 0 < labels <= answers.height:
        systems = set(answers["system"]) if "system" in answers.columns else set[str]()
        whose = f" of {systems.pop()!r} (--count is of each)" if len(systems) == 1 else ""
        raise AgreementError(f"cannot draw {labels} of {answers.height} answers{whose}")
    unit = units(answers, questions=questions)
    total = int(unit.max()) + 1
    known = answers.with_columns(unit=unit).drop_nulls("label").sort("place")["unit"].unique(
        maintain_order=True
    ).to_numpy()  # fmt: skip
    rest = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(total), known))
    order = np.r_[known, rest].astype(np.int64)
    count = max(len(known), round(labels * total / answers.height), 1)
    place = np.empty(total, dtype=np.int64)
    place[order] = np.arange(total)
    rows = np.argsort(place[unit], kind="stable")
    drawn = rows[: int((place[unit] < count).sum())]
    return answers[drawn].with_columns(inclusion_probability=pl.lit(count / total))
