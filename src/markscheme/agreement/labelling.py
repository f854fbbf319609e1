"""`plan_labels`: how many answers to label, and which: the estimate that they serve, simulated."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from markscheme.agreement.accuracy_estimates import (
    labels_check,
    sample_of,
)
from markscheme.agreement.options import EstimateOptions, PlanOptions
from markscheme.agreement.sources import (
    JudgmentsSource,
    Run,
    TableSource,
    by_system,
    check_systems,
    judged_and_labels_if_any,
    names_of,
    open_run,
    with_texts,
)
from markscheme.agreement.verdicts import numbers_of
from markscheme.errors import AgreementError, MarkschemeError, no_such_name
from markscheme.flags import with_keywords
from markscheme.results import Table, TableResult, columns, plain, share_text
from markscheme.stats import (
    ASSURANCE,
    LEAST_FOR_JUDGES,
    LEAST_QUESTIONS,
    MOST_ANSWERS,
    Powered,
    Sample,
    Supposed,
    correlation_within,
    labels_needed,
)
from markscheme.tables import (
    KEYS,
    join_labels,
    known_by,
    load_labels,
    matched_on,
    one_judge,
    one_row_each,
    opaque_ids,
    question_numbers,
    read_table,
    renamed,
    unequal_chances,
    write_table,
)
from markscheme.text import counted


@dataclass(frozen=True, kw_only=True)
class LabelNeed:
    """How many labels a question takes.

    Attributes:
        labels: how many, with known ones unless the draw begins without them, never fewer than
            `estimate` takes and never more than without the judge; None where not even labels of
            all answers do.
        labels_alone: how many without the judge's help, or None likewise.
        reach: the half-width that four in five samples of so many labels (or of all) stay within.
        share: of samples of so many labels (or of all) that answer the question.
        value: what is supposed of the share that people accept, or of the difference.
        source: what that rests on.
        known: labels that are there already.
        more: how many more than these.
        questions: about how many questions like these would give the half-width with a label of
            every answer, where even all labels of these give less; None elsewhere.
    """

    labels: int | None
    labels_alone: int | None
    reach: float
    share: float
    value: float
    source: str
    known: int = 0
    more: int | None = None
    questions: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PlanResult(TableResult):
    """What `plan_labels` gives: the frame is the labelling file.

    Columns: what is known of `question`, `context`, `references`, `answer`; a `label` to fill in,
    empty but for known ones; `answer_id`, by which the labels are joined again, and
    `inclusion_probability`.
    The judge's verdict and the system are not in it, since they could sway the labeller; nor are
    the ids of several systems' answers, of which many name the system: an opaque id is there for
    each. `with_system` adds the system and leaves ids as they are.

    Attributes:
        needs: by system (None: all answers), how many labels the question takes; empty where only
            a number of labels is fixed.
        notes: the same in sentences.
    """

    needs: Mapping[str | None, LabelNeed]
    notes: tuple[str, ...]

    def write(self, path: str | Path) -> Path:
        """Write the labelling file: .csv, .tsv, .jsonl or .parquet.

        Raises:
            AgreementError: the file is there with labels that this plan does not have, or that
                cannot be read.
            DataError: another ending, or it cannot be written.
        """
        target = Path(path)
        if lost := _labels_lost(target, self.frame):
            raise AgreementError(
                f"{target} holds {counted(lost, 'label')}, which would be lost, as this plan does "
                f"not have them; choose another --out, or continue from them with --pilot {target}"
            )
        write_table(self.frame, target)
        return target


def _labels_lost(file: Path, plan: pl.DataFrame) -> int:
    """How many of the labels in a file the plan lacks; none of no file, or of what is no table."""
    try:
        table = read_table(file) if file.is_file() else pl.DataFrame()
    except MarkschemeError:
        return 0
    try:
        there, key, _ = matched_on(plan, load_labels(table))
    except MarkschemeError:  # There are none, or they cannot be read: what is filled in counts.
        filled = table.get_column("label", default=pl.Series([None])).cast(pl.String)
        return int((filled.str.strip_chars() != "").sum())
    kept = plan.with_columns(pl.col("label").cast(pl.Float64))
    there = there.drop_nulls("label")
    return there.join(kept, on=[*key, "label"], how="anti", nulls_equal=True).height


def plan_labels(
    judgments: JudgmentsSource,
    options: PlanOptions | None = None,
    *,
    pilot: JudgmentsSource | None = None,
    answers: TableSource | None = None,
    **keywords: Any,
) -> PlanResult:
    """Plan how many labels a wanted precision takes, and draw the answers to label.

    Args:
        judgments: a file, the folder of a run, a frame, rows, or what `markscheme.judge` returned.
        options: half-width, limit, two systems or a number of labels; one of them is needed.
        pilot: labels that are there already; None for those that a part of the judged answers came
            with. The plan rests on them, and if they were drawn with equal probabilities, like
            the plan, they come first in the labelling file and count.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `PlanOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: nothing to plan for, several judges and none named, or more labels than
            answers.
    """
    wanted = with_keywords(PlanOptions, options, keywords)
    pair = wanted.for_difference
    if all(one is None for one in (wanted.half_width, wanted.above, wanted.count)) and not pair:
        raise AgreementError(
            "a plan requires --half-width, such as 0.03, --above LIMIT, --for-difference A,B or "
            "--count (Python: half_width=0.03, above=..., for_difference=(A, B), count=...)"
        )
    if wanted.above is not None and (pair or wanted.half_width is not None):
        raise AgreementError("--above is of one share; leave out --half-width and --for-difference")
    if len(names_of(wanted.judge or "")) > 1:
        raise AgreementError(
            "a plan is by one judge: what others add to it, labels must show first. Plan by the "
            "best of them; 'estimate' takes several"
        )
    run = open_run(judgments, answers=answers)
    rows, known = judged_and_labels_if_any(run, pilot, wanted, judges=wanted.judge or "", own=False)
    rows = one_judge(rows)
    check_systems(rows, by=wanted.by)
    complete = pilot is None and known is not None and known["label"].count() == known.height
    table, said = _with_known(rows, None if complete else known)
    if pilot is None and known is None:
        said += _unused_labels(run, wanted)
    if complete:  # There are none left to draw.
        said.append("every answer has a label already; the plan draws as if there were no labels")
    if pair:
        table = _both_answered(table, pair, by=wanted.by)
    parts = by_system(table) if wanted.by else [(None, table)]
    said += _left_out(table, parts)
    table = pl.concat(part for _, part in parts)
    drawn: list[pl.DataFrame] = []
    needs: dict[str | None, LabelNeed] = {}
    for place, (name, part) in enumerate(parts):
        chosen, need, notes = _drawn(part, name, wanted, seed=wanted.seed + place)
        drawn.append(chosen)
        said += notes
        if need is not None:
            needs[name] = need
    if wanted.above is not None:
        said.append(_one_sided(wanted.confidence))
    plan = pl.concat(drawn)
    if len(drawn) > 1:  # In blocks by system a labeller sees whose answers they are.
        known, new = plan.drop_nulls("label").sort("place"), plan.filter(pl.col("label").is_null())
        order = np.random.default_rng([wanted.seed, 2]).permutation(new.height)
        plan = pl.concat([known, new[order]])
    said += _of_the_draw(plan, table, wanted)
    known_systems = "system" in rows.columns
    blind = not wanted.with_system and not (known_systems and rows["system"].n_unique() == 1)
    if blind and known_systems and KEYS[0] not in rows.columns:
        said.append("the file says whose answers these are, as the judgments have no ids")
    return PlanResult(
        frame=_labelling_file(
            with_texts(plan, run, wanted, ("references", "context")), wanted, blind=blind
        ),
        tables=(
            Table.of(
                "Answers to label",
                columns("count", "answers", "drawn", "labelled"),
                [(table.height, plan.height, plan["label"].count())],
                said,
            ),
        ),
        data={
            "command": "plan-labels",
            "answers": table.height,
            "drawn": plan.height,
            "labelled": plan["label"].count(),
            "seed": wanted.seed,
            "half_width": wanted.half_width,
            "above": wanted.above,
            "for_difference": list(pair),
            "about": wanted.about,
            "confidence": wanted.confidence,
            "needs": [{"system": name, **plain(need)} for name, need in needs.items()],
        },
        needs=needs,
        notes=tuple(said),
    )


def _unused_labels(run: Run, options: PlanOptions) -> list[str]:
    """What to say of labels of a part of the answers in the table of judgments itself.

    They are no pilot unless they are named, since a column of verdicts may be called like labels.
    """
    there = run.table.columns
    names = {ours: theirs for ours, theirs in options.named.items() if theirs in there}
    wanted = ("question", "answer", "verdict", "score", "label")
    table = renamed(run.table, names, wanted, keep=names_of(options.judge or ""))
    labels = table.get_column("label", default=pl.Series([None]))
    if labels.dtype == pl.String:
        labels = labels.filter(labels.str.strip_chars() != "")
    if not 0 < (filled := labels.count()) < table.height:
        return []
    return [
        f"labels in the table of judgments itself ({filled:,}) are not used, and their answers may "
        "be drawn: --pilot FILE (Python: pilot=...) uses them, also where FILE is that table"
    ]


def _left_out(table: pl.DataFrame, parts: Sequence[tuple[str | None, pl.DataFrame]]) -> list[str]:
    """What to say of answers that are in no part, as their system is not known."""
    without = table.height - sum(part.height for _, part in parts)
    return [f"{counted(without, 'answer')} of no system left out"] if without else []


def _with_known(rows: pl.DataFrame, labels: pl.DataFrame | None) -> tuple[pl.DataFrame, list[str]]:
    """All answers of the judge with their `cluster` and, where it is known, `label`; and notes."""
    if labels is not None:
        joined = join_labels(rows, labels)
        return joined.every(), joined.notes(of_all=True)
    none = {"label": pl.lit(None, pl.Float64), "place": pl.lit(None, pl.Int64)}
    rows, _ = one_row_each(rows, known_by(rows), "verdict", "judgments")
    return rows.with_columns(cluster=question_numbers(rows), **none), []


def _drawn(
    answers: pl.DataFrame, system: str | None, options: PlanOptions, *, seed: int
) -> tuple[pl.DataFrame, LabelNeed | None, list[str]]:
    """The answers drawn of all, or of a system's; how many labels it takes, if planned; notes."""
    pair, need, said = options.for_difference, None, list[str]()
    begun, why = _begun(answers, questions=bool(pair))
    if why:
        said.append(f"{system}: {why}" if system else why)
    known = begun["label"].count()
    number = None if options.count is None else known + options.count
    if number is None or options.half_width is not None or options.above is not None:
        # Labels that begin no draw still say what the judge is worth.
        need = label_need(answers, options, count_known=bool(known))
        said.append(_sentence(need, system, answers.height, options))
        number = number or need.labels or answers.height
    questions = answers["cluster"].n_unique()
    if pair and round(number * questions / answers.height) < LEAST_QUESTIONS <= questions:
        least = math.ceil(LEAST_QUESTIONS * answers.height / questions)
        said.append(
            f"not {number:,} but {least:,} answers are drawn: 'compare --systems' takes labels of "
            f"{LEAST_QUESTIONS} questions of each system"
        )
        number = least
    return choose_labels(begun, number, questions=bool(pair), seed=seed), need, said


def _begun(answers: pl.DataFrame, *, questions: bool) -> tuple[pl.DataFrame, str]:
    """The answers with the labels that a draw with equal chances goes on from, and why with none.

    A few labels that were chosen would make the whole no random sample, for ever.

    Args:
        answers: as for `choose_labels`.
        questions: whether questions are drawn, of which both systems' answers are then labelled.
    """
    why, known = "", answers["label"].count()
    if unequal_chances(answers):
        why = "were drawn with unequal chances"
    elif not questions:
        sample, _ = sample_of(answers, EstimateOptions(positive_from=0.0))  # whatever they say
        # Where chances were equal, every system was drawn as often as others.
        found = labels_check(sample, answers.drop("inclusion_probability", strict=False))
        why = f"are evidently not a random sample: {found.chosen}" if found.chosen else ""
    if not why:
        return answers, ""
    blank = answers.with_columns(label=pl.lit(None, dtype=pl.Float64))
    return blank, f"the {counted(known, 'existing label')} {why}, so the draw begins without them"


def _both_answered(table: pl.DataFrame, pair: tuple[str, ...], *, by: str | None) -> pl.DataFrame:
    """The answers of two systems to the questions that both answered.

    Raises:
        AgreementError: other than two systems, or one that is not there, or no such question.
    """
    if len(set(pair)) != 2 or len(pair) != 2 or by:
        raise AgreementError(
            "a plan for a difference is of two systems, and not the same twice, without --by: "
            f"--for-difference A,B, not {','.join(pair)!r}; a name with a comma cannot be given "
            "there (Python: for_difference=(A, B))"
        )
    lacking = [name for name in ("question", "answer", "system") if name not in table.columns]
    if lacking:
        raise AgreementError(
            f"the judgments lack {', '.join(lacking)}; give --answers (Python: answers=...)"
        )
    known = table["system"].unique(maintain_order=True).to_list()
    for name in pair:
        if name not in known:
            raise AgreementError(no_such_name("system", name, known))
    both = table.filter(pl.col("system").is_in(pair))
    both = both.filter(pl.col("system").n_unique().over("cluster") == 2)
    if both.is_empty():
        raise AgreementError(
            f"{pair[0]!r} and {pair[1]!r} have no question in common: draw answers of each with "
            "--by system"
        )
    return both


def _one_sided(confidence: float) -> str:
    """What a plan for a limit rests on, which is not the interval that `estimate` prints."""
    sure, both = f"{100 * confidence:g}%", f"{100 * (2 * confidence - 1):g}%"
    return (
        f"above a limit is a one-sided test, {sure} sure: the limit lies below the {both} interval "
        f"('estimate --confidence {2 * confidence - 1:g}'); the {sure} interval that 'estimate' "
        "prints by default is two-sided, wider, and may reach below it"
    )


def _of_the_draw(plan: pl.DataFrame, table: pl.DataFrame, options: PlanOptions) -> list[str]:
    """What was drawn, and where it is too little for the command that will read it."""
    if options.for_difference:
        pair = shlex.quote(",".join(options.for_difference))
        questions, there = plan["cluster"].n_unique(), plan["label"].count()
        known = f", of which {there:,} have a label already," if there else ""
        return [
            f"{plan.height:,} answers of {' and '.join(options.for_difference)}{known} to "
            f"{questions:,} of {table['cluster'].n_unique():,} questions drawn at random, seed "
            f"{options.seed}. "
            f"Label them all, then: markscheme compare RUN --systems --only {pair} --labels FILE"
        ]
    each = f" ({options.count:,} of each system)" if options.by and options.count else ""
    there = plan["label"].count()
    new = f"{plan.height - there:,} new" if there else f"{plan.height:,}"
    drawn = f"{new} of {table.height:,} answers drawn{each} at random, seed {options.seed}"
    if there:
        drawn += f"; with {there:,} that have a label already, {plan.height:,} are in the plan"
    said = [drawn]
    parts = table["system"].n_unique() if options.by else 1
    if plan.height < LEAST_FOR_JUDGES * parts:
        each = " of each system" if options.by else ""
        said.append(
            f"from fewer than {LEAST_FOR_JUDGES} labels{each} 'markscheme estimate' gives their "
            f"own wide interval alone: draw {LEAST_FOR_JUDGES} or more{each}, or label all"
        )
    systems = 0 if options.by or "system" not in table else table["system"].n_unique()
    if systems > 1 and plan.height < LEAST_FOR_JUDGES * systems:
        said.append(
            f"these are of {systems} systems together: with the judge an estimate of each takes "
            f"{LEAST_FOR_JUDGES} of its labels (--by system --count {LEAST_FOR_JUDGES}), a "
            f"difference labels of {LEAST_QUESTIONS} questions of each"
        )
    return said


def _sentence(need: LabelNeed, system: str | None, answers: int, options: PlanOptions) -> str:
    if options.for_difference:
        value = f"a difference of {share_text(need.value, signed=True)} points"
    else:
        value = f"{share_text(need.value, digits=0)}% accepted by people"
    text = f"{_asked(need, answers, options)}; assuming {value}, from {need.source}"
    if need.more and need.labels is not None:
        text += f". {need.more:,} of them are still to be labelled"
    return f"{system}: {text}" if system else text


def _asked(need: LabelNeed, answers: int, options: PlanOptions) -> str:
    """How many labels show what is wanted, or why none do."""
    half, limit, most = options.half_width, options.above, min(answers, MOST_ANSWERS)
    if half is not None:
        what = f"give an interval of +-{100 * half:g} points or narrower"
    elif limit is not None:
        what = f"show that people accept more than {100 * limit:g}%"
    else:
        what = f"show which of {' and '.join(options.for_difference)} is better"
    if need.labels is not None and need.more == 0:
        if half is not None:
            what = f"give +-{_points(need.reach)} points"
        return f"the {need.known:,} existing labels {what}"
    if need.labels is not None:
        alone = f"more than {most:,}" if need.labels_alone is None else f"{need.labels_alone:,}"
        some = (f"about {need.labels:,}", ASSURANCE)
        labels, share = some if need.labels < answers else (f"all {answers:,}", need.share)
        samples = f"in {share_text(share, digits=0)}% of samples"
        return f"{labels} labels {what} {samples} ({alone} without the judge)"
    if half is not None:
        reach = _points(need.reach, above=half)
        text = f"even all {most:,} labels give no less than +-{reach} points"
        if need.questions is not None:
            text += (
                f" about further questions like these: about {need.questions:,} questions would be "
                "needed; of these answers alone a plan is narrower (--about these)"
            )
        return text
    if limit is not None and need.value <= limit:
        return f"no labels {what}, which is assumed to be false"
    return f"even all {most:,} labels {what} in only {share_text(need.share, digits=0)}% of samples"


def _points(share: float, *, above: float = 0.0) -> str:
    """A half-width in points, with so many digits that it is above what is wanted."""
    shown = (f"{100 * share:.{digits}f}" for digits in range(1, 9))
    return next(text for text in shown if float(text) > 100 * above)


def _labelling_file(plan: pl.DataFrame, options: PlanOptions, *, blind: bool) -> pl.DataFrame:
    """What the labeller sees first, then the empty label, then what the estimate needs.

    Whose answer it is could sway the labeller. It stays out where an id finds it again, and where
    answers are of several systems (`blind`) the id does not name it either.
    """
    order = ["question", "context", "references", "answer"]
    if options.with_system or "answer_id" not in plan.columns:
        order.append("system")
    if blind and "answer_id" in plan.columns:
        plan = plan.with_columns(opaque_ids(plan["answer_id"]))
    shown = [name for name in order if name in plan.columns]
    design = [name for name in ("answer_id", "inclusion_probability") if name in plan.columns]
    whole = (plan["label"] % 1 == 0).all()
    label = pl.col("label").cast(pl.Int64 if whole else pl.Float64)
    return plan.select(*shown, label, *design)


def label_need(
    answers: pl.DataFrame, options: PlanOptions, *, count_known: bool = True
) -> LabelNeed:
    """How many labels the wanted half-width, the winner or the limit takes.

    Args:
        answers: of one judge, as `Joined.every` gives them: `score`, `verdict`,
            `cluster`, and `label` where one is known; of two systems also `system`.
        options: what is wanted.
        count_known: whether known labels are among those that it takes; else they only show what
            the judge is worth.

    Raises:
        AgreementError: a judge accuracy of chance or less, or a half-width or limit that cannot be.
    """
    wanted, confidence = _wanted(options)
    sample, _ = sample_of(answers, EstimateOptions(positive_from=options.positive_from))
    supposed = replace(_supposed(answers, sample, options), counted=count_known)
    how = {"about": options.about, "confidence": confidence, "seed": options.seed}
    found = labels_needed(supposed, wanted, **how)  # type: ignore[arg-type]
    alone = labels_needed(supposed, wanted, judges=False, **how)  # type: ignore[arg-type]
    if alone.share >= ASSURANCE and (found.share < ASSURANCE or alone.labels < found.labels):
        found = alone  # What the judge may cost is left to chance, and to the labels.
    labels, labels_alone = (
        each.labels if each.share >= ASSURANCE else None for each in (found, alone)
    )
    known, there = (int(which.sum()) for which in (sample.labelled, supposed.there))
    assumed = f"an assumed judge accuracy of {supposed.right:g}"
    source = counted(known, "label") if known else assumed
    if known and "system" in answers.columns and answers["system"].n_unique() > 1:
        labelled = answers.drop_nulls("label")["system"].unique()
        source += f", all of {labelled[0]}'s answers" if len(labelled) == 1 else ""
    return LabelNeed(
        labels=labels,
        labels_alone=labels_alone,
        reach=found.half_width,
        share=found.share,
        value=found.value,
        source=source,
        known=known,
        more=None if labels is None or not there else max(0, labels - there),
        questions=_questions_needed(answers, found.half_width, options) if not labels else None,
    )


def _questions_needed(answers: pl.DataFrame, reach: float, options: PlanOptions) -> int | None:
    """Questions, labelled whole, that the wanted half-width takes, if further ones are like these.

    Half-widths shrink with the root of the number of questions.
    """
    half = options.half_width
    if half is None or options.about == "these" or options.for_difference:
        return None
    simulated = answers["cluster"].n_unique() * min(1.0, MOST_ANSWERS / answers.height)
    return math.ceil(simulated * (reach / half) ** 2)


def _wanted(options: PlanOptions) -> tuple[Callable[[Powered], bool], float]:
    """Whether an estimate shows what is wanted, and the confidence that its interval needs."""
    half, limit = options.half_width, options.above
    if half is not None and not 0 < half < 1:
        raise AgreementError(f"a half-width of {half:g} is out of range; give one between 0 and 1")
    if limit is not None and not 0 < limit < 1:
        raise AgreementError(f"a limit of {limit:g} is out of range; give one between 0 and 1")

    def shown(found: Powered) -> bool:
        if half is not None:
            return found.high - found.low <= 2 * half
        if limit is not None:
            return found.low >= limit
        return found.low > 0 or found.high < 0

    one_sided = limit is not None and half is None  # as a gate is
    return shown, 2 * options.confidence - 1 if one_sided else options.confidence


def _supposed(answers: pl.DataFrame, sample: Sample, options: PlanOptions) -> Supposed:
    right = options.judge_accuracy
    if not 0.5 < right <= 1.0:
        raise AgreementError(
            f"a judge accuracy of {right:g} is no better than chance; give one above 0.5, at most 1"
        )
    if not sample.labelled.any() and answers["verdict"].null_count() == answers.height:
        raise AgreementError(
            f"{answers['judge'][0]} judged none of the {answers.height:,} answers, so that nothing "
            "is known of them: judge them first, give a --pilot, or only a --count"
        )
    # What was not judged is like the answers whose scores are as the average.
    accepted = answers["verdict"].fill_null(bool(sample.predictions.mean() >= 0.5)).to_numpy()
    pair = options.for_difference
    return Supposed(
        predictions=sample.predictions,
        accepted=accepted,
        labels=sample.labels,
        clusters=sample.clusters,
        units=units(answers, questions=bool(pair)),
        second=(answers["system"] == pair[1]).to_numpy() if pair else None,
        right=right,
        alike=correlation_within(
            np.bincount(sample.clusters, accepted), np.bincount(sample.clusters)
        ),
    )


def units(answers: pl.DataFrame, *, questions: bool) -> np.ndarray:
    """(answers,) numbers from 0 of what is drawn: answers, or whole questions (`cluster`)."""
    if questions:
        return numbers_of(answers["cluster"])
    return np.arange(answers.height)


def choose_labels(
    answers: pl.DataFrame, labels: int, *, questions: bool = False, seed: int = 0
) -> pl.DataFrame:
    """Draw answers to label, each with equal probability: answers, or all those to a question.

    Args:
        answers: as for `label_need`. Those that have a `label`, which must have been drawn at
            random as well, come first and are among the `labels`: in their own order where a plan
            drew them (`inclusion_probability`), else in one drawn here, as the order of a file of
            labels is commonly that of the answers.
        labels: how many to draw.
        questions: whether questions are drawn, as many as have about so many answers.
        seed: of the draw.

    Returns:
        The drawn rows, those drawn last at the end, with `inclusion_probability`.

    Raises:
        AgreementError: more labels than answers.
    """
    if not 0 < labels <= answers.height:
        systems = set(answers["system"]) if "system" in answers.columns else set[str]()
        whose = f" of {systems.pop()!r} (--count is of each)" if len(systems) == 1 else ""
        there = answers["label"].count()
        new = " without a label" if there else ""
        raise AgreementError(
            f"cannot draw {labels - there} of {answers.height - there} answers{new}{whose}"
        )
    unit = units(answers, questions=questions)
    total = int(unit.max()) + 1
    known = (
        answers.with_columns(unit=unit)
        .drop_nulls("label")
        .sort("place")["unit"]
        .unique(maintain_order=True)
        .to_numpy()
    )
    if "inclusion_probability" not in answers.columns:
        known = np.random.default_rng([seed, 1]).permutation(known)
    rest = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(total), known))
    order = np.r_[known, rest].astype(np.int64)
    count = max(len(known), round(labels * total / answers.height), 1)
    place = np.empty(total, dtype=np.int64)
    place[order] = np.arange(total)
    rows = np.argsort(place[unit], kind="stable")
    drawn = rows[: int((place[unit] < count).sum())]
    return answers[drawn].with_columns(inclusion_probability=pl.lit(count / total))
