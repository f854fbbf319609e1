"""Entailment models by name, and which of a model's outputs is entailment."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence

from markscheme.contract import PairClassifier
from markscheme.errors import MissingExtraError, ModelError

_ENTAILMENT = frozenset({"entailment", "entails", "entail", "entailed"})

ENTRY_POINTS = "markscheme.classifiers"
"""Entry-point group of the research package, whose point `nli` opens entailment models by name."""


def open_nli(name: str) -> PairClassifier:
    """The entailment model called `name`, which the research package opens.

    Args:
        name: a folder, or a name on the hub, such as `cross-encoder/nli-deberta-v3-large`.

    Raises:
        MissingExtraError: the research package or transformers is needed and not installed.
        ModelError: there is no such model, or its configuration does not say which of its outputs
            is entailment.
    """
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS, name="nli"):
        found: PairClassifier = point.load()(name)
        entailment_column(found.labels, name)
        return found
    raise MissingExtraError(f"the entailment model {name!r}", "research")


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
