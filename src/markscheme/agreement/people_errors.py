"""What people's disagreements are worth: labels that are wrong, and answers without a majority.

Where people differ, some labels are wrong: how many, and what a share of them would be without.
Their labels of gold items, whose right label is known, show it too. And
answers on which annotators are tied have no label and count in no figure. They are those that
people find hard, so that figures of the others may be too good; deciding them either way says how
far.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.agreement.annotators import once_an_item, ratings_of
from markscheme.agreement.options import rate_or_file
from markscheme.agreement.sources import open_run
from markscheme.errors import AgreementError, DataError
from markscheme.results import Figure, interval, share_text
from markscheme.stats import (
    LEAST_OF_GOLD,
    LEAST_OF_OVERLAP,
    MOST_WRONG,
    LabelNoise,
    noise_from_gold,
    noise_from_pairs,
    of_majorities,
    of_votes,
    possible,
    without_noise,
)
from markscheme.tables import as_binary, parse_labels, question_numbers
from markscheme.text import counted

_AS_THEY_SAY = (
    "according to these labellers: {} (--label-errors RATE corrects for an assumed share)"
)
_UNKNOWN = _AS_THEY_SAY.format("how many labels are wrong is not known")
NOTHING_TWICE = _AS_THEY_SAY.format(
    "no answers were labelled twice, so how many labels are wrong is not known"
)


def label_noise(
    labels: pl.DataFrame,
    *,
    errors: float | str | Path | None = None,
    positive_from: float | None = None,
    confidence: float = 0.95,
) -> LabelNoise | str:
    """The share of wrong labels: as supposed, by gold items, or by answers that several labelled.

    Args:
        labels: as `load_labels` gives them.
        errors: the share, 0 to below .5, of the labels that count, maybe as a text (`5%`); or a
            file with people's labels of gold items, as `annotate-export --as gold` writes it; None
            for what overlap shows.
        positive_from: grade from which an answer is acceptable.
        confidence: of the interval.

    Returns:
        Of the labels that count, which are a majority's where several labelled an answer; why it
        is not known where fewer than `LEAST_OF_OVERLAP` pairs of labels are of one answer, or fewer
        than `LEAST_OF_GOLD` of right or of wrong gold items, or labels are grades.

    Raises:
        AgreementError: no such share.
        DataError: no such file, or it has no labels of gold items.
    """
    if isinstance(errors, str):
        errors = rate_or_file(errors)
    if isinstance(errors, int | float):
        if not 0 <= errors < 0.5:
            raise AgreementError(
                f"a share of wrong labels of {errors:g} is out of range; give one from 0 to below "
                "0.5, or a file of 'annotate-export --as gold'"
            )
        return LabelNoise(rate=errors, low=errors, high=errors)
    votes = None
    if "annotator_labels" in labels.columns:
        votes = _votes(once_an_item(labels), positive_from)
    if errors is not None:
        gold = _noise_from_gold(errors, positive_from, confidence)
        if votes is None or votes.alone or isinstance(gold, str):
            return gold
        return of_votes(gold, votes.deciding)
    if votes is None:
        return NOTHING_TWICE if "annotator_labels" not in labels.columns else _UNKNOWN
    people, accepted = votes.people, votes.accepted
    pairs = np.bincount(votes.questions, people * (people - 1) / 2)
    differ = np.bincount(votes.questions, accepted * (people - accepted))
    if pairs.sum() < LEAST_OF_OVERLAP:
        return _too_few(int((people > 1).sum()), int(pairs.sum()), int(differ.sum()))
    noise = noise_from_pairs(differ, pairs, confidence=confidence)
    return noise if votes.alone else of_majorities(noise, votes.margins)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Votes:
    """Who labelled what.

    Attributes:
        people, accepted: (answers,) how many labelled, and accepted, each.
        questions: (answers,) a number for the question of each.
        margins: (counted,) of the answers whose label counts, how many more people gave it.
        deciding: (counted,) how many people's labels decided it.
        alone: whether one person's labels count, whatever others say.
    """

    people: npt.NDArray[np.int64]
    accepted: npt.NDArray[np.float64]
    questions: npt.NDArray[np.int64]
    margins: npt.NDArray[np.float64]
    deciding: npt.NDArray[np.int64]
    alone: bool


def _votes(labels: pl.DataFrame, positive_from: float | None) -> _Votes | None:
    """Of labels with one row an item; None of grades without a cut."""
    ratings = ratings_of(labels)
    if positive_from is None and not are_verdicts(ratings):
        return None
    cells = np.column_stack(
        [
            as_binary(ratings[name], positive_from=positive_from).cast(pl.Float64).to_numpy()
            for name in ratings.columns
        ]
    )
    known = ~np.isnan(cells)
    people, accepted = known.sum(axis=1), np.where(known, cells, 0.0).sum(axis=1)
    label = as_binary(labels["label"], positive_from=positive_from).cast(pl.Float64).to_numpy()
    is_counted = ~np.isnan(label)
    ahead = np.where(label == 1, 2 * accepted - people, people - 2 * accepted)
    is_one_persons = (cells == label[:, None])[is_counted].all(axis=0).any()
    outvoted = bool((ahead[is_counted] <= 0).any())  # Ties, or most people, went for nothing.
    voted = is_counted & (people > 0)
    return _Votes(
        people=people,
        accepted=accepted,
        questions=question_numbers(labels).to_numpy(),
        # Somebody decided on ties, or against most: as one more person would.
        margins=np.maximum(ahead[voted], 1),
        deciding=people[voted] + (outvoted & (people[voted] % 2 == 0)),
        alone=bool((people[voted] == 1).all() or (is_one_persons and outvoted)),
    )


def _noise_from_gold(
    file: str | Path, positive_from: float | None, confidence: float
) -> LabelNoise | str:
    """The shares of wrong labels, of right and of wrong answers, by labels of gold items.

    Raises:
        DataError: no such file, or no labels of gold items.
    """
    table = open_run(file).table
    lacking = [name for name in ("label", "gold") if name not in table.columns]
    if lacking:
        raise DataError(
            f"{file} has no column {' and no '.join(map(repr, lacking))}: labels of gold items "
            "have people's 'label' and the right one, 'gold', as 'annotate-export --as gold' "
            f"writes them. The columns are {', '.join(map(repr, table.columns))}"
        )
    try:
        rows = table.with_columns(parse_labels(table[name]) for name in ("label", "gold"))
    except DataError as error:
        raise DataError(f"{file}: {error}") from None
    rows = rows.drop_nulls(["label", "gold"])  # Where a person cannot tell, no label counts.
    if positive_from is None and not are_verdicts(rows.select("label", "gold")):
        return _UNKNOWN
    said, truth = (
        as_binary(rows[name], positive_from=positive_from).to_numpy() for name in ("label", "gold")
    )
    of = "question" if "question" in rows.columns else "answer_id"
    questions = question_numbers(rows, of).to_numpy()
    right = int(truth.sum())
    if min(right, len(truth) - right) < LEAST_OF_GOLD:
        return _AS_THEY_SAY.format(
            f"{file} has {counted(right, 'label')} of right and {len(truth) - right:,} of wrong "
            f"gold items; {LEAST_OF_GOLD} of either are needed to say how many labels are wrong"
        )
    for kind, part in (("right", truth), ("wrong", ~truth)):
        share = float((said != truth)[part].mean())
        if share > MOST_WRONG:
            return _AS_THEY_SAY.format(
                f"{share_text(share, digits=0)}% of the labels of {kind} gold items are wrong, too "
                "many to correct for"
            )
    return noise_from_gold(said, truth, questions, confidence=confidence)


def are_verdicts(ratings: pl.DataFrame) -> bool:
    """Whether annotators gave 0 and 1 alone, and no grades."""
    known = pl.all().cast(pl.Float64).is_in([0.0, 1.0])
    return bool(ratings.select(known.all()).to_numpy().all())


def _too_few(answers: int, pairs: int, differ: int) -> str:
    if not pairs:
        return NOTHING_TWICE
    many = f"{pairs} pairs of labels are of the same answers"
    if pairs == answers:
        many = f"{answers} {'answers were' if answers > 1 else 'answer was'} labelled twice"
    return _AS_THEY_SAY.format(
        f"{many} ({differ} differ); {LEAST_OF_OVERLAP} are needed to say how many labels are wrong"
    )


def undone(figure: Figure, noise: LabelNoise, accepted: float | None = 1.0) -> Figure:
    """A share of labels, or of agreement with them, without their errors; of no value, itself.

    A share that so many wrong labels cannot give has none: it is surely above 1 - e, or below e.

    Args:
        figure: the share, or a difference of two.
        noise: how many labels are wrong.
        accepted: as of `without_noise`.
    """
    if figure.value is None or figure.low is None or figure.high is None:
        return figure
    least, most = possible(noise, accepted)
    above = figure.low > most
    if above or figure.high < least:
        end, limit = ("above", most) if above else ("below", least)
        many = "so many" if noise.rejected else f"{100 * noise.low:.3g}%"
        what = "difference" if accepted is None else "share"
        return Figure(
            reason=f"{many} wrong labels do not fit a {what} of "
            f"{share_text(figure.value, digits=0)}%, as none is {end} {100 * limit:.3g}% then"
        )
    value, low, high = without_noise(figure.value, figure.low, figure.high, noise, accepted)
    return Figure(value=value, low=low, high=high, method=figure.method)


def noise_sentence(noise: LabelNoise, without: Mapping[str, Figure], unit: str = "%") -> str:
    """How many labels are wrong, and figures without their errors, by the name of what they are."""
    shares = ", ".join(f"{name} {_text(one, unit)}".lstrip() for name, one in without.items())
    methods = dict.fromkeys([noise.method, *(one.method for one in without.values())])
    made = ", ".join(filter(None, methods))
    by = f"; intervals by {made}" if made else ""
    return f"{_how_many(noise)}corrected for these errors: {shares}{by}"


def _how_many(noise: LabelNoise) -> str:
    """How many labels are wrong, and what says so, before what follows of it."""
    wrong = f"about {_rate(noise)}"
    if noise.rejected is not None:
        other = noise.rejected
        whose = "" if noise.single is None else " that a majority decides"
        return (
            f"by {noise.gold + other.gold:,} labels of gold items, {wrong} of the labels{whose} of "
            f"right answers are wrong, and {_rate(other)} of those of wrong answers; "
        )
    if not noise.pairs:
        return f"assuming that {share_text(noise.rate)}% of labels are wrong, "
    if noise.single is None:
        said = f"{wrong} of one person's labels, which count here, are wrong"
    else:
        said = (
            f"about {share_text(noise.single)}% of one person's labels are wrong, and {wrong} of "
            "the majority's, which count here"
        )
    return (
        f"people differ on {share_text(noise.differ)}% of {noise.pairs:,} pairs of labels: {said}; "
    )


def _rate(noise: LabelNoise) -> str:
    """`5.3% (1.8 to 10.2)`, and whether that is where an end was cut off."""
    cut = "; cut off there: more wrong labels are not corrected for" if noise.capped else ""
    return f"{share_text(noise.rate)}% ({interval(noise.low, noise.high)}{cut})"


def agreement_sentence(noise: LabelNoise, agreement: Figure, accepted: float) -> str:
    """A judge's agreement with people once the labels' errors are undone.

    Args:
        noise: how many labels are wrong.
        agreement: with the labels.
        accepted: the share of the answers that the judge accepts.
    """
    supposed = "" if noise.pairs or noise.rejected else " assumed"
    rates = f"{share_text(noise.rate)}%{supposed} wrong ones"
    if noise.rejected is not None:
        other = share_text(noise.rejected.rate)
        rates = f"wrong ones ({share_text(noise.rate)}% of right answers', {other}% of wrong ones')"
    return (
        f"these shares are according to the labels; without the {rates} it agrees with people on "
        f"{_text(undone(agreement, noise, accepted))}"
    )


def _text(figure: Figure, unit: str = "%") -> str:
    if figure.value is None:
        return f"an unknown share ({figure.reason})"
    return figure.text(scale=100, digits=0, unit=unit, words=True)


def tie_sentence(ties: int, ways: str, ends: Mapping[str, tuple[float, float]]) -> str:
    """Between which ends figures lie, by their names, if all ties are decided one of two ways."""
    bounds = ", ".join(
        f"{name} {share_text(low)} to {share_text(high)}%" for name, (low, high) in ends.items()
    )
    return (
        f"if annotators' ties ({ties:,}) were all decided {ways}: {bounds} (--format json lists "
        "them as 'tied')"
    )
