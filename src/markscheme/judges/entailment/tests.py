"""Does a premise entail a hypothesis? Three ways to find out, behind one protocol.

`embedded` ships and needs nothing; `chat` asks a language model as Yao & Barbosa 2024 did;
`nli:NAME_OR_FOLDER` runs an entailment cross-encoder. Each takes a table of pairs and gives the
same rows with what it found.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import polars as pl

from markscheme.contract import (
    ChatReply,
    ModelSource,
    Needs,
    PairClassifier,
    PartKind,
    check_range,
)
from markscheme.judges.prompted import COST, AskedPairs, Choice, PairStage, Sample, confidence_of
from markscheme.text.replies import CONTRADICTION, ENTAILMENT, NEUTRAL, Reading, read_entailment

# --- The pairs that entailment tests take, each different one once, and what was found of them ----


OUTCOME: Mapping[str, Any] = {
    "entailed": pl.Boolean,
    "score": pl.Float64,
    "status": pl.String,
    "label": pl.String,
    "reason": pl.String,
    "raw": pl.String,
    **COST,
}
"""What a test adds to the pairs. `entailed` is null unless `status` is `judged`; `score` is the
probability that the premise entails the hypothesis, null where the test gives none; `label` is
`entailment`, `contradiction` or `neutral` where it says so. The cost of a request is in the
first of equal pairs."""


TESTED = PairStage(
    purpose="pairs to test",
    columns=("premise", "hypothesis"),
    schema=OUTCOME,
    lacking={"status": "skipped", "reason": "no statement to test"},
)
"""What a test finds about each pair of statements."""


# --- Does a premise entail a hypothesis? Three ways to find out, behind one protocol --------------


@runtime_checkable
class EntailmentTest(Protocol):
    """Whatever says whether premises entail hypotheses."""

    def test(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """The same rows in the same order, with the columns of `OUTCOME`; equal pairs tested once.

        Args:
            pairs: `question`, `premise`, `hypothesis` (statements), `premise_answer`,
                `hypothesis_answer` (the bare answers); all String. A pair without texts is
                `skipped`. Perhaps `row_pairs`: how many pairs of texts of an answer's row, this one
                included, share what a test compares of them in detail; 1 where it is absent.
            models: where models come from, as judges get it.
        """
        ...

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """What decides besides the test's own fields, for signatures."""
        ...


ENTAILMENT_TESTS = PartKind("entailment test", "test(pairs, models)")
"""The registered entailment tests."""

register_entailment_test = ENTAILMENT_TESTS.register
"""Class decorator: make an entailment test known by a name; see `PartKind.register`."""


def entailment_test(name: str) -> EntailmentTest:
    """The test called `name`.

    Args:
        name: `embedded`, or `embedded:FOLDER` for one that `markscheme research train entailment`
            wrote; `chat`, or `chat:MODEL` for another model than the run's;
            `nli:NAME_OR_FOLDER`; or the name of one that others registered, with its parameters.

    Raises:
        UnknownNameError: there is no such test.
        JudgeError: a parameter is wrong.
    """
    found: EntailmentTest = ENTAILMENT_TESTS.parse(name)
    return found


@register_entailment_test("chat", needs=Needs(chat=True), shorthand="model")
@dataclass(frozen=True, kw_only=True)
class ChatEntailment(AskedPairs):
    """A language model with the paper's zero-shot prompt (Yao & Barbosa 2024, Table 14).

    The score is the probability of entailment at the label's token, if the server gives
    log-probabilities. The paper sends seed 42.
    """

    PROMPT: ClassVar[str] = "entailment_yao"
    VARIABLES: ClassVar[tuple[str, str]] = ("premise", "hypothesis")

    def test(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Ask about every different pair of statements; see `EntailmentTest.test`.

        Raises:
            ModelError: no chat model was given.
        """
        return TESTED.outcomes(pairs, functools.partial(self._outcomes, models=models))

    def _read(self, reply: ChatReply, pair: tuple[str, str]) -> Reading:
        del pair
        reading = read_entailment(reply.text or "", finished=reply.finished)
        if reading.status != "judged":
            return reading
        return replace(reading, score=confidence_of(reply, reading, _FORMS).score)

    def _found(self, sample: Sample) -> dict[str, Any]:
        return {
            "entailed": sample.verdict,
            "score": sample.score,
            "label": sample.relation if sample.relation in _LABELS else None,
            "reason": sample.reason,
        }


@register_entailment_test(
    "nli",
    needs=Needs(chat=False, extras=("research",), weights="required"),
    shorthand="name",
    form="nli:NAME_OR_FOLDER",
    example="nli:cross-encoder/nli-deberta-v3-large",
)
@dataclass(frozen=True, kw_only=True)
class NliEntailment:
    """An entailment cross-encoder reads both statements; which output is which its config says.

    Attributes:
        name: folder with ONNX or transformers weights, or a name on the hub.
        threshold: entailed from this probability; none takes the likeliest label, as is usual.
    """

    name: str
    threshold: float | None = None

    def validate(self) -> None:
        """Raises JudgeError if the threshold is not within 0 and 1."""
        check_range("threshold", self.threshold, 0, 1)

    def test(self, pairs: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """Classify every different pair of statements; see `EntailmentTest.test`.

        Raises:
            MissingExtraError: the model needs transformers, which is not installed.
            ModelError: it cannot be loaded, or does not say which of its outputs is entailment.
        """
        return TESTED.outcomes(pairs, functools.partial(self._classified, models=models))

    def _classified(
        self, distinct: list[tuple[str, str]], models: ModelSource
    ) -> list[dict[str, Any]]:
        from markscheme.models.local import entailment_column

        if not distinct:
            return []
        model = self._model(models)
        column = entailment_column(model.labels, self.name)
        scores = model.scores(distinct)
        likeliest = scores.argmax(axis=1)
        names = [label.strip().lower() for label in model.labels]
        entailed = (
            likeliest == column if self.threshold is None else scores[:, column] >= self.threshold
        )
        return [
            {
                "entailed": bool(holds),
                "score": float(share),
                "status": "judged",
                "label": ENTAILMENT if best == column else names[best],
            }
            for holds, share, best in zip(
                entailed.tolist(), scores[:, column].tolist(), likeliest.tolist(), strict=True
            )
        ]

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """The model's name and what else is known of its weights."""
        revision = str(getattr(self._model(models), "revision", ""))
        return {"nli": self.name} | ({"nli_revision": revision} if revision else {})

    def _model(self, models: ModelSource | None) -> PairClassifier:
        from markscheme.models import Models

        return (models if models is not None else Models()).nli(self.name)


_LABELS = {ENTAILMENT: 1.0, CONTRADICTION: 0.0, NEUTRAL: 0.0}
_FORMS = Choice(
    labels={**_LABELS, "entails": 1.0, "entailed": 1.0, "contradicts": 0.0, "contradicted": 0.0}
)
"""Words of a reply, with the probability of entailment that each is."""
