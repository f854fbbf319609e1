"""Edits to the pieces of an unfinished run by someone who knows the format."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl

from markscheme.analysis import verify
from markscheme.contract.grammar import parse_judge
from markscheme.engine.execute import apply
from markscheme.engine.local_run import RunReport, run_in_folder
from markscheme.engine.run_folder import DIGITS
from markscheme.errors import MarkschemeError
from markscheme.tables import AnswersReader, ReadOptions, mark_of
from run_damage import answers as answers_of_systems

JUDGES = ("exact_match", "token_f1")
KEY = "MARKSCHEME_SEAL_KEY"
NAMINGS = ("the name that it had", "the digest of the file", "the mark, made without the secret")
"""How an edited piece is named. The last is all that somebody can do who knows everything else."""


class StoppedError(Exception):
    """The run ends here."""


def source(path: Path, *, seed: int = 5) -> Path:
    """A file of 60 answers of three systems."""
    return answers_of_systems(path, 60, seed=seed, ids=True)


def judged(answers: Path, folder: Path, *, calls: int | None = None) -> RunReport:
    """A run in three batches; it is stopped at the call of a judge after so many."""
    left = [10_000 if calls is None else calls]

    def ask(judge: Any, items: pl.DataFrame, models: Any) -> pl.DataFrame:
        left[0] -= 1
        if left[0] < 0:
            raise StoppedError
        return apply(judge, items, models)

    judges = [parse_judge(name) for name in JUDGES]
    reader = AnswersReader([str(answers)], ReadOptions(batch_rows=20))
    with (
        patch("markscheme.engine.local_run._LARGE", 1),
        patch("markscheme.engine.stream.FIRST_CHUNK", 8),
        patch("markscheme.engine.stream.chunk_after", lambda *_: 8),
    ):
        return run_in_folder(reader, judges, folder, ask=ask)


def stopped(answers: Path, folder: Path) -> Path:
    """A run whose last piece is a chunk of the second batch."""
    with suppress(StoppedError):
        judged(answers, folder, calls=11)
    assert len(list(folder.glob("parts/judgments-*"))) == 3
    assert len(list(folder.glob("parts/chunk-*"))) == 2
    return folder


def verdicts(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "judgments.parquet").drop("seconds")


@dataclass(frozen=True)
class Runs:
    """An unfinished run, what comes of it, and other unfinished runs to take pieces from."""

    answers: Path
    kept: Path
    again: Path
    other: Path
    right: pl.DataFrame

    @classmethod
    def made(cls, folder: Path) -> Runs:
        answers, others = source(folder / "a.jsonl"), source(folder / "b.jsonl", seed=6)
        judged(answers, folder / "right")
        return cls(
            answers=answers,
            kept=stopped(answers, folder / "kept"),
            again=stopped(answers, folder / "again"),
            other=stopped(others, folder / "other"),
            right=verdicts(folder / "right"),
        )


def _pieces(folder: Path, pattern: str = "[jc]*") -> list[Path]:
    return sorted((folder / "parts").glob(f"{pattern}.parquet"))


def _split(file: Path) -> tuple[str, str]:
    """A piece's name, and how many pieces of the ledger were before it."""
    name, used, _ = file.stem.rsplit("-", 2)
    return name, used


def _put(folder: Path, name: str, frame: pl.DataFrame, naming: str, used: str = "000000") -> None:
    """Put a piece there under a name, in place of what has it."""
    old = _pieces(folder, f"{name}-{used}-*")
    ending = old[0].stem.rpartition("-")[2] if old else "0" * DIGITS
    for file in old:
        file.unlink()
    file = folder / "parts" / "edited"
    frame.write_parquet(file, compression="lz4", statistics=False)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if naming == NAMINGS[1]:
        ending = digest[:DIGITS]
    elif naming == NAMINGS[2]:
        ending = _mark(folder, name, int(used), digest)
    file.rename(file.with_name(f"{name}-{used}-{ending}.parquet"))


def _mark(folder: Path, name: str, used: int, digest: str) -> str:
    """The mark of a piece, by whoever does not have the secret."""
    plan = json.loads((folder / "run.json").read_text())
    number = re.search(r"\d{6}", name)
    place = name.split("-")
    (chain,) = (file.name for file in folder.glob(f"parts/input-{place[1]}-*")) if number else ("",)
    judge = plan["judges"][int(place[2])]["signature"]
    bound = {"rows": chain.rpartition("-")[2], "judge": judge}
    whole = {"run": plan["run"]["id"], "piece": name, "ledger": used, **bound, "sha256": digest}
    with patch.dict(os.environ):
        os.environ.pop(KEY, None)
        return mark_of(whole)[:DIGITS]


Change = Callable[[random.Random, pl.DataFrame], pl.DataFrame]


def _edited(change: Change) -> Callable[[random.Random, Runs, Path, str], None]:
    def edit(chance: random.Random, runs: Runs, folder: Path, naming: str) -> None:
        file = chance.choice(_pieces(folder))
        _put(folder, _split(file)[0], change(chance, pl.read_parquet(file)), naming)

    return edit


def _verdict(chance: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    row = chance.randrange(frame.height)
    return frame.with_columns(
        verdict=pl.when(pl.int_range(pl.len()) == row).then(~pl.col("verdict")).otherwise("verdict")
    )


def _score(chance: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(score=pl.lit(chance.random()))


def _cell(chance: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    name = chance.choice(["status", "explanation", "score", "verdict", "raw", "relation"])
    values = {"status": "failed", "score": 0.125, "verdict": None, "relation": None}
    return frame.with_columns(pl.lit(values.get(name, "x")).cast(frame.schema[name]).alias(name))


def _order(chance: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.reverse() if chance.random() < 0.5 else frame[1:].vstack(frame[:1])


def _twice(chance: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    row = chance.randrange(frame.height)
    return pl.concat([frame[: row + 1], frame[row:]])


def _short(chance: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.head(chance.randrange(frame.height))


def _long(chance: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([frame] * chance.randint(2, 5))


def _columns(chance: random.Random, frame: pl.DataFrame) -> pl.DataFrame:
    name = chance.choice(frame.columns)
    changes = (
        frame.drop(name),
        frame.with_columns(pl.lit(7).alias(name)),
        frame.with_columns(added=pl.lit(1)),
    )
    return chance.choice(changes)


def _as_judge(chance: random.Random, runs: Runs, folder: Path, naming: str) -> None:
    """The pieces of one judge as another's, their columns changed as well or not."""
    file = chance.choice(_pieces(folder, "judgments-000000-*"))
    name, frame = _split(file)[0], pl.read_parquet(file)
    place = 1 - int(name[-3:])
    plan = json.loads((folder / "run.json").read_text())["judges"][place]
    if chance.random() < 0.5:
        frame = frame.with_columns(judge=pl.lit(plan["name"]), signature=pl.lit(plan["signature"]))
    _put(folder, f"{name[:-3]}{place:03d}", frame, naming)


def _as_batch(chance: random.Random, runs: Runs, folder: Path, naming: str) -> None:
    """The pieces of one batch as another's, with its ids or its own."""
    sides = [f"judgments-00000{number}-000" for number in (0, 1)]
    chance.shuffle(sides)
    one, other = (pl.read_parquet(_pieces(folder, f"{side}-*")[0]) for side in sides)
    if chance.random() < 0.5:
        one = one.with_columns(other["answer_id"], other["system"])
    _put(folder, sides[1], one, naming)


def _swapped(chance: random.Random, runs: Runs, folder: Path, naming: str) -> None:
    """Two pieces in each other's place."""
    one, other = chance.sample(_pieces(folder), 2)
    frames = pl.read_parquet(one), pl.read_parquet(other)
    _put(folder, _split(one)[0], frames[1], naming)
    _put(folder, _split(other)[0], frames[0], naming)


def _of_run(owner: str) -> Callable[[random.Random, Runs, Path, str], None]:
    def edit(chance: random.Random, runs: Runs, folder: Path, naming: str) -> None:
        file = chance.choice(_pieces(getattr(runs, owner)))
        name = _split(file)[0]
        if naming == NAMINGS[0]:
            for old in _pieces(folder, f"{name}-*"):
                old.unlink()
            shutil.copy(file, folder / "parts" / file.name)
        else:
            _put(folder, name, pl.read_parquet(file), naming)

    return edit


def _renamed(chance: random.Random, runs: Runs, folder: Path, naming: str) -> None:
    """A piece under another name: other batch, judge, start, ledger; its content as it was."""
    file = chance.choice(_pieces(folder))
    name, used = _split(file)
    kind, batch, judge, *start = name.split("-")
    match chance.randrange(4):
        case 0:
            batch = f"{chance.randrange(3):06d}"
        case 1:
            judge = f"{chance.randrange(2):03d}"
        case 2:
            kind, start = ("judgments", []) if start else ("chunk", ["00000000"])
        case _:
            used = f"{chance.randrange(1, 4):06d}"
    name = "-".join((kind, batch, judge, *start))
    if naming == NAMINGS[2] and not list(folder.glob(f"parts/input-{batch}-*")):
        naming = NAMINGS[1]
    frame, ending = pl.read_parquet(file), file.stem.rpartition("-")[2]
    file.unlink()
    if naming == NAMINGS[0]:
        frame.write_parquet(file.with_name(f"{name}-{used}-{ending}.parquet"))
    else:
        _put(folder, name, frame, naming, used)


def _second(chance: random.Random, runs: Runs, folder: Path, naming: str) -> None:
    """An edited copy next to the piece, which is as it was."""
    file = chance.choice(_pieces(folder))
    content = file.read_bytes()
    _put(folder, _split(file)[0], _score(chance, pl.read_parquet(file)), naming)
    if not file.exists():
        file.write_bytes(content)


def _id(chance: random.Random, runs: Runs, folder: Path, naming: str) -> None:
    """The id of another run in `run.json`, and its pieces among those that are there."""
    plan = json.loads((folder / "run.json").read_text())
    other = json.loads((runs.again / "run.json").read_text())["run"]
    plan["run"] = {**other, "mark": "0" * 64} if chance.random() < 0.3 else other
    (folder / "run.json").write_text(json.dumps(plan))
    for file in chance.sample(_pieces(runs.again), 2):
        shutil.copy(file, folder / "parts" / file.name)


CHANGES: dict[str, Change] = {
    "a verdict changed": _verdict,
    "scores changed": _score,
    "another column changed": _cell,
    "rows in another order": _order,
    "a row twice": _twice,
    "shortened": _short,
    "extended": _long,
    "columns missing, added or of another type": _columns,
}
EDITS: dict[str, Callable[[random.Random, Runs, Path, str], None]] = {
    **{name: _edited(change) for name, change in CHANGES.items()},
    "of another judge": _as_judge,
    "of another batch": _as_batch,
    "two pieces swapped": _swapped,
    "of another run on the same answers": _of_run("again"),
    "of another run on other answers": _of_run("other"),
    "the same content under another name": _renamed,
    "an edited copy next to the piece": _second,
    "the id of another run": _id,
}


def attempt(seed: int, edit: str, naming: str, runs: Runs, work: Path) -> str:
    """Edit a copy of an unfinished run, and give its command again.

    Returns:
        `refused` (one error), `judged again`, `harmless` (the right result, though nothing was
        noticed) or `accepted` (another result). An exception that is none of ours goes through.
    """
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(runs.kept, work)
    EDITS[edit](random.Random(seed), runs, work, naming)
    try:
        report = judged(runs.answers, work)
        passed = bool(verify(work))
    except MarkschemeError:
        return "refused"
    if not passed or not verdicts(work).equals(runs.right):
        return "accepted"
    return "judged again" if report.damaged else "harmless"
