"""Wang et al. 2023, Evaluating Open-QA Evaluation (NeurIPS): EVOUNA's lexical rows.

The figures are those of the paper's table 5 as Yao & Barbosa (2024, table 1) print them again; F1
is that of the positive class, and lexical match is a normalised reference anywhere in the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from markscheme.agreement import statistics
from markscheme.datasets import load
from markscheme.metrics import contains
from markscheme.papers.cell import Cell, DataDir, Paper, PaperTable

Pair = tuple[float, float]

LEXICAL_NQ: Mapping[str, Pair] = {
    "DPR+FiD": (92.0, 89.7),
    "InstructGPT": (86.9, 84.8),
    "ChatGPT": (85.0, 80.3),
    "GPT-4": (87.6, 82.5),
    "BingChat": (87.8, 82.3),
}
LEXICAL_TQ: Mapping[str, Pair] = {
    "DPR+FiD": (91.8, 94.7),
    "InstructGPT": (94.8, 92.3),
    "ChatGPT": (95.2, 92.3),
    "GPT-4": (94.8, 91.1),
    "BingChat": (94.1, 89.8),
}
"""F1 and accuracy of lexical match against people, in percent."""

KNOWN_NQ = {
    ("InstructGPT", "F1"): 86.8,
    ("InstructGPT", "accuracy"): 84.7,
    ("ChatGPT", "F1"): 84.9,
}
THREE_ANSWERS = "up to three answers of 3,020; the paper does not say which release it used"

EXCHANGED = {("DPR+FiD", "F1"): 94.7, ("DPR+FiD", "accuracy"): 91.8}
SWAP = "printed the wrong way round: with this F1 and accuracy only 3 answers in 10 could be right"
UNSEEN = "not held when this was written; three answers, as in EVOUNA-NQ, are 0.2 here"


def _nq_excuse(system: str, column: str, _paper: float) -> dict[str, Any]:
    known = KNOWN_NQ.get((system, column))
    return {} if known is None else {"reason": THREE_ANSWERS, "known": known}


def _tq_excuse(system: str, column: str, paper: float) -> dict[str, Any]:
    swapped = EXCHANGED.get((system, column))
    if swapped is not None:
        return {"reason": SWAP, "known": swapped, "within": 0.2}
    return {"reason": UNSEEN, "known": paper, "within": 0.2}


def _answers(name: str, data_dir: DataDir) -> pl.DataFrame:
    """Labelled answers with the lexical verdict; an answer that was not given matches nothing."""
    answers = load(name, data_dir=data_dir)
    found = contains(answers["answer"], answers["references"]).fill_null(0.0)
    return answers.with_columns((found == 1).alias("lexical"), (pl.col("label") == 1).alias("yes"))


def _lexical(
    name: str, paper: Mapping[str, Pair], excuse: Callable[[str, str, float], dict[str, Any]]
) -> Callable[[DataDir], list[Cell]]:
    """The function that computes the lexical row of one of EVOUNA's two parts."""

    def compute(data_dir: DataDir) -> list[Cell]:
        answers = _answers(name, data_dir)
        cells = []
        for system, figures in paper.items():
            said = answers.filter(pl.col("system") == system)
            lexical, yes = said["lexical"], said["yes"]
            cells_of = [lexical & yes, lexical & ~yes, ~lexical & yes, ~lexical & ~yes]
            ours = statistics([float(cell.sum()) for cell in cells_of])
            for column, key, figure in zip(
                ("F1", "accuracy"), ("f1_positive", "accuracy"), figures, strict=True
            ):
                value = ours[key].value
                cells.append(
                    Cell(
                        row=system,
                        column=column,
                        paper=figure,
                        ours=None if value is None else round(100 * value, 1),
                        **excuse(system, column, figure),
                    )
                )
        return cells

    return compute


def _human(name: str, systems: Mapping[str, Pair]) -> Callable[[DataDir], list[Cell]]:
    """The function that computes each system's accuracy by people's verdicts."""

    def compute(data_dir: DataDir) -> list[Cell]:
        means = load(name, data_dir=data_dir).group_by("system").agg(pl.col("label").mean() * 100)
        ours = dict(means.iter_rows())
        return [
            Cell(row=system, column="accuracy by people", paper=None, ours=round(ours[system], 1))
            for system in systems
        ]

    return compute


PAPER = Paper(
    name="wang-2023",
    title="Evaluating Open-QA Evaluation (EVOUNA)",
    tables=(
        PaperTable(
            name="lexical-nq",
            title="Lexical match on EVOUNA-NQ",
            compute=_lexical("evouna-nq", LEXICAL_NQ, _nq_excuse),
        ),
        PaperTable(
            name="lexical-tq",
            title="Lexical match on EVOUNA-TQ",
            compute=_lexical("evouna-tq", LEXICAL_TQ, _tq_excuse),
            needs="TQ.json",
        ),
        PaperTable(
            name="human-nq",
            title="Accuracy by people on EVOUNA-NQ (section 4: about 80 for the best two)",
            compute=_human("evouna-nq", LEXICAL_NQ),
        ),
        PaperTable(
            name="human-tq",
            title="Accuracy by people on EVOUNA-TQ (section 4: about 86 for the best two)",
            compute=_human("evouna-tq", LEXICAL_TQ),
            needs="TQ.json",
        ),
    ),
)
