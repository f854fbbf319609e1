"""`compare`: judges on the same labelled answers, or systems under one judge, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from markscheme.agreement.closed_forms import holm
from markscheme.agreement.comparisons import compare_judges, compare_systems
from markscheme.agreement.options import CompareOptions
from markscheme.agreement.paired import Comparison
from markscheme.agreement.sources import (
    JudgmentsSource,
    Run,
    TableSource,
    judged_and_labelled,
    judged_table,
    labelled_table,
    names_of,
    open_run,
)
from markscheme.agreement.system_differences import PeoplesDifference, peoples_differences
from markscheme.errors import AgreementError, DataError
from markscheme.flags import with_keywords
from markscheme.results import (
    Table,
    TableResult,
    flat_frame,
    interval_note,
    methods_of,
    p_text,
    share_text,
)
from markscheme.tables import LEARNED, Joined, join_labels, scope_kind, tied_note

LEAST_RESAMPLES = 100


@dataclass(frozen=True, kw_only=True)
class SlicedDifference:
    """A pair of systems on the answers with one value of a column.

    Attributes:
        column, value: which answers.
        pair: by the judge alone.
        people: what people would say; None where there are no labels.
    """

    column: str
    value: str
    pair: Comparison
    people: PeoplesDifference | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CompareResult(TableResult):
    """What `compare` gives: one row of the frame per pair, with the fields of `Comparison`.

    Attributes:
        pairs: the same as objects, with the reason where a figure is undefined.
        people: of systems, what people would say of each pair, where labels are known.
        rest: the pairs on the questions that trained none of the judges, where some did.
        slices: the pairs within each value of the columns in `CompareOptions.slices`; Holm's
            correction is over all that are here.
    """

    pairs: tuple[Comparison, ...]
    people: tuple[PeoplesDifference, ...] = ()
    rest: tuple[Comparison, ...] = ()
    slices: tuple[SlicedDifference, ...] = ()

    @property
    def by_people(self) -> bool:
        """Whether people's verdict on every pair is estimated, and not the judge's own alone."""
        return bool(self.people) and all(one.difference.value is not None for one in self.people)

    @property
    def order(self) -> tuple[str, ...]:
        """The names that are compared, from the best to the worst: by people where possible."""
        values: dict[str, list[float]] = {}
        for pair in self.people if self.by_people else self.pairs:
            for name, side in ((pair.first, pair.first_value), (pair.second, pair.second_value)):
                values.setdefault(name, []).append(side.value or 0.0)
        return tuple(sorted(values, key=lambda name: -sum(values[name]) / len(values[name])))


def compare(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: CompareOptions | None = None,
    *,
    other: JudgmentsSource | None = None,
    answers: TableSource | None = None,
    **keywords: Any,
) -> CompareResult:
    """Compare judges on the same labelled answers, or systems under one judge, pair by pair.

    Exact McNemar test, permutation test that exchanges whole questions, Holm's correction over all
    pairs, and the difference with an interval clustered on question. Shares and differences are 0
    to 1, in the tables in per cent.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        labels: people's labels, likewise; None for those that came with the judged answers. For
            systems they may be of a random part of the answers; the difference that people would
            find is then estimated from judgments and labels together.
        options: what is compared, by which statistic; the defaults if None.
        other: judgments of the same answers by other judges, or of another run; a judge that both
            have is called `NAME (other)` there.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `CompareOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: nothing matches, there is no pair, or a name is unknown.
    """
    wanted = with_keywords(CompareOptions, options, keywords)
    if wanted.resamples < LEAST_RESAMPLES:
        raise AgreementError(
            f"resamples is {wanted.resamples}, and must be {LEAST_RESAMPLES} or more: the tests "
            "rest on them"
        )
    run = open_run(judgments)
    reading: dict[str, Any] = {
        "judges": wanted.judges,
        "columns": wanted.columns,
        "answers": answers,
        "threshold": wanted.threshold,
    }
    if wanted.slices and not wanted.systems:
        raise AgreementError("--slices requires --systems (Python: systems=True)")
    people: list[PeoplesDifference] = []
    sliced: list[SlicedDifference] = []
    joined: Joined | None
    if wanted.systems:
        rows, joined = judged_table(run, **reading, slices=wanted.slices, labels=labels), None
        pairs = compare_systems(rows, systems=names_of(wanted.only) or None, options=wanted)
        said, what = [f"{rows.height:,} judgments by {rows['judge'][0]}"], "share accepted"
        known = _labels_of_systems(run, labels, answers, wanted)
        if known is None:
            said.append(
                "these differences are the judge's own, which may prefer one system's style; with "
                "--labels of a random part of the answers you learn what people would say"
            )
        else:
            people = peoples_differences(rows, known, pairs, wanted)
            said += tied_note(known)
        sliced = _sliced(rows, known, wanted)
    else:
        rows, known = judged_and_labelled(run, labels, label_column=wanted.label_column, **reading)
        if other is not None:
            rows = _with_other(rows, judged_table(other, **reading))
        joined = join_labels(rows, known)
        pairs = compare_judges(joined, options=wanted)
        said, what = joined.notes(), wanted.statistic
    tables = _tables(pairs, what, said, wanted)
    learned = _learned_questions(rows)
    rest: list[Comparison] = []
    if learned.len():
        rest, note = _on_the_rest(rows, joined, learned, wanted)
        tables[0] = replace(tables[0], notes=(*tables[0].notes, note))
        if rest:
            title = f"{tables[0].title}, on questions that trained no judge"
            tables.insert(1, replace(_tables(rest, what, (), wanted)[0], title=title))
    if people:
        tables.insert(0, _people_table(people, pairs, wanted))
    for column in wanted.slices:
        mine = [one for one in sliced if one.column == column]
        tables.append(_slices_table(column, mine, wanted))
    found = CompareResult(
        frame=flat_frame(pairs),
        tables=tuple(tables),
        data={
            "command": "compare", "statistic": what, "matched": said, "seed": wanted.seed,
            "resamples": wanted.resamples, "pairs": pairs,
            **({"people": people} if people else {}),
            **({"slices": sliced} if sliced else {}),
            **({"learned_questions": learned.len(), "rest": rest} if learned.len() else {}),
        },
        pairs=tuple(pairs),
        rest=tuple(rest),
        people=tuple(people),
        slices=tuple(sliced),
    )  # fmt: skip
    return replace(found, lead=_lead(found, wanted.confidence)) if wanted.systems else found


_FOLLOWING = 3
"""Systems behind the first of which the lead speaks."""


def _lead(result: CompareResult, confidence: float) -> tuple[str, ...]:
    """Which system is ahead, by how much, and what of it is shown: by people where possible."""
    found: Sequence[PeoplesDifference | Comparison]
    found, order = result.people if result.by_people else result.pairs, result.order
    beside = {(one.first if one.second == order[0] else one.second): one for one in found
              if order[0] in (one.first, one.second)}  # fmt: skip
    ahead = [
        _ahead(beside[name], name, alpha=1 - confidence) for name in order[1:] if name in beside
    ]
    if len(ahead) > _FOLLOWING:
        ahead[_FOLLOWING:] = [f"{len(ahead) - _FOLLOWING} more are in the table"]
    who = "People would accept" if result.by_people else "The judge alone accepts"
    return (f"{who} {order[0]} most often: {', '.join(ahead)}",)


def _ahead(one: PeoplesDifference | Comparison, other: str, *, alpha: float) -> str:
    """`12 points more than b (3 to 21)`, and whether that is shown, corrected for all pairs."""
    value, low, high = one.difference.value, one.difference.low, one.difference.high
    if other == one.first:
        value, low, high = _less(value), _less(high), _less(low)
    corrected = one.holm if isinstance(one, PeoplesDifference) else one.permutation_holm
    range_ = "" if low is None or high is None else f"{100 * low:z.0f} to {100 * high:z.0f}"
    shown = low is not None and low > 0 and (corrected is None or corrected <= alpha)
    about = "; ".join(part for part in (range_, "" if shown else "not shown") if part)
    points = f"{100 * (value or 0.0):z.0f} points more than {other}"
    return f"{points} ({about})" if about else points


def _less(value: float | None) -> float | None:
    return None if value is None else -value


def _sliced(
    rows: pl.DataFrame, labels: pl.DataFrame | None, options: CompareOptions
) -> list[SlicedDifference]:
    """Every pair within each value of each slice column, where both systems share a question."""
    found: list[SlicedDifference] = []
    only = names_of(options.only) or None
    for column in options.slices:
        for (value,), part in rows.group_by(column, maintain_order=True):
            try:
                pairs = compare_systems(part, systems=only, options=options)
            except AgreementError:
                continue  # one system only, or none that share a question
            people: Sequence[PeoplesDifference | None] = (
                [None] * len(pairs)
                if labels is None
                else peoples_differences(part, labels, pairs, options)
            )
            found += [
                SlicedDifference(column=column, value=str(value), pair=pair, people=one)
                for pair, one in zip(pairs, people, strict=True)
            ]
    known = [
        (place, one.people.p.value)
        for place, one in enumerate(found)
        if one.people is not None and one.people.p.value is not None
    ]
    corrected = holm([p for _, p in known])
    for (place, _), value in zip(known, corrected, strict=True):
        people_of = found[place].people
        assert people_of is not None
        found[place] = replace(found[place], people=replace(people_of, holm=value))
    return found


def _learned_questions(rows: pl.DataFrame) -> pl.Series:
    """The different questions that trained a judge of these judgments."""
    if not {"scope", "question"} <= set(rows.columns):
        return pl.Series("question", [], dtype=pl.String)
    return rows.filter(scope_kind() == LEARNED)["question"].drop_nulls().unique()


def _on_the_rest(
    rows: pl.DataFrame, joined: Joined | None, learned: pl.Series, options: CompareOptions
) -> tuple[list[Comparison], str]:
    """The pairs without the questions that trained a judge, and a line that says how many did."""
    new = ~pl.col("question").is_in(learned.implode())
    left = rows.filter(new)
    every, trained = rows["question"].n_unique(), learned.len()
    which = "this judge" if joined is None else "one of these judges"
    note = f"{trained:,} of {every:,} questions trained {which}, and flatter it"
    try:
        if joined is None:
            only = names_of(options.only) or None
            return compare_systems(
                left, systems=only, options=options
            ), f"{note}; the rest is below"
        kept = replace(joined, rows=joined.rows.filter(new))
        return compare_judges(kept, options=options), f"{note}; the rest is below"
    except AgreementError:
        return [], f"{note}; too few others are left to compare by"


def _labels_of_systems(
    run: Run,
    labels: JudgmentsSource | None,
    answers: TableSource | None,
    options: CompareOptions,
) -> pl.DataFrame | None:
    """The labels that were given, else those that lie beside the judgments, if any do."""
    reading: dict[str, Any] = {"column": options.label_column, "columns": options.columns}
    if labels is not None:
        return labelled_table(labels, **reading)
    stored = run.stored_answers if answers is None else answers
    if stored is None:
        return None
    try:
        known = labelled_table(stored, **reading)
    except DataError:
        return None  # answers without any column of labels
    return known if known["label"].count() else None


def _people_table(
    people: Sequence[PeoplesDifference], pairs: Sequence[Comparison], options: CompareOptions
) -> Table:
    rows = [
        (
            one.first,
            one.second,
            *(
                "-" if side.value is None else side.text(scale=100, digits=1)
                for side in (one.first_value, one.second_value)
            ),
            one.difference.text(scale=100, digits=1),
            share_text(pair.difference.value, signed=True),
            f"{one.labelled:,}",
            p_text(one.p.value),
            p_text(one.holm),
        )
        for one, pair in zip(people, pairs, strict=True)
    ]
    few = (
        (
            "where there is no difference yet, a system's share is what its own few labels say "
            "(clopper-pearson)",
        )
        if any(one.difference.value is None and one.first_value.value is not None for one in people)
        else ()
    )
    header = ("first", "second", "of first", "of second", "difference", "by the judge alone",
              "labels", "p", "Holm")  # fmt: skip
    return Table(
        title="What people would say, in per cent of answers accepted",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[2:]),
        notes=(
            f"{100 * options.confidence:g}% intervals and p: ppi-t (prediction-powered, paired by "
            "question, Student's t); the labels must be of all answers or of a random part",
            *few,
        ),
    )


def _slices_table(
    column: str, sliced: Sequence[SlicedDifference], options: CompareOptions
) -> Table:
    """The differences within each value of one column, as people would say where it is known."""
    by_people = any(one.people is not None for one in sliced)
    rows = []
    for one in sliced:
        own = one.pair.difference.text(scale=100, digits=1)
        cells = [one.value, one.pair.first, one.pair.second]
        if one.people is not None:
            difference = one.people.difference
            shown = difference.text(scale=100, digits=1) if difference.value is not None else "-"
            own = share_text(one.pair.difference.value, signed=True)
            cells += [shown, own, f"{one.people.labelled:,}", p_text(one.people.p.value),
                      p_text(one.people.holm)]  # fmt: skip
        else:
            cells += [own, f"{one.pair.questions:,}", p_text(one.pair.permutation.value)]
        rows.append(tuple(cells))
    what = (
        ("difference", "by the judge alone", "labels", "p", "Holm") if by_people
        else ("difference", "questions", "permutation p")
    )  # fmt: skip
    differences = [
        ("", one.pair.difference if one.people is None else one.people.difference) for one in sliced
    ]
    tests = [one.people.p if one.people is not None else one.pair.permutation for one in sliced]
    whose = "What people would say" if by_people else "Difference of share accepted"
    reasons = sorted(
        {
            one.people.difference.reason
            for one in sliced
            if one.people is not None and one.people.difference.reason
        }
    )
    return Table(
        title=f"{whose}, by {column}, in per cent",
        header=(column, "first", "second", *what),
        rows=tuple(rows),
        numeric=frozenset(what),
        notes=(
            *interval_note(differences, options.confidence),
            *((f"p: {methods_of(tests)}",) if any(one.method for one in tests) else ()),
            *(("Holm's correction is over all slices", *reasons) if by_people else ()),
        ),
    )


def _with_other(rows: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Judgments of two runs as one table, judges of the second renamed where both have them."""
    taken = rows["judge"].unique().implode()
    name = pl.col("judge")
    renamed = pl.when(name.is_in(taken)).then(name + " (other)").otherwise(name)
    return pl.concat([rows, other.with_columns(renamed.alias("judge"))], how="diagonal_relaxed")


def _tables(
    pairs: Sequence[Comparison], what: str, said: Sequence[str], options: CompareOptions
) -> list[Table]:
    by_points = what not in ("kappa", "mcc")
    scale, digits = (100, 1) if by_points else (1, 3)
    values = [
        (
            pair.first,
            pair.second,
            pair.first_value.text(scale=scale, digits=digits),
            pair.second_value.text(scale=scale, digits=digits),
            pair.difference.text(scale=scale, digits=digits),
            f"{pair.shared:,}",
            f"{pair.questions:,}",
            f"{pair.left_out:,}",
        )
        for pair in pairs
    ]
    tests = [
        (
            pair.first,
            pair.second,
            f"{pair.only_first:,}",
            f"{pair.only_second:,}",
            p_text(pair.mcnemar.value, pair.mcnemar.reason),
            p_text(pair.mcnemar_holm),
            p_text(pair.permutation.value, pair.permutation.reason),
            p_text(pair.permutation_holm),
        )
        for pair in pairs
    ]
    unit = " in per cent" if by_points else ""
    header = ("first", "second", "of first", "of second", "difference", "compared", "questions")
    made = (
        f"permutation p: exchange ({options.resamples:,} exchanges of whole questions, seed "
        f"{options.seed}); McNemar p: mcnemar (each answer taken as independent); Holm's "
        f"correction over {len(pairs)} pairs; not judged: {options.unjudged.replace('_', ' ')}"
    )
    how = interval_note((("", pair.difference) for pair in pairs), options.confidence)
    wins = ("only first right", "only second right")
    names = ("first", "second", *wins, "McNemar p", "Holm", "permutation p", "Holm, permutation")
    return [
        Table(
            title=f"Difference of {what}{unit}",
            header=(*header, "left out"),
            rows=tuple(values),
            numeric=frozenset((*header[2:], "left out")),
            notes=(*how, *said),
        ),
        Table(
            title="Is it more than chance?",
            header=names,
            rows=tuple(tests),
            numeric=frozenset(names[2:]),
            notes=(made,),
        ),
    ]
