"""Train what recognises frames around answers: `python -m recipes.frames [OUT]`, a minute.

Frames are what wrappings written by hand have besides the answer (`training-data/frames.toml` and
`encoder/wrappings.toml`, filled with answers of the labelled rows), and the lines and fields of
`training-data/frames.toml`. Contents are the parts of the labelled rows' own answers, and of rows
whose answers read like frames (`training-data/frame-like.jsonl.zst`). Real answers hold frames as
well: those that a first fit finds likely are left out of the second.
"""

from __future__ import annotations

import collections
import os
import random
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from markscheme.manifests import write_manifest
from markscheme.text import frames
from markscheme.text.parts import parts
from recipes.encoder.edits import Wrapper
from recipes.labelled import DATA, labelled, rows_of

SEED = 3
FILLED = 12
"""Answers that each wrapping is filled with."""
ANSWERS = 12_000
"""Answers of the labelled rows, a third of them short."""
SHORT = 60
WRITTEN, FRAME_LIKE = 3.0, 2.0
"""Weights of written lines, of which each is there once, and of contents that read like frames."""
STRENGTH = 1.0
"""The inverse of the penalty on squared weights."""


SEVERAL = 3
"""Wrappings or written lines that have a word which frames are known to have."""


class Piece(NamedTuple):
    """A piece of a text, whether it is a frame, and what it was written as."""

    kind: frames.Kind
    text: str
    question: str
    name: str
    frame: bool
    weight: float = 1.0
    source: str = ""


def filled(text: str, question: str, answer: str) -> Iterator[Piece]:
    """The pieces of a wrapping with an answer in it."""
    for part in parts(text):
        place = part.text.find(answer)
        if place < 0 and (part.text not in answer or len(part.text) < 3):
            yield Piece("part", part.text, question, part.name, frame=True)
        if place < 0:
            continue
        lead = part.text[:place].rstrip("\"“‘'( ")
        tail = part.text[place + len(answer) :].strip()
        led, tailed = re.search(r"\w", lead), len(re.findall(r"\w+", tail)) > 1
        if part.name:
            yield Piece("name", part.name, question, "", frame=True)
        if led:
            yield Piece("lead", lead, question, "", frame=True)
        if tailed:
            yield Piece("tail", tail, question, "", frame=True)
        if not (led or tailed):
            yield Piece("part", part.text, question, part.name, frame=False)


def contents(answer: str, question: str, weight: float = 1.0) -> Iterator[Piece]:
    """The pieces of an answer, none of them a frame."""
    for part in parts(answer):
        yield Piece("part", part.text, question, part.name, frame=False, weight=weight)
        if part.name:
            yield Piece("name", part.name, question, "", frame=False, weight=weight)
        for kind, cuts, most in (("lead", frames.leads, 3), ("tail", frames.tails, 2)):
            for lost, _ in list(cuts(part.text))[-most:]:
                yield Piece(kind, lost, question, "", frame=False, weight=weight)


def written(chance: random.Random, rows: list[dict[str, Any]]) -> Iterator[Piece]:
    """Pieces of the files that were written for this, with answers and questions of rows."""
    wrapper = Wrapper()
    older = [one for one in wrapper.wrappings if {"any", "en"} & {*one.get("languages", ["en"])}]
    for wrapping in (*wrapper.whole, *older):
        for _ in range(FILLED):
            row = chance.choice(rows)
            question, answer = row["question"], row["answer"].strip()
            text = (
                wrapper.fill_whole(wrapping, question, answer)
                if "text" in wrapping
                else wrapper.fill(wrapping, question, answer, chance)
            )
            source = wrapping.get("text") or wrapping["name"]
            yield from (one._replace(source=source) for one in filled(text, question, answer))
    table = tomllib.loads((DATA / "frames.toml").read_text("utf-8"))
    lines = table["lines"]
    for line in lines["whole"]:
        question = chance.choice(rows)["question"]
        for part in parts(line):
            yield Piece("part", part.text, question, part.name, True, WRITTEN, line)
    for kind in ("lead", "tail"):
        for line in lines[kind]:
            question = chance.choice(rows)["question"]
            yield Piece(kind, line, question, "", True, WRITTEN, line)
    for line in lines["rivals"]:
        question = chance.choice(rows)["question"]
        yield Piece("tail", line, question, "", False, WRITTEN, line)
        yield Piece("part", line.strip("()[],;– "), question, "", False, WRITTEN, line)
    for frame in (True, False):
        for name, value in table["fields"]["frames" if frame else "contents"]:
            question = chance.choice(rows)["question"]
            yield Piece("part", value, question, name, frame, WRITTEN, value)


def pieces(data: Path) -> list[Piece]:
    """All pieces to learn from."""
    chance = random.Random(SEED)
    rows = labelled(data).filter(pl.col("part") == "train", pl.col("language") == "en")
    short = pl.col("answer").str.len_chars().is_between(1, SHORT)
    few = rows.filter(short).sample(2 * ANSWERS // 3, seed=SEED).to_dicts()
    long = rows.filter(~short).sample(2 * ANSWERS // 3, seed=SEED).to_dicts()
    found = [*written(chance, few)]
    for row in (*long, *few[: ANSWERS // 3]):
        found += contents(row["answer"] or "", row["question"])
    for row in rows_of(DATA / "frame-like.jsonl.zst"):
        found += contents(row["answer"], row["question"], FRAME_LIKE)
    return found


def known_words(found: list[Piece]) -> np.ndarray[Any, Any]:
    """For each place of a weight, whether words of several wrappings have it, shape (BUCKETS,)."""
    sources = collections.defaultdict(set)
    for one in found:
        if one.frame:
            both = ("", one.text) if one.kind == "name" else (one.text, one.name)
            for place in frames.places(*both):
                sources[place].add(one.source)
    known = np.zeros(frames.BUCKETS, np.bool_)
    known[[place for place, several in sources.items() if len(several) >= SEVERAL]] = True
    return known


def fit(found: list[Piece], known: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], float]:
    """Weights and bias of logistic regression, on all but the frames within contents."""
    listed = known.tolist()
    places = [frames.features(one.kind, one.text, one.question, listed, one.name) for one in found]
    ends = np.cumsum([0, *map(len, places)])
    columns = np.concatenate(places)
    inputs = csr_matrix((np.ones(len(columns)), columns, ends), (len(found), frames.BUCKETS))
    wanted = np.array([one.frame for one in found])
    weights = np.array([one.weight for one in found])
    use = np.ones(len(found), np.bool_)
    for _ in range(2):
        model = LogisticRegression(C=STRENGTH, solver="liblinear", random_state=SEED)
        model.fit(inputs[use], wanted[use], weights[use])
        likely = model.decision_function(inputs) > 0
        use = wanted | ~likely | (weights != 1)
    print(f"{len(found):,} pieces, {wanted.mean():.1%} frames, {(~use).sum():,} left out")
    return model.coef_[0], float(model.intercept_[0])


def main(out: Path) -> None:
    """Write the weights."""
    found = pieces(Path(os.environ["MARKSCHEME_DATA"]))
    known = known_words(found)
    weights, bias = fit(found, known)
    np.savez_compressed(
        out,
        weights=weights.astype(np.float16),
        known=np.packbits(known),
        bias=np.float32(bias),
    )
    if out == frames.WEIGHTS:
        write_manifest(out.parent, [out.name])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else frames.WEIGHTS)
