"""Requests about pairs of texts: each different pair once, in the order of the rows.

Tests of entailment and makers of statements take tables of pairs and give the same rows with what
they found.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from markscheme.contract import ChatReply, ChatRequest, ModelSource
from markscheme.errors import JudgeError
from markscheme.judges.prompted.asking import AsksChat, Call, Sample, request_of
from markscheme.tables import JUDGMENTS_SCHEMA, SPENT, spread
from markscheme.text.replies import Reading

COST: Mapping[str, Any] = {name: JUDGMENTS_SCHEMA[name] for name in SPENT}
"""Columns of what a pair cost."""

Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class PairStage:
    """Something found about pairs of texts, once for each different pair.

    Attributes:
        purpose: what pairs are needed for, which begins a message.
        columns: what makes pairs different; the last two are the texts.
        schema: the columns of an outcome.
        lacking: the outcome of a row that lacks a text.
    """

    purpose: str
    columns: tuple[str, ...]
    schema: Mapping[str, Any]
    lacking: Mapping[str, Any]

    def outcomes(
        self,
        pairs: pl.DataFrame,
        find: Callable[[list[Any]], Sequence[Mapping[str, Any]]],
        *,
        keys: pl.DataFrame | None = None,
    ) -> pl.DataFrame:
        """The pairs with their outcomes; the cost of a pair is in the first row that uses it.

        Args:
            pairs: the table.
            find: gives an outcome for each of some different pairs, tuples of `columns`.
            keys: what is taken in place of `columns` of the table.

        Raises:
            JudgeError: a column is missing.
        """
        missing = [name for name in self.columns if name not in pairs.columns]
        if keys is None and missing:
            needed = ", ".join(self.columns)
            raise JudgeError(f"{self.purpose} need the columns {needed}; {missing} missing")
        known: dict[Any, int] = {}
        place = [
            known.setdefault(row, len(known))
            if all(text and text.strip() for text in row[-2:])
            else None
            for row in (pairs.select(self.columns) if keys is None else keys).iter_rows()
        ]
        rows = [*find(list(known)), self.lacking]
        table = pl.DataFrame(
            [{**dict.fromkeys(self.schema), **row} for row in rows], schema=dict(self.schema)
        )
        index = pl.Series([len(known) if one is None else one for one in place], dtype=pl.UInt32)
        return pairs.drop(self.schema, strict=False).hstack(spread(table, index))

    def completed(self, found: pl.DataFrame, pairs: pl.DataFrame, name: str) -> pl.DataFrame:
        """The columns of an outcome from what a stage returned for pairs; null where it lacks one.

        Args:
            found: what it returned; its statuses may be of any text type.
            pairs: what it was called with.
            name: the stage, for the message.

        Raises:
            JudgeError: it returned another number of rows.
        """
        if found.height != pairs.height:
            raise JudgeError(
                f"{name} returned {found.height} rows for {pairs.height}; it must return one row "
                "a pair, in order"
            )
        lacking = {
            column: pl.lit(None, dtype=kind)
            for column, kind in self.schema.items()
            if column not in found.columns
        }
        return found.with_columns(**lacking).select(
            pl.col(column).cast(kind) for column, kind in self.schema.items()
        )


@dataclass(frozen=True, kw_only=True)
class AskedPairs(AsksChat):
    """A language model judges pairs of texts. `VARIABLES` are the prompt's names for them.

    Attributes:
        temperature, max_tokens: the prompt's if none.
        seed: for servers that can repeat a sample; none sends none.
        repair: ask once more where a reply cannot be read.
    """

    VARIABLES: ClassVar[Pair] = ("", "")
    REPEATED: ClassVar[int | None] = 400
    """A loop need not be repeated."""

    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    repair: bool = True

    @abstractmethod
    def _read(self, reply: ChatReply, pair: Pair) -> Reading:
        """The reading of a reply whose status is `ok`; `reason` says why it cannot be read."""

    @abstractmethod
    def _found(self, sample: Sample) -> dict[str, Any]:
        """The columns of an outcome besides `status`, `raw` and what it cost."""

    def _outcomes(self, distinct: Sequence[Pair], models: ModelSource) -> list[dict[str, Any]]:
        """An outcome for each pair, repairs done.

        Raises:
            ModelError: no chat model was given.
        """
        if not distinct:
            return []
        calls = [
            Call(request=self._request(pair), reader=functools.partial(self._read, pair=pair))
            for pair in distinct
        ]
        return [
            {"status": one.status, "raw": one.raw, **one.spent, **self._found(one)}
            for one in self._ask(self._chat(models), calls, repair=self.repair)
        ]

    def _request(self, pair: Pair) -> ChatRequest:
        return request_of(
            self.template,
            self.template.turns(dict(zip(self.VARIABLES, pair, strict=True))),
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            seed=self.seed,
        )
