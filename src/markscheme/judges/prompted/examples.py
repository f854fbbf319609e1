"""Solved examples for a prompt: chosen by k-means over the questions of other labelled data.

Wang et al. 2023, section 6.4, after Zhang et al. 2022 (Auto-CoT): questions are clustered, and
the question nearest each centre represents its cluster. Examples come from data other than what is
judged (NQ for TriviaQA and the other way round), so that no answer is given away.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import orjson
import polars as pl

from markscheme.contract import Encoder
from markscheme.errors import DataError, JudgeError
from markscheme.text import normalise_series


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
    import numpy as np
    from sklearn.cluster import KMeans

    vectors = encoder.encode(questions).astype(np.float64)
    means = KMeans(n_clusters=count, n_init=10, random_state=seed).fit(vectors)
    distances = means.transform(vectors)
    clusters = []
    for cluster in range(count):
        members = np.flatnonzero(means.labels_ == cluster)
        clusters.append(members[np.argsort(distances[members, cluster], kind="stable")].tolist())
    return sorted(clusters)


Mark = Literal["label", "rank"]

_COMMANDS: Mapping[Mark, str] = {
    "label": "markscheme llm examples LABELLED",
    "rank": "markscheme research references shots DATA",
}
"""What makes the examples that have such a mark."""


@functools.lru_cache(maxsize=16)
def read_examples(path: str, mark: Mark = "label") -> tuple[Mapping[str, Any], ...]:
    """Examples of a JSONL file with `question`, `references`, `answer` and a mark.

    Args:
        path: the file.
        mark: `label`, 1 or 0, which becomes the `verdict` Yes or No; or `rank`, from 1 to one more
            than there are references, which are listed best first.

    Raises:
        JudgeError: the file cannot be read or lacks something.
    """
    found = []
    try:
        for line in filter(bytes.strip, Path(path).read_bytes().splitlines()):
            row = orjson.loads(line)
            example: dict[str, Any] = {
                "question": str(row["question"]),
                "references": [str(one) for one in row["references"]],
                "answer": str(row["answer"]),
            }
            found.append(example | _marked(row, mark))
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise JudgeError(
            f"cannot read the examples {path!r} ({type(error).__name__}: {error}); make them with "
            f"'{_COMMANDS[mark]} --out FILE'"
        ) from None
    if not found:
        raise JudgeError(f"there are no examples in {path!r}")
    return tuple(found)


def _marked(row: Mapping[str, Any], mark: Mark) -> dict[str, Any]:
    """The mark of a line, under the name that prompts use.

    Raises:
        KeyError, TypeError, ValueError: there is none, or it is out of range.
    """
    if mark == "label":
        return {"verdict": {1: "Yes", 0: "No"}[row["label"]]}
    last = len(row["references"]) + 1
    if not 1 <= row["rank"] <= last:
        raise ValueError(f"the rank {row['rank']} is not from 1 to {last}")
    return {"rank": row["rank"]}


def examples_hash(examples: Sequence[Mapping[str, Any]]) -> str:
    """Sixteen hex digits over the examples themselves."""
    text = json.dumps(examples, sort_keys=True, ensure_ascii=False)
    return blake2b(text.encode(), digest_size=8).hexdigest()


def check_apart(shots: Sequence[Mapping[str, Any]], questions: pl.Series, path: str) -> None:
    """Refuse examples that are among the questions to judge, compared after normalisation.

    Raises:
        JudgeError: naming the first such question.
    """
    judged = set(normalise_series(questions))
    own = pl.Series([shot["question"] for shot in shots], dtype=pl.String)
    for question, plain in zip(own, normalise_series(own), strict=True):
        if plain in judged:
            raise JudgeError(
                f"the example {question!r} of {path!r} is among the questions to judge, so its "
                "answer would be given away; make examples from another dataset"
            )
