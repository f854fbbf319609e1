"""A Python assertion for promptfoo: the output against references, by any judge.

In promptfooconfig.yaml, with this module's `get_assert` imported by a file of your own:

    # markscheme_assert.py
    from markscheme.integrations.promptfoo import get_assert

    # promptfooconfig.yaml
    defaultTest:
      assert:
        - type: python
          value: file://markscheme_assert.py
          config: {judge: examiner, question: question, references: references}
"""

from __future__ import annotations

from typing import Any

from markscheme.errors import DataError
from markscheme.integrations.judging import BY, Evaluator, named_in, reason_of

_DEFAULTS = {
    "judge": "examiner",
    "by": "verdict",
    "question": "question",
    "references": "references",
    "threshold": 0.5,
}


def get_assert(output: str, context: dict[str, Any]) -> dict[str, Any]:
    """What promptfoo calls with a model's output.

    Args:
        output: the model's output.
        context: promptfoo's; the test's `vars` have question and references (a text or a list),
            the assertion's `config` may name `judge`, `by` (`verdict`, `score` or `marks`), the
            variables `question` and `references`, and the `threshold` that a score or marks pass.

    Returns:
        promptfoo's grading result: `pass`, `score`, `reason`, and `namedScores` with verdict, score
        and marks, those that the judge gives.

    Raises:
        DataError: the test has no such variable, or the config an unknown key.
        NotJudgedError: the answer was not judged. promptfoo knows pass and fail only, and shows the
            error as the reason of a failure.
    """
    options = {**_DEFAULTS, **(context.get("config") or {})}
    if unknown := sorted(set(options) - set(_DEFAULTS)):
        raise DataError(f"config has {', '.join(unknown)}; it takes {', '.join(_DEFAULTS)}")
    by = options["by"]
    evaluator = Evaluator(judge=options["judge"], by=by)
    question, references = (
        named_in(context.get("vars"), options[name], "the test's vars")
        for name in ("question", "references")
    )
    row = evaluator.row(question, references, output)
    worth = evaluator.value(row)
    named = {name: float(row[name]) for name in BY if row[name] is not None}
    return {
        "pass": bool(row["verdict"]) if by == "verdict" else worth >= float(options["threshold"]),
        "score": worth,
        "reason": reason_of(row),
        "namedScores": {f"markscheme_{name}": value for name, value in named.items()},
    }
