"""Yang et al. 2024, LINKAGE (Findings of EMNLP): sizes, and the automatic rows of
Tables 2 and 5.

The correlations of its language models need replies that were not released. Those of the automatic
measures are computed here under the rule that every drawn reference leaves the candidates; the
paper's own candidates cannot be drawn again, so the figures differ.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from markscheme.agreement.list_figures import best_and_worst, over_draws
from markscheme.datasets import load, passages
from markscheme.judges.reference_overlap import Measure, ReferenceOverlap
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


CANDIDATES = (
    "the paper's candidates and references were not released; ours: one drawn reference a grade "
    "(rest), the best of them compared, three draws"
)

TABLE_2_TREC: dict[str, tuple[Measure, tuple[float, float, float], tuple[float, float, float]]] = {
    "ROUGE-1": ("set_rouge1", (0.2442, 0.3060, 0.3412), (0.2387, 0.2976, 0.3434)),
    "ROUGE-2": ("set_rouge2", (0.2064, 0.2441, 0.2808), (0.2033, 0.2408, 0.2936)),
    "ROUGE-L": ("rougeL", (0.2171, 0.2721, 0.3178), (0.2223, 0.2800, 0.3303)),
    "BLEU": ("bleu", (0.2106, 0.2650, 0.2208), (0.2022, 0.2538, 0.2811)),
}
"""Our measure; the paper's Kendall, Spearman and Pearson; ours when they were recorded."""


def table_2_trec(data_dir: DataDir) -> list[Cell]:
    """Table 2, automatic measures on TREC-DL-NF."""
    frame = passages("trec-dl-nf", data_dir=data_dir)
    cells = []
    for row, (measure, printed, known) in TABLE_2_TREC.items():
        judge = ReferenceOverlap(measure=measure)

        def score(drawn: pl.DataFrame, judge: ReferenceOverlap = judge) -> pl.Series:
            return judge.judge(drawn, None)["score"]

        found = over_draws(frame, score, composition="3210")
        cells += [
            Cell(
                row=row, column=name, paper=paper, ours=round(found.means[name].value or 0.0, 4),
                digits=4, reason=CANDIDATES, known=recorded, within=0.0005,
            )
            for name, paper, recorded in zip(
                ("kendall", "spearman", "pearson"), printed, known, strict=True
            )
        ]  # fmt: skip
    return cells


TABLE_5: dict[str, tuple[Measure, tuple[float, float], tuple[float, float]]] = {
    "ROUGE-L": ("rougeL", (0.42, 0.32), (0.23, 0.10)),
    "BLEU": ("bleu", (0.50, 0.44), (0.34, 0.16)),
}


def table_5(data_dir: DataDir) -> list[Cell]:
    """Table 5, automatic measures on WebGLM: Acc(b) and Acc(b+w)."""
    answers = load("webglm", data_dir=data_dir)
    cells = []
    for row, (measure, printed, known) in TABLE_5.items():
        score = ReferenceOverlap(measure=measure).judge(answers, None)["score"]
        found = best_and_worst(answers.select("question", score=score, grade="label"))
        cells += [
            Cell(
                row=row, column=name, paper=paper, ours=round(ours, 2), digits=2,
                reason=f"{HUNDRED}; which 50 were used, and against which reference, is not said",
                known=recorded,
            )
            for name, paper, ours, recorded in zip(
                ("Acc(b)", "Acc(b+w)"), printed, found, known, strict=True
            )
        ]  # fmt: skip
    return cells


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
        PaperTable(
            name="table-2-trec",
            title="Automatic measures on TREC-DL-NF, correlation with grades",
            compute=table_2_trec,
        ),
        PaperTable(
            name="table-5", title="Automatic measures on WebGLM, best and worst", compute=table_5
        ),
    ),
)
