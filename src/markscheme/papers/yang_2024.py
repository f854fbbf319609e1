"""Yang et al. 2024, LINKAGE (Findings of EMNLP): sizes of its three datasets.

Its correlations need replies of models that were not released, and its candidates cannot be drawn
again; the protocol is available on the data that `markscheme.datasets.load` gives.
"""

from __future__ import annotations

from collections.abc import Callable

from markscheme.datasets import load, passages
from markscheme.papers.cell import Cell, DataDir, Paper, PaperTable

TABLE_1 = {
    "antique": (500, (5.8, 4.5, 6.5, 3.6), 20.4),
    "trec-dl-nf": (55, (9.6, 18.1, 24.9, 48.0), 100.7),
}
"""Questions; average passages a question labelled 3, 2, 1, 0; average passages in all."""

HUNDRED = "the released file has 100 questions, although its name says 50 as well"


def _table_1(name: str) -> Callable[[DataDir], list[Cell]]:
    questions, per_grade, total = TABLE_1[name]

    def compute(data_dir: DataDir) -> list[Cell]:
        # Half of ANTIQUE lies about as a file of its own; the paper's figures are of the whole.
        part = "all" if name == "antique" else "auto"
        frame = passages(name, data_dir=data_dir, part=part)
        ours = frame["question_number"].n_unique()
        counts = frame.group_by("grade").len().sort("grade", descending=True)["len"].to_list()
        return [
            Cell(row=name, column="questions", paper=questions, ours=ours, digits=0),
            *(
                Cell(
                    row=name,
                    column=f"passages labelled {label} a question",
                    paper=paper,
                    ours=round(count / ours, 1),
                )
                for label, paper, count in zip((3, 2, 1, 0), per_grade, counts, strict=True)
            ),
            Cell(
                row=name,
                column="passages a question",
                paper=total,
                ours=round(frame.height / ours, 1),
            ),
        ]

    return compute


def webglm(data_dir: DataDir) -> list[Cell]:
    """Section 4.1: size of the WebGLM sample."""
    answers = load("webglm", data_dir=data_dir)
    questions = answers["question"].n_unique()
    return [
        Cell(
            row="webglm",
            column="questions",
            paper=50,
            ours=questions,
            digits=0,
            reason=HUNDRED,
            known=100,
        ),
        Cell(
            row="webglm",
            column="answers a question",
            paper=3,
            ours=answers.height / questions,
            digits=0,
        ),
    ]


PAPER = Paper(
    name="yang-2024",
    title="LINKAGE: Listwise Ranking among Varied-Quality References",
    tables=(
        PaperTable(
            name="table-1-antique",
            title="Size of ANTIQUE",
            compute=_table_1("antique"),
            needs="ANTIQUE.json",
        ),
        PaperTable(name="table-1-trec", title="Size of TREC-DL-NF", compute=_table_1("trec-dl-nf")),
        PaperTable(name="webglm", title="Size of the WebGLM sample", compute=webglm),
    ),
)
