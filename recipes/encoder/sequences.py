"""Packed rows as token sequences on a device, in batches of similar length."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from recipes.encoder.network import Shape, cut
from recipes.encoder.weights import open_archives

TRAIN, DEV = 0, 1
"""Parts, as `data.npz` numbers them."""
WINDOW = 16_384
"""Rows among which those of similar length are put into a batch."""


class Data:
    """The rows of `data.npz` as arrays.

    Args:
        path: the archive, written by `recipes.encoder.pack`.
        small: use about so many rows of each part, for a test of the programs; 0: all.
        seed: of what is drawn for such a test.
    """

    def __init__(self, path: Path, small: int = 0, seed: int = 0) -> None:
        self.arrays, self.metadata = open_archives(path)
        self.part = self.arrays["part"]
        self.label = self.arrays["label"].astype(np.float32)
        self.weight, self.readers = self.arrays["weight"], self.arrays["readers"]
        self.known = self.arrays["spans_known"].astype(bool)
        self.held_out = self.arrays["held_out"].astype(bool)
        self.sets, self.kinds, self.languages = (
            np.array(self.metadata["names"][name])[self.arrays[name]]
            for name in ("set", "kind", "language")
        )
        self.used = np.ones(len(self.part), bool)
        if small:
            order = np.random.default_rng(seed).permutation(len(self.part))
            for part in (TRAIN, DEV):
                rows = order[self.part[order] == part]
                marked = rows[self.known[rows] & (self.label[rows] < 0.5)][: small // 4]
                self.used[rows] = False
                self.used[rows[:small]] = True
                self.used[marked] = True

    def rows(self, readers: Sequence[int]) -> np.ndarray:
        """Numbers of the rows that an encoder reads, shape (rows,)."""
        return np.flatnonzero(np.isin(self.readers, readers) & self.used)


class Sequences:
    """Token ids of rows, one after another on a device, and the marks of wrong words.

    Args:
        data: all rows.
        rows: numbers of those that are read.
        tokens: name of the token ids in the data: `pieces` or `e5`.
        shape: of the encoder.
        device: as PyTorch names it.
    """

    def __init__(
        self, data: Data, rows: np.ndarray, tokens: str, shape: Shape, device: str
    ) -> None:
        arrays, texts = data.arrays, data.arrays["texts"][rows].astype(np.int64)
        starts = arrays[f"{tokens}_starts"].astype(np.int64)
        counts = np.diff(starts)[texts]
        question, references, answer = cut(counts[:, 0], counts[:, 1], counts[:, 2], shape.longest)
        self.lengths = question + references + answer + 4
        at = np.concatenate([[0], np.cumsum(self.lengths)])
        sequence = np.full(at[-1], shape.sep, np.int32)
        sequence[at[:-1]] = shape.cls
        begins = at[:-1] + 1
        answer_at = begins
        for column, count in enumerate((question, references, answer)):
            steps = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            source = np.repeat(starts[texts[:, column]], count) + steps
            sequence[np.repeat(begins, count) + steps] = arrays[tokens][source]
            answer_at = begins
            begins = begins + count + 1
        marks = np.zeros(at[-1], np.uint8)
        position = np.full(len(data.part), -1, np.int64)
        position[rows] = np.arange(len(rows))
        marked = position[arrays[f"{tokens}_marks_rows"]]
        token = arrays[f"{tokens}_marks_places"]
        inside = marked >= 0
        inside[inside] &= token[inside] < answer[marked[inside]]
        marks[answer_at[marked[inside]] + token[inside]] = 1
        # A wrong word that was cut off is no longer known: the rest of the answer may be right.
        self.known = data.known[rows] & ((data.label[rows] >= 0.5) | _any_in_row(marks, at))
        self.rows, self.shape, self.device = rows, shape, device
        self.flat = torch.from_numpy(sequence).to(device)
        self.marks = torch.from_numpy(marks).to(device)
        self.at = torch.from_numpy(at).to(device)
        self.count = torch.from_numpy(self.lengths).to(device)

    def batch(self, chosen: np.ndarray) -> tuple[Tensor, Tensor]:
        """Padded ids and marks of rows (positions in `rows`); lengths are rounded up to eights."""
        longest = -(-int(self.lengths[chosen].max()) // 8) * 8
        picked = torch.from_numpy(chosen).to(self.device, non_blocking=True)
        places = torch.arange(longest, device=self.device)
        valid = places < self.count[picked][:, None]
        index = torch.where(valid, self.at[picked][:, None] + places, 0)
        ids = torch.where(valid, self.flat[index].long(), self.shape.pad)
        return ids, torch.where(valid, self.marks[index], 0)

    def batches(
        self, chosen: np.ndarray, tokens: int, chance: np.random.Generator | None = None
    ) -> list[np.ndarray]:
        """Batches of at most `tokens` tokens: shuffled where `chance` is given, else by length."""
        batches: list[np.ndarray] = []
        order = chosen if chance is None else chance.permutation(chosen)
        window = max(1, len(order)) if chance is None else WINDOW
        for first in range(0, len(order), window):
            near = order[first : first + window]
            near = near[np.argsort(self.lengths[near], kind="stable")]
            while len(near):
                longest = -(-self.lengths[near[-1]] // 8) * 8
                size = max(2, tokens // int(longest))
                batches.append(near[-size:])
                near = near[:-size]
        if chance is not None:
            chance.shuffle(batches)
        return batches


def _any_in_row(marks: np.ndarray, at: np.ndarray) -> np.ndarray:
    total = np.concatenate([[0], np.cumsum(marks, dtype=np.int64)])
    more: np.ndarray = total[at[1:]] > total[at[:-1]]
    return more
