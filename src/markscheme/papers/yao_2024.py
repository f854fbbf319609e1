"""Yao & Barbosa 2024, Accurate and Nuanced Open-QA Evaluation Through Textual Entailment.

Sizes can be computed again. The other figures need replies of GPT-3.5 that were not released; the
embedded entailment's stand beside them (`yao_2024_embedded`).
"""

from __future__ import annotations

from collections.abc import Callable

from markscheme.datasets import load
from markscheme.papers.cell import Cell, DataDir, Paper, PaperTable
from markscheme.papers.yao_2024_embedded import TABLES

PROPER = {"evouna-nq": 3020, "evouna-tq": 1938}
"""Section 2: questions of EVOUNA without the improper ones."""

SETS = {"evouna-nq": (514, 10_061, 1_000, 3_470), "evouna-tq": (168, 7_890, 460, 1_172)}
"""Tables 9 and 10: answers that say more, the same, less, or something else."""

FEWER = "the four sets leave out 54 of the labelled answers; the paper does not say which"
UNSEEN = "not held when this was written; answers without a label would make ours smaller"


def _sizes(name: str) -> Callable[[DataDir], list[Cell]]:
    def compute(data_dir: DataDir) -> list[Cell]:
        answers = load(name, data_dir=data_dir)
        # Two questions of EVOUNA-NQ have the same text, so rows are counted, not texts.
        questions = answers["answer_id"].str.extract(r"/(\d+)/").n_unique()
        total = sum(SETS[name])
        excuse = (
            {"reason": FEWER, "known": 15_099.0}
            if name == "evouna-nq"
            else {"reason": UNSEEN, "known": float(total), "within": 50.0}
        )
        return [
            Cell(row=name, column="questions", paper=PROPER[name], ours=questions, digits=0),
            Cell(
                row=name,
                column="answers in the four sets",
                paper=total,
                ours=answers.height,
                digits=0,
                **excuse,  # type: ignore[arg-type]
            ),
        ]

    return compute


PAPER = Paper(
    name="yao-2024",
    title="Accurate and Nuanced Open-QA Evaluation Through Textual Entailment",
    tables=(
        PaperTable(name="sizes-nq", title="Size of EVOUNA-NQ", compute=_sizes("evouna-nq")),
        PaperTable(
            name="sizes-tq",
            title="Size of EVOUNA-TQ",
            compute=_sizes("evouna-tq"),
            needs="TQ.json",
        ),
        *TABLES,
    ),
)
