"""A reward function for training with reinforcement learning, in the form that TRL calls.

    from trl import GRPOTrainer
    from markscheme.integrations.rewards import MarksReward

    trainer = GRPOTrainer(model=..., reward_funcs=MarksReward(), train_dataset=dataset)

The dataset has a column `references` (a text or a list) next to `prompt`, and `question` where the
prompt is more than the question. Yao & Barbosa (2024, section 4) ask for a softer signal than right
or wrong: by default the reward is the marks, which give part of the credit to answers that say less
than the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from markscheme.errors import DataError
from markscheme.integrations.judging import Evaluator, judge_texts
from markscheme.metrics import reward

Message = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class MarksReward(Evaluator):
    """Marks for each completion: batched, and the same for the same texts in any batch.

    Attributes:
        judge: any judge; the default needs no key, network or GPU.
        by: `marks` (partial credit; the score where a judge gives no marks), `score`, or `verdict`
            (1 or 0).
        references: the dataset's column with references.
        question: its column with the question; the last user message of the prompt where a row
            has none.
        wrong, right: what no marks and full marks are worth; the rest lies between, or above for
            bonus marks.
    """

    by: Literal["marks", "score", "verdict"] = "marks"
    references: str = "references"
    question: str = "question"
    wrong: float = 0.0
    right: float = 1.0

    def __call__(
        self,
        prompts: Sequence[str | list[Message]],
        completions: Sequence[str | list[Message]],
        **columns: Any,
    ) -> list[float | None]:
        """Rewards of completions, in order.

        Args:
            prompts: texts, or conversations as lists of messages.
            completions: texts, or lists of messages, the last of which is judged.
            columns: the dataset's other columns, each with one value per completion.

        Returns:
            One reward per completion; None, which trainers leave out, where it was not judged.

        Raises:
            DataError: there is no column of references.
        """
        if self.references not in columns:
            raise DataError(
                f"the dataset has no column {self.references!r}; its columns are "
                f"{', '.join(sorted(columns)) or 'none'}; name it with references="
            )
        asked = columns.get(self.question, [None] * len(prompts))
        judgments = judge_texts(
            [
                _question(prompts[row]) if question is None else str(question)
                for row, question in enumerate(asked)
            ],
            columns[self.references],
            [_last(one) for one in completions],
            judge=self.judge,
        )
        return [
            reward(row, self.by, wrong=self.wrong, right=self.right)
            for row in judgments.iter_rows(named=True)
        ]


def _question(prompt: str | list[Message]) -> Any:
    """The prompt's text, or the last message of its user: the beginning of a reply may follow."""
    if isinstance(prompt, str):
        return prompt
    return _last([one for one in prompt if one.get("role") == "user"] or prompt)


def _last(text: str | list[Message]) -> Any:
    """The text, or the content of a conversation's last message; None where it calls a tool."""
    if isinstance(text, str):
        return text
    return text[-1].get("content") if text else ""
