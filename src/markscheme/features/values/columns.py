"""Typed values of answer and reference, compared: one row of named numbers per answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from markscheme.values import Comparison, Outcome, compare_values

Matrix = npt.NDArray[np.float32]

VALUES: dict[str, str] = {
    "value_outcome": "typed values: 1 they agree, -1 they conflict, -0.5 one is missing, 0 neither",
    "value_confidence": "how far that outcome can be relied on, negative where it speaks against",
    "value_decided": "the value that the question asks for agrees (1) or conflicts (-1)",
    "value_compared": "answer and reference have values of the kind to compare",
    "value_is_number": "the values compared are numbers, percentages or quantities",
    "value_is_time": "the values compared are dates, times or durations",
    "value_is_list": "the values compared are lists",
    "value_is_code": "the values compared are versions, identifiers, flags or expressions",
    "value_is_choice": "the values compared are choices",
    "value_coarser": "the answer's value is less exact than the reference's",
    "value_finer": "the answer's value is more exact than the reference's",
    "values_agreed": "values of the reference that the answer has",
    "values_conflicting": "values of the answer that conflict with the reference's",
    "values_missing": "values of the reference that the answer lacks",
    "values_extra": "values of the answer that the reference lacks",
}
"""Every column of `value_features` by name, and what it means in one line."""

_KINDS = {
    "value_is_number": {"number", "percent", "quantity", "money", "range", "amount"},
    "value_is_time": {"date", "time", "duration"},
    "value_is_list": {"list"},
    "value_is_code": {"version", "identifier", "flag", "expression"},
    "value_is_choice": {"choice"},
}
_SIGN = {Outcome.AGREE: 1.0, Outcome.CONFLICT: -1.0, Outcome.MISSING: -0.5, Outcome.NONE: 0.0}
_REMEMBERED = 65_536


def compare_rows(
    questions: Iterable[str], references: Iterable[Sequence[str]], answers: Iterable[str]
) -> list[Comparison]:
    """Every answer's typed values against those of its most favourable reference.

    Distinct triples are compared once (a process remembers 65,536 of them).
    """
    return [
        _compared(question or "", tuple(one or "" for one in some), answer or "")
        for question, some, answer in zip(questions, references, answers, strict=True)
    ]


def value_features(comparisons: Sequence[Comparison]) -> Matrix:
    """Columns of `VALUES` for comparisons.

    Returns:
        Shape (rows, len(VALUES)); the counts are whole numbers, the others lie in [-1, 1].
    """
    rows = [_numbers(one) for one in comparisons]
    return np.array(rows, dtype=np.float32).reshape(len(rows), len(VALUES))


@lru_cache(_REMEMBERED)
def _compared(question: str, references: tuple[str, ...], answer: str) -> Comparison:
    return compare_values(question, references, answer)


@lru_cache(_REMEMBERED)
def _numbers(found: Comparison) -> tuple[float, ...]:
    sign = _SIGN[found.outcome]
    against = np.sign(sign)
    found = {
        "value_outcome": sign,
        "value_confidence": float(against * found.confidence),
        "value_decided": float(against) if found.decided else 0.0,
        "value_compared": float(bool(found.kind)),
        **{name: float(found.kind in kinds) for name, kinds in _KINDS.items()},
        "value_coarser": float(found.granularity == "coarser"),
        "value_finer": float(found.granularity == "finer"),
        "values_agreed": float(len(found.agreed)),
        "values_conflicting": float(len(found.conflicting)),
        "values_missing": float(len(found.missing)),
        "values_extra": float(len(found.extra)),
    }
    return tuple(found[name] for name in VALUES)
