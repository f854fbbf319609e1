"""Human accuracy from many judgments and few labels: PPI, tuned PPI, Rogan-Gladen, labels only.

A judge's own acceptance rate is biased by the judge's errors; a few labels alone are unbiased but
wide. Prediction-powered inference (PPI, Angelopoulos et al. 2023) takes the judge's mean over all
answers and adds its mean error on the labelled ones; the power-tuned form (PPI++, Angelopoulos et
al. 2024) weighs the judge by how much it tells, and so is never much wider than labels alone.
Rogan & Gladen (1978) correct the acceptance rate by the judge's sensitivity and specificity.

All four are built the same way: an estimate, and each question's influence on it. The variance is
the sum of squared influences, so answers to one question may depend on each other, and labelled
answers may have been drawn with unequal probabilities. The interval uses Student's t with as many
degrees of freedom as there are labelled questions, less one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from markscheme.agreement.closed_forms import wilson_interval
from markscheme.results import Figure

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

METHODS = ("ppi_tuned", "ppi", "rogan_gladen", "labels_only")

LEAST_SKILL = 4.0
"""Standard errors by which sensitivity plus specificity must exceed 1. Nearer to chance the ratio
is too skewed for an interval, and judges that pass by luck would be the ones that are shown."""

SAME_LABEL = "all labels are the same, so the judge's errors cannot be estimated"


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


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One method's estimate of the mean label.

    Attributes:
        method: one of `METHODS`.
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
    if np.ptp(sample.labels[has]) == 0:
        return _refused(method, SAME_LABEL)
    label_mean, label_pull = _weighted_mean(sample, sample.labels)
    drawn_mean, drawn_pull = _weighted_mean(sample, sample.predictions)
    all_mean = float(sample.predictions.mean())
    judge_pull = (sample.predictions - all_mean) / total - drawn_pull
    # The paper's lambda weighs the mean over unlabelled answers only.
    scale = total / (total - count) if sample.strata is None else 1.0
    if tuned:
        on_questions = _by_question(sample, judge_pull)
        power = float((on_questions**2).sum())
        label_questions = _by_question(sample, label_pull)
        weight = -float((on_questions * label_questions).sum()) / power if power else 0.0
    else:
        weight = scale
    value = label_mean + weight * (all_mean - drawn_mean)
    pull = label_pull + weight * judge_pull
    if tuned:
        pull = pull / (1.0 - _leverage(sample))
    error = float(np.sqrt(_variance(sample, pull)))
    return Estimate(
        method=method,
        figure=_t_interval(sample, value, error, confidence),
        standard_error=error,
        weight_of_judge=weight / scale,
    )


def rogan_gladen(sample: Sample, *, confidence: float = 0.95) -> Estimate:
    """The acceptance rate corrected by sensitivity and specificity (Rogan & Gladen 1978).

    Interval by Fieller's theorem, since the correction divides by an estimate.
    Refused where the labels are not 0 and 1 or know one class, and where the judge is not clearly
    better than chance, for the correction then divides by nearly nothing.
    """
    method = "rogan_gladen"
    has = sample.labelled
    known = sample.labels[has]
    if not np.isin(known, (0.0, 1.0)).all():
        return _refused(method, "the labels are grades")
    if np.ptp(known) == 0:
        return _refused(method, SAME_LABEL)
    accepted = sample.accepted.astype(np.float64)
    rate = float(accepted.mean())
    positive = np.where(has, np.nan_to_num(sample.labels), 0.0)
    negative = np.where(has, 1.0 - positive, 0.0)
    sensitivity, found_pull = _weighted_mean(sample, accepted, positive)
    specificity, spared_pull = _weighted_mean(sample, 1.0 - accepted, negative)
    excess, skill = rate + specificity - 1.0, sensitivity + specificity - 1.0
    excess_pull = (accepted - rate) / len(accepted) + spared_pull
    skill_pull = found_pull + spared_pull
    skill_variance = _covariance(sample, skill_pull, skill_pull)
    if skill <= 0 or skill**2 < LEAST_SKILL**2 * skill_variance:
        return _refused(method, "the judge is not clearly better than chance")
    # Fieller: all shares r for which excess - r * skill differs from 0 by no more than chance.
    reach = _t(sample, confidence) ** 2
    square = skill**2 - reach * skill_variance
    middle = excess * skill - reach * _covariance(sample, excess_pull, skill_pull)
    last = excess**2 - reach * _covariance(sample, excess_pull, excess_pull)
    root = float(np.sqrt(max(0.0, middle**2 - square * last)))
    value, low, high = excess / skill, (middle - root) / square, (middle + root) / square
    if high < 0 or low > 1:
        return _refused(method, "the judge's errors on labelled answers do not fit the others")
    ends = np.clip([value, low, high], 0.0, 1.0)
    pull = (excess_pull - value * skill_pull) / skill
    return Estimate(
        method=method,
        figure=Figure(value=float(ends[0]), low=float(ends[1]), high=float(ends[2])),
        standard_error=float(np.sqrt(_variance(sample, pull))),
    )


def labels_only(sample: Sample, *, confidence: float = 0.95) -> Estimate:
    """The (weighted) mean label of the labelled answers.

    Where labels are 0 and 1, Wilson's interval with the effective number of labels, which stays
    honest where nearly all labels are the same.
    """
    has = sample.labelled
    value, pull = _weighted_mean(sample, sample.labels)
    error = float(np.sqrt(_variance(sample, pull)))
    if not np.isin(sample.labels[has], (0.0, 1.0)).all():
        figure = _t_interval(sample, value, error, confidence)
    else:
        questions = len(np.unique(sample.clusters[has]))
        effective = value * (1 - value) / error**2 if error > 0 else float(questions)
        low, high = wilson_interval(value, effective, confidence=confidence)
        figure = Figure(value=value, low=low, high=high)
    return Estimate(method="labels_only", figure=figure, standard_error=error)


def drawn_unlike_rest(sample: Sample) -> tuple[float, float, float]:
    """Do the labelled answers look like all of them to the judge?

    Returns:
        The judge's (weighted) mean on labelled answers, its mean on all, and the two-sided p of
        their being equal but for chance.
    """
    from scipy.stats import norm

    drawn_mean, drawn_pull = _weighted_mean(sample, sample.predictions)
    all_mean = float(sample.predictions.mean())
    pull = (sample.predictions - all_mean) / len(sample.predictions) - drawn_pull
    error = float(np.sqrt((_by_question(sample, pull) ** 2).sum()))
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


def _leverage(sample: Sample) -> Array:
    """How far each labelled answer can pull the tuned weight towards itself (0 where unlabelled).

    Residuals of answers that tuned the weight are too small by this much; undoing it, as HC3 does
    in regression, keeps intervals honest where few labels meet a rare prediction.
    """
    share = sample.weights / sample.weights.sum()
    away = sample.predictions - float((share * sample.predictions).sum())
    spread = float((share * away**2).sum())
    hat = share * (1.0 + away**2 / spread) if spread else share
    return np.asarray(np.minimum(hat, 0.5))


def _by_question(sample: Sample, pull: Array) -> Array:
    return np.asarray(np.bincount(sample.clusters, pull), dtype=np.float64)


def _variance(sample: Sample, pull: Array) -> float:
    """Variance of what the influences are of."""
    return _covariance(sample, pull, pull)


def _covariance(sample: Sample, one: Array, other: Array) -> float:
    """Sum over questions of products of influences, with the small-sample factor n / (n - 1)."""
    labelled = len(np.unique(sample.clusters[sample.labelled]))
    factor = labelled / (labelled - 1) if labelled > 1 else 1.0
    return factor * float(_by_question(sample, one) @ _by_question(sample, other))


def _t(sample: Sample, confidence: float) -> float:
    from scipy.stats import t

    labelled = len(np.unique(sample.clusters[sample.labelled]))
    return float(t.ppf((1 + confidence) / 2, max(1, labelled - 1)))


def _t_interval(sample: Sample, value: float, error: float, confidence: float) -> Figure:
    """Within 0 and 1 where labels are: an accuracy cannot lie outside."""
    reach = _t(sample, confidence) * error
    ends = np.array([value, value - reach, value + reach])
    if np.isin(sample.labels[sample.labelled], (0.0, 1.0)).all():
        ends = ends.clip(0.0, 1.0)
    return Figure(value=float(ends[0]), low=float(ends[1]), high=float(ends[2]))


def _refused(method: str, reason: str) -> Estimate:
    return Estimate(method=method, figure=Figure(reason=reason))
