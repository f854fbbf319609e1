"""No judge that asks a chat model takes what failing models and servers say for a judgment."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import pytest

from markscheme.contract.model_source import ModelSource
from markscheme.contract.needs import Needs
from markscheme.contract.registry import judges, register
from markscheme.errors import JudgeError
from markscheme.models.chat import ChatRequest, Message
from markscheme.testing import check_garbage_replies

ASKING = [found.example for found in judges().values() if found.needs.chat]
ASKING = [example for example in ASKING if "'" not in example]
STAGED = [
    "entailment(statements=chat, test=chat)", "entailment(statements=chat, test=chat, marks=off)",
    "entailment(test=chat, marks=difficulty)", "claims(statements=chat, test=chat)",
    "pointwise(references=hidden)", "listwise(order=shuffled)",
]  # fmt: skip


@pytest.mark.parametrize("judge", [*ASKING, *STAGED])
def test_garbage_is_no_judgment(judge: str) -> None:
    check_garbage_replies(judge)


@register("gullible", needs=Needs(chat=True))
@dataclass(frozen=True, kw_only=True)
class Gullible:
    """Accepts whatever the model says."""

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Ask, and accept."""
        request = ChatRequest(messages=(Message(role="user", content="?"),))
        models.chat().complete([request])
        return pl.DataFrame({"verdict": [True] * answers.height})


def test_a_judge_that_believes_anything_is_caught() -> None:
    with pytest.raises(JudgeError, match="gullible judged on the reply ''"):
        check_garbage_replies("gullible")
