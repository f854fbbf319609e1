"""The answer hierarchy: does the answer entail a reference, or a reference the answer, or both?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from markscheme.errors import JudgeError
from markscheme.grammar import check_range
from markscheme.judges.entailment_relations import accepted_chance, relations
from markscheme.judges.entailment_words import explained, inspected
from markscheme.judges.inference_marks import EXPLAIN, RATE
from markscheme.judges.inference_marks_answers import INFERENCE, with_marks
from markscheme.judges.outcomes import NO_REFERENCE, PATTERNS, has_patterns
from markscheme.judges.sampled import Sampled
from markscheme.judgments import SPENT
from markscheme.registry import register
from markscheme.text.normalise import normalise_series

Policy = Literal["superior_or_inferior", "superior_only", "both"]
Scheme = Literal["auto", "scores", "CIA", "C", "IA", "difficulty", "llm_score", "token_f1", "off"]

EQUAL = "equal statements"
BLANK = "the answer is empty: it entails nothing"


@register(
    "entailment",
    paper="Yao & Barbosa 2024",
    example="entailment",
)
@dataclass(frozen=True, kw_only=True)
class Entailment:
    """Statements made of answer and references, and which of them entails which.

    The answer is superior where it entails a reference that does not entail it, inferior the other
    way round, equivalent where both hold and incorrect where neither does. By default all of it
    runs without a language model; `entailment(statements=chat, test=chat)` is the paper's way.

    Attributes:
        statements: who turns a question and an answer into a statement: `rules`, `chat`, or
            `'seq2seq:NAME'`.
        test: who says whether a statement entails another: `embedded`, `chat`, or `'nli:NAME'`.
        policy: what is accepted: `superior_or_inferior` all but incorrect, `superior_only` what
            entails a reference (superior and equivalent), `both` equivalent only.
        marks: `scores` of the test; by an inference that a model explains: `CIA`, `C`, `IA` count
            its steps, information and assumptions, `difficulty` asks how hard it is; the baselines
            `llm_score` and `token_f1`; `off`. `auto`: CIA where the test is `chat`, else scores.
        model: name of the chat model; the run's own if none.
        seed, temperature, max_tokens: of all that chat models are asked; the prompts' if none.
    """

    statements: str = "rules"
    test: str = "embedded"
    policy: Policy = "superior_or_inferior"
    marks: Scheme = "auto"
    model: str | None = None
    seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None

    def validate(self) -> None:
        """Check what the types do not say.

        Raises:
            JudgeError: no such way to make statements or to test them, or a number out of range.
        """
        self._maker()
        self._tester()
        if self.temperature is not None:
            check_range("temperature", self.temperature, 0, 5)
        if self.max_tokens is not None and self.max_tokens < 1:
            raise JudgeError(f"max_tokens={self.max_tokens} must be at least 1")

    def identity(self, models: Any) -> Mapping[str, str]:
        """What else decides: prompts, weights and the chat model, for signatures."""
        from markscheme.prompts import shipped

        found: dict[str, str] = {}
        for stage, part in (("statements", self._maker()), ("test", self._tester())):
            own = part.identity(self._sampled(models))
            found |= {f"{stage}.{key}": text for key, text in own.items()}
        if self._scheme in INFERENCE:
            prompts = (EXPLAIN, RATE) if self._scheme == "difficulty" else (EXPLAIN,)
            found["marks.prompt"] = "+".join(shipped()[name].hash for name in prompts)
        if self._scheme == "llm_score":
            found["marks.prompt"] = shipped()["llm_score"].hash
        if models is not None and self._marks_ask:
            chat = models.chat(self.model)
            found["chat"] = chat.name
            if chat.revision:
                found["chat_revision"] = chat.revision
        return found

    def judge(self, answers: pl.DataFrame, models: Any) -> pl.DataFrame:
        """Relation, verdict and marks of every answer.

        An answer one of whose directions no reference decides is not judged: `unparsed`, `refused`,
        `failed` or `skipped` as what stood in the way. A blank answer is incorrect. `raw` is JSON
        with the statements and every test in both directions.

        Raises:
            ModelError: a chat model is needed and none was given.
        """
        rows = answers.with_row_index("row").with_columns(patterns=has_patterns(answers))
        pairs = self._pairs(rows)
        models = self._sampled(models)
        decided = relations(self._tested(pairs, models), self.policy)
        marked = with_marks(
            decided, pairs=decided.select("row", "tests").explode("tests").unnest("tests"),
            answers=answers, scheme=self._scheme, models=models,
        )  # fmt: skip
        found = rows.select("row", "references", "patterns").join(
            inspected(explained(marked), self._scheme), on="row", how="left", maintain_order="left"
        )
        return _outcomes(found, self.policy)

    @property
    def asks_chat(self) -> bool:
        """Whether a chat model has a part in it."""
        return self._marks_ask or _by_chat(self.statements) or _by_chat(self.test)

    @property
    def _scheme(self) -> str:
        if self.marks != "auto":
            return self.marks
        return "CIA" if _by_chat(self.test) else "scores"

    @property
    def _marks_ask(self) -> bool:
        return self._scheme in INFERENCE or self._scheme == "llm_score"

    def _sampled(self, models: Any) -> Any:
        """The models as every stage is to ask them."""
        if models is None:
            return None
        return Sampled(
            models=models, model=self.model, seed=self.seed, temperature=self.temperature,
            max_tokens=self.max_tokens,
        )  # fmt: skip

    def _maker(self) -> Any:
        from markscheme.judges.statement_makers import statement_maker

        return statement_maker(self.statements)

    def _tester(self) -> Any:
        from markscheme.judges.entailment_tests import entailment_test

        return entailment_test(self.test)

    def _pairs(self, rows: pl.DataFrame) -> pl.DataFrame:
        """A row an answer and reference that can be compared."""
        return (
            rows.filter(~pl.col("patterns"))
            .select("row", "question", "answer", reference="references")
            .explode("reference")
            .filter(*(_filled(name) for name in ("answer", "reference")))
            .unique(["row", "reference"], keep="first", maintain_order=True)
        )

    def _tested(self, pairs: pl.DataFrame, models: Any) -> pl.DataFrame:
        """The pairs with statements and both directions' outcomes."""
        sides = pl.concat(
            [
                pairs.select("question", answer="answer"),
                pairs.select("question", answer="reference"),
            ]
        )
        made = self._maker().make(sides, models)
        _check_rows("statements", self.statements, made, sides)
        for place, side in enumerate(("answer", "reference")):
            part = made.slice(place * pairs.height, pairs.height)
            pairs = pairs.hstack(_renamed(part, side, {"status": "stated", "raw": "said"}))
        asked = pl.concat(
            [
                pairs.select(
                    "question",
                    premise=f"{premise}_statement",
                    hypothesis=f"{hypothesis}_statement",
                    premise_answer=premise,
                    hypothesis_answer=hypothesis,
                )
                for premise, hypothesis in (("answer", "reference"), ("reference", "answer"))
            ]
        )
        tested = self._outcomes_of(asked, models)
        for place, way in enumerate(("entails", "entailed")):
            part = tested.slice(place * pairs.height, pairs.height)
            names = {"entailed": "", "status": "tested", "raw": "reply"}
            pairs = pairs.hstack(_renamed(part, way, names))
        return pairs

    def _outcomes_of(self, asked: pl.DataFrame, models: Any) -> pl.DataFrame:
        """The test's outcomes; equal statements entail each other without being tested."""
        places = asked.with_row_index("place")
        same = normalise_series(asked["premise"]) == normalise_series(asked["hypothesis"])
        same = same.fill_null(value=False)
        different = places.filter(~same)
        tested = self._tester().test(different.drop("place"), models)
        _check_rows("test", self.test, tested, different)
        outcome = tested.select(
            pl.col(name) for name in (*_TESTED, *SPENT) if name in tested.columns
        )
        equal = pl.Series("equal", same)
        return (
            places.select("place")
            .join(outcome.with_columns(different["place"]), on="place", how="left")
            .sort("place")
            .with_columns(
                entailed=pl.when(equal).then(pl.lit(value=True)).otherwise("entailed"),
                score=pl.when(equal).then(1.0).otherwise(pl.col("score")),
                status=pl.when(equal).then(pl.lit("judged")).otherwise(pl.col("status")),
                reason=pl.when(equal).then(pl.lit(EQUAL)).otherwise(pl.col("reason")),
            )
        )


_MADE = ("statement", "status", "reason", "raw")
_TESTED = ("entailed", "score", "status", "label", "reason", "raw")


def _renamed(part: pl.DataFrame, side: str, names: Mapping[str, str]) -> list[pl.Series]:
    """What a stage found out about one side or direction, under names that begin with it.

    Statuses may be any text type; what a stage does not give is null.
    """
    wanted = _TESTED if "entailed" in part.columns else _MADE
    kinds = {"entailed": pl.Boolean, "score": pl.Float64, **dict.fromkeys(SPENT, pl.Float64)}
    found = []
    for name in (*wanted, *SPENT):
        kind = kinds.get(name, pl.String)
        series = (
            part[name].cast(kind)
            if name in part.columns
            else pl.Series(name, [None] * part.height, dtype=kind)
        )
        new = names.get(name, name)
        found.append(series.alias(f"{side}_{new}" if new else side))
    return found


def _by_chat(name: str) -> bool:
    return name.partition(":")[0] == "chat"


def _filled(column: str) -> pl.Expr:
    return (pl.col(column).str.strip_chars() != "").fill_null(value=False)


def _outcomes(rows: pl.DataFrame, policy: str) -> pl.DataFrame:
    """Outcomes of all rows: those that were compared, and those that could not be."""
    none = ~pl.col("references").list.eval(_filled_element()).list.any().fill_null(value=False)
    reason = (
        pl.when(pl.col("patterns")).then(pl.lit(PATTERNS)).when(none).then(pl.lit(NO_REFERENCE))
    )
    judged = pl.col("status") == "judged"
    rows = rows.with_columns(reason=reason).with_columns(
        blank=pl.col("reason").is_null() & pl.col("status").is_null()
    )
    blank = pl.col("blank")

    def unless_blank(value: pl.Expr, otherwise: Any) -> pl.Expr:
        return pl.when(blank).then(pl.lit(otherwise)).when(judged).then(value)

    return rows.select(
        status=pl.when(blank)
        .then(pl.lit("judged"))
        .when(pl.col("reason").is_not_null())
        .then(pl.lit("skipped"))
        .otherwise(pl.col("status")),
        score=unless_blank(accepted_chance(policy).clip(0, 1), 0.0),
        verdict=unless_blank(pl.col("verdict"), False),
        relation=unless_blank(pl.col("relation"), "incorrect"),
        marks=unless_blank(pl.col("marks"), 0.0),
        explanation=pl.coalesce(
            pl.col("reason"), pl.when(blank).then(pl.lit(BLANK)), pl.col("explanation")
        ),
        raw=pl.col("raw"),
        **{
            name: pl.when(pl.any_horizontal(pl.col(name, f"gap_{name}").is_not_null())).then(
                pl.sum_horizontal(name, f"gap_{name}")
            )
            for name in SPENT
        },
    )


def _filled_element() -> pl.Expr:
    return (pl.element().str.strip_chars() != "").fill_null(value=False)


def _check_rows(what: str, name: str, found: pl.DataFrame, given: pl.DataFrame) -> None:
    if found.height != given.height:
        raise JudgeError(
            f"{what}={name!r} returned {found.height} rows for {given.height}; it must return one "
            "row a pair, in order"
        )
