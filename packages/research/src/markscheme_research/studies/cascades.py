"""`choose_cascade`: where a cheap judge may decide by itself, from labels, asking no judge again.

A cascade accepts from one score of the cheap judge on and rejects up to another; in between the
expensive judge decides. Everything here uses existing judgments and known labels: a table `data`
with a row per labelled answer and the columns

- `scores`: of the cheap judge, 0 to 1; NaN where it did not judge;
- `first`: its own verdicts, 1 or 0; NaN likewise;
- `then`: verdicts of the expensive judge, 1 or 0; NaN where it did not judge;
- `labels`: people's, true or false;
- `clusters`: the question of each answer, as a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement import (
    JudgmentsSource,
    TableSource,
    compare_answers,
    judged_and_labelled,
    split_questions,
)
from markscheme.contract import parse_judge
from markscheme.errors import AgreementError, MarkschemeError
from markscheme.flags import with_keywords
from markscheme.results import (
    Column,
    Figure,
    Format,
    Table,
    TableResult,
    columns,
    interval,
    population,
    share_text,
)
from markscheme.tables import as_binary, join_labels, one_judge
from markscheme_research.studies.options import CascadeOptions

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Settings = Sequence[tuple[float, float]]

STEPS = 201
"""Settings on a path: half a point of certainty apart."""
SHOWN = 16
"""Rows of the curve in the table; the frame and JSON have all."""
GOAL = ("agreement", "calls", "share", "seed")
"""What a setting is chosen by: the options that are written down with the choice."""


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
        dear_agreement, cheap_agreement: of either judge alone there, by its own verdicts.
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
    labels = held_out["labels"].to_numpy()
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
    return ChosenCascade(
        accept=accept,
        reject=reject,
        calls=calls,
        agreement=agreed,
        question_agreement=by_question,
        gap=gap,
        dear_agreement=float(second.mean()),
        cheap_agreement=float((held_out["first"].to_numpy() == labels).mean()),
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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CascadeResult(TableResult):
    """What `choose_cascade` gives: the frame is the curve, one row per setting.

    Columns: `accept` and `reject` (thresholds of the first judge's score), `calls` (share of
    answers that go to the second), `agreement` (share, 0 to 1), on held-out questions.

    Attributes:
        chosen: the setting and what it is worth.
        judge: the chosen cascade as a judge's name; None where nothing was chosen.
    """

    chosen: ChosenCascade
    judge: str | None


def choose_cascade(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: CascadeOptions | None = None,
    *,
    first: str,
    then: str,
    answers: TableSource | None = None,
    **keywords: Any,
) -> CascadeResult:
    """Measure a cascade's agreement against its calls, and choose its thresholds by labels.

    The first judge decides where it is sure, the second sees the rest. No judge is called: both
    must have judged the labelled answers.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: people's labels, likewise; None for those in the same table.
        options: what to choose by; the defaults if None.
        first: the cheap judge, by its name in the judgments.
        then: the strong judge, by its name in the judgments.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `CascadeOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        UnknownNameError: no such judge in the judgments.
        AgreementError: no labelled answer was judged by both.
    """
    wanted = with_keywords(CascadeOptions, options, keywords)
    rows, known = judged_and_labelled(judgments, labels, wanted, answers=answers)
    data, matched = _recorded(rows, known, first, then, wanted.positive_from)
    chosen = choose_setting(data, wanted)
    name = _name(chosen, first, then)
    return CascadeResult(
        frame=chosen.curve,
        tables=(_table(chosen, wanted, first, then, matched),),
        data={
            "command": "cascade",
            "first": first,
            "then": then,
            "matched": matched,
            "goal": {name: getattr(wanted, name) for name in GOAL},
            "chosen": chosen,
            "judge": name,
        },
        chosen=chosen,
        judge=name,
    )


def _recorded(
    rows: pl.DataFrame, known: pl.DataFrame, first: str, then: str, positive_from: float | None
) -> tuple[pl.DataFrame, list[str]]:
    """The labelled answers that both judged, as the table of `cascades`, and notes."""
    names = dict.fromkeys((first, then))
    joined = join_labels(pl.concat([one_judge(rows, name) for name in names]), known)
    cheap, second = (joined.rows.filter(pl.col("judge") == name) for name in (first, then))
    verdict = pl.col("verdict").cast(pl.Float64)
    score = pl.coalesce("score", verdict).fill_null(np.nan).alias("scores")
    verdict = verdict.fill_null(np.nan)
    both = cheap.select(*joined.identity, score, verdict.alias("first"), "label", "cluster").join(
        second.select(*joined.identity, verdict.alias("then")),
        on=joined.identity,
        nulls_equal=True,
        maintain_order="left",
    )
    if both.is_empty():
        raise AgreementError(f"no labelled answer was judged by both {first!r} and {then!r}")
    alone = cheap.height + second.height - 2 * both.height
    matched = [*joined.notes()]
    matched += [f"{alone} answers that only one of the two judged are left out"] if alone else []
    data = both.select(
        "scores",
        "first",
        "then",
        labels=as_binary(both["label"], positive_from=positive_from),
        clusters="cluster",
    )
    return data, matched


def _table(
    chosen: ChosenCascade, goal: CascadeOptions, first: str, then: str, matched: list[str]
) -> Table:
    marked = -1
    if chosen.accept is not None:
        same = (chosen.curve["accept"] == chosen.accept) & (chosen.curve["reject"] == chosen.reject)
        marked = int(same.arg_true()[0]) if same.any() else -1
    shown = _spread(chosen.curve.height, marked)
    columns_shown = (
        *columns(_THRESHOLD, ("accept from", "accept"), ("reject to", "reject")),
        *columns("share", ("calls %", "calls"), ("agreement %", "agreement")),
        Column("against second", lambda row: row["agreement"] - chosen.dear_agreement, "change"),
        Column("", lambda row: "chosen" if row["place"] == marked else ""),
    )
    return Table.of(
        f"Cascade of {first}, then {then}: {chosen.held_out_questions} held-out questions",
        columns_shown,
        chosen.curve.with_row_index("place")[shown],
        (*matched, *_said(chosen, goal, first, then)),
    )


def _said(chosen: ChosenCascade, goal: CascadeOptions, first: str, then: str) -> list[str]:
    """What was chosen, how, and what it is worth, in sentences."""
    said = [
        f"alone on the held-out questions: {then} agrees with people on "
        f"{share_text(chosen.dear_agreement)}%, {first} on {share_text(chosen.cheap_agreement)}%",
        f"questions: {chosen.path_questions} to order the settings by"
        + (f", {chosen.test_questions} to test them on" if chosen.test_questions else "")
        + f", {chosen.held_out_questions} held out for the figures; seed {goal.seed}",
    ]
    if goal.agreement is None and goal.calls is None:
        said.append("no thresholds are chosen: pass --agreement or --calls")
    elif chosen.accept is None and goal.agreement is not None:
        said.append(
            f"an agreement of {goal.agreement:g} cannot be guaranteed from these labels, even by "
            f"sending everything to {then}: require less, or label more questions"
        )
    elif chosen.accept is None:
        said.append(
            f"no setting keeps within {goal.calls:g} of the calls: {first} is nowhere sure enough"
        )
    if chosen.gap is not None and chosen.calls is not None:
        about = population(
            "according to the labels",
            questions=chosen.held_out_questions,
            answers=chosen.held_out_answers,
        )
        gap, against = chosen.gap, share_text(chosen.gap.value, signed=True)
        several = chosen.held_out_answers > chosen.held_out_questions
        mean = f" ({share_text(chosen.question_agreement)}% on the average question)"
        said.append(
            f"chosen: {share_text(chosen.calls)}% of the calls, agreement on "
            f"{share_text(chosen.agreement)}% of the answers{mean if several else ''}, {against} "
            f"points against {then}, 95% interval {interval(gap.low, gap.high, signed=True)} "
            f"({gap.method}), of {about}"
        )
        if goal.agreement is not None:
            said.append(
                f"guaranteed: agreement of at least {goal.agreement:g} on the average new question "
                "like these, each question counted once, on average over sets of labels (conformal "
                "risk control)"
            )
        said += _ready(_name(chosen, first, then))
    return said


def _ready(name: str | None) -> list[str]:
    """The judge to ask for, if its parts are judges here and not only names in the file."""
    if name is None:
        return []
    try:
        parse_judge(name)
    except MarkschemeError:
        return [f"judge: {name}", "(names as recorded; put judges that exist here in their place)"]
    return [f"judge: {name}"]


def _name(chosen: ChosenCascade, first: str, then: str) -> str | None:
    """The chosen cascade as a judge to ask for by name."""
    if chosen.accept is None or chosen.reject is None:
        return None
    accept = min(chosen.accept, 2.0)
    reject = max(chosen.reject, -1.0)
    return f"cascade(first={first}, then={then}, accept={accept!r}, reject={reject!r})"


def _spread(count: int, marked: int) -> list[int]:
    """At most `SHOWN` places of `count`, spread evenly, the ends and the marked one among them."""
    step = max(1, -(-count // SHOWN))
    places = {*range(0, count, step), count - 1}
    return sorted(places | ({marked} if marked >= 0 else set()))


_THRESHOLD = Format(lambda value: "never" if math.isinf(value) else f"{value:.4g}")
