"""Entailment tests on pairs of texts, and how they agree with people's labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from markscheme.contract import ModelSource
from markscheme.errors import DataError
from markscheme.judges.entailment import entailment_test
from markscheme.models import Models
from markscheme.results import Column, Figure, Table, TableResult, figure, flat_frame
from markscheme.tables import write_table
from markscheme_research.statements import read_entailment_pairs


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EntailedPairs(TableResult):
    """What entailment tests say of pairs. `frame` has the figures, a row per test.

    Attributes:
        pairs: a row per pair and test: `question`, `premise`, `hypothesis`, `label` (null where
            there is none), `test`, `entailed`, `score` (0 to 1), `status`, `reason`.
    """

    pairs: pl.DataFrame

    def write(self, path: str | Path) -> Path:
        """Write every pair with what each test says: .jsonl, .csv, .tsv or .parquet."""
        write_table(self.pairs, Path(path))
        return Path(path)


def entail(
    source: str | Path,
    tests: Sequence[str] = ("embedded",),
    *,
    entailed: str | None = None,
    models: ModelSource | None = None,
) -> EntailedPairs:
    """Does each premise entail its hypothesis, by one or several entailment tests?

    On RTE and CB this is the comparison of Yao & Barbosa 2024, appendix A.3.

    Args:
        source: a CSV, TSV, JSON, JSONL or Parquet file with premise and hypothesis (or sentence1,
            sentence2), and label where there are labels.
        tests: names of entailment tests: `embedded`, `chat`, `nli:NAME_OR_FOLDER`.
        entailed: the label that means entailment, where labels are numbers (in GLUE's RTE: 0).
        models: opens weights and servers for tests that need some.

    Raises:
        DataError: the file cannot be read. JudgeError: no such test. ModelError: as the tests do.
    """
    chosen = {name: entailment_test(name) for name in dict.fromkeys(tests)}
    if not chosen:
        raise DataError("no entailment test was named; 'embedded' needs nothing")
    pairs = read_entailment_pairs(source, entailed=entailed, labels=False)
    if pairs.is_empty():
        raise DataError(f"{source} has no pair with both texts, or people agreed on none")
    asked = pairs.select(
        "question",
        "premise",
        "hypothesis",
        premise_answer="premise",
        hypothesis_answer="hypothesis",
    )
    opened = Models() if models is None else models
    found = pl.concat(
        pl.concat(
            [
                pairs.with_columns(test=pl.lit(name)),
                test.test(asked, opened).select(
                    pl.col("entailed").cast(pl.Boolean),
                    pl.col("score").cast(pl.Float64),
                    pl.col("status").cast(pl.String),
                    pl.col("reason").cast(pl.String),
                ),
            ],
            how="horizontal",
        )
        for name, test in chosen.items()
    )
    records = [
        _figures(name, part) for (name,), part in found.group_by("test", maintain_order=True)
    ]
    return EntailedPairs(
        frame=flat_frame(records),
        tables=(_table(records, labelled=pairs["label"].null_count() < pairs.height),),
        data={"command": "entail", "tests": records, "pairs": found.to_dicts()},
        pairs=found,
    )


def _figures(name: Any, part: pl.DataFrame) -> dict[str, Any]:
    """Counts, and agreement with labels over the pairs that were judged."""
    judged = part.filter(pl.col("status") == "judged")
    record: dict[str, Any] = {
        "test": name,
        "pairs": part.height,
        "judged": judged.height,
        "entailed": figure(_mean(judged["entailed"]), "no pair was judged"),
    }
    labelled = judged.filter(pl.col("label").is_not_null() & pl.col("entailed").is_not_null())
    labels = labelled["label"].to_numpy() > 0.5
    said = labelled["entailed"].to_numpy()
    nothing = "no labels" if part["label"].null_count() == part.height else "no pair was judged"
    if labelled.is_empty():
        return record | {one: Figure(reason=nothing) for one in ("accuracy", "f1", "auroc")}
    from sklearn.metrics import f1_score, roc_auc_score

    scored = labelled["score"].is_not_null().to_numpy()
    both = len(np.unique(labels[scored])) == 2
    auroc = (
        Figure(value=float(roc_auc_score(labels[scored], labelled["score"].to_numpy()[scored])))
        if both
        else Figure(reason="scores with both labels are needed")
    )
    return record | {
        "accuracy": Figure(value=float((labels == said).mean())),
        "f1": Figure(value=float(f1_score(labels, said, zero_division=0.0))),
        "auroc": auroc,
    }


def _mean(values: pl.Series) -> float:
    mean = values.cast(pl.Float64).mean()
    return float(mean) if isinstance(mean, float) else float("nan")


def _table(records: Sequence[dict[str, Any]], *, labelled: bool) -> Table:
    notes = ["Entailed, accuracy and F1 in per cent, of the pairs that were judged."]
    if not labelled:
        notes = ["Entailed: per cent of the pairs that were judged. The file has no labels."]
    return Table.of(
        "Does the premise entail the hypothesis?",
        (
            "test",
            Column("pairs", format="count"),
            Column("entailed", format="share"),
            Column("accuracy", format="share", show=labelled),
            Column("F1 (entailed)", "f1", "share", show=labelled),
            Column("AUROC", "auroc", 3, show=labelled),
            Column("not judged", lambda one: one["pairs"] - one["judged"], "count"),
        ),
        records,
        notes,
    )
