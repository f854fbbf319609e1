"""How many labels a question takes, by simulating the estimate that will answer it.

What people would say of answers without a label is drawn again and again from what is supposed of
them, some are labelled, and the estimator itself (`prediction_powered`) makes its interval. The
number of labels is the least with which a wanted share of these draws answers the question: its
assurance (O'Hagan, Stevens & Campbell 2005, Pharmaceutical Statistics 4(3), 187-201). A formula
would be of an average interval, which half of the draws miss, and of another estimator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from markscheme.stats.limits import ASSURANCE, LEAST_FOR_JUDGES, LEAST_QUESTIONS
from markscheme.stats.prediction_powered import Powered, powered, powered_difference
from markscheme.stats.samples import About, Sample, balanced

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

DRAWS = 100
MOST_ANSWERS = 20_000
"""Of more answers, so many are drawn to represent all: what remains unlabelled hardly counts."""
PRIOR_LABELS = 2.0
_LEVELS = 1000
_CLOSE = 50
"""A number of labels is found to one in this many."""


@dataclass(frozen=True, kw_only=True)
class Supposed:
    """Answers, judged, of which labels are still to come.

    Attributes:
        predictions: (N, judges) what each judge says.
        accepted: (N,) the first judge's verdicts.
        labels: (N,) those that are known already, else NaN.
        counted: whether these are among the labels to come, and not only what draws rest on.
        clusters: (N,) question numbers from 0.
        units: (N,) numbers from 0 of what is drawn for labelling: answers, or whole questions.
        second: (N,) whether the answer is the second system's, where two are compared.
        right: how often either verdict is supposed to be right, where no label is known.
        alike: the correlation of the verdicts on answers to a question (`correlation_within`).
    """

    predictions: Array
    accepted: Bools
    labels: Array
    clusters: Ints
    units: Ints
    second: Bools | None = None
    right: float
    alike: float
    counted: bool = True

    @property
    def there(self) -> Bools:
        """(N,) which answers have a label before any is drawn."""
        return ~np.isnan(self.labels) & self.counted


@dataclass(frozen=True, kw_only=True)
class Assured:
    """What so many labels give, over the draws.

    Attributes:
        labels: how many, known ones included.
        share: of the draws that answer the question.
        half_width: that at most `ASSURANCE` of the draws exceed not.
        value: the mean of what the estimate is of, as supposed.
    """

    labels: int
    share: float
    half_width: float
    value: float


def labels_needed(
    supposed: Supposed,
    reached: Callable[[Powered], bool],
    *,
    judges: bool = True,
    about: About = "future",
    confidence: float = 0.95,
    seed: int = 0,
) -> Assured:
    """The fewest labels with which a share `ASSURANCE` of draws answers the question.

    Args:
        supposed: of the answers.
        reached: whether an estimate answers it.
        judges: whether the estimate uses them.
        about: further answers of the kind, or these alone.
        confidence: of the intervals.
        seed: of the draws.

    Returns:
        What that number gives; where not even labels of all answers do, what these give, with a
        `share` below `ASSURANCE`.

    Of a judge that is supposed to be right in 85 of 100, labels for +-10 points:

    >>> accepted = np.arange(400) % 5 > 0
    >>> supposed = Supposed(
    ...     predictions=accepted[:, None].astype(float),
    ...     accepted=accepted,
    ...     labels=np.full(400, np.nan),
    ...     clusters=np.arange(400),
    ...     units=np.arange(400),
    ...     right=0.85,
    ...     alike=0.0,
    ... )
    >>> plan = labels_needed(supposed, lambda found: found.high - found.low <= 0.2)
    >>> plan.labels, plan.share
    (63, 0.82)
    """
    small = _fewer(supposed, seed)
    draws = [_drawn(small, np.random.default_rng([seed, number])) for number in range(DRAWS)]
    value = float(np.mean([_truth_of(small, truth) for truth, _ in draws]))

    def estimates(units: int) -> Iterator[Powered]:
        for draw in draws:
            yield _estimate(small, *draw, units, judges=judges, about=about, confidence=confidence)

    def enough(units: int) -> bool:
        wanted, missed = ASSURANCE * DRAWS, 0
        for seen, each in enumerate(estimates(units), 1):
            missed += not reached(each)
            if seen - missed >= wanted or missed > DRAWS - wanted:
                break  # Whatever the other draws show.
        return seen - missed >= wanted

    def given(units: int) -> Assured:
        found = list(estimates(units))
        halves = [(each.high - each.low) / 2 for each in found]
        return Assured(
            labels=int(np.count_nonzero(_labelled(small, draws[0][1], units))),
            half_width=float(np.quantile(halves, ASSURANCE, method="inverted_cdf")),
            share=sum(map(reached, found)) / DRAWS,
            value=value,
        )

    total = int(small.units.max()) + 1
    least = LEAST_FOR_JUDGES if small.second is None else LEAST_QUESTIONS
    low, high = min(total, max(least, len(np.unique(small.units[small.there])))), total
    if enough(low):
        return given(low)
    if not enough(high):
        return given(high)
    while high - low > max(1, high // _CLOSE):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return given(high)


def _fewer(supposed: Supposed, seed: int) -> Supposed:
    """At most `MOST_ANSWERS` of the answers, in whole units, those with known labels among them."""
    count = len(supposed.labels)
    if count <= MOST_ANSWERS:
        return supposed
    total = int(supposed.units.max()) + 1
    known = np.bincount(supposed.units[~np.isnan(supposed.labels)], minlength=total) > 0
    order = np.lexsort((np.random.default_rng(seed).random(total), ~known))
    chosen = np.zeros(total, dtype=bool)
    chosen[order[: total * MOST_ANSWERS // count]] = True
    rows = np.flatnonzero(chosen[supposed.units])
    return replace(
        supposed,
        predictions=supposed.predictions[rows],
        accepted=supposed.accepted[rows],
        labels=supposed.labels[rows],
        clusters=np.unique(supposed.clusters[rows], return_inverse=True)[1],
        units=np.unique(supposed.units[rows], return_inverse=True)[1],
        second=None if supposed.second is None else supposed.second[rows],
    )


def _drawn(supposed: Supposed, rng: np.random.Generator) -> tuple[Array, Ints]:
    """What people say of every answer, and in which place each unit comes to be labelled.

    Units with labels that count come first.
    """
    known = ~np.isnan(supposed.labels)
    groups = supposed.accepted + (0 if supposed.second is None else 2 * supposed.second)
    kinds, group = np.unique(groups, return_inverse=True)
    said = np.stack([_said(supposed, known & (groups == kind), kind % 2, rng) for kind in kinds])
    questions = int(supposed.clusters.max()) + 1
    shared = rng.random(questions) < _shared(said, np.bincount(group) / len(group), supposed.alike)
    level = np.where(
        shared[supposed.clusters],
        rng.integers(_LEVELS, size=questions)[supposed.clusters],
        rng.integers(_LEVELS, size=len(group)),
    )
    truth = np.where(known, supposed.labels, said[group, level])
    total = int(supposed.units.max()) + 1
    later = np.bincount(supposed.units[supposed.there], minlength=total) == 0
    place = np.empty(total, dtype=np.int64)
    place[np.lexsort((rng.random(total), later))] = np.arange(total)
    return truth, place[supposed.units]


def _said(supposed: Supposed, known: Bools, accepted: int, rng: np.random.Generator) -> Array:
    """(levels,) what people may say of answers with one verdict, each as likely, ascending.

    Those who labelled some of them are heard with the uncertainty that these leave (Rubin 1981,
    Annals of Statistics 9(1), 130-134); what is supposed counts as `PRIOR_LABELS` labels.
    """
    right = supposed.right if accepted else 1 - supposed.right
    good, count = float(supposed.labels[known].sum()), int(known.sum())
    chances = PRIOR_LABELS * np.array([1 - right, right]) + np.array([count - good, good])
    labelled = not np.isnan(supposed.labels).all()
    chances = rng.dirichlet(chances) if labelled else chances / chances.sum()
    levels = (np.arange(_LEVELS) + 0.5) / _LEVELS
    return np.asarray(levels > chances[0], dtype=np.float64)


def _shared(said: Array, shares: Array, alike: float) -> float:
    """In which share of questions all answers have one level, so that labels are as alike.

    Verdicts on answers to a question are less alike than labels, since they err: by the squared
    correlation of verdict and label (Spearman 1904, American Journal of Psychology 15(1), 72-101).
    What labels share beyond what verdicts show of it is the levels'.

    Args:
        said: (kinds, levels) labels of answers of each kind.
        shares: (kinds,) of the answers.
        alike: the correlation of verdicts within a question.
    """
    means = said.mean(axis=1)
    common = said @ said.T / said.shape[1] - np.outer(means, means)
    between = float(shares @ (means - shares @ means) ** 2)
    apart = between + float(shares @ np.diag(common))
    pairs = (1 - alike) * np.outer(shares, shares) + alike * np.diag(shares)
    most = float((pairs * common).sum())
    wanted = apart * min(1.0, alike * apart / between) if between else apart * bool(alike)
    return min(1.0, max(0.0, wanted - alike * between) / most) if most > 0 else 0.0


def _labelled(supposed: Supposed, place: Ints, units: int) -> Bools:
    return (place < units) | supposed.there


def _sides(supposed: Supposed, labels: Array, predictions: Array) -> tuple[Sample, ...]:
    """All answers, or those of either system."""
    second = supposed.second
    first, *other = (
        Sample(
            predictions=predictions[rows],
            labels=labels[rows],
            weights=np.ones(len(labels))[rows],
            clusters=supposed.clusters[rows],
        )
        for rows in ([slice(None)] if second is None else [~second, second])
    )
    return balanced(first, *other) if other else (first,)


def _truth_of(supposed: Supposed, truth: Array) -> float:
    sides = _sides(supposed, truth, supposed.predictions)
    one, *other = (float((each.labels * each.counts).mean()) for each in sides)
    return one - sum(other)


def _estimate(
    supposed: Supposed,
    truth: Array,
    place: Ints,
    units: int,
    *,
    judges: bool,
    about: About,
    confidence: float,
) -> Powered:
    labels = np.where(_labelled(supposed, place, units), truth, np.nan)
    predictions = supposed.predictions if judges else np.zeros((len(labels), 1))
    first, *other = _sides(supposed, labels, predictions)
    if other:
        return powered_difference(first, *other, about=about, confidence=confidence)
    return powered(first, judges=judges, about=about, confidence=confidence)
