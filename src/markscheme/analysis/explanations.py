"""Why the examiner decides as it does on one answer: the public `explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.agreement import open_run
from markscheme.analysis.options import ExplainOptions
from markscheme.contract import plain_answers
from markscheme.engine import apply, with_plain
from markscheme.errors import AgreementError, DataError, no_such_name
from markscheme.flags import with_keywords
from markscheme.judges.examiner import Effects, Examiner, find_effects, matched_spans
from markscheme.results import Column, Format, Table, TableResult
from markscheme.tables import SPENT, FileOptions, ReadOptions, known_ids, read_answers

_REFERENCES = 5
"""References that are shown."""
_FEATURES = 6
"""Deciding features that the table shows; the frame has all."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Explanation(TableResult):
    """What decided one judgment of the examiner. `frame` has a row for each deciding feature.

    The lead has question, reference and answer, with [words of the reference] and {words against
    it} marked; the tables are in plain words, with the features that decided most.

    Attributes:
        answer: the answer as it was judged, without chat formatting and reasoning.
        judgment: the examiner's outcome: score, verdict, relation, marks, explanation.
        spans: places in the answer (start, end, in characters) whose words occur in a reference.
        contradicting: places that the examiner's encoder reads as contradicting the references.
        values: how the typed values (numbers, dates, lists) compare, in words; empty without any.
    """

    answer: str
    judgment: Mapping[str, Any]
    spans: Sequence[tuple[int, int]]
    contradicting: Sequence[tuple[int, int]]
    values: str


def explain(
    question: str,
    references: str | Sequence[str],
    answer: str,
    options: ExplainOptions | None = None,
    **keywords: Any,
) -> Explanation:
    """Explain the examiner's judgment of one answer.

    Args:
        question: the question.
        references: the reference answers, or the only one.
        answer: a system's answer.
        options: see `ExplainOptions`.
        keywords: single options, which go before those of `options`.

    Returns:
        A row per feature that moved the trees' verdict, the largest effect first: `feature`,
        `meaning`, `value` and `effect` (change of the log-odds against the feature's median over
        the training answers; effects of features that act together do not add up).

    Raises:
        DataError: what `markscheme.judge` refuses has no judgment to explain, nor has what it
            judges without the examiner: no answer, or the error of a failed call.
        ModelError: the weights cannot be used.

    Example:
        >>> import markscheme
        >>> found = markscheme.explain("Who wrote Emma?", "Jane Austen", "It was Jane Austen.")
        >>> found.judgment["verdict"]
        True
    """
    chosen = with_keywords(ExplainOptions, options, keywords)
    given = [references] if isinstance(references, str) else list(references)
    if not given:
        raise DataError(
            "an empty list of references says that the question has no answer: an answer that says "
            "so is right, and the examiner, which compares with references, does not read it"
        )
    row = {"question": question, "references": given, "answer": answer}
    read = with_plain(read_answers([row], ReadOptions(reference_separator="none")))
    judge = Examiner(weights=chosen.weights, depth=chosen.depth)
    judgment = apply(judge, read).drop("raw", *SPENT).row(0, named=True)
    table = plain_answers(read).select("question", "references", "answer")
    _, given, answer = table.row(0)
    if not (answer or "").strip():
        raise DataError(f"there is nothing to explain: {judgment['explanation']}")
    (places,) = matched_spans(*table, weights=chosen.weights).to_list()
    spans = list(zip(places[::2], places[1::2], strict=True))
    found = find_effects(question, given, answer, weights=chosen.weights, depth=chosen.depth)
    tables = (_outcome(judgment, found), _deciding(found.frame.head(_FEATURES)))
    data = {
        "command": "explain",
        **row,
        "judgment": judgment,
        "spans": spans,
        "contradicting": found.contradicting,
        "values": found.values,
        "trees": found.trees,
        "encoder": found.encoder,
        "features": found.frame.to_dicts(),
    }
    return Explanation(
        frame=found.frame,
        tables=tables,
        data=data,
        lead=(
            f"question: {question}",
            f"reference: {_references(given)}",
            f"answer: {_marked(answer, spans, found.contradicting)}",
            *_legend(spans, found.contradicting),
        ),
        answer=answer,
        judgment=judgment,
        spans=spans,
        contradicting=found.contradicting,
        values=found.values,
    )


def answer_of(
    run: str, answer_id: str | None, read: FileOptions | None = None
) -> tuple[str, tuple[str, ...], str]:
    """Question, references and answer of an answer of a run, or of a file of answers.

    Args:
        run: the run's folder, or the file.
        answer_id: which answer.
        read: how a file is read; the defaults if None.

    Raises:
        DataError: the run cannot be read.
        AgreementError: it has no such answer, the system gave none, or its references are patterns.
    """
    answers = open_run(run, (read or FileOptions()).reading()).answers
    ids = answers["answer_id"].to_list()
    answer_id = known_ids(pl.Series([answer_id], dtype=pl.String), answers["answer_id"])[0]
    if answer_id not in ids:
        some = f"The ids are {', '.join(ids[:5])}{', ...' if len(ids) > 5 else ''}"
        if answer_id is None:
            raise AgreementError(f"explain {run} requires the id of an answer. {some}")
        raise AgreementError(no_such_name("answer", answer_id, ids, some))
    row = answers.row(ids.index(answer_id), named=True)
    if row["answer"] is None:
        raise AgreementError(f"the system gave no answer {answer_id}: there is nothing to explain")
    if row["reference_kind"] == "regex":
        raise AgreementError(
            f"the references of answer {answer_id} are patterns, which the examiner does not read: "
            "there is nothing to explain"
        )
    return row["question"], tuple(row["references"]), row["answer"]


def _references(references: Sequence[str]) -> str:
    more = f" (and {len(references) - _REFERENCES:,} more)"
    some = " | ".join(references[:_REFERENCES])
    return some + more if len(references) > _REFERENCES else some


_Spans = Sequence[tuple[int, int]]


def _marked(answer: str, spans: _Spans, contradicting: _Spans) -> str:
    """The answer with marks that need no colour.

    >>> _marked("It was Emily Bronte", [(13, 19)], [(7, 12)])
    'It was {Emily} [Bronte]'
    """
    ends = [(spans, "[]"), (contradicting, "{}")]
    marks = [
        (place, sign)
        for found, signs in ends
        for pair in found
        for place, sign in zip(pair, signs, strict=True)
    ]
    pieces, before = [], 0
    for place, sign in sorted(marks, key=lambda mark: (mark[0], "]}{[".index(mark[1]))):
        pieces += [answer[before:place], sign]
        before = place
    return "".join([*pieces, answer[before:]])


def _legend(spans: _Spans, contradicting: _Spans) -> Sequence[str]:
    words = ["[words of the reference]"] if spans else []
    words += ["{words against it, as the whole is read}"] if contradicting else []
    return [f"marked: {', '.join(words)}"] if words else []


def _outcome(judgment: Mapping[str, Any], found: Effects) -> Table:
    shown = (
        Column("verdict", lambda row: "accepted" if row["verdict"] else "not accepted"),
        Column("probability", "score", 3),
        Column("credit", "marks", 2),
        Column("why", "explanation"),
    )
    notes = [
        "Probability: that people accept the answer. Credit: of 1, less where a part is missing."
    ]
    if found.encoder is not None:
        notes.append(
            f"By words and values alone the probability is {found.trees:.3f}, read as a whole "
            f"{found.encoder:.3f}: both decide together."
        )
    return Table.of("The examiner's judgment", shown, [judgment], notes)


def _deciding(frame: pl.DataFrame) -> Table:
    return Table.of(
        "What counted most among words and values",
        (
            Column("what was looked at", lambda row: row["meaning"] or row["feature"]),
            Column("value", format=Format("{:.3g}".format)),
            Column("speaks", lambda row: "for it" if row["effect"] > 0 else "against it"),
        ),
        frame,
        (
            "Each by itself, against its usual value; together the effects do not add up to the "
            "probability. For yes-or-no features, 1 is yes and 0 is no; shares and similarities "
            "are from 0 to 1.",
        ),
    )
