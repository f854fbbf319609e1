"""Classifying pairs of texts: cross-encoders and entailment models, in ONNX or any other form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from markscheme.contract import PairClassifier
from markscheme.errors import ModelError
from markscheme.manifests import revision
from markscheme.models.local import (
    FED,
    Feeds,
    in_batches,
    one_at_a_time,
    open_session,
    open_tokenizer,
    read_json,
    required,
)
from markscheme_research.transformers_models import (
    LONGEST,
    TransformersPairClassifier,
    Written,
    written,
)

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Scores = npt.NDArray[np.float32]
Pair = tuple[str, str]


def open_classifier(name: str) -> PairClassifier:
    """The classifier called `name`.

    Args:
        name: a folder with `model.onnx` (or `onnx/model.onnx`), which needs no extra; another
            folder or a name on the hub, which the transformers library opens.

    Raises:
        ModelError: the folder has no configuration.
    """
    folder = Path(name)
    if any((folder / one).is_file() for one in ("model.onnx", "onnx/model.onnx")):
        longest = min(LONGEST, positions(folder) or LONGEST)
        return OnnxPairClassifier(folder=folder, max_tokens=longest)
    return TransformersPairClassifier(name=name)


@dataclass(frozen=True, kw_only=True)
class OnnxPairClassifier:
    """A sequence-pair classifier out of a folder of ONNX weights.

    The folder holds `model.onnx` (or `onnx/model.onnx`), `tokenizer.json` and `config.json`, as
    the usual exporters leave them. What the outputs mean is read from `id2label` in the
    configuration, since entailment models disagree about the order of their labels. A pair's
    scores do not depend on its batch's other pairs, unless the weights were quantised dynamically.

    Parameters
    ----------
    folder
        Where the files are.
    max_tokens
        Most tokens read of a pair, framing included; the longer text loses tokens first. Of each
        text at most the first `max_tokens` times 32 characters are looked at.
    """

    folder: Path
    max_tokens: int = 256

    @property
    def labels(self) -> tuple[str, ...]:
        """Label names by output column, from `id2label`; ModelError where that is unusable."""
        return _labels(self.folder)

    @property
    def revision(self) -> str:
        """Short hash of the weights, for signatures."""
        return revision(model_file(self.folder))

    def scores(self, pairs: Sequence[Pair]) -> Scores:
        """Probabilities in [0, 1] of shape (len(pairs), len(labels)); equal pairs run once.

        Several labels share a softmax; a single one gets a sigmoid. Raises ModelError where the
        folder is incomplete, its labels do not fit its output, or the graph wants other inputs.
        """
        session, tokenizer = opened(self.folder, self.max_tokens)
        inputs = [node.name for node in session.get_inputs()]
        if "input_ids" not in inputs or not set(inputs) <= set(FED):
            raise ModelError(
                f"the model in {self.folder} takes {', '.join(inputs)}; a pair classifier takes "
                "input_ids and at most attention_mask and token_type_ids. Export it for text "
                "classification."
            )
        labels = self.labels

        def run(feeds: Feeds) -> Scores:
            output = np.asarray(session.run(None, feeds)[0])
            if output.shape != (len(feeds["input_ids"]), len(labels)):
                raise ModelError(
                    f"the model in {self.folder} gives {output.shape[1:]} numbers a pair, but "
                    f"its config.json names {len(labels)} labels. Export both together."
                )
            return output

        logits = in_batches(tokenizer, pairs, run, max_tokens=self.max_tokens, inputs=inputs)
        return _probabilities(np.array(logits, np.float32).reshape(len(pairs), len(labels)))


def _probabilities(logits: Scores) -> Scores:
    if logits.shape[1] == 1:
        half: Scores = (0.5 + 0.5 * np.tanh(0.5 * logits)).astype(np.float32)
        return half
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Scores = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _labels(folder: Path) -> tuple[str, ...]:
    names: Any = read_json(folder, "config.json").get("id2label")
    numbered = (
        {int(key): str(name) for key, name in names.items()}
        if isinstance(names, dict) and all(str(key).isdigit() for key in names)
        else {}
    )
    if not numbered or sorted(numbered) != list(range(len(numbered))):
        raise ModelError(
            f"{folder / 'config.json'} has no usable `id2label`, so nobody can tell what the "
            'model\'s outputs mean. Add it, for example {"0": "entailment", "1": "neutral"}.'
        )
    return tuple(numbered[index] for index in range(len(numbered)))


def model_file(folder: Path) -> Path:
    """The ONNX file of `folder`; ModelError where there is none."""
    nested = folder / "onnx" / "model.onnx"
    return nested if nested.is_file() else required(folder, "model.onnx")


def positions(folder: Path) -> int | None:
    """Most tokens that the weights in a folder can read; None where they do not say."""
    limit = read_json(folder, "config.json").get("max_position_embeddings")
    return None if limit is None else int(limit)


_LEAST = 8
"""Tokens that leave room for words of both texts of a pair between the three that frame them."""


def opened(folder: Path, max_tokens: int) -> tuple[InferenceSession, Tokenizer]:
    """Session and tokenizer of a folder, loaded once a process unless its files change.

    Raises:
        ModelError: a file is not there or cannot be loaded, or `max_tokens` is below 8 or more
            than the model has positions.
    """
    now = written(folder)
    return _session(folder, now), _tokenizer(folder, max_tokens, now)


@one_at_a_time
@lru_cache(maxsize=8)
def _session(folder: Path, _written: Written) -> InferenceSession:
    return open_session(model_file(folder))


@one_at_a_time
@lru_cache(maxsize=8)
def _tokenizer(folder: Path, max_tokens: int, _written: Written) -> Tokenizer:
    longest = positions(folder) or max_tokens
    if not _LEAST <= max_tokens <= longest:
        raise ModelError(
            f"max_tokens={max_tokens} does not fit the weights in {folder}: "
            f"choose from {_LEAST} to {longest}."
        )
    return open_tokenizer(folder, max_tokens)
