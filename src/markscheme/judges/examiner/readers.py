"""Which encoder reads an answer, by the language of its question and references.

MPNet, which ships in this package, was trained on English and reads Latin letters. Multilingual e5
reads other languages; it is the package `markscheme-languages`. Without that, MPNet reads other
languages in Latin letters, and nothing reads other scripts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from markscheme.manifests import revision
from markscheme.models.local import Mark, Readings, open_reader
from markscheme.text import language_of, script_of

Floats = npt.NDArray[np.float64]
Reader = Literal["english", "languages"]
READERS: tuple[Reader, ...] = ("english", "languages")
_NAMES = np.array(READERS).dtype
Row = tuple[str, Sequence[str], str]
"""Question, references and answer."""
Measured = Mapping[str, Mapping[str, tuple[int, int]]]
"""Right verdicts and test answers, by the name that `language` gives and under it by language, of
which a script may have several."""

ENGLISH = Path(__file__).parent / "weights" / "encoder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blend:
    """How trees and an encoder decide together.

    Attributes:
        trees, encoder: weights of their log-odds.
        intercept: what is added to them.
        unsure_from, unsure_to: the encoder reads where the trees' score lies between.
    """

    trees: float
    encoder: float
    intercept: float
    unsure_from: float
    unsure_to: float

    def unsure(self, scores: Floats) -> npt.NDArray[np.bool_]:
        """Whether the trees' scores leave a verdict to the encoder."""
        return (scores > self.unsure_from) & (scores < self.unsure_to)

    def log_odds(self, trees: Floats, encoder: Floats) -> Floats:
        """Log-odds of acceptance by both."""
        return self.trees * trees + self.encoder * encoder + self.intercept


def language(question: str, references: Sequence[str]) -> str | None:
    """The language or script of question and references where it is not English, else None."""
    return language_of(f"{question} {' '.join(references)}")


def reader_of(question: str, references: Sequence[str]) -> Reader | None:
    """The encoder that reads answers to a question; None where none can."""
    if language(question, references) is None:
        return "english"
    if folder_of("languages") is not None:
        return "languages"
    # MPNet's words are of Latin letters; of other scripts it reads nothing.
    return None if script_of(f"{question} {' '.join(references)}") else "english"


@cache
def folder_of(reader: Reader) -> Path | None:
    """The folder of an encoder's weights; None where its package is not installed."""
    if reader == "english":
        return ENGLISH
    found = find_spec("markscheme_languages")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "weights"


@cache
def _measured(file: Path) -> Measured:
    if not file.is_file():  # An older state of the package is installed.
        return {}
    content = json.loads(file.read_text(encoding="utf-8"))
    return {
        named: {one: (right, rows) for one, (right, rows) in languages.items()}
        for named, languages in content["right_of"].items()
    }


def measured() -> Measured:
    """How many answers of the frozen test of languages are judged rightly, and of how many.

    Empty where the package of their encoder is not installed, or has no such file.
    """
    folder = folder_of("languages")
    return {} if folder is None else _measured(folder.parent / "measured.json")


def readers_of(rows: Sequence[Row]) -> npt.NDArray[np.str_]:
    """The encoder that reads each row, "" where none can; shape (rows,)."""
    return np.array([reader_of(*row[:2]) or "" for row in rows], dtype=_NAMES)


def read_jointly(rows: Sequence[Row], readers: npt.NDArray[np.str_]) -> Readings:
    """What each row's encoder says of it.

    Args:
        rows: question, references and answer of each.
        readers: as `readers_of`; where none can read the log-odds are NaN and nothing is marked.

    Raises:
        ModelError: the weights of an encoder cannot be loaded.
    """
    log_odds = np.full(len(rows), np.nan)
    marks: list[list[Mark]] = [[] for _ in rows]
    for reader in READERS:
        places = np.flatnonzero(readers == reader).tolist()
        folder = folder_of(reader)
        if not places or folder is None:
            continue
        found = open_reader(folder).read([rows[place] for place in places])
        log_odds[places] = found.log_odds
        for place, marked in zip(places, found.marks, strict=True):
            marks[place] = marked
    return Readings(log_odds=log_odds, marks=marks)


def revisions() -> dict[str, str]:
    """Twelve hexadecimal digits of the SHA-256 of each installed encoder, for signatures."""
    folders = {"encoder": folder_of("english"), "languages": folder_of("languages")}
    return {
        name: revision(folder / "model.onnx.zst")
        for name, folder in folders.items()
        if folder is not None
    }
