"""One figure of a table: a number with its interval, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A statistic, or the reason it is undefined. Exactly one of `value` and `reason` is set.

    `low` and `high` bound the interval where one was asked for, and `method` says in a word how it
    (or a p-value) was made; `docs/coverage.md` explains the words. `resamples` is the number of
    resamples on which the statistic was defined.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    resamples: int | None = None
    method: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.reason is None):
            raise ValueError("a figure has either a value or a reason why there is none")
        for name in ("value", "low", "high"):
            number = getattr(self, name)
            if number is not None and math.isnan(number):
                raise ValueError(f"a figure's {name} is never NaN; give the reason instead")

    def text(self, *, scale: float = 1.0, digits: int = 3) -> str:
        """The figure as a table shows it: `0.806 [0.784, 0.827]` or `n/a (reason)`."""
        if self.value is None:
            return f"n/a ({self.reason})"
        shown = f"{self.value * scale:.{digits}f}"
        if self.low is None or self.high is None:
            return shown
        return f"{shown} [{self.low * scale:.{digits}f}, {self.high * scale:.{digits}f}]"


def figure(value: float, reason: str) -> Figure:
    """`value` as a figure, or `reason` where the value is NaN or infinite."""
    number = float(value)
    return Figure(value=number) if math.isfinite(number) else Figure(reason=reason)


def share_text(value: float | None, *, signed: bool = False) -> str:
    """A share as a percentage with one decimal; `-` for None."""
    if value is None:
        return "-"
    return f"{100 * value:+.1f}" if signed else f"{100 * value:.1f}"


def p_text(value: float | None, reason: str | None = None) -> str:
    """A p-value as papers print it: `0.034`, `2.1e-05`, `n/a (reason)`."""
    if value is None:
        return f"n/a ({reason})" if reason else "-"
    if not value:
        return "<1e-300"
    return f"{value:.1e}" if value < 0.001 else f"{value:.3f}"


def plain(value: Any) -> Any:
    """Any result of this package as plain values for JSON.

    A figure becomes an object with `value` (null where undefined) and those of `low`, `high`,
    `reason`, `resamples` and `method` that it has; a table becomes a list of its rows.
    """
    if isinstance(value, Figure):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: part for name, part in parts.items() if part is not None or name == "value"}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, pl.DataFrame):
        return value.to_dicts()
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(part) for part in value]
    return value
