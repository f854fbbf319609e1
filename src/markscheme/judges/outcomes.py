"""What judges share: outcomes by a threshold or a vote, rows left out, files of parameters."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl

from markscheme.contract import Needs, check_range
from markscheme.errors import JudgeError
from markscheme.tables import NO_REFERENCE

PATTERNS = "the references are regular expressions; the judge 'regex' reads those"

LEXICAL = Needs(chat=False, references="required", question="unused")
"""What judges need that compare an answer with references and look at nothing else."""

COMBINED = Needs(chat=False, references="unused", question="unused")
"""What a judge of other judges needs in addition to what those need."""


@dataclass(frozen=True, kw_only=True)
class Thresholded:
    """What judges share that give a score and accept from a threshold on."""

    threshold: float = 0.5

    def validate(self) -> None:
        """Raises JudgeError if the threshold is not within 0 and 1."""
        check_range("threshold", self.threshold, 0, 1)


def has_patterns(answers: pl.DataFrame) -> pl.Expr:
    """Rows whose references are regular expressions, by the column `reference_kind`."""
    if "reference_kind" not in answers.columns:
        return pl.lit(value=False)
    return (pl.col("reference_kind") == "regex").fill_null(value=False)


def by_threshold(answers: pl.DataFrame, scores: pl.Series, threshold: float) -> pl.DataFrame:
    """Outcomes of a score from 0 to 1 per row: true from `threshold` on.

    Rows whose references are patterns, and rows without a reference (a null score), are `skipped`
    with the reason in `explanation`.
    """
    score = pl.col("score")
    return (
        answers.with_columns(scores.alias("score"), patterns=has_patterns(answers))
        .with_columns(score=pl.when(~pl.col("patterns")).then(score))
        .select(
            score,
            verdict=score >= threshold,
            status=pl.when(score.is_null()).then(pl.lit("skipped")).otherwise(pl.lit("judged")),
            explanation=pl.when(pl.col("patterns"))
            .then(pl.lit(PATTERNS))
            .when(score.is_null())
            .then(pl.lit(NO_REFERENCE)),
        )
    )


def judged_rows(
    answers: pl.DataFrame,
    why_not: pl.Expr,
    judge: Callable[[pl.DataFrame], pl.DataFrame],
    *,
    rows_at_once: int,
    status: pl.Expr | None = None,
) -> pl.DataFrame:
    """Outcomes of all rows, in order, of which a judge judges those that it can.

    Args:
        answers: the table.
        why_not: why a row is not judged, as its explanation; null where it is.
        judge: gives outcomes of at most `rows_at_once` rows.
        rows_at_once: rows of a part of the table.
        status: of rows that are not judged; `skipped` if None.
    """
    status = pl.lit("skipped") if status is None else status
    # With a column of the table, so that what is the same for all rows is there for each.
    reasons = answers.select("answer", explanation=why_not, status=status).drop("answer")
    judged = reasons["explanation"].is_null()
    parts = [judge(part) for part in answers.filter(judged).iter_slices(rows_at_once)]
    left_out = (~judged, reasons.filter(~judged))
    return in_order(*([(judged, pl.concat(parts))] if parts else []), left_out)


def in_order(*parts: tuple[pl.Series, pl.DataFrame]) -> pl.DataFrame:
    """Outcomes of parts of a table as one table; with each part, which rows it is of (Boolean)."""
    placed = [found.with_columns(place=rows.arg_true()) for rows, found in parts]
    return pl.concat(placed, how="diagonal_relaxed").sort("place").drop("place")


MOST_REFERENCES = 1_000
"""References of a row that an answer is compared with."""
MOST_TESTED = 300
"""The same where they are compared in both directions, and once more by the examiner."""
MOST_ENCODED = 100
"""The same where an encoder reads each by itself."""
MOST_READ = 2_000_000
"""Characters of an answer, counted once for each reference that it is compared with."""
MOST_OF_REFERENCES = 30_000
"""Characters of references that are compared in both directions, and once more by the examiner."""
_WORD = re.compile(r"\w+")


def with_nearest_references(
    answers: pl.DataFrame,
    most: int = MOST_REFERENCES,
    most_read: float = MOST_READ,
    characters: float = math.inf,
) -> pl.DataFrame:
    """Answers with at most `most` references, which have at most so many `characters`, and with so
    few that comparing an answer anew with each reads at most `most_read`; with one in any case.

    Of more, those stay, in their order and with their grades, that are the answer or share the
    largest part of their words with it, equally many of each grade; `noting_references` says so.
    """
    count = pl.col("references").list.len()
    read = pl.col("answer").str.len_chars() * count > most_read
    long = pl.col("references").list.eval(pl.element().str.len_chars()).list.sum() > characters
    if not answers.select(((count > most) | ((read | long) & (count > 1))).any()).item():
        return answers
    graded = "reference_grades" in answers.columns
    grades = pl.col("reference_grades") if graded else pl.lit(None)
    texts = answers.select("answer", "references", grades.alias("grades")).iter_rows()
    kept = []
    for answer, listed, of in texts:
        fitting = max(1, most_read / max(1, len(answer or "")))
        kept.append(_nearest(answer or "", listed or [], of, int(min(most, fitting)), characters))
    nearest = {"references": pl.Series([one for one, _ in kept], dtype=pl.List(pl.String))}
    if graded:
        kind = answers.schema["reference_grades"]
        nearest["reference_grades"] = pl.Series([of for _, of in kept], dtype=kind)
    return answers.with_columns(**nearest)


def noting_references(
    outcomes: pl.DataFrame, answers: pl.DataFrame, read: pl.DataFrame
) -> pl.DataFrame:
    """Outcomes whose explanations say of judged rows how many references were left unread.

    Args:
        outcomes: of the rows.
        answers: the rows with all of their references.
        read: the same rows from `with_nearest_references`.
    """
    if read is answers:
        return outcomes
    count = pl.col("references").list.len()
    every, some = answers.select(every=count), read.select(some=count)
    note = pl.format("the nearest {} of {} references were read", "some", "every")
    own = pl.col("explanation") if "explanation" in outcomes.columns else pl.lit(None, pl.String)
    noted = pl.concat_str(own, note, separator="; ", ignore_nulls=True)
    fewer = (pl.col("some") < pl.col("every")) & (pl.col("status") == "judged")
    explanation = pl.when(fewer).then(noted).otherwise(own)
    return (
        outcomes.hstack(every)
        .hstack(some)
        .with_columns(explanation=explanation)
        .drop("every", "some")
    )


def _nearest(
    answer: str,
    references: Sequence[str | None],
    grades: Sequence[Any] | None,
    most: int,
    characters: float,
) -> tuple[Sequence[str | None], Sequence[Any] | None]:
    lengths = [len(one or "") for one in references]
    if len(references) <= most and sum(lengths) <= characters:
        return references, grades
    if grades is not None and len(grades) != len(references):
        grades = None
    whole, said = answer.strip(), set(_WORD.findall(answer.lower()))

    def nearness(place: int) -> tuple[bool, float, int]:
        reference = references[place] or ""
        words = set(_WORD.findall(reference.lower()))
        common = len(words & said)
        return reference.strip() == whole, common / max(1, len(words)), common

    near = sorted(range(len(references)), key=nearness, reverse=True)
    if grades is not None:
        # The nearest of each grade, then the second of each: an answer's place is between grades.
        seen = Counter[Any]()
        turn = {}
        for place in near:
            turn[place] = seen[grades[place]]
            seen[grades[place]] += 1
        near.sort(key=turn.__getitem__)
    ends = itertools.accumulate(lengths[place] for place in near)
    fitting = sum(end <= characters for end in ends)
    places = sorted(near[: max(1, min(most, fitting))])
    kept = [references[place] for place in places]
    return kept, grades and [grades[place] for place in places]


Vote = Literal["majority", "mean"]
Opinion = tuple[bool, float, str | None, float | None]
"""Verdict, score, relation and marks of one that judged an item."""


def decided(
    opinions: Sequence[Opinion], *, vote: Vote, accept_from: float, score: float | None = None
) -> dict[str, Any]:
    """What several that judged one item decide together.

    Args:
        opinions: theirs, one or more.
        vote: `majority` of the verdicts, of a tie the side on which the mean score lies; or `mean`
            score from `accept_from` on.
        accept_from: see `vote`.
        score: takes the place of the mean score.

    Returns:
        Status, verdict, score, relation (the commonest of those that agree with the verdict) and
        marks (the mean); `unparsed` alone where a tie's score is a half.
    """
    if score is None:
        score = math.fsum(own for _, own, _, _ in opinions) / len(opinions)
    verdict = score >= accept_from
    if vote == "majority":
        lead = sum(1 if own else -1 for own, _, _, _ in opinions)
        if not lead and score == 0.5:
            return {"status": "unparsed"}
        verdict = lead > 0 if lead else score > 0.5
    relations = Counter(one for own, _, one, _ in opinions if one and own == verdict)
    marks = [one for _, _, _, one in opinions if one is not None]
    return {
        "status": "judged",
        "verdict": verdict,
        "score": score,
        "relation": relations.most_common(1)[0][0] if relations else None,
        "marks": math.fsum(marks) / len(marks) if marks else None,
    }


def known_sum(*columns: str) -> pl.Expr:
    """The sum of what is known of several columns; null where nothing is."""
    known = pl.any_horizontal(pl.col(*columns).is_not_null())
    return pl.when(known).then(pl.sum_horizontal(*columns))


def content_hash(content: bytes) -> str:
    """Sixteen hexadecimal digits over a file that decides, for signatures."""
    return hashlib.sha256(content).hexdigest()[:16]


def read_file(path: str, what: str, written_by: str) -> bytes:
    """The content of a file that a judge's parameter names.

    Args:
        path: the file.
        what: what is in it, for the message.
        written_by: the command that writes such a file.

    Raises:
        JudgeError: it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise JudgeError(
            f"{what} {path!r} cannot be read ({error.strerror}); '{written_by}' writes such a file"
        ) from None
