"""The judge contract: one method that every judge has, and three that a judge may declare.

Required: `judge`. Optional:

- `validate(self) -> None` checks what the types of its parameters do not say, whenever it is made
  from its name or put to use; raises JudgeError with the parameter, its value and what is allowed.
- `identity(self, models: ModelSource | None) -> Mapping[str, str]` gives what else must be equal
  before two figures may be compared: the hash of weights or of a prompt, a model's name and
  revision. `models` is None where a signature is computed without a run.
- `needs`, a property, is what it needs with these parameters; it goes before what `register` was
  given.

A judge is a `@dataclass(frozen=True, kw_only=True)` whose fields are all of its parameters,
registered with `@register(name)`. `markscheme.testing.check_judge` proves the rules for any judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, get_args, runtime_checkable

import polars as pl

from markscheme.contract.chat import ChatModel

# --- What a judge gets as `models`: the chat models, encoders and classifiers of the run ----------
# Protocols only. `markscheme.models.Models` is the implementation, with ledger and budget in it.


if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Anything that turns texts into vectors whose dot product is their similarity."""

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return one row of length one for each text, float32, in order."""
        ...


class PairClassifier(Protocol):
    """Anything that gives each pair of texts a probability for each of its labels."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the columns of `scores`, in order."""
        ...

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return probabilities of shape (len(pairs), len(labels)), float32, in order."""
        ...


@runtime_checkable
class ModelSource(Protocol):
    """The models of a run, opened when a judge first asks for one.

    What a judge asks through `chat` is written to the ledger and counted against the run's budget
    (`max_calls`, `max_cost`). A client of a judge's own is neither.
    """

    def chat(self, name: str | None = None) -> ChatModel:
        """The chat model called `name`, or the run's own where a judge names none.

        Raises:
            ModelError: there is no such model, or none was named for the run.
            JudgeError: the judge that asks declared that it asks no chat model.
        """
        ...

    def encoder(self) -> Encoder:
        """The sentence encoder that ships in the package."""
        ...

    def nli(self, name: str) -> PairClassifier:
        """The entailment model called `name`: a folder, or a name on the hub.

        Raises:
            MissingExtraError: it needs a library that is not installed.
            ModelError: it cannot be opened.
        """
        ...


# --- The judge contract: the method that every judge has ------------------------------------------


@runtime_checkable
class Judge(Protocol):
    """Whatever gives a verdict on answers."""

    def judge(self, answers: pl.DataFrame, models: ModelSource) -> pl.DataFrame:
        """One row an answer, in the same order.

        Args:
            answers: `question`, `references`, `answer` (neither null nor blank), and where there
                are any `reference_grades`, `reference_kind`, `context`.
            models: the models of the run.

        Returns:
            Any of the columns of `markscheme.tables.OUTCOME`; columns of `answers` may stay and are
            dropped, any other is an error: `score` from 0 to 1,
            `verdict` (Boolean), `relation`, `marks` from 0 to 2 (above 1 is a bonus), `status`,
            `explanation`, `raw`, `cost_usd`, `tokens_in`, `tokens_out`, `seconds`. Without
            `status`, a row with a verdict or a score is `judged` and any other `failed`. The
            outcome of a row may not depend on the other rows of the table.
        """
        ...


# --- What a judge needs, as values: a chat model, extras, weights, references, the question -------


Use = Literal["required", "optional", "unused"]
"""`required`: without it a row is not judged. `optional`: it is used where it is there. `unused`:
it cannot change an outcome."""


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What must be available for a judge, and what it reads.

    Attributes:
        chat: whether the judge may ask a chat model. None, the default, is "not declared", which
            counts as "may ask": such a judge is budgeted, stays in the parent process when a run
            has several workers, and is not served over HTTP unless it is named. A judge that
            declares False and asks anyway is stopped with a JudgeError.
        extras: optional dependencies by the name of their extra, such as `hf`.
        weights: weights or other files that the user must supply.
        references, question: whether the judge reads them.
        grades: whether the judge reads the grades of references. One that requires references and
            does not takes each as right, whatever its grade, and a run notes that.
        columns: columns of the user's own that the judge reads, such as those that a prompt names.
        apart: whether a chat model is sent each row by itself, so that rows share neither
            requests nor work: a run then gives the judge small tables, many at the same time.
        note: shown to people in place of the sentence made of the fields above; decides nothing.

    Example:
        >>> print(Needs(chat=False)), print(Needs(chat=True)), print(Needs())
        nothing
        a chat model (--model)
        not declared, so treated as a judge that may ask a chat model
        (None, None, None)
    """

    chat: bool | None = None
    extras: tuple[str, ...] = ()
    weights: Use = "unused"
    references: Use = "optional"
    question: Use = "optional"
    grades: bool = False
    columns: tuple[str, ...] = ()
    apart: bool = False
    note: str = ""

    @property
    def may_ask_chat(self) -> bool:
        """Whether a chat model may be used: declared, or not declared at all."""
        return self.chat is not False

    @property
    def nothing(self) -> bool:
        """Whether the judge works with an installed package alone: no model, extra or file."""
        return self.chat is False and not self.extras and self.weights != "required"

    def __str__(self) -> str:
        """A sentence for people: the note, or what the fields say."""
        if self.note:
            undeclared = "" if self.chat is not None else " (not declared as values)"
            return self.note + undeclared
        if self.chat is None:
            return "not declared, so treated as a judge that may ask a chat model"
        found = [f"the extra {name}" for name in self.extras]
        found += ["a chat model (--model)"] if self.chat else []
        found += ["weights or a file of yours"] if self.weights == "required" else []
        return ", and ".join(found) or "nothing"


UNDECLARED = Needs()
"""What counts for a judge that declares nothing."""


def combined(needs: Iterable[Needs]) -> Needs:
    """What several judges need together.

    `chat` is True if one asks, else None if one declares nothing; extras add up; weights are
    required if one requires them. References and question are required if all that read them
    require them, since another may judge a row that one of them leaves out.
    """
    every = list(needs)
    asks = [one.chat for one in every]
    return Needs(
        chat=True if True in asks else None if None in asks else False,
        extras=tuple(dict.fromkeys(extra for one in every for extra in one.extras)),
        weights=min((one.weights for one in every), key=get_args(Use).index, default="unused"),
        references=_read(one.references for one in every),
        question=_read(one.question for one in every),
        grades=any(one.grades for one in every),
        columns=tuple(dict.fromkeys(name for one in every for name in one.columns)),
        apart=bool(every) and all(one.apart for one in every),
        note="; ".join(dict.fromkeys(one.note for one in every if one.note)),
    )


def _read(uses: Iterable[Use]) -> Use:
    reading = set(uses) - {"unused"}
    if not reading:
        return "unused"
    return "required" if reading == {"required"} else "optional"
