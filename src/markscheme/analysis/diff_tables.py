"""The tables of a comparison of two runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import polars as pl

from markscheme.agreement import Comparison
from markscheme.analysis.clusters import Cluster
from markscheme.results import Table, p_text, share_text
from markscheme.text import excerpt

_LISTED = 160
"""Characters of a text that a listing shows."""


def headline(
    comparison: Comparison,
    conclusion: str,
    *,
    margin: float,
    counts: Mapping[str, int],
    questions: int,
    changed: int,
    by_name: bool,
    subset: bool,
    worst: Comparison | None,
) -> str:
    """The change with its interval, whether it is more than chance, and what was missing.

    Args:
        comparison: new against base.
        conclusion: `worse`, `better` or `no change shown`.
        margin: the loss that is tolerated, as a share.
        counts: of pairs, and of questions that one side lacks.
        questions: of the base, for each system that is paired by name.
        changed: questions whose references are others on the new side.
        by_name: several systems are paired by name.
        subset: questions that the new side lacks are left out.
        worst: the comparison with what has no verdict counted against the new answers.
    """
    change = comparison.difference
    if change.value is None:
        return f"No difference can be given: {change.reason}."
    words = {"worse": "The new answers are worse", "better": "The new answers are better"}
    text = f"{words.get(conclusion, 'No change is shown')}: {_points(comparison)}."
    whole = worst is None and change.method == "tango"
    if conclusion != "worse" and whole and (change.low or 0.0) < 0:
        # Rounded up: what is said to be excluded lies outside the interval.
        most = math.ceil(-1000 * (change.low or 0.0)) / 10
        text += f" A loss of more than {most:.1f} points is excluded."
    if margin and conclusion == "worse":
        text += f" The margin is {100 * margin:g} points."
    if gone := counts["only in base"]:
        what, new = ("answers", "new one") if by_name else ("questions", "new answer")
        of = f"{gone:,} of {questions:,} {what} of the base have no {new}"
        text += f" {of}: " + (
            "only the others are compared."
            if subset
            else "they count as unanswered, so wrong (--subset leaves them out)."
        )
    if worst is not None:
        text += (
            f" {counts['not compared']:,} answers were not judged on a side: all of them counted "
            f"against the new answers, it is {_points(worst)}."
        )
    if changed:
        text += (
            f" The references of {changed:,} questions are not the same on both sides, so the "
            "change may be theirs: judge both by one key."
        )
    return text


def _points(comparison: Comparison) -> str:
    """A difference in points, with its interval and p."""
    change = comparison.difference
    if change.value is None:
        return str(change.reason)
    text = f"{share_text(change.value, signed=True)} points"
    if change.low is not None and change.high is not None:
        low, high = (share_text(end, signed=True) for end in (change.low, change.high))
        text += f" (interval {low} to {high})"
    return f"{text}, p {p_text(comparison.permutation.value, comparison.permutation.reason)}"


def change_tables(
    judge: str,
    comparison: Comparison,
    counts: Mapping[str, int],
    groups: Sequence[Cluster],
    said: str,
    *,
    seed: int,
    confidence: float,
) -> list[Table]:
    """The figures of both sides, and the groups that lost."""
    figures = (
        comparison.second_value.text(scale=100, digits=1),
        comparison.first_value.text(scale=100, digits=1),
        comparison.difference.text(scale=100, digits=1),
        p_text(comparison.permutation.value, comparison.permutation.reason),
    )
    header = ("base", "new", "difference", "p")
    tables = [
        Table(
            title="Share accepted, in percent",
            header=("judge", *header),
            rows=((judge, *figures),),
            numeric=frozenset(header),
            notes=(
                said,
                f"{100 * confidence:g}% interval: tango; p: exchange (the two sides exchanged "
                f"question by question, seed {seed}).",
            ),
        ),
        Table(
            title="Pairs of answers",
            header=tuple(counts),
            rows=(tuple(f"{count:,}" for count in counts.values()),),
            numeric=frozenset(counts),
        ),
    ]
    if groups:
        rows = tuple(
            (one.group, f"{one.pairs:,}", f"{one.worse:,}", f"{one.better:,}",
             share_text(one.change, signed=True), p_text(one.p))
            for one in groups
        )  # fmt: skip
        names = ("group", "pairs", "worse", "better", "points", "p")
        tables.append(
            Table(
                title="Where more got worse than better",
                header=names,
                rows=rows,
                numeric=frozenset(names[1:]),
                notes=(
                    "Groups overlap. p: mcnemar (each pair of answers taken as independent), "
                    "corrected by Holm's method for the number of groups.",
                ),
            )
        )
    return tables


def flips_table(pairs: pl.DataFrame, *, most: int) -> Table:
    """The first answers that got worse, and that got better."""
    rows = []
    left = 0
    for change in ("worse", "better"):
        mine = pairs.filter(pl.col("change") == change)
        left += max(0, mine.height - most)
        for row in mine.head(most).iter_rows(named=True):
            said = row["new_explanation" if change == "worse" else "base_explanation"]
            rows.append((
                change, plain(row["question"]),
                " | ".join(plain(one) for one in (row["references"] or [])[:3]),
                plain(row["base_answer"]), plain(row["new_answer"]),
                "" if row["mode"] == "other" else row["evidence"], plain(said),
            ))  # fmt: skip
    return Table(
        title="Answers whose verdict flipped",
        header=("change", "question", "reference", "base", "new", "evidence", "the judge says"),
        rows=tuple(rows),
        notes=(f"{left:,} more not shown: --flips N shows N of each.",) if left else (),
    )


def plain(text: str | None) -> str:
    """A text in one line, without signs that steer a terminal; shortened."""
    return "(no answer)" if text is None else excerpt(text, _LISTED)
