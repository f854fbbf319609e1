"""Where a cheap judge may decide by itself, chosen from labels, without asking any judge again.

A cascade accepts from one score of the cheap judge on and rejects up to another; in between the
expensive judge decides. Everything here uses existing judgments and known labels: a table `data`
with a row per labelled answer and the columns

- `scores`: of the cheap judge, 0 to 1; NaN where it did not judge;
- `then`: verdicts of the expensive judge, 1 or 0; NaN where it did not judge;
- `labels`: people's, true or false;
- `clusters`: the question of each answer, as a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.options import CascadeOptions
from markscheme.agreement.pairs import compare_answers
from markscheme.agreement.thresholds import split_questions
from markscheme.errors import AgreementError
from markscheme.results import Figure

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Settings = Sequence[tuple[float, float]]

STEPS = 201
"""Settings on a path: half a point of certainty apart."""


def safe_on_average(losses: Array, limit: float) -> int | None:
    """The boldest setting whose expected loss is at most `limit` (conformal risk control).

    The method needs losses that never fall as settings grow bolder; where they do, the highest so
    far replaces it, which keeps the guarantee and costs some boldness.

    Args:
        losses: (settings, units), from 0 to 1, the most cautious setting first.
        limit: from 0 to 1.

    Returns:
        Its place, or None if not even the first is safe: that takes n units with
        (n * mean loss + 1) / (n + 1) <= limit.
    """
    units = losses.shape[1]
    risks = np.maximum.accumulate(losses, axis=0).mean(axis=1)
    safe = (units * risks + 1) / (units + 1) <= limit
    return int(safe.sum()) - 1 if safe[0] else None


def fitted_path(scores: Array, labels: Bools) -> list[tuple[float, float]]:
    """Settings from the most cautious to the boldest: from, and up to which score it decides.

    The first of a pair is the score from which the cheap judge accepts, infinite where it never
    does; the second that up to which it rejects, minus infinite likewise. The one falls and the
    other rises along the path, so that what is decided once stays decided.

    Isotonic regression gives the share of acceptable answers at each score; at certainty 1 - t the
    cheap judge accepts where that share is at least 1 - t and rejects where it is at most t, for t
    from 0 to 0.5. The first setting asks the expensive judge about everything.

    Raises:
        AgreementError: no scores.
    """
    from sklearn.isotonic import IsotonicRegression

    known = ~np.isnan(scores)
    if not known.any():
        raise AgreementError("the cheap judge gave no score")
    curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    values = np.unique(scores[known])
    share = curve.fit(scores[known], labels[known].astype(float)).predict(values)
    doubts = np.linspace(0, 0.5, STEPS - 1)
    # One side at least stays open at t = 0.5, where a share of exactly one half would be on both.
    accept_at = np.searchsorted(share, 1 - doubts - 1e-12, side="left")
    reject_at = np.searchsorted(share, doubts + 1e-12, side="right")
    reject_at = np.minimum(reject_at, accept_at)
    upper, lower = np.r_[values, np.inf], np.r_[-np.inf, values]
    pairs = zip(upper[accept_at].tolist(), lower[reject_at].tolist(), strict=True)
    return [(np.inf, -np.inf), *pairs]


def decide(data: pl.DataFrame, accept: float, reject: float) -> tuple[Array, Bools]:
    """(rows,) the cascade's verdicts (NaN: not judged) and where the expensive judge was run."""
    scores, then = data["scores"].to_numpy(), data["then"].to_numpy()
    accepted, rejected = scores >= accept, scores <= reject
    asked = ~(accepted | rejected)
    return np.where(accepted, 1.0, np.where(rejected, 0.0, then)), asked


def curve(path: Settings, data: pl.DataFrame) -> pl.DataFrame:
    """Agreement against calls: a row for each different setting, the most cautious first.

    Returns:
        `accept`, `reject`, `calls` (share of answers for the expensive judge), `agreement`
        (share of all answers whose verdict is the label; what was not judged does not agree),
        `not_judged`, `setting` (its place on the path).
    """
    labels = data["labels"].to_numpy()
    rows = []
    for place, (accept, reject) in enumerate(path):
        if path[place - 1 : place] == [(accept, reject)]:
            continue
        verdicts, asked = decide(data, accept, reject)
        rows.append(
            {
                "accept": accept,
                "reject": reject,
                "calls": float(asked.mean()),
                "agreement": float((verdicts == labels).mean()),
                "not_judged": float(np.isnan(verdicts).mean()),
                "setting": place,
            }
        )
    return pl.DataFrame(rows)


def question_losses(path: Settings, data: pl.DataFrame) -> Array:
    """(settings, questions) share of a question's answers on which the cascade errs.

    What was not judged counts as an error, since it cannot agree.
    """
    labels, clusters = data["labels"].to_numpy(), data["clusters"].to_numpy()
    _, places, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    wrong = (decide(data, *setting)[0] != labels for setting in path)
    return np.stack([np.bincount(places, each, minlength=len(sizes)) / sizes for each in wrong])


@dataclass(frozen=True, kw_only=True)
class ChosenCascade:
    """A choice and what it is worth on questions that had no part in it.

    Attributes:
        accept, reject: the setting; None where none was requested, or none can be guaranteed.
        calls, agreement: of the setting, on held-out questions; shares of answers.
        question_agreement: mean over the held-out questions of the share of a question's answers on
            which it agrees, the figure that a guarantee is of.
        dear_agreement, cheap_agreement: of either judge alone there.
        gap: the cascade's agreement less the expensive judge's, with its 95% interval, clustered by
            question.
        curve: as `curve` gives it, on held-out questions.
        path_questions, test_questions, held_out_questions: how many each step used.
        held_out_answers: how many answers these are.
    """

    accept: float | None
    reject: float | None
    calls: float | None
    agreement: float | None
    question_agreement: float | None
    dear_agreement: float
    cheap_agreement: float
    gap: Figure | None
    curve: pl.DataFrame
    path_questions: int
    test_questions: int
    held_out_questions: int
    held_out_answers: int


def choose_setting(data: pl.DataFrame, goal: CascadeOptions) -> ChosenCascade:
    """Choose thresholds on a part of the questions and report on the rest.

    For a guarantee the part is split again: a third orders the settings, two thirds test them,
    since a guarantee holds only for settings that were fixed beforehand. A budget of calls needs no
    test: the most cautious setting within it is taken, counted on all answers.

    Raises:
        AgreementError: both goals at once, a goal outside 0 to 1, or too few questions.
    """
    _check(goal)
    chosen_on = split_questions(data["clusters"].to_numpy(), share=goal.share, seed=goal.seed)
    development, held_out = data.filter(chosen_on), data.filter(~chosen_on)
    shape, losses, place = development, None, None
    if goal.agreement is not None:
        clusters = development["clusters"].to_numpy()
        ordering = split_questions(clusters, share=1 / 3, seed=goal.seed)
        shape = development.filter(ordering)
    path = fitted_path(shape["scores"].to_numpy(), shape["labels"].to_numpy())
    if goal.agreement is not None:
        losses = question_losses(path, development.filter(~ordering))
        place = safe_on_average(losses, 1 - goal.agreement)
    elif goal.calls is not None:
        shares = (decide(data, *setting)[1].mean() for setting in path)
        place = next((place for place, share in enumerate(shares) if share <= goal.calls), None)
    labels, scores = held_out["labels"].to_numpy(), held_out["scores"].to_numpy()
    second = held_out["then"].to_numpy() == labels
    accept = reject = calls = agreed = by_question = gap = None
    if place is not None:
        accept, reject = path[place]
        verdicts, asked = decide(held_out, accept, reject)
        calls = float(asked.mean())
        by_question = 1 - float(question_losses([path[place]], held_out).mean())
        pair = compare_answers(
            ("cascade", "second"),
            held_out["clusters"],
            pl.Series(verdicts == labels),
            pl.Series(second),
        )
        agreed, gap = pair.first_value.value, pair.difference
    alone = np.where(np.isnan(scores), np.nan, scores >= 0.5)
    return ChosenCascade(
        accept=accept,
        reject=reject,
        calls=calls,
        agreement=agreed,
        question_agreement=by_question,
        gap=gap,
        dear_agreement=float(second.mean()),
        cheap_agreement=float((alone == labels).mean()),
        curve=curve(path, held_out),
        path_questions=shape["clusters"].n_unique(),
        test_questions=0 if losses is None else losses.shape[1],
        held_out_questions=held_out["clusters"].n_unique(),
        held_out_answers=held_out.height,
    )


def _check(goal: CascadeOptions) -> None:
    if goal.agreement is not None and goal.calls is not None:
        raise AgreementError("give either an agreement to guarantee or a budget of calls, not both")
    for name, value in (("agreement", goal.agreement), ("calls", goal.calls)):
        if value is not None and not 0 < value < 1:
            raise AgreementError(f"{name}={value:g} must lie between 0 and 1, such as 0.85")
