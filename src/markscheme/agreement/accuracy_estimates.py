"""From judgments and labels to an estimate of human accuracy, or a refusal with its reason.

An estimate rests on labels drawn at random (or with known probabilities) from the very answers it
speaks about, which is checked before a figure is given. Few labels speak by themselves, since they
show too little of the judge's errors.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from markscheme.agreement.options import About, EstimateOptions
from markscheme.agreement.people_errors import (
    label_noise,
    noise_sentence,
    tie_sentence,
    undone,
)
from markscheme.agreement.sequences import RunningEstimate, running_estimate
from markscheme.agreement.sources import by_system, check_systems, names_of
from markscheme.agreement.verdicts import numbers_of
from markscheme.errors import AgreementError
from markscheme.results import Figure, by_labels, population, share_text
from markscheme.stats import (
    LEAST_FOR_JUDGES,
    LEAST_QUESTIONS,
    QUESTIONS_A_FIGURE,
    LabelNoise,
    Powered,
    Sample,
    drawn_unlike_rest,
    judges_weighted,
    parts_unlike_rest,
    possible_counts,
    powered,
)
from markscheme.tables import (
    Joined,
    as_binary,
    is_tied,
    join_labels,
    knows_questions,
    one_judge,
    one_row_each,
    unequal_chances,
)
from markscheme.text import counted

METHODS = ("ppi_tuned", "labels_only")
NOTHING_ADDED = "the judge adds nothing here: with it the interval would be no narrower"
REFUSE_BELOW = 0.001
WARN_BELOW = 0.05
"""p-values of the labelled answers being like all answers, below which to refuse and to warn."""
_LARGEST = 1e100


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One method's estimate of the mean label.

    Attributes:
        method: one of `METHODS`, or `sequence` (`sequences.running_estimate`).
        figure: the estimate with its interval, or why there is none.
        standard_error: of the estimate.
        worth: how many labels without a judge would tell as much.
        weights: of the judges, by name: how much the mean of each counts (lambda in PPI++).
    """

    method: str
    figure: Figure
    standard_error: float | None = None
    worth: float | None = None
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def helped(self) -> bool:
        """Whether a judge counts in it."""
        return any(self.weights.values())


@dataclass(frozen=True, kw_only=True)
class HumanAccuracy:
    """Estimates for one set of answers.

    Attributes:
        judge, system: whose judgments (`a + b` of several judges), on whose answers (None:
            everybody's).
        answers, labelled, not_judged: how many.
        questions: how many they answer; None where that is not known.
        judge_mean: what the first judge alone says: its mean prediction, biased by its errors;
            None where it judged nothing.
        predictions: `score` or `verdict`.
        estimates: one a method, as `estimates` gives them; empty where the labels support none.
        refusal: why they cannot.
        notes: what the reader should know.
        more_labels: of an interval to look at after every label: about how many more the wanted
            half-width takes, 0 where it is reached; None where none was wanted or it is not known.
        few: where the labels are too few to show the judge's errors, and speak by themselves, how
            many there are and how many are needed; else None.
        about: `future` or `these` (`EstimateOptions.about`).
        label_noise: how many labels are wrong; None where nothing shows it.
        without_noise: the figure to report, as it would be if no label were wrong.
    """

    judge: str
    system: str | None
    answers: int
    labelled: int
    questions: int | None
    not_judged: int
    judge_mean: float | None
    predictions: str
    estimates: Sequence[Estimate]
    refusal: str | None
    notes: Sequence[str]
    more_labels: int | None = None
    few: str | None = None
    about: About = "future"
    label_noise: LabelNoise | None = None
    without_noise: Figure | None = None

    @property
    def further(self) -> bool:
        """Whether the figure is of answers to further questions too, and not of these alone."""
        return self.about == "future"

    @property
    def population(self) -> str:
        """Of what the figure speaks, in words (`results.population`)."""
        by = by_labels(self.labelled, self.answers)
        return population(by, questions=self.questions, answers=self.answers, further=self.further)

    @property
    def reported(self) -> Estimate | None:
        """The first estimate, which is the one to report; None where the labels support none."""
        return next((one for one in self.estimates if one.figure.value is not None), None)

    @property
    def figure(self) -> Figure | None:
        """The figure to report; None where the labels support none."""
        return None if self.reported is None else self.reported.figure


def human_accuracy(
    judgments: pl.DataFrame, labels: pl.DataFrame, options: EstimateOptions | None = None
) -> list[HumanAccuracy]:
    """Estimated mean label of all judged answers, and of each system's on request.

    Args:
        judgments: as `load_judgments` gives them: all answers, labelled or not.
        labels: as `load_labels` gives them: of a random sample of the answers, or with
            `inclusion_probability` (and `stratum`) as `plan-labels` writes them.
        options: whose judgments, by system or not, confidence; the defaults if None.

    Raises:
        AgreementError: the labels cannot support an estimate over all answers (none, not of a
            random sample), or judgments and labels do not match.
    """
    return matched_accuracy(judgments, labels, options or EstimateOptions())[0]


def matched_accuracy(
    judgments: pl.DataFrame, labels: pl.DataFrame, options: EstimateOptions
) -> tuple[list[HumanAccuracy], Joined]:
    """As `human_accuracy`, with the first judge's judgments and labels as they were matched."""
    if options.half_width is not None and not options.anytime:
        raise AgreementError(
            "--half-width requires --anytime; 'markscheme plan-labels --half-width' says before "
            "labelling how many labels it takes"
        )
    if options.anytime and options.about == "future":
        raise AgreementError(
            "an interval to look at after every label is about these answers: leave out "
            "--about future, or --anytime"
        )
    about = options.about or ("these" if options.anytime else "future")
    names = tuple(dict.fromkeys(names_of(options.judge)))
    options = replace(options, judge=names, about=about)
    joined = join_labels(one_judge(judgments, names[0] if names else None), labels)
    table, others = _all_answers(judgments, joined, names)
    check_systems(table, by=options.by)
    noise = label_noise(
        joined.labels,
        errors=options.label_errors,
        positive_from=options.positive_from,
        confidence=options.confidence,
    )
    parts = by_system(table) if options.by == "system" else []
    whole = _of_answers(table, None, options)
    if whole.refusal and not parts:
        raise AgreementError(whole.refusal)
    found = [
        _with_noise(one, noise)
        for one in (whole, *(_of_answers(part, name, options) for name, part in parts))
    ]
    said = [noise] if isinstance(noise, str) else _of_noise(noise, found)
    said += _of_ties(joined, table, options, [name for name, _ in parts])
    found[0] = replace(found[0], notes=[*others, *whole.notes, *said])
    if all(one.refusal for one in found):
        raise AgreementError(whole.refusal or "no system has enough labels")
    return found, joined


def _of_noise(noise: LabelNoise, found: Sequence[HumanAccuracy]) -> list[str]:
    """How many labels are wrong, and all figures without their errors."""
    whole = "(all)" if len(found) > 1 else ""
    without = {
        one.system or whole: one.without_noise for one in found if one.without_noise is not None
    }
    return [noise_sentence(noise, without)] if without else []


def _all_answers(
    judgments: pl.DataFrame, joined: Joined, names: Sequence[str]
) -> tuple[pl.DataFrame, list[str]]:
    """Every answer of the first judge, with what the others say; and what the reader should know
    of all that was matched.
    """
    table, said = joined.every(), joined.notes(of_all=True)
    for place, name in enumerate(names[1:], 1):
        rows = one_judge(judgments, name)
        table, left_out = _with_judge(table, rows, joined.identity, place)
        if left_out:
            said.append(
                f"{left_out:,} answers of {name}'s are not among those of {names[0]}, and left out"
            )
    return table, said


def _of_ties(
    joined: Joined, table: pl.DataFrame, options: EstimateOptions, systems: Sequence[str]
) -> list[str]:
    """What the figures would be if every tie were decided one way, or the other."""
    if not joined.tied:
        return []
    ratings = pl.col("annotator_labels").list
    ties = joined.labels.with_columns(place=pl.int_range(pl.len())).filter(is_tied(joined.labels))
    ties = ties.select("place", lowest=ratings.min(), highest=ratings.max())
    table = table.join(ties, on="place", how="left", maintain_order="left")
    ends: defaultdict[str, list[float]] = defaultdict(list)
    for way in ("lowest", "highest"):
        decided = table.with_columns(label=pl.coalesce("label", way))
        parts = [("(all)" if systems else "the figure is", decided)]
        parts += [(name, decided.filter(pl.col("system") == name)) for name in systems]
        for name, part in parts:
            figure = _of_answers(part, None, options).figure
            if figure is not None and figure.value is not None:
                ends[name].append(figure.value)
    between = {name: (min(two), max(two)) for name, two in ends.items() if len(two) == 2}
    if not between:
        return []
    return [tie_sentence(joined.tied, "as rejected, or as accepted", between)]


def _of_answers(table: pl.DataFrame, system: str | None, options: EstimateOptions) -> HumanAccuracy:
    judges = tuple(options.judge) or (str(table["judge"][0]),)
    judged = [_judged(table, place) for place in range(len(judges))]
    not_judged = table.height - judged[0]
    notes = [
        f"{table.height - here:,} answers were not judged{f' by {name}' if place else ''}; the "
        "estimate counts them with the judge's average"
        if here
        else f"{name} judged none of the answers; it says nothing about them"
        for place, (name, here) in enumerate(zip(judges, judged, strict=True))
        if here < table.height
    ]
    sample, predictions = sample_of(table, options)
    labelled = int(sample.labelled.sum())
    about = HumanAccuracy(
        judge=" + ".join(judges),
        system=system,
        answers=table.height,
        labelled=labelled,
        questions=table["cluster"].n_unique() if knows_questions(table) else None,
        not_judged=not_judged,
        judge_mean=float(sample.predictions[:, 0].mean()) if judged[0] else None,
        predictions=predictions,
        estimates=[],
        refusal=None,
        notes=notes,
        about=options.about or "future",
    )
    if options.anytime:
        return _at_any_time(about, table, sample, options)
    if not labelled:
        return replace(about, refusal="none of its answers has a label")
    few = few_labels(sample)
    refusal, warning = _not_random(table, sample, options)
    notes += [warning] if warning else []
    if refusal is not None:
        return replace(about, refusal=refusal)
    if few:
        notes.append(f"few labels ({few}): the estimate uses the labels only, without the judge")
    elif labelled < table.height and (left := too_many(sample, judges)):
        notes.append(left)
    found = estimates(sample, judges, about=about.about, confidence=options.confidence)
    if found[0].method == "ppi_tuned" and not found[0].helped:
        notes.append(NOTHING_ADDED)
    elif found[0].method == "ppi_tuned" and system is None:
        worth = f"{found[0].worth:,.0f} without it"
        notes.append(f"with the judge, {labelled:,} labels are worth {worth}")
    rest = table.height - labelled
    if about.about == "these" and 0 < rest <= table.height / 10:
        low, high = (share_text(right / table.height) for right in possible_counts(sample))
        notes.append(f"whatever people say of the {rest:,} without a label: {low} to {high}%")
    return replace(about, estimates=found, few=few)


def _judged(table: pl.DataFrame, place: int) -> int:
    """How many answers the judge in this place has a verdict or a score of."""
    verdict, score = (table[f"{name} {place}" if place else name] for name in ("verdict", "score"))
    return int((verdict.is_not_null() | score.is_not_null()).sum())


def _with_noise(found: HumanAccuracy, noise: LabelNoise | str) -> HumanAccuracy:
    """The estimate, with what it would be without the errors of those who labelled."""
    figure = found.figure
    if figure is None or isinstance(noise, str):
        return found
    return replace(found, label_noise=noise, without_noise=undone(figure, noise))


def _at_any_time(
    about: HumanAccuracy, table: pl.DataFrame, sample: Sample, options: EstimateOptions
) -> HumanAccuracy:
    """The interval to look at after every label, which needs no least number of labels."""
    refusal = warning = None
    if unequal_chances(table):
        refusal = (
            "the labelled answers were drawn with unequal chances, and an interval to look at "
            "after every label needs equal ones: draw with 'plan-labels', or "
            "look once, without --anytime, when all drawn answers are labelled"
        )
    elif about.labelled >= LEAST_FOR_JUDGES:
        refusal, warning = _not_random(table, sample, options)
    if refusal is not None:
        return replace(about, refusal=refusal)
    found, whole = running(table, sample, options.confidence)
    notes = [*about.notes, warning] if warning else [*about.notes]
    if whole:
        notes.append("questions were labelled whole, one after the other: each counts once")
    more = None
    if options.half_width is not None:
        more = found.more_for(options.half_width)
        notes.append(_when_to_stop(found, options.half_width, more))
    sequence = Estimate(method="sequence", figure=found.figure)
    return replace(about, estimates=[sequence], notes=notes, more_labels=more)


def running(table: pl.DataFrame, sample: Sample, confidence: float) -> tuple[RunningEstimate, bool]:
    """The sequence at its last label, and whether each bet is on a whole question."""
    last = table["place"].max()
    place = table["place"].fill_null(int(last if isinstance(last, int) else 0) + 1).to_numpy()
    order = np.argsort(place, kind="stable")
    labelled = sample.labelled[order]
    units = sample.clusters[order]
    whole = _in_blocks(units, labelled)
    if not whole and {"question", "answer"} <= set(table.columns):
        # Equal answers that were labelled together, as one, are one bet.
        equal = numbers_of(table.select(pl.struct("question", "answer")).to_series())[order]
        units = equal if _in_blocks(equal, labelled) else np.arange(len(order))
    found = running_estimate(
        sample.labels[order],
        units=units.tolist(),
        predictions=sample.predictions[order, 0],
        confidence=confidence,
    )
    return found, whole


def _in_blocks(clusters: Any, labelled: Any) -> bool:
    """Whether questions were labelled whole, one after the other, as an order by question does."""
    known = clusters[labelled]
    blocks = 1 + int((np.diff(known) != 0).sum()) if len(known) else 0
    if blocks != len(np.unique(known)) or blocks == len(known):
        return False
    whole = known != known[-1]  # the last question may still be under way
    sizes = np.bincount(clusters)
    seen = np.bincount(known, minlength=len(sizes))
    done = np.unique(known[whole])
    return bool(len(done) and (seen[done] == sizes[done]).all() and sizes[done].max() > 1)


def _when_to_stop(found: RunningEstimate, half_width: float, more: int | None) -> str:
    points = f"+-{100 * half_width:g} points"
    if more == 0:
        return f"{points} are reached; you may stop labelling"
    if more is None:
        return f"how many more labels {points} take is not known from {found.n:,}"
    return f"about {counted(more, 'more label')} for {points}"


def _with_judge(
    table: pl.DataFrame, rows: pl.DataFrame, key: Sequence[str], place: int
) -> tuple[pl.DataFrame, int]:
    """The answers with what a further judge says of them, in columns with its number.

    Also how many answers of that judge's are not among them.

    Raises:
        AgreementError: that judge has two verdicts on an answer.
    """
    once, _ = one_row_each(rows, tuple(key), "verdict", "judgments")
    further = once.select(
        *key, *(pl.col(name).alias(f"{name} {place}") for name in ("verdict", "score"))
    )
    left_out = further.join(table, on=key, how="anti", nulls_equal=True).height
    both = table.join(further, on=key, how="left", nulls_equal=True, maintain_order="left")
    return both, left_out


def sample_of(table: pl.DataFrame, options: EstimateOptions) -> tuple[Sample, str]:
    """Answers as `Joined.every` gives them, as a sample; and what a judge's prediction is."""
    verdicts = [name for name in table.columns if re.fullmatch(r"verdict( \d+)?", name)]
    scores = [name.replace("verdict", "score") for name in verdicts]
    use = options.predictions
    if use == "auto":
        judged, scored = (
            table.select(names).select(pl.all().is_not_null()).to_numpy()
            for names in (verdicts, scores)
        )
        means = judged.any() and (judged == scored).all() and _within(table, scores, 0.0, 1.0)
        use = "score" if means else "verdict"
    elif use == "score" and table["score"].null_count() == table.height:
        raise AgreementError("the judge gives no score; use predictions='verdict'")
    elif use == "score" and not _within(table, scores, -_LARGEST, _LARGEST):
        raise AgreementError(
            "some scores are infinite, so their mean is meaningless; use predictions='verdict'"
        )
    said = table.select(scores if use == "score" else verdicts).cast(pl.Float64)
    predictions = said.fill_null(strategy="mean").fill_null(0.0).to_numpy()
    label = as_binary(table["label"], positive_from=options.positive_from).cast(pl.Float64)
    labels = label.fill_null(float("nan")).to_numpy()
    has = ~np.isnan(labels)
    weights = np.ones(len(labels))
    if "inclusion_probability" in table.columns:
        chance = table["inclusion_probability"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        if not (chance[has] > 0).all() or (chance[has] > 1).any():
            raise AgreementError(
                "every labelled answer needs an inclusion_probability above 0 and at most 1; "
                "give it for all labels or for none"
            )
        weights[has] = chance[has].min(initial=1.0) / chance[has]
    clusters = numbers_of(table["cluster"])
    return Sample(predictions=predictions, labels=labels, weights=weights, clusters=clusters), use


def _within(table: pl.DataFrame, scores: Sequence[str], low: float, high: float) -> bool:
    """Whether all scores lie there: grades are no shares, and a log-likelihood may be -inf."""
    inside = pl.col(scores).cast(pl.Float64).is_between(low, high).all()
    return bool(table.select(pl.all_horizontal(inside)).item())


def estimates(
    sample: Sample,
    names: Sequence[str] = ("judge",),
    *,
    about: About = "future",
    confidence: float = 0.95,
) -> list[Estimate]:
    """Both methods on one sample, the better first; of few labels, or all, these alone."""
    how: dict[str, Any] = {"about": about, "confidence": confidence}
    alone = _estimate("labels_only", powered(sample, judges=False, **how))
    if few_labels(sample) or sample.labelled.all():
        return [alone]
    found = powered(sample, **how)
    return [_estimate("ppi_tuned", found, dict(zip(names, found.weights, strict=True))), alone]


def _estimate(method: str, found: Powered, weights: Mapping[str, float] | None = None) -> Estimate:
    return Estimate(
        method=method,
        figure=Figure(value=found.value, low=found.low, high=found.high, method=found.method),
        # Labels that are all alike show no spread, and an interval that is not a point.
        standard_error=found.error if found.error or found.low == found.high else None,
        worth=found.worth,
        weights=weights or {},
    )


def labels_of(sample: Sample) -> tuple[int, int]:
    """How many labels a sample has, and of how many questions."""
    return int(sample.labelled.sum()), len(np.unique(sample.clusters[sample.labelled]))


def few_labels(sample: Sample) -> str | None:
    """How many labels there are, where they are too few to show the judge's errors."""
    labelled, questions = labels_of(sample)
    if labelled < LEAST_FOR_JUDGES:
        return f"{labelled}; {LEAST_FOR_JUDGES} are needed"
    if questions < LEAST_QUESTIONS:
        return f"of {questions} questions; {LEAST_QUESTIONS} are needed"
    return None


def too_many(sample: Sample, judges: Sequence[str]) -> str | None:
    """Which judges are left out, where there are too few labels to weight all of them."""
    _, questions = labels_of(sample)
    used = judges_weighted(questions, len(judges))
    if used == len(judges):
        return None
    needed = QUESTIONS_A_FIGURE * (len(judges) + 1)
    return (
        f"labels of {questions:,} questions are too few to weight {len(judges)} judges ({needed} "
        f"are needed): the estimate uses {' and '.join(judges[:used])} only"
    )


@dataclass(frozen=True, kw_only=True)
class LabelsCheck:
    """Whether the labelled answers may be a random part of all.

    Attributes:
        p: of their being one; 1 where all have a label, or none.
        unlike: in what they differ from all.
        undrawn: the systems of which no answer has a label, though others' were drawn with known
            chances.
    """

    p: float = 1.0
    unlike: str = ""
    undrawn: tuple[str, ...] = ()

    @property
    def chosen(self) -> str | None:
        """Why they evidently are none; None where they may be."""
        if self.undrawn:
            return f"no answer of {', '.join(map(repr, self.undrawn))} has a label"
        return f"{self.unlike} (p = {self.p:.1g})" if self.p < REFUSE_BELOW else None


def labels_check(sample: Sample, table: pl.DataFrame | None = None) -> LabelsCheck:
    """Check that the labelled answers are like all, as far as judge and systems show it.

    Args:
        sample: the answers.
        table: the same, as `Joined.every` gives them; None of one system's.
    """
    if sample.labelled.all() or not sample.labelled.any():
        return LabelsCheck()
    drawn, whole, p = drawn_unlike_rest(sample)
    unlike = f"the judge's mean is {drawn:.3f} on labelled answers and {whole:.3f} on all"
    undrawn: tuple[str, ...] = ()
    if table is not None and "system" in table.columns:
        if "inclusion_probability" in table.columns:
            labelled = pl.col("label").is_not_null().any().over("system")
            undrawn = tuple(table.filter(~labelled)["system"].drop_nulls().unique().sort())
        elif (
            by_system := parts_unlike_rest(numbers_of(table["system"].fill_null("")), sample)
        ) < p:
            p, unlike = by_system, "some systems' answers were labelled far more often than others'"
    return LabelsCheck(p=p, unlike=unlike, undrawn=undrawn)


def _not_random(
    table: pl.DataFrame, sample: Sample, options: EstimateOptions
) -> tuple[str | None, str | None]:
    """A refusal or a warning where the labelled answers differ from all answers."""
    found = labels_check(sample, table)
    if found.undrawn:
        return (
            f"{found.chosen}: label all that were drawn; if none were, estimate by system, or "
            "compare --systems"
        ), None
    if found.chosen and not options.trust_sample:
        return (
            f"the labels are evidently not a random sample: {found.chosen}. Label at random "
            "('markscheme plan-labels'), give inclusion_probability, or estimate by system; "
            "--trust-sample overrides this"
        ), None
    if found.p < WARN_BELOW:
        return None, f"the labels may not be a random sample: {found.unlike} (p = {found.p:.2g})"
    return None, None
