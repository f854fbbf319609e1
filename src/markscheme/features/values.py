"""Typed values of answer and reference, compared: one row of named numbers per answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from markscheme.values import Comparison, Outcome, compare_values, pairs_for_each

Matrix = npt.NDArray[np.float32]

VALUES: dict[str, str] = {
    "value_outcome": "numbers, dates, lists: 1 they agree, -1 they conflict, -0.5 one is missing",
    "value_confidence": "confidence in that outcome, negative if it is evidence against the answer",
    "value_decided": "the value that the question asks for agrees (1) or conflicts (-1)",
    "value_alone": "that outcome, where answer and reference are nothing but the values compared",
    "value_compared": "answer and reference have values of the kind to compare",
    "value_is_number": "the values compared are numbers, percentages or quantities",
    "value_is_time": "the values compared are dates, times or durations",
    "value_is_list": "the values compared are lists",
    "value_is_code": "the values compared are versions, codes or formulae",
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
    "value_is_number": {"number", "percent", "quantity", "money", "range"},
    "value_is_time": {"date", "time", "duration"},
    "value_is_list": {"list"},
    "value_is_code": {"identifier", "expression"},
    "value_is_choice": {"choice"},
}
_SIGN = {Outcome.AGREE: 1.0, Outcome.CONFLICT: -1.0, Outcome.MISSING: -0.5, Outcome.NONE: 0.0}
_REMEMBERED = 65_536


def compare_rows(
    questions: Iterable[str],
    references: Sequence[Sequence[str]],
    answers: Iterable[str],
    most: Iterable[int] | None = None,
) -> list[Comparison]:
    """Every answer's typed values against those of its most favourable reference.

    Distinct triples are compared once (a process remembers 65,536 of them). `most` is that of
    `compare_values`, for each answer.
    """
    if most is None:
        most = [pairs_for_each(len(some)) for some in references]
    return [
        _compared(question or "", tuple(one or "" for one in some), answer or "", pairs)
        for question, some, answer, pairs in zip(questions, references, answers, most, strict=True)
    ]


def value_features(
    comparisons: Sequence[Comparison],
    references: Iterable[Sequence[str]],
    answers: Iterable[str],
) -> Matrix:
    """Columns of `VALUES` for comparisons, and the texts that were compared.

    Returns:
        Shape (rows, len(VALUES)); the counts are whole numbers, the others lie in [-1, 1].
    """
    rows = [_numbers(one) for one in comparisons]
    found = np.array(rows, dtype=np.float32).reshape(len(rows), len(VALUES))
    alone = [
        _are_alone(one, some, answer)
        for one, some, answer in zip(comparisons, references, answers, strict=True)
    ]
    names = list(VALUES)
    found[:, names.index("value_alone")] = np.where(
        alone, found[:, names.index("value_confidence")], 0
    )
    return found


def _are_alone(found: Comparison, references: Sequence[str], answer: str) -> bool:
    """Whether a single pair of values makes up both texts."""
    pairs = found.agreed or found.conflicting
    if len(pairs) != 1 or found.missing or found.extra or len(answer or "") > _SHORT:
        return False
    pair = pairs[0]
    return _bare(answer) == _bare(pair.answer) and any(
        _bare(one) == _bare(pair.reference) for one in references
    )


_SHORT = 60
"""Characters; a longer answer is no single value."""


def _bare(text: str | None) -> str:
    return (text or "").strip(" .,;:!?\"'()").casefold()


@lru_cache(_REMEMBERED)
def _compared(question: str, references: tuple[str, ...], answer: str, most: int) -> Comparison:
    return compare_values(question, references, answer, most=most)


@lru_cache(_REMEMBERED)
def _numbers(found: Comparison) -> tuple[float, ...]:
    sign = _SIGN[found.outcome]
    against = np.sign(sign)
    numbers = {
        "value_outcome": sign,
        "value_confidence": float(against * found.confidence),
        "value_decided": float(against) if found.decided else 0.0,
        "value_alone": 0.0,  # needs the texts; see `value_features`
        "value_compared": float(bool(found.kind)),
        **{name: float(found.kind in kinds) for name, kinds in _KINDS.items()},
        "value_coarser": float(found.granularity == "coarser"),
        "value_finer": float(found.granularity == "finer"),
        "values_agreed": float(len(found.agreed)),
        "values_conflicting": float(len(found.conflicting)),
        "values_missing": float(len(found.missing)),
        "values_extra": float(len(found.extra)),
    }
    return tuple(numbers[name] for name in VALUES)
