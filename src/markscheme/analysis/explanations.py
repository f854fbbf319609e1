"""Why the examiner decides as it does on one answer: the public `explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.agreement import open_run
from markscheme.analysis.options import ExplainOptions
from markscheme.contract import plain_answers
from markscheme.engine import with_plain
from markscheme.errors import AgreementError, no_such_name
from markscheme.flags import with_keywords
from markscheme.judges.examiner import Effects, Examiner, find_effects, matched_spans
from markscheme.models import Models
from markscheme.results import Column, Format, Table, TableResult
from markscheme.tables import ReadOptions, read_answers


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Explanation(TableResult):
    """What decided one judgment of the examiner. `frame` has a row for each deciding feature.

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
        DataError: what `markscheme.judge` refuses has no judgment to explain.
        ModelError: the weights cannot be used.

    Example:
        >>> import markscheme
        >>> found = markscheme.explain("Who wrote Emma?", "Jane Austen", "It was Jane Austen.")
        >>> found.judgment["verdict"]
        True
    """
    chosen = with_keywords(ExplainOptions, options, keywords)
    given = [references] if isinstance(references, str) else list(references)
    row = {"question": question, "references": given, "answer": answer}
    read = read_answers([row], ReadOptions(reference_separator="none"))
    answer = plain_answers(with_plain(read))["answer"][0] or ""
    table = pl.DataFrame({"question": [question], "references": [given], "answer": [answer]})
    judge = Examiner(weights=chosen.weights, depth=chosen.depth)
    judgment = judge.judge(table, Models()).row(0, named=True)
    (places,) = matched_spans(*table, weights=chosen.weights).to_list()
    spans = list(zip(places[::2], places[1::2], strict=True))
    found = find_effects(question, given, answer, weights=chosen.weights, depth=chosen.depth)
    tables = [_outcome(judgment), _stages(found), _deciding(found.frame.head(chosen.features))]
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
        tables=tuple(tables),
        data=data,
        answer=answer,
        judgment=judgment,
        spans=spans,
        contradicting=found.contradicting,
        values=found.values,
    )


def answer_of(run: str, answer_id: str | None) -> tuple[str, tuple[str, ...], str]:
    """Question, references and answer of an answer of a run, or of a file of answers.

    Raises:
        DataError: the run cannot be read.
        AgreementError: it has no such answer, or the system gave none.
    """
    answers = open_run(run).answers
    ids = answers["answer_id"].to_list()
    if answer_id not in ids:
        some = f"The ids are {', '.join(ids[:5])}{', ...' if len(ids) > 5 else ''}"
        if answer_id is None:
            raise AgreementError(f"explain {run} requires the id of an answer. {some}")
        raise AgreementError(no_such_name("answer", answer_id, ids, some))
    row = answers.row(ids.index(answer_id), named=True)
    if row["answer"] is None:
        raise AgreementError(f"the system gave no answer {answer_id}: there is nothing to explain")
    return row["question"], tuple(row["references"]), row["answer"]


def _outcome(judgment: Mapping[str, Any]) -> Table:
    shown = (
        Column("verdict", lambda row: "accepted" if row["verdict"] else "not accepted"),
        Column("probability", "score", 3),
        Column("marks", format=2),
        "explanation",
    )
    return Table.of("The examiner's judgment", shown, [judgment])


def _stages(found: Effects) -> Table:
    """The trees' probability, and the encoder's where it read."""
    rows = [{"by": "trees", "probability": found.trees}]
    if found.encoder is not None:
        rows.append({"by": "encoder", "probability": found.encoder})
    skipped = "The trees, or a rule, are sure: the encoder did not read this answer."
    columns = ("by", Column("probability", format=3))
    notes = (skipped,) if found.encoder is None else ()
    return Table.of("Verdict of each part", columns, rows, notes)


def _deciding(frame: pl.DataFrame) -> Table:
    return Table.of(
        "What moved the trees' verdict most",
        (
            Column("feature of the answer", lambda row: row["meaning"] or row["feature"]),
            Column("value", format=Format("{:.3g}".format)),
            Column("effect", format=Format("{:+.1f}".format)),
        ),
        frame,
        (
            "Effect: change of the log-odds against an ordinary answer's value, each feature by "
            "itself; features act together, so the effects do not add up to the probability.",
        ),
    )
