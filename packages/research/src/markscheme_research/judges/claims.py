"""Long answers: which of an answer's claims do references and context support or contradict?

Yao & Barbosa 2024 name answers of several sentences as what their method does not cover
(Limitations). Here an answer is split into claims, each is put to the entailment test, and the
claims' outcomes are added up to marks, a verdict and a relation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import polars as pl

from markscheme.contract import ModelSource, Needs, check_range, register
from markscheme.judges import PATTERNS, has_patterns, noting_references
from markscheme.judges.entailment import StagedJudge
from markscheme.judges.prompted import SamplingOverrides
from markscheme.models import Models
from markscheme.tables import JUDGMENTS_SCHEMA, NO_REFERENCE, OUTCOME, SPENT
from markscheme.text import STOP, sentences, split, stem
from markscheme.values import Outcome, compare_values, pairs_for_each
from markscheme_research.statements import claims

WHOLE = -1
"""Number of the piece that is the answer as a whole; its claims count from 0."""

MOST_CONTEXT = 40
"""Sentences of a context that claims are compared with one by one."""


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """What an answer is made of and what it is compared with.

    Attributes:
        claims: each piece: `row` of the answer, `claim` (`WHOLE` for the answer itself where it
            has several claims), `text`, `fragment`, `question`, `statement`, `stated` (the status
            of the statement).
        references: one row per answer and reference: `row`, `reference`, `reference_statement`.
        contexts: one row per answer with a context: `row`, `context`.
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


def pieces(answers: pl.DataFrame, judge: StagedJudge, models: ModelSource) -> Pieces:
    """Split answers into claims and turn fragments and references into statements.

    Args:
        answers: `row`, `question`, `references`, `answer`, perhaps `context`.
        judge: has the statements made.
        models: where models come from.
    """
    references = (
        answers.select("row", "question", reference="references")
        .explode("reference")
        .filter(pl.col("reference").str.strip_chars().str.len_chars() > 0)
        .unique(["row", "reference"], keep="first", maintain_order=True)
    )
    with_references = answers.join(references.select("row").unique(), on="row", how="semi")
    parts = [
        (row, question, number, text, fragment)
        for row, question, answer in with_references.select("row", "question", "answer").iter_rows()
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
    made = wanted.hstack(judge.make_statements(wanted, models))
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
    contexts = (
        with_references.select("row", "context")
        if "context" in with_references.columns
        else _NO_CONTEXT
    )
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
    """Every piece paired with every reference of its answer, in both directions.

    `forward` is true where the piece is the premise.
    """
    both = parts.claims.join(parts.references, on="row", how="inner", maintain_order="left")
    both = both.with_columns(row_pairs=pl.len().over("row"))
    shared = (
        "row", "claim", "reference", "question", "stated", "reference_stated", "row_pairs",
    )  # fmt: skip
    forward = both.select(
        *shared, forward=pl.lit(value=True),
        premise="statement", hypothesis="reference_statement",
        premise_answer="text", hypothesis_answer="reference",
    )  # fmt: skip
    backward = both.select(
        *shared, forward=pl.lit(value=False),
        premise="reference_statement", hypothesis="statement",
        premise_answer="reference", hypothesis_answer="text",
    )  # fmt: skip
    return pl.concat([forward, backward])


def context_pairs(parts: Pieces, *, whole: bool) -> pl.DataFrame:
    """Every claim below the context of its answer: its sentences, or all of it at once."""
    pairs = [
        (row, passage)
        for row, context in parts.contexts.select("row", "context").iter_rows()
        for passage in ([context] if whole else _passages(context)[:MOST_CONTEXT])
    ]
    schema: dict[str, Any] = {"row": parts.claims.schema["row"], "premise": pl.String}
    passages = pl.DataFrame(pairs, schema=schema, orient="row")
    claimed = parts.claims.filter(pl.col("claim") != WHOLE)
    return claimed.join(passages, on="row", how="inner", maintain_order="left").select(
        "row", "claim", "question", "stated", "premise",
        hypothesis="statement", premise_answer="premise", hypothesis_answer="text",
        row_pairs=pl.len().over("row"),
    )  # fmt: skip


def _passages(context: str) -> list[str]:
    found = [one for line in context.splitlines() for one in sentences(line)]
    return found or [context]


def _noting_contexts(found: pl.DataFrame, contexts: pl.DataFrame) -> pl.DataFrame:
    """Outcomes whose explanations say of long contexts how many of their sentences were read."""
    counts = [(row, len(_passages(context))) for row, context in contexts.iter_rows()]
    schema: dict[str, Any] = {"row": contexts.schema["row"], "count": pl.Int64}
    long = pl.DataFrame(counts, schema=schema, orient="row").filter(pl.col("count") > MOST_CONTEXT)
    note = pl.format(
        f"the first {MOST_CONTEXT} of {{}} sentences of the context were read", "count"
    )
    explanation = pl.concat_str("explanation", note, separator="; ", ignore_nulls=True)
    noted = found.join(long, on="row", how="left", maintain_order="left")
    return noted.with_columns(explanation=explanation).drop("count")


KINDS = ("supported", "contradicted", "extra", "undecided")
"""`supported`: a reference or the context entails the claim, or the claim a reference;
`contradicted`: the test says so or, where it tells no contradiction, the claim answers the question
with something else, such as another number or date; `extra`: neither; `undecided`: a test could not
be read or made."""

BLANK = "the answer is empty: it claims nothing"
OF_WHOLE = 0.75
"""Weight of the whole answer against its likeliest claim: sentences depend on each other."""
UNLIKELY = 0.1
"""Below this probability in every direction a claim that answers the question says otherwise."""
_NAME_WORDS = 6
"""Up to so many words a fragment is a name, a number or the like, and so an answer."""
ON_THE_QUESTION = 0.6
"""Share of the question's content words from which a sentence counts as an answer to it."""
PRONOUN = 0.5
"""The same share where a value decides: "it" refers to what the question is about."""
_STATUS_FIRST = ("failed", "refused", "unparsed", "skipped")
_QUOTED = 160
_SHOWN = 8


def tested(pairs: pl.DataFrame, judge: StagedJudge, models: ModelSource) -> pl.DataFrame:
    """The pairs with what the test finds, and `chance` of entailment (null if not decided)."""
    found = pairs.hstack(judge.test_statements(pairs, models))
    return found.with_columns(chance=pl.coalesce("score", pl.col("entailed").cast(pl.Float64)))


def outcomes(
    claims: pl.DataFrame,
    against: pl.DataFrame,
    context: pl.DataFrame,
    *,
    threshold: float,
    partial: float,
    penalty: float,
) -> pl.DataFrame:
    """One row per answer: status, score, verdict, relation, marks, explanation, raw.

    Marks are `c + partial * l * (1 - c)`, less `penalty` times the share of claims contradicted:
    `c` is the chance that the whole answer entails a reference (`OF_WHOLE` of it) and that of its
    likeliest claim (the rest); `l` the likeliest chance that a reference entails answer or claim.

    Args:
        claims: see `Pieces`.
        against: every piece paired with every reference, both directions, tested.
        context: claims below sentences of a context, tested.
        threshold: of the judge.
        partial: of the judge.
        penalty: of the judge.
    """
    by_piece = _summed(against)
    by_context = context.group_by("row", "claim").agg(
        by_context=pl.col("entailed").any(),
        context_chance=pl.col("chance").max(),
        context_denies=(pl.col("label") == "contradiction").any(),
    )
    table = claims.join(by_piece, on=["row", "claim"], how="left", maintain_order="left").join(
        by_context, on=["row", "claim"], how="left", maintain_order="left"
    )
    weights = {"threshold": threshold, "partial": partial, "penalty": penalty}
    found = [
        {"row": rows["row"][0], **_outcome(rows.to_dicts(), weights)}
        for rows in table.partition_by("row", maintain_order=True)
    ]
    kinds: Mapping[str, Any] = {
        "row": claims.schema["row"], "status": pl.String, "score": pl.Float64,
        "verdict": pl.Boolean, "relation": pl.String, "marks": pl.Float64,
        "explanation": pl.String, "raw": pl.String,
    }  # fmt: skip
    return pl.DataFrame(found, schema=dict(kinds))


def _summed(against: pl.DataFrame) -> pl.DataFrame:
    """The tests of each piece over references: best chances, what entails what, what is open."""
    forward, backward = pl.col("forward"), ~pl.col("forward")
    chance = pl.col("chance").fill_null(-1.0)
    return against.group_by("row", "claim", maintain_order=True).agg(
        up=pl.col("chance").filter(forward).max(),
        down=pl.col("chance").filter(backward).max(),
        entails=pl.col("entailed").filter(forward).any(),
        entailed=pl.col("entailed").filter(backward).any(),
        nearest=pl.col("reference").sort_by(chance, descending=True).first(),
        says=_entailed(forward),
        follows_from=_entailed(backward),
        denied=(pl.col("label") == "contradiction").any(),
        labelled=pl.col("label").is_not_null().any(),
        open=_why_open().filter(pl.col("status") != "judged"),
    )


def _entailed(direction: pl.Expr) -> pl.Expr:
    """The reference of the likeliest pair that the test calls entailed in a direction."""
    rows = direction & pl.col("entailed")
    by_chance = pl.col("chance").filter(rows)
    return pl.col("reference").filter(rows).sort_by(by_chance, descending=True).first()


def _why_open() -> pl.Expr:
    """The status of a test; of one that was left out for want of a statement, that statement's."""
    unstated = [
        pl.when(pl.col(name) != "judged").then(name) for name in ("stated", "reference_stated")
    ]
    cause = pl.coalesce(*unstated, "status")
    return pl.when(pl.col("status") == "skipped").then(cause).otherwise("status")


def _outcome(rows: Sequence[dict[str, Any]], weights: Mapping[str, float]) -> dict[str, Any]:
    """One answer's outcome from its pieces."""
    whole = next((one for one in rows if one["claim"] == WHOLE), rows[0])
    listed = [one for one in rows if one["claim"] != WHOLE]
    for one in listed:
        one["kind"] = _kind(one, pairs_for_each(len(listed)))
    counts = {kind: sum(one["kind"] == kind for one in listed) for kind in KINDS}
    raw = orjson.dumps({"claims": [_shown(one) for one in listed], "whole": _chances(whole)})
    row: dict[str, Any] = {"raw": raw.decode(), "explanation": explained(listed, counts)}
    everything = [whole, *listed]
    entails = any(one["entails"] for one in everything)
    entailed = any(one["entailed"] for one in everything)
    if not (entails or entailed or counts["supported"]):
        open_tests = [status for one in everything for status in one["open"] or ()]
        if open_tests:
            first = next((one for one in _STATUS_FIRST if one in open_tests), "failed")
            return row | {"status": first}
    best = _best(everything, "up")
    covered = OF_WHOLE * _best([whole], "up") + (1 - OF_WHOLE) * best
    less = _best(everything, "down")
    marks = covered + weights["partial"] * less * (1 - covered)
    marks *= 1 - weights["penalty"] * counts["contradicted"] / max(1, len(listed))
    marks = round(min(max(marks, 0.0), 1.0), 5)
    relation = "incorrect"
    if entails:
        relation = "equivalent" if whole["entailed"] else "superior"
    elif entailed:
        relation = "inferior"
    verdict = marks >= weights["threshold"]
    return row | {
        "status": "judged", "score": marks, "marks": marks, "verdict": verdict,
        "relation": relation,
    }  # fmt: skip


def _best(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    return max((one[name] for one in rows if one[name] is not None), default=0.0)


def _kind(claim: Mapping[str, Any], most: int) -> str:
    """What a claim is, see `KINDS`; at most so many pairs of typed values are compared."""
    if claim["entails"] or claim["entailed"] or claim["by_context"]:
        return "supported"
    if claim["open"]:
        return "undecided"
    if claim["labelled"]:
        return "contradicted" if claim["denied"] or claim["context_denies"] else "extra"
    if _answers(claim, PRONOUN) and _other_value(claim, most):
        return "contradicted"
    chances = (claim["up"], claim["down"], claim["context_chance"])
    unlikely = max((one for one in chances if one is not None), default=0.0) < UNLIKELY
    return "contradicted" if unlikely and _answers(claim) else "extra"


def _other_value(claim: Mapping[str, Any], most: int) -> bool:
    """Whether the nearest reference has another number, date or amount where the claim has one.

    The embedded test hardly tells 1985 from 1975: their sentences mean nearly the same.
    """
    if not claim["nearest"]:
        return False
    found = compare_values(claim["question"] or "", claim["nearest"], claim["text"], most=most)
    return found.decided and found.outcome is Outcome.CONFLICT


def _answers(claim: Mapping[str, Any], share: float = ON_THE_QUESTION) -> bool:
    """Whether a claim is an answer to the question: a fragment, or a sentence with its words."""
    if claim["fragment"] and len(claim["text"].split()) <= _NAME_WORDS:
        return True
    question_words = _content(claim["question"] or "")
    return bool(question_words) and len(question_words & _content(claim["text"])) >= share * len(
        question_words
    )


def _content(text: str) -> set[str]:
    low = (word.lower() for word in split(text) if word.isalnum())
    return {stem(word) for word in low if word not in STOP}


def _shown(claim: Mapping[str, Any]) -> dict[str, Any]:
    """A claim as `raw` has it."""
    return {
        "claim": claim["text"], "outcome": claim["kind"], **_chances(claim),
        "statement": claim["statement"] if claim["fragment"] else None,
        "by_context": claim["by_context"], "context_entails": claim["context_chance"],
    }  # fmt: skip


def _chances(piece: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "entails_reference": piece["up"], "reference_entails": piece["down"],
        "nearest_reference": piece["nearest"],
    }  # fmt: skip


def explained(claims: Sequence[Mapping[str, Any]], counts: Mapping[str, int]) -> str:
    """The claims and what became of them, in one line."""
    total = len(claims)
    tally = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    parts = [f"{total} claims: {tally}"] if total > 1 else []
    for one in claims[:_SHOWN]:
        text = one["text"]
        quoted = text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."
        parts.append(f'{one["kind"]}{_reason(one)}: "{quoted}"')
    if total > _SHOWN:
        parts.append(f"and {total - _SHOWN} more")
    return "; ".join(parts)


def _reason(claim: Mapping[str, Any]) -> str:
    """Why a claim counts as supported, in brackets."""
    if claim["kind"] != "supported":
        return ""
    if claim["entails"]:
        return f' (says "{claim["says"]}")'
    if claim["entailed"]:
        return f' (follows from "{claim["follows_from"]}")'
    return " (by the context)"


@register(
    "claims",
    paper="Yao & Barbosa 2024, Limitations; ours",
    needs=Needs(chat=False, references="required"),
    example="claims",
)
@dataclass(frozen=True, kw_only=True)
class Claims(StagedJudge):
    """A long answer's claims, each supported or contradicted by references and context, or extra.

    Marks rise with the likeliest claim that says a reference, and with the whole answer's own
    chance; an answer that only says less than a reference gets part of them. `explanation` lists
    the claims; `raw` has every one with its probabilities, as JSON.

    Attributes:
        statements: who turns fragments and references into statements: `rules`, `chat`, or
            `'seq2seq:NAME'`. Claims that are sentences are used as they are.
        test: who says whether a statement entails another: `embedded`, `chat`, or `'nli:NAME'`.
        threshold: accepted from these marks.
        partial: marks for an answer that says less than a reference, as a share of the full ones.
        penalty: share of the marks that an answer loses if all its claims are contradicted.
        model: name of the chat model; the run's own if none.
    """

    statements: str = "rules"
    test: str = "embedded"
    threshold: float = 0.5
    partial: float = 0.5
    penalty: float = 0.0
    model: str | None = None

    def validate(self) -> None:
        """Check what the types do not say.

        Raises:
            JudgeError: no such way to make statements or to test them, a number that is not
                within 0 and 1, or a chat model that nothing asks.
        """
        self.maker()
        self.tester()
        for name in ("threshold", "partial", "penalty"):
            check_range(name, getattr(self, name), 0, 1)
        self.check_settings(self.needs, model=self.model)

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What else decides: prompts, weights and the chat model, for signatures."""
        found = self.stage_identity(None if models is None else self._models(models))
        return {**found, "values": "1"}

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Every claim of every answer against references and, where there is one, context.

        An answer is not judged where none of its claims is supported and one of the tests could not
        be decided: `failed`, `skipped`, `refused` or `unparsed` by what prevented it.

        Raises:
            ModelError: a chat model is needed and none was given.
        """
        read = self.with_nearest(answers)
        rows = read.with_row_index("row").with_columns(patterns=has_patterns(read))
        models = self._models(models)
        parts = pieces(rows.filter(~pl.col("patterns")), self, models)
        against = tested(reference_pairs(parts), self, models)
        context = tested(context_pairs(parts, whole=self.asks_to_test), self, models)
        found = outcomes(
            parts.claims, against, context,
            threshold=self.threshold, partial=self.partial, penalty=self.penalty,
        )  # fmt: skip
        if not self.asks_to_test:
            found = _noting_contexts(found, parts.contexts)
        costs = parts.spent(against, context)
        judged = (
            rows.select("row", "patterns")
            .join(found, on="row", how="left", maintain_order="left")
            .join(costs, on="row", how="left", maintain_order="left")
            .with_columns(_blank(rows))
            .with_columns(
                status=pl.col("status").fill_null("skipped"),
                explanation=pl.when(pl.col("patterns"))
                .then(pl.lit(PATTERNS))
                .otherwise(pl.col("explanation").fill_null(NO_REFERENCE)),
            )
            .select(
                pl.col(name).cast(JUDGMENTS_SCHEMA[name]) for name in OUTCOME if name != "scope"
            )
        )
        return noting_references(judged, answers, read)

    @property
    def needs(self) -> Needs:
        """A chat model where one has a part in it; weights or extras where a stage needs them."""
        return self.stage_needs(Needs(chat=False, references="required"))

    def _models(self, models: ModelSource) -> ModelSource:
        return SamplingOverrides(models=Models() if models is None else models, model=self.model)


def _blank(rows: pl.DataFrame) -> list[pl.Expr]:
    """Outcome columns with blank answers filled in: they claim nothing, and so are incorrect."""
    empty = rows["answer"].str.strip_chars() == ""
    has_references = rows["references"].list.eval(pl.element().str.strip_chars() != "").list.any()
    blank = pl.lit(empty & has_references.fill_null(value=False) & ~rows["patterns"])
    values: dict[str, Any] = {
        "status": "judged", "score": 0.0, "verdict": False, "relation": "incorrect", "marks": 0.0,
        "explanation": BLANK,
    }  # fmt: skip
    return [
        pl.when(blank).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in values.items()
    ]
