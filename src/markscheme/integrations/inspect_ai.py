"""A scorer for inspect_ai: the model's answer against the sample's target, by any judge.

from inspect_ai import Task
from markscheme.integrations.inspect_ai import markscheme_scorer

Task(dataset=..., solver=..., scorer=markscheme_scorer("examiner"))
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from markscheme.errors import MissingExtraError
from markscheme.integrations.judging import Evaluator

try:
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, Target, accuracy, scorer, stderr
except ImportError:
    raise MissingExtraError("the scorer for inspect_ai", "inspect") from None

if TYPE_CHECKING:
    from inspect_ai.scorer import Scorer
    from inspect_ai.solver import TaskState


@scorer(metrics=[accuracy(), stderr()])
def markscheme_scorer(
    judge: str = "examiner", *, by: Literal["verdict", "score", "marks"] = "verdict"
) -> Scorer:
    """Score a sample by a judge of markscheme.

    Args:
        judge: a judge's name, with parameters if wanted.
        by: `verdict` gives C or I; `score` and `marks` a number.

    The question is the sample's input, the references are its target. What could not be judged is
    left unscored, with the status as reason: never wrong. Relation, marks, score and signature
    are in the score's metadata.
    """
    evaluator = Evaluator(judge=judge, by=by)

    async def score(state: TaskState, target: Target) -> Score:
        said = state.output.completion if state.output else None
        row = await asyncio.to_thread(evaluator.row, state.input_text, list(target), said)
        kept = {name: row[name] for name in ("status", "score", "marks", "relation", "signature")}
        texts = {"answer": said, "explanation": row["explanation"], "metadata": kept}
        if row[by] is None:
            return Score.unscored(reason=row["status"], **texts)
        value = row[by] if by != "verdict" else CORRECT if row["verdict"] else INCORRECT
        return Score(value=value, **texts)

    return score
