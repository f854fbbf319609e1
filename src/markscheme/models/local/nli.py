"""Opening entailment (NLI) cross-encoders: ONNX folders, folders of transformers, hub names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from markscheme.contract import PairClassifier
from markscheme.errors import ModelError
from markscheme.models.local.pair_classifier import (
    OnnxPairClassifier,
    Pair,
    Scores,
)
from markscheme.models.local.transformers_models import (
    LONGEST,
    longest,
    open_weights,
    weights_hash,
)
from markscheme.models.local.weights import CHARACTERS_A_TOKEN, equal_length_batches

_ENTAILMENT = frozenset({"entailment", "entails", "entail", "entailed"})

_KIND = ("AutoModelForSequenceClassification", "an entailment model")


def open_nli(name: str) -> PairClassifier:
    """The entailment model called `name`.

    Args:
        name: a folder with `model.onnx` (or `onnx/model.onnx`), which needs no extra; another
            folder or a name on the hub, such as `cross-encoder/nli-deberta-v3-large`, which the
            transformers library opens.

    Raises:
        MissingExtraError: transformers is wanted and not installed.
        ModelError: there is no such model, or its configuration does not say which of its outputs
            is entailment.
    """
    folder = Path(name)
    onnx = any((folder / one).is_file() for one in ("model.onnx", "onnx/model.onnx"))
    found: PairClassifier = (
        OnnxPairClassifier(folder=folder, max_tokens=_tokens(folder))
        if onnx
        else TransformersPairClassifier(name=name)
    )
    entailment_column(found.labels, name)
    return found


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
class TransformersPairClassifier:
    """A sequence-pair classifier that the transformers library opens.

    Pairs of one length run together, so that no padding can change a score; equal pairs run once.

    Attributes:
        name: a folder, or a name on the hub.
        max_tokens: tokens read of a pair, framing included; the longer text loses tokens first.
    """

    name: str
    max_tokens: int = LONGEST

    @property
    def labels(self) -> tuple[str, ...]:
        """Label names by output, from the model's configuration."""
        names: dict[int, str] = open_weights(self.name, *_KIND)[1].config.id2label
        return tuple(str(names[place]) for place in sorted(names))

    @property
    def revision(self) -> str:
        """Hash of a folder's weights; of a model from the hub its commit, where known."""
        known = weights_hash(self.name)
        if known:
            return known
        config = open_weights(self.name, *_KIND)[1].config
        return str(getattr(config, "_commit_hash", None) or "")

    def scores(self, pairs: Sequence[Pair]) -> Scores:
        """Probabilities in [0, 1] of shape (len(pairs), len(labels)), by softmax."""
        import torch

        tokenizer, model = open_weights(self.name, *_KIND)
        most = longest(tokenizer, model, self.max_tokens)
        places: dict[Pair, int] = {}
        rows = [places.setdefault(pair, len(places)) for pair in pairs]
        characters = most * CHARACTERS_A_TOKEN
        encoded = [
            dict(
                tokenizer(
                    left[:characters],
                    right[:characters],
                    truncation="longest_first",
                    max_length=most,
                )
            )
            for left, right in places
        ]
        lengths: npt.NDArray[np.int64] = np.array([len(one["input_ids"]) for one in encoded], int)
        found = np.empty((len(encoded), len(self.labels)), np.float32)
        for batch in equal_length_batches(lengths):
            fed = {
                key: torch.tensor([encoded[row][key] for row in batch], device=model.device)
                for key in encoded[batch[0]]
            }
            with torch.inference_mode():
                found[batch] = model(**fed).logits.float().softmax(dim=-1).cpu().numpy()
        return found[rows]


def _tokens(folder: Path) -> int:
    """Tokens an ONNX model may get."""
    from markscheme.models.local.weights import read_json

    return min(
        LONGEST, int(read_json(folder, "config.json").get("max_position_embeddings", LONGEST))
    )
