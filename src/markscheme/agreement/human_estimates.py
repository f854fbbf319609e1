"""`estimate`: human accuracy from many judgments and few labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markscheme.agreement.accuracy_estimates import Estimate, HumanAccuracy, matched_accuracy
from markscheme.agreement.comparison_notes import systems_population
from markscheme.agreement.gate import check_limit
from markscheme.agreement.options import EstimateOptions
from markscheme.agreement.sources import JudgmentsSource, TableSource, judged_and_labelled
from markscheme.flags import with_keywords
from markscheme.results import (
    Column,
    Figure,
    Table,
    TableResult,
    columns,
    flat_frame,
    interval_note,
    number,
    share_text,
)

NAMES = {
    "ppi_tuned": "PPI, tuned (PPI++)",
    "labels_only": "labels only",
    "sequence": "confidence sequence",
}

_WAYS = {
    "ppi_tuned": "by the labels and the judge together",
    "labels_only": "by the labels alone",
    "sequence": "by the labels and the judge so far",
}
"""By what a figure is, in the lead: figures made in different ways need not fit together."""

_WORTH = "labels' worth: how many labels without a judge would give as narrow an interval"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EstimateResult(TableResult):
    """What `estimate` gives: one row of the frame per system and method.

    Columns: `judge`, `system` (null: all), `answers`, `labelled`, `judge_mean`, `method`, `figure`
    with `figure_low` and `figure_high` (shares, 0 to 1), `standard_error`, `worth` (labels without
    a judge that would tell as much), `weight_of_judge` (of the first); and `refusal` where the
    labels cannot support an estimate.

    Attributes:
        estimates: the same as objects, with notes.
    """

    estimates: tuple[HumanAccuracy, ...]

    def gates(self, limit: float) -> dict[str, bool]:
        """Whether people surely accept enough of all answers, and of each system's.

        A figure passes where its interval begins at the limit or above it, and never where there
        are too few labels for a share. Of labels of which some are known to be wrong it is the
        figure without these errors.

        Args:
            limit: the share wanted, 0 to 1.

        Returns:
            Whether each passes, by a sentence that says it.

        Raises:
            AgreementError: the limit is out of range.
        """
        check_limit(limit)
        return dict(_gate(one, limit) for one in self.estimates)


def _gate(one: HumanAccuracy, limit: float) -> tuple[str, bool]:
    """What the gate says of one set of answers, and whether it passes."""
    figure = one.without_noise or one.figure
    whose = "all answers" if one.system is None else f"{one.system}'s answers"
    if _too_few(one):
        why = f"too few labels for a share of {whose} ({one.few})"
        return f"gate FAILED: {why}; wanted {100 * limit:g}", False
    if figure is None or figure.low is None:
        why = one.refusal or (figure and figure.reason) or "there is no interval"
        return f"gate FAILED: of {whose} nothing is known: {why}; wanted {100 * limit:g}", False
    passed = figure.low >= limit
    errors = "" if one.without_noise is None else ", without the labels' errors"
    share = figure.text(scale=100, digits=1, unit="%", words=True)
    return (
        f"gate {'passed' if passed else 'FAILED'}: people would accept {share} of {whose}{errors}; "
        f"wanted a low end of {100 * limit:g} or more"
    ), passed


def estimate(
    judgments: JudgmentsSource,
    labels: JudgmentsSource | None = None,
    options: EstimateOptions | None = None,
    *,
    answers: TableSource | None = None,
    **keywords: Any,
) -> EstimateResult:
    """Estimate the share that people would accept, from many judgments and some labels.

    Tuned prediction-powered inference, next to the labels alone; intervals are clustered by
    question. Fewer than 20 labels speak by themselves. Refuses, with the reason, where the labels
    cannot support a figure.

    Args:
        judgments: of all answers: a file, the folder of a run, a frame, rows, or a `Result`.
        labels: of a random part of the answers, as `plan_labels` draws it; None for those that came
            with the judged answers.
        options: whose judgments, by system or not, how sure; the defaults if None.
        answers: the judged answers, where judgments lack question, answer or system.
        keywords: fields of `EstimateOptions`, in place of or on top of `options`.

    Raises:
        DataError: a table cannot be read.
        AgreementError: nothing matches, or several judges and none named.
    """
    wanted = with_keywords(EstimateOptions, options, keywords)
    rows, known = judged_and_labelled(
        judgments, labels, wanted, judges=wanted.judge, answers=answers
    )
    found, joined = matched_accuracy(rows, known, wanted)
    records = [record for one in found for record in _records(one)]
    return EstimateResult(
        frame=flat_frame(records),
        tables=(_table(found, wanted),),
        data={
            "command": "estimate",
            "confidence": wanted.confidence,
            "estimates": found,
            **({"tied": joined.ties} if joined.tied else {}),
        },
        lead=_lead(found),
        estimates=tuple(found),
    )


def _lead(found: Sequence[HumanAccuracy]) -> tuple[str, ...]:
    """What people would accept, of all answers and of each system's: the first method's figure.

    Of few labels among more answers it names how many are needed instead: their raw share next to
    figures that the judge corrects is read as one of these, and a whole may lie outside its parts.
    """
    said = []
    for one in found:
        if one.reported is None:
            continue
        whose = f"the {one.answers:,} answers" if one.system is None else f"{one.system}'s answers"
        alone = one.judge.partition(" + ")[0]
        if one.judge_mean is None:
            alone += " judged none of them"
        else:
            alone += "'s scores alone say" if one.predictions == "score" else " alone says"
            alone += f" {share_text(one.judge_mean, digits=0)}%"
        if _too_few(one):
            said.append(f"Too few labels for a share of {whose} ({one.few}); {alone}")
            continue
        whose += " and others like them" if one.further else ""
        few = f"; few labels ({one.few})" if one.few else ""
        share = one.reported.figure.text(scale=100, digits=0, unit="%", words=True)
        reported = one.reported
        unhelped = reported.method == "ppi_tuned" and not reported.helped
        way = _WAYS["labels_only" if unhelped else reported.method]
        said.append(f"People would accept {share} of {whose}, {way}; {alone}{_weights(one)}{few}")
    return tuple(said)


def _too_few(one: HumanAccuracy) -> bool:
    """Whether the labels' own share is all that there is, of few among more answers."""
    return one.few is not None and one.labelled < one.answers


def _weights(one: HumanAccuracy) -> str:
    """How much each of several judges counts."""
    weights = one.estimates[0].weights
    if len(weights) < 2:
        return ""
    return f" (weights: {', '.join(f'{name} {each:.2f}' for name, each in weights.items())})"


def _records(one: HumanAccuracy) -> list[dict[str, Any]]:
    none = Estimate(method="", figure=Figure(reason=one.refusal or ""))
    return [
        {
            "judge": one.judge,
            "system": one.system,
            "answers": one.answers,
            "labelled": one.labelled,
            "judge_mean": one.judge_mean,
            "method": each.method or None,
            "figure": each.figure,
            "standard_error": each.standard_error,
            "worth": each.worth,
            "weight_of_judge": next(iter(each.weights.values()), None),
            "refusal": None if one.estimates else one.refusal,
        }
        for each in one.estimates or [none]
    ]


def _interval_notes(found: Sequence[HumanAccuracy], confidence: float) -> tuple[str, ...]:
    """Of what the intervals speak: that of all answers, and those of systems, which differ."""
    whole, *systems = found
    by = "according to the labels of its own answers (counts in its row)"
    sizes = [(one.questions, one.answers) for one in systems]
    about = systems_population(by, sizes, further=whole.further)
    said = interval_note(_named([whole]), whole.population, confidence)
    return said + interval_note(_named(systems), about, confidence)


def _named(found: Sequence[HumanAccuracy]) -> Iterator[tuple[str, Figure]]:
    """Figures with what distinguishes them: the system, the method, or both."""
    for one in found:
        apart = len({each.figure.method for each in one.estimates if each.figure.method}) > 1
        for each in one.estimates:
            method = [NAMES[each.method]] if apart or one.system is None else []
            yield " ".join([one.system, *method] if one.system else method), each.figure


def _table(found: Sequence[HumanAccuracy], options: EstimateOptions) -> Table:
    said = [
        *_interval_notes(found, options.confidence),
        f"judge says: the mean of {found[0].judge.partition(' + ')[0]}'s {found[0].predictions}s",
    ]
    figures = [(each.method, each.figure.value) for one in found for each in one.estimates]
    if any(method == "ppi_tuned" and value is not None for method, value in figures):
        how = "tuned prediction-powered inference (PPI++)"
        said.append(f"people would say: by {how} with {found[0].judge}")
    if options.anytime:
        said.append(
            "the interval holds at every look, labels in the order of their file, which must be "
            "random"
        )
    for one in found:
        notes = ([one.refusal] if one.refusal else []) + list(one.notes)
        said += [f"{one.system or '(all)'}: {note}" for note in notes]
    rows = [_row(one) for one in found]
    if any(row["worth"] is not None for row in rows):
        said.append(_WORTH)
    return Table.of(
        "Answers that people would accept, in percent",
        (
            Column("system", missing="(all)"),
            *columns("count", "answers", "labelled"),
            Column("judge says", "judge_mean", "share"),
            Column("people would say", "figure", "share", missing="refused; see below"),
            Column("by labels alone", "alone", "share"),
            Column("labels' worth", "worth", number(0)),
        ),
        rows,
        said,
    )


def _row(one: HumanAccuracy) -> dict[str, Any]:
    """The figure to report, that of the labels alone where another is, and what the judge adds."""
    reported, few = one.reported, _too_few(one)
    alone = next((each for each in one.estimates if each.method == "labels_only"), None)
    return {
        "system": one.system,
        "answers": one.answers,
        "labelled": one.labelled,
        "judge_mean": one.judge_mean,
        "figure": "too few labels" if few and reported else one.figure,
        "alone": alone.figure if alone and (few or alone is not reported) else None,
        "worth": reported.worth if reported and reported.helped else None,
    }
