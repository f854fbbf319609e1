"""The judge contract: one method that every judge has, and four that a judge may declare.

Required: `judge`. Optional, each a protocol of its own: `validate` (`Validates`), `identity`
(`HasIdentity`), `requests` (`ListsRequests`) and `needs` (`DeclaresNeeds`). A judge is a
`@dataclass(frozen=True, kw_only=True)` whose fields are all of its parameters, registered with
`@register(name)`. `markscheme.testing.check_judge` proves the rules for any judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import polars as pl

from markscheme.contract.model_source import ModelSource

if TYPE_CHECKING:
    from markscheme.contract.chat import ChatRequest
    from markscheme.contract.needs import Needs


@runtime_checkable
class Judge(Protocol):
    """Whatever gives a verdict on answers."""

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """One row an answer, in the same order.

        Args:
            answers: `question`, `references`, `answer` (never null), and where there are any
                `reference_grades`, `reference_kind`, `context`.
            models: the models of the run.

        Returns:
            Any of the columns of `markscheme.tables.OUTCOME`; columns of `answers` may stay and are
            dropped, any other is an error: `score` from 0 to 1,
            `verdict` (Boolean), `relation`, `marks` from 0 to 2 (above 1 is a bonus), `status`,
            `explanation`, `raw`, `cost_usd`, `tokens_in`, `tokens_out`, `seconds`. Without
            `status`, a row with a verdict or a score is `judged` and any other `failed`. The
            outcome of a row may not depend on the other rows of the table.
        """
        ...


@runtime_checkable
class Validates(Protocol):
    """A judge that checks what the types of its parameters do not say."""

    def validate(self) -> None:
        """Check the parameters; called whenever a judge is made from its name or put to use.

        Raises:
            JudgeError: naming the parameter, its value and what is allowed.
        """
        ...


@runtime_checkable
class HasIdentity(Protocol):
    """A judge on which more has a bearing than its parameters."""

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What else must be equal before two figures may be compared, for the signature.

        Args:
            models: the models of the run; None where a signature is computed without a run.

        Returns:
            For instance the hash of weights or of a prompt, a model's name and revision.
        """
        ...


@runtime_checkable
class ListsRequests(Protocol):
    """A judge that can say beforehand what it will ask a chat model."""

    def requests(self, answers: pl.DataFrame) -> list[ChatRequest]:
        """The requests that these answers would cost, for estimates; nothing is sent."""
        ...


@runtime_checkable
class DeclaresNeeds(Protocol):
    """A judge whose needs depend on its parameters. Goes before what `register` was given."""

    @property
    def needs(self) -> Needs:
        """What this judge, with these parameters, needs."""
        ...
