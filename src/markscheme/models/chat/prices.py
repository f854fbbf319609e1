"""What tokens cost: a table that ships, and one of the user's own before it."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markscheme.errors import DataError

PRICES_ENV = "MARKSCHEME_PRICES"
"""Environment variable that names the user's price file."""

_SHIPPED = Path(__file__).parent / "prices.toml"
_MOST = 1e12
_DATED = re.compile(r"[-@:]?(\d{4}-?\d{2}-?\d{2}|\d{4}|latest)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """US dollars for a million tokens, in and out."""

    input: float
    output: float

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """US dollars for so many tokens."""
        return (tokens_in * self.input + tokens_out * self.output) / 1e6


def read_prices(path: Path) -> dict[str, Price]:
    """The prices in a file.

    Raises:
        DataError: the file cannot be read; names the entry that is wrong.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"the price file {path} cannot be read: {error}") from None
    found = {}
    for name, entry in table.items():
        values = [entry.get(side) for side in ("input", "output")] if _is_table(entry) else []
        numbers = [float(v) for v in values if isinstance(v, int | float) and 0 <= v <= _MOST]
        if len(numbers) != 2:
            raise DataError(
                f'{path}: ["{name}"] needs input = and output =, dollars for a million tokens'
            )
        found[name] = Price(input=numbers[0], output=numbers[1])
    return found


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping)


def price_table(path: str | Path | None = None) -> dict[str, Price]:
    """The shipped prices, with those of the user's file over them.

    Args:
        path: the user's file; None looks at MARKSCHEME_PRICES.

    Raises:
        DataError: the file cannot be read.
    """
    own = path or os.environ.get(PRICES_ENV)
    return {**_shipped(), **(read_prices(Path(own)) if own else {})}


@cache
def _shipped() -> dict[str, Price]:
    return read_prices(_SHIPPED)


def price_of(model: str, table: Mapping[str, Price]) -> Price | None:
    """The price of a model under its name, or under its name without a date; else None."""
    return table.get(model) or table.get(_DATED.sub("", model))
