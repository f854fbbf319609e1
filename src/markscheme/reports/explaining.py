"""Why an answer fits its references or not: words in common, values that conflict, edits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import polars as pl

from markscheme.analysis import explain
from markscheme.judges.examiner import matched_spans
from markscheme.tables import ANSWERS_SCHEMA
from markscheme.values import Outcome, compare_values
from markscheme.web import has_markup, plain_answer, render_answer

_LONGEST = 20_000


Aligned = list[tuple[list[int], list[int]]]
"""For each reference the words in common: starts and ends in turn, in it and in the answer."""


def alignments(answers: pl.DataFrame) -> list[Aligned]:
    """Each answer against each of its references, word by word; nothing where they are patterns.

    Args:
        answers: `question`, `references`, `answer` (may be null) and `reference_kind`.
    """
    found: list[Aligned] = [[] for _ in range(answers.height)]
    pairs = (
        answers.select("question", "answer", "reference_kind", reference="references")
        .with_row_index("row")
        .filter(pl.col("reference_kind").fill_null("text") != "regex")
        .explode("reference")
        .with_columns(pl.col("reference", "answer").fill_null(""))
    )
    if pairs.is_empty():
        return found

    def spans(of: str, against: str) -> pl.Series:
        return matched_spans(
            pairs["question"], pairs[against].reshape((-1, 1)).arr.to_list(), pairs[of]
        )

    both = pairs.select("row").with_columns(
        reference=spans("reference", "answer"), answer=spans("answer", "reference")
    )
    for row, *places in both.iter_rows():
        found[row].append((places[0], places[1]))
    return found


def value_findings(
    question: str, references: Sequence[str], answer: str
) -> list[dict[str, Any] | None]:
    """What the typed values of an answer say against each reference; None where nothing.

    A finding has `outcome` (`agree`, `conflict` or `missing`), `kind`, `reason` in plain words,
    `conflicting` (pairs of reference's and answer's value) and `missing`.
    """
    return [_finding(question, reference, answer[:_LONGEST]) for reference in references]


def _finding(question: str, reference: str, answer: str) -> dict[str, Any] | None:
    found = compare_values(question, reference, answer)
    if found.outcome is Outcome.NONE:
        return None
    return {
        "outcome": found.outcome.value,
        "kind": found.kind,
        "reason": found.reason,
        "conflicting": [[pair.reference, pair.answer] for pair in found.conflicting],
        "missing": list(found.missing),
    }


def why(question: str, references: Sequence[str], answer: str) -> dict[str, Any]:
    """All that is shown of why one answer fits its references or not, as plain values.

    Returns:
        `answer` and `raw` (HTML: as the model means it, and as written), `references`: `text`,
        `spans`, `answer` (places in common) and `values` (a finding or None) of each.
    """
    row = {"question": question, "references": list(references), "answer": answer}
    (aligned,) = alignments(pl.DataFrame([row], schema=ANSWERS_SCHEMA))
    findings = value_findings(question, references, answer)
    marks = marked(aligned)
    return {
        "answer": render_answer(answer, marks) if has_markup(answer) else None,
        "raw": plain_answer(answer, marks),
        "references": [
            {"text": text, "spans": spans, "answer": places, "values": value}
            for text, (spans, places), value in zip(references, aligned, findings, strict=True)
        ],
    }


def marked(aligned: Aligned) -> list[tuple[int, int]]:
    """Places in the answer that any reference has, in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    places = (zip(words[::2], words[1::2], strict=True) for _, words in aligned)
    for start, end in sorted(chain.from_iterable(places)):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def explained(question: str, references: Sequence[str], answer: str) -> dict[str, Any]:
    """Why the examiner judges one answer as it does.

    Returns:
        `verdict`, `score`, `explanation` and `effects` (effect on the log-odds and meaning of the
        features that moved it most).

    Raises:
        DataError: what `markscheme.judge` refuses has no judgment to explain.
    """
    found = explain(question, list(references), answer)
    judgment = found.judgment
    effects = [
        [round(row["effect"], 2), row["meaning"]]
        for row in found.frame.head(8).iter_rows(named=True)
    ]
    return {
        "verdict": judgment["verdict"],
        "score": judgment["score"],
        "explanation": judgment["explanation"],
        "effects": effects,
    }
