"""Langfuse: judgments written to traces as scores, and an evaluator for its experiments.

from langfuse import get_client
from markscheme.integrations.langfuse import markscheme_evaluator, send_scores

result = markscheme.judge(traces, columns={"answer_id": "trace_id"})
send_scores(result.judgments, get_client())
dataset.run_experiment(name="new", task=answer, evaluators=[markscheme_evaluator("examiner")])
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from markscheme.errors import MissingExtraError
from markscheme.integrations.judging import (
    Evaluator,
    check_by,
    details_of,
    named_in,
    reason_of,
)

try:
    from langfuse import Evaluation
except ImportError:
    raise MissingExtraError("writing to Langfuse", "langfuse") from None

if TYPE_CHECKING:
    import polars as pl
    from langfuse import Langfuse


def send_scores(
    judgments: pl.DataFrame,
    client: Langfuse,
    *,
    by: str = "verdict",
    observations: Mapping[str, str] | None = None,
) -> int:
    """Write judgments to traces by Langfuse's own client: the answers' ids are the traces' ids.

    Each has its judge's name, the value (a verdict is a BOOLEAN score), the explanation as comment,
    and relation, marks, score and signature as metadata. Its id follows from trace and judge, so
    that sending again replaces. What was not judged is not sent. The client sends in the background
    and logs what the server refuses; this waits until its queue is empty.

    Args:
        judgments: a result's `judgments`, of answers whose id column held the trace's id.
        client: a `Langfuse` client.
        by: `verdict`, `score` or `marks`.
        observations: trace id to the observation that the score belongs to.

    Returns:
        How many were sent.

    Raises:
        DataError: `by` is none of those.
    """
    check_by(by)
    known = [row for row in judgments.iter_rows(named=True) if row[by] is not None]
    for row in known:
        trace = row["answer_id"]
        client.create_score(
            score_id=hashlib.sha256(f"{trace}\n{row['judge']}\n{by}".encode()).hexdigest()[:32],
            trace_id=trace,
            observation_id=(observations or {}).get(trace),
            **{**_written(row, by), "value": float(row[by])},
        )
    client.flush()
    return len(known)


def markscheme_evaluator(
    judge: str = "examiner",
    *,
    by: str = "verdict",
    question: str = "question",
    references: str = "references",
) -> Callable[..., Evaluation | list[Evaluation]]:
    """An evaluator for `run_experiment`.

    Args:
        judge: a judge's name, with parameters if wanted.
        by: `verdict`, `score` or `marks`.
        question: the key in an item's `input`, where that is not a text.
        references: the key in its `expected_output`, where that is no text or list.

    An answer that could not be judged gets no evaluation.

    Raises:
        DataError: `by` is none of those.
    """
    evaluator = Evaluator(judge=judge, by=by)

    def evaluate(
        *, input: Any, output: Any, expected_output: Any = None, **_: Any
    ) -> Evaluation | list[Evaluation]:
        row = evaluator.row(
            _part(input, question, "input"),
            _part(expected_output, references, "expected_output"),
            output,
        )
        return [] if row[by] is None else Evaluation(**_written(row, by))

    return evaluate


def _written(row: dict[str, Any], by: str) -> dict[str, Any]:
    """A judgment as a score of Langfuse: called by its judge, and `score` or `marks`."""
    return {
        "name": row["judge"] if by == "verdict" else f"{row['judge']}.{by}",
        "value": row[by],
        "comment": reason_of(row),
        "metadata": details_of(row),
        "data_type": "BOOLEAN" if by == "verdict" else "NUMERIC",
    }


def _part(given: Any, key: str, where: str) -> Any:
    return named_in(given, key, f"the item's {where}") if isinstance(given, Mapping) else given
