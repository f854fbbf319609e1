"""MLflow: a scorer for its evaluations, and judgments written to its runs and traces.

from markscheme.integrations.mlflow import log_feedback, log_result, markscheme_scorer

mlflow.genai.evaluate(data=..., scorers=[markscheme_scorer("examiner")])
log_result(markscheme.judge("answers.jsonl"))  # figures and tables, to the active run
log_feedback(result.judgments)  # where the answers' ids are those of traces
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markscheme.api import Result
from markscheme.engine import ALL_SYSTEMS
from markscheme.errors import MissingExtraError
from markscheme.integrations.judging import (
    Evaluator,
    check_by,
    details_of,
    named_in,
    reason_of,
    why_not_judged,
)

try:
    import mlflow
    from mlflow.entities import (
        AssessmentError,
        AssessmentSource,
        AssessmentSourceType,
        Feedback,
    )
except ImportError:
    raise MissingExtraError("writing to MLflow", "mlflow") from None

if TYPE_CHECKING:
    import polars as pl
    from mlflow.genai.scorers import Scorer


def markscheme_scorer(
    judge: str = "examiner",
    *,
    by: str = "verdict",
    question: str = "question",
    references: str = "expected_response",
    name: str = "markscheme",
) -> Scorer:
    """A scorer for `mlflow.genai.evaluate`.

    Args:
        judge: a judge's name, with parameters if wanted.
        by: `verdict`, `score` or `marks`.
        question: the key in a row's `inputs`.
        references: the key in its `expectations`: a text, or a list of texts.
        name: the feedback's name.

    The answer is `outputs`, as text. What could not be judged has an error and no value, which
    MLflow leaves out of its means. Its metadata has relation, marks, score and signature.

    Raises:
        DataError: `by` is none of those.
    """
    evaluator = Evaluator(judge=judge, by=by)
    from mlflow.genai.scorers import scorer

    def scored(inputs: dict[str, Any], outputs: Any, expectations: dict[str, Any]) -> Feedback:
        row = evaluator.row(
            named_in(inputs, question, "the row's inputs"),
            named_in(expectations, references, "the row's expectations"),
            outputs,
        )
        return Feedback(name=name, **_feedback(row, by))

    made: Scorer = scorer(scored, name=name)
    return made


def log_result(result: Result, *, run_id: str | None = None, folder: str = "markscheme") -> None:
    """Write a result to a run: figures as metrics, judgments and figures as artifacts.

    Args:
        result: what `markscheme.judge` gave.
        run_id: the run; None is the active one, or a new one.
        folder: the artifacts' folder.

    Metrics are named `JUDGE/SYSTEM/accuracy`, `accuracy_low` and `accuracy_high` (95% interval),
    `mean_score`, `judged` and `not_judged`.
    """
    client = mlflow.MlflowClient()
    run = run_id or (mlflow.active_run() or mlflow.start_run()).info.run_id
    kept = ("accuracy", "accuracy_low", "accuracy_high", "mean_score", "judged", "not_judged")
    for row in result.summary.iter_rows(named=True):
        for figure in kept:
            if row.get(figure) is not None:
                system = "all" if row["system"] == ALL_SYSTEMS else row["system"]
                named = _metric_name(f"{row['judge']}/{system}/{figure}")
                client.log_metric(run, named, float(row[figure]))
    client.log_dict(run, dict(result.data), f"{folder}/figures.json")
    client.log_text(run, result.judgments.write_ndjson(), f"{folder}/judgments.jsonl")
    for judge, signature in result.judgments.select("judge", "signature").unique().iter_rows():
        client.set_tag(run, _metric_name(f"markscheme.signature.{judge}"), signature)


def log_feedback(judgments: pl.DataFrame, *, by: str = "verdict") -> int:
    """Write judgments to traces as feedback: the answers' ids are the traces' ids.

    Args:
        judgments: a result's `judgments`, of answers whose id column held the trace's id.
        by: `verdict`, `score` or `marks`.

    Returns:
        How many were written, each under its judge's name; one that was not judged as an error.

    Raises:
        DataError: `by` is none of those.
    """
    check_by(by)
    for row in judgments.iter_rows(named=True):
        given = _feedback(row, by)
        mlflow.log_feedback(trace_id=row["answer_id"], name=row["judge"], **given)
    return judgments.height


def _feedback(row: dict[str, Any], by: str) -> dict[str, Any]:
    shared = {
        "source": AssessmentSource(
            source_type=AssessmentSourceType.CODE, source_id=f"markscheme:{row['judge']}"
        ),
        "metadata": {name: str(value) for name, value in details_of(row).items()},
    }
    if row[by] is None:
        error = AssessmentError(error_code=row["status"], error_message=why_not_judged(row))
        return {"error": error, **shared}
    return {"value": row[by], "rationale": reason_of(row), **shared}


def _metric_name(text: str) -> str:
    """The characters that MLflow allows in a name; others become an underscore."""
    return "".join(one if one.isalnum() or one in "_-. /" else "_" for one in text)
