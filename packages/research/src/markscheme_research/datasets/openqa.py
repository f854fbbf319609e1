"""NQ301 and the predictions behind it (Kamalloo et al. 2023, the OpenQA-eval release).

Twelve systems answered 301 questions of NQ-open; their 1,490 different answers were labelled by two
people, by a third where those differ, and by three automatic judges. Ten of the systems' answers to
all 3,610 questions are there too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from markscheme_research.datasets.locations import Local
from markscheme_research.datasets.rows import (
    Family,
    as_answers,
    read_json_lines,
    read_tsv,
    reading,
    text_or_none,
)

SYSTEMS: Mapping[str, str] = {
    "NQ301_text-davinci-003_zeroshot": "InstructGPT (zero-shot)",
    "NQ301_text-davinci-003_fewshot-n64": "InstructGPT (few-shot)",
    "NQ_DPR": "DPR",
    "NQ_FiD": "FiD",
    "NQ_ANCE-plus_FiD": "ANCE+ & FiD",
    "NQ_Rocketv2_FiD": "RocketQAv2 & FiD",
    "NQ_Contriever_FiD": "Contriever & FiD",
    "NQ_FiD-KD": "FiD-KD",
    "NQ_GAR-plus_FiD": "GAR+ & FiD",
    "NQ_EviGen": "EviGen",
    "NQ_EMDR2": "EMDR2",
    "NQ_R2D2": "R2-D2",
}
"""File stems and the paper's names, in the order of its Table 1."""

POOL = "pool of 12 systems"
"""`system` of the different answers, which belong to no system in particular."""

HUMAN = "NQ301_human.tsv"
BEM = "NQ301_BEM.tsv"

VERDICTS = {"Yes": 1.0, "No": 0.0}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What `load` accepts.

    Attributes:
        rows: `predictions`: the answer of each of the twelve systems to each question (3,612 rows).
            `pairs`: the 1,490 different answers that were labelled.
    """

    rows: Literal["predictions", "pairs"] = "predictions"


@dataclass(frozen=True, kw_only=True)
class NoOptions:
    """These predictions are read in one way only."""


def load(local: Local, options: Options) -> pl.DataFrame:
    """NQ301 as an answers table.

    Predictions have ids `nq301/<question's number>/<file stem>`, their own file's references, and
    the label of the same answer among the pairs: equal text, else equal after lower-casing and
    without punctuation and articles, else the same number. 37 of 3,612 have no label.
    Pairs have ids `nq301/pair/<row>` and the references that BEM was given.
    """
    pairs = read_pairs(local)
    return as_answers(pairs if options.rows == "pairs" else _labelled(local, pairs))


def load_full(local: Local, options: NoOptions) -> pl.DataFrame:  # noqa: ARG001 (a family's form)
    """The ten systems with published answers to all 3,610 questions of NQ-open, without labels.

    Ids are `nq-open-predictions/<line of the file>/<file stem>`.
    """
    frames = [
        predictions(local, stem).with_columns(_id(local.dataset.name, pl.col("line"), stem))
        for stem in SYSTEMS
        if f"model_outputs/{stem}.jsonl" in local.files
    ]
    return as_answers(pl.concat(frames))


def counts(local: Local) -> dict[str, int]:
    """Sizes of NQ301: questions, systems, pairs, labels, blanks, disagreements, predictions."""
    pairs = read_pairs(local)
    answers = load(local, Options())
    first, second = (pairs["annotator_labels"].list.get(place) for place in (0, 1))
    accepted = int((pairs["label"] == 1).sum())
    return {
        "questions": pairs["question"].n_unique(),
        "systems": answers["system"].n_unique(),
        "labelled pairs": pairs.height - pairs["label"].null_count(),
        "accepted pairs": accepted,
        "blank cells of annotator 2": second.null_count(),
        "pairs on which the first two annotators differ": int(first.ne_missing(second).sum()),
        "predictions": answers.height,
        "predictions without a label": answers["label"].null_count(),
    }


def counts_full(local: Local) -> dict[str, int]:
    """Questions, systems and predictions of the ten systems with published answers."""
    answers = load_full(local, NoOptions())
    return {
        "questions": answers["question"].n_unique(),
        "systems": answers["system"].n_unique(),
        "predictions": answers.height,
    }


def predictions(local: Local, stem: str) -> pl.DataFrame:
    """One system's file: `line` (from 1), `question`, `references`, `answer`, `system`.

    A prediction that is a list (the few-shot file has 16) counts as its first element; white space
    around a prediction is dropped.
    """
    path = local.path(f"model_outputs/{stem}.jsonl")
    with reading(path, "a file of predictions"):
        rows = read_json_lines(path)
        answers = [_first(row["prediction"]) for row in rows]
        return pl.DataFrame(
            {
                "line": range(1, len(rows) + 1),
                "question": [row["question"] for row in rows],
                "references": [row["answer"] for row in rows],
                "answer": answers,
                "system": [SYSTEMS[stem]] * len(rows),
                "reference_kind": ["text"] * len(rows),
            },
            schema_overrides={"references": pl.List(pl.String), "answer": pl.String},
        )


def read_pairs(local: Local) -> pl.DataFrame:
    """The 1,490 labelled answers, in the order of the files, with `row` (from 1) and `number`."""
    path = local.path(HUMAN)
    with reading(path, "NQ301's human labels"):
        # Seven answers begin with a quotation mark that belongs to them: quotes mean nothing here.
        _, *rows = read_tsv(path, quoted=False)
        frame = pl.DataFrame(
            {
                "row": range(1, len(rows) + 1),
                "number": [int(row[0]) for row in rows],
                "question": [row[1] for row in rows],
                "answer": [row[2] for row in rows],
                "label": [VERDICTS.get(row[3].strip()) for row in rows],
                "annotator_labels": [[VERDICTS.get(c.strip()) for c in row[4:7]] for row in rows],
            },
            schema_overrides={
                "label": pl.Float64,
                "annotator_labels": pl.List(pl.Float64),
            },
        )
    return frame.with_columns(
        pl.lit(POOL).alias("system"),
        pl.lit("text").alias("reference_kind"),
        pl.Series("references", [cells[2].split(" | ") for cells in read_bem(local, frame)]),
        _id(local.dataset.name, pl.lit("pair"), pl.col("row").cast(pl.String)),
    )


def read_bem(local: Local, pairs: pl.DataFrame) -> list[list[str]]:
    """The rows of BEM's file, which are in the order of the pairs; its `id` is the row's number."""
    return read_aligned(local, BEM, pairs, quoted=True)


def read_aligned(local: Local, name: str, pairs: pl.DataFrame, *, quoted: bool) -> list[list[str]]:
    """The rows of a judge's file without its header, checked to be in the order of the pairs.

    Questions are compared by their letters and digits only: one file has them tokenised and with a
    question mark added. Answers are not compared: some files have them cleaned or unquoted.
    """
    path = local.path(name)
    with reading(path, "a file of recorded judgments of NQ301"):
        _, *rows = read_tsv(path, quoted=quoted)
        theirs = letters(pl.Series("question", [row[1] for row in rows], dtype=pl.String))
        if len(rows) != pairs.height or (theirs != letters(pairs["question"])).any():
            raise ValueError(f"its rows are not in the order of those of {HUMAN}")
        return rows


def _labelled(local: Local, pairs: pl.DataFrame) -> pl.DataFrame:
    numbers = pairs.unique("question", maintain_order=True).select("question", "number")
    frames = [
        predictions(local, stem)
        .join(numbers, on="question", how="inner", maintain_order="left")
        .with_columns(_id(local.dataset.name, pl.col("number"), stem))
        for stem in SYSTEMS
    ]
    return attach_pairs(pl.concat(frames), pairs).join(
        pairs.select("row", "label", "annotator_labels"),
        on="row",
        how="left",
        maintain_order="left",
    )


def attach_pairs(answers: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """`answers` with `row`: which of the pairs has the same question and answer, null if none has.

    Equal text comes first; then equal keys (see `_key`), unless pairs with that key were labelled
    differently.
    """
    exact = pairs.unique(["question", "answer"], keep="first", maintain_order=True).select(
        "question", "answer", pl.col("row").alias("exact")
    )
    near = (
        pairs.with_columns(_key("answer"))
        .group_by("question", "key", maintain_order=True)
        .agg(pl.col("row").first().alias("near"), pl.col("label").n_unique().alias("verdicts"))
        .filter(pl.col("verdicts") == 1)
        .drop("verdicts")
    )
    return (
        answers.with_columns(_key("answer"))
        .join(exact, on=["question", "answer"], how="left", maintain_order="left")
        .join(near, on=["question", "key"], how="left", maintain_order="left")
        .with_columns(pl.coalesce("exact", "near").alias("row"))
        .drop("exact", "near", "key")
    )


def _key(column: str) -> pl.Expr:
    """What makes two answers the same for looking up a label, as `key`.

    A number is its value, since the labels' file has 7 for 07 and 60 for 60.0; other text loses
    its case, ASCII punctuation and articles, as the release's unique answers did.
    """
    plain = (
        pl.col(column)
        .str.to_lowercase()
        .str.replace_all(r"[!-/:-@\[-`{-~]", "")
        .str.replace_all(r"\b(a|an|the)\b", " ")
        .str.replace_all(r"\s+", " ")
        .str.strip_chars()
    )
    number = pl.col(column).cast(pl.Float64, strict=False).cast(pl.String)
    return pl.coalesce(number, plain).alias("key")


def letters(texts: pl.Series) -> pl.Series:
    return texts.str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]", "")


def _id(dataset: str, middle: pl.Expr, last: str | pl.Expr) -> pl.Expr:
    end = pl.lit(last.removeprefix("NQ301_").removeprefix("NQ_")) if isinstance(last, str) else last
    return pl.concat_str(pl.lit(dataset), middle.cast(pl.String), end, separator="/").alias(
        "answer_id"
    )


def _first(prediction: object) -> str | None:
    value = prediction[0] if isinstance(prediction, list) and prediction else prediction
    text = text_or_none(value)
    return None if text is None else text.strip()


def probabilities(cell: str) -> list[float]:
    """BEM's probability that the answer is equivalent, one for each reference."""
    return [float(pair[1]) for pair in json.loads(cell)]


FAMILY = Family(options=Options, load=load, counts=counts)
FULL = Family(options=NoOptions, load=load_full, counts=counts_full)
