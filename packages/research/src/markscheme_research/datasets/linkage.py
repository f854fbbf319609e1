"""The graded sets of LINKAGE (Yang et al. 2024): ANTIQUE, TREC-DL-NF and WebGLM.

ANTIQUE and TREC-DL-NF are passages graded by people; some of them serve as references for the
others. WebGLM has three systems' answers and ready references of falling quality.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from markscheme.errors import DataError, UnknownNameError
from markscheme_research.datasets.locations import Local
from markscheme_research.datasets.rows import Family, as_answers, read_json, reading, text_or_none

AntiquePart = Literal["auto", "all", "dev", "test"]
WHOLE, HALF = "ANTIQUE.json", "ANTIQUE-dev.json"
PARTS = {WHOLE: "all", HALF: "dev"}
"""The whole of ANTIQUE as LINKAGE used it, and the half that the shipped weights learned from."""

TOP_GROUND = 3
"""WebGLM's `ground3` is its best reference; `ground4`, where present, repeats it."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What `load` accepts for ANTIQUE and TREC-DL-NF.

    Attributes:
        references_per_grade: how many passages of each grade become references, or fewer where a
            question has fewer; None is the paper's choice (2 for ANTIQUE, 1 for TREC-DL-NF).
        seed: of the choice of references and of the candidates' order.
        part: of ANTIQUE: `all` (500 questions); `dev`, the 257 that the shipped weights learned
            from; `test`, the other 243; or `auto`, all if the whole file is here, else `dev`. Both
            halves are in the whole file: a question is in `dev` if the SHA-256 of its text is even.
    """

    references_per_grade: int | None = None
    seed: int = 0
    part: AntiquePart = "auto"


@dataclass(frozen=True, kw_only=True)
class NoOptions:
    """WebGLM is read in one way only."""


def load(local: Local, options: Options) -> pl.DataFrame:
    """Candidates with graded references, by the rule that every sampled reference leaves them.

    One row a candidate passage: `references` are the sampled passages, best first, with their
    `reference_grades`; `label` is the candidate's grade as in the file (ANTIQUE 1 to 4, TREC-DL-NF
    0 to 3, higher is better); ids are `antique/<question from 1>/<passage's id>`. Candidates of a
    question come in random order, because the files are sorted by grade. A question whose
    passages are all references has no row.
    """
    per_grade = options.references_per_grade
    if per_grade is None:
        per_grade = 1 if local.dataset.name == "trec-dl-nf" else 2
    passages = read_passages(local, options.part)
    random = np.random.default_rng(options.seed)
    drawn = passages.with_columns(
        pl.Series("draw", random.random(passages.height)),
        pl.Series("order", random.random(passages.height)),
    ).with_columns(
        (pl.col("draw").rank("ordinal").over("question_number", "grade") <= per_grade).alias(
            "is_reference"
        )
    )
    references = (
        drawn.filter("is_reference")
        .sort("question_number", "grade", "order", descending=[False, True, False])
        .group_by("question_number", maintain_order=True)
        .agg(
            pl.col("passage").alias("references"),
            pl.col("grade").alias("reference_grades"),
        )
    )
    candidates = (
        drawn.filter(~pl.col("is_reference"))
        .sort("question_number", "order")
        .join(references, on="question_number", how="left", maintain_order="left")
    )
    name = local.dataset.name
    return as_answers(
        candidates.with_columns(
            pl.concat_str(pl.lit(name), "question_number", "passage_id", separator="/").alias(
                "answer_id"
            ),
            pl.col("passage").alias("answer"),
            pl.lit(name).alias("system"),
            pl.lit("text").alias("reference_kind"),
            pl.col("grade").alias("label"),
        )
    )


def load_webglm(local: Local, options: NoOptions) -> pl.DataFrame:  # noqa: ARG001 (a family's form)
    """One row a question and model, graded 1 to 3, with 4 or 5 references.

    3 is the best. The file does not say so, but where two answers tie it is 1 that goes unused
    (six questions, every one with a 3), and the answer that declines, "I cannot provide
    information on how to kill living creatures", has 1 where those that help have 2 and 3.

    References come best first with grades 3 to 0; ids are `webglm/<question from 1>/<model>`.
    """
    path = next(iter(local.files.values()))
    rows: list[dict[str, Any]] = []
    with reading(path, "LINKAGE's WebGLM file"):
        for number, (question, entry) in enumerate(read_json(path).items(), start=1):
            grounds = sorted((key for key in entry if key.startswith("ground")), reverse=True)
            shared = {
                "question": text_or_none(question),
                "references": [text_or_none(entry[key]) for key in grounds],
                "reference_grades": [min(int(key[6:]), TOP_GROUND) for key in grounds],
                "reference_kind": "text",
            }
            rows += [
                {
                    **shared,
                    "answer_id": f"{local.dataset.name}/{number}/{item['model']}",
                    "answer": text_or_none(item["answer"]),
                    "system": item["model"],
                    "label": float(item["label"]),
                }
                for item in entry["doc_list"]
            ]
        return as_answers(pl.DataFrame(rows))


def read_passages(local: Local, part: str = "auto") -> pl.DataFrame:
    """The file as it is: `question_number` (from 1), `question`, `passage_id`, `passage`,
    `grade`. The order of rows is the file's, which is sorted by grade: do not let a judge see it.
    The numbers of a half are those within it, so `dev` is the same from either file.

    Raises:
        UnknownNameError: no such part.
        DataError: its file is not here, or the set has no parts.
    """
    name = _file(local, part)
    path = local.path(name)
    rows: list[tuple[Any, ...]] = []
    with reading(path, "a file of graded passages of LINKAGE"):
        listed = read_json(path).items()
        if name == WHOLE and part in HALVES:
            listed = [item for item in listed if in_half(item[0], part)]
        for number, (question, passages) in enumerate(listed, start=1):
            rows += [
                (
                    number,
                    text_or_none(question),
                    # One passage a question has its id under another name in TREC-DL-NF.
                    str(item["docid"] if "docid" in item else item["doc_id"]),
                    text_or_none(item["passage"]),
                    int(item["label"]),
                )
                for item in passages
            ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _file(local: Local, part: str) -> str:
    """The file that holds a part, by its name in the catalogue."""
    parts = get_args(AntiquePart)
    if part not in parts:
        raise UnknownNameError("part of ANTIQUE", part, parts, f"parts: {', '.join(parts)}")
    if local.dataset.name != "antique" and part in HALVES:
        raise DataError(
            f"{local.dataset.name} has no parts: {part} is one of ANTIQUE; leave it out"
        )
    if local.dataset.name != "antique" or part == "auto":
        return next(iter(local.files))
    if part == "dev" and HALF in local.files:
        return HALF
    if local.pointed_at and HALF in local.files:
        raise DataError(f"{local.files[HALF]} holds part dev; part {part} is in {WHOLE}")
    return WHOLE


HALVES = {"dev": 0, "test": 1}


def in_half(question: str, part: str) -> bool:
    """Whether a question of ANTIQUE is in `dev` or `test`: its text's SHA-256 is even or odd."""
    return sha256(question.encode()).digest()[-1] % 2 == HALVES[part]


_SCHEMA: dict[str, Any] = {
    "question_number": pl.Int64,
    "question": pl.String,
    "passage_id": pl.String,
    "passage": pl.String,
    "grade": pl.Int64,
}


def counts(local: Local) -> dict[str, int]:
    """Questions, passages and passages of each grade, for each file that is here.

    Sizes of ANTIQUE are given by part: `dev questions`, `all questions`.
    """
    found: dict[str, int] = {}
    for name in local.files:
        part = PARTS.get(name, "auto")
        prefix = "" if part == "auto" else f"{part} "
        passages = read_passages(local, part)
        grades = passages.group_by("question_number").agg(pl.col("grade").n_unique())["grade"]
        found |= {
            f"{prefix}questions": passages["question_number"].n_unique(),
            f"{prefix}passages": passages.height,
            f"{prefix}questions with all four grades": int((grades == 4).sum()),
            f"{prefix}questions with a single grade": int((grades == 1).sum()),
        }
        found |= {
            f"{prefix}passages of grade {grade}": number
            for grade, number in passages["grade"].value_counts().sort("grade").iter_rows()
        }
    return found


def counts_webglm(local: Local) -> dict[str, int]:
    """Questions, answers, and questions where two answers share a grade."""
    answers = load_webglm(local, NoOptions())
    grades = answers.group_by("question").agg(pl.col("label").n_unique())["label"]
    return {
        "questions": answers["question"].n_unique(),
        "answers": answers.height,
        "questions with ties": int((grades < 3).sum()),
    }


FAMILY = Family(options=Options, load=load, counts=counts)
WEBGLM = Family(options=NoOptions, load=load_webglm, counts=counts_webglm)
