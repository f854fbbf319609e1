"""What a judge gets as `models`: the chat models, encoders and classifiers of the run.

Protocols only. `markscheme.models.Models` is the implementation, with ledger and budget in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from markscheme.contract.chat import ChatModel

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


class TextGenerator(Protocol):
    """Anything that writes a text for each text, such as a sequence-to-sequence model."""

    def generate(self, texts: Sequence[str], *, max_tokens: int) -> list[tuple[str, bool]]:
        """For each text the output, and whether it ended before `max_tokens`."""
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

    def seq2seq(self, name: str) -> TextGenerator:
        """The sequence-to-sequence model of a folder or hub name; its weights load when used."""
        ...
