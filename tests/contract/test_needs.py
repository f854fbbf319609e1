"""What a judge declares, and that one that declares nothing is budgeted and not served."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import markscheme
from markscheme.contract.chat import ChatRequest, Message
from markscheme.contract.grammar import parse_judge
from markscheme.contract.judge import Judge, Needs, combined
from markscheme.contract.registry import JUDGES, asks_chat, judges, needs_of, register
from markscheme.engine import RunReport, process_pool
from markscheme.errors import JudgeError
from markscheme.judges.lexical import Regex
from markscheme.models import ModelOptions, Models, ServerOptions
from markscheme.service.allowed import Allowed, judges_that_need_nothing
from markscheme.tables import AnswersReader
from markscheme.testing import FaultServer, ScriptedChat


@dataclass(frozen=True, kw_only=True)
class AsksForEach:
    """Asks the run's chat model about every answer, as a third party's judge may."""

    model: str | None = None

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        requests = [
            ChatRequest(messages=(Message(role="user", content=text),))
            for text in answers["answer"]
        ]
        replies = models.chat(self.model).complete(requests)
        return pl.DataFrame(
            {
                "status": ["judged" if one.text else "skipped" for one in replies],
                "verdict": [True if one.text else None for one in replies],
            },
            schema={"status": pl.String, "verdict": pl.Boolean},
        )


@dataclass(frozen=True, kw_only=True)
class SaysItAsksNone(AsksForEach):
    """Declares that it asks no chat model, and asks one."""


@dataclass(frozen=True, kw_only=True)
class AsksSometimes:
    """Asks a chat model with one parameter and not with another."""

    by_chat: bool = False

    @property
    def needs(self) -> Needs:
        return Needs(chat=self.by_chat)

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return answers.with_columns(verdict=pl.lit(value=True))


@dataclass(frozen=True, kw_only=True)
class Around:
    """Has a judge deep inside a tuple of tuples."""

    groups: tuple[tuple[Judge, ...], ...] = ()
    first: Judge = field(default_factory=Regex)

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        return answers.with_columns(verdict=pl.lit(value=True))


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    register("old_style", needs="an LLM (--model)")(AsksForEach)
    register("says_none", needs=Needs(chat=False))(SaysItAsksNone)
    register("sometimes")(AsksSometimes)
    register("around", needs=Needs(chat=False))(Around)
    yield
    for name in ("old_style", "says_none", "sometimes", "around"):
        del JUDGES.known[name]


def answers(count: int) -> list[dict[str, Any]]:
    return [{"question": "q", "references": ["r"], "answer": f"a{n}"} for n in range(count)]


def run(judge: Judge, count: int, models: Models, *, workers: int) -> RunReport:
    from markscheme.api import run as judge_all

    return judge_all(
        AnswersReader([answers(count)]), [judge], out=None, models=models, workers=workers
    )


def test_every_shipped_judge_declares_its_needs() -> None:
    ours = [one for one in judges().values() if one.judge.__module__.startswith("markscheme.")]
    undeclared = [one.name for one in ours if one.needs.chat is None]
    assert not undeclared


def test_needs_read_well() -> None:
    assert str(Needs(chat=False)) == "nothing"
    assert str(Needs(chat=True)) == "a chat model (--model)"
    assert str(Needs(chat=False, extras=("hf",))) == "the extra hf"
    assert "may ask a chat model" in str(Needs())
    assert str(Needs(note="an LLM")) == "an LLM (not declared as values)"


def test_a_text_declares_nothing() -> None:
    needs = judges()["old_style"].needs
    assert needs == Needs(note="an LLM (--model)")
    assert needs.chat is None
    assert asks_chat(AsksForEach())


def test_needs_may_depend_on_parameters() -> None:
    assert not asks_chat(parse_judge("sometimes"))
    assert asks_chat(parse_judge("sometimes(by_chat=true)"))


def test_needs_of_another_type_are_refused() -> None:
    @register("wrongly")
    @dataclass(frozen=True, kw_only=True)
    class Wrongly:
        """Declares a text."""

        needs: str = "nothing"

        def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
            return answers

    try:
        with pytest.raises(JudgeError, match=r"Wrongly.needs is 'nothing'; it must be a Needs"):
            needs_of(Wrongly())
    finally:
        del JUDGES.known["wrongly"]


def test_judges_inside_count_at_any_depth() -> None:
    assert not asks_chat(Around())
    assert asks_chat(Around(groups=((Regex(),), (AsksForEach(),))))
    assert asks_chat(parse_judge("panel(judges=[exact_match, old_style])"))
    assert not asks_chat(parse_judge("panel(judges=[exact_match, contains])"))


def test_needs_of_several_judges() -> None:
    lexical = Needs(chat=False, references="required", question="unused")
    either = combined([lexical, Needs(chat=False, extras=("hf",), question="unused")])
    assert either.references == "optional"
    assert either.question == "unused"
    assert either.extras == ("hf",)
    assert combined([lexical, lexical]).references == "required"
    assert combined([lexical, Needs()]).chat is None
    assert combined([lexical, Needs(), Needs(chat=True)]).chat is True


def test_an_undeclared_judge_keeps_to_the_budget_with_several_workers(tmp_path: Path) -> None:
    """The third party's judge that made 30 calls where 10 were allowed, and 0 were reported."""
    with FaultServer() as server:
        options = ModelOptions(
            model="m",
            server=ServerOptions(base_url=server.url),
            max_calls=10,
            ledger=str(tmp_path / "ledger.sqlite"),
        )
        models = Models(options=options)
        report = run(AsksForEach(), 400, models, workers=3)
        assert len(server.requests) == 10
        assert models.budget.spending.calls == 10
        models.close()
    statuses = report.judgments.collect()["status"].value_counts().rows()
    assert dict(statuses) == {"judged": 10, "skipped": 390}


def test_a_judge_that_declares_no_chat_model_gets_none() -> None:
    chat = ScriptedChat(replies=lambda _: "Yes")
    with pytest.raises(JudgeError, match=r"says_none requested a chat model but declares"):
        markscheme.judge(answers(1), SaysItAsksNone(), models=Models(chat=chat))
    panel = parse_judge("panel(judges=[old_style, says_none])")
    with pytest.raises(JudgeError, match="says_none requested a chat model"):
        markscheme.judge(answers(1), panel, models=Models(chat=chat))
    assert len(chat.seen) == 1, "only the one that may ask has asked"


def test_nor_does_it_in_a_worker() -> None:
    options = ModelOptions(model="m", server=ServerOptions(base_url="http://127.0.0.1:1/v1"))
    with process_pool(2, Models(options=options)) as ask:
        items = markscheme.read_answers(answers(1))
        with pytest.raises(JudgeError, match="says_none requested a chat model"):
            ask(SaysItAsksNone(), items, Models(options=options))


def test_an_undeclared_judge_is_not_served_unless_it_is_named() -> None:
    served = judges_that_need_nothing()
    assert {"old_style", "sometimes"} & set(served) == set()
    assert {"examiner", "exact_match", "entailment"} <= set(served)
    allowed = Allowed(["examiner", "old_style(model=m)"], Models(chat=ScriptedChat(replies={})))
    assert [one.waits for one in allowed.served] == [False, True]
