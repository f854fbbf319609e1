"""The encoder that reads question, references and answer together, exported to ONNX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from markscheme.errors import ModelError
from markscheme.models.local.weights import (
    equal_length_batches,
    one_at_a_time,
    open_session,
    open_tokenizer,
    read_json,
    required,
    run_batches,
)

Row = tuple[str, Sequence[str], str]
"""Question, references and answer."""
Mark = tuple[int, int, float]
"""Start and end of a token in the answer, and the log-odds that it contradicts the references."""

_QUESTION, _REFERENCES, _ANSWER = 600, 1000, 2000
"""Characters read of a question, of all references together and of an answer."""
_QUESTION_TOKENS = 96
_DECIMALS = 3
_SPECIAL = re.compile(r"\[(?=(?:SEP|CLS|PAD|UNK|MASK)\])|<(?=(?:/?s|pad|unk|mask)>)", re.IGNORECASE)
"""First character of what a tokenizer would read as a token of its own: in a text it is text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """What the encoder says of answers.

    Attributes:
        log_odds: that a careful person accepts the answer, shape (rows,).
        marks: of each row, the tokens of the answer that contradict the references rather than not
            (log-odds above 0).
    """

    log_odds: npt.NDArray[np.float64]
    marks: list[list[Mark]]


class JointReader:
    """An encoder over `cls question sep references sep answer sep`, out of a folder.

    The folder holds `model.onnx.zst` (input `ids`, outputs `log_odds` and `marks`),
    `tokenizer.json`, and `config.json` with the ids `cls` and `sep` and the most `tokens` read.

    Raises:
        ModelError: a file is not there or cannot be loaded.
    """

    def __init__(self, folder: Path) -> None:
        settings = read_json(folder, "config.json")
        try:
            self._cls, self._sep = int(settings["cls"]), int(settings["sep"])
            self._tokens = int(settings["tokens"])
        except (KeyError, TypeError, ValueError):
            raise ModelError(
                f"{folder / 'config.json'} does not give the numbers cls, sep and tokens"
            ) from None
        self._tokenizer = open_tokenizer(folder, self._tokens)
        self._session = open_session(required(folder, "model.onnx.zst"))

    def read(self, rows: Sequence[Row]) -> Readings:
        """Read answers; equal rows run once, and a row's figures do not depend on the others."""
        keys = [(question, tuple(references), answer) for question, references, answer in rows]
        distinct = list(dict.fromkeys(keys))
        sequences = list(self._sequences(distinct))
        log_odds = np.zeros(len(distinct))
        marks: list[list[Mark]] = [[] for _ in distinct]

        def run(batch: npt.NDArray[np.int64]) -> None:
            ids = np.stack([sequences[row][0] for row in batch])
            verdicts, tokens = self._session.run(["log_odds", "marks"], {"ids": ids})
            log_odds[batch] = np.round(verdicts, _DECIMALS)
            for line, row in enumerate(batch.tolist()):
                _, begins, offsets = sequences[row]
                values = tokens[line, begins : begins + len(offsets)].tolist()
                marks[row] = [
                    (start, end, value)
                    for (start, end), value in zip(offsets, values, strict=True)
                    if value > 0
                ]

        lengths = np.array([len(ids) for ids, _, _ in sequences], np.int64)
        run_batches(list(equal_length_batches(lengths)), run)
        places = {key: place for place, key in enumerate(distinct)}
        order = [places[key] for key in keys]
        return Readings(log_odds=log_odds[order], marks=[marks[place] for place in order])

    def _sequences(
        self, rows: Sequence[tuple[str, tuple[str, ...], str]]
    ) -> Iterator[tuple[npt.NDArray[np.int64], int, list[tuple[int, int]]]]:
        """Token ids, where the answer begins, and offsets of its tokens."""
        texts = [
            _SPECIAL.sub("(", text)
            for asked, accepted, given in rows
            for text in (
                asked[:_QUESTION],
                " ; ".join(accepted)[:_REFERENCES],
                given[:_ANSWER],
            )
        ]
        coded = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        for place in range(0, len(coded), 3):
            question, references, answer = coded[place : place + 3]
            counts = shared_length(
                len(question.ids), len(references.ids), len(answer.ids), self._tokens
            )
            ids, begins = [self._cls], 0
            for part, count in zip((question, references, answer), counts, strict=True):
                begins = len(ids)
                ids += [*part.ids[:count], self._sep]
            yield np.array(ids, np.int64), begins, answer.offsets[: counts[2]]


def shared_length(question: int, references: int, answer: int, most: int) -> tuple[int, int, int]:
    """How many tokens of each text are read; the longer of references and answer is cut first.

    >>> shared_length(10, 20, 500, 384)
    (10, 20, 350)
    """
    question = min(question, _QUESTION_TOKENS)
    room = most - 4 - question
    references = min(references, max(room // 2, room - answer))
    return question, references, min(answer, room - references)


@one_at_a_time
@lru_cache(maxsize=4)
def open_reader(folder: Path) -> JointReader:
    """The encoder in a folder, loaded once a process."""
    return JointReader(folder)
