"""The tables of a comparison of two runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import polars as pl

from markscheme.agreement import LARGE, WITHIN_CHANCE, Comparison
from markscheme.analysis.clusters import Cluster, answered
from markscheme.analysis.options import DiffOptions
from markscheme.results import (
    PAIRED,
    Column,
    Table,
    by_judges,
    cell,
    columns,
    excerpts,
    interval,
    interval_note,
    population,
    share_text,
)
from markscheme.stats import times_as_many
from markscheme.text import counted, excerpt

WITHOUT_PARTNER = "without partner"
"""In the counts, answers to questions of which the other side has fewer."""
_EDITED = 60
"""Characters of an edited question that the headline shows."""

IN_WORST_CASE = "worse in the worst case"
"""The conclusion where only the verdicts that are missing could make it a loss."""
_WORDS = {"worse": "The new answers are worse", "better": "The new answers are better"}

_LISTED = 160
"""Characters of a text that a listing shows."""


def loss(comparison: Comparison, worst: Comparison | None) -> str:
    """Why it is a regression, in a sentence.

    Args:
        comparison: new against base.
        worst: the same in the worst case, where it is a regression in that case alone.
    """
    if worst is None:
        return f"{_WORDS['worse']}: {_points(comparison)}."
    return (
        "Answers that were not judged could hide a loss: with each verdict that is missing taken "
        f"as it is worst for the new answers, {_points(worst)}."
    )


def headline(
    comparison: Comparison,
    conclusion: str,
    *,
    options: DiffOptions,
    counts: Mapping[str, int],
    questions: int,
    changed: int,
    edited: Sequence[tuple[str, str]],
    by_name: bool,
    worst: Comparison | None,
    hidden: str = "",
) -> str:
    """The change with its interval, whether it is more than chance, and what was missing.

    Args:
        comparison: new against base.
        conclusion: on what was judged: `worse`, `better` or `no change shown`.
        options: the margin, the level of a look, and whether questions may be left out.
        counts: of pairs, and of questions that one side lacks.
        questions: of the base, for each system that is paired by name.
        changed: questions whose references are others on the new side.
        edited: questions that were paired by their ids, since their text is another: the text
            that the base has, and the new one.
        by_name: several systems are paired by name.
        worst: the comparison in the worst case for the new answers.
        hidden: why it is a regression, where it is one in that case alone.
    """
    change, margin = comparison.difference, options.margin
    if change.value is None:
        return f"No difference can be given: {change.reason}."
    flipped = bool(comparison.only_first or comparison.only_second)
    none = f"The change is {WITHIN_CHANCE}" if flipped else "No verdict changed"
    text = f"{hidden} On those that were judged: " if hidden else ""
    text += f"{_WORDS.get(conclusion, none)}: {_points(comparison)}"
    text += f"; {needed}." if (needed := _needed(options)) else "."
    whole = worst is None and change.method == "tango"
    most = -(change.low or 0.0)
    excluded = whole and float(share_text(most)) > 0
    within = excluded and bool(margin) and most <= margin
    if excluded and (within or conclusion != "worse"):
        text += f" A loss of more than {share_text(most)} points is excluded."
    if within:
        how = "worse, but by no more than" if conclusion == "worse" else "not worse than"
        text += f" They are shown to be {how} the margin, {100 * margin:g} points."
    if conclusion not in _WORDS:
        text += _detectable(comparison, options, excluded=most if excluded else None)
    if margin and not within and (hidden or conclusion == "worse"):
        text += f" The margin is {100 * margin:g} points."
    if gone := counts["only in base"]:
        what, new = ("answers", "new one") if by_name else ("questions", "new answer")
        of = f"{gone:,} of {questions:,} {what} of the base have no {new}"
        text += f" {of}: " + (
            "only the others are compared."
            if options.subset
            else "they count as unanswered, so wrong (--subset leaves them out)."
        )
    if worst is not None:
        gaps = counted(counts["not compared"], "answer was", "answers were")
        text += f" {gaps} not judged on a side"
        text += "." if hidden else f": in the worst case for the new answers, {_points(worst)}."
    if uneven := counts.get(WITHOUT_PARTNER):
        text += (
            f" {counted(uneven, 'answer is', 'answers are')} to questions of which the other side "
            "has fewer answers: each question counts by the share of its answers that is accepted."
        )
    if changed:
        text += (
            f" The references of {counted(changed, 'question')} are not the same on both sides, "
            "which may explain the change: judge both with the same references."
        )
    if edited:
        was, is_now = (repr(excerpt(one, _EDITED)) for one in edited[0])
        many = counted(len(edited), "question")
        paired = "they are paired by their ids" if len(edited) > 1 else "it is paired by its id"
        text += (
            f" The text of {many} is not the same on both sides, and {paired}: {was} is {is_now} "
            f"now{', for instance' * (len(edited) > 1)}."
        )
    return text


def _needed(options: DiffOptions) -> str:
    """The p that a change takes where a part of the error is left to each of several looks."""
    if options.looks == 1:
        return ""
    return f"with {options.looks:,} looks a change needs p {1 - options.level:.2g} or less"


def _detectable(comparison: Comparison, options: DiffOptions, *, excluded: float | None) -> str:
    """Which loss so many questions would have shown, and how many would tell.

    Not where the interval excludes a smaller one: what is excluded needs not to be found, and two
    limits for a loss read as a contradiction. What they are to tell is a loss of the margin, or
    without one a change like the one that is seen.
    """
    least, wanted = comparison.detectable, min(options.margin or LARGE, LARGE)
    seen = 0.0 if options.margin else abs(comparison.difference.value or 0.0)
    harmless = excluded is not None and excluded <= wanted
    if least is None or (harmless and not seen):
        return "" if harmless else " Nothing could be shown by so few questions."
    text = ""
    if excluded is None or excluded > max(least, wanted):
        found = f"loss of {share_text(least)} points or more would have been found in 4 of 5"
        only = "Nothing this small could be shown: only a" if least > wanted else "A"
        text = f" {only} {found} such comparisons."
    if least <= (seen or wanted):
        return text
    discordant = (comparison.only_first + comparison.only_second) / comparison.shared
    times = times_as_many(discordant, least, seen or wanted, confidence=options.level)
    what = "a change of this size" if seen else f"a loss of {100 * wanted:g} points"
    needed = math.ceil(comparison.questions * times)
    return f"{text} So few questions cannot tell: about {needed:,} are needed to find {what}."


def _points(comparison: Comparison) -> str:
    """A difference in points, with its interval and p."""
    change = comparison.difference
    if change.value is None:
        return str(change.reason)
    text = f"{share_text(change.value, signed=True)} points"
    if change.low is not None:
        text += f" (interval {interval(change.low, change.high, signed=True)})"
    return f"{text}, p {cell('p', comparison.p)}"


def change_tables(
    judge: str,
    comparison: Comparison,
    counts: Mapping[str, int],
    groups: Sequence[Cluster],
    said: str,
    *,
    options: DiffOptions,
    ungrouped: Mapping[str, int],
) -> list[Table]:
    """The figures of both sides, and the groups that lost.

    Args:
        judge: whose verdicts.
        comparison: new against base.
        counts: of pairs.
        groups: as `clusters` gives them.
        said: the headline.
        options: the level of a look.
        ungrouped: slices that some pairs have no value of, with the number of these.
    """
    about = population(by_judges([judge]), questions=comparison.questions, unit=PAIRED)
    tables = [
        Table.of(
            "Share accepted, in percent",
            (
                Column("judge", lambda _: judge),
                *columns("share", ("base", "second_value"), ("new", "first_value"), "difference"),
                Column("p", format="p"),
            ),
            [comparison],
            (
                said,
                *(
                    f"{line}; p is of the same score test"
                    for line in interval_note([("", comparison.difference)], about, options.level)
                ),
            ),
        ),
        Table.of(
            "Pairs of answers", columns("count", *((name, name) for name in counts)), [counts]
        ),
    ]
    if groups:
        tables.append(
            Table.of(
                "Where more got worse than better",
                (
                    "group",
                    *columns("count", "pairs", "worse", "better"),
                    Column("points", "change", "change"),
                    Column("p", format="p"),
                ),
                groups,
                (
                    "Groups overlap. p is of the same score test, corrected by Holm's method for "
                    "the number of groups"
                    + (f"; {needed}." if (needed := _needed(options)) else "."),
                    *(
                        f"{counted(pairs, 'pair has', 'pairs have')} no {name} on the new side: "
                        "in none of its groups."
                        for name, pairs in ungrouped.items()
                    ),
                ),
            )
        )
    return tables


FLIPS = "Answers whose verdict flipped"


def flips_table(pairs: pl.DataFrame, *, most: int) -> Table:
    """The first answers that got worse, and that got better."""
    changed = pairs.filter(pl.col("change").is_in(["worse", "better"]))
    changed = changed.sort("change", descending=True, maintain_order=True)
    shown = changed.group_by("change", maintain_order=True).head(most)
    left = changed.height - shown.height
    return Table.of(
        FLIPS,
        (
            "change",
            Column("question", format=_EXCERPT),
            Column("reference", "references", _EXCERPT),
            Column("base", lambda row: shown_answer(row["base_answer"]), _EXCERPT),
            Column("new", lambda row: shown_answer(row["new_answer"]), _EXCERPT),
            Column("rejected", _rejected),
            Column("evidence", lambda row: "" if row["mode"] == "other" else row["evidence"]),
            Column("the judge says", _explanation, _EXCERPT, missing="(no reason given)"),
        ),
        shown,
        (f"{left:,} more not shown: --flips N shows N of each.",) if left else (),
    )


def _explanation(row: Mapping[str, str | None]) -> str | None:
    return row[f"{_rejected(row)}_explanation"]


def _rejected(row: Mapping[str, str | None]) -> str:
    """The side whose answer is rejected: what evidence and explanation are about."""
    return "new" if row["change"] == "worse" else "base"


_EXCERPT = excerpts(_LISTED)


def shown_answer(answer: str | None) -> str:
    """An answer as it is, or that there is none."""
    return answer if answer is not None and answered(answer) else "(no answer)"


def plain(text: str | None) -> str:
    """A text in one line, without signs that steer a terminal; shortened."""
    return excerpt(shown_answer(text), _LISTED)
