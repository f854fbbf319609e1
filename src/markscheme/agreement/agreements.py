"""`agree`: how well judges agree with people's labels, people with each other, runs with runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.agreement.against_labels import Agreement, agreement
from markscheme.agreement.alternative_annotator import (
    AlternativeAnnotator,
    alternative_annotator_test,
)
from markscheme.agreement.annotators import (
    disagreements,
    fleiss_kappa,
    krippendorff_alpha,
    pairwise_kappas,
)
from markscheme.agreement.answer_hierarchy import adjacent_sets, marks_test
from markscheme.agreement.label_errors import label_errors, label_errors_table
from markscheme.agreement.options import AgreeOptions, Blanks
from markscheme.agreement.question_averages import PerQuestion, per_question
from markscheme.agreement.sources import (
    JudgmentsSource,
    TableSource,
    judged_and_labelled,
    names_of,
    open_run,
)
from markscheme.errors import AgreementError
from markscheme.flags import with_keywords
from markscheme.results import (
    Figure,
    Table,
    TableResult,
    flat_frame,
    interval_note,
    lineage_note,
    measured,
    not_judged,
    p_text,
    share_text,
)
from markscheme.tables import (
    INSIDE,
    LEARNED,
    NEW,
    OUTSIDE,
    UNKNOWN,
    Joined,
    as_binary,
    join_labels,
    majority,
    ratings_table,
    scope_kind,
    write_table,
)

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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AgreeResult(TableResult):
    """What `agree` gives: one row of the frame per judge and, if asked, system.

    Columns: `judge`, `system` (null: all), `answers`, `questions`, the counts of right and wrong
    verdicts, `not_judged`, `human` and `judged` (shares accepted), every statistic with the bounds
    of its interval, and `errors_...`: the same with answers not judged counted as errors. With
    `per_question` alone: one row per judge with its correlations.

    Attributes:
        joined: the judgments with their labels, and what did not match.
        judges: the same figures as objects, with the reason where one is undefined.
        errors: every answer on which a judge and the labels differ, as `label_errors` gives them;
            None where no verdicts were compared.
    """

    joined: Joined
    judges: tuple[Agreement, ...]
    errors: pl.DataFrame | None

    def write_errors(self, path: str | Path) -> Path:
        """Write `errors` to a file: .jsonl, .csv, .tsv or .parquet.

        Raises:
            DataError: another ending.
            AgreementError: no verdicts were compared with labels.
        """
        if self.errors is None:
            raise AgreementError("errors are of verdicts, and none were compared with labels here")
        write_table(self.errors, path)
        return Path(path)


def agree(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: AgreeOptions | None = None,
    *,
    answers: TableSource | None = None,
    **keywords: Any,
) -> AgreeResult:
    """Agreement of judges with people's labels, with intervals clustered on question.

    Accuracy, precision, recall, F1 (of the accepted class, and macro), Cohen's kappa, MCC, AUROC
    and average precision; with answers that were not judged left out, and counted as errors.
    Shares are 0 to 1, in the tables in per cent.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: people's labels, likewise; None for those that came with the judged answers.
        options: what is computed; the defaults if None.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `AgreeOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: nothing matches, labels contradict each other, or they cannot support a
            statistic that was asked for.

    Example:
        >>> from markscheme import agree
        >>> rows = [{"question": f"q{n}", "answer": "a", "verdict": n < 9, "label": n < 8}
        ...         for n in range(20)]
        >>> agree(rows).frame["accuracy"].to_list()
        [0.95]
    """
    wanted = with_keywords(AgreeOptions, options, keywords)
    run = open_run(judgments, answers=answers)
    rows, known = judged_and_labelled(
        run, labels, judges=wanted.judges, columns=wanted.columns,
        threshold=wanted.threshold, label_column=wanted.label_column,
    )  # fmt: skip
    joined = join_labels(rows, known)
    tables: list[Table] = []
    data: dict[str, Any] = {"command": "agree", "matched": joined.notes(), "seed": wanted.seed}
    found: list[Agreement] = []
    frame = errors = None
    if not wanted.per_question or wanted.positive_from is not None or _binary(joined):
        found = agreement(joined, wanted)
        tables += agreement_tables(found, joined, wanted)
        by_scope = scope_agreement(joined, wanted)
        if by_scope:
            tables.append(_scope_table(by_scope, wanted.confidence))
            data["scope"] = by_scope
        errors = label_errors(joined, positive_from=wanted.positive_from, answers=run.known_answers)
        data |= {"resamples": wanted.resamples, "confidence": wanted.confidence, "judges": found}
        frame = agreement_frame(found)
    if wanted.per_question:
        correlations = correlations_of(joined)
        tables.append(_correlation_table(correlations))
        data["per_question"] = correlations
        if frame is None:
            frame = flat_frame(
                {"judge": judge, **one.means, "questions": one.questions}
                for judge, one in correlations.items()
            )
    if wanted.relations:
        steps = relation_tests(joined, wanted.positive_from)
        tables += relation_tables(steps)
        data["relations"] = steps
    if wanted.annotators:
        between = annotators_of(known, wanted.blanks, names_of(wanted.people))
        tables += _annotator_tables(between)
        data["annotators"] = between
    if wanted.alternative_annotator:
        tests = alternative_tests(joined, wanted.epsilon, wanted.positive_from)
        tables.append(_alternative_table(tests))
        data["alternative_annotator"] = tests
    passes = None if errors is None else label_errors_table(errors)
    if passes is not None:
        tables.append(passes)
    return AgreeResult(
        frame=agreement_frame(found) if frame is None else frame,
        tables=tuple(tables),
        data=data,
        lead=_lead(found),
        joined=joined,
        judges=tuple(found),
        errors=errors,
    )


_LEADING = 3
"""Judges of which the lead speaks."""


def _lead(found: Sequence[Agreement]) -> tuple[str, ...]:
    """Of each judge over all systems: its accuracy, and how many errors of either kind."""
    whole = [one for one in found if one.system is None]
    said = []
    for one in whole[:_LEADING]:
        accepted, wrong_no = (one.counts[name] for name in ("true_positive", "false_negative"))
        rejected, wrong_yes = (one.counts[name] for name in ("true_negative", "false_positive"))
        share = measured(one.left_out["accuracy"], scale=100, digits=0, unit="%")
        said.append(
            f"{one.judge} agrees with people on {share} of {one.answers:,} answers: it accepts "
            f"{wrong_yes:,} of the {rejected + wrong_yes:,} that they reject, and rejects "
            f"{wrong_no:,} of the {accepted + wrong_no:,} that they accept"
        )
    if len(whole) > _LEADING:
        said.append(f"{len(whole) - _LEADING} more judges are in the tables")
    return tuple(said)


ALL, REST = "all", "rest"
"""All of a judge's answers, and those to questions that did not train it."""


def scope_agreement(joined: Joined, options: AgreeOptions) -> dict[str, dict[str, Agreement]]:
    """Agreement of each judge apart on what it learned from, and inside and outside its field.

    Only of judges whose judgments say so (the column `scope`), where that is more than that all
    questions are new to them. Figures on questions that trained a judge flatter it.

    Returns:
        By judge, then by `all`, `rest` (all but those it learned from) and the `SCOPES` that occur.
    """
    rows = joined.rows
    if "scope" not in rows.columns or rows["scope"].null_count() == rows.height:
        return {}
    rows = rows.with_columns(_scope=scope_kind())
    plain = replace(options, by=None)

    def of(part: pl.DataFrame) -> Agreement:
        return agreement(replace(joined, rows=part.drop("_scope")), plain)[0]

    found: dict[str, dict[str, Agreement]] = {}
    for (judge,), part in rows.group_by("judge", maintain_order=True):
        kinds = {
            str(kind): one
            for (kind,), one in part.group_by("_scope", maintain_order=True)
            if kind is not None
        }
        if set(kinds) - {INSIDE, NEW}:
            rest = part.filter(pl.col("_scope").ne_missing(LEARNED))
            whole = {ALL: part, **({REST: rest} if 0 < rest.height < part.height else {})}
            found[str(judge)] = {name: of(one) for name, one in (whole | kinds).items()}
    return found


def _scope_table(found: Mapping[str, Mapping[str, Agreement]], confidence: float) -> Table:
    every = [one for kinds in found.values() for one in kinds.values()]
    rows = tuple(
        (
            judge,
            _SCOPES[kind],
            f"{one.questions:,}",
            f"{one.answers:,}",
            measured(one.left_out["accuracy"], scale=100, digits=1),
            measured(one.left_out["kappa"], scale=1, digits=3),
        )
        for judge, kinds in found.items()
        for kind, one in kinds.items()
        # What the rest is made of is not said twice.
        if kind in (ALL, REST, LEARNED) or one.answers < kinds.get(REST, kinds[ALL]).answers
    )
    lines = (_lineage_line(judge, kinds) for judge, kinds in found.items())
    return Table(
        title="On questions that trained a judge, its figures flatter it",
        header=("judge", "the questions", "number", "answers", "accuracy", "kappa"),
        rows=rows,
        numeric=frozenset(("number", "answers", "accuracy", "kappa")),
        notes=(
            *filter(None, lines),
            *_overview_note(every, {"accuracy": "accuracy", "kappa": "kappa"}, confidence),
        ),
    )


def _overview_note(
    found: Iterable[Agreement], heads: Mapping[str, str], confidence: float
) -> tuple[str, ...]:
    """How the intervals of a short table's statistics, by name and heading, were made."""
    shown = ((head, one.left_out[name]) for one in found for name, head in heads.items())
    return interval_note(shown, confidence)


_SCOPES = {
    ALL: "all", REST: "did not train it", LEARNED: "trained it", INSIDE: "inside its field",
    OUTSIDE: "outside its field", NEW: "did not train it", UNKNOWN: "may have trained it",
}  # fmt: skip


def _lineage_line(judge: str, kinds: Mapping[str, Agreement]) -> str | None:
    """How many questions trained a judge, with accuracy on all and on the rest."""
    rest, learned = kinds.get(REST), kinds.get(LEARNED)
    return lineage_note(
        judge,
        questions=kinds[ALL].questions,
        trained=None if UNKNOWN in kinds else learned.questions if learned else 0,
        figure="as people say",
        whole=_share(kinds[ALL]),
        rest=None if rest is None else _share(rest),
    )


def _share(one: Agreement) -> str:
    value = one.left_out["accuracy"].value
    return "n/a" if value is None else f"{100 * value:.1f}%"


def lineage_lines(joined: Joined, options: AgreeOptions) -> list[str]:
    """A line for each judge that some of the labelled questions trained, as `agree` says it."""
    found = scope_agreement(joined, options)
    return [line for judge, kinds in found.items() if (line := _lineage_line(judge, kinds))]


def _binary(joined: Joined) -> bool:
    return bool(joined.rows["label"].is_in([0.0, 1.0]).all())


def agreement_frame(found: Sequence[Agreement]) -> pl.DataFrame:
    """One row per judge and system; the columns are those of `AgreeResult`."""
    return flat_frame(
        {
            "judge": one.judge,
            "system": one.system,
            "answers": one.answers,
            "questions": one.questions,
            **{name: count for name, count in one.counts.items() if name in _CELLS},
            "not_judged": sum(one.not_judged.values()),
            "human": one.human,
            "judged": one.judged.value,
            **one.left_out,
            "errors": one.as_errors,
        }
        for one in found
    )


_CELLS = ("true_positive", "false_positive", "false_negative", "true_negative")


def agreement_tables(
    found: Sequence[Agreement], joined: Joined, options: AgreeOptions
) -> list[Table]:
    """Counts, then shares in per cent and coefficients, under both policies for not judged."""
    made = (
        "intervals are clustered on question; the variance of average precision is from "
        f"{options.resamples:,} resamples of questions, seed {options.seed}"
        if options.resamples
        else "no intervals (resamples: 0)"
    )
    figures = partial(_figures, found, options.confidence)
    tables = [
        _counts(found, (*joined.notes(), made, *_accuracy_note(found, options.confidence))),
        figures("left_out", SHARES, "Agreement in per cent, not judged left out"),
        figures("left_out", COEFFICIENTS, "Agreement, not judged left out"),
    ]
    if any(one.not_judged for one in found):
        rest = {name: COEFFICIENTS[name] for name in ("kappa", "mcc")}
        title = "not judged counted as errors"
        tables.append(figures("errors", SHARES, f"Agreement in per cent, {title}"))
        tables.append(figures("errors", rest, f"Agreement, {title}"))
    return tables


def _accuracy_note(found: Sequence[Agreement], confidence: float) -> tuple[str, ...]:
    """How the intervals of the lead were made."""
    return interval_note((("", one.left_out["accuracy"]) for one in found), confidence)


OVERVIEW = {
    "accuracy": ("agreement", 100.0, 1),
    "f1_positive": ("F1 (accepted)", 100.0, 1),
    "f1_macro": ("F1 (macro)", 100.0, 1),
    "kappa": ("kappa", 1.0, 3),
    "auroc": ("AUROC", 1.0, 3),
}
"""Statistics of the short table: heading, scale, digits."""


def overview_table(found: Sequence[Agreement], notes: Sequence[str] = ()) -> Table:
    """The short table of a report: one row per judge over all systems' answers, 95% intervals."""
    whole = [one for one in found if one.system is None]
    rows = tuple(
        (
            one.judge,
            *(
                measured(one.left_out[name], scale=scale, digits=digits)
                for name, (_, scale, digits) in OVERVIEW.items()
            ),
            not_judged(dict(one.not_judged)),
        )
        for one in whole
    )
    heads = {name: title for name, (title, _, _) in OVERVIEW.items()}
    return Table(
        title="Agreement with people's labels",
        header=("judge", *heads.values(), "not judged"),
        rows=rows,
        numeric=frozenset(heads.values()),
        notes=(*_overview_note(whole, heads, 0.95), *notes),
    )


def _counts(found: Sequence[Agreement], notes: tuple[str, ...]) -> Table:
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
            share_text(one.human),
            one.judged.text(scale=100, digits=1),
            *(f"{one.counts[name]:,}" for name in _CELLS),
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
    found: Sequence[Agreement],
    confidence: float,
    policy: Any,
    names: Mapping[str, str],
    title: str,
) -> Table:
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
    shown = [(said, one.figures(policy)[name]) for one in found for name, said in names.items()]
    return Table(
        title=title,
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[2:]),
        notes=interval_note(shown, confidence),
    )


def annotators_of(
    labels: pl.DataFrame, blanks: Blanks, people: Sequence[str] = ()
) -> dict[str, Any]:
    """Every statistic between annotators, or between the `people` named.

    Raises:
        AgreementError: the labels do not say who gave which, or have no such annotator.
    """
    if "item" in labels.columns:
        labels = labels.unique("item", keep="first", maintain_order=True)
    ratings = _ratings(labels)
    unknown = [name for name in people if name not in ratings.columns]
    if unknown:
        raise AgreementError(
            f"no annotator {', '.join(map(repr, unknown))}; there are {', '.join(ratings.columns)}"
        )
    ratings = ratings.select(people or ratings.columns)
    return {
        "items": ratings.height,
        "blanks": blanks,
        "blank_cells": {name: ratings[name].null_count() for name in ratings.columns},
        "pairs": pairwise_kappas(ratings, blanks=blanks),
        "fleiss_kappa": fleiss_kappa(_by_place(ratings, blanks), blanks=blanks),
        "krippendorff_alpha": krippendorff_alpha(ratings, blanks=blanks),
        "krippendorff_alpha_ordinal": krippendorff_alpha(ratings, level="ordinal"),
        "disagreements": int(disagreements(ratings, blanks=blanks).sum()),
        "without_majority": majority(ratings).null_count(),
    }


def _ratings(labels: pl.DataFrame) -> pl.DataFrame:
    """A column an annotator, by name where names are known."""
    names = labels["annotators"] if "annotators" in labels.columns else None
    return ratings_table(_several(labels), names)


def _by_place(ratings: pl.DataFrame, blanks: Blanks) -> pl.DataFrame:
    """The ratings for Fleiss' kappa, whose raters may be others for each item (Fleiss 1971).

    Where nobody rated everything, a column for an item's first rating, one for its second, and so
    on, as many as most items have.
    """
    everything = ratings.height - ratings.drop_nulls().height == 0
    if blanks == "category" or everything or ratings.drop_nulls().height:
        return ratings
    lists = ratings.select(pl.concat_list(pl.all().cast(pl.Float64)).list.drop_nulls())
    packed = lists.to_series()
    most = packed.list.len().filter(packed.list.len() > 1).mode()
    if not len(most):
        return ratings
    kept = packed.filter(packed.list.len() == most.max())
    return ratings_table(kept)


def _several(labels: pl.DataFrame) -> pl.Series:
    if "annotator_labels" not in labels.columns:
        raise AgreementError(
            "the labels do not say who gave which: a column 'annotator_labels' with lists, or "
            "columns annotator1, annotator2, ... are needed"
        )
    return labels["annotator_labels"]


def _annotator_tables(people: dict[str, Any]) -> list[Table]:
    """Pairs of annotators, and what holds for all of them."""
    rows = []
    for pair in people["pairs"].rows(named=True):
        kappa = Figure(value=pair["kappa"], reason=pair["reason"])
        cells = (f"{pair['items']:,}", f"{pair['agree']:,}", share_text(pair["accuracy"]))
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


def alternative_tests(
    joined: Joined, epsilon: float, positive_from: float | None
) -> dict[str, AlternativeAnnotator]:
    """The alternative annotator test of every judge's verdicts.

    Raises:
        AgreementError: annotators are not known, or gave grades and no bar was set.
    """
    _several(joined.rows)
    found = {}
    for (judge,), rows in joined.rows.group_by("judge", maintain_order=True):
        ratings = _ratings(rows)
        if positive_from is not None:
            ratings = ratings.select((pl.all() >= positive_from).cast(pl.Float64))
        elif not ratings.select(pl.all().is_in([0.0, 1.0]).all()).to_numpy().all():
            raise AgreementError(
                "the annotators gave grades and the judge gives verdicts; say from which grade an "
                "answer is acceptable with --positive-from"
            )
        verdicts = rows["verdict"].cast(pl.Float64)
        found[str(judge)] = alternative_annotator_test(
            ratings, verdicts, questions=rows["cluster"], epsilon=epsilon
        )
    return found


def _alternative_table(tests: Mapping[str, AlternativeAnnotator]) -> Table:
    """One row per judge and annotator, the verdict in the notes."""
    rows, said = [], []
    for judge, test in tests.items():
        for one in test.against:
            shares = (share_text(one.judge_advantage), share_text(one.annotator_advantage))
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
    """Adjacent sets and marks, one row per judge and test."""
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
    said = "p: {}; each answer is taken as independent, as in the paper"
    if steps:
        header = ("judge", "sets", "accepted above", "accepted below", "odds ratio", "p (Fisher)")
        tables.append(
            Table(
                title="Are higher relations accepted more often? One-tailed Fisher exact tests",
                header=header,
                rows=tuple(steps),
                numeric=frozenset(header[2:]),
                notes=(said.format("fisher-exact"),),
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
                notes=(said.format("brunner-munzel"),),
            )
        )
    return tables


def correlations_of(joined: Joined) -> dict[str, PerQuestion]:
    """Correlations within questions of every judge's score with the labels as grades."""
    if "question" not in joined.rows.columns:
        raise AgreementError("correlations within questions need the question of every answer")
    return {
        str(judge): per_question(rows.with_columns(pl.col("label").alias("grade")))
        for (judge,), rows in joined.rows.group_by("judge", maintain_order=True)
    }


def _correlation_table(found: Mapping[str, PerQuestion]) -> Table:
    """One row per judge."""
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
