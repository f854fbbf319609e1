"""Worlds of several systems under one judge, of whose answers few are labelled.

- `systems`: each system's own figure (`estimate --by system`) and every difference (`compare
  --systems` with labels) of three systems on the same 120 questions; and of two of which one is
  right everywhere and the other loses a few questions, all of them labelled, or half of them;
- `systems_apart`: three systems that lie far apart, and judges whose correlation with people's
  labels is .7 and .85;
  also what the labels alone show, and whether the order of all three is right;
- `unpaired`: the difference of two systems on 60 and 120 questions of which none is the same, by
  the judge alone and with labels.

A difference without an interval counts as one of everything, from -1 to 1; how often there is none
is noted, and in which share of draws another system than the best is named first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from benchmarks.worlds import Array, Tally, World
from markscheme.agreement.accuracy_estimates import estimates
from markscheme.agreement.options import CompareOptions
from markscheme.agreement.pairs import Pair, in_order, unpaired_difference
from markscheme.agreement.system_differences import difference_by_people
from markscheme.results import Figure, share_figure
from markscheme.stats import Sample, t_quantile

JUDGES = {"good": (0.95, 0.85), "lenient": (0.995, 0.4), "useless": (0.8, 0.2)}
"""Sensitivity and specificity."""
CORRELATED = {"correlation .7": (0.925, 0.775), "correlation .85": (0.9625, 0.8875)}
"""Likewise; of answers of which 75% are right they accept 75%, with this correlation."""
QUESTIONS = 120
COMMON = 0.6
"""The part of what makes an answer right that is the question's, the same for all systems."""
OPTIONS = CompareOptions(systems=True)


def _judged(
    rng: np.random.Generator, accuracies: Sequence[float], questions: int, judge: str
) -> tuple[Array, Array]:
    """(questions, systems) which answers are right, and which the judge accepts, 1 or 0."""
    own = rng.normal(size=(questions, len(accuracies))) * np.sqrt(1 - COMMON**2)
    own += COMMON * rng.normal(size=(questions, 1))
    truth = (own > ndtri(1 - np.array(accuracies))).astype(np.float64)
    return truth, _said(rng, truth, judge)


def _said(rng: np.random.Generator, truth: Array, judge: str) -> Array:
    """1 where the judge accepts."""
    sensitivity, specificity = (JUDGES | CORRELATED)[judge]
    chance = np.where(truth > 0, sensitivity, 1 - specificity)
    return (rng.random(truth.shape) < chance).astype(np.float64)


def _labelled(
    rng: np.random.Generator, shape: tuple[int, ...], labels: str
) -> npt.NDArray[np.bool_]:
    """(questions, systems) which answers are labelled: `60` at random, `60 of the same questions`
    all answers to 20 questions, `60 of other questions` one answer to each of 60, 20 of a system.
    """
    number, _, how = labels.partition(" of ")
    chosen = np.zeros(shape, dtype=bool)
    each = int(number) // shape[1]
    order = rng.permutation(shape[0])
    if how == "the same questions":
        chosen[order[:each]] = True
    elif how == "other questions":
        for system in range(shape[1]):
            chosen[order[system * each :][:each], system] = True
    else:
        chosen.flat[rng.choice(chosen.size, int(number), replace=False)] = True
    return chosen


def _sample(said: Array, truth: Array, known: npt.NDArray[np.bool_]) -> Sample:
    return Sample(
        predictions=said[:, None],
        labels=np.where(known, truth, np.nan),
        weights=np.ones(len(said)),
        clusters=np.arange(len(said)),
    )


def _ends(found: Figure) -> tuple[float, float]:
    low = -1.0 if found.low is None else found.low
    return low, 1.0 if found.high is None else found.high


def _covers(tally: Tally, apart: float, found: Figure) -> None:
    tally.covers("difference", apart, *_ends(found))
    tally.note("difference without an interval", found.low is None, nominal=1.0)


def _pair(first: str, second: str, samples: Sequence[Sample]) -> Pair:
    """Two systems on the same questions, by the judge alone."""
    one, two = (Figure(value=float(sample.predictions.mean())) for sample in samples)
    none = Figure(reason="not taken")
    return Pair(
        first=first,
        second=second,
        first_value=one,
        second_value=two,
        difference=none,
        p=none,
        questions=len(samples[0].labels),
    )


# --- On the same questions ------------------------------------------------------------------------


def systems(*, small: bool = False) -> Iterator[World]:
    """Three systems, all of which answer all questions."""
    plans = ("60", "90", "180", "60 of the same questions", "60 of other questions")
    for accuracies in ((0.6, 0.66, 0.72),) if small else ((0.6, 0.66, 0.72), (0.8, 0.85, 0.9)):
        for judge in ("good",) if small else JUDGES:
            for labels in ("60", "60 of other questions") if small else plans:
                yield World(
                    "systems",
                    f"3 x {QUESTIONS}|{labels}|{' / '.join(map(str, accuracies))}|{judge}",
                    partial(_systems, accuracies=accuracies, judge=judge, labels=labels),
                )
    for questions in (50,) if small else (50, QUESTIONS):
        for loss in (0.062,) if small else (0.02, 0.062, 0.1, 0.15):
            for labels in ("all", "half"):
                yield World(
                    "systems",
                    f"2 x {questions}|{labels} labelled|losses of {loss:g}|good",
                    partial(_losses, questions=questions, loss=loss, labels=labels),
                )


def _systems(
    tally: Tally,
    rng: np.random.Generator,
    *,
    accuracies: Sequence[float],
    judge: str,
    labels: str,
) -> tuple[dict[str, Figure], tuple[str, ...]]:
    """Returns what the labels alone say of each system, and the systems from the best one."""
    truth, said = _judged(rng, accuracies, QUESTIONS, judge)
    known = _labelled(rng, truth.shape, labels)
    samples = {str(accuracy): _sample(said[:, place], truth[:, place], known[:, place])
               for place, accuracy in enumerate(accuracies)}  # fmt: skip
    alone: dict[str, Figure] = {}
    for name, sample in samples.items():
        if not sample.labelled.any():
            continue
        found = estimates(sample)
        shown = found[0].figure
        tally.covers("estimate", float(name), shown.low or 0.0, shown.high or 0.0)
        alone[name] = found[-1].figure
    pairs = []
    for first, second in combinations(samples, 2):
        both = [samples[first], samples[second]]
        pair = _pair(first, second, both)
        people = difference_by_people(pair, both, OPTIONS)
        _covers(tally, float(first) - float(second), people.difference)
        pairs.append((pair, people))
    by_people = all(people.difference.value is not None for _, people in pairs)
    order = in_order([people if by_people else pair for pair, people in pairs])
    best = str(max(accuracies))
    tally.note("another system first", order[0] != best, nominal=1.0)
    tally.note(
        "another system first, by labels alone",
        _best_first(alone)[0] != best,
        nominal=1.0,
    )
    return alone, order


def _best_first(alone: Mapping[str, Figure]) -> tuple[str, ...]:
    return tuple(sorted(alone, key=lambda name: -(alone[name].value or 0.0)))


def systems_apart(*, small: bool = False) -> Iterator[World]:
    """Three systems that lie far apart, all of which answer all questions."""
    for accuracies in ((0.6, 0.75, 0.9),) if small else ((0.6, 0.75, 0.9), (0.65, 0.75, 0.85)):
        for judge in ("correlation .7",) if small else CORRELATED:
            for labels in ("60",) if small else ("60", "60 of the same questions"):
                yield World(
                    "systems far apart",
                    f"3 x {QUESTIONS}|{labels}|{' / '.join(map(str, accuracies))}|{judge}",
                    partial(_apart, accuracies=accuracies, judge=judge, labels=labels),
                )


def _apart(
    tally: Tally, rng: np.random.Generator, *, accuracies: Sequence[float], **design: str
) -> None:
    """`labels_only` is what `estimate` says of each system without the judge."""
    alone, order = _systems(tally, rng, accuracies=accuracies, **design)
    for name, figure in alone.items():
        tally.covers("labels_only", float(name), figure.low or 0.0, figure.high or 0.0)
    right = tuple(map(str, sorted(accuracies, reverse=True)))
    tally.note("another order", order != right, nominal=1.0)
    tally.note("another order, by labels alone", _best_first(alone) != right, nominal=1.0)


def _losses(
    tally: Tally, rng: np.random.Generator, *, questions: int, loss: float, labels: str
) -> None:
    """`before` is Student's t of the labels, of all answers."""
    lost = rng.random(questions) < loss
    truth = np.stack([np.ones(questions), 1.0 - lost], axis=1)
    known = np.zeros(truth.shape, dtype=bool)
    known[: questions if labels == "all" else questions // 2] = True
    said = _said(rng, truth, "good")
    samples = [_sample(said[:, side], truth[:, side], known[:, side]) for side in range(2)]
    people = difference_by_people(_pair("a", "b", samples), samples, OPTIONS)
    tally.covers("difference, losses", loss, *_ends(people.difference))
    if labels == "all":
        reach = t_quantile(questions - 1.0, 0.975) * float(lost.std(ddof=1)) / np.sqrt(questions)
        low, high = (lost.mean() - reach, lost.mean() + reach) if reach else (-1.0, 1.0)
        tally.covers("before, difference, losses", loss, low, high)


# --- On different questions -----------------------------------------------------------------------


def unpaired(*, small: bool = False) -> Iterator[World]:
    """Two systems without a question in common."""
    for accuracies in ((0.9, 0.85),) if small else ((0.66, 0.72), (0.9, 0.85), (0.97, 0.9)):
        for judge in ("good",) if small else JUDGES:
            for labels in ("60",) if small else ("60", "120"):
                yield World(
                    "unpaired",
                    f"60 and {QUESTIONS}|{labels}|{' / '.join(map(str, accuracies))}|{judge}",
                    partial(_unpaired, accuracies=accuracies, judge=judge, labels=int(labels)),
                )


def _unpaired(
    tally: Tally,
    rng: np.random.Generator,
    *,
    accuracies: tuple[float, float],
    judge: str,
    labels: int,
) -> None:
    sizes = (60, QUESTIONS)
    drawn = np.zeros(sum(sizes), dtype=bool)
    drawn[rng.choice(len(drawn), labels, replace=False)] = True
    samples, judged = [], []
    for size, accuracy, known in zip(sizes, accuracies, np.split(drawn, sizes[:1]), strict=True):
        truth, said = _judged(rng, [accuracy], size, judge)
        samples.append(_sample(said[:, 0], truth[:, 0], known))
        judged.append(share_figure(said[:, 0], np.ones(size)))
    sensitivity, specificity = JUDGES[judge]
    apart = accuracies[0] - accuracies[1]
    own = unpaired_difference(*judged)
    truth_of_judge = apart * (sensitivity + specificity - 1)
    tally.covers("the judge's", truth_of_judge, own["difference"].low, own["difference"].high)
    pair = Pair(
        first="a",
        second="b",
        first_value=judged[0],
        second_value=judged[1],
        difference=own["difference"],
        p=own["p"],
        questions=sum(sizes),
        unpaired=True,
    )
    people = difference_by_people(pair, samples, OPTIONS)
    _covers(tally, apart, people.difference)


PARTS: dict[str, Callable[..., Iterator[World]]] = {
    "systems": systems,
    "systems_apart": systems_apart,
    "unpaired": unpaired,
}
