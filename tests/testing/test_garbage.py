"""No judge that asks a chat model takes what failing models and servers say for a judgment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl
import pytest

from garbage_generator import generated_garbage
from markscheme.contract import ChatRequest, Message
from markscheme.contract.judge import ModelSource, Needs
from markscheme.contract.registry import judges, register
from markscheme.errors import JudgeError
from markscheme.judges.entailment import read_statement
from markscheme.judges.listwise.replies import read_rank, read_ten
from markscheme.judges.prompted import PAIR
from markscheme.testing import check_garbage_replies
from markscheme.text.replies.entailment import read_entailment
from markscheme.text.replies.grades import read_grade, read_score
from markscheme.text.replies.reply import Reading
from markscheme.text.replies.verdicts import read_yes_no

ASKING = [found.example for found in judges().values() if found.needs.chat]
ASKING = [example for example in ASKING if "'" not in example]
STAGED = [
    "cascade(first=token_f1, then=llm_grader, accept=0.9, reject=0.1)",
    "panel(judges=[llm_evouna, llm_kamalloo, llm_grader])",
    "entailment(statements=chat, test=chat)", "entailment(statements=chat, test=chat, marks=off)",
    "entailment(test=chat, marks=difficulty)", "claims(statements=chat, test=chat)",
    "pointwise(references=hidden)", "listwise(order=shuffled)",
]  # fmt: skip

MORE = [
    "cascade(first=llm_kamalloo, then=llm_grader)",
    "panel(judges=[llm_evouna, llm_score], vote=mean)",
    "llm_evouna(samples=3, temperature=0.7, sure=0.95)",
    "llm_kamalloo(samples=3, temperature=0.7, vote=mean)",
]
PARSERS: dict[str, Callable[[str], Reading]] = {
    "yes_no": read_yes_no,
    "yes_no_last": lambda reply: read_yes_no(reply, verdict_last=True),
    "score": read_score,
    "grade": read_grade,
    "entailment": read_entailment,
    "ten": read_ten,
    "pair": PAIR,
    "rank": lambda reply: read_rank(reply, references=3),
    "statement": lambda reply: read_statement(
        reply, question="Who wrote Emma?", answer="Jane Austen"
    ),
}


@pytest.mark.parametrize(
    "judge",
    [*ASKING, *(pytest.param(one, marks=pytest.mark.proof(area="attacks")) for one in STAGED)],
)
def test_garbage_is_no_judgment(judge: str) -> None:
    check_garbage_replies(judge)


@pytest.mark.parametrize("judge", ASKING)
def test_generated_garbage_is_no_judgment(judge: str) -> None:
    check_garbage_replies(judge, replies=generated_garbage(10, seed=1))


@pytest.mark.proof(area="attacks")
@pytest.mark.parametrize("judge", [*ASKING, *STAGED, *MORE])
def test_much_generated_garbage_is_no_judgment(judge: str) -> None:
    check_garbage_replies(judge, replies=generated_garbage(60, seed=2))


@pytest.mark.parametrize(
    "count", [500, pytest.param(60_000, marks=pytest.mark.proof(area="attacks"))]
)
def test_no_parser_reads_a_verdict_in_generated_garbage(count: int) -> None:
    for reply in generated_garbage(count, seed=3):
        for name, read in PARSERS.items():
            found = read(reply)
            assert found.status != "judged", (name, reply, found)
            assert found.reason


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
