"""Prompts of learned judges: the templates of Yao & Barbosa 2024, and rows to fill them with.

The words are the paper's (Tables 15 and 16); its line breaks did not survive printing and are
ours. `[INST]` and `[/INST]` are Llama-2's and stay as text for every model; the tokens that
begin and end a text (`<s>`, `</s>`) are the model's own. The last field of Table 15 is printed
`{system answer}`; appendix C.2 says that it is the human judgment, and so it is here: Yes or No.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any

import polars as pl

from markscheme.contract import ModelSource
from markscheme.judges import has_patterns
from markscheme.models import Models
from markscheme.tables import is_blank
from markscheme_research.statements import statements

_QUESTION = (
    "[INST] Here is a question, a set of golden answers (split with /), an AI-generated answer.\n"
    "Can you judge whether the AI-generated answer is correct according to the question and "
    "golden answers, simply answer Yes or No.\n"
    "Question: {question}\n"
    "Golden answers: {golden}\n"
    "AI answer: {answer}\n"
)
_DIRECTIONS = (
    "Can golden answers be inferred from AI answer: {entails}\n"
    "Can AI answer be inferred from golden answers: {entailed}\n"
)

VERDICT, INFORMED, UNINFORMED = "verdict", "informed", "uninformed"

STATEMENTS = "cvi-statements"
"""The variant of `cvi` in the authors' repository: the fact is the system's statement, references
are one text with " or " between them, and log-likelihoods are divided by their length."""

VARIANTS: Mapping[str, Mapping[str, str]] = {
    "plain": {VERDICT: _QUESTION + "[/INST]"},
    "nli": {VERDICT: _QUESTION + _DIRECTIONS + "[/INST]"},
    "cvi": {
        INFORMED: "[INST] Given the fact: {answer},\nanswer this question: {question}\n[/INST]",
        UNINFORMED: "[INST] Answer this question: {question}\n[/INST]",
    },
    STATEMENTS: {
        INFORMED: "[INST] Given the fact: {statement},\nanswer this question: {question}\n[/INST]",
        UNINFORMED: "[INST] Answer this question: {question}\n[/INST]",
    },
}
"""Templates by variant and by the role of the adapter that is trained on them."""

CHOICES = ("Yes", "No")


def fields_of(template: str) -> list[str]:
    """The names of what a template is filled with."""
    return [name for _, name, _, _ in Formatter().parse(template) if name]


def material(
    answers: pl.DataFrame, variant: str, models: ModelSource | None = None
) -> pl.DataFrame:
    """What there is to ask about: no blank answers, and references in words.

    Args:
        answers: an answers table.
        variant: a key of `VARIANTS`.
        models: where models come from, as judges get it.

    Returns:
        `row` (place in `answers`), `question`, `golden`, `answer`, and for `nli` `entails` and
        `entailed` (yes or no: the answer entails a reference, a reference entails the answer, by
        the judge `entailment`), for `cvi-statements` `statement` (question and answer as one, by
        rules). `golden` is all references with slashes between them, or " or "; for `cvi` there is
        one row a different reference.
    """
    filled = pl.element().str.strip_chars() != ""
    rows = (
        answers.with_row_index("row")
        .filter(~has_patterns(answers), ~is_blank("answer"))
        .with_columns(golden=pl.col("references").list.drop_nulls().list.filter(filled))
        .filter(pl.col("golden").list.len() > 0)
    )
    if variant == "nli":
        rows = rows.with_columns(_directions(rows, models))
    if variant == "cvi":
        rows = rows.explode("golden").unique(["row", "golden"], keep="first", maintain_order=True)
    else:
        mark = " or " if variant == STATEMENTS else "/"
        rows = rows.with_columns(pl.col("golden").list.join(mark))
    if variant == STATEMENTS:
        rows = rows.with_columns(statement=statements(rows["question"], rows["answer"]))
    names = dict.fromkeys(
        name for template in VARIANTS[variant].values() for name in fields_of(template)
    )
    return rows.select("row", *dict.fromkeys(["question", "golden", "answer", *names]))


def _directions(rows: pl.DataFrame, models: ModelSource | None) -> list[pl.Series]:
    relation = entailment_judge().judge(rows.drop("row", "golden"), models or Models())["relation"]
    relation = relation.cast(pl.String)

    def yes_no(way: str, *relations: str) -> pl.Series:
        holds = pl.Series(relation.is_in(list(relations))).fill_null(value=False)
        return (
            pl.select(pl.when(holds).then(pl.lit("yes")).otherwise(pl.lit("no")))
            .to_series(0)
            .alias(way)
        )

    return [
        yes_no("entails", "superior", "equivalent"),
        yes_no("entailed", "inferior", "equivalent"),
    ]


def entailment_judge() -> Any:
    """The judge whose outcome is the feature of the variant `nli`."""
    from markscheme.judges.entailment import Entailment

    return Entailment(statements="rules", marks="off")
