"""The claims of answers, and the pairs of statements that their judge has tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from markscheme.judgments import SPENT
from markscheme.text.claims import claims, sentences

WHOLE = -1
"""Number of the piece that is the answer as a whole, beside its claims from 0 on."""

MOST_CONTEXT = 40
"""Sentences of a context that claims are compared with one by one."""


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """What an answer is made of and what it is compared with.

    Attributes:
        claims: a row a piece: `row` of the answer, `claim` (`WHOLE` for the answer itself where it
            has several claims), `text`, `fragment`, `question`, `statement`, `stated` (the status
            of the statement).
        references: a row an answer and reference: `row`, `reference`, `reference_statement`.
        contexts: a row an answer with context: `row`, `context`.
        costs: what making statements cost, by `row`.
    """

    claims: pl.DataFrame
    references: pl.DataFrame
    contexts: pl.DataFrame
    costs: pl.DataFrame

    def spent(self, *tests: pl.DataFrame) -> pl.DataFrame:
        """What each answer cost with its tests, by `row`; null where nothing gave a figure."""
        parts = [
            table.select("row", *SPENT) for table in (self.costs, *tests) if "row" in table.columns
        ]
        known = [pl.col(name).sum() * _one(name) for name in SPENT]
        return pl.concat(parts, how="vertical_relaxed").group_by("row").agg(known)


def _one(name: str) -> pl.Expr:
    """1 where any figure is known, else null, so that unknown costs are no zeros."""
    return pl.when(pl.col(name).is_not_null().any()).then(1)


def pieces(answers: pl.DataFrame, maker: Any, models: Any) -> Pieces:
    """Split answers into claims and turn fragments and references into statements.

    Args:
        answers: `row`, `question`, `references`, `answer`, perhaps `context`.
        maker: makes statements, see `markscheme.judges.statement_makers`.
        models: where models come from.
    """
    references = (
        answers.select("row", "question", reference="references")
        .explode("reference")
        .filter(pl.col("reference").str.strip_chars().str.len_chars() > 0)
        .unique(["row", "reference"], keep="first", maintain_order=True)
    )
    kept = answers.join(references.select("row").unique(), on="row", how="semi")
    parts = [
        (row, question, number, text, fragment)
        for row, question, answer in kept.select("row", "question", "answer").iter_rows()
        for number, text, fragment in _of(answer)
    ]
    listed = pl.DataFrame(
        parts,
        schema={
            "row": answers.schema["row"], "question": pl.String, "claim": pl.Int64,
            "text": pl.String, "fragment": pl.Boolean,
        },
        orient="row",
    )  # fmt: skip
    wanted = pl.concat(
        [
            listed.filter("fragment").select("row", "question", answer="text"),
            references.select("row", "question", answer="reference"),
        ]
    )
    made = maker.make(wanted, models)
    known = made.select("question", "answer", "statement", stated="status").unique(
        ["question", "answer"], keep="first"
    )
    listed = listed.join(
        known, left_on=["question", "text"], right_on=["question", "answer"],
        how="left", maintain_order="left",
    ).with_columns(
        statement=pl.when("fragment").then("statement").otherwise("text"),
        stated=pl.when("fragment").then("stated").otherwise(pl.lit("judged")),
    )  # fmt: skip
    references = references.join(
        known.rename({"answer": "reference"}),
        on=["question", "reference"],
        how="left",
        maintain_order="left",
    ).select("row", "reference", reference_statement="statement", reference_stated="stated")
    contexts = kept.select("row", "context") if "context" in kept.columns else _NO_CONTEXT
    return Pieces(
        claims=listed,
        references=references,
        contexts=contexts.filter(pl.col("context").is_not_null()),
        costs=made.select("row", *SPENT),
    )


_NO_CONTEXT = pl.DataFrame(schema={"row": pl.get_index_type(), "context": pl.String})


def _of(answer: str) -> list[tuple[int, str, bool]]:
    """The pieces of one answer: itself, if it has several claims, and its claims."""
    found = claims(answer)
    if not found:
        text = answer.strip()
        return [(0, text, True)] if text else []
    listed = [(number, one.text, one.fragment) for number, one in enumerate(found)]
    return [(WHOLE, answer.strip(), False), *listed] if len(found) > 1 else listed


def reference_pairs(parts: Pieces) -> pl.DataFrame:
    """Every piece beside every reference of its answer, in both directions.

    `says` is true where the piece is the premise.
    """
    both = parts.claims.join(parts.references, on="row", how="inner", maintain_order="left")
    shared = ("row", "claim", "reference", "question", "stated", "reference_stated")
    says = both.select(
        *shared, says=pl.lit(value=True),
        premise="statement", hypothesis="reference_statement",
        premise_answer="text", hypothesis_answer="reference",
    )  # fmt: skip
    said = both.select(
        *shared, says=pl.lit(value=False),
        premise="reference_statement", hypothesis="statement",
        premise_answer="reference", hypothesis_answer="text",
    )  # fmt: skip
    return pl.concat([says, said])


def context_pairs(parts: Pieces, *, whole: bool) -> pl.DataFrame:
    """Every claim below the context of its answer: its sentences, or all of it at once."""
    pairs = [
        (row, passage)
        for row, context in parts.contexts.select("row", "context").iter_rows()
        for passage in ([context] if whole else _passages(context))
    ]
    schema: dict[str, Any] = {"row": parts.claims.schema["row"], "premise": pl.String}
    passages = pl.DataFrame(pairs, schema=schema, orient="row")
    claimed = parts.claims.filter(pl.col("claim") != WHOLE)
    return claimed.join(passages, on="row", how="inner", maintain_order="left").select(
        "row", "claim", "question", "stated", "premise",
        hypothesis="statement", premise_answer="premise", hypothesis_answer="text",
    )  # fmt: skip


def _passages(context: str) -> list[str]:
    found = [one for line in context.splitlines() for one in sentences(line)]
    return found[:MOST_CONTEXT] or [context]
