"""Typed values: numbers, quantities, money, dates, times, versions, codes, lists, formulae.

`parse_values` reads those within a text; `compare_values` says whether an answer's agree with a
reference's, given the question, and compares texts that are lists, choices or formulae as such.
Nothing heavy is imported and nothing in a text is executed.
"""

from markscheme.values.compare import compare_values, pairs_for_each
from markscheme.values.dates import YEAR_DAYS, interval
from markscheme.values.kinds import (
    Amount,
    ClockTime,
    Date,
    Duration,
    Identifier,
    Money,
    Number,
    Percent,
    Quantity,
    Range,
    Value,
)
from markscheme.values.lists import split_items
from markscheme.values.numbers import numbers_of
from markscheme.values.outcome import Comparison, Outcome
from markscheme.values.parse import parse_values
from markscheme.values.relation import relate_dates

__all__ = [
    "YEAR_DAYS",
    "Amount",
    "ClockTime",
    "Comparison",
    "Date",
    "Duration",
    "Identifier",
    "Money",
    "Number",
    "Outcome",
    "Percent",
    "Quantity",
    "Range",
    "Value",
    "compare_values",
    "interval",
    "numbers_of",
    "pairs_for_each",
    "parse_values",
    "relate_dates",
    "split_items",
]
