"""Wang et al. 2023, Evaluating Open-QA Evaluation (NeurIPS): EVOUNA's lexical rows.

The figures are those of the paper's table 5 as Yao & Barbosa (2024, table 1) print them again; F1
is that of the positive class, and lexical match is a normalised reference anywhere in the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars as pl

from markscheme.agreement import sensitivity, statistics
from markscheme.analysis import CATEGORIES, judge_errors
from markscheme.contract import parse_judge
from markscheme.engine import apply
from markscheme.errors import DataError
from markscheme.metrics import contains, token_f1
from markscheme.models import Models
from markscheme.results import Figure
from markscheme_research.datasets import load
from markscheme_research.papers.cell import Asked, Cell, DataDir, Paper, PaperTable, filled
from markscheme_research.papers.printed_tables import items, printed_cells, printed_tables

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


def nq_excuse(system: str, column: str, _paper: float) -> dict[str, Any]:
    known = KNOWN_NQ.get((system, column))
    return {} if known is None else {"reason": THREE_ANSWERS, "known": known}


def tq_excuse(system: str, column: str, paper: float) -> dict[str, Any]:
    swapped = EXCHANGED.get((system, column))
    if swapped is not None:
        return {"reason": SWAP, "known": swapped, "within": 0.2}
    return {"reason": UNSEEN, "known": paper, "within": 0.2}


def _answers(name: str, data_dir: DataDir) -> pl.DataFrame:
    """Labelled answers with the lexical verdict; an answer that was not given matches nothing."""
    answers = load(name, data_dir=data_dir)
    found = contains(answers["answer"], answers["references"]).fill_null(0.0)
    return answers.with_columns((found == 1).alias("lexical"), (pl.col("label") == 1).alias("yes"))


def _figures(accepted: pl.Series, yes: pl.Series) -> dict[str, Figure]:
    """Every statistic of verdicts against people's."""
    cells = (accepted & yes, accepted & ~yes, ~accepted & yes, ~accepted & ~yes)
    return statistics([float(cell.sum()) for cell in cells])


def _rounded(value: Any, scale: float = 1) -> float | None:
    """To one decimal; None of nothing."""
    return None if value is None else round(scale * value, 1)


def lexical(
    name: str, paper: Mapping[str, Pair], excuse: Callable[[str, str, float], dict[str, Any]]
) -> Callable[[DataDir], list[Cell]]:
    """The function that computes the lexical row of one of EVOUNA's two parts."""

    def compute(data_dir: DataDir) -> list[Cell]:
        answers = _answers(name, data_dir)
        cells = []
        for system, figures in paper.items():
            of_system = answers.filter(pl.col("system") == system)
            ours = _figures(of_system["lexical"], of_system["yes"])
            for column, key, figure in zip(
                ("F1", "accuracy"), ("f1_positive", "accuracy"), figures, strict=True
            ):
                cells.append(
                    Cell(
                        row=system,
                        column=column,
                        paper=figure,
                        ours=_rounded(ours[key].value, 100),
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
            Cell(
                row=system, column="accuracy by people", paper=None, ours=_rounded(ours.get(system))
            )
            for system in systems
        ]

    return compute


EVALUATORS = ("lexical match", "token F1", "people")


def _verdicts(name: str, data_dir: DataDir) -> pl.DataFrame:
    """Each labelled answer with a verdict of every evaluator that needs no model."""
    answers = _answers(name, data_dir)
    overlap = token_f1(answers["answer"].fill_null(""), answers["references"])
    return answers.with_columns(
        overlap.alias("overlap"),
        pl.col("lexical").alias("lexical match"),
        (overlap >= 0.5).alias("token F1"),
        pl.col("yes").alias("people"),
    )


def table_6(data_dir: DataDir) -> list[Cell]:
    """Table 6: the score that each evaluator gives each system, and its rank; the figures of print
    are not available. More judges: `markscheme research bench evouna-nq -j NAME`."""
    scores = _verdicts("evouna-nq", data_dir).group_by("system", maintain_order=True).agg(
        pl.col(name).mean() * 100 for name in EVALUATORS
    )  # fmt: skip
    ranks = {name: scores[name].rank("min", descending=True).to_list() for name in EVALUATORS}
    cells = []
    for place, row in enumerate(scores.iter_rows(named=True)):
        for name in EVALUATORS:
            cells.append(Cell(row=row["system"], column=name, paper=None, ours=round(row[name], 1)))
            cells.append(
                Cell(
                    row=row["system"],
                    column=f"{name}, rank",
                    paper=None,
                    ours=float(ranks[name][place]),
                    digits=0,
                )
            )
    return cells


def figure_1(data_dir: DataDir) -> list[Cell]:
    """Figure 1 and Table 8, lexical match: shares of verdicts by outcome; precision, recall."""
    answers = _verdicts("evouna-nq", data_dir)
    parts = [("all five", answers)] + [
        (str(name), part) for (name,), part in answers.group_by("system", maintain_order=True)
    ]
    cells = []
    for row, part in parts:
        accepted, yes = part["lexical"], part["yes"]
        shares = {
            "true positive": accepted & yes,
            "false positive": accepted & ~yes,
            "false negative": ~accepted & yes,
            "true negative": ~accepted & ~yes,
        }
        counts = [float(found.sum()) for found in shares.values()]
        for column, count in zip(shares, counts, strict=True):
            share = round(100 * count / part.height, 1)
            cells.append(Cell(row=row, column=column, paper=None, ours=share))
        figures = statistics(counts)
        for column in ("precision", "recall"):
            ours = _rounded(figures[column].value, 100)
            cells.append(Cell(row=row, column=column, paper=None, ours=ours))
    return cells


def table_11(data_dir: DataDir) -> list[Cell]:
    """Table 11, lexical match: all its errors by kind, one column per subset; ours by rules.

    `failures RUN --judge-errors --by system --details FILE` does the same for any judge's run.
    """
    answers = _verdicts("evouna-nq", data_dir)
    judged = answers.select(
        "answer_id", "question", "references", "answer", "system",
        judge=pl.lit("contains"), verdict="lexical", score=pl.col("lexical").cast(pl.Float64),
        accepted="yes",
    )  # fmt: skip
    errors = judge_errors(judged.drop_nulls("answer"))
    cells = []
    for system in LEXICAL_NQ:
        own = errors.filter(pl.col("system") == system)["category"]
        cells += [
            Cell(
                row=category,
                column=system,
                paper=None,
                ours=_rounded((own == category).mean(), 100),
            )
            for category, (kind, _) in CATEGORIES.items()
            if kind in ("all", "lexical")
        ]
    return cells


def threshold(data_dir: DataDir) -> list[Cell]:
    """Section 5: how far F1 depends on the threshold, for token F1 on every subset.

    The best threshold of each system, F1 there, F1 at the threshold that is best for all five, and
    how wide the range of thresholds is in which F1 stays within a point of the best.
    """
    answers = _verdicts("evouna-nq", data_dir)
    answers = answers.select("system", score="overlap", accepted="yes")
    return [
        Cell(row=row["system"], column=column, paper=None, ours=round(value, digits), digits=digits)
        for row, _ in by_threshold(answers, "all five")
        for column, value, digits in (
            ("best threshold", row["threshold"], 2),
            ("F1 there", 100 * row["f1"], 1),
            ("F1 at the common threshold", 100 * row["f1_at_common"], 1),
            ("width of thresholds within a point", row["to"] - row["from"], 2),
        )
    ]


def by_threshold(
    answers: pl.DataFrame, every: str = "all"
) -> Iterator[tuple[dict[str, Any], pl.DataFrame]]:
    """How far F1 depends on the threshold: over all answers, then for each system if several.

    Args:
        answers: `system`, `score` and `accepted` (by people), the last two without nulls.
        every: what the row over all answers is called.

    Yields:
        `system`; `threshold`, the best by F1, and `f1` there; `f1_at_common`, at the threshold
        that is best over all; thresholds `from` and `to` within a point. With it the F1 curve.
    """
    systems = answers.partition_by("system") if answers["system"].n_unique() > 1 else []
    common = None
    for name, part in [(every, answers), *((str(p["system"][0]), p) for p in systems)]:
        curve = sensitivity(part["score"].to_numpy(), part["accepted"].to_numpy())
        curve = curve.drop_nulls("f1_positive")
        best = curve.row(int(curve["f1_positive"].arg_max() or 0), named=True)
        common = best["threshold"] if common is None else common
        near = curve.filter(pl.col("f1_positive") >= best["f1_positive"] - 0.01)["threshold"]
        # The curve has no row for it: its thresholds lie midway between this part's own scores.
        at_common = _figures(part["score"] >= common, part["accepted"])["f1_positive"].value
        yield {
            "system": name, "threshold": best["threshold"], "f1": best["f1_positive"],
            "f1_at_common": at_common, "from": near.min(), "to": near.max(),
        }, curve  # fmt: skip


def printed_tq() -> list[Cell]:
    """The lexical row of EVOUNA-TQ for who lacks it."""
    return [
        Cell(row=system, column=column, paper=paper, ours=None, needs="data",
             reason="TQ.json is not available")
        for system, figures in LEXICAL_TQ.items()
        for column, paper in zip(("F1", "accuracy"), figures, strict=True)
    ]  # fmt: skip


PROMPTS = {
    "GPT-3.5": "llm_evouna",
    "ignoring background": "llm_evouna_ignore_background",
    "giving reasons": "llm_evouna_reasons",
    "chain of thought": "llm_evouna_cot",
}
"""Evaluators by prompt; in-context learning needs a file of examples (`llm_evouna_icl`)."""


def prompted_cells(asked: Asked, prompts: Mapping[str, str]) -> dict[tuple[str, str], float]:
    """F1 and accuracy of prompts, by (prompt, `SYSTEM F1` or `SYSTEM accuracy`), per cent."""
    answers = load("evouna-nq", data_dir=asked.data_dir).drop_nulls("answer")
    answers = first_questions(answers, asked.questions)
    found = {}
    for row, judge in prompts.items():
        outcomes = apply(parse_judge(judge), answers, asked.models or Models())
        table = answers.select("system", yes=pl.col("label") == 1).with_columns(
            verdict=outcomes["verdict"]
        )
        for (system,), part in table.drop_nulls("verdict").group_by("system", maintain_order=True):
            figures = _figures(part["verdict"], part["yes"])
            for column, key in (("F1", "f1_positive"), ("accuracy", "accuracy")):
                value = figures[key].value
                if value is not None:
                    found[row, f"{system} {column}"] = 100 * value
    return found


def first_questions(answers: pl.DataFrame, limit: int | None) -> pl.DataFrame:
    """The answers to the first questions; all without a limit."""
    if limit is None:
        return answers
    selected = answers["question"].unique(maintain_order=True).head(limit)
    return answers.filter(pl.col("question").is_in(selected.implode()))


def by_model(name: str) -> Callable[[Asked], list[Cell]]:
    """The function that computes a group's rows that are prompts, with the user's model."""

    def compute(asked: Asked) -> list[Cell]:
        cells = printed_cells("wang-2023", name)
        rows = {cell.row for cell in cells} & set(PROMPTS)
        found = prompted_cells(asked, {row: PROMPTS[row] for row in PROMPTS if row in rows})
        return [filled(cell, found.get((cell.row, cell.column))) for cell in cells]

    return compute


def table_7(asked: Asked) -> list[Cell]:
    """Table 7: EVOUNA's prompt and its variants with the user's model; print is not available."""
    found = prompted_cells(asked, PROMPTS)
    return [
        Cell(row=row, column=column, paper=None, ours=round(value, 1), asked=True)
        for (row, column), value in found.items()
    ]


def nothing(_data_dir: DataDir) -> list[Cell]:
    """No cells without a model.

    Raises:
        DataError: always.
    """
    raise DataError("needs --model NAME: the figures are of a language model of yours")


NAME = "wang-2023"
PAPER = Paper(
    name=NAME,
    title="Evaluating Open-QA Evaluation (EVOUNA)",
    items=items(NAME),
    tables=(
        PaperTable(
            name="lexical-nq",
            title="Lexical match on EVOUNA-NQ",
            compute=lexical("evouna-nq", LEXICAL_NQ, nq_excuse),
            item="Table 5",
        ),
        PaperTable(
            name="lexical-tq",
            title="Lexical match on EVOUNA-TQ",
            compute=lexical("evouna-tq", LEXICAL_TQ, tq_excuse),
            needs="TQ.json",
            item="Table 5",
            printed=printed_tq,
            run="markscheme research datasets fetch evouna-tq",
        ),
        PaperTable(
            name="human-nq",
            title="Accuracy by people on EVOUNA-NQ (section 4: about 80 for the best two)",
            compute=_human("evouna-nq", LEXICAL_NQ),
            item="Table 4",
        ),
        PaperTable(
            name="human-tq",
            title="Accuracy by people on EVOUNA-TQ (section 4: about 86 for the best two)",
            compute=_human("evouna-tq", LEXICAL_TQ),
            needs="TQ.json",
            item="Table 4",
        ),
        PaperTable(
            name="table-6",
            title="Scores and ranks by evaluators that need no model",
            compute=table_6,
            item="Table 6",
        ),
        PaperTable(
            name="figure-1",
            title="Right and wrong verdicts of lexical match",
            compute=figure_1,
            item="Figure 1",
        ),
        PaperTable(
            name="table-11",
            title="Errors of lexical match by kind, per cent of each subset's",
            compute=table_11,
            item="Figure 2 and Table 11",
        ),
        PaperTable(
            name="threshold",
            title="Token F1 by threshold",
            compute=threshold,
            item="Threshold",
        ),
        PaperTable(
            name="table-7",
            title="EVOUNA's prompt and its variants, EVOUNA-NQ",
            compute=nothing,
            needs="--model NAME",
            item="Table 7",
            run="markscheme research reproduce wang-2023/table-7 --model NAME",
            by_model=table_7,
        ),
        *printed_tables(NAME, by_model={"table-5-models": by_model("table-5-models")}),
    ),
)
