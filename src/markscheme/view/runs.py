"""The runs of a folder: what they say, how far they have got, and verdicts that people add."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import orjson
import polars as pl

from markscheme.engine import RunFolder
from markscheme.errors import DataError, RunError
from markscheme.tables import replace_file

State = Literal["done", "running", "stopped", "unreadable"]

_DEPTH = 3
"""How deep below the folder runs are looked for."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run as the index shows it.

    Attributes:
        name: its place below the folder, which is its address too.
        state: `running` where a process holds the run, `stopped` where none does and it is not
            done, `unreadable` where its files are none of ours (see `problem`).
        changed: when it was last written to, in seconds since 1970.
        judges: names. answers: how many; None while it is not done.
        figures: a record per judge and system, as `summary.json` holds them.
    """

    name: str
    path: Path
    state: State
    changed: float
    judges: Sequence[str] = ()
    answers: int | None = None
    figures: Sequence[dict[str, Any]] = field(default=(), repr=False)
    command: str | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run has got, from its finished pieces.

    Attributes:
        judged: judgments that are on disk, by judge.
        answers: answers that have been read so far; what is still to come is not known.
        accepted: share of verdicts so far that accept (0 to 1), by judge; None without verdicts.
        cost_usd: spent so far; None where no judge costs anything.
        rate: judgments a second between the first piece and the last; None for a single one.
        seconds: since the last piece.
    """

    state: State
    answers: int
    judged: dict[str, int]
    accepted: dict[str, float | None]
    cost_usd: float | None
    rate: float | None
    seconds: float | None


def runs_of(folder: str | Path) -> list[Run]:
    """Every run in a folder, or the folder itself where it is one; the latest first.

    Raises:
        RunError: there is no such folder.
    """
    top = Path(folder)
    if not top.is_dir():
        raise RunError(f"there is no folder {top}; 'markscheme judge FILE -o {top}/NAME' makes one")
    if (top / "run.json").is_file():
        return [_run(top, top.resolve().name)]
    found = []
    layer = [top]
    for _ in range(_DEPTH):
        below = [
            each
            for place in layer
            for each in sorted(place.iterdir())
            if each.is_dir() and not each.is_symlink() and not each.name.startswith(".")
        ]
        found += [each for each in below if (each / "run.json").is_file()]
        layer = [each for each in below if each not in found]
    runs = [_run(each, each.relative_to(top).as_posix()) for each in found]
    return sorted(runs, key=lambda run: -run.changed)


def _run(path: Path, name: str) -> Run:
    try:
        plan = orjson.loads((path / "run.json").read_bytes())
        judges = [str(one["name"]) for one in plan["judges"]]
        if plan["state"] != "done":
            return Run(
                name=name, path=path, state=_going(path), changed=_changed(path), judges=judges,
                command=plan.get("command"),
            )  # fmt: skip
        summary = orjson.loads((path / "summary.json").read_bytes())
        return Run(
            name=name, path=path, state="done", changed=_changed(path), judges=judges,
            answers=int(summary["answers"]["rows"]), figures=summary["figures"],
            command=plan.get("command"),
        )  # fmt: skip
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        return Run(name=name, path=path, state="unreadable", changed=_changed(path),
                   problem=f"{type(error).__name__}: {error}")  # fmt: skip


def _changed(path: Path) -> float:
    """When a run was last written to: its plan, or its latest piece."""
    places = [path / "run.json", path / "parts"]
    return max((place.stat().st_mtime for place in places if place.exists()), default=0.0)


def _going(path: Path) -> State:
    return "running" if RunFolder(path).is_held() else "stopped"


def progress(run: Run) -> Progress:
    """How far a run has got that is not done."""
    parts = run.path / "parts"
    judged = dict.fromkeys(run.judges, 0)
    accepted: dict[str, float | None] = dict.fromkeys(run.judges)
    cost: float | None = None
    written: list[float] = []
    for at, judge in enumerate(run.judges):
        pieces = [
            *sorted(parts.glob(f"judgments-*-{at:03d}.parquet")),
            *sorted(parts.glob(f"chunk-*-{at:03d}-*.parquet")),
        ]
        found = [one for piece in pieces if (one := _piece(piece)) is not None]
        if not found:
            continue
        written += [time for *_, time in found]
        rows, yes, verdicts, spent, _ = zip(*found, strict=True)
        judged[judge] = sum(rows)
        accepted[judge] = sum(yes) / sum(verdicts) if sum(verdicts) else None
        known = [one for one in spent if one is not None]
        if known:
            cost = (cost or 0.0) + sum(known)
    answers = [one[0] for piece in parts.glob("answers-*.parquet")
               if (one := _piece(piece, verdicts=False)) is not None]  # fmt: skip
    took = max(written) - min(written) if len(written) > 1 else 0.0
    return Progress(
        state=_going(run.path),
        answers=sum(answers),
        judged=judged,
        accepted=accepted,
        cost_usd=cost,
        rate=sum(judged.values()) / took if took > 0 else None,
        seconds=max(0.0, time.time() - max(written)) if written else None,
    )


@lru_cache(maxsize=65_536)  # A piece is written once, and a page asks twice a second.
def _piece(
    path: Path, *, verdicts: bool = True
) -> tuple[int, int, int, float | None, float] | None:
    """Rows, acceptances, verdicts, cost and time of a piece; None where it has just gone."""
    try:
        table = pl.scan_parquet(path, glob=False)
        if not verdicts:
            return int(table.select(pl.len()).collect().item()), 0, 0, None, path.stat().st_mtime
        row = table.select(
            pl.len().alias("rows"), yes=pl.col("verdict").sum(), known=pl.col("verdict").count(),
            cost=pl.col("cost_usd").sum(), priced=pl.col("cost_usd").count(),
        ).collect().row(0, named=True)  # fmt: skip
        spent = float(row["cost"]) if row["priced"] else None
        return int(row["rows"]), int(row["yes"]), int(row["known"]), spent, path.stat().st_mtime
    except (OSError, pl.exceptions.PolarsError):
        return None


# --- Verdicts that people give while they look at a run: labels in a file beside its folder -------


_LONGEST_COMMENT = 10_000


@dataclass(frozen=True, kw_only=True)
class Given:
    """A label as it was given: 1 for right, 0 for wrong, None for a comment alone."""

    label: int | None
    comment: str
    labelled_at: float


class RunLabels:
    """The labels of one run, in `RUN.labels.jsonl` next to its folder.

    The file has a row for each answer (`answer_id`, `label`, `comment`, `labelled_at`), is written
    whole each time, and is what `markscheme agree`, `estimate` and `report --labels` read.
    """

    def __init__(self, run: Path) -> None:
        place = run.resolve()
        self.path = place.with_name(f"{place.name}.labels.jsonl")
        self._lock = threading.Lock()

    def all(self) -> dict[str, Given]:
        """By answer id.

        Raises:
            DataError: the file is none of ours.
        """
        if not self.path.is_file():
            return {}
        found = {}
        for number, line in enumerate(self.path.read_bytes().splitlines(), start=1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
                label = None if row["label"] is None else float(row["label"])
                if label not in (0, 1, None):
                    raise ValueError(f"a label is 0, 1 or null, not {label:g}")
                found[str(row["answer_id"])] = Given(
                    label=None if label is None else int(label),
                    comment=str(row.get("comment") or ""),
                    labelled_at=float(row.get("labelled_at") or 0.0),
                )
            except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
                raise DataError(
                    f"{self.path}, line {number}: no label of the viewer ({error}); fix the line "
                    "or move the file away"
                ) from None
        return found

    def give(self, answer_id: str, label: int | None, comment: str = "") -> dict[str, Given]:
        """Keep a label or a comment, durably; with neither, what was there is taken back."""
        with self._lock:
            kept = self.all()
            if label is None and not comment.strip():
                kept.pop(answer_id, None)
            else:
                kept[answer_id] = Given(
                    label=label, comment=comment[:_LONGEST_COMMENT], labelled_at=time.time()
                )
            rows = (
                orjson.dumps({"answer_id": name, "label": one.label, "comment": one.comment,
                              "labelled_at": round(one.labelled_at, 3)})
                for name, one in kept.items()
            )  # fmt: skip
            replace_file(self.path, b"".join(row + b"\n" for row in rows))
            return kept


def with_given(answers: pl.DataFrame, given: Mapping[str, Given]) -> pl.DataFrame:
    """An answers table whose labels are those given, and else those that it had."""
    labelled: dict[str, Any] = {
        name: float(one.label) for name, one in given.items() if one.label is not None
    }
    if not labelled:
        return answers
    mine = pl.DataFrame(
        {"answer_id": list(labelled), "given": list(labelled.values())},
        schema={"answer_id": pl.String, "given": pl.Float64},
    )
    joined = answers.join(mine, on="answer_id", how="left", maintain_order="left")
    # Where somebody decided here, several annotators' labels of before no longer count.
    return joined.with_columns(
        label=pl.coalesce("given", "label"),
        annotator_labels=pl.when(pl.col("given").is_null()).then("annotator_labels"),
    ).drop("given")
