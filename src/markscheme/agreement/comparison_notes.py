"""What is printed below tables: of what they speak, and what pairs could not have shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

import polars as pl

from markscheme.agreement.pairs import DIFFERENT, LARGE, Comparison, Pair
from markscheme.agreement.system_differences import PeoplesDifference, SlicedDifference
from markscheme.results import COUNTED, PAIRED, Column, number_text, population, share_text
from markscheme.text import counted


def pairs_population(
    pairs: Sequence[Pair],
    by: str,
    *,
    systems: bool,
    further: bool = True,
) -> str:
    """Of what differences speak (`results.population`).

    Args:
        pairs: that are shown together.
        by: whose word, in words.
        systems: whether systems are compared, question by question.
        further: of answers to further questions too, and not of these alone.
    """
    questions = {one.questions for one in pairs}
    several = any(isinstance(one, Comparison) and one.shared > one.questions for one in pairs)
    return population(
        by,
        questions=questions.pop() if len(questions) == 1 else None,
        unit=_unit(pairs) if systems else COUNTED if several else "",
        further=further,
    )


ON_QUESTIONS = Column(
    "on",
    lambda row: DIFFERENT.removeprefix("on ") if row["unpaired"] else None,
    missing="questions of both",
    show=None,
)
"""Of a row of a pair: that its systems have no question in common, where some have none."""


def _unit(pairs: Sequence[Pair]) -> str:
    unpaired = [one.unpaired for one in pairs]
    if unpaired and all(unpaired):
        return "each system on its own"
    return f"{PAIRED} where both answered" if any(unpaired) else PAIRED


def unpaired_note(pairs: Sequence[Pair]) -> list[str]:
    """Which systems have no question in common, and what that means."""
    names = [f"{pair.first} and {pair.second}" for pair in pairs if pair.unpaired]
    said = f"are {DIFFERENT}: what the questions differ by counts too"
    return [f"{', '.join(dict.fromkeys(names))} {said}"] if names else []


def uneven_note(rows: pl.DataFrame) -> list[str]:
    """How differences count questions of which systems have unequal numbers of answers.

    Args:
        rows: judgments with `question`, `system` and `verdict`.
    """
    each = rows.drop_nulls("verdict").group_by("question", "system").len()
    unequal = each.group_by("question").agg(pl.col("len").n_unique() > 1)["len"].sum()
    if not unequal:
        return []
    return [
        f"{counted(int(unequal), 'question has', 'questions have')} more judged answers of one "
        "system than of another; each counts by the share of its answers that is accepted"
    ]


def systems_population(
    by: str,
    sizes: Iterable[tuple[int | None, int]],
    *,
    further: bool = True,
    of: str = "system",
) -> str:
    """As `population`, of each of several systems; counts are named where all have the same.

    Args:
        by: by whose word.
        sizes: questions, None where not known, and answers of each system.
        further: of further questions of the kind; else of each system's answers alone.
        of: what else there are several of: values of a column.
    """
    if not further:
        return f"each {of}: its answers alone, {by}"
    known = set(sizes)
    several = any(questions and answers > questions for questions, answers in known)
    questions, answers = known.pop() if len(known) == 1 else (None, None)
    unit = COUNTED if several else ""
    return f"each {of}: {population(by, questions=questions, answers=answers, unit=unit)}"


def without_difference(
    pairs: Sequence[Pair], names: Sequence[str], *, where: str = "of"
) -> list[str]:
    """Why some have no difference yet: a line for each reason, with names as in `detectable_note`.

    A reason says first how much a system has, and then what is needed: where the first is another
    of each, only the second is printed.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for name, pair in zip(names, pairs, strict=True):
        if why := pair.difference.reason:
            found.setdefault(why.rpartition("; ")[2], []).append((name, why))
    said = []
    for needed, whose in found.items():
        without, reasons = map(dict.fromkeys, zip(*whose, strict=True))
        why = needed if len(reasons) > 1 else next(iter(reasons))
        said.append(f"no difference yet {where} {', '.join(without)}: {why}")
    return said


def apart_note(pairs: Sequence[Pair], *, by_points: bool = True) -> tuple[str, ...]:
    """Why a difference is not that of the two values printed before it, where some are not."""
    scale, digits = (100, 1) if by_points else (1, 3)
    rounded = False
    for pair in pairs:
        figures = (pair.first_value.value, pair.second_value.value, pair.difference.value)
        one, two, change = (None if value is None else scale * value for value in figures)
        if one is None or two is None or change is None:
            continue
        if abs(one - two - change) > _APART * 10**-digits:
            return (
                "a difference is estimated by itself, question by question, so that it need "
                "not be that of the two shares",
            )
        texts = (number_text(value, digits=digits) for value in (one, two, change))
        first, second, shown = map(Decimal, texts)
        rounded = rounded or first - second != shown
    return ("differences are taken before rounding",) if rounded else ()


_APART = 0.01
"""Part of the last decimal from which on rounding does not explain a difference."""


def detectable_note(
    pairs: Sequence[Pair],
    names: Sequence[str],
    alpha: float,
    *,
    where: str = "of",
    by_points: bool = True,
    by: str = "questions",
) -> list[str]:
    """Where chance explains what there is: what would have been found, and what could not be.

    Args:
        pairs: that are shown together.
        names: of each: `a and b`, or the value of a column `within` which it is.
        alpha: a p from which on chance explains a difference.
        where: `of` or `within`.
        by_points: differences are of shares.
        by: of what there are too few, where a small difference could not be shown.
    """
    unshown = [
        (name, pair)
        for name, pair in zip(names, pairs, strict=True)
        # Of answers that people labelled all, the difference is known.
        if pair.difference.low != pair.difference.high
        and (pair.p_holm is None or pair.p_holm > alpha)
    ]
    sizes = [pair.detectable for _, pair in unshown if pair.detectable is not None]
    never = dict.fromkeys(name for name, pair in unshown if pair.detectable is None)
    said = []
    if sizes:
        ends = (min(sizes), max(sizes))
        texts = [share_text(end) if by_points else number_text(end) for end in ends]
        size = f"{' to '.join(dict.fromkeys(texts))}{' points' if by_points else ''}"
        by_pair = ", by pair," if len(set(texts)) > 1 else ""
        said.append(
            f"only differences of {size}{by_pair} or more would usually be shown here (in 4 of 5 "
            "such comparisons)"
        )
        if max(sizes) > LARGE:
            said.append(f"a small difference could not be shown by so few {by}")
    if never:
        said.append(f"no difference {where} {', '.join(never)} could be shown by so few {by}")
    return said


_TESTS = {
    "tango": "score test by question",
    "jackknife-t": "Student's t of the jackknife by question",
    "newcombe": "by the intervals of both shares, squared and added",
    "ppi-tango": "score test, labels and judge together",
}


def explained(methods: str) -> str:
    """Words for tests, each with what it is."""
    words = methods.split(", ")
    return ", ".join(f"{word} ({_TESTS[word]})" if word in _TESTS else word for word in words)


def not_compared(values: pl.Series, sliced: Sequence[SlicedDifference]) -> list[str]:
    """How many values of a column have no pair of systems."""
    left_out = values.cast(pl.String).n_unique() - len({one.value for one in sliced})
    what = "within which no two systems have a judged answer, are left out"
    return [f"{left_out:,} values of {values.name}, {what}"] if left_out > 0 else []


def reversed_pairs(
    sliced: Sequence[SlicedDifference],
    pairs: Sequence[Comparison],
    people: Sequence[PeoplesDifference],
) -> list[str]:
    """Pairs of which one is ahead over all and behind within every value (Simpson 1951)."""
    found = []
    for whole in people or pairs:
        inside = [
            one.people or one.pair
            for one in sliced
            if (one.pair.first, one.pair.second) == (whole.first, whole.second)
        ]
        total = whole.difference.value or 0.0
        if len(inside) > 1 and all((each.difference.value or 0.0) * total < 0 for each in inside):
            names = (whole.first, whole.second) if total > 0 else (whole.second, whole.first)
            found.append(
                f"{names[0]} is ahead of {names[1]} over all and behind within every value here: "
                "they answered these in different proportions, so the total compares different "
                "mixtures (Simpson's paradox)"
            )
    return found
