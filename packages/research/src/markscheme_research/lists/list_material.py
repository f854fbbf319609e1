"""What studies of graded lists mark: candidates that people graded, and references for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from markscheme.errors import DataError
from markscheme.flags import columns_option
from markscheme.tables import ReadOptions, column_names, read_answers, recognise
from markscheme_research.datasets import load, passages
from markscheme_research.lists import Draw, draw_references, thin_lists

PASSAGES = ("antique", "trec-dl-nf")
"""Datasets whose passages are references and candidates alike."""


@dataclass(frozen=True, kw_only=True)
class Material:
    """Graded candidates, and where their references come from.

    Attributes:
        name: of the data, for titles.
        rows: `question`, `passage`, `grade` where references are drawn from the candidates; else
            `question`, `answer`, `label`, `references`, `reference_grades`.
        ready: whether the candidates have lists of their own.
        usual: the composition that is taken where none is named.
    """

    name: str
    rows: pl.DataFrame
    ready: bool
    usual: str

    def table(self, draw: Draw, *, per_question: int | None = None) -> pl.DataFrame:
        """Candidates with the references of one draw, as an answers table.

        Args:
            draw: which references.
            per_question: candidates taken of each question, at random; all if none.

        Raises:
            AgreementError: not a composition, or no candidate is left.
        """
        made = thin_lists(self.rows, draw) if self.ready else draw_references(self.rows, draw)
        if per_question is not None:
            # They stand in random order, so the first ones are a random choice.
            made = made.filter(pl.int_range(pl.len()).over("question") < per_question)
        if "system" not in made.columns:
            made = made.with_columns(system=pl.lit(self.name))
        if "answer_id" not in made.columns:
            made = made.with_columns(answer_id=pl.int_range(pl.len()).cast(pl.String))
        return made.with_columns(reference_kind=pl.lit("text"))


def open_material(
    source: str,
    *,
    data_dir: str | None = None,
    part: str = "auto",
    columns: Mapping[str, str] | None = None,
    questions: int | None = None,
    seed: int = 0,
) -> Material:
    """The material of a dataset or a file.

    Args:
        source: `antique`, `trec-dl-nf`, `webglm`, or a file of answers with a grade each in
            `label`. With `references` and `reference_grades` these are the lists; without them
            references are drawn from the graded answers of the same question.
        data_dir: where datasets lie.
        part: of ANTIQUE.
        columns: our column names to the file's.
        questions: only so many questions, at random; all if none.
        seed: of that choice.

    Raises:
        DataError: the data are not here or cannot be read, or the file has no grades.
    """
    if source in PASSAGES:
        rows = passages(source, data_dir=data_dir, part=part)
        made = Material(
            name=source, rows=rows, ready=False,
            usual="33221100" if source == "antique" else "3210",
        )  # fmt: skip
    elif source == "webglm":
        made = Material(name=source, rows=load(source, data_dir=data_dir), ready=True, usual="3210")
    else:
        made = _of_file(source, columns or {})
    if part not in ("auto", "all") and source not in PASSAGES:
        raise DataError(f"{source} has no parts: --part {part} is one of ANTIQUE; leave it out")
    if questions is None:
        return made
    every = made.rows["question"].unique().sort()
    kept = every.gather(np.random.default_rng(seed).permutation(len(every))[:questions])
    chosen = made.rows.filter(pl.col("question").is_in(kept.implode()))
    return Material(name=made.name, rows=chosen, ready=made.ready, usual=made.usual)


def _of_file(source: str, columns: Mapping[str, str]) -> Material:
    answers = read_loosely(source, columns).filter(pl.col("answer").is_not_null())
    graded = answers.filter(pl.col("label").is_not_null())
    if graded["label"].n_unique() < 2:
        raise DataError(
            f"{source} has no grades to compare judges with: give each answer one in a column "
            "'label' (higher is better), or name the column with "
            f"{columns_option({'label': 'NAME'})}"
        )
    if (graded["references"].list.len() > 0).any():
        flat = graded.with_columns(
            reference_grades=pl.coalesce(
                "reference_grades", pl.col("references").list.eval(pl.lit(0, dtype=pl.Int64))
            )
        )
        grades = flat["reference_grades"].explode()
        return Material(name=source, rows=flat, ready=True, usual=_usual(grades))
    whole = graded["label"].cast(pl.Int64)
    if (whole.cast(pl.Float64) != graded["label"]).any():
        raise DataError(f"{source}: references can be drawn where grades are whole numbers only")
    rows = graded.select(
        "question", pl.col("answer").alias("passage"), whole.alias("grade"), "system", "answer_id"
    )
    return Material(name=source, rows=rows, ready=False, usual=_usual(whole))


def _usual(grades: pl.Series) -> str:
    """The composition with a reference of each grade, of the best four at most; one of the best
    where a grade is too far from the lowest for a digit."""
    levels = grades.drop_nulls().unique().sort(descending=True)
    above = [level - levels[-1] for level in levels]
    return "".join(map(str, above[:4])) if above[0] < 10 else "top"


def read_loosely(source: str, columns: Mapping[str, str] | None = None) -> pl.DataFrame:
    """An answers table of a file whose references and answers may be missing: no reference gives
    an empty list.

    Raises:
        DataError: it cannot be read, or has no questions.
    """
    given = dict(columns or {})
    names = column_names(source, ReadOptions())
    free = [name for name in names if name not in given.values()]
    if "answer" not in given and recognise(free, "answer", source) is None:
        given["answer"] = "none"
    return read_answers(source, ReadOptions(columns=given, references="optional"))
