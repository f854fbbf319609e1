"""Why accepted answers fail exact match, and why judges err: the public `failures`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from markscheme.agreement import JudgmentsSource, TableSource
from markscheme.analysis.accepted_answers import read_accepted
from markscheme.analysis.error_categories import error_rates, judge_errors
from markscheme.analysis.failure_tables import errors_table, modes_table, rates_table
from markscheme.analysis.mode_detection import failure_modes
from markscheme.analysis.options import FailureOptions
from markscheme.errors import MarkschemeError
from markscheme.models import Models
from markscheme.options import with_keywords
from markscheme.results import TableResult


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FailuresResult(TableResult):
    """Answers that are accepted and fail exact match. `frame` has a row for each, with its mode.

    Attributes:
        error_rates: how often each judge rejects the answers of each mode; None without judgments.
        judge_errors: each judge's errors by category; None where not asked for.
    """

    error_rates: pl.DataFrame | None
    judge_errors: pl.DataFrame | None

    def write_details(self, path: str | Path) -> Path:
        """Write every tagged answer to a file: .jsonl, .csv or .parquet.

        Raises:
            MarkschemeError: another ending.
        """
        target = Path(path)
        table = self.frame.drop("row")
        match target.suffix.lower():
            case ".jsonl":
                table.write_ndjson(target)
            case ".csv":
                flat = table.with_columns(pl.col("references").list.join(" || "))
                flat.write_csv(target)
            case ".parquet":
                table.write_parquet(target)
            case other:
                raise MarkschemeError(
                    f"--details {target}: .jsonl, .csv or .parquet, not {other!r}"
                )
        return target


def failures(
    judged: JudgmentsSource,
    labels: TableSource | None = None,
    options: FailureOptions | None = None,
    *,
    answers: TableSource | None = None,
    **keywords: Any,
) -> FailuresResult:
    """Why answers that people accept fail exact match, mode by mode, and which judges fail too.

    Args:
        judged: labelled answers, judgments, a run's folder, or what `markscheme.judge` returned.
        labels: people's labels; None takes those in `judged`.
        options: see `FailureOptions`.
        answers: the judged answers, where judgments lack questions and references.
        keywords: single options, which go before those of `options`.

    Returns:
        A row per answer that is accepted and fails exact match: the answer, `group` and `mode`
        (Kamalloo et al. 2023, section 5) and the `evidence` of the rule that found it.

    Raises:
        DataError: the files cannot be read, or have no references.
        AgreementError: nothing says which answers are right.

    Example:
        >>> import markscheme
        >>> row = {"question": "Who wrote Emma?", "references": ["Jane Austen"],
        ...        "answer": "It was Jane Austen.", "label": 1}
        >>> markscheme.failures([row]).frame.height
        1
    """
    chosen = with_keywords(FailureOptions, options, keywords)
    table, verdicts = read_accepted(judged, chosen, labels=labels, answers=answers)
    modes = failure_modes(table, Models())
    tables = [modes_table(modes, examples=chosen.examples)]
    data: dict[str, Any] = {"command": "failures", "modes": modes.to_dicts()}
    rates = errors = None
    if verdicts is not None:
        rates = error_rates(verdicts, modes)
        tables.append(rates_table(rates))
        data["error_rates"] = rates.to_dicts()
        if chosen.judge_errors:
            text = table.select("answer_id", "question", "references", "answer", "accepted")
            errors = judge_errors(verdicts.join(text, on="answer_id"))
            tables.append(errors_table(errors, examples=chosen.examples))
            data["judge_errors"] = errors.to_dicts()
    return FailuresResult(
        frame=modes, tables=tuple(tables), data=data, error_rates=rates, judge_errors=errors
    )
