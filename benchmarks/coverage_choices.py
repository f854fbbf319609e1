"""The laboratory's worlds of choices: scores against labels, rankings, cascades and finalists.

See `benchmarks/coverage.py`, which draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import expit, ndtri
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks.worlds import Array, Tally, World, difficulty
from markscheme.agreement import agree
from markscheme.agreement.ranking import rank_systems
from markscheme.annotate.quality import mean_difference
from markscheme_research.studies import CascadeOptions
from markscheme_research.studies.cascades import choose_setting, decide
from markscheme_research.studies.juries import clustered_share

POPULATION = 200_000
"""Answers of a population in which a figure is taken for the truth."""
GOAL = 0.95
"""Of cascades: agreement, and the chance that it is lower: one alarm in twenty either way."""
SYSTEMS = 6
CANDIDATES, FINALISTS = 8, 3


def _scored(
    rng: np.random.Generator, questions: int, each: int, *, alike: float, apart: float
) -> tuple[Array, npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Scores of a judge, people's labels and the questions of answers.

    Args:
        rng: source of chance.
        questions: how many.
        each: answers of a question.
        alike: correlation of labels within a question.
        apart: distance of accepted and rejected answers' mean log-odds, in standard deviations.
    """
    chance = difficulty(rng, questions, 0.7, alike).repeat(each)
    labels = rng.random(len(chance)) < chance
    odds = rng.normal(np.where(labels, apart, -apart) / 2, 1.0)
    return expit(1.5 * odds), labels, np.arange(questions).repeat(each)


@cache
def _truth(apart: float) -> dict[str, float]:
    """AUROC and average precision in the population."""
    found, labels, _ = _scored(np.random.default_rng(1), POPULATION, 1, alike=0.0, apart=apart)
    return {
        "auroc": float(roc_auc_score(labels, found)),
        "average_precision": float(average_precision_score(labels, found)),
    }


def scores(*, small: bool = False) -> Iterator[World]:
    """`agree`: AUROC and average precision of scores."""
    for questions, each in (
        ((100, 1),) if small else ((30, 1), (100, 1), (300, 1), (20, 10), (60, 5))
    ):
        for apart in (2.0,) if small else (1.0, 3.0):
            for alike in (0.4,) if each > 1 else (0.0,):
                yield World(
                    "scores", f"{questions} x {each}|{apart:g}|{alike:g}",
                    partial(_scores, questions=questions, each=each, apart=apart, alike=alike),
                )  # fmt: skip


def _scores(
    tally: Tally,
    rng: np.random.Generator,
    *,
    questions: int,
    each: int,
    apart: float,
    alike: float,
) -> None:
    found, labels, asked = _scored(rng, questions, each, alike=alike, apart=apart)
    frame = pl.DataFrame(
        {
            "answer_id": np.arange(len(found)).astype(str), "question": asked.astype(str),
            "judge": "made", "score": found, "verdict": found >= 0.5, "label": labels.astype(float),
        }
    )  # fmt: skip
    result = agree(frame, frame.select("answer_id", "label"))
    for name, truth in _truth(apart).items():
        figure = result.judges[0].left_out[name]
        if figure.low is not None and figure.high is not None:
            tally.covers(name, truth, figure.low, figure.high)


def rankings(*, small: bool = False) -> Iterator[World]:
    """`rank`: Kendall's tau-b of a judge's ranking of systems and people's."""
    for questions in (100,) if small else (50, 200, 1000):
        for step in (0.02,) if small else (0.01, 0.03, 0.08):
            for bias in (0.0,) if small else (0.0, 0.05):
                yield World(
                    "rank", f"{questions}|{step:g}|{bias:g}",
                    partial(_ranking, questions=questions, step=step, bias=bias),
                )  # fmt: skip


def _ranking(
    tally: Tally, rng: np.random.Generator, *, questions: int, step: float, bias: float
) -> None:
    people = 0.5 + step * np.arange(SYSTEMS)
    wrong = 0.1 + bias * np.array([1.0, -1.0, 1.0, 0.0, -1.0, 1.0])
    judged = people * (1 - wrong) + (1 - people) * wrong
    threshold = ndtri(1 - people)
    own = 0.6 * rng.normal(size=(questions, 1)) + 0.8 * rng.normal(size=(questions, SYSTEMS))
    right = own > threshold
    said = right ^ (rng.random(right.shape) < wrong)
    frame = pl.DataFrame(
        {
            "question": np.arange(questions).repeat(SYSTEMS).astype(str),
            "system": np.tile([f"s{place}" for place in range(SYSTEMS)], questions),
            "human": right.ravel(), "made": said.ravel(),
        }
    )  # fmt: skip
    found = rank_systems(frame, measures=["made"], human="human")
    figure = found.tau_b["made"]
    if figure.low is not None and figure.high is not None:
        truth = float(kendalltau(people, judged, variant="b").statistic)
        tally.covers("tau-b", truth, figure.low, figure.high)


def cascades(*, small: bool = False) -> Iterator[World]:
    """`cascade`: its guarantee, and the interval of its difference from the second judge."""
    for questions, each in ((300, 1),) if small else ((200, 1), (600, 1), (200, 5)):
        for apart in (2.0,) if small else (1.0, 2.0, 3.0):
            yield World(
                # The name seeds the draws: it is that of the published figures.
                "cascade", f"{questions} x {each}|{apart:g}|average",
                partial(_cascade, questions=questions, each=each, apart=apart),
            )  # fmt: skip


def _recorded(rng: np.random.Generator, questions: int, each: int, apart: float) -> pl.DataFrame:
    found, labels, asked = _scored(rng, questions, each, alike=0.3 * (each > 1), apart=apart)
    strong = np.where(rng.random(len(labels)) < 0.99, labels, ~labels).astype(float)
    columns = {"scores": found, "first": (found >= 0.5) * 1.0, "then": strong, "labels": labels}
    return pl.DataFrame(columns | {"clusters": asked})


@cache
def _population(apart: float) -> pl.DataFrame:
    return _recorded(np.random.default_rng(3), POPULATION, 1, apart)


def _cascade(
    tally: Tally, rng: np.random.Generator, *, questions: int, each: int, apart: float
) -> None:
    data = _recorded(rng, questions, each, apart)
    chosen = choose_setting(data, CascadeOptions(agreement=GOAL, seed=int(rng.integers(2**31))))
    if chosen.accept is None or chosen.reject is None or chosen.gap is None:
        return  # nothing is promised
    everyone = _population(apart)
    verdicts, _ = decide(everyone, chosen.accept, chosen.reject)
    labels = everyone["labels"].to_numpy()
    right = verdicts == labels
    agreement, strong = float(right.mean()), float((everyone["then"].to_numpy() == labels).mean())
    tally.note("guarantee: a new answer misjudged", hit=not right[rng.integers(POPULATION)])
    low, high = chosen.gap.low or 0.0, chosen.gap.high or 0.0
    tally.covers("difference", agreement - strong, low, high)


def finalists(*, small: bool = False) -> Iterator[World]:
    """`tune-judge`: the finalists' intervals hold together, although the best were picked."""
    for questions, each in ((60, 1),) if small else ((40, 1), (100, 1), (400, 1), (40, 5)):
        for spread in (0.02,) if small else (0.0, 0.02, 0.1):
            yield World(
                "tune-judge", f"{questions} x {each}|{spread:g}",
                partial(_finalists, questions=questions, each=each, spread=spread),
            )  # fmt: skip


def _finalists(
    tally: Tally, rng: np.random.Generator, *, questions: int, each: int, spread: float
) -> None:
    truths = 0.85 + spread * np.linspace(-1, 1, CANDIDATES)
    answers = questions * each
    alike = 0.3 if each > 1 else 0.0

    def right() -> Array:
        hard = difficulty(rng, questions, 0.5, alike).repeat(each) - 0.5
        chance = np.clip(truths[:, None] + 0.2 * hard[None, :], 0, 1)
        return (rng.random((CANDIDATES, answers)) < chance).astype(float)

    picked = np.argsort(-right().mean(axis=1), kind="stable")[:FINALISTS]
    unseen, asked = right(), np.arange(questions).repeat(each)
    together = True
    for place, one in enumerate(picked):
        share = clustered_share(unseen[one], asked, confidence=1 - 0.05 / FINALISTS)
        low, high = share.low or 0.0, 1.0 if share.high is None else share.high
        together &= low - 1e-9 <= truths[one] <= high + 1e-9
        if not place:
            tally.covers("the chosen", float(truths[one]), low, high)
    tally.note("one of three missed", hit=not together)


def habits(*, small: bool = False) -> Iterator[World]:
    """`annotate`: how far one person's labels are above the others'."""
    for items in (30,) if small else (5, 10, 30, 100):
        for apart in (0.1,) if small else (0.02, 0.1, 0.3):
            for bias in (0.0,) if small else (0.0, 0.5):
                yield World(
                    "annotators", f"{items}|{apart:g}|{bias:g}",
                    partial(_habit, items=items, apart=apart, bias=bias),
                )  # fmt: skip


def _habit(
    tally: Tally, rng: np.random.Generator, *, items: int, apart: float, bias: float
) -> None:
    above = rng.random(items) < (1 + bias) / 2
    differences = np.where(rng.random(items) < apart, np.where(above, 1.0, -1.0), 0.0)
    found = mean_difference(differences)
    tally.covers("difference", apart * bias, found.low or 0.0, found.high or 0.0)


PARTS: dict[str, Callable[..., Iterator[World]]] = {
    "scores": scores, "rankings": rankings, "cascades": cascades, "finalists": finalists,
    "habits": habits,
}  # fmt: skip
