"""One figure of a table: a number with its interval, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import polars as pl

METHODS = (
    "wilson", "wilson-t", "clopper-pearson", "t", "fieller-t", "fisher-z", "betting", "regression",
    "ppi-t", "tango", "exchange", "mcnemar", "pairs", "exact", "score", "fisher-exact",
    "brunner-munzel",
)  # fmt: skip
"""How an interval or a p-value was made, in a word; `docs/coverage.md` explains each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A statistic, or the reason it is undefined. Exactly one of `value` and `reason` is set.

    `low` and `high` bound the interval where one was asked for, and `method` says in a word of
    `METHODS` how it (or a p-value) was made. `resamples` is the number of resamples on which the
    statistic was defined.
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
        if self.low is not None and self.method is None:
            raise ValueError("a figure with an interval says its method")
        if self.method is not None and self.method not in METHODS:
            raise ValueError(f"no method {self.method!r}; there are {', '.join(METHODS)}")

    def text(self, *, scale: float = 1.0, digits: int = 3) -> str:
        """The figure as a table shows it: `0.806 [0.784, 0.827]` or `n/a (reason)`."""
        if self.value is None:
            return f"n/a ({self.reason})"
        shown = f"{self.value * scale:z.{digits}f}"
        if self.low is None or self.high is None:
            return shown
        return f"{shown} [{self.low * scale:z.{digits}f}, {self.high * scale:z.{digits}f}]"


def figure(value: float, reason: str) -> Figure:
    """`value` as a figure, or `reason` where the value is NaN or infinite."""
    number = float(value)
    return Figure(value=number) if math.isfinite(number) else Figure(reason=reason)


def methods_of(figures: Iterable[Figure]) -> str:
    """The words for how their intervals and p-values were made: `wilson-t, fisher-z`."""
    return ", ".join(dict.fromkeys(one.method for one in figures if one.method))


def interval_note(
    figures: Iterable[tuple[str, Figure]], confidence: float = 0.95
) -> tuple[str, ...]:
    """What stands below a table of figures with their names; nothing where none has an interval.

    `95% intervals: wilson-t`, or where the way is not the same for all `95% intervals: wilson-t
    (accuracy, recall), fisher-z (kappa)`.
    """
    names: dict[str, dict[str, None]] = {}
    for name, one in figures:
        if one.low is not None and one.method is not None:
            names.setdefault(one.method, {})[name] = None
    words = [
        f"{word} ({', '.join(whose)})" if len(names) > 1 and all(whose) else word
        for word, whose in names.items()
    ]
    return (f"{100 * confidence:g}% intervals: {', '.join(words)}",) if words else ()


def share_text(value: float | None, *, signed: bool = False) -> str:
    """A share as a percentage with one decimal; `-` for None. What rounds to 0 has no sign."""
    if value is None:
        return "-"
    text = f"{100 * value:z.1f}"
    return f"+{text}" if signed and float(text) > 0 else text


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
