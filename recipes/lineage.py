"""The lineage of the weights that ship: hashes of the questions that each of them learned from.

    MARKSCHEME_DATA=../shared/data python -m recipes.lineage

Training writes the same file (`lineage.npy`); this makes it again for weights that were trained
before, from the recipes of `recipes.examiner`, `train entailment` and `train listwise`. It refuses
where the questions found are not as many as the weights say.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl

import markscheme
from markscheme.contract import Lineage
from markscheme.manifests import write_manifest
from markscheme_research.datasets import passages
from markscheme_research.training import shipped_data, usable
from recipes.encoder.rows import NO_QUESTION
from recipes.examiner import tree_rows

JUDGES = Path(markscheme.__file__).parent / "judges"


def examiner(data: Path) -> list[str]:
    """Rows of the trees; `NO_QUESTION` is no question."""
    asked = tree_rows(data)["question"]
    _check(JUDGES / "examiner" / "weights" / "examiner.json", asked)
    return asked.filter(asked != NO_QUESTION).to_list()


def entailment(data: Path) -> list[str]:
    """The training part of EVOUNA-NQ."""
    asked = usable(shipped_data(part="train", data_dir=data))["question"]
    _check(JUDGES / "entailment" / "weights" / "entailment.json", asked)
    return asked.to_list()


def listwise(data: Path) -> list[str]:
    """ANTIQUE's questions for development, and TREC-DL-NF's."""
    antique = passages("antique", data_dir=data, part="dev")
    return [*antique["question"], *passages("trec-dl-nf", data_dir=data)["question"]]


def _check(settings: Path, asked: pl.Series) -> None:
    told = json.loads(settings.read_text(encoding="utf-8"))["trained"]["questions"]
    if asked.n_unique() != told:
        raise SystemExit(f"{settings}: trained on {told} questions; found {asked.n_unique()}")


def main() -> None:
    """Write all three files."""
    data = Path(os.environ.get("MARKSCHEME_DATA", "../shared/data"))
    for find in (examiner, entailment, listwise):
        asked = find(data)
        lineage = Lineage.of(asked)
        lineage.save(JUDGES / find.__name__ / "weights")
        write_manifest(JUDGES / find.__name__ / "weights")
        print(f"{find.__name__}: {len(set(asked)):,} questions, {lineage.size:,} hashes")


if __name__ == "__main__":
    main()
