"""The answer hierarchy: does the answer entail a reference, or a reference the answer, or both?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from markscheme.contract import (
    HasLineage,
    Lineage,
    ModelSource,
    Needs,
    check_range,
    combined,
    register,
)
from markscheme.errors import JudgeError
from markscheme.judges.entailment.explanations import explained, inspected
from markscheme.judges.entailment.inference_marks import EXPLAIN, INFERENCE, RATE, with_marks
from markscheme.judges.entailment.statement_makers import (
    STATED,
    STATEMENT_MAKERS,
    StatementMaker,
    statement_maker,
)
from markscheme.judges.entailment.tests import (
    ENTAILMENT_TESTS,
    TESTED,
    ChatEntailment,
    EntailmentTest,
    entailment_test,
)
from markscheme.judges.outcomes import (
    MOST_OF_REFERENCES,
    MOST_READ,
    MOST_TESTED,
    PATTERNS,
    has_patterns,
    known_sum,
    noting_references,
    with_nearest_references,
)
from markscheme.judges.prompted import SamplingOverrides, shipped
from markscheme.tables import NO_REFERENCE, SPENT, is_blank
from markscheme.text import normalise_series

# --- The two stages of judges that compare statements: who makes them, and who tests them ---------


class StagedJudge:
    """What judges that compare statements share: who makes the statements, and who tests them.

    Attributes:
        statements: name of the maker of statements.
        test: name of the entailment test.
    """

    statements: str
    test: str

    @staticmethod
    def with_nearest(answers: pl.DataFrame) -> pl.DataFrame:
        """Answers with as many references as are tested; `noting_references` says of the others."""
        return with_nearest_references(answers, MOST_TESTED, MOST_READ // 4, MOST_OF_REFERENCES)

    @property
    def made_by(self) -> str:
        """Name of the maker that is used."""
        return self.statements

    def maker(self) -> StatementMaker:
        """The maker of statements; raises as `statement_maker` does."""
        return statement_maker(self.made_by)

    def tester(self) -> EntailmentTest:
        """The entailment test; raises as `entailment_test` does."""
        return entailment_test(self.test)

    @property
    def asks_to_test(self) -> bool:
        """Whether a chat model tests the statements, with parameters of its own or without."""
        return isinstance(self.tester(), ChatEntailment)

    def make_statements(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """What the maker finds for each pair: the columns of `STATED`.

        Raises:
            JudgeError: it returns another number of rows.
        """
        found = self.maker().make(pairs, models)
        return STATED.completed(found, pairs, f"statements={self.made_by!r}")

    def test_statements(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """What the test finds for each pair: the columns of `TESTED`.

        Raises:
            JudgeError: it returns another number of rows.
        """
        found = self.tester().test(pairs, models)
        return TESTED.completed(found, pairs, f"test={self.test!r}")

    def lineage(self) -> Lineage | None:
        """The questions that trained its test; None where it learned from none."""
        tester = self.tester()
        return tester.lineage() if isinstance(tester, HasLineage) else None

    def stage_identity(self, models: ModelSource | None) -> dict[str, str]:
        """What decides in the two stages, for signatures: names begin with that of the stage."""
        stages = {
            "statements": {
                **self.maker().identity(models),
                **STATEMENT_MAKERS.origin(self.made_by),
            },
            "test": {**self.tester().identity(models), **ENTAILMENT_TESTS.origin(self.test)},
        }
        return {
            f"{stage}.{key}": text for stage, own in stages.items() for key, text in own.items()
        }

    def stage_needs(self, own: Needs) -> Needs:
        """What the judge needs together with its stages; `own` says what it reads of a row."""
        parts = [STATEMENT_MAKERS.needs(self.made_by), ENTAILMENT_TESTS.needs(self.test)]
        return replace(combined([own, *parts]), references=own.references, question=own.question)

    @staticmethod
    def check_settings(needs: Needs, **settings: Any) -> None:
        """Raises JudgeError where there is a setting of chat models for a judge that asks none."""
        given = [f"{name}={value!r}" for name, value in settings.items() if value is not None]
        if given and needs.chat is False:
            why = "no part of this judge asks a language model; add test=chat or statements=chat"
            raise JudgeError(f"{given[0]}: {why}")


# --- The answer hierarchy -------------------------------------------------------------------------


_STATUS_FIRST = ("failed", "skipped", "refused", "unparsed")


def relations(pairs: pl.DataFrame, policy: str) -> pl.DataFrame:
    """One row an answer from its pairs: sets, relation, verdict, probabilities, status.

    An answer is in the superior set if it entails any reference, in the inferior set if any
    reference entails it (section 3 of the paper, "multiple gold answers"). What is not decided
    leaves a set open unless another reference puts the answer into it.
    """
    ways = ("entails", "entailed")
    chance = {
        f"{way}_chance": pl.coalesce(f"{way}_score", pl.col(way).cast(pl.Float64)) for way in ways
    }
    undecided = pl.coalesce(
        *(
            pl.when(pl.col(way).is_null()).then(
                pl.coalesce(
                    _unless_judged("answer_stated"),
                    _unless_judged("reference_stated"),
                    _unless_judged(f"{way}_tested"),
                    pl.lit("unparsed"),
                )
            )
            for way in ways
        )
    )
    pairs = pairs.with_columns(**chance, undecided=undecided)
    return (
        pairs.group_by("row", maintain_order=True)
        .agg(
            in_superior=pl.col("entails").any(ignore_nulls=False),
            in_inferior=pl.col("entailed").any(ignore_nulls=False),
            entails_chance=pl.col("entails_chance").max(),
            entailed_chance=pl.col("entailed_chance").max(),
            undecided=pl.col("undecided").drop_nulls(),
            why=pl.coalesce("answer_reason", "reference_reason", *(_reason_of(way) for way in ways))
            .drop_nulls()
            .unique(maintain_order=True),
            tests=pl.struct(pl.exclude("row")),
            **{name: _total(pl.col(f"{part}_{name}") for part in _PARTS) for name in SPENT},
        )
        .with_columns(relation=relation_of_sets())
        .with_columns(
            verdict=_accepted(policy),
            status=pl.when(pl.col("relation").is_not_null())
            .then(pl.lit("judged"))
            .otherwise(
                pl.coalesce(
                    pl.when(pl.col("undecided").list.contains(one)).then(pl.lit(one))
                    for one in _STATUS_FIRST
                )
            ),
        )
    )


_PARTS = ("answer", "reference", "entails", "entailed")


def _total(columns: Iterable[pl.Expr]) -> pl.Expr:
    """The sum of all that is known; null where nothing is."""
    every = pl.concat_list(*columns).list.drop_nulls().explode(empty_as_null=False)
    return pl.when(every.len() > 0).then(every.sum())


def relation_of_sets() -> pl.Expr:
    """The relation by `in_superior` and `in_inferior`; null where one of them is."""
    superior, inferior = pl.col("in_superior"), pl.col("in_inferior")
    return (
        pl.when(superior.is_null() | inferior.is_null())
        .then(pl.lit(None))
        .when(superior & inferior)
        .then(pl.lit("equivalent"))
        .when(superior)
        .then(pl.lit("superior"))
        .when(inferior)
        .then(pl.lit("inferior"))
        .otherwise(pl.lit("incorrect"))
    )


ACCEPTED: Mapping[str, tuple[str, ...]] = {
    "superior_or_inferior": ("superior", "equivalent", "inferior"),
    "superior_only": ("superior", "equivalent"),
    "both": ("equivalent",),
}
"""The relations that each policy accepts."""


def _accepted(policy: str) -> pl.Expr:
    return pl.col("relation").is_in(list(ACCEPTED[policy]))


def _unless_judged(column: str) -> pl.Expr:
    return pl.when(pl.col(column) != "judged").then(pl.col(column))


def accepted_chance(policy: str) -> pl.Expr:
    """How likely the answer is accepted: of the sets' probabilities the greater, for `both` the
    lesser, since the two directions are looked at on the same pair of statements."""
    entails, entailed = pl.col("entails_chance"), pl.col("entailed_chance")
    if policy == "superior_only":
        return entails
    if policy == "both":
        return pl.min_horizontal(entails, entailed)
    return pl.max_horizontal(entails, entailed)


def _reason_of(way: str) -> pl.Expr:
    return pl.when(pl.col(way).is_null()).then(pl.col(f"{way}_reason"))


Policy = Literal["superior_or_inferior", "superior_only", "both"]
Scheme = Literal["auto", "scores", "CIA", "C", "IA", "difficulty", "llm_score", "token_f1", "off"]

EQUAL = "equal statements"
BLANK = "the answer is empty: it entails nothing"


@register(
    "entailment",
    paper="Yao & Barbosa 2024",
    needs=Needs(chat=False, references="required"),
)
@dataclass(frozen=True, kw_only=True)
class Entailment(StagedJudge):
    """Statements made of answer and references, and which of them entails which.

    The answer is superior where it entails a reference that does not entail it, inferior the other
    way round, equivalent where both hold and incorrect where neither does. By default all of it
    runs without a language model; `entailment(statements=chat, test=chat)` is the paper's way.

    Attributes:
        statements: who turns a question and an answer into a statement: `rules` of the research
            package, `chat`, or `'seq2seq:NAME'`. `auto`: nobody for a test that reads bare answers,
            as `embedded` does, and rules for every other. With `rules`, such a test reads bare
            answers too, but pairs whose statements are equal are not put to it.
        test: who says whether a statement entails another: `embedded`, `chat`, or `'nli:NAME'`.
        policy: what is accepted: `superior_or_inferior` all but incorrect, `superior_only` what
            entails a reference (superior and equivalent), `both` equivalent only.
        marks: `scores` of the test; by an inference that a model explains: `CIA`, `C`, `IA` count
            its steps, information and assumptions, `difficulty` asks how hard it is; the baselines
            `llm_score` and `token_f1`; `off`. `auto`: CIA where the test is `chat`, else scores.
        model: name of the chat model; the run's own if none.
        seed, temperature, max_tokens: of all requests to chat models; the prompts' if none. Where
            no part asks one, only a seed may be given, and it changes nothing.
    """

    statements: str = "auto"
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
            JudgeError: no such way to make statements or to test them, a number out of range, or
                settings of a chat model that nothing asks.
            MissingExtraError: statements by rules are needed, and the package is not installed.
        """
        self.maker()
        self.tester()
        check_range("temperature", self.temperature, 0, 5)
        check_range("max_tokens", self.max_tokens, 1)
        self.check_settings(
            self.needs, model=self.model, temperature=self.temperature, max_tokens=self.max_tokens
        )

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What else decides: prompts, weights and the chat model, for signatures."""
        found = self.stage_identity(None if models is None else self._sampled(models))
        found |= {"tested": "statements"} if self._tests_statements else {}
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

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Relation, verdict and marks of every answer.

        An answer one of whose directions no reference decides is not judged: `unparsed`, `refused`,
        `failed` or `skipped` by what prevented it. A blank answer is incorrect. `raw` is JSON
        with the statements and every test in both directions.

        Raises:
            ModelError: a chat model is needed and none was given.
        """
        read = self.with_nearest(answers)
        rows = read.with_row_index("row").with_columns(patterns=has_patterns(read))
        pairs = self._pairs(rows)
        models = self._sampled(models)
        decided = relations(self._tested(pairs, models), self.policy)
        marked = with_marks(
            decided,
            pairs=decided.select("row", "tests").explode("tests").unnest("tests"),
            answers=answers,
            scheme=self._scheme,
            models=models,
        )
        described = inspected(explained(marked, self._scheme), self._scheme)
        found = rows.select("row", "references", "patterns").join(
            described, on="row", how="left", maintain_order="left"
        )
        return noting_references(_outcomes(found, self.policy), answers, read)

    @property
    def needs(self) -> Needs:
        """A chat model where one has a part in it; weights or extras where a stage needs them."""
        return self.stage_needs(Needs(chat=self._marks_ask, references="required"))

    @property
    def _scheme(self) -> str:
        if self.marks != "auto":
            return self.marks
        return "CIA" if self.asks_to_test else "scores"

    @property
    def _marks_ask(self) -> bool:
        return self._scheme in INFERENCE or self._scheme == "llm_score"

    @property
    def _tests_statements(self) -> bool:
        """Whether a test that would read the bare answers gets statements: those that a model made
        are tested, not only paid for."""
        return self.statements not in ("auto", "rules")

    @property
    def made_by(self) -> str:
        """The maker's name; of `auto` it depends on what the test reads."""
        if self.statements != "auto":
            return self.statements
        return "bare" if getattr(self.tester(), "reads_answers", False) else "rules"

    def _sampled(self, models: ModelSource) -> ModelSource:
        """The models as every stage is to ask them."""
        return SamplingOverrides(
            models=models,
            model=self.model,
            seed=self.seed,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
        )

    def _pairs(self, rows: pl.DataFrame) -> pl.DataFrame:
        """One row per answer and reference that can be compared."""
        return (
            rows.filter(~pl.col("patterns"))
            .select("row", "question", "answer", reference="references")
            .explode("reference")
            .filter(~is_blank("answer"), ~is_blank("reference"))
            .unique(["row", "reference"], keep="first", maintain_order=True)
        )

    def _tested(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """The pairs with statements and both directions' outcomes."""
        sides = pl.concat(
            [
                pairs.select("question", answer="answer"),
                pairs.select("question", answer="reference"),
            ]
        )
        made = self.make_statements(sides, models).rename({"status": "stated", "raw": "said"})
        for place, side in enumerate(("answer", "reference")):
            part = made.slice(place * pairs.height, pairs.height)
            pairs = pairs.hstack(_named(part, side))
        to_test = pl.concat(
            [
                pairs.select(
                    "question",
                    row_pairs=pl.len().over("row"),
                    premise=f"{premise}_statement",
                    hypothesis=f"{hypothesis}_statement",
                    premise_answer=premise,
                    hypothesis_answer=hypothesis,
                )
                for premise, hypothesis in (("answer", "reference"), ("reference", "answer"))
            ]
        )
        if self._tests_statements:
            to_test = to_test.drop("premise_answer", "hypothesis_answer")
        tested = self._outcomes_of(to_test, models).rename({"status": "tested", "raw": "reply"})
        for place, way in enumerate(("entails", "entailed")):
            part = tested.slice(place * pairs.height, pairs.height)
            pairs = pairs.hstack(_named(part, way))
        return pairs

    def _outcomes_of(self, to_test: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """The test's outcomes; equal statements entail each other without being tested."""
        places = to_test.with_row_index("place")
        same = normalise_series(to_test["premise"]) == normalise_series(to_test["hypothesis"])
        same = same.fill_null(value=False)
        different = places.filter(~same)
        outcome = self.test_statements(different.drop("place"), models)
        equal = pl.Series("equal", same)
        return (
            places.select("place")
            .join(outcome.with_columns(different["place"]), on="place", how="left")
            .sort("place")
            .drop("place")
            .with_columns(
                entailed=pl.when(equal).then(pl.lit(value=True)).otherwise("entailed"),
                score=pl.when(equal).then(1.0).otherwise(pl.col("score")),
                status=pl.when(equal).then(pl.lit("judged")).otherwise(pl.col("status")),
                reason=pl.when(equal).then(pl.lit(EQUAL)).otherwise(pl.col("reason")),
            )
        )


def _named(part: pl.DataFrame, side: str) -> pl.DataFrame:
    """What a stage found of one side or direction, under names that begin with it."""
    return part.rename(lambda name: side if name == "entailed" else f"{side}_{name}")


def _outcomes(rows: pl.DataFrame, policy: str) -> pl.DataFrame:
    """Outcomes of all rows: those that were compared, and those that could not be."""
    none = ~pl.col("references").list.eval(~is_blank(pl.element())).list.any().fill_null(
        value=False
    )
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
        **{name: known_sum(name, f"gap_{name}") for name in SPENT},
    )
