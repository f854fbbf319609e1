"""What the entailment judge says about an answer: a sentence for people, JSON for programs."""

from __future__ import annotations

import polars as pl

QUOTED = 200
"""Longest text that a sentence quotes; `raw` has them whole."""


def explained(answers: pl.DataFrame, scheme: str) -> pl.DataFrame:
    """With `explanation`: which reference decided, both statements, probabilities, the gap."""
    tests = pl.col("tests")
    table = answers.with_columns(
        forward=_best(tests, "entails", "entailed"), backward=_best(tests, "entailed", "entails")
    ).with_columns(
        superior=_cut(pl.col("forward").struct.field("reference")),
        inferior=_cut(pl.col("backward").struct.field("reference")),
    )
    relation = pl.col("relation")
    forward, backward = (pl.col(way).struct.field for way in ("forward", "backward"))
    nearer = (relation == "incorrect") & (backward("entailed_chance") > forward("entails_chance"))
    shown = pl.when((relation == "inferior") | nearer).then("backward").otherwise("forward")
    table = table.with_columns(shown=shown).with_columns(
        nearest=_cut(pl.col("shown").struct.field("reference"))
    )
    field = pl.col("shown").struct.field
    same = forward("reference") == backward("reference")
    sentence = (
        pl.when((relation == "equivalent") & same)
        .then(pl.format('the answer and the reference "{}" entail each other', "superior"))
        .when(relation == "equivalent")
        .then(
            pl.format(
                'the answer entails the reference "{}", and the reference "{}" entails it',
                "superior",
                "inferior",
            )
        )
        .when(relation == "superior")
        .then(
            pl.format('the answer entails the reference "{}", which does not entail it', "superior")
        )
        .when(relation == "inferior")
        .then(
            pl.format('the reference "{}" entails the answer, which does not entail it', "inferior")
        )
        .when(relation == "incorrect")
        .then(
            pl.when(tests.list.len() == 1)
            .then(pl.format('neither answer nor reference "{}" entails the other', "nearest"))
            .otherwise(
                pl.format(
                    "the answer entails none of {} references, and none entails it; the nearest is "
                    '"{}"',
                    tests.list.len(),
                    "nearest",
                )
            )
        )
        .otherwise(_not_decided())
    )
    made = pl.any_horizontal(
        field(f"{side}_statement").ne_missing(field(side)) for side in ("answer", "reference")
    )
    statements = pl.when(made).then(
        pl.format(
            "; answer: {}; reference: {}",
            _quoted(field("answer_statement")),
            _quoted(field("reference_statement")),
        )
    )
    # Of an equivalent answer each direction may be another reference's.
    other_way = (
        pl.when(relation == "equivalent")
        .then(backward("entailed_score"))
        .otherwise(field("entailed_score"))
    )
    scored = field("entails_score").is_not_null() & other_way.is_not_null()
    scores = pl.when(scored).then(
        pl.format(
            " (probability {} that it entails the reference, {} the other way)",
            field("entails_score").round(2),
            other_way.round(2),
        )
    )
    pieces = [sentence, scores, statements, _gap_in_words(scheme)]
    return table.with_columns(explanation=pl.concat_str([piece.fill_null("") for piece in pieces]))


def _best(tests: pl.Expr, way: str, other: str) -> pl.Expr:
    """The pair that decides a direction: entailed rather than not, both ways, then likeliest."""

    def merit(name: str) -> pl.Expr:
        decided = pl.element().struct.field(name).cast(pl.Float64).fill_null(0.0)
        return decided * 2 + pl.element().struct.field(f"{name}_chance").fill_null(0.0)

    place = tests.list.eval(4 * merit(way) + merit(other)).list.arg_max()
    return tests.list.get(place)


def _not_decided() -> pl.Expr:
    """How many references leave a direction open, and the first few reasons."""
    return pl.format(
        "not decided: {} of {} references leave a direction open ({})",
        pl.col("undecided").list.len(),
        pl.col("tests").list.len(),
        pl.when(pl.col("why").list.len() > 0)
        .then(pl.col("why").list.head(3).list.join("; "))
        .otherwise(pl.col("undecided").list.unique(maintain_order=True).list.join(", ")),
    )


def _gap_in_words(scheme: str) -> pl.Expr:
    counts = pl.format(
        "; gap {}: steps {}, outside information {}, assumptions {}",
        pl.col("gap").cast(pl.Int64),
        "steps",
        "info",
        "assumptions",
    )
    rated = pl.format(", difficulty {} of 5", "difficulty").fill_null("")
    why = "llm_score gave none" if scheme == "llm_score" else "the inference could not be measured"
    none = pl.format(f"; no marks, since {why}: {{}}", "gap_reason")
    return (
        pl.when(pl.col("gap").is_not_null())
        .then(pl.concat_str([counts, rated]))
        .when(pl.col("gap_status").is_not_null())
        .then(none)
    )


def _cut(text: pl.Expr) -> pl.Expr:
    return (
        pl.when(text.str.len_chars() > QUOTED)
        .then(pl.concat_str([text.str.slice(0, QUOTED), pl.lit("...")]))
        .otherwise(text)
    )


def _quoted(statement: pl.Expr) -> pl.Expr:
    return (
        pl.when(statement.is_null())
        .then(pl.lit("(no statement)"))
        .otherwise(pl.concat_str([pl.lit('"'), _cut(statement), pl.lit('"')]))
    )


def inspected(answers: pl.DataFrame, scheme: str) -> pl.DataFrame:
    """With `raw`: JSON that keeps the statements and every test in both directions.

    `statement`, `statement_reply`; `in_superior`, `in_inferior`; `references`, each with
    `reference`, `statement`, `answer_entails` and `entails_answer` (`entailed`, `score`, `status`,
    `label`, `reason`, `reply`); `marks` with the scheme and what the gap was made of.
    """
    field = pl.element().struct.field

    def way(name: str) -> pl.Expr:
        return pl.struct(
            entailed=field(name),
            score=field(f"{name}_score"),
            status=pl.coalesce(
                _open(field("answer_stated")),
                _open(field("reference_stated")),
                field(f"{name}_tested"),
            ),
            label=field(f"{name}_label"),
            reason=field(f"{name}_reason"),
            reply=field(f"{name}_reply"),
        )

    references = pl.col("tests").list.eval(
        pl.struct(
            reference=field("reference"),
            statement=field("reference_statement"),
            statement_status=field("reference_stated"),
            statement_reason=field("reference_reason"),
            statement_reply=field("reference_said"),
            answer_entails=way("entails"),
            entails_answer=way("entailed"),
        )
    )
    first = pl.col("tests").list.first().struct.field
    made_of = ("gap", "steps", "info", "assumptions", "difficulty")
    return answers.with_columns(
        raw=pl.struct(
            statement=first("answer_statement"),
            statement_status=first("answer_stated"),
            statement_reason=first("answer_reason"),
            statement_reply=first("answer_said"),
            in_superior="in_superior",
            in_inferior="in_inferior",
            references=references,
            marks=pl.struct(
                pl.lit(scheme).alias("scheme"),
                *made_of,
                status="gap_status",
                reason="gap_reason",
                inference="inference",
                rating="rating",
            ),
        ).struct.json_encode()
    )


def _open(status: pl.Expr) -> pl.Expr:
    return pl.when(status != "judged").then(status)
