"""May this judge replace a human annotator? The alternative annotator test (Calderon et al. 2025).

Each annotator is left out in turn. On every item the judge and the left-out annotator are scored by
how well they agree with the remaining annotators. The judge wins against that annotator if it is
significantly better than the annotator less a margin epsilon, which says how much agreement the
judge's lower price is worth. The winning rate omega is the share of annotators it wins against,
after correction for testing many (Benjamini-Yekutieli); at 0.5 or more the judge may replace them.

The paper tests with Student's t from 30 items and with Wilcoxon's signed ranks below. An item is
won by one side or by neither, so the differences are 1, 0 and -1, and the signed ranks of what is
left after epsilon test symmetry in place of the mean: a judge that should fail passed in 18% of
cases with 10 items and in 59% with 20. Here the test is exact for any number of items (Hsueh, Liu
& Chen 2001, Biometrics 57, section 2: paired outcomes, non-inferiority by a margin). Where
questions have several items, it is Student's t on questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement import (
    JudgmentsSource,
    TableSource,
    are_verdicts,
    judged_and_labelled,
    ratings_of,
)
from markscheme.errors import AgreementError
from markscheme.flags import with_keywords
from markscheme.results import Column, Figure, Table, TableResult, cell, columns
from markscheme.stats import LEAST_QUESTIONS, difference_evidence, score_statistic
from markscheme.tables import Joined, join_labels
from markscheme_research.studies.options import MayReplaceOptions

Array = npt.NDArray[np.float64]
LEVEL = 0.05
"""False discovery rate over annotators, as in the paper."""
LEAST_REPEATED = 20
"""Questions of several items each, for a test that the mean over questions decides."""
MOST_EXACT = 1000
"""Items up to which the test is exact; with more its normal approximation is as good."""
NUISANCE_STEPS = 201


@dataclass(frozen=True, kw_only=True)
class Against:
    """The judge against one annotator.

    Attributes:
        annotator: who was left out.
        items: items that the annotator, the judge and some other annotator labelled.
        judge_advantage: share of items where the judge agrees with the others at least as well.
        annotator_advantage: share where the annotator does.
        test: `exact`; `score`, its normal approximation, for more than 1,000 items; `t` where
            questions have several items.
        p: one-sided, that the judge is no better than the annotator less epsilon.
        won: after correction.
    """

    annotator: str
    items: int
    judge_advantage: float
    annotator_advantage: float
    test: str
    p: Figure
    won: bool


@dataclass(frozen=True, kw_only=True)
class AlternativeAnnotator:
    """The test's outcome.

    Attributes:
        winning_rate: omega, share of annotators that the judge wins against.
        passed: omega is 0.5 or more.
        advantage: average over annotators of the judge's advantage (rho): compares judges.
        epsilon: the margin of the test, as given.
        level: false discovery rate, `LEVEL`.
        against: annotator by annotator.
    """

    winning_rate: float
    passed: bool
    advantage: float
    epsilon: float
    level: float
    against: Sequence[Against]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MayReplaceResult(TableResult):
    """What `may_replace` gives: the frame has one row per judge and annotator.

    Columns: `judge`, and the fields of `Against`, shares from 0 to 1.

    Attributes:
        judges: the test's outcome by judge.
    """

    judges: Mapping[str, AlternativeAnnotator]


def may_replace(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: MayReplaceOptions | None = None,
    *,
    answers: TableSource | None = None,
    **keywords: Any,
) -> MayReplaceResult:
    """Test whether each judge may replace a human annotator (Calderon et al. 2025).

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: labels of three annotators or more, likewise; None for those that came with the
            judged answers.
        options: which judges, and the margin of the test; the defaults if None.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `MayReplaceOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: annotators are not known, are fewer than three, gave grades and
            `positive_from` is not given, or have too few items in common.
    """
    wanted = with_keywords(MayReplaceOptions, options, keywords)
    joined = join_labels(
        *judged_and_labelled(judgments, labels, wanted, judges=wanted.judges, answers=answers)
    )
    tests = _tests(joined, wanted.epsilon, wanted.positive_from)
    return MayReplaceResult(
        frame=pl.DataFrame(
            {"judge": judge, **vars(one), "p": one.p.value}
            for judge, test in tests.items()
            for one in test.against
        ),
        tables=(_table(tests, joined.notes()),),
        data={"command": "may-replace", "matched": joined.notes(), "judges": tests},
        judges=tests,
    )


def alternative_annotator_test(
    ratings: pl.DataFrame,
    judge: pl.Series,
    *,
    questions: pl.Series | None = None,
    epsilon: float = 0.15,
) -> AlternativeAnnotator:
    """The alternative annotator test.

    Args:
        ratings: one column an annotator, null where blank; three or more annotators.
        judge: its label of each item, null where not judged (the item is then left out).
        questions: of each item; None where every item is of a question of its own.
        epsilon: margin from 0 to 1; the authors suggest 0.2 where annotators are experts, 0.15
            where they are skilled and 0.1 for crowd workers.

    Raises:
        AgreementError: fewer than three annotators, too few common items, or no such `epsilon`.
    """
    if ratings.width < 3:
        raise AgreementError(
            "the alternative annotator test needs three annotators or more, so that two remain "
            f"when one is left out; there are {ratings.width}"
        )
    if not 0 <= epsilon < 1:
        raise AgreementError(f"epsilon={epsilon:g} must be from 0 to 1")
    table = ratings.select(pl.all().cast(pl.Float64)).to_numpy().astype(np.float64)
    said = judge.cast(pl.Float64).to_numpy().astype(np.float64)
    asked = np.arange(len(said)) if questions is None else questions.rank("dense").to_numpy()
    duels = [
        _duel(name, place, said, table, asked, epsilon=epsilon)
        for place, name in enumerate(ratings.columns)
    ]
    won = _discoveries([duel.p.value or 0.0 for duel in duels])
    against = [replace(duel, won=win) for duel, win in zip(duels, won, strict=True)]
    rate = float(np.mean(won))
    return AlternativeAnnotator(
        winning_rate=rate,
        passed=rate >= 0.5,
        advantage=float(np.mean([one.judge_advantage for one in against])),
        epsilon=epsilon,
        level=LEVEL,
        against=against,
    )


def _duel(
    name: str,
    place: int,
    judge: Array,
    ratings: Array,
    questions: npt.NDArray[Any],
    *,
    epsilon: float,
) -> Against:
    annotator, others = ratings[:, place], np.delete(ratings, place, axis=1)
    usable = ~np.isnan(judge) & ~np.isnan(annotator) & (~np.isnan(others)).any(axis=1)
    items = int(usable.sum())
    if items < LEAST_QUESTIONS:
        raise AgreementError(
            f"only {items} items were labelled by {name!r}, the judge and another annotator; "
            f"{LEAST_QUESTIONS} are needed"
        )
    asked = np.unique(questions[usable], return_inverse=True)[1]
    if asked.max() + 1 < min(items, LEAST_REPEATED):
        raise AgreementError(
            f"the {items} items that {name!r}, the judge and another annotator labelled are of "
            f"{asked.max() + 1} questions; where questions have several items, "
            f"{LEAST_REPEATED} questions are needed"
        )
    of_judge = _score(judge[usable], others[usable])
    of_annotator = _score(annotator[usable], others[usable])
    judge_wins = (of_judge >= of_annotator).astype(np.float64)
    annotator_wins = (of_annotator >= of_judge).astype(np.float64)
    test, p = _one_sided(annotator_wins - judge_wins, asked, epsilon)
    return Against(
        annotator=name,
        items=items,
        judge_advantage=float(judge_wins.mean()),
        annotator_advantage=float(annotator_wins.mean()),
        test=test,
        p=Figure(value=p, method=test),
        won=False,
    )


def _score(labels: Array, others: Array) -> Array:
    """The share of the others' labels that equal each label."""
    equal = np.where(np.isnan(others), np.nan, labels[:, None] == others)
    return np.asarray(np.nanmean(equal, axis=1))


def _one_sided(
    difference: Array, questions: npt.NDArray[np.int64], epsilon: float
) -> tuple[str, float]:
    """p of the mean difference (annotator less judge) being epsilon or more."""
    from scipy.stats import t

    items, answers = len(difference), np.bincount(questions)
    lost, won = np.maximum(difference, 0.0), np.maximum(-difference, 0.0)
    if len(answers) < items or items > MOST_EXACT:
        evidence = difference_evidence(
            np.bincount(questions, lost), np.bincount(questions, won), answers
        )
        size = max(evidence.answers, evidence.independent)
        worse, better = (np.array(side.mean() * size) for side in (lost, won))
        distance = float(score_statistic(worse, better, size, epsilon))
        return "score" if evidence.single else "t", float(t.cdf(distance, evidence.freedom))
    return "exact", noninferiority_p(int(lost.sum()), int(won.sum()), items, epsilon)


def noninferiority_p(worse: int, better: int, items: int, margin: float) -> float:
    """p of "worse on `margin` more of the items than better", against "by less than that".

    Outcomes are ordered by the score statistic (Nam 1997; Tango 1998). p is the largest chance of
    an outcome as good or better over all shares of ties that the hypothesis allows (Hsueh, Liu &
    Chen 2001).
    """
    from scipy.stats import binom

    observed = float(score_statistic(np.array(worse), np.array(better), items, margin))
    ups, downs = np.arange(items + 1)[:, None], np.arange(items + 1)[None, :]
    reached = score_statistic(ups, downs, items, margin) <= observed + 1e-9
    reached &= ups + downs <= items
    # For so many losses, at least so many wins are as good as what was seen.
    least = np.where(reached.any(axis=1), reached.argmax(axis=1), items + 1)
    losses = np.arange(items + 1)[:, None]
    chance = np.linspace(0.0, (1 - margin) / 2, NUISANCE_STEPS)[None, :]
    lost = margin + chance
    win = np.where(lost < 1, chance / np.where(lost < 1, 1 - lost, 1.0), 0.0).clip(0.0, 1.0)
    tail = binom.sf(least[:, None] - 1, items - losses, win)
    chances = np.asarray(binom.pmf(losses, items, lost) * tail).sum(axis=0)
    return float(min(1.0, chances.max()))


def _discoveries(p_values: Sequence[float]) -> Sequence[bool]:
    """Which p-values are significant after Benjamini-Yekutieli correction (SciPy)."""
    from scipy.stats import false_discovery_control

    return [bool(p <= LEVEL) for p in false_discovery_control(p_values, method="by")]


def _tests(
    joined: Joined, epsilon: float, positive_from: float | None
) -> dict[str, AlternativeAnnotator]:
    """The alternative annotator test of every judge's verdicts.

    Raises:
        AgreementError: annotators are not known, or gave grades and no bar was set.
    """
    found = {}
    for (judge,), rows in joined.rows.group_by("judge", maintain_order=True):
        ratings = ratings_of(rows)
        if positive_from is not None:
            ratings = ratings.select((pl.all() >= positive_from).cast(pl.Float64))
        elif not are_verdicts(ratings):
            raise AgreementError(
                "the annotators gave grades and the judge gives verdicts; say from which grade an "
                "answer is acceptable with --positive-from"
            )
        verdicts = rows["verdict"].cast(pl.Float64)
        found[str(judge)] = alternative_annotator_test(
            ratings, verdicts, questions=rows["cluster"], epsilon=epsilon
        )
    return found


def _table(tests: Mapping[str, AlternativeAnnotator], matched: Sequence[str]) -> Table:
    """One row per judge and annotator, the outcome in the notes."""
    said = [*matched]
    for judge, test in tests.items():
        may = "may replace an annotator" if test.passed else "may not replace an annotator"
        said.append(
            f"{judge} {may}: winning rate {test.winning_rate:.2f} (0.5 is needed), "
            f"average advantage {test.advantage:.2f}, epsilon {test.epsilon:g}, "
            f"false discovery rate {test.level:g} (Benjamini-Yekutieli)"
        )
    return Table.of(
        "Alternative annotator test (percent of items on which each is as good or better)",
        (
            "judge",
            "against",
            Column("items", format="count"),
            *columns("share", "judge as good", "person as good"),
            Column("p", format="right"),
            "won",
        ),
        [
            (
                judge,
                one.annotator,
                one.items,
                one.judge_advantage,
                one.annotator_advantage,
                f"{cell('p', one.p)} ({one.test})",
                "yes" if one.won else "no",
            )
            for judge, test in tests.items()
            for one in test.against
        ],
        said,
    )
