"""Solved examples for a prompt: chosen by k-means over the questions of other labelled data.

Wang et al. 2023, section 6.4, after Zhang et al. 2022 (Auto-CoT): questions are clustered, and
the question nearest each centre represents its cluster. Examples come from data other than what is
judged (NQ for TriviaQA and the other way round), so that no answer is given away.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from markscheme.contract import Encoder
from markscheme.errors import DataError, no_such_name
from markscheme.flags import with_keywords
from markscheme.models.local import token_encoder
from markscheme.tables import FileOptions, Source, read_answers


def choose_solved_examples(
    labelled: Source,
    options: FileOptions | None = None,
    *,
    count: int = 4,
    system: str | None = None,
    seed: int = 0,
    **keywords: Any,
) -> pl.DataFrame:
    """Examples for `llm_evouna_icl`, by k-means over questions (Wang et al. 2023, section 6.4).

    Args:
        labelled: answers with labels 0 and 1, of a dataset other than the one to judge.
        options: how they are read; the defaults if None.
        count: how many.
        system: take answers of this system only.
        seed: of the clustering and the draw.
        keywords: fields of `FileOptions`, in place of or on top of `options`.

    Raises:
        DataError: the answers cannot be read, or none is of the system.
    """
    answers = read_answers(labelled, with_keywords(FileOptions, options, keywords).reading())
    if system is not None:
        systems = answers["system"].unique().sort().to_list()
        answers = answers.filter(pl.col("system") == system)
        if answers.is_empty():
            raise DataError(no_such_name(f"system in {labelled}", system, systems))
    return choose_examples(answers, token_encoder(), count=count, seed=seed)


def solved_example_lines(chosen: pl.DataFrame) -> list[str]:
    """A line per example of `choose_solved_examples`: the verdict and the question."""
    return [
        f"{'Yes' if row['label'] else 'No ':3} {row['question']}"
        for row in chosen.iter_rows(named=True)
    ]


def choose_examples(
    answers: pl.DataFrame, encoder: Encoder, *, count: int = 4, seed: int = 0
) -> pl.DataFrame:
    """Choose solved examples from labelled answers.

    Args:
        answers: an answers table with labels 0 and 1.
        encoder: embeds the questions.
        count: how many examples, one a cluster.
        seed: of k-means, and of which answer represents a question.

    Returns:
        Columns `question`, `references`, `answer`, `label`. Both labels occur: of the answers to
        the question nearest a centre one is drawn whose label is the rarer so far.

    Raises:
        DataError: too few questions with labels, or labels of one kind only.
    """
    usable = answers.filter(
        pl.col("label").is_in([0.0, 1.0])
        & pl.col("answer").is_not_null()
        & (pl.col("references").list.len() > 0)
    )
    questions = usable["question"].unique(maintain_order=True)
    if len(questions) < count or usable["label"].n_unique() < 2:
        raise DataError(
            f"{count} examples need as many labelled questions and labels of both kinds; there are "
            f"{len(questions)} questions with labels {usable['label'].unique().sort().to_list()}"
        )
    order = _nearest_to_centres(questions.to_list(), encoder, count=count, seed=seed)
    chosen: list[dict[str, Any]] = []
    for cluster in order:
        rarer = 1.0 if sum(row["label"] for row in chosen) * 2 < len(chosen) else 0.0
        for question in [questions[place] for place in cluster]:
            rows = usable.filter(pl.col("question") == question)
            wanted = rows.filter(pl.col("label") == rarer)
            if wanted.height:
                row = wanted.sample(1, seed=seed).row(0, named=True)
                chosen.append({key: row[key] for key in _COLUMNS})
                break
    return pl.DataFrame(chosen, schema=_SCHEMA)


_SCHEMA: dict[str, Any] = {
    "question": pl.String,
    "references": pl.List(pl.String),
    "answer": pl.String,
    "label": pl.Float64,
}
_COLUMNS = tuple(_SCHEMA)


def _nearest_to_centres(
    questions: list[str], encoder: Encoder, *, count: int, seed: int
) -> list[list[int]]:
    """For each cluster the places of its questions, the nearest to the centre first."""
    from sklearn.cluster import KMeans

    vectors = encoder.encode(questions).astype(np.float64)
    means = KMeans(n_clusters=count, n_init=10, random_state=seed).fit(vectors)
    distances = means.transform(vectors)
    clusters = []
    for cluster in range(count):
        members = np.flatnonzero(means.labels_ == cluster)
        clusters.append(members[np.argsort(distances[members, cluster], kind="stable")].tolist())
    return sorted(clusters)
