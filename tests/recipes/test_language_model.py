"""Fine-tuning the examiner's language model: it resumes, saves, and can be read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from recipes.language_model import LanguageModelOptions, train_language_model

from markscheme.judges.examiner import Shape, open_language_model

pytestmark = pytest.mark.proof(area="examiner")

SMALL = LanguageModelOptions(shape=Shape(layers=2, adapted_from=1, rank=2), batch_tokens=400)


def rows() -> pl.DataFrame:
    pairs = [(f"What is {number} plus one?", str(number + 1)) for number in range(40)]
    return pl.DataFrame(
        {
            "question": [question for question, _ in pairs for _ in range(2)],
            "references": [[right] for _, right in pairs for _ in range(2)],
            "answer": [answer for _, right in pairs for answer in (right, f"{right}0")],
            "label": [label for _ in pairs for label in (1.0, 0.0)],
        }
    )


def test_adapters_are_saved_read_and_trained_on(tmp_path: Path) -> None:
    said: list[str] = []
    seen = train_language_model(rows(), tmp_path, SMALL, minutes=0.1, say=said.append)
    assert seen > 0
    first = open_language_model(tmp_path).log_odds([("What is 3 plus one?", ["4"], "4")])
    more = train_language_model(rows(), tmp_path, SMALL, minutes=0.05, say=said.append)
    assert f"after {seen + more:,} rows" in said[-1]
    assert first.shape == (1,)
    assert first[0] != 0


def test_a_checkpoint_of_another_shape_is_refused(tmp_path: Path) -> None:
    train_language_model(rows(), tmp_path, SMALL, minutes=0.02, say=lambda _line: None)
    other = LanguageModelOptions(shape=Shape(layers=3, adapted_from=1, rank=2))
    with pytest.raises(ValueError, match="another folder"):
        train_language_model(rows(), tmp_path, other, minutes=0.02)
