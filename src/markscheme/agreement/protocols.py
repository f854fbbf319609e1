"""Two ways to turn labels of answers into a system's accuracy.

**Direct**: look the answer's label up. What was never labelled is unknown.

**Amended references** (Kamalloo et al. 2023, section 4.3): accepted answers join the question's
references, rejected ones leave them, and the answer is then matched exactly against what is left.
An answer that nobody labelled is right if it matches an amended reference, and wrong otherwise.
The two differ where an answer matches, after normalisation, another one that was labelled.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from markscheme.errors import AgreementError, DataError
from markscheme.tables import as_binary, one_row_each

Matcher = Callable[[pl.DataFrame], pl.Series]
"""Takes a table with `answer` and `references`, gives one Boolean a row: does the answer match
exactly one of the references? Normalisation is the matcher's own affair."""


def amend_references(questions: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Amended reference sets, row by row (Kamalloo et al. 2023, section 4.3).

    The answers accepted for a question join its references; each rejected answer then leaves
    them: that very string if it is among them, else its lower-case form. Strings are compared
    as they are, without normalisation, as the paper's released figures require.

    Args:
        questions: `question` and `references` (list of strings); other columns pass through. Rows
            of one question may have different references, and each is amended on its own.
        labels: `question`, `answer`, `label` (1 accepted, 0 rejected; null is ignored).

    Returns:
        `questions` in its order with `references` amended (the former ones first, then the
        accepted answers in label order, no string twice), and two counts: `references_added`,
        `references_removed`.

    Raises:
        AgreementError: contradictory or graded labels; no label is about any of the questions.
        DataError: a column is missing.
    """
    require(questions, ("question", "references"), "questions")
    require(labels, ("question", "answer", "label"), "labels")
    labelled = labels.select("question", "answer", as_binary(labels["label"])).drop_nulls()
    verdicts, _ = one_row_each(labelled, ("question", "answer"), "accepted", "labels")
    if verdicts.join(questions, on="question", how="semi").is_empty():
        raise AgreementError(
            "none of the labels is about any of these questions; "
            "labels and answers are joined on the exact text of `question`"
        )
    said: dict[bool, dict[str, list[str]]] = {True: {}, False: {}}
    for question, answer, accepted in verdicts.iter_rows():
        said[accepted].setdefault(question, []).append(answer)
    rows = []
    for question, references in questions.select("question", "references").iter_rows():
        known = dict.fromkeys(one for one in references or () if one is not None)
        pool = known | dict.fromkeys(said[True].get(question, ()))
        gone = {one if one in pool else one.lower() for one in said[False].get(question, ())}
        kept = [one for one in pool if one not in gone]
        added = sum(one not in known for one in kept)
        rows.append((kept, added, sum(one in gone for one in known)))
    amended = pl.DataFrame(
        rows,
        schema={
            "references": pl.List(pl.String),
            "references_added": pl.Int64,
            "references_removed": pl.Int64,
        },
        orient="row",
    )
    return questions.with_columns(amended.get_columns())


def match_amended(answers: pl.DataFrame, labels: pl.DataFrame, exact_match: Matcher) -> pl.Series:
    """Verdict of each answer under the amended-references protocol.

    Args:
        answers: `question`, `references`, `answer`; one row an answer. A null answer is wrong.
        labels: see `amend_references`.
        exact_match: decides whether an answer equals one of its references; the paper's is
            SQuAD's exact match.

    Returns:
        Boolean Series `verdict`, never null, one value a row in order.

    Raises:
        AgreementError, DataError: see `amend_references`.
    """
    require(answers, ("answer",), "answers")
    amended = amend_references(answers, labels)
    answered = amended.with_columns(pl.col("answer").fill_null(""))
    verdict = exact_match(answered).cast(pl.Boolean)
    answered_at_all = answers["answer"].is_not_null()
    return (verdict & answered_at_all).fill_null(value=False).alias("verdict")


def require(frame: pl.DataFrame, names: tuple[str, ...], what: str) -> None:
    """Raises DataError where `frame` lacks a column."""
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise DataError(
            f"the {what} table lacks {', '.join(map(repr, missing))}; "
            f"its columns are {', '.join(map(repr, frame.columns))}"
        )
