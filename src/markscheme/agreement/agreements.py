"""`agree`: how well judges agree with people's labels, people with each other, runs with runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.agreement.accuracy_estimates import labels_check, sample_of
from markscheme.agreement.against_labels import Agreement, agreement, closest_judges
from markscheme.agreement.annotators import annotator_tables, annotators_of
from markscheme.agreement.comparison_notes import systems_population
from markscheme.agreement.fitness import CHOSEN, SURE, Fitness, by_judge, fitness_of, write_fitness
from markscheme.agreement.label_errors import label_errors, label_errors_table
from markscheme.agreement.options import AgreeOptions, EstimateOptions, Unjudged
from markscheme.agreement.people_errors import (
    NOTHING_TWICE,
    label_noise,
    noise_sentence,
    tie_sentence,
    undone,
)
from markscheme.agreement.question_averages import (
    PerQuestion,
    correlation_table,
    judges_correlations,
)
from markscheme.agreement.sources import (
    JudgmentsSource,
    Run,
    TableSource,
    check_systems,
    judged_and_labelled,
    names_of,
    open_run,
)
from markscheme.agreement.verdicts import STATISTICS
from markscheme.errors import AgreementError
from markscheme.flags import with_keywords
from markscheme.results import (
    Column,
    Figure,
    Format,
    Table,
    TableResult,
    columns,
    flat_frame,
    interval_note,
    lineage_note,
    not_judged,
    number,
    of_labels,
    out_of,
    percent,
)
from markscheme.stats import LabelNoise
from markscheme.tables import (
    ALL,
    INSIDE,
    LEARNED,
    NEW,
    OUTSIDE,
    REST,
    UNKNOWN,
    Joined,
    is_binary,
    join_labels,
    scope_kind,
    scope_parts,
    unequal_chances,
    write_table,
)

SHARES = {name: one.heading for name, one in STATISTICS.items() if not one.lowest}
_COEFFICIENTS = {name: one.heading for name, one in STATISTICS.items() if one.lowest}
COEFFICIENTS = {**_COEFFICIENTS, "auroc": "AUROC", "average_precision": "average precision"}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AgreeResult(TableResult):
    """What `agree` gives: one row of the frame per judge and, on request, system.

    Columns: `judge`, `system` (null: all), `answers`, `questions`, the counts of right and wrong
    verdicts, `not_judged`, `human` and `judged` (shares accepted), every statistic with the bounds
    of its interval, and `errors_...`: the same with answers not judged counted as errors. With
    `per_question` alone: one row per judge with its correlations.

    Attributes:
        joined: the judgments with their labels, and what did not match.
        judges: the same figures as objects, with the reason where one is undefined.
        fitness: what each judge may be used for, as far as the labels show it.
        errors: every answer on which a judge and the labels differ, as `label_errors` gives them;
            None where no verdicts were compared.
        annotators: with `annotators`, every two of them: how often they agree, kappa and AC1, with
            intervals. What holds for all of them is in `data["annotators"]`. None otherwise.
    """

    joined: Joined
    judges: tuple[Agreement, ...]
    errors: pl.DataFrame | None
    annotators: pl.DataFrame | None = None
    fitness: tuple[Fitness, ...] = ()

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

    def write_fitness(self, path: str | Path) -> Path:
        """Write `fitness` to a JSON file, or into a run's folder, for `judge --fitness`.

        Raises:
            AgreementError: the labels are evidently no random sample.
        """
        if chosen := _not_of_all(self.fitness):
            raise AgreementError(chosen[0])
        return write_fitness(self.fitness, Path(path))[0]


def agree(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: AgreeOptions | None = None,
    *,
    answers: TableSource | None = None,
    **keywords: Any,
) -> AgreeResult:
    """Measure how far judges agree with people's labels, with intervals clustered by question.

    Accuracy, precision, recall, F1 (of the accepted class, and macro), Cohen's kappa, MCC, AUROC
    and average precision; with answers that were not judged left out, and counted as errors.
    Shares are 0 to 1, in the tables in percent.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: people's labels, likewise; None for those that came with the judged answers.
        options: what is computed; the defaults if None.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `AgreeOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: nothing matches, labels contradict each other, or they cannot support a
            statistic that was requested.

    Example:
        >>> from markscheme import agree
        >>> rows = [{"question": f"q{n}", "answer": "a", "verdict": n < 9, "label": n < 8}
        ...         for n in range(20)]
        >>> agree(rows).frame["accuracy"].to_list()
        [0.95]
    """
    wanted = with_keywords(AgreeOptions, options, keywords)
    if not wanted.annotators and (wanted.people or wanted.blanks != "missing"):
        option = "--people" if wanted.people else f"--blanks {wanted.blanks}"
        raise AgreementError(f"{option} requires --annotators (Python: annotators=True)")
    run = open_run(judgments, answers=answers)
    rows, known = judged_and_labelled(
        run, labels, wanted, judges=wanted.judges, slices=wanted.slices
    )
    joined = join_labels(rows, known)
    check_systems(joined.rows, by=wanted.by)
    known = joined.labels
    about = of_labels(joined)
    tables: list[Table] = []
    data: dict[str, Any] = {"command": "agree", "matched": joined.notes()}
    found: list[Agreement] = []
    errors = None
    if (
        not wanted.per_question
        or wanted.positive_from is not None
        or is_binary(joined.rows["label"])
    ):
        found = agreement(joined, wanted)
        tables += agreement_tables(found, joined, wanted)
        of_parts, parts = _within(joined, wanted)
        tables += of_parts
        data |= parts
        errors = label_errors(joined, run, wanted)
        data |= {"confidence": wanted.confidence, "judges": found}
    correlations: dict[str, PerQuestion] = {}
    if wanted.per_question:
        correlations, without = judges_correlations(joined)
        data["per_question"] = correlations
        tables.append(correlation_table(correlations, without))
    if wanted.annotators:
        data["annotators"] = annotators_of(
            known, wanted.blanks, names_of(wanted.people), confidence=wanted.confidence
        )
        tables += annotator_tables(data["annotators"])
    noise = label_noise(
        known,
        errors=wanted.label_errors,
        positive_from=wanted.positive_from,
        confidence=wanted.confidence,
    )
    if isinstance(noise, LabelNoise) and found:
        data["label_noise"] = noise
    passes = None if errors is None else label_errors_table(errors, joined)
    if passes is not None:
        tables.append(passes)
    statements: list[Fitness] = []
    if found:
        statements = fitness_of(
            joined,
            known,
            noise,
            signatures=_signatures(run),
            positive_from=wanted.positive_from,
            slices=wanted.slices,
            labelled_by=wanted.labelled_by,
        )
        statements = _with_chosen(statements, joined, wanted.positive_from)
        data["fitness"] = by_judge(statements)
        of_judge = {one.judge: one for one in statements}
        leading = [one.judge for one in closest_judges(found)[:_LEADING]]
        tables += [_fitness_table(of_judge[name], about) for name in leading if name in of_judge]
    ties = joined.ties
    if ties:
        data["tied"] = ties
    of_scores = (
        {"judge": judge, **one.means, "questions": one.questions}
        for judge, one in correlations.items()
    )
    return AgreeResult(
        frame=agreement_frame(found) if found else flat_frame(of_scores),
        tables=tuple(tables),
        data=data,
        lead=(*_lead(found, noise, joined, ties), *_not_of_all(statements)),
        joined=joined,
        judges=tuple(found),
        errors=errors,
        annotators=data["annotators"]["pairs"] if wanted.annotators else None,
        fitness=tuple(statements),
    )


def _with_chosen(
    statements: Sequence[Fitness], joined: Joined, positive_from: float | None
) -> list[Fitness]:
    """Statements that say where the labels are evidently no random sample of all answers."""
    if unequal_chances(joined.rows):
        why = "they were drawn with unequal chances, by which 'markscheme estimate' weighs them"
        return [replace(one, chosen=why) for one in statements]
    if not joined.unlabelled and not joined.tied:
        return list(statements)
    cut = EstimateOptions(positive_from=positive_from)
    try:
        every = [joined.every(one.judge) for one in statements]
        checks = [labels_check(sample_of(table, cut)[0], table) for table in every]
    except AgreementError:  # Agreement needs neither all questions nor chances.
        return list(statements)
    return [replace(one, chosen=each.chosen) for one, each in zip(statements, checks, strict=True)]


def _signatures(run: Run) -> dict[str, str]:
    """The judges' signatures, as far as their judgments say one each."""
    if not {"judge", "signature"} <= set(run.table.columns):
        return {}
    pairs = run.table.select("judge", "signature").drop_nulls().unique()
    return dict(pairs.filter(pl.len().over("judge") == 1).rows())


def _fitness_table(one: Fitness, about: str) -> Table:
    first, *rest = one.sentences
    figures = (("wrong answers", one.wrong_accepted), ("points", one.off))
    notes = interval_note(figures, about, SURE)
    if one.bound_methods:
        notes += (f"at least: one-sided bounds ({', '.join(one.bound_methods)})",)
    return Table.of(
        "What the judge may be used for",
        (Column(first, "said"),),
        [{"said": text} for text in rest],
        notes,
    )


_LEADING = 3
"""Judges of which the lead speaks."""


def _lead(
    found: Sequence[Agreement],
    noise: LabelNoise | str,
    joined: Joined,
    ties: Sequence[Mapping[str, Any]],
) -> tuple[str, ...]:
    """Of each judge over all systems: its accuracy, and how many errors of either kind."""
    whole = closest_judges(found)
    if not whole:
        return ()
    said = []
    for one in whole[:_LEADING]:
        accepted, wrong_no = (one.counts[name] for name in ("true_positive", "false_negative"))
        rejected, wrong_yes = (one.counts[name] for name in ("true_negative", "false_positive"))
        share = one.left_out["accuracy"].text(scale=100, digits=0, unit="%", words=True)
        judged = accepted + wrong_no + rejected + wrong_yes
        answers = f"{judged:,} answers"
        if judged < one.answers:
            answers = f"the {out_of(judged, one.answers)} answers that it judged"
        said.append(
            f"{one.judge} agrees with people on {share} of {answers}: it accepts "
            f"{wrong_yes:,} of the {rejected + wrong_yes:,} that they reject, and rejects "
            f"{wrong_no:,} of the {accepted + wrong_no:,} that they accept"
        )
    if ties:
        ends = {one.judge: _with_ties(one, joined) for one in whole[:_LEADING]}
        said.append(tie_sentence(len(ties), "against the judge, or for it", ends))
    if isinstance(noise, LabelNoise):
        without = {one.judge: _undone(one, noise) for one in whole[:_LEADING]}
        said.append(
            noise_sentence(noise, without if len(whole) > 1 else {"": without.popitem()[1]})
        )
    elif noise != NOTHING_TWICE:
        said.append(noise)
    if len(whole) > _LEADING:
        more = len(whole) - _LEADING
        who, them = ("judges are", "them") if more > 1 else ("judge is", "it")
        said.append(
            f"{more} more {who} no closer to the labels (Cohen's kappa); the tables have {them}"
        )
    return tuple(said)


def _undone(one: Agreement, noise: LabelNoise) -> Figure:
    """A judge's agreement with people, without the errors of their labels."""
    accepted = one.counts["true_positive"] + one.counts["false_positive"]
    judged = sum(one.counts[name] for name in _CELLS)
    return undone(one.left_out["accuracy"], noise, accepted / max(1, judged))


def _not_of_all(statements: Sequence[Fitness]) -> list[str]:
    """A line where labels are evidently of answers that somebody chose."""
    why = next((one.chosen for one in statements if one.chosen is not None), None)
    return [] if why is None else [f"{CHOSEN}: {why}"]


def _with_ties(one: Agreement, joined: Joined) -> tuple[float, float]:
    """A judge's agreement if every tied answer that it judged counted as an error, or as right."""
    rows = joined.tied_judgments
    ties = rows.filter(pl.col("judge") == one.judge)["verdict"].count()
    judged = sum(one.counts[name] for name in _CELLS)
    right = one.counts["true_positive"] + one.counts["true_negative"]
    return right / max(1, judged + ties), (right + ties) / max(1, judged + ties)


SHORT = ("accuracy", "kappa")
"""Statistics by scope."""


def scope_agreement(joined: Joined, options: AgreeOptions) -> dict[str, dict[str, Agreement]]:
    """Agreement of each judge apart on what it learned from, and inside and outside its field.

    Only of judges whose judgments say so (the column `scope`), where that is more than that all
    questions are new to them. Figures on questions that trained a judge may flatter it.

    Returns:
        By judge, then by `all`, `rest` (all but those it learned from) and the `SCOPES` that occur.
    """

    def divided(mine: pl.DataFrame) -> dict[str, pl.DataFrame]:
        parts = scope_parts(mine)
        return parts if set(parts) - {ALL, INSIDE, NEW} else {}

    return _agreement_by(joined, options, divided)


def _agreement_by(
    joined: Joined,
    options: AgreeOptions,
    divided: Callable[[pl.DataFrame], Mapping[str, pl.DataFrame]],
) -> dict[str, dict[str, Agreement]]:
    """Agreement on each part of a judge's rows, by judge, of those whose rows are divided."""
    plain = replace(options, by=None)
    found = {
        str(judge): {
            name: agreement(replace(joined, rows=part), plain)[0]
            for name, part in divided(mine).items()
        }
        for (judge,), mine in joined.rows.group_by("judge", maintain_order=True)
    }
    return {judge: parts for judge, parts in found.items() if parts}


def _within(joined: Joined, options: AgreeOptions) -> tuple[list[Table], dict[str, Any]]:
    """Tables of agreement by what trained a judge and by slices, and the figures by `scope`,
    `slices`."""
    tables: list[Table] = []
    by_scope = scope_agreement(joined, options)
    if by_scope:
        parts = [
            (_SCOPES[kind], one)
            for kinds in by_scope.values()
            for kind, one in kinds.items()
            # What the rest is made of is not said twice; answers not given are of no kind.
            if kind in (ALL, REST, LEARNED) or len(kinds.keys() - {ALL, REST, LEARNED}) > 1
        ]
        trained = any(LEARNED in kinds for kinds in by_scope.values())
        title = (
            "On questions that a judge was trained on, its figures may be too high"
            if trained
            else "Agreement inside and outside a judge's field"
        )
        lines = lineage_lines(joined, by_scope)
        tables.append(
            _parts_table(title, "part", parts, joined, confidence=options.confidence, lines=lines)
        )
    by_slice: dict[str, dict[str, dict[str, Agreement]]] = {}
    for column in options.slices:
        by_slice[column] = _agreement_by(joined, options, partial(_by_value, column=column))
        parts = [part for values in by_slice[column].values() for part in values.items()]
        title = f"Agreement by {column}"
        tables.append(_parts_table(title, column, parts, joined, confidence=options.confidence))
    named = (("scope", by_scope), ("slices", by_slice))
    return tables, {name: found for name, found in named if found}


def _by_value(rows: pl.DataFrame, column: str) -> dict[str, pl.DataFrame]:
    parts = rows.group_by(column, maintain_order=True)
    return {str(value): part for (value,), part in parts}


def _parts_table(
    title: str,
    heading: str,
    parts: Sequence[tuple[str, Agreement]],
    joined: Joined,
    *,
    confidence: float,
    lines: Sequence[str] = (),
) -> Table:
    """Agreement within parts of the answers, each with its name, under a heading for names."""
    sizes = [(one.questions if joined.clustered else None, one.answers) for _, one in parts]
    about = systems_population("according to the labels of its own answers", sizes, of=heading)
    figures = ((name, one.left_out[name]) for _, one in parts for name in SHORT)
    wrong = ("false_positive", "false_negative")
    return Table.of(
        title,
        (
            "judge",
            Column(heading, "part"),
            *columns("count", "questions", "answers"),
            *(Column(name, format=_form(name, words=True)) for name in SHORT),
            *columns("count", *((_CELLS[name], name) for name in wrong)),
        ),
        [{"part": name, **vars(one), **one.left_out, **one.counts} for name, one in parts],
        (*lines, *interval_note(figures, about, confidence)),
    )


def _intervals_of(
    found: Iterable[Agreement],
    heads: Mapping[str, str],
    joined: Joined,
    confidence: float,
    policy: Unjudged = "left_out",
) -> tuple[str, ...]:
    """Of what a table's intervals speak: those of all answers, and those of systems, which differ.

    Args:
        found: the rows.
        heads: the headings of the statistics shown, by name.
        joined: the judgments with their labels.
        confidence: of the intervals.
        policy: for answers that were not judged.
    """
    rows = list(found)
    sizes = [
        (one.questions if joined.clustered else None, one.answers) for one in rows if one.system
    ]
    of_systems = systems_population("according to the labels of its own answers", sizes)
    said: tuple[str, ...] = ()
    for about, whole in ((of_labels(joined), True), (of_systems, False)):
        mine = [one.figures(policy) for one in rows if (one.system is None) is whole]
        shown = ((head, figures[name]) for figures in mine for name, head in heads.items())
        said += interval_note(shown, about, confidence)
    return said


_SCOPES = {
    ALL: "all",
    REST: "did not train it",
    LEARNED: "trained it",
    INSIDE: "inside its field",
    OUTSIDE: "outside its field",
    NEW: "did not train it",
    UNKNOWN: "may have trained it",
}


def lineage_lines(joined: Joined, found: Mapping[str, Mapping[str, Agreement]]) -> list[str]:
    """A line for each judge that some of the labelled questions trained, or may have trained.

    It has the judge's agreement with people on all of them and on the rest.

    Args:
        joined: the judgments with their labels.
        found: their agreement by judge and scope, as `scope_agreement` gives it.
    """
    lines = []
    for judge, parts in found.items():
        shares = {
            name: percent(part.left_out["accuracy"].value, unit="%") for name, part in parts.items()
        }
        learned = joined.rows.filter(pl.col("judge") == judge, scope_kind() == LEARNED)
        named = "question" in learned.columns
        trained = parts[LEARNED].questions if LEARNED in parts else 0
        said = lineage_note(
            judge,
            questions=parts[ALL].questions,
            trained=None if UNKNOWN in parts else trained,
            names=learned["question"].unique(maintain_order=True) if named else (),
            figure="as people say",
            whole=shares[ALL],
            rest=shares.get(REST),
        )
        lines += [said] if said else []
    return lines


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


_CELLS = {
    "true_positive": "right yes",
    "false_positive": "wrong yes",
    "false_negative": "wrong no",
    "true_negative": "right no",
}


def agreement_tables(
    found: Sequence[Agreement], joined: Joined, options: AgreeOptions
) -> list[Table]:
    """Counts, then shares in percent and coefficients, under both policies for not judged."""
    figures = partial(_figures, found, joined=joined, confidence=options.confidence)
    intervals = _intervals_of(found, {"accuracy": ""}, joined, options.confidence)
    tables = [
        _counts(found, (*joined.notes(), *intervals)),
        figures("left_out", SHARES, "Agreement in percent, without answers not judged"),
        figures("left_out", COEFFICIENTS, "Agreement, without answers not judged"),
    ]
    if any(one.not_judged for one in found):
        title = "answers not judged counted as errors"
        tables.append(figures("errors", SHARES, f"Agreement in percent, {title}"))
        tables.append(figures("errors", _COEFFICIENTS, f"Agreement, {title}"))
    return tables


OVERVIEW = {
    "accuracy": "agreement",
    "f1_positive": "F1 (accepted)",
    "f1_macro": "F1 (macro)",
    "kappa": "kappa",
    "auroc": "AUROC",
}
"""Statistics of the short table, with their headings."""


def overview_table(found: Sequence[Agreement], joined: Joined, notes: Sequence[str] = ()) -> Table:
    """The short table of a report: one row per judge over all systems' answers, 95% intervals."""
    whole = [one for one in found if one.system is None]
    return Table.of(
        "Agreement with people's labels",
        (
            "judge",
            *_statistics(OVERVIEW, words=True),
            Column("not judged", lambda one: not_judged(dict(one.not_judged))),
        ),
        whole,
        (*_intervals_of(whole, OVERVIEW, joined, 0.95), *notes),
    )


def _form(name: str, *, words: bool = False) -> Format:
    return number(1, scale=100, words=words) if name in SHARES else number(3, words=words)


def _statistics(
    names: Mapping[str, str], policy: Unjudged = "left_out", *, words: bool = False
) -> list[Column]:
    """Columns of statistics, by name and heading; shares in percent."""

    def of(name: str) -> Callable[[Agreement], Figure]:
        return lambda one: one.figures(policy)[name]

    return [Column(head, of(name), _form(name, words=words)) for name, head in names.items()]


_WHOSE = ("judge", Column("system", missing="(all)"))


def _counts(found: Sequence[Agreement], notes: tuple[str, ...]) -> Table:
    return Table.of(
        "Judgments against labels",
        (
            *_WHOSE,
            *columns("count", "answers", "questions"),
            *columns("share", ("labels accept", "human"), ("judge accepts", "judged")),
            *columns("count", *((heading, name) for name, heading in _CELLS.items())),
            Column("not judged", lambda row: not_judged(row["not_judged"]), "right"),
        ),
        [{**vars(one), **one.counts} for one in found],
        notes,
    )


def _figures(
    found: Sequence[Agreement],
    policy: Unjudged,
    names: Mapping[str, str],
    title: str,
    *,
    joined: Joined,
    confidence: float,
) -> Table:
    return Table.of(
        title,
        (*_WHOSE, *_statistics(names, policy)),
        found,
        _intervals_of(found, names, joined, confidence, policy),
    )
