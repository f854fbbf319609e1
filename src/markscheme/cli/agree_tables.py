"""What `markscheme agree` shows: agreement with labels, between people, relations, correlations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markscheme.cli.output import p_text, percent
from markscheme.errors import AgreementError

if TYPE_CHECKING:
    import polars as pl

    from markscheme.agreement import (
        Agreement,
        AgreementOptions,
        AlternativeAnnotator,
        Blanks,
        Joined,
        PerQuestion,
    )
    from markscheme.results import Table

SHARES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1_positive": "F1 (accepted)",
    "f1_macro": "F1 (macro)",
}
COEFFICIENTS = {
    "kappa": "Cohen's kappa",
    "mcc": "MCC",
    "auroc": "AUROC",
    "average_precision": "average precision",
}


def agreement_tables(
    found: Sequence[Agreement], joined: Joined, options: AgreementOptions
) -> list[Table]:
    """Counts, then shares in per cent and coefficients, under both policies for not judged."""
    made = (
        f"{100 * options.confidence:g}% intervals: {options.resamples:,} bootstrap resamples of "
        f"questions, seed {options.seed}"
        if options.resamples
        else "no intervals (--bootstrap 0)"
    )
    tables = [
        _counts(found, (*joined.notes(), made)),
        _figures(found, "left_out", SHARES, "Agreement in per cent, not judged left out"),
        _figures(found, "left_out", COEFFICIENTS, "Agreement, not judged left out"),
    ]
    if any(one.not_judged for one in found):
        rest = {name: COEFFICIENTS[name] for name in ("kappa", "mcc")}
        title = "not judged counted as errors"
        tables.append(_figures(found, "errors", SHARES, f"Agreement in per cent, {title}"))
        tables.append(_figures(found, "errors", rest, f"Agreement, {title}"))
    return tables


def _counts(found: Sequence[Agreement], notes: tuple[str, ...]) -> Table:
    from markscheme.results import Table

    numbers = ("answers", "questions", "labels accept", "judge accepts")
    header = (
        *("judge", "system"),
        *numbers,
        *("right yes", "wrong yes", "wrong no", "right no", "not judged"),
    )
    rows = [
        (
            one.judge,
            one.system or "(all)",
            f"{one.answers:,}",
            f"{one.questions:,}",
            percent(one.human),
            one.judged.text(scale=100, digits=1),
            *(
                f"{one.counts[name]:,}"
                for name in ("true_positive", "false_positive", "false_negative", "true_negative")
            ),
            ", ".join(f"{count} {status}" for status, count in one.not_judged.items()) or "0",
        )
        for one in found
    ]
    return Table(
        title="Judgments against labels",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[2:]),
        notes=notes,
    )


def _figures(
    found: Sequence[Agreement], policy: Any, names: Mapping[str, str], title: str
) -> Table:
    from markscheme.results import Table

    scale, digits = (100, 1) if names is SHARES else (1, 3)
    rows = [
        (
            one.judge,
            one.system or "(all)",
            *(one.figures(policy)[name].text(scale=scale, digits=digits) for name in names),
        )
        for one in found
    ]
    header = ("judge", "system", *names.values())
    return Table(title=title, header=header, rows=tuple(rows), numeric=frozenset(header[2:]))


def annotators_of(
    labels: pl.DataFrame, blanks: Blanks, people: Sequence[str] = ()
) -> dict[str, Any]:
    """Every statistic between annotators, or between the `people` named.

    Raises:
        AgreementError: the labels do not say who gave which, or have no such annotator.
    """
    from markscheme.agreement import (
        disagreements,
        fleiss_kappa,
        krippendorff_alpha,
        majority,
        pairwise_kappas,
        ratings_table,
    )

    ratings = ratings_table(_several(labels))
    strangers = [name for name in people if name not in ratings.columns]
    if strangers:
        raise AgreementError(
            f"no annotator {', '.join(map(repr, strangers))}; there are "
            f"{', '.join(ratings.columns)}"
        )
    ratings = ratings.select(people or ratings.columns)
    return {
        "items": ratings.height,
        "blanks": blanks,
        "blank_cells": {name: ratings[name].null_count() for name in ratings.columns},
        "pairs": pairwise_kappas(ratings, blanks=blanks),
        "fleiss_kappa": fleiss_kappa(ratings, blanks=blanks),
        "krippendorff_alpha": krippendorff_alpha(ratings, blanks=blanks),
        "krippendorff_alpha_ordinal": krippendorff_alpha(ratings, level="ordinal"),
        "disagreements": int(disagreements(ratings, blanks=blanks).sum()),
        "without_majority": majority(ratings).null_count(),
    }


def _several(labels: pl.DataFrame) -> pl.Series:
    if "annotator_labels" not in labels.columns:
        raise AgreementError(
            "the labels do not say who gave which: a column 'annotator_labels' with lists, or "
            "columns annotator1, annotator2, ... are needed"
        )
    return labels["annotator_labels"]


def annotator_tables(people: dict[str, Any]) -> list[Table]:
    """Pairs of annotators, and what holds for all of them."""
    from markscheme.results import Figure, Table

    rows = []
    for pair in people["pairs"].rows(named=True):
        kappa = Figure(value=pair["kappa"], reason=pair["reason"])
        cells = (f"{pair['items']:,}", f"{pair['agree']:,}", percent(pair["accuracy"]))
        rows.append((pair["first"], pair["second"], *cells, kappa.text()))
    header = ("annotator", "annotator", "items", "agree", "per cent", "Cohen's kappa")
    blank = ", ".join(f"{n} {name}" for name, n in people["blank_cells"].items() if n)
    whole = (
        ("items", f"{people['items']:,}"),
        ("items on which not all agree", f"{people['disagreements']:,}"),
        ("items without a majority", f"{people['without_majority']:,}"),
        ("Fleiss' kappa", people["fleiss_kappa"].text(digits=4)),
        ("Krippendorff's alpha, nominal", people["krippendorff_alpha"].text(digits=4)),
        (
            "Krippendorff's alpha, ordinal, blanks missing",
            people["krippendorff_alpha_ordinal"].text(digits=4),
        ),
    )
    policy = f"blank cells: {blank or 'none'}; a blank is {_MEANING[people['blanks']]}"
    return [
        Table(
            title="Annotators, two by two",
            header=header,
            rows=tuple(rows),
            numeric=frozenset(header[2:]),
        ),
        Table(
            title="All annotators",
            header=("what", "value"),
            rows=whole,
            numeric=frozenset({"value"}),
            notes=(policy,),
        ),
    ]


_MEANING = {"missing": "no rating (--blanks missing)", "category": "a category of its own"}


def alternatives(
    joined: Joined, epsilon: float, positive_from: float | None
) -> dict[str, AlternativeAnnotator]:
    """The alternative annotator test of every judge's verdicts.

    Raises:
        AgreementError: annotators are not known, or gave grades and no bar was set.
    """
    import polars as pl

    from markscheme.agreement import alternative_annotator_test, ratings_table

    _several(joined.rows)
    found = {}
    for (judge,), rows in joined.rows.group_by("judge", maintain_order=True):
        ratings = ratings_table(rows["annotator_labels"])
        if positive_from is not None:
            ratings = ratings.select((pl.all() >= positive_from).cast(pl.Float64))
        elif not ratings.select(pl.all().is_in([0.0, 1.0]).all()).to_numpy().all():
            raise AgreementError(
                "the annotators gave grades and the judge gives verdicts; say from which grade an "
                "answer is acceptable with --positive-from"
            )
        verdicts = rows["verdict"].cast(pl.Float64)
        found[str(judge)] = alternative_annotator_test(ratings, verdicts, epsilon=epsilon)
    return found


def alternative_table(tests: Mapping[str, AlternativeAnnotator]) -> Table:
    """A row a judge and annotator, the verdict in the notes."""
    from markscheme.results import Table

    rows, said = [], []
    for judge, test in tests.items():
        for one in test.against:
            shares = (percent(one.judge_advantage), percent(one.annotator_advantage))
            p = f"{p_text(one.p.value, one.p.reason)} ({one.test})"
            rows.append(
                (judge, one.annotator, f"{one.items:,}", *shares, p, "yes" if one.won else "no")
            )
        may = "may replace an annotator" if test.passed else "may not replace an annotator"
        said.append(
            f"{judge} {may}: winning rate {test.winning_rate:.2f} (0.5 is needed), "
            f"average advantage {test.advantage:.2f}, epsilon {test.epsilon:g}, "
            f"false discovery rate {test.level:g} (Benjamini-Yekutieli)"
        )
    header = ("judge", "against", "items", "judge as good", "person as good", "p", "won")
    return Table(
        title="Alternative annotator test (per cent of items on which each is as good or better)",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[2:6]),
        notes=tuple(said),
    )


def relation_tests(joined: Joined, positive_from: float | None) -> dict[str, Any]:
    """Yao & Barbosa's tests for every judge that gives relations or marks."""
    import polars as pl

    from markscheme.agreement import adjacent_sets, as_binary, marks_test

    found: dict[str, Any] = {}
    for (judge,), rows in joined.rows.group_by("judge", maintain_order=True):
        accepted = pl.Series(as_binary(rows["label"], positive_from=positive_from))
        tests: dict[str, Any] = {}
        if "relation" in rows.columns and rows["relation"].count():
            tests["sets"] = adjacent_sets(rows["relation"], accepted)
        if "marks" in rows.columns and rows["marks"].count():
            tests["marks"] = marks_test(rows["marks"], accepted)
        if tests:
            found[str(judge)] = tests
    if not found:
        raise AgreementError("no judge gives relations or marks; leave --relations out")
    return found


def relation_tables(found: Mapping[str, Any]) -> list[Table]:
    """Adjacent sets and marks, a row a judge and test."""
    from markscheme.results import Table

    steps = []
    for judge, tests in found.items():
        for step in tests.get("sets", ()):
            above = f"{step.higher_accepted:,} of {step.higher_answers:,}"
            below = f"{step.lower_accepted:,} of {step.lower_answers:,}"
            odds = step.odds_ratio.text(digits=2)
            p = p_text(step.p.value, step.p.reason)
            steps.append((judge, f"{step.higher} > {step.lower}", above, below, odds, p))
    marks = [
        (
            judge,
            f"{test.accepted:,}",
            f"{test.rejected:,}",
            f"{test.left_out:,}",
            test.auroc.text(),
            p_text(test.p.value, test.p.reason),
        )
        for judge, test in ((name, tests.get("marks")) for name, tests in found.items())
        if test
    ]
    tables = []
    if steps:
        header = ("judge", "sets", "accepted above", "accepted below", "odds ratio", "p (Fisher)")
        tables.append(
            Table(
                title="Are higher relations accepted more often? One-tailed Fisher exact tests",
                header=header,
                rows=tuple(steps),
                numeric=frozenset(header[2:]),
            )
        )
    if marks:
        header = ("judge", "accepted", "rejected", "no marks", "AUROC", "p (Brunner-Munzel)")
        tables.append(
            Table(
                title="Are marks higher for accepted answers?",
                header=header,
                rows=tuple(marks),
                numeric=frozenset(header[1:]),
            )
        )
    return tables


def correlations_of(joined: Joined) -> dict[str, PerQuestion]:
    """Correlations within questions of every judge's score with the labels as grades."""
    import polars as pl

    from markscheme.agreement import per_question

    if "question" not in joined.rows.columns:
        raise AgreementError("correlations within questions need the question of every answer")
    return {
        str(judge): per_question(rows.with_columns(pl.col("label").alias("grade")))
        for (judge,), rows in joined.rows.group_by("judge", maintain_order=True)
    }


def correlation_table(found: Mapping[str, PerQuestion]) -> Table:
    """A row a judge."""
    from markscheme.results import Table

    rows = [
        (
            judge,
            *(one.means[name].text() for name in ("kendall", "spearman", "pearson")),
            f"{one.questions:,.0f}",
            f"{one.constant:,.0f}",
            f"{one.single:,.0f}",
            f"{one.not_scored:,}",
        )
        for judge, one in found.items()
    ]
    coefficients = ("Kendall tau-b", "Spearman", "Pearson")
    header = ("judge", *coefficients, "questions", "constant", "single", "not scored")
    return Table(
        title="Scores against grades within questions, averaged",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[1:]),
        notes=("left out: questions where a side is constant, and those with a single answer",),
    )
