"""The runs of a folder: what they say, how far they have got, and verdicts that people add."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import orjson
import polars as pl

from markscheme.engine import RunFolder
from markscheme.errors import KEY_VARIABLE, DataError, RunError, signature_wanted
from markscheme.results import labels_of
from markscheme.tables import (
    check_lines,
    is_binary,
    load_labels,
    read_json,
    replace_file,
    sealed_lines,
    without_secrets,
)

State = Literal["done", "running", "stopped", "unreadable"]

_DEPTH = 3
"""How deep below the folder runs are looked for."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run as the index shows it.

    Attributes:
        name: its place below the folder, which is its address too.
        state: `running` where a process holds the run, `stopped` where none does and it is not
            done, `unreadable` where its files are none of ours, or the folder cannot be read (see
            `problem`).
        changed: when it was last written to, in seconds since 1970; 0 if that is not known.
        judges: names. answers: how many; None while it is not done.
        figures: a record per judge and system, as `summary.json` holds them.
    """

    name: str
    path: Path
    state: State
    changed: float = 0.0
    judges: Sequence[str] = ()
    answers: int | None = None
    figures: Sequence[dict[str, Any]] = field(default=(), repr=False)
    command: str | None = None
    problem: str = ""


def runs_of(folder: str | Path) -> list[Run]:
    """Every run in a folder, or the folder itself where it is one; the latest first.

    Raises:
        RunError: there is no such folder.
    """
    top = Path(folder)
    if not top.is_dir():
        shown = without_secrets(top)
        raise RunError(
            f"there is no folder {shown}; 'markscheme judge FILE -o {shown}/NAME' makes one"
        )
    runs: list[Run] = []
    layer = [top]
    for depth in range(_DEPTH + 1):
        below: list[Path] = []
        for place in layer:
            name = top.resolve().name if place == top else place.relative_to(top).as_posix()
            try:
                if (place / "run.json").is_file():
                    runs.append(_run(place, name))
                elif depth < _DEPTH:
                    below += _folders(place)
            except OSError as error:
                runs.append(_unreadable(Run(name=name, path=place, state="unreadable"), error))
        layer = below
    return sorted(runs, key=lambda run: -run.changed)


def _folders(place: Path) -> list[Path]:
    return [
        each
        for each in sorted(place.iterdir())
        if each.is_dir() and not each.is_symlink() and not each.name.startswith(".")
    ]


def _run(path: Path, name: str) -> Run:
    folder = RunFolder(path)
    # When it was last written to: its plan, or its latest piece.
    written = [file.stat().st_mtime for file in (path / "run.json", folder.parts) if file.exists()]
    run = Run(name=name, path=path, state="unreadable", changed=max(written, default=0.0))
    try:
        plan, state = folder.read_plan() or {}, folder.state()
        run = replace(run, judges=[str(one["name"]) for one in plan["judges"]])
        run = replace(run, state=state, command=plan.get("command"))
        if state != "done":
            return run
        summary = read_json(path / "summary.json")
        return replace(run, answers=int(summary["answers"]["rows"]), figures=summary["figures"])
    except (RunError, OSError, KeyError, TypeError, ValueError) as error:
        return _unreadable(run, error)


def _unreadable(run: Run, error: Exception) -> Run:
    return replace(run, state="unreadable", problem=f"{type(error).__name__}: {error}")


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

    The file has a row for each label that was made (`answer_id`, `label`, `comment`, `labelled_at`,
    `seal`), of which an answer's last one counts, is written whole each time, and is what
    `markscheme agree`, `estimate` and `report --labels` read.
    """

    def __init__(self, run: Path) -> None:
        place = run.resolve()
        self.path = place.with_name(f"{place.name}.labels.jsonl")
        self._lock = threading.Lock()

    def all(self) -> dict[str, Given]:
        """The last of each answer, by its id; without those that were taken back.

        Raises:
            DataError: the file is none of ours.
            RunError: it was changed, or has no seal and a secret is set.
        """
        return _last_of(self._made())

    def _made(self) -> list[tuple[str, Given]]:
        """All in their order, with the answers' ids."""
        if not self.path.is_file():
            return []
        found = []
        for number, line in enumerate(self.path.read_bytes().splitlines(), start=1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
                label = None if row["label"] is None else float(row["label"])
                if label not in (0, 1, None):
                    raise ValueError(f"a label is 0, 1 or null, not {label:g}")
                given = Given(
                    label=None if label is None else int(label),
                    comment=str(row.get("comment") or ""),
                    labelled_at=float(row.get("labelled_at") or 0.0),
                )
                found.append((str(row["answer_id"]), given))
            except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
                raise DataError(
                    f"{self.path}, line {number}: no label of the viewer ({error}); fix the line "
                    "or move the file away"
                ) from None
        if not check_lines(self.path) and found and signature_wanted():
            raise RunError(
                f"{self.path} has no seal, and {KEY_VARIABLE} is set; unset it, or move the file "
                "away and label again"
            )
        return found

    def give(self, answer_id: str, label: int | None, comment: str = "") -> dict[str, Given]:
        """Add a label or a comment, durably; with neither, what was there is taken back."""
        given = Given(
            label=label,
            comment=comment[:_LONGEST_COMMENT] if comment.strip() else "",
            labelled_at=round(time.time(), 3),
        )
        with self._lock:
            made = [*self._made(), (answer_id, given)]
            rows = [{"answer_id": name, **vars(one)} for name, one in made]
            replace_file(self.path, sealed_lines(rows))
        return _last_of(made)


def _last_of(made: Sequence[tuple[str, Given]]) -> dict[str, Given]:
    last = dict(made)
    return {name: one for name, one in last.items() if one.label is not None or one.comment}


def label_rows(given: Mapping[str, Given]) -> list[dict[str, Any]]:
    """The labels among what was given, as `load_labels` and the statistics read them."""
    return [
        {"answer_id": name, "label": one.label}
        for name, one in given.items()
        if one.label is not None
    ]


def grades_of(answers: pl.DataFrame) -> list[float]:
    """The different labels that came with answers, where these are grades; else none."""
    labels = labels_of(answers.lazy())
    return [] if is_binary(labels) else labels.drop_nulls().unique().sort().to_list()


def with_given(
    answers: pl.DataFrame, given: Mapping[str, Given], positive_from: float | None = None
) -> pl.DataFrame:
    """An answers table whose labels are those given, and else those that it had, as verdicts.

    Grades from `positive_from` upwards accept an answer; without it they are left out.
    """
    if grades_of(answers):
        cut = pl.lit(positive_from, dtype=pl.Float64)
        several = pl.col("annotator_labels").list.eval((pl.element() >= cut).cast(pl.Float64))
        answers = answers.with_columns(
            label=(pl.col("label") >= cut).cast(pl.Float64),
            annotator_labels=pl.when(cut.is_not_null()).then(several),
        )
    rows = label_rows(given)
    if not rows:
        return answers
    mine = load_labels(rows).rename({"label": "given"})
    joined = answers.join(mine, on="answer_id", how="left", maintain_order="left")
    # Where somebody decided here, several annotators' labels of before no longer count.
    return joined.with_columns(
        label=pl.coalesce("given", "label"),
        annotator_labels=pl.when(pl.col("given").is_null()).then("annotator_labels"),
    ).drop("given")
