"""Does the same judge say the same thing twice? Reliability over repeated runs.

After Yao & Barbosa 2024, appendix A.2: agreement of every two runs, the spread of F1 and accuracy
over runs, and how alike repeated generations are. A table of runs has one column a run and one row
an answer; null is an answer that the run did not judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from markscheme.agreement import FROM_COUNTS, Blanks, cell_table, four_cells, pairwise_kappas
from markscheme.errors import AgreementError
from markscheme_research.studies.statement_nearness import corpus_bleu


def kappa_matrix(runs: pl.DataFrame, *, blanks: Blanks = "missing") -> pl.DataFrame:
    """Cohen's kappa of every two runs: verdicts, relations or any categories.

    Columns as `annotators.pairwise_kappas`.
    """
    categories = sorted({str(v) for name in runs.columns for v in runs[name].drop_nulls()})
    codes = {name: float(place) for place, name in enumerate(categories)}
    coded = runs.select(
        pl.Series(name, [None if v is None else codes[str(v)] for v in runs[name]], pl.Float64)
        for name in runs.columns
    )
    return pairwise_kappas(coded, blanks=blanks)


def spread(
    runs: pl.DataFrame,
    labels: pl.Series,
    *,
    statistics: Sequence[str] = ("f1_positive", "f1_macro", "accuracy", "kappa"),
) -> pl.DataFrame:
    """Each statistic's mean and standard deviation over runs of verdicts.

    What a run did not judge is left out of that run's figures.

    Args:
        runs: Boolean columns.
        labels: Boolean, one a row.
        statistics: which, of `verdicts.FROM_COUNTS`.

    Returns:
        Per statistic: `statistic`, `mean`, `sd` (n - 1 in the denominator), `least`, `most`,
        `runs` (those where it is defined); nulls where it is defined in fewer than two runs.
    """
    counts = []
    for name in runs.columns:
        judged = runs.select(verdict=name, accepted=labels, cluster=pl.lit(0))
        counts.append(cell_table(judged).sum(axis=0))
    four = four_cells(np.array(counts), "left_out")
    rows = []
    for name in statistics:
        values = FROM_COUNTS[name](four)
        values = values[~np.isnan(values)]
        several = len(values) > 1
        rows.append(
            {
                "statistic": name,
                "mean": float(values.mean()) if several else None,
                "sd": float(values.std(ddof=1)) if several else None,
                "least": float(values.min()) if several else None,
                "most": float(values.max()) if several else None,
                "runs": len(values),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def text_repeats(runs: pl.DataFrame) -> pl.DataFrame:
    """How alike texts of every two runs are: `first`, `second`, `texts`, `similarity`, `identical`.

    `similarity` is corpus BLEU, 0 to 100, of the first run's texts against the second's;
    `identical` a share. Texts missing in either run are left out of the pair.

    Args:
        runs: one text column a run.

    Raises:
        AgreementError: fewer than two runs.
    """
    if runs.width < 2:
        raise AgreementError(f"reliability needs two runs or more, not {runs.width}")
    rows = []
    for first, second in combinations(runs.columns, 2):
        both = runs.select(first, second).drop_nulls()
        rows.append(
            {
                "first": first,
                "second": second,
                "texts": both.height,
                "similarity": 100 * corpus_bleu(both[first], both[second]) if both.height else None,
                "identical": float((both[first] == both[second]).to_numpy().mean())
                if both.height
                else None,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)
