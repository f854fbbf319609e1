"""Who turns a question and an answer into a statement: a chat model, another package, or nobody.

Each takes a table of pairs and gives the same rows with `OUTCOME`. A pair that occurs often is made
once; a pair of which no statement came has a status that says why, and a null statement.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import polars as pl

from markscheme.contract import ChatReply, ModelSource, Needs, PartKind
from markscheme.errors import MissingExtraError, UnknownNameError
from markscheme.judges.entailment.statements import read_statement
from markscheme.judges.prompted import COST, AskedPairs, PairStage, Sample
from markscheme.text.replies import Reading

OUTCOME: Mapping[str, Any] = {
    "statement": pl.String,
    "status": pl.String,
    "reason": pl.String,
    "raw": pl.String,
    **COST,
}
"""What a maker adds to the pairs. `statement` is null unless `status` is `judged`; the others are
`unparsed` (nothing readable came, a loop, or there is no answer), `refused`, `failed` and `skipped`
(the budget is spent). The cost of a request is in the first of equal pairs."""

STATED = PairStage(
    purpose="statements",
    columns=("question", "answer"),
    schema=OUTCOME,
    lacking={"status": "unparsed", "reason": "no question or no answer"},
)
"""What a maker finds for each pair of question and answer."""

RESEARCH_MAKERS = {"rules": "by rules", "seq2seq": "by sequence models"}
"""The makers that `markscheme[research]` adds, named where it is not installed."""


@runtime_checkable
class StatementMaker(Protocol):
    """Whatever makes statements."""

    def make(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """The same rows in the same order, with the columns of `OUTCOME`.

        Args:
            pairs: `question` and `answer`, both String.
            models: where models come from, as judges get it.
        """
        ...

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What decides besides the maker's own fields, for signatures."""
        ...


STATEMENT_MAKERS = PartKind("maker of statements", "make(pairs, models)")
"""The registered makers of statements."""

register_statement_maker = STATEMENT_MAKERS.register
"""Class decorator: make a maker of statements known by a name; see `PartKind.register`."""


def statement_maker(name: str) -> StatementMaker:
    """The maker called `name`.

    Args:
        name: `rules`; `bare`, the answers unchanged; `chat`, or `chat:MODEL` for another
            model than the run's; `seq2seq:NAME_OR_FOLDER`, such as
            `seq2seq:domenicrosati/QA2D-t5-base`; or the name of one that others registered, with
            its parameters.

    Raises:
        UnknownNameError: there is no such maker.
        JudgeError: a parameter is wrong.
        MissingExtraError: `markscheme[research]` has the maker, and is not installed.
    """
    try:
        found: StatementMaker = STATEMENT_MAKERS.parse(name)
    except UnknownNameError as error:
        if error.name in RESEARCH_MAKERS and error.name not in STATEMENT_MAKERS.known:
            what = f"making statements {RESEARCH_MAKERS[error.name]}"
            raise MissingExtraError(what, "research") from None
        raise
    return found


@register_statement_maker("bare", needs=Needs(chat=False))
@dataclass(frozen=True, kw_only=True)
class BareAnswers:
    """Answers used as statements: for an entailment test that was trained on answers."""

    def make(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Take every answer as its statement; see `StatementMaker.make`."""

        def unchanged(distinct: list[tuple[str, str]]) -> list[dict[str, Any]]:
            return [{"statement": answer, "status": "judged"} for _, answer in distinct]

        return STATED.outcomes(pairs, unchanged)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Nothing: nothing is made."""
        return {}


@register_statement_maker("chat", needs=Needs(chat=True), shorthand="model")
@dataclass(frozen=True, kw_only=True)
class ChatStatements(AskedPairs):
    """A language model with the paper's two-shot prompt (Yao & Barbosa 2024, Table 14).

    The paper sends seed 42.
    """

    PROMPT: ClassVar[str] = "statement_yao"
    VARIABLES: ClassVar[tuple[str, str]] = ("question", "answer")

    def make(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Ask about every different pair; see `StatementMaker.make`.

        Raises:
            ModelError: no chat model was given.
        """
        return STATED.outcomes(pairs, functools.partial(self._outcomes, models=models))

    def _read(self, reply: ChatReply, pair: tuple[str, str]) -> Reading:
        question, answer = pair
        text = reply.text or ""
        return read_statement(text, question=question, answer=answer, finished=reply.finished)

    def _found(self, sample: Sample) -> dict[str, Any]:
        return {"statement": sample.product, "reason": sample.reason or None}
