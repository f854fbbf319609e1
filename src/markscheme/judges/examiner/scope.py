"""Whether an answer is within the field that the examiner learned, and if not, why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from markscheme.contract import Lineage
from markscheme.judges.examiner.readers import Measured, language
from markscheme.stats import wilson_interval
from markscheme.tables import FOREIGN, INSIDE, LEARNED, OUTSIDE, UNKNOWN

Matrix = npt.NDArray[np.float32]

_LONG_ANSWER, _LONG_REFERENCE = 220, 90
"""Words; of the rows that it learned from one in a hundred is longer."""
_RELIABLE = 0.8
"""A language is inside where the lower end of the 95% interval of its measured accuracy is no less;
of those measured none is (31 of 34 in French: 77%)."""
_STRANGE_COLUMNS = 3
"""So many columns outside what was learned make an answer strange; one in 200 learned rows is."""


def scopes(
    texts: pl.DataFrame,
    matrix: Matrix,
    *,
    ranges: tuple[Matrix, Matrix],
    learned: Lineage,
    measured: Measured,
) -> list[str]:
    """`learned from`, `outside: REASONS` or `inside` for every answer.

    Of weights that do not say what trained them, `unknown` takes the place of `inside`.

    Args:
        texts: `question`, `references` and `answer` as judged.
        matrix: the columns read of them, shape (rows, columns).
        ranges: lowest and highest value of each column in all but a thousandth of what was learned.
        learned: the questions that it was trained on. They go before all reasons: figures on them
            flatter the examiner wherever else they lie.
        measured: right verdicts and test answers of languages (`readers.measured`), empty where
            the answers are judged in another way.
    """
    low, high = ranges
    strange = ((matrix < low) | (matrix > high)).sum(axis=1)
    seen = learned.has(texts["question"].to_list()).tolist()
    usual = INSIDE if learned.known else UNKNOWN
    out = []
    for (question, wanted, answer), odd, known in zip(
        texts.iter_rows(), strange, seen, strict=True
    ):
        if known:
            out.append(LEARNED)
            continue
        reasons = _reasons(question or "", wanted, answer or "", int(odd), measured)
        out.append(f"{OUTSIDE}: {'; '.join(reasons)}" if reasons else usual)
    return out


def _reasons(
    question: str,
    references: Sequence[str],
    answer: str,
    odd: int,
    measured: Measured,
) -> list[str]:
    found = []
    if (named := language(question, references)) is not None:
        counts = measured.get(named, {})
        if not counts or not all(map(_reliable, counts.values())):
            found.append(f"{FOREIGN} {named}{_right_of(named, counts)}")
    words = len(answer.split())
    if words > _LONG_ANSWER:
        found.append(f"the answer has {words:,} words")
    wanted = min((len(one.split()) for one in references if one), default=0)
    if wanted > _LONG_REFERENCE:
        found.append(f"the shortest reference has {wanted:,} words")
    if odd >= _STRANGE_COLUMNS and not found:
        found.append("it is unlike the answers that the examiner learned from")
    return found


def _reliable(counts: tuple[int, int]) -> bool:
    right, rows = counts
    return wilson_interval(right / rows, rows)[0] >= _RELIABLE


def _right_of(named: str, counts: Mapping[str, tuple[int, int]]) -> str:
    """What was measured, in brackets: ` (right in 31 of 38 test answers in Russian)`."""
    parts = [
        f"{right} of {rows}{' test answers' * (not place)}{f' in {one}' * (one != named)}"
        for place, (one, (right, rows)) in enumerate(counts.items())
    ]
    return f" (right in {', '.join(parts)})" if parts else ""
