"""Does the same judge say the same thing twice? Reliability over repeated runs.

After Yao & Barbosa 2024, appendix A.2: agreement of every two runs, the spread of F1 and accuracy
over runs, and how alike repeated generations are. A table of runs has one column a run and one row
an answer; null is an answer that the run did not judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from markscheme.agreement import FROM_COUNTS, Blanks, cell_codes, four_cells, pairwise_kappas
from markscheme.errors import AgreementError, MissingExtraError

Similarity = Callable[[Sequence[str], Sequence[str]], float]
"""Takes the texts of two runs, gives one number for the whole (such as corpus BLEU, 0 to 100)."""


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
        judged = runs[name].is_not_null().to_numpy()
        verdicts = runs[name].fill_null(value=False).to_numpy()
        codes = cell_codes(labels.to_numpy(), verdicts, judged)
        counts.append(np.bincount(codes, minlength=6))
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


def text_repeats(runs: pl.DataFrame, *, similarity: Similarity | None = None) -> pl.DataFrame:
    """How alike texts of every two runs are: `first`, `second`, `texts`, `similarity`, `identical`.

    Texts missing in either run are left out of the pair.

    Args:
        runs: one text column a run.
        similarity: of the texts of two runs, the first being the hypothesis; sacreBLEU's corpus
            BLEU (0 to 100) by default.

    Raises:
        AgreementError: fewer than two runs.
        MissingExtraError: BLEU is wanted and sacreBLEU is not installed.
    """
    if runs.width < 2:
        raise AgreementError(f"reliability needs two runs or more, not {runs.width}")
    compare = similarity or _bleu
    rows = []
    for first, second in combinations(runs.columns, 2):
        both = runs.select(first, second).drop_nulls()
        one, two = both[first].to_list(), both[second].to_list()
        rows.append(
            {
                "first": first,
                "second": second,
                "texts": both.height,
                "similarity": float(compare(one, two)) if both.height else None,
                "identical": float((both[first] == both[second]).to_numpy().mean())
                if both.height
                else None,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    try:
        from sacrebleu import corpus_bleu
    except ImportError as error:
        raise MissingExtraError("BLEU between repeated generations", "bench") from error
    return float(corpus_bleu(list(hypotheses), [list(references)]).score)
