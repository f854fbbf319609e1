"""Solved examples for prompts, from other labelled answers."""

from __future__ import annotations

from typing import Any

import polars as pl

from markscheme.errors import DataError, no_such_name
from markscheme.flags import with_keywords
from markscheme.judges.prompted import choose_examples
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
