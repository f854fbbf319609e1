"""Judgments that were published with a dataset, as a judgments table.

NQ301 comes with the outputs of BEM (Bulian et al. 2022), of text-davinci-003 ("InstructGPT-eval")
and, in files that may be missing locally, of GPT-4 and (castorini/qa-eval, seven systems) Vicuna.
With EVOUNA go, in such files, the entailment labels that Yao & Barbosa (2024) had from GPT-3.5.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import polars as pl

from markscheme.errors import UnknownNameError
from markscheme.judges.entailment import relation_of_sets
from markscheme.tables import JUDGMENTS_SCHEMA
from markscheme_research.datasets import evouna, openqa
from markscheme_research.datasets.catalogue import Dataset, dataset
from markscheme_research.datasets.locations import Local, locate
from markscheme_research.datasets.rows import read_json, reading

BEM_THRESHOLD = 0.5
"""An answer is accepted if any reference's probability exceeds this."""


def recorded(
    name: str,
    judge: str,
    *,
    data_dir: str | Path | None = None,
    rows: Literal["predictions", "pairs"] = "pairs",
) -> pl.DataFrame:
    """The published judgments of one judge about a dataset's answers.

    Args:
        name: the dataset: `nq301`, `evouna-nq` or `evouna-tq`.
        judge: of NQ301 `bem`, `text-davinci-003`, `gpt-4` or `vicuna`, which judged seven of the
            systems; of EVOUNA `gpt-3.5`: accepted where the answer's statement entails a
            reference's or a reference's entails it (Yao & Barbosa 2024, section 5.1).
        data_dir: as for `load`.
        rows: which answers the ids are of, as `load("nq301", rows=...)` gives them. Predictions
            that were never judged are `skipped`. A prediction has one verdict, where the release
            may have two for answers that differ in case or punctuation only: the paper's tables
            need the pairs.

    Returns:
        A judgments table; `raw` is the reply, or BEM's probabilities; BEM's score is the highest
        probability over the references. The verdict of a reply is the published one (whether it
        begins with yes or no, with a few of GPT-4's corrected by hand); a reply without one is
        `unparsed`. EVOUNA's labels give the relation too, read as their authors do: a label says
        entailment where it has that word.

    Raises:
        UnknownNameError: no such dataset or judge.
        DataError: the files are not here, or not what they should be.
    """
    entry = dataset(name)
    judges = _judges_of(entry)
    if judge not in judges:
        raise UnknownNameError(
            f"recorded judge of {name}", judge, judges, f"there are {', '.join(judges)}"
        )
    local = locate(entry, data_dir)
    if entry.format == "evouna":
        judged = _entailment(local)
    else:
        pairs = openqa.read_pairs(local)
        outcomes = JUDGES[judge](local, pairs)
        answers = pairs
        if rows == "predictions":
            answers = openqa.attach_pairs(openqa.load(local, openqa.Options()), pairs)
        judged = answers.select("answer_id", "row").join(
            outcomes, on="row", how="left", maintain_order="left"
        )
    present = set(judged.columns)
    return judged.with_columns(
        pl.lit(judge).alias("judge"),
        pl.lit(f"recorded/{name}/{judge}").alias("signature"),
        pl.col("status").fill_null("skipped"),
    ).select(
        (pl.col(column) if column in present | {"judge", "signature"} else pl.lit(None))
        .cast(kind)
        .alias(column)
        for column, kind in JUDGMENTS_SCHEMA.items()
    )


def _judges_of(entry: Dataset) -> tuple[str, ...]:
    if entry.format == "nq301":
        return tuple(JUDGES)
    if entry.format == "evouna":
        return (ENTAILMENT,)
    raise UnknownNameError(
        "dataset with recorded judgments", entry.name, WITH_RECORDED,
        f"there are {', '.join(WITH_RECORDED)}",
    )  # fmt: skip


def _entailment(local: Local) -> pl.DataFrame:
    """GPT-3.5's labels of both directions, by question and system; of several the first counts."""
    which = local.dataset.name.removeprefix("evouna-").upper()
    path = local.path(f"{which}-nli-gpt35.json")
    found: list[dict[str, Any]] = []
    with reading(path, "a file of entailment labels"):
        for item in read_json(path):
            forward, backward = str(item["a2astar"]), str(item["astar2a"])
            found.append(
                {
                    "key": str(item["question"]),
                    "system": evouna.SYSTEMS[item["system"]],
                    "raw": f"a2astar: {forward}; astar2a: {backward}",
                    "in_superior": _ENTAILED in forward.lower(),
                    "in_inferior": _ENTAILED in backward.lower(),
                }
            )
    texts = dict.fromkeys(("key", "system", "raw"), pl.String())
    said = pl.DataFrame(
        found, schema={**texts, "in_superior": pl.Boolean(), "in_inferior": pl.Boolean()}
    )
    said = said.with_columns(key=openqa.letters(said["key"])).unique(
        ["key", "system"], keep="first", maintain_order=True
    )
    answers = evouna.load(local, evouna.Options())
    accepted = pl.col("in_superior") | pl.col("in_inferior")
    return (
        answers.select("answer_id", "system", key=openqa.letters(answers["question"]))
        .join(said, on=["key", "system"], how="left", maintain_order="left")
        .with_columns(
            verdict=accepted,
            score=accepted.cast(pl.Float64),
            relation=relation_of_sets(),
            status=pl.when(accepted.is_not_null()).then(pl.lit("judged")),
        )
    )


ENTAILMENT = "gpt-3.5"
_ENTAILED = "entailment"
WITH_RECORDED = ("nq301", "evouna-nq", "evouna-tq")
"""Datasets that have recorded judgments."""


def _bem(local: Local, pairs: pl.DataFrame) -> pl.DataFrame:
    cells = [row[5] for row in openqa.read_bem(local, pairs)]
    with reading(local.path(openqa.BEM), "BEM's probabilities"):
        scores = [max(openqa.probabilities(cell)) for cell in cells]
    return pl.DataFrame({"row": pairs["row"], "score": scores, "raw": cells}).with_columns(
        (pl.col("score") > BEM_THRESHOLD).alias("verdict"), pl.lit("judged").alias("status")
    )


def _replies(name: str) -> Callable[[Local, pl.DataFrame], pl.DataFrame]:
    """Reads a file of replies with the verdict that its publishers took from each."""

    def read(local: Local, pairs: pl.DataFrame) -> pl.DataFrame:
        rows = openqa.read_aligned(local, name, pairs, quoted=False)
        verdicts = [openqa.VERDICTS.get(row[3].strip()) for row in rows]
        return pl.DataFrame(
            {"row": pairs["row"], "raw": [row[4] for row in rows], "score": verdicts},
            schema_overrides={"score": pl.Float64},
        ).with_columns(
            (pl.col("score") == 1).alias("verdict"),
            pl.when(pl.col("score").is_null())
            .then(pl.lit("unparsed"))
            .otherwise(pl.lit("judged"))
            .alias("status"),
        )

    return read


def _vicuna(local: Local, pairs: pl.DataFrame) -> pl.DataFrame:
    """Vicuna's replies, one file per system; some go on after the verdict, the published one.

    Answers are matched by their letters and digits; of several verdicts on one the first counts.
    """
    files = [name for name in local.files if name.endswith(VICUNA)]
    if not files:
        local.path(f"model_outputs/NQ301_EMDR2{VICUNA}")  # says that it is not there
    found: list[dict[str, str]] = []
    for name in files:
        path = local.path(name)
        with reading(path, "a file of Vicuna's replies"):
            text = io.StringIO(path.read_text("utf-8-sig"), newline="")
            rows = list(csv.DictReader(text, delimiter="\t"))
            found += [{key: row[key] for key in _COLUMNS} for row in rows]
    keys = [openqa.letters(pairs[name]).alias(f"{name}_key") for name in ("question", "answer")]
    said = pl.DataFrame(found, schema=dict.fromkeys(_COLUMNS, pl.String))
    said = said.with_columns(
        openqa.letters(said["Question"]).alias("question_key"),
        openqa.letters(said["Model answer"]).alias("answer_key"),
        score=pl.col("vicuna").replace_strict({"1": 1.0, "0": 0.0}, default=None),
    ).unique(["question_key", "answer_key"], keep="first", maintain_order=True)
    return (
        pairs.select("row")
        .with_columns(keys)
        .join(said, on=["question_key", "answer_key"], how="inner", maintain_order="left")
        .select(
            "row",
            "score",
            raw="Response",
            verdict=pl.col("score") == 1,
            status=pl.when(pl.col("score").is_null())
            .then(pl.lit("unparsed"))
            .otherwise(pl.lit("judged")),
        )
    )


VICUNA = "_eval-vicuna.tsv"
_COLUMNS = ("Question", "Model answer", "vicuna", "Response")

JUDGES: dict[str, Callable[[Local, Any], pl.DataFrame]] = {
    "bem": _bem,
    "text-davinci-003": _replies("NQ301_text-davinci-003.tsv"),
    "gpt-4": _replies("NQ301_gpt-4.tsv"),
    "vicuna": _vicuna,
}
