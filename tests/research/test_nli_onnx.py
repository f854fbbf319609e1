"""Entailment models in ONNX: which output is entailment is read from the configuration."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_pair_classifiers import write_model

from markscheme.errors import ModelError
from markscheme.judges.entailment.tests import entailment_test
from markscheme.models.local import entailment_column, open_nli

ORDERS = {
    "mnli": {"0": "contradiction", "1": "entailment", "2": "neutral"},
    "deberta": {"0": "CONTRADICTION", "1": "NEUTRAL", "2": "ENTAILMENT"},
    "first": {"0": "entailment", "1": "neutral", "2": "contradiction"},
}
PAIRS = pl.DataFrame(
    {"premise": ["paris yes", "rome", "paris yes", None], "hypothesis": ["rome no", "maybe"] * 2}
)


@pytest.mark.parametrize("order", ORDERS)
def test_onnx_scores_are_those_of_the_output_called_entailment(tmp_path: Path, order: str) -> None:
    labels = ORDERS[order]
    folder = write_model(tmp_path, labels=labels)
    place = next(int(key) for key, name in labels.items() if name.lower() == "entailment")
    model = open_nli(str(folder))
    every = model.scores([("paris yes", "rome no"), ("rome", "maybe")])
    found = entailment_test(f"nli:{folder}").test(PAIRS, None)
    assert found.columns[:2] == PAIRS.columns
    assert found["score"].to_list()[:2] == pytest.approx(every[:, place].tolist())
    assert found["score"][2] == found["score"][0]
    assert found["entailed"].to_list()[:2] == (every.argmax(axis=1) == place).tolist()
    named = [labels[str(one)].lower() for one in every.argmax(axis=1)]
    assert found["label"].to_list()[:2] == named
    assert found["status"].to_list() == ["judged"] * 3 + ["skipped"]
    assert found["score"][3] is None


def test_the_order_changes_nothing_but_the_names(tmp_path: Path) -> None:
    """Two configurations of the same weights: each score is found under its own name."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    write_model(one, labels=ORDERS["mnli"])
    shutil.copytree(one, other)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"id2label": ORDERS["first"]}))
    pair = [("paris", "rome no")]
    first, second = (open_nli(str(folder)) for folder in (one, other))
    assert np.array_equal(first.scores(pair), second.scores(pair))
    assert entailment_column(first.labels, "one") == 1
    assert entailment_column(second.labels, "other") == 0


@pytest.mark.parametrize(
    "labels",
    [
        {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
        {"0": "entailment", "1": "entails", "2": "neutral"},
        {"0": "not_entailment", "1": "contradiction", "2": "neutral"},
    ],
)
def test_a_model_that_does_not_name_entailment_is_refused(
    tmp_path: Path, labels: dict[str, str]
) -> None:
    folder = write_model(tmp_path, labels=labels)
    with pytest.raises(ModelError, match="which of them is entailment") as caught:
        entailment_test(f"nli:{folder}").test(PAIRS, None)
    assert "id2label" in str(caught.value)
    assert all(repr(name) in str(caught.value) for name in labels.values())
