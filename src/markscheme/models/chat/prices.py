"""What tokens cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PRICE_FIELDS = ("input", "cached", "output", "reasoning", "batch")
"""Fields of a model's entry that make its price."""

BATCH_SHARE = 0.5
"""What a batched call costs as a share of an ordinary one, where the entry does not say."""

_DATED = re.compile(r"[-@:]?(\d{4}-?\d{2}-?\d{2}|\d{4}|latest)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """US dollars for a million tokens.

    Attributes:
        input, output: in and out.
        cached: in, of what the server had cached; None for `input`.
        reasoning: out, of reasoning; None for `output`.
        batch: what a batched call costs as a share of an ordinary one; None for `BATCH_SHARE`.
    """

    input: float
    output: float
    cached: float | None = None
    reasoning: float | None = None
    batch: float | None = None

    def cost(
        self, tokens_in: int, tokens_out: int, *, cached: int = 0, reasoning: int = 0
    ) -> float:
        """US dollars for so many tokens; `cached` and `reasoning` are parts of the two."""
        cached, reasoning = min(cached, tokens_in), min(reasoning, tokens_out)
        old = self.input if self.cached is None else self.cached
        thought = self.output if self.reasoning is None else self.reasoning
        return (
            (tokens_in - cached) * self.input + cached * old
            + (tokens_out - reasoning) * self.output + reasoning * thought
        ) / 1e6  # fmt: skip


def price_in(entry: Mapping[str, Any]) -> Price | None:
    """The price in a model's entry, if there is one."""
    if "input" not in entry or "output" not in entry:
        return None
    given = {name: float(entry[name]) for name in PRICE_FIELDS if name in entry}
    return Price(**given)


def price_of(model: str, table: Mapping[str, Price]) -> Price | None:
    """The price of a model under its name, or under its name without a date; else None."""
    return table.get(model) or table.get(undated(model))


def undated(name: str) -> str:
    """A model's name without the date or the `latest` at its end."""
    return _DATED.sub("", name)
