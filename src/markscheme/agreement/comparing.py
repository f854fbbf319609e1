"""`compare`: judges on the same labelled answers, or systems under one judge, pair by pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import polars as pl

from markscheme.agreement.comparison_notes import (
    ON_QUESTIONS,
    apart_note,
    detectable_note,
    explained,
    not_compared,
    pairs_population,
    reversed_pairs,
    uneven_note,
    unpaired_note,
    without_difference,
)
from markscheme.agreement.options import CompareOptions
from markscheme.agreement.pairs import (
    DIFFERENT,
    WITHIN_CHANCE,
    Comparison,
    Pair,
    compare_judges,
    compare_systems,
    in_order,
    with_holm,
)
from markscheme.agreement.people_errors import (
    NOTHING_TWICE,
    label_noise,
    noise_sentence,
)
from markscheme.agreement.sources import (
    JudgmentsSource,
    Run,
    TableSource,
    judged_and_labelled,
    judged_and_labels_if_any,
    judged_table,
    names_of,
    open_run,
)
from markscheme.agreement.system_differences import (
    PeoplesDifference,
    SlicedDifference,
    peoples_differences,
)
from markscheme.agreement.verdicts import STATISTICS
from markscheme.errors import AgreementError
from markscheme.flags import with_keywords
from markscheme.results import (
    Column,
    Figure,
    Table,
    TableResult,
    by_judges,
    by_labels,
    columns,
    flat_frame,
    interval_note,
    methods_of,
    named_questions,
    out_of,
    share_text,
)
from markscheme.stats import LabelNoise
from markscheme.tables import (
    KEYS,
    LEARNED,
    Joined,
    join_labels,
    matched_on,
    renamed,
    scope_parts,
    with_answers,
)


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
        return in_order(self.people if self.by_people else self.pairs)


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

    The difference with its interval, and one test of it, both by question; Holm's correction over
    all pairs. Shares and differences are 0 to 1, in the tables in percent.

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
    _check(wanted, several=other is not None)
    run = open_run(judgments, answers=answers)
    people: list[PeoplesDifference] = []
    noise: LabelNoise | str = NOTHING_TWICE
    by_people = ""
    sliced: list[SlicedDifference] = []
    of: Callable[[pl.DataFrame], list[Comparison]]
    if wanted.systems:
        rows, known = judged_and_labels_if_any(
            run, labels, wanted, judges=wanted.judges, slices=wanted.slices
        )
        compared, pairs = rows, compare_systems(rows, wanted)
        of = partial(_of_systems, pairs, wanted)
        said, what = [f"{rows.height:,} judgments by {rows['judge'][0]}"], "share accepted"
        by, labelled = by_judges(rows["judge"]), None
        if known is None and wanted.label_errors is not None:
            raise AgreementError("--label-errors requires --labels: no answer here has a label")
        if known is None:
            said.append(
                "these differences are the judge's own, which may prefer one system's style; "
                "with --labels of a random sample of the answers, 'compare' estimates what people "
                "would say"
            )
        else:
            matched = join_labels(rows, known)
            labelled = matched.every()
            noise = label_noise(
                matched.labels,
                errors=wanted.label_errors,
                positive_from=wanted.positive_from,
                confidence=wanted.confidence,
            )
            people = peoples_differences(labelled, pairs, wanted, noise)
            by_people = by_labels(labelled["label"].count(), labelled.height)
            said += matched.notes(of_all=True)
        said += uneven_note(rows)
        sliced = _sliced(rows, of, labelled, wanted, noise)
    else:
        second = None if other is None else open_run(other, answers=answers)
        rows, known, notes = _judged_in_both(run, second, labels, wanted)
        joined = join_labels(rows, known)
        compared, by = joined.rows, by_labels(joined.labelled, joined.answers)
        pairs = compare_judges(joined, wanted)
        of = partial(_of_judges, pairs, joined, wanted)
        said, what = [*joined.notes(), *notes], wanted.statistic
    learned, rest, of_rest = _on_the_rest(rows, compared, of, pairs, wanted)
    tables = [_difference_table(pairs, what, (*said, *of_rest), wanted, by=by)]
    if rest and not _agree(pairs, rest, 1 - wanted.confidence):
        among = ", on questions that trained no judge"
        tables.append(_difference_table(rest, what, (), wanted, by=by, among=among))
    if people:
        tables.insert(0, _people_table(people, pairs, by_people, wanted, noise))
    for column in wanted.slices:
        mine = [one for one in sliced if one.column == column]
        tables.append(
            _slices_table(
                column,
                mine,
                by_people or by,
                wanted,
                [*reversed_pairs(mine, pairs, people), *not_compared(rows[column], mine)],
            )
        )
    found = CompareResult(
        frame=flat_frame(pairs),
        tables=tuple(tables),
        data={
            "command": "compare",
            "statistic": what,
            "matched": said,
            "pairs": pairs,
            **({"people": people} if people else {}),
            **({"label_noise": noise} if people and isinstance(noise, LabelNoise) else {}),
            **({"slices": sliced} if sliced else {}),
            **({"learned_questions": learned, "rest": rest} if learned else {}),
        },
        pairs=tuple(pairs),
        rest=tuple(rest),
        people=tuple(people),
        slices=tuple(sliced),
    )
    return replace(found, lead=_lead(found, wanted)) if wanted.systems else found


def _check(wanted: CompareOptions, *, several: bool) -> None:
    """Raises AgreementError where an option has no effect, or `several` tables are too many."""
    if wanted.systems and several:
        raise AgreementError("--systems compares the systems of one table of judgments, not of two")
    if wanted.systems and wanted.statistic != CompareOptions.statistic:
        raise AgreementError(
            "--statistic is of judges; systems are compared by the share of their answers that is "
            "accepted: leave out --statistic, or --systems"
        )
    of_systems = {
        "--slices": bool(wanted.slices),
        "--only": bool(wanted.only),
        "--about": wanted.about == "these",
        "--label-errors": wanted.label_errors is not None,
    }
    without = [name for name, given in of_systems.items() if given and not wanted.systems]
    if without:
        labels = "" if without[0] in ("--slices", "--only") else ", and labels"
        raise AgreementError(f"{without[0]} requires --systems{labels} (Python: systems=True)")


_FOLLOWING = 3
"""Systems behind the first of which the lead speaks."""


def _lead(result: CompareResult, options: CompareOptions) -> tuple[str, ...]:
    """Which system is ahead, by how much, and what of it is shown: by people where possible."""
    alpha, order = 1 - options.confidence, result.order
    found: Sequence[Pair] = result.people if result.by_people else result.pairs
    beside = {
        (own.first if own.second == order[0] else own.second): (shown, own)
        for shown, own in zip(found, result.pairs, strict=True)
        if order[0] in (own.first, own.second)
    }
    names = [name for name in order[1:] if name in beside]
    ahead = [_ahead(*beside[name], name, alpha=alpha) for name in names[:_FOLLOWING]]
    if len(names) > _FOLLOWING:
        ahead.append(f"the table has {len(names) - _FOLLOWING} more")
    who = _PEOPLE if result.by_people else _JUDGE
    if result.by_people and options.about == "these":
        who = f"Of these answers, {who}"
    leads = [_leads_by(shown, name) for name, (shown, _) in beside.items()]
    most = " most often:" if _leads_by(beside[names[0]][0], names[0]) and min(leads) >= 0 else ""
    people = {(one.first, one.second): one for one in result.people}
    owns = [beside[name][1] for name in names[:_FOLLOWING]]
    wholes = (_by_all_answers(people.get((own.first, own.second)), own) for own in owns)
    return (
        f"{who[0].upper()}{who[1:]} {order[0]}{most} {', '.join(ahead)}",
        *filter(None, wholes),
    )


_PEOPLE, _JUDGE = "people would accept", "the judge alone accepts"
_EQUAL = 0.0005
"""A difference that rounds to 0 in tables."""


def _leads_by(one: Pair, other: str) -> float:
    """How far a pair's other system is ahead of `other`, from -1 to 1; 0 where tables show 0."""
    value = one.difference.value or 0.0
    value = -value if other == one.first else value
    return value if abs(value) >= _EQUAL else 0.0


def _points_more(value: float, other: str) -> str:
    """`12 points more than b`, or `12 points fewer than b`."""
    points = share_text(abs(value), digits=0 if abs(value) >= _HALF_A_POINT else 1)
    more = "fewer" if value < 0 else "more"
    return f"{points} {'point' if points == '1' else 'points'} {more} than {other}"


_HALF_A_POINT = 0.005


def _ahead(one: Pair, own: Comparison, other: str, *, alpha: float) -> str:
    """`12 points more than b (3 to 21)`, or fewer, and whether chance explains that, over all
    pairs.

    Args:
        one: the pair, by people where they say which is ahead.
        own: the same by the judge alone.
        other: which of the two is not ahead.
        alpha: a p from which on chance explains a difference.
    """
    change, lead = one.difference, _leads_by(one, other)
    sign = -1 if (other == one.first) is (lead >= 0) else 1
    known = change.low == change.high is not None  # of these answers, all labelled
    ends = sorted(sign * end for end in (change.low, change.high) if end is not None and not known)
    alone = bool(ends) and ends[0] > 0
    shown = known or not lead or (alone and (one.p_holm is None or one.p_holm <= alpha))
    unshown = f"{WITHIN_CHANCE} after Holm's correction" if alone else WITHIN_CHANCE
    common = f"{own.questions:,} questions that both answered"
    parts = (
        " to ".join(share_text(end, digits=0) for end in ends),
        "" if own.whole is None else f"on the {common}, of {own.questions + own.left_out:,}",
        DIFFERENT if one.unpaired else "",
        "" if shown else unshown,
    )
    about = "; ".join(filter(None, parts))
    more = _points_more(lead, other) if lead else f"as often as {other}"
    return f"{more} ({about})" if about else more


def _by_all_answers(people: PeoplesDifference | None, own: Comparison) -> str:
    """Of systems that share few questions, the difference of all their answers; empty where that of
    the questions of both says the same, and more.
    """
    by_people = people is not None and people.whole is not None
    shown: Pair = people if people is not None and by_people else own
    if shown.whole is None:
        return ""
    paired, whole = shown.difference, shown.whole
    value, low, high = whole.value or 0.0, whole.low or 0.0, whole.high or 0.0
    same = paired.value is not None and (paired.value > 0) is (value > 0)
    if same and paired.low is not None and (paired.high or 0.0) - paired.low <= high - low:
        return ""
    names, sign = ((own.first, own.second), 1) if value >= 0 else ((own.second, own.first), -1)
    ends = " to ".join(share_text(end, digits=0) for end in sorted((sign * low, sign * high)))
    chance = f"; {WITHIN_CHANCE}" if low <= 0 <= high else ""
    who = _PEOPLE if by_people else _JUDGE
    return (
        f"By all answers of {own.first} and {own.second}, to whichever questions, {who} {names[0]} "
        f"{_points_more(abs(value), names[1])} ({ends}{chance})"
    )


def _of_judges(
    whole: Sequence[Comparison], joined: Joined, options: CompareOptions, part: pl.DataFrame
) -> list[Comparison]:
    """The pairs within a part of the rows, in the order of the whole; none of fewer than two."""
    there = _in_order_of(whole, part["judge"])
    part_only = replace(options, only=there)
    return compare_judges(replace(joined, rows=part), part_only) if len(there) > 1 else []


def _of_systems(
    whole: Sequence[Comparison], options: CompareOptions, part: pl.DataFrame
) -> list[Comparison]:
    """The pairs within a part of the rows, of the systems with a verdict there, in the order of the
    whole; none of fewer than two systems."""
    judged = part if options.unjudged == "errors" else part.drop_nulls("verdict")
    there = _in_order_of(whole, judged["system"])
    return compare_systems(part, replace(options, only=there)) if len(there) > 1 else []


def _in_order_of(whole: Sequence[Comparison], present: pl.Series) -> tuple[str, ...]:
    """The names in pairs that are present, in the order of the pairs."""
    names = dict.fromkeys(name for one in whole for name in (one.first, one.second))
    return tuple(name for name in names if name in present)


def _sliced(
    rows: pl.DataFrame,
    compare_rows: Callable[[pl.DataFrame], list[Comparison]],
    labelled: pl.DataFrame | None,
    options: CompareOptions,
    noise: LabelNoise | str,
) -> list[SlicedDifference]:
    """Every pair within each value of each slice column that holds answers of two systems."""
    found: list[SlicedDifference] = []
    for column in options.slices:
        for (value,), part in rows.group_by(column, maintain_order=True):
            pairs = compare_rows(part)
            people: Sequence[PeoplesDifference | None] = [None] * len(pairs)
            if labelled is not None:
                inside = labelled.filter(pl.col(column).eq_missing(pl.lit(value)))
                people = peoples_differences(inside, pairs, options, noise)
            found += [
                SlicedDifference(column=column, value=str(value), pair=pair, people=one)
                for pair, one in zip(pairs, people, strict=True)
            ]
    corrected: list[Any] = with_holm([one.people or one.pair for one in found])
    whose = "pair" if labelled is None else "people"
    return [replace(one, **{whose: p}) for one, p in zip(found, corrected, strict=True)]


def _on_the_rest(
    rows: pl.DataFrame,
    compared: pl.DataFrame,
    compare_rows: Callable[[pl.DataFrame], list[Comparison]],
    pairs: Sequence[Comparison],
    options: CompareOptions,
) -> tuple[int, list[Comparison], list[str]]:
    """How many questions compared trained a judge, the pairs without them, and a line on it."""
    if "question" not in rows.columns:
        return 0, [], []
    trained = scope_parts(rows).get(LEARNED, rows.clear())["question"].drop_nulls().unique()
    learned = trained.filter(trained.is_in(compared["question"].unique().implode()))
    if learned.is_empty():
        return 0, [], []
    which = "this judge" if compared is rows else "one of these judges"
    count = out_of(learned.len(), compared["question"].n_unique())
    named = named_questions(learned.sort(), learned.len())
    note = f"{count} questions trained {which}{named}, and may flatter it;"
    try:
        rest = compare_rows(compared.filter(~pl.col("question").is_in(learned.implode())))
    except AgreementError:  # two judges have none in common
        rest = []
    if not rest:
        return learned.len(), [], [f"{note} too few others are left to compare by"]
    if _agree(pairs, rest, 1 - options.confidence):
        note = f"{note} without them all conclusions are the same"
        return learned.len(), rest, [f"{note}, and no difference moves by more than a point"]
    return learned.len(), rest, [f"{note} the rest is below"]


_MOVED = 0.01
"""A difference that moves by no more does not need a table of its own."""


def _agree(pairs: Sequence[Comparison], rest: Sequence[Comparison], alpha: float) -> bool:
    """Whether the same pairs differ alike, and more than chance explains or not, on both."""

    def concluded(pair: Comparison) -> tuple[str, str, bool]:
        p = pair.p.value if pair.p_holm is None else pair.p_holm
        return pair.first, pair.second, p is not None and p <= alpha

    if list(map(concluded, pairs)) != list(map(concluded, rest)):
        return False
    moves = (
        (one.difference.value, other.difference.value)
        for one, other in zip(pairs, rest, strict=True)
    )
    return all(
        one == other or (one is not None and other is not None and abs(one - other) <= _MOVED)
        for one, other in moves
    )


def _known(name: str) -> Callable[[Mapping[str, Any]], Figure | None]:
    """A figure of a row, where it has a value."""
    return lambda row: row[name] if row[name].value is not None else None


_PAIR = ("first", "second", ON_QUESTIONS)

_BEST_DIFFERENCE = (
    Column("difference", _known("difference"), "share", missing="n/a", show=None),
    Column("by the judge alone", "alone", "change", show=None),
    Column("labels", "labelled", "count", show=None),
    Column("p", _known("p"), "p", show=None),
    Column("Holm", "p_holm", "p", show=None),
)
"""The difference of a `_row`: people's where it is known, else the judge's own."""


def _row(pair: Comparison, people: PeoplesDifference | None) -> dict[str, Any]:
    """A pair by the judge; where it is known, by people, with the judge's difference as `alone`."""
    own = {**vars(pair), "alone": None, "labelled": None}
    return own if people is None else {**own, **vars(people), "alone": pair.difference.value}


def _pair_notes(
    pairs: Sequence[Pair],
    by: str,
    options: CompareOptions,
    *made: str,
    values: Sequence[str] = (),
    by_points: bool = True,
) -> tuple[str, ...]:
    """What is printed below every table of pairs; `values` are those of a column, in a table that
    has no shares, and `made` says more of p than its tests."""
    people = any(isinstance(one, PeoplesDifference) for one in pairs)
    further = options.about == "future" or not people
    where = "within" if values else "of"
    names = values or [f"{one.first} and {one.second}" for one in pairs]
    shares = () if values else ("first_value", "second_value")
    figures = (("", getattr(pair, name)) for pair in pairs for name in ("difference", *shares))
    tests = methods_of(one.p for one in pairs)
    alpha, few = 1 - options.confidence, "labels" if people else "questions"
    return (
        *interval_note(
            figures,
            pairs_population(pairs, by, systems=options.systems, further=further),
            options.confidence,
        ),
        *(apart_note(pairs, by_points=by_points) if shares else ()),
        "; ".join([f"p: {explained(tests)}", *made] if tests else made),
        *unpaired_note(pairs),
        *detectable_note(pairs, names, alpha, where=where, by_points=by_points, by=few),
        *(without_difference(pairs, names, where=where) if people else ()),
    )


def _people_table(
    people: Sequence[PeoplesDifference],
    pairs: Sequence[Comparison],
    by: str,
    options: CompareOptions,
    noise: LabelNoise | str,
) -> Table:
    lacking = any(one.difference.value is None is not one.first_value.value for one in people)
    few = "where there is no difference yet, a system's share is what its own few labels say"
    random = "the labels must be of all answers or of a random sample"
    return Table.of(
        "What people would say, in percent of answers accepted",
        (
            *_PAIR,
            Column("of first", _known("first_value"), "share"),
            Column("of second", _known("second_value"), "share"),
            *_BEST_DIFFERENCE,
        ),
        map(_row, pairs, people),
        (
            *_pair_notes(people, by, options, random),
            *([few] if lacking else []),
            *_of_noise(people, noise),
        ),
    )


def _of_noise(people: Sequence[PeoplesDifference], noise: LabelNoise | str) -> list[str]:
    """How many labels are wrong, and the differences without their errors."""
    if isinstance(noise, str):
        return [] if noise == NOTHING_TWICE else [noise]
    without = {
        f"{one.first} - {one.second}": one.without_noise
        for one in people
        if one.without_noise is not None
    }
    return [noise_sentence(noise, without, unit=" points")] if without else []


def _slices_table(
    column: str,
    sliced: Sequence[SlicedDifference],
    by: str,
    options: CompareOptions,
    warnings: Sequence[str],
) -> Table:
    """The differences within each value of one column, as people would say where it is known."""
    by_people = any(one.people is not None for one in sliced)
    whose = "What people would say" if by_people else "Difference of share accepted"
    return Table.of(
        f"{whose}, by {column}, in percent",
        (
            Column(column, "value"),
            *_PAIR,
            *_BEST_DIFFERENCE,
            Column("questions", format="count", show=not by_people),
        ),
        [{"value": one.value, **_row(one.pair, one.people)} for one in sliced],
        (
            *_pair_notes(
                [one.people or one.pair for one in sliced],
                by,
                options,
                "Holm's correction is over all slices",
                values=[one.value for one in sliced],
            ),
            *warnings,
        ),
    )


def _judged_in_both(
    run: Run, other: Run | None, labels: JudgmentsSource | None, options: CompareOptions
) -> tuple[pl.DataFrame, pl.DataFrame, Sequence[str]]:
    """The judgments of one table or of two as one, their labels, and what there is to say."""
    here, there = _judges_of_each(names_of(options.judges), run, other)
    rows, known = judged_and_labelled(run, labels, options, judges=here)
    if other is None:
        return rows, known, ()
    added = judged_table(
        other,
        judges=there,
        columns=options.columns,
        threshold=options.threshold,
        labels=labels,
    )
    rows, notes = _with_other(rows, added)
    return rows, known, notes


def _judges_of_each(
    names: Sequence[str], run: Run, other: Run | None
) -> tuple[Sequence[str], Sequence[str]]:
    """The judges named that are taken of each of two tables, which need not both have all.

    Each is named in one at least, or reading the first says that it has no such judge.
    """
    if other is None or not names:
        return names, names
    known = [_may_be_judges(run), _may_be_judges(other)]
    there = [name for name in names if name in known[1]]
    here = [name for name in names if name in known[0] or name not in known[1]]
    return here or names, there or names


def _may_be_judges(run: Run) -> set[str]:
    """The judges of a long table, or the columns of a wide one."""
    table = renamed(run.table, {}, ("judge",))
    return {*table.columns, *(table["judge"].cast(pl.String) if "judge" in table.columns else ())}


def _with_other(rows: pl.DataFrame, other: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Judgments of two runs as one table, judges of the second renamed where both have them.

    Of the other, those of answers that the first has too, with its ids; and notes on that.

    Raises:
        AgreementError: they share no answer, or their ids contradict their texts.
    """
    base, key, notes = matched_on(other, rows)
    common = other.join(base, on=key, how="semi", nulls_equal=True)
    if common.is_empty():
        raise AgreementError(
            f"the other judgments are of none of these answers, by {' and '.join(key)}: the first "
            f"are {base.select(key).row(0)} here and {other.select(key).row(0)} there"
        )
    if left := other.height - common.height:
        notes = (*notes, f"{left:,} of the other judgments are of other answers and are left out")
    # Questions and systems are the first's: answers to one question may depend on each other.
    ours = rows.select(n for n in KEYS if n in rows.columns).unique(maintain_order=True)
    common = common.drop([n for n in ours.columns if n not in key], strict=False)
    common = with_answers(common, ours)
    name = pl.col("judge")
    taken = name.is_in(rows["judge"].unique().implode())
    named = pl.when(taken).then(name + " (other)").otherwise(name)
    return pl.concat([rows, common.with_columns(judge=named)], how="diagonal_relaxed"), notes


def _difference_table(
    pairs: Sequence[Comparison],
    what: str,
    notes: Sequence[str],
    options: CompareOptions,
    *,
    by: str,
    among: str = "",
) -> Table:
    by_points = what not in STATISTICS or not STATISTICS[what].lowest
    values = (("of first", "first_value"), ("of second", "second_value"), "difference")
    wins = ("only first", "only second")
    made = [f"Holm's correction over {len(pairs)} pairs"] if len(pairs) > 1 else []
    made.append(f"not judged: {options.unjudged.replace('_', ' ')}")
    return Table.of(
        f"Difference of {what}{' in percent' if by_points else ''}{among}",
        (
            *_PAIR,
            *columns("share" if by_points else 3, *values),
            Column("p", format="p"),
            Column("Holm", "p_holm", "p", show=None if len(pairs) > 1 else False),
            *columns("count", *wins, ("compared", "shared"), "questions", "left out"),
        ),
        map(vars, pairs),
        (*_pair_notes(pairs, by, options, *made, by_points=by_points), *notes),
    )
