"""ROUGE over sets of n-grams, case preserved: what LINKAGE's printed figures come nearest to."""

from __future__ import annotations

import polars as pl


def set_rouge(answers: pl.Series, references: pl.Series, *, order: int) -> pl.Series:
    """F-measure of the distinct n-grams of two texts, repeats counted once.

    Args:
        answers, references: String, of equal length; nulls give null.
        order: 1 for words, 2 for pairs of neighbouring words. Words end at white space.
    """
    sides = pl.DataFrame({"answer": answers, "reference": references}).select(
        _grams(pl.col("answer"), order).alias("answer"),
        _grams(pl.col("reference"), order).alias("reference"),
    )
    common = pl.col("answer").list.set_intersection("reference").list.len()
    sizes = pl.col("answer").list.len() + pl.col("reference").list.len()
    return sides.select(
        pl.when(sizes > 0).then(2.0 * common / sizes).otherwise(0.0).alias("score")
    ).to_series()


def _grams(text: pl.Expr, order: int) -> pl.Expr:
    words = text.str.extract_all(r"\S+")
    if order > 1:
        joined = pl.concat_str([pl.element().shift(-step) for step in range(order)], separator=" ")
        words = words.list.eval(joined).list.drop_nulls()
    return words.list.unique()


def set_rouge_l(answers: pl.Series, references: pl.Series) -> pl.Series:
    """ROUGE-L of summaries over sets of words, as the PyPI package `rouge` computes it.

    Both texts are cut into sentences at full stops. For each sentence of the reference the words of
    its longest common subsequences with all sentences of the answer are united with those found
    before; each sentence counts the words that it adds. F-measure over distinct words.

    Args:
        answers, references: String, of equal length; nulls give null.

    Returns:
        Float64 from 0 to 1.
    """
    scores = [
        None if answer is None or reference is None else _set_rouge_l(answer, reference)
        for answer, reference in zip(answers, references, strict=True)
    ]
    return pl.Series("score", scores, dtype=pl.Float64)


def _set_rouge_l(answer: str, reference: str) -> float:
    said, wanted = (
        [words for words in (part.split() for part in text.split(".")) if words]
        for text in (answer, reference)
    )
    sizes = [len({word for words in side for word in words}) for side in (said, wanted)]
    found: set[str] = set()
    for sentence in wanted:
        for other in said:
            found |= _common_subsequence(sentence, other)
    return 2 * len(found) / sum(sizes) if sum(sizes) else 0.0


def _common_subsequence(left: list[str], right: list[str]) -> set[str]:
    """The words of a longest common subsequence; of several, the last in `left`."""
    lengths = [[0] * (len(right) + 1)]
    for word in left:
        above, row = lengths[-1], [0]
        for place, other in enumerate(right):
            row.append(above[place] + 1 if word == other else max(above[place + 1], row[place]))
        lengths.append(row)
    found: set[str] = set()
    i, j = len(left), len(right)
    while i and j:
        if left[i - 1] == right[j - 1]:
            found.add(left[i - 1])
            i, j = i - 1, j - 1
        elif lengths[i - 1][j] > lengths[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found
