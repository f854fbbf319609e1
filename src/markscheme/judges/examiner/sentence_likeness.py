"""Cosines of sentence embeddings of answer, question and references, for the second stage."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from markscheme.contract import Encoder
from markscheme.features.alignment import COSINES, FeatureView

Matrix = npt.NDArray[np.float32]

_REFERENCES = 3
"""References of a row that are embedded, the best aligned first."""
_DECIMALS = 3
"""Cosines are rounded: a text's vector may differ in the seventh digit between batches."""


def cosines(view: FeatureView, rows: npt.NDArray[np.int64], encoder: Encoder) -> Matrix:
    """Second-stage features of chosen rows, shape (len(rows), len(COSINES))."""
    if not len(rows):
        return np.zeros((0, len(COSINES)), dtype=np.float32)
    batch, raw = view.batch, view.batch.raw
    owner, chosen = _chosen(view, rows)
    question = batch.question[rows]
    texts: list[str] = []
    places: dict[str, int] = {}

    def place(text: str) -> int:
        if text not in places:
            places[text] = len(texts)
            texts.append(text)
        return places[text]

    q = np.array([place(raw[i]) for i in question])
    a = np.array([place(raw[i]) for i in batch.answer[rows]])
    r = np.array([place(raw[i]) for i in chosen])
    s = np.array(
        [place(f"{raw[question[k]]} {raw[i]}") for k, i in zip(owner, chosen, strict=True)]
    )
    vectors = encoder.encode(texts)

    def cosine(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> Matrix:
        return np.asarray(np.einsum("ij,ij->i", vectors[one], vectors[other]), dtype=np.float32)

    begins = np.searchsorted(owner, np.arange(len(rows)))
    like_question = cosine(a, q)
    like_reference = np.maximum.reduceat(cosine(a[owner], r), begins)
    statement = cosine(a[owner], s)
    like_statement = np.maximum.reduceat(statement, begins)
    nearest = begins + np.array(
        [int(np.argmax(part)) for part in np.split(np.round(statement, _DECIMALS), begins[1:])]
    )
    statement_question = cosine(s[nearest], q)
    found = {
        "like_reference": like_reference,
        "like_statement": like_statement,
        "like_question": like_question,
        "statement_like_question": statement_question,
        "reference_like_question": cosine(r[nearest], q),
        "beyond_question": like_statement - like_question,
        "reference_beyond_question": like_reference - like_question,
        "statement_gap": like_statement - statement_question,
    }
    matrix = np.stack([found[name] for name in COSINES], axis=1)
    return np.round(matrix, _DECIMALS).astype(np.float32)


def _chosen(
    view: FeatureView, rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The best aligned references of each row: (place of the row among `rows`, text)."""
    batch, rank = view.batch, view.aligned.rank
    order = np.lexsort((-rank, batch.row))
    within = np.arange(len(order)) - batch.first[batch.row[order]]
    kept = order[within < _REFERENCES]
    slot = np.full(len(batch.answer), -1, dtype=np.int64)
    slot[rows] = np.arange(len(rows))
    owner = slot[batch.row[kept]]
    kept, owner = kept[owner >= 0], owner[owner >= 0]
    order = np.argsort(owner, kind="stable")
    return owner[order], batch.reference[kept[order]]
