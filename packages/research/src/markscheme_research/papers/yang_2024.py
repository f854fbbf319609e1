"""Yang et al. 2024, LINKAGE (Findings of EMNLP): sizes, and the automatic rows of
Tables 2 and 5.

The correlations of its language models need replies that were not released. Those of the automatic
measures are computed by two rules: `rest`, where every drawn reference leaves the candidates, and
`butref`, where only the one in use does, which fits the paper better on ANTIQUE and as well on
TREC-DL-NF. Its own candidates cannot be drawn again, so no figure is equal to the digit.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from markscheme.contract import parse_judge
from markscheme.engine import apply
from markscheme.models import Models
from markscheme_research.datasets import load, passages
from markscheme_research.judges import Measure, ReferenceOverlap
from markscheme_research.lists import Protocol, best_and_worst, over_draws
from markscheme_research.papers.cell import Asked, Cell, DataDir, Paper, PaperTable, filled
from markscheme_research.papers.printed_tables import items, printed_cells, printed_tables
from markscheme_research.papers.wang_2023 import first_questions

TABLE_1 = {
    "antique": (500, (5.8, 4.5, 6.5, 3.6), 20.4),
    "trec-dl-nf": (55, (9.6, 18.1, 24.9, 48.0), 100.7),
}
"""Questions; average passages a question labelled 3, 2, 1, 0; average passages in all."""

HUNDRED = "the released file has 100 questions, although its name says 50 as well"


def _table_1(name: str) -> Callable[[DataDir], list[Cell]]:
    questions, per_grade, total = TABLE_1[name]

    def compute(data_dir: DataDir) -> list[Cell]:
        # Part dev of ANTIQUE may be here alone; the paper's figures are of the whole.
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
    "the paper's candidates and references were not released; ours: one of the best grade is "
    "compared, three draws of {composition}; {rule}"
)
RULES: dict[Protocol, str] = {
    "rest": "every drawn reference leaves the candidates",
    "butref": "only the reference in use leaves, which fits the paper better on ANTIQUE",
}
ENCODER = (
    "the authors' code takes the cosine of bert-base-uncased's [CLS] vectors with the second "
    "reference of the best grade; its weights do not ship"
)
COEFFICIENTS = ("kendall", "spearman", "pearson")

Triple = tuple[float, float, float]

PRINTED: dict[str, dict[str, Triple]] = {
    "antique": {
        "ROUGE-1": (0.2088, 0.2563, 0.2878),
        "ROUGE-2": (0.1807, 0.2089, 0.2281),
        "ROUGE-L": (0.2012, 0.2463, 0.2708),
        "BLEU": (0.1808, 0.2153, 0.2063),
        "BERTScore": (0.1562, 0.1938, 0.1950),
    },
    "trec-dl-nf": {
        "ROUGE-1": (0.2442, 0.3060, 0.3412),
        "ROUGE-2": (0.2064, 0.2441, 0.2808),
        "ROUGE-L": (0.2171, 0.2721, 0.3178),
        "BLEU": (0.2106, 0.2650, 0.2208),
        "BERTScore": (0.2258, 0.2824, 0.2842),
    },
}
"""Kendall, Spearman and Pearson of Table 2, upper part."""

MEASURES: dict[str, Measure] = {
    "ROUGE-1": "set_rouge1", "ROUGE-2": "set_rouge2", "ROUGE-L": "rougeL", "BLEU": "bleu",
}  # fmt: skip
"""Which of our measures comes nearest to each of the paper's."""

RECORDED: dict[tuple[str, Protocol], dict[str, Triple]] = {
    ("antique-dev", "rest"): {
        "ROUGE-1": (0.1653, 0.1974, 0.2079),
        "ROUGE-2": (0.1662, 0.1845, 0.1805),
        "ROUGE-L": (0.1527, 0.1839, 0.1968),
        "BLEU": (0.1528, 0.1842, 0.1741),
    },
    ("antique-dev", "butref"): {
        "ROUGE-1": (0.2028, 0.2422, 0.2529),
        "ROUGE-2": (0.2057, 0.2322, 0.2240),
        "ROUGE-L": (0.1815, 0.2190, 0.2362),
        "BLEU": (0.1854, 0.2232, 0.1989),
    },
    ("trec-dl-nf", "rest"): {
        "ROUGE-1": (0.2387, 0.2976, 0.3434),
        "ROUGE-2": (0.2033, 0.2408, 0.2936),
        "ROUGE-L": (0.2223, 0.2800, 0.3303),
        "BLEU": (0.2022, 0.2538, 0.2811),
    },
    ("trec-dl-nf", "butref"): {
        "ROUGE-1": (0.2555, 0.3155, 0.3499),
        "ROUGE-2": (0.2013, 0.2369, 0.2911),
        "ROUGE-L": (0.2243, 0.2827, 0.3224),
        "BLEU": (0.1954, 0.2483, 0.2811),
    },
}
"""Ours when they were recorded. Those of the whole of ANTIQUE are of its half: the rest was never
here, so they are let be as far off as halves differ."""

RECORDED |= {("antique", rule): RECORDED["antique-dev", rule] for rule in RULES}
WITHIN = {"antique": 0.05, "antique-dev": 0.0005, "trec-dl-nf": 0.0005}


def _table_2(name: str, part: str, recorded: str) -> Callable[[DataDir], list[Cell]]:
    composition = {"antique": "33221100"}.get(name, "3210")

    def compute(data_dir: DataDir) -> list[Cell]:
        frame = passages(name, data_dir=data_dir, part=part)
        cells = []
        for rule, why in RULES.items():
            reason = CANDIDATES.format(composition=composition, rule=why)
            for row, measure in MEASURES.items():
                found = _over_draws(frame, measure, composition=composition, protocol=rule)
                known = RECORDED[recorded, rule][row]
                cells += [
                    Cell(
                        row=f"{row}, {rule}", column=column, paper=paper, ours=ours, digits=4,
                        reason=reason, known=recorded_value, within=WITHIN[recorded],
                    )
                    for column, paper, ours, recorded_value in zip(
                        COEFFICIENTS, PRINTED[name][row], found, known, strict=True
                    )
                ]  # fmt: skip
        return cells + [
            Cell(row="BERTScore", column=column, paper=paper, ours=None, digits=4, reason=ENCODER,
                 needs="model")
            for column, paper in zip(COEFFICIENTS, PRINTED[name]["BERTScore"], strict=True)
        ]  # fmt: skip

    return compute


BY_MODEL = {
    "pointwise, no references": "pointwise(references=hidden)",
    "pointwise": "pointwise",
    "pairwise": "pairwise",
    "LINKAGE, 0-shot": "listwise",
}
"""Rows of Table 2 by language models; few-shot ones need `markscheme research study shots`."""

MODEL_SETS = {"ANTIQUE": ("antique", "33221100"), "TREC": ("trec-dl-nf", "3210")}


def _table_2_by_model(group: str) -> Callable[[Asked], list[Cell]]:
    """The function that computes the rows of Table 2 with the user's model, over one draw."""

    def compute(asked: Asked) -> list[Cell]:
        found: dict[tuple[str, str], float | None] = {}
        for prefix, (name, composition) in MODEL_SETS.items():
            frame = first_questions(passages(name, data_dir=asked.data_dir), asked.questions)
            for row, judge in BY_MODEL.items():

                def score(drawn: pl.DataFrame, judge: str = judge) -> pl.Series:
                    return apply(parse_judge(judge), drawn, asked.models or Models())["score"]

                figures = over_draws(frame, score, composition=composition, seeds=(0,))
                for letter, coefficient in zip("KSP", COEFFICIENTS, strict=True):
                    found[row, f"{prefix} {letter}"] = figures.means[coefficient].value
        return [
            filled(cell, found.get((cell.row, cell.column))) for cell in printed_cells(NAME, group)
        ]

    return compute


def _over_draws(
    frame: pl.DataFrame, measure: Measure, *, composition: str, protocol: Protocol
) -> list[float]:
    judge = ReferenceOverlap(measure=measure)

    def score(drawn: pl.DataFrame) -> pl.Series:
        return judge.judge(drawn, Models())["score"]

    found = over_draws(frame, score, composition=composition, protocol=protocol)
    return [round(found.means[name].value or 0.0, 4) for name in COEFFICIENTS]


TABLE_5: dict[str, tuple[Measure, tuple[float, float], tuple[float, float]]] = {
    "ROUGE-L, recall": ("rougeL_recall", (0.42, 0.32), (0.42, 0.27)),
    "ROUGE-L, F": ("rougeL", (0.42, 0.32), (0.23, 0.10)),
    "BLEU": ("bleu", (0.50, 0.44), (0.34, 0.16)),
}
"""Our measure; the paper's Acc(b) and Acc(b+w); ours when they were recorded."""

NOT_STATED = "which 50 were used, and against which reference, is not stated; ours: against ground3"


def _antique_sizes() -> list[Cell]:
    """Table 1's cells for who lacks all of ANTIQUE."""
    questions, per_grade, total = TABLE_1["antique"]
    figures = [
        ("questions", questions, 0),
        *((f"passages labelled {label} a question", paper, 1)
          for label, paper in zip((3, 2, 1, 0), per_grade, strict=True)),
        ("passages a question", total, 1),
    ]  # fmt: skip
    return [
        Cell(row="antique", column=column, paper=paper, ours=None, digits=digits, needs="data",
             reason="ANTIQUE.json is not available")
        for column, paper, digits in figures
    ]  # fmt: skip


NAME = "yang-2024"


def table_5(data_dir: DataDir) -> list[Cell]:
    """Table 5, automatic measures on WebGLM: Acc(b) and Acc(b+w).

    Grade 3 is the best: where two answers tie, 1 is the grade that goes unused and 3 never is; an
    answer that declines ("I cannot provide information") has 1. The F-measure still fits turned
    grades better (.49 and .24), because people liked long answers (the longest is the best in .53)
    and the F-measure falls with every word beyond the reference's hundred; its recall does not.
    """
    answers = load("webglm", data_dir=data_dir)
    cells = []
    for row, (measure, printed, known) in TABLE_5.items():
        score = ReferenceOverlap(measure=measure).judge(answers, Models())["score"]
        found = best_and_worst(answers.select("question", score=score, grade="label"))
        cells += [
            Cell(
                row=row, column=name, paper=paper, ours=round(ours, 2), digits=2,
                reason=f"{HUNDRED}; {NOT_STATED}" if recorded != paper else "", known=recorded,
            )
            for name, paper, ours, recorded in zip(
                ACCURACIES, printed, found, known, strict=True
            )
        ]  # fmt: skip
    length = answers.select(
        "question", score=pl.col("answer").str.count_matches(r"\S+"), grade="label"
    )
    return [
        *cells,
        *(
            Cell(row="BERTScore", column=name, paper=paper, ours=None, digits=2, reason=ENCODER,
                 needs="model")
            for name, paper in zip(ACCURACIES, (0.48, 0.38), strict=True)
        ),
        *(
            Cell(row="length in words (ours)", column=name, paper=None, ours=round(ours, 2),
                 digits=2)
            for name, ours in zip(ACCURACIES, best_and_worst(length), strict=True)
        ),
    ]  # fmt: skip


ACCURACIES = ("Acc(b)", "Acc(b+w)")


def antique_half(data_dir: DataDir) -> list[Cell]:
    """Table 1's counts for part dev of ANTIQUE, which the shipped weights learned from."""
    frame = passages("antique", data_dir=data_dir, part="dev")
    half = "half of the paper's questions"
    ours = frame["question_number"].n_unique()
    counts = frame.group_by("grade").len().sort("grade", descending=True)["len"].to_list()
    _, papers, total = TABLE_1["antique"]
    figures = [
        *((f"passages labelled {label} a question", paper, count / ours)
          for label, paper, count in zip((3, 2, 1, 0), papers, counts, strict=True)),
        ("passages a question", total, frame.height / ours),
    ]  # fmt: skip
    known = (5.5, 4.2, 5.6, 3.1, 18.4)
    return [
        Cell(row="antique, dev", column="questions", paper=500, ours=ours, digits=0, reason=half,
             known=257),
        *(
            Cell(row="antique, dev", column=column, paper=paper, ours=round(value, 1),
                 reason=half, known=recorded)
            for (column, paper, value), recorded in zip(figures, known, strict=True)
        ),
    ]  # fmt: skip


PAPER = Paper(
    name=NAME,
    items=items(NAME),
    title="LINKAGE: Listwise Ranking among Varied-Quality References",
    tables=(
        PaperTable(
            name="table-1-antique",
            title="Size of ANTIQUE",
            compute=_table_1("antique"),
            needs="ANTIQUE.json",
            item="Table 1",
            printed=_antique_sizes,
            run="markscheme research datasets fetch antique",
        ),
        PaperTable(
            name="table-1-antique-dev",
            title="Size of half of ANTIQUE",
            compute=antique_half,
            item="Table 1",
        ),
        PaperTable(
            name="table-1-trec",
            title="Size of TREC-DL-NF",
            compute=_table_1("trec-dl-nf"),
            item="Table 1",
        ),
        PaperTable(
            name="webglm", title="Size of the WebGLM sample", compute=webglm, item="Table 5"
        ),
        PaperTable(
            name="table-2-antique",
            title="Automatic measures on ANTIQUE, correlation with grades",
            compute=_table_2("antique", "all", "antique"),
            needs="ANTIQUE.json",
            item="Table 2",
            run="markscheme research datasets fetch antique",
        ),
        PaperTable(
            name="table-2-antique-dev",
            title="Automatic measures on half of ANTIQUE, correlation with grades",
            compute=_table_2("antique", "dev", "antique-dev"),
            item="Table 2",
        ),
        PaperTable(
            name="table-2-trec",
            title="Automatic measures on TREC-DL-NF, correlation with grades",
            compute=_table_2("trec-dl-nf", "auto", "trec-dl-nf"),
            item="Table 2",
        ),
        PaperTable(
            name="table-5",
            title="Automatic measures on WebGLM, best and worst",
            compute=table_5,
            item="Table 5",
        ),
        *printed_tables(
            NAME,
            by_model={
                group: _table_2_by_model(group) for group in ("table-2-mistral", "table-2-chatgpt")
            },
        ),
    ),
)
