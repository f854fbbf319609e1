"""One figure of a table: a number with its interval, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A statistic, or the reason it is undefined. Exactly one of `value` and `reason` is set.

    `low` and `high` bound the interval where one was asked for; `resamples` is the number of
    bootstrap resamples on which the statistic was defined.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    resamples: int | None = None

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

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; absent parts are left out, an undefined value stays as null."""
        parts = {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "reason": self.reason,
            "resamples": self.resamples,
        }
        return {name: part for name, part in parts.items() if part is not None or name == "value"}


def figure(value: float, reason: str) -> Figure:
    """`value` as a figure, or `reason` where the value is NaN or infinite."""
    number = float(value)
    return Figure(value=number) if math.isfinite(number) else Figure(reason=reason)
