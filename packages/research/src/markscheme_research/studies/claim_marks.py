"""One long answer, claim by claim: what `markscheme research claims` shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import polars as pl

from markscheme.contract import ModelSource, judge_name, parse_judge
from markscheme.errors import JudgeError
from markscheme.models import Models
from markscheme.results import Column, Table, TableResult, flat_frame
from markscheme.tables import read_answers
from markscheme_research.judges import Claims


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ClaimsResult(TableResult):
    """The claims of one answer. `frame` has a row per claim: outcome and probabilities.

    Attributes:
        judgment: status, verdict, marks, relation and explanation of the whole answer.
    """

    judgment: Mapping[str, Any]


def mark_claims(
    question: str,
    references: str | Sequence[str],
    answer: str,
    judge: str | Claims = "claims",
    *,
    context: str | None = None,
    models: ModelSource | None = None,
) -> ClaimsResult:
    """Split an answer into claims, and say which are supported, contradicted or extra.

    Args:
        question: the question.
        references: the reference answers, or the only one.
        answer: a system's answer.
        judge: the judge `claims`, with parameters where wanted.
        context: a passage that may support claims as well.
        models: opens weights and servers.

    Raises:
        JudgeError: another judge is named.
        DataError: question or references are empty.
        ModelError: as judging does.
    """
    chosen = parse_judge(judge)
    if not isinstance(chosen, Claims):
        raise JudgeError(f"--judge {judge!r} is not the judge claims, as in claims(test=chat)")
    given = [references] if isinstance(references, str) else list(references)
    row: dict[str, Any] = {"question": question, "references": given, "answer": answer}
    answers = read_answers([row | ({"context": context} if context else {})])
    found = chosen.judge(answers, Models() if models is None else models).row(0, named=True)
    listed = orjson.loads(found["raw"])["claims"] if found["raw"] else []
    data = {
        "command": "claims",
        **row,
        "context": context,
        "judge": judge_name(chosen),
        "judgment": {name: value for name, value in found.items() if name != "raw"},
        "claims": listed,
    }
    return ClaimsResult(
        frame=flat_frame(listed) if listed else pl.DataFrame(),
        tables=(_table(listed),) if listed else (),
        data=data,
        judgment=data["judgment"],
    )


def _table(listed: Sequence[Mapping[str, Any]]) -> Table:
    return Table.of(
        "Claims",
        (
            "outcome",
            "claim",
            Column("nearest reference", lambda one: one["nearest_reference"] or None, missing="-"),
            Column("says it", "entails_reference", 2),
            Column("follows from it", "reference_entails", 2),
            Column("follows from context", "context_entails", 2, show=None),
        ),
        listed,
        [
            "says it: probability that the claim entails a reference; follows from it: that a "
            "reference entails the claim."
        ],
    )
