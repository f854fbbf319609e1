"""Classifying pairs of texts: cross-encoders and entailment models exported to ONNX."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from markscheme.contract import PairClassifier
from markscheme.errors import MissingExtraError, ModelError
from markscheme.manifests import revision
from markscheme.models.local.weights import (
    FED,
    Feeds,
    in_batches,
    model_file,
    opened,
    positions,
    read_json,
)

Scores = npt.NDArray[np.float32]
Pair = tuple[str, str]

_ENTAILMENT = frozenset({"entailment", "entails", "entail", "entailed"})

LONGEST = 512
"""Tokens of a text, where a model's own limit is not known or is larger."""

ENTRY_POINTS = "markscheme.classifiers"
"""Entry-point group of other packages: `transformers` opens entailment models that are no ONNX."""


def open_nli(name: str) -> PairClassifier:
    """The entailment model called `name`.

    Args:
        name: a folder with `model.onnx` (or `onnx/model.onnx`), which needs no extra; another
            folder or a name on the hub, such as `cross-encoder/nli-deberta-v3-large`, which the
            research package opens by the transformers library.

    Raises:
        MissingExtraError: the research package or transformers is wanted and not installed.
        ModelError: there is no such model, or its configuration does not say which of its outputs
            is entailment.
    """
    folder = Path(name)
    onnx = any((folder / one).is_file() for one in ("model.onnx", "onnx/model.onnx"))
    found: PairClassifier = (
        OnnxPairClassifier(folder=folder, max_tokens=min(LONGEST, positions(folder) or LONGEST))
        if onnx
        else _by_another_package(name)
    )
    entailment_column(found.labels, name)
    return found


def _by_another_package(name: str) -> PairClassifier:
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS, name="transformers"):
        found: PairClassifier = point.load()(name=name)
        return found
    raise MissingExtraError(f"{name!r}, which is not a folder with model.onnx,", "research")


def entailment_column(labels: Sequence[str], name: str) -> int:
    """Which output of a model is entailment, by the names in its configuration.

    Raises:
        ModelError: none is called so, or several are; models disagree about the order, so that it
            is never guessed.
    """
    places = [place for place, label in enumerate(labels) if label.strip().lower() in _ENTAILMENT]
    if len(places) == 1:
        return places[0]
    raise ModelError(
        f"the labels of {name} are {', '.join(map(repr, labels))}, so nobody can tell which of "
        "them is entailment. Use a model trained for it, or name its outputs in `id2label` of its "
        'config.json, as in {"0": "contradiction", "1": "entailment", "2": "neutral"}.'
    )


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


@lru_cache(maxsize=8)
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
