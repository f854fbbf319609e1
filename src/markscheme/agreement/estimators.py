"""Human accuracy from many judgments and few labels: PPI, tuned PPI, Rogan-Gladen, labels only.

A judge's own acceptance rate is biased by the judge's errors; a few labels alone are unbiased but
wide. Prediction-powered inference (PPI, Angelopoulos et al. 2023) takes the judge's mean over all
answers and adds its mean error on the labelled ones; the power-tuned form (PPI++, Angelopoulos et
al. 2024) weighs the judge by how much it tells, and so is never much wider than labels alone.
Rogan & Gladen (1978) correct the acceptance rate by the judge's sensitivity and specificity.

All four are built the same way: an estimate, and each question's influence on it. The variance is
the sum of squared influences, so answers to one question may depend on each other, and labelled
answers may have been drawn with unequal probabilities. Intervals of shares are Wilson's, at the
number of independent labels that would give this variance, with Student's t and Satterthwaite's
degrees of freedom (`metrics.Spread`): estimate +- 2 standard errors misses far too often where
nearly all answers are right, since the variance is small in the very samples that miss the wrong
ones.

Nothing is refused because of how the sample came out. A method that is shown only where it looks
good is right less often than it says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from markscheme.agreement.options import LEAST_LABELS
from markscheme.metrics import Spread, effective_answers, share_interval, spread_of
from markscheme.results import Figure
from markscheme.stats import exact_interval, wilson_interval

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

METHODS = ("ppi_tuned", "ppi", "rogan_gladen", "labels_only")

RARE_LABELS = 2.0
"""Labels of the rarer kind at which half of what the judge adds to the labels is used.

The judge's help is estimated from the rare labels: a judge that was lucky on three of them seems
perfect. With b of them the number of labels that the estimate is worth is
alone ** (1 - w) * with_judge ** w, w = b / (b + 2)."""

LEAST_FOR_JUDGE = 50
"""Labels that PPI needs: with 30 of 1,000 answers its intervals cover 90 to 93% for some judges."""

SAME_LABEL = "all labels are the same, so the judge's errors cannot be estimated"

MOST_LEVERAGE = 0.5
"""Of a question; one that alone decides the tuned weight would have an infinite influence."""

PSEUDO_LABELS = 0.5
"""Added of either kind before sensitivity and specificity are taken, and a stratum's variance
(Jeffreys; Brown, Cai & DasGupta 2001, section 3.1.2), so that none is 0 or 1 with no variance."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """N answers with predictions, n of them labelled.

    Attributes:
        predictions: (N,) what the judge says: scores or verdicts as 0 and 1.
        accepted: (N,) whether the judge accepts.
        labels: (N,) human labels, NaN where there is none.
        weights: (N,) one over the probability that the answer was drawn for labelling (any
            constant for a simple random sample), 0 where there is no label.
        clusters: (N,) question numbers from 0.
        strata: (N,) number of the stratum that each answer belongs to; None for a simple random
            sample.
    """

    predictions: Array
    accepted: npt.NDArray[np.bool_]
    labels: Array
    weights: Array
    clusters: Ints
    strata: Ints | None = None

    @property
    def labelled(self) -> npt.NDArray[np.bool_]:
        """(N,) which answers have a label."""
        return ~np.isnan(self.labels)

    @property
    def binary(self) -> bool:
        """Whether all labels are 0 or 1; else they are grades."""
        return bool(np.isin(self.labels[self.labelled], (0.0, 1.0)).all())


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One method's estimate of the mean label.

    Attributes:
        method: one of `METHODS`, or `sequence` (`sequences.running_estimate`).
        figure: the estimate with its interval, or why there is none.
        standard_error: of the estimate.
        weight_of_judge: how much the judge's mean counts: 1 in PPI, tuned in PPI++ (lambda), else
            None.
    """

    method: str
    figure: Figure
    standard_error: float | None = None
    weight_of_judge: float | None = None


def estimates(sample: Sample, *, confidence: float = 0.95) -> list[Estimate]:
    """All methods on one sample, in the order of `METHODS`."""
    return [
        ppi(sample, tuned=True, confidence=confidence),
        ppi(sample, tuned=False, confidence=confidence),
        rogan_gladen(sample, confidence=confidence),
        labels_only(sample, confidence=confidence),
    ]


def ppi(sample: Sample, *, tuned: bool, confidence: float = 0.95) -> Estimate:
    """Prediction-powered estimate of the mean label.

    With judge weight k: mean label of the labelled answers, plus k times the difference of the
    judge's mean between all answers and the labelled ones. For a simple random sample this is
    Angelopoulos et al. (2023, section 2.1) with lambda = k (N - n) / N; the tuned k makes the
    estimated variance least (Angelopoulos et al. 2024, section 6), here clustered and weighted.
    """
    method = "ppi_tuned" if tuned else "ppi"
    has = sample.labelled
    total, count = len(has), int(has.sum())
    if count == total:
        return _refused(method, "every answer is labelled; take the labels alone")
    if sample.binary and count < LEAST_FOR_JUDGE:
        return _refused(
            method,
            f"{count} labels show too little of a judge's errors ({LEAST_FOR_JUDGE} are needed); "
            "take the labels alone",
        )
    label_mean, label_pull = _weighted_mean(sample, sample.labels)
    # The paper's lambda weighs the mean over unlabelled answers only.
    scale = total / (total - count) if sample.strata is None else 1.0
    value, pull, weight = _with_weight(sample, None if tuned else scale)
    spread = _spread(sample, pull)
    error = math.sqrt(spread.variance)
    if not sample.binary:
        figure = t_interval(value, spread, confidence)
    else:
        alone = _labels_worth(sample, label_mean, _spread(sample, label_pull))
        figure = _with_judge(sample, value, spread, alone, confidence)
        if not tuned:
            # At weight 1 a bad judge can put the estimate where no score interval reaches.
            plain = t_interval(value, spread, confidence)
            figure = _hull(figure, plain)
    return Estimate(
        method=method,
        figure=figure,
        standard_error=error,
        weight_of_judge=weight / scale,
    )


def _with_judge(
    sample: Sample, value: float, spread: Spread, alone: float, confidence: float
) -> Figure:
    """Wilson's interval at the number of labels that the estimate is worth; `alone`: the labels."""
    share = min(max(value, 0.0), 1.0)
    edge = 0.5 / len(sample.labels)
    inner = min(max(share, edge), 1 - edge)
    helped = inner * (1 - inner) / spread.variance if spread.variance else alone
    if helped > alone:
        rare = _rare_questions(sample)
        helped = alone * (helped / alone) ** (rare / (rare + RARE_LABELS))
    low, high = wilson_interval(share, helped, reach=spread.reach(confidence))
    return Figure(value=share, low=low, high=high, method="wilson-t")


def _labels_worth(sample: Sample, share: float, spread: Spread) -> float:
    """How many independent labels the labelled answers are worth without the judge."""
    simple = sample.strata is None and len(np.unique(sample.weights[sample.labelled])) == 1
    return effective_answers(share, spread, int(sample.labelled.sum()) if simple else None)


def _rare_questions(sample: Sample) -> int:
    """Questions that have a label of the rarer kind."""
    kinds = (len(np.unique(sample.clusters[sample.labels == label])) for label in (0.0, 1.0))
    return min(kinds)


def pull_of(sample: Sample) -> tuple[float, Array, Array]:
    """Tuned PPI's estimate, each answer's influence on it, and on the mean label alone.

    Where every answer is labelled the judge has no say.
    """
    label_mean, label_pull = _weighted_mean(sample, sample.labels)
    if sample.labelled.all():
        return label_mean, label_pull, label_pull
    value, pull, _ = _with_weight(sample, None)
    return value, pull, label_pull


def _with_weight(sample: Sample, weight: float | None) -> tuple[float, Array, float]:
    """The estimate with the judge at a weight (None: tuned), each answer's influence, the weight.

    The weight is tuned by a regression of the labels' influences on the judge's, question by
    question. Questions that tuned it fit it too well; dividing their influence by 1 - leverage, as
    HC3 does in regression (MacKinnon & White 1985), undoes that. Answers to one question pull
    together, so leverage is a question's and no answer's.
    """
    label_mean, label_pull = _weighted_mean(sample, sample.labels)
    drawn_mean, drawn_pull = _weighted_mean(sample, sample.predictions)
    all_mean = float(sample.predictions.mean())
    judge_pull = (sample.predictions - all_mean) / len(sample.labels) - drawn_pull
    inflation: Array | float = 1.0
    if weight is None:
        on_questions = _by_question(sample, judge_pull)
        power = float((on_questions**2).sum())
        both = float((on_questions * _by_question(sample, label_pull)).sum())
        weight = -both / power if power else 0.0
        if power:
            of_mean = _by_question(sample, sample.weights) / sample.weights.sum()
            leverage = np.minimum(of_mean + on_questions**2 / power, MOST_LEVERAGE)
            inflation = (1.0 / (1.0 - leverage))[sample.clusters]
    value = label_mean + weight * (all_mean - drawn_mean)
    return value, (label_pull + weight * judge_pull) * inflation, weight


def rogan_gladen(sample: Sample, *, confidence: float = 0.95) -> Estimate:
    """The acceptance rate corrected by sensitivity and specificity (Rogan & Gladen 1978).

    The interval is Fieller's (1954), since the correction divides by an estimate, with half a label
    added to each of the four combinations of label and verdict (Jeffreys). Where the judge is
    not clearly better than chance any share fits, and the interval is 0 to 1: refusing instead
    would show the lucky samples only. Refused for labels other than 0 and 1, or of one kind only,
    and for a judge that is no better than chance.
    """
    method = "rogan_gladen"
    has = sample.labelled
    if not sample.binary:
        return _refused(method, "the labels are grades")
    if np.ptp(sample.labels[has]) == 0:
        return _refused(method, SAME_LABEL)
    accepted = sample.accepted.astype(np.float64)
    rate = float(accepted.mean())
    positive = np.where(has, np.nan_to_num(sample.labels), 0.0)
    negative = np.where(has, 1.0 - positive, 0.0)
    plain = [_weighted_mean(sample, *pair)[0] for pair in ((accepted, positive),
                                                           (1.0 - accepted, negative))]  # fmt: skip
    if sum(plain) <= 1:
        return _refused(method, "the judge is no better than chance on the labelled answers")
    corrected = (rate + plain[1] - 1.0) / (sum(plain) - 1.0)
    sensitivity, found_pull, found_more = _smoothed_mean(sample, accepted, positive)
    specificity, spared_pull, spared_more = _smoothed_mean(sample, 1.0 - accepted, negative)
    excess, skill = rate + specificity - 1.0, sensitivity + specificity - 1.0
    excess_pull = (accepted - rate) / len(accepted) + spared_pull
    skill_pull = found_pull + spared_pull
    # Fieller: all shares r for which excess - r * skill differs from 0 by no more than chance.
    pull = (excess_pull - corrected * skill_pull) / (sum(plain) - 1.0)
    spread = _spread(sample, pull)
    reach = spread.reach(confidence) ** 2
    square = skill**2 - reach * (_covariance(sample, skill_pull, skill_pull)
                                 + found_more + spared_more)  # fmt: skip
    middle = excess * skill - reach * (_covariance(sample, excess_pull, skill_pull) + spared_more)
    last = excess**2 - reach * (_covariance(sample, excess_pull, excess_pull) + spared_more)
    low, high = 0.0, 1.0
    if skill > 0 and square > 0:
        root = math.sqrt(max(0.0, middle**2 - square * last))
        low, high = (middle - root) / square, (middle + root) / square
    ends = np.clip([corrected, min(low, corrected), max(high, corrected)], 0.0, 1.0)
    return Estimate(
        method=method,
        figure=Figure(
            value=float(ends[0]), low=float(ends[1]), high=float(ends[2]), method="fieller-t"
        ),
        standard_error=math.sqrt(spread.variance),
    )


def _smoothed_mean(sample: Sample, values: Array, among: Array) -> tuple[float, Array, float]:
    """Weighted mean among some labelled answers with `PSEUDO_LABELS` added of either value.

    Returns:
        The mean, each answer's influence, and what the added labels add to the variance.
    """
    share = sample.weights * among
    one = sample.weights.sum() / max(1, int(sample.labelled.sum())) * PSEUDO_LABELS
    total = float(share.sum()) + 2 * one
    mean = (float((share * values).sum()) + one) / total
    pull = share * (values - mean) / total
    return mean, pull, (one / total) ** 2 * (mean**2 + (1 - mean) ** 2) / PSEUDO_LABELS


def labels_only(sample: Sample, *, confidence: float = 0.95) -> Estimate:
    """The (weighted) mean label of the labelled answers.

    Where labels are 0 and 1, Wilson's interval with the effective number of labels, which stays
    honest where nearly all labels are the same; and of few labels (fewer than `LEAST_LABELS`)
    Clopper and Pearson's, as though all labels of one question agreed (Kish 1965), since no
    other holds for every share.
    """
    value, pull = _weighted_mean(sample, sample.labels)
    simple = sample.strata is None and len(np.unique(sample.weights[sample.labelled])) == 1
    spread = _spread(sample, pull, count_answers=simple)
    if not sample.binary:
        figure = t_interval(value, spread, confidence)
    elif sample.labelled.sum() < LEAST_LABELS:
        weights = _by_question(sample, sample.weights)
        size = float(weights.sum()) ** 2 / float(weights @ weights)
        low, high = exact_interval(value, size, confidence)
        figure = Figure(value=value, low=low, high=high, method="clopper-pearson")
    else:
        count = int(sample.labelled.sum()) if simple else None
        low, high = share_interval(value, spread, answers=count, confidence=confidence)
        method = "wilson" if count == spread.questions else "wilson-t"
        figure = Figure(value=value, low=low, high=high, method=method)
    return Estimate(
        method="labels_only",
        figure=figure,
        standard_error=math.sqrt(spread.variance),
    )


def drawn_unlike_rest(sample: Sample) -> tuple[float, float, float]:
    """Do the labelled answers look like all of them to the judge?

    What the judge says is known of all answers, so the spread of a random sample of them is known
    too; a sample that happens to hold none of the rarer verdict would think it was 0. Where whole
    questions were drawn, the spread between these is larger, and is taken.

    Returns:
        The judge's (weighted) mean on labelled answers, its mean on all, and the two-sided p of
        their being equal but for chance.
    """
    from scipy.stats import norm

    drawn_mean, drawn_pull = _weighted_mean(sample, sample.predictions)
    all_mean = float(sample.predictions.mean())
    pull = (sample.predictions - all_mean) / len(sample.predictions) - drawn_pull
    between = float((_by_question(sample, pull) ** 2).sum())
    weights = sample.weights[sample.labelled]
    left = 1.0 - len(weights) / len(sample.predictions)
    at_random = float(np.var(sample.predictions)) * left * float((weights**2).sum())
    error = math.sqrt(max(between, at_random / float(weights.sum()) ** 2))
    p = 1.0 if error == 0 else float(2 * norm.sf(abs(drawn_mean - all_mean) / error))
    return drawn_mean, all_mean, p


def _weighted_mean(
    sample: Sample, values: Array, among: Array | float = 1.0
) -> tuple[float, Array]:
    """Weighted mean over the labelled answers `among` which are 1, and each answer's influence."""
    filled = np.nan_to_num(values)
    share = sample.weights * among
    mean = float((share * filled).sum() / share.sum())
    pull = _influence(sample, among * (filled - mean))
    return mean, pull * sample.weights.sum() / share.sum()


def _influence(sample: Sample, residuals: Array) -> Array:
    """Each answer's influence on the weighted mean of residuals, which is zero.

    In a stratified sample a labelled answer pulls by its distance from its stratum's mean, since
    how many come from each stratum was not left to chance; what sets the strata apart is spread
    over all answers.
    """
    total = sample.weights.sum()
    if sample.strata is None:
        return np.asarray(sample.weights * residuals / total)
    top = np.bincount(sample.strata, sample.weights * residuals)
    bottom = np.bincount(sample.strata, sample.weights)
    means = (top / np.where(bottom > 0, bottom, 1.0))[sample.strata]
    return np.asarray(sample.weights * (residuals - means) / total + means / len(means))


def _by_question(sample: Sample, pull: Array) -> Array:
    return np.asarray(np.bincount(sample.clusters, pull), dtype=np.float64)


def _spread(sample: Sample, pull: Array, *, count_answers: bool = False) -> Spread:
    """How far chance moves what the influences are of."""
    labelled = sample.clusters[sample.labelled]
    answers = np.bincount(labelled) if count_answers else None
    spread = spread_of(_by_question(sample, pull), len(np.unique(labelled)), answers)
    return replace(spread, variance=spread.variance + _unseen(sample))


def _unseen(sample: Sample) -> float:
    """What a stratum whose labels are nearly all alike hides of the variance.

    A stratum of 900 answers with 50 labels, all 1, may well hold a few wrong answers, and the
    other strata tell nothing about them. When its variance is taken, its share is therefore that
    with `PSEUDO_LABELS` more labels of either kind.
    """
    if sample.strata is None or not sample.binary:
        return 0.0
    has = sample.labelled
    strata, labels = sample.strata[has], sample.labels[has]
    count = np.bincount(strata).astype(np.float64)
    part = np.bincount(strata, sample.weights[has]) / sample.weights.sum()
    ones = np.bincount(strata, labels)
    there = count > 0
    count, part, ones = count[there], part[there], ones[there]
    share = ones / count
    moved = (ones + PSEUDO_LABELS) / (count + 2 * PSEUDO_LABELS)
    hidden = np.maximum(moved * (1 - moved) - share * (1 - share), 0.0)
    return float((part**2 * hidden / count).sum())


def _covariance(sample: Sample, one: Array, other: Array) -> float:
    """Sum over questions of products of influences, with the small-sample factor n / (n - 1)."""
    labelled = len(np.unique(sample.clusters[sample.labelled]))
    factor = labelled / (labelled - 1) if labelled > 1 else 1.0
    return factor * float(_by_question(sample, one) @ _by_question(sample, other))


def t_interval(value: float, spread: Spread, confidence: float) -> Figure:
    """A figure with its interval by Student's t."""
    reach = spread.reach(confidence) * math.sqrt(spread.variance)
    return Figure(value=value, low=value - reach, high=value + reach, method="t")


def _hull(one: Figure, other: Figure) -> Figure:
    """The value of the first, and an interval that holds both intervals, within 0 and 1."""
    ends = [float(end) for each in (one, other) for end in (each.low, each.high) if end is not None]
    low, high = max(0.0, min(ends)), min(1.0, max(ends))
    return Figure(value=one.value, low=low, high=high, method=one.method)


def _refused(method: str, reason: str) -> Estimate:
    return Estimate(method=method, figure=Figure(reason=reason))
