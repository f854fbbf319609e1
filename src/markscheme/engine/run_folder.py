"""A run's folder: what it holds, how files get there whole, and who may write to it."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shlex
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

import polars as pl

from markscheme.errors import KEY_VARIABLE, DataError, RunError
from markscheme.flags import Cleaning
from markscheme.tables import (
    MANIFEST,
    OUTPUTS,
    PART,
    PLAN,
    check_named,
    file_digest,
    is_address,
    json_bytes,
    manifest_bytes,
    mark_of,
    name_without_endings,
    read_json,
    read_parquet,
    scan_parquet,
    seal_of,
    whole_file,
    without_secrets,
)

if TYPE_CHECKING:
    from markscheme.contract import Judge, ModelSource
    from markscheme.tables import ReadOptions


FORMAT = 2
"""Version of the folder's layout; a folder with another is refused, never guessed at."""

STATES = ("running", "done")
GROUP_ROWS = 262_144
"""Rows of a row group of the final tables."""

DIGITS = 32
"""Hex digits of a mark in a piece's name."""

_PIECE = re.compile(rf"(?P<name>[a-z]+(?:-\d+)+)-(?P<used>\d{{6}})-(?P<mark>[0-9a-f]{{{DIGITS}}})")
"""The name of a piece's file. Those of 0.1.0 carry a digest alone, and are never taken."""

_BATCH = re.compile(r"(?:answers|judgments|chunk|input)-(\d{6})")
"""How the name of what is of one batch begins; the batch's number."""
_REFUSED = "rows-refused"
"""The file that says that a run stopped because of rows in its input."""

State = Literal["done", "running", "stopped"]


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

    @property
    def judgments(self) -> int:
        """Those on disk, of all judges."""
        return sum(self.judged.values())


class _Counts(NamedTuple):
    """What a piece holds, and when it was written."""

    rows: int
    accepted: int
    verdicts: int
    cost_usd: float | None
    written: float


class Bound(NamedTuple):
    """What a piece belongs to, besides the run and its name.

    Attributes:
        rows: the mark of all answers up to those of its batch, ids included.
        judge: the judge's signature.
    """

    rows: str = ""
    judge: str = ""


class RunFolder:
    """The files of one run.

    run.json            what is run on what: format, judges with signatures, options, state,
                        the command if one was typed
    answers.parquet     the answers as given
    judgments.parquet   the judgments, with the system of each
    summary.json        the figures         summary.md   the same as a Markdown table
    bad_rows.jsonl      rows that were skipped, labels that could not be read
    manifest.json       digests of all of these; run.json has the manifest's own
    parts/              finished pieces of an unfinished run
    """

    def __init__(self, path: str | Path) -> None:
        check_named(str(path), "folder")
        if is_address(path):
            raise RunError(
                f"{without_secrets(path)} is an address, and this run writes to a folder here; "
                "'markscheme judge --engine ray' writes elsewhere"
            )
        self.path: Path = Path(path)
        self.parts: Path = self.path / "parts"
        self._writer: ThreadPoolExecutor | None = None
        self._writing: list[Future[None]] = []
        self.damaged: list[str] = []
        """Pieces and files that were not as they had been written, and are made again."""
        self.run: str = ""
        """The id of the run: its pieces are bound to it."""
        self.used: int = 0
        """Pieces of the ledger so far; a piece is bound to those before it."""
        self._made: list[Path] = []
        self._listed: dict[str, list[Path]] = {}
        self._whole_pieces: dict[str, tuple[Path, str]] = {}

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from writing here. The lock falls with the process, however it ends.

        Raises:
            RunError: the folder cannot be made or written, or another run holds it.
        """
        try:
            self._made = [one for one in (self.path, *self.path.parents) if not one.exists()]
            self.path.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.fdopen(os.open(self.path / ".lock", flags, 0o666), "rb")
            if self.parts.is_symlink():
                raise OSError(errno.ELOOP, "parts/ is a symbolic link")
        except OSError as error:
            why = "it is a symbolic link" if error.errno == errno.ELOOP else error.strerror
            raise RunError(f"cannot write to {error.filename or self.path}: {why}") from None
        with handle:
            # Whoever looks whether it is held holds it for a moment too (`is_held`).
            if not (_lock(handle, fcntl.LOCK_EX) or _lock(handle, fcntl.LOCK_EX, after=0.2)):
                raise RunError(
                    f"another run is writing to {self.path}; wait for it, or choose another --out"
                )
            yield

    def is_held(self) -> bool:
        """Whether a process is writing here; False where there is no lock to try."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(self.path / ".lock", flags), "rb") as handle:
                return not _lock(handle, fcntl.LOCK_SH)
        except OSError:
            return False

    def state(self) -> State:
        """Whether the run is done, and else whether a process is at it.

        Raises:
            RunError: as `read_plan`.
        """
        plan = self.read_plan()
        if plan is not None and plan["state"] == "done":
            return "done"
        return "running" if self.is_held() else "stopped"

    def progress(self) -> Progress:
        """How far the run has got, by its pieces.

        Raises:
            RunError: as `read_plan`.
        """
        plan = self.read_plan() or {"judges": []}
        pieces = {
            # Of `chunk-` and `judgments-`; those of the ledger have a judge's number too.
            str(judge["name"]): self._counts(f"[cj]*-*-{place:03d}-*")
            for place, judge in enumerate(plan["judges"])
        }
        judged = {name: sum(one.rows for one in counts) for name, counts in pieces.items()}
        every = [one for counts in pieces.values() for one in counts]
        costs = [one.cost_usd for one in every if one.cost_usd is not None]
        written = sorted(one.written for one in every)
        took = written[-1] - written[0] if written else 0.0
        return Progress(
            state=self.state(),
            answers=sum(one.rows for one in self._counts("answers-*")),
            judged=judged,
            accepted={
                name: sum(one.accepted for one in counts) / verdicts
                if (verdicts := sum(one.verdicts for one in counts))
                else None
                for name, counts in pieces.items()
            },
            cost_usd=sum(costs) if costs else None,
            rate=sum(judged.values()) / took if took > 0 else None,
            seconds=max(0.0, time.time() - written[-1]) if written else None,
        )

    def _counts(self, pattern: str) -> list[_Counts]:
        return [each for each in map(_counts_of, self.parts.glob(f"{pattern}.parquet")) if each]

    def read_plan(self) -> dict[str, Any] | None:
        """What an earlier run wrote here, or None.

        Raises:
            RunError: the folder is of another layout, or holds something else.
        """
        file = self.path / "run.json"
        if not file.exists():
            check_unused((child.name for child in self.path.iterdir()), self.path)
            return None
        return checked_plan(read_json(file), file)

    def forget(self) -> None:
        """Leave no trace of a run that failed before it had judged anything, nor of its folders."""
        if not any(list(self.parts.glob(f"{kind}-*.parquet")) for kind in ("chunk", "judgments")):
            self.clear_parts()
            for name in ("run.json", ".lock"):
                (self.path / name).unlink(missing_ok=True)
            for folder in dict.fromkeys((self.path, *self._made)):
                with suppress(OSError):  # It holds something else.
                    folder.rmdir()

    def seal(self, plan: dict[str, Any], *, ledger: Iterable[str] = ()) -> None:
        """End the run: the manifest of its files, then `run.json`, which holds the manifest's."""
        files = {
            name: file_digest(self.path / name) for name in OUTPUTS if (self.path / name).is_file()
        }
        manifest = manifest_bytes(plan, files, ledger=ledger)
        self.write(MANIFEST, manifest)
        self.write_json("run.json", {**plan, "state": "done", **seal_of(manifest)})

    def write_json(self, name: str, value: Any) -> None:
        """Write JSON, whole or not at all."""
        self.write(name, json_bytes(value))

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all."""
        with self._whole(self.path / name) as temporary:
            temporary.write_bytes(content)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Pieces given within are all on disk at the end, whatever ends it."""
        try:
            self.parts.mkdir(exist_ok=True)
        except OSError as error:
            raise RunError(f"cannot write {self.parts}: {error.strerror}") from None
        with ThreadPoolExecutor(1, thread_name_prefix="writer") as self._writer:
            try:
                yield
            finally:
                self._wait(0)

    def write_part(
        self, name: str, frame: pl.DataFrame, bound: Bound, *, instead_of: Sequence[str] = ()
    ) -> None:
        """Write a finished piece, durably, behind the work that goes on.

        Its file is called after it and after the mark that binds it to the run. `instead_of` are
        names of pieces that this one makes needless; they go once it is on disk.
        """
        assert self._writer is not None, "pieces are written within writing()"
        self._wait(3)
        self._writing.append(
            self._writer.submit(self._write_part, name, frame, bound, self.used, instead_of)
        )

    def _write_part(
        self, name: str, frame: pl.DataFrame, bound: Bound, used: int, instead_of: Sequence[str]
    ) -> None:
        def named(target: Path, written: Path) -> Path:
            digest = _digest(written)
            file = target.with_name(f"{name}-{used:06d}-{self._mark(name, used, bound, digest)}")
            file = file.with_suffix(".parquet")
            self._whole_pieces[name] = file, digest
            return file

        with self._whole(self.parts / name, final=named) as temporary:
            frame.write_parquet(temporary, compression="lz4", statistics=False)
        for piece in (name, *instead_of):
            for file in self.parts.glob(f"{piece}-*.parquet"):
                if file != self._whole_pieces[name][0]:
                    file.unlink()

    def _mark(self, name: str, used: int, bound: Bound, digest: str) -> str:
        """What binds the content of a piece to its place in this run."""
        place = {"run": self.run, "piece": name, "ledger": used, **bound._asdict()}
        return mark_of({**place, "sha256": digest})[:DIGITS]

    def list_parts(self) -> None:
        """Look what pieces an earlier process left; what has not the name of one is removed."""
        for file in sorted(self.parts.glob("*.parquet")):
            named = _PIECE.fullmatch(file.stem)
            if named is None:
                self._refuse(file)
            else:
                self._listed.setdefault(named["name"], []).append(file)

    def accept_other_input(self) -> None:
        """Let the next run have other answers: this one stopped because of rows in its input."""
        with suppress(OSError):  # Then it asks for another folder.
            (self.parts / _REFUSED).touch()

    @property
    def accepts_other_input(self) -> bool:
        """Whether an earlier run stopped because of rows in its input."""
        return (self.parts / _REFUSED).exists()

    def remove_from(self, batch: int) -> None:
        """Remove what an earlier process left of this batch and of later ones."""
        for name in [*self._listed]:
            if (of := _BATCH.match(name)) and int(of[1]) >= batch:
                for file in self._listed.pop(name):
                    _remove(file)
        for mark in self.parts.glob("input-*"):
            if (of := _BATCH.match(mark.name)) and int(of[1]) >= batch:
                _remove(mark)

    def listed(self, prefix: str) -> list[str]:
        """Names of pieces that begin so, in order; whether they are this run's is not known yet."""
        return sorted(name for name in self._listed if name.startswith(prefix))

    def read_part(self, name: str, bound: Bound, schema: Mapping[str, Any]) -> pl.DataFrame | None:
        """A piece, if it is there and this run wrote it in this place; what is none is removed."""
        for file in self._listed.pop(name, ()):
            frame = self._read(file, name, bound)
            if frame is not None and frame.schema == pl.Schema(schema):
                return frame
            self._refuse(file)
        return None

    def _read(self, file: Path, name: str, bound: Bound) -> pl.DataFrame | None:
        named = _PIECE.fullmatch(file.stem)
        if named is None or file.is_symlink() or not file.is_file():
            return None
        used, digest = int(named["used"]), _digest(file)
        if used > self.used or named["mark"] != self._mark(name, used, bound, digest):
            return None
        self._whole_pieces[name] = file, digest
        try:
            return read_parquet(file)
        except DataError:  # Where no secret is set, anybody can bind anything.
            return None

    def refuse_part(self, name: str) -> None:
        """Remove a piece that is bound to its place but does not fit there."""
        self._refuse(self._whole_pieces.pop(name)[0])

    def _refuse(self, file: Path) -> None:
        self.damaged.append(re.sub(r"(-\d{6})?-[0-9a-f]+$", "", file.stem))
        _remove(file)

    def _wait(self, most: int) -> None:
        """Wait until at most `most` pieces are on their way, which bounds the memory they take."""
        while len(self._writing) > most:
            self._writing.pop(0).result()

    def join_parts(self, prefix: str, name: str) -> None:
        """Put the pieces whose names begin so, in order, together as one Parquet file.

        Raises:
            RunError: one was changed since it was written or read, or a file cannot be written.
        """
        pieces = [
            self._whole_pieces[one] for one in sorted(self._whole_pieces) if one.startswith(prefix)
        ]
        for file, digest in pieces:
            if file.is_symlink() or not file.is_file() or _digest(file) != digest:
                raise RunError(
                    f"{file} was changed during the run; the same command makes it again"
                )
        with self._whole(self.path / name) as temporary:
            scan_parquet([file for file, _ in pieces], grown=True).sink_parquet(
                temporary,
                compression="zstd",
                compression_level=1,
                row_group_size=GROUP_ROWS,  # else it depends on how threads happened to run
            )

    def clear_parts(self) -> None:
        """Remove the pieces, and what a killed process left half written."""
        for file in [*self.parts.glob("*"), *self.path.glob("*.part")]:
            _remove(file)
        if self.parts.exists():
            self.parts.rmdir()

    @contextmanager
    def _whole(
        self, target: Path, *, final: Callable[[Path, Path], Path] | None = None
    ) -> Iterator[Path]:
        """A place to write to that takes the target's name only once it is on disk.

        `final` makes the name from the target and what was written.
        """
        try:
            with whole_file(target, final=final) as temporary:
                yield temporary
        except (OSError, pl.exceptions.PolarsError) as error:
            reason = getattr(error, "strerror", None) or error
            raise RunError(
                f"cannot write {target}: {reason}; finished work is saved, and the same command "
                f"with --out {self.path} resumes there"
            ) from None


def _lock(handle: BinaryIO, kind: int, *, after: float = 0.0) -> bool:
    """Try to take a lock, `after` seconds from now; False where another process has it."""
    time.sleep(after)
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def check_unused(names: Iterable[str], folder: Path | str) -> None:
    """Raises RunError where a folder without a run holds what no run left there unfinished."""
    others = sorted(name for name in names if name not in ("", ".lock") and not name.endswith(PART))
    if others:
        raise RunError(
            f"{folder} is not a run's folder: it holds {', '.join(others[:5])}; choose a new --out"
        )


def checked_plan(plan: dict[str, Any], file: Path | str) -> dict[str, Any]:
    """What `run.json` holds, once it is seen to be a run's plan.

    Raises:
        RunError: it is none, or of a folder of another layout.
    """
    judges = plan.get("judges")
    listed = isinstance(judges, list) and all(isinstance(one, dict) for one in judges)
    if not listed or plan.get("state") not in STATES or not isinstance(plan.get("options"), dict):
        raise RunError(f"{file} is not the plan of a run; choose a new --out")
    if plan.get("format") != FORMAT:
        raise RunError(
            f"{file} has format {plan.get('format')!r}, this version writes {FORMAT}; "
            "choose a new --out"
        )
    return plan


@lru_cache(maxsize=65_536)  # A piece is written once, and the viewer asks twice a second.
def _counts_of(piece: Path) -> _Counts | None:
    """None where the piece has just gone."""
    try:
        schema = {"verdict": pl.Boolean, "cost_usd": pl.Float64}
        table = pl.scan_parquet(
            piece, glob=False, schema=schema, missing_columns="insert", extra_columns="ignore"
        )
        verdict, cost = pl.col("verdict"), pl.col("cost_usd")
        spent = pl.when(cost.count() > 0).then(cost.sum())
        row = table.select(
            pl.len(), verdict.sum(), verdict.count().alias("count"), spent.alias("c")
        )
        return _Counts._make((*row.collect().row(0), piece.stat().st_mtime))
    except (OSError, pl.exceptions.PolarsError):
        return None


def _digest(file: Path) -> str:
    return str(file_digest(file)["sha256"])


def _remove(file: Path) -> None:
    """Remove a file, or a folder that has no business here."""
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)


def run_of(plan: Mapping[str, Any] | None, folder: object) -> dict[str, str]:
    """What `run.json` says of a run whose pieces are bound to it: an id, and a mark of that.

    A new id where nothing is begun.

    Raises:
        RunError: it was begun with another secret, or its id was changed.
    """
    found = None if plan is None else plan.get("run")
    if found is None:
        name = uuid.uuid4().hex
        return {"id": name, "mark": mark_of({"run": name})}
    if isinstance(found, dict) and found.get("mark") == mark_of({"run": found.get("id")}):
        return found
    raise RunError(
        f"{folder} was begun with another {KEY_VARIABLE}, or without one where it is set now, or "
        f"{PLAN} was changed; set the one it was begun with, or choose another --out"
    )


def plan_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """In words, how two plans differ in what must be equal to resume a run; None if nowhere."""
    if old.get("engine") != new.get("engine"):
        return f"--engine {old['engine']}" if "engine" in old else "the local engine"
    before, now = old["judges"], new["judges"]
    names = [[str(one.get("name")) for one in judges] for judges in (before, now)]
    if names[0] != names[1]:
        return f"{', '.join(names[0])}, not {', '.join(names[1])}"
    if old["options"] != new["options"]:
        was, asked = (plan["options"].get("clean") for plan in (old, new))
        return f"--clean {was or 'none'}, not {asked or 'none'}"
    for one, other in zip(before, now, strict=True):
        if one != other:
            was, wanted = (_settings(str(judge.get("signature"))) for judge in (one, other))
            kept = ", ".join(part for part in was if part not in wanted) or "less"
            asked = ", ".join(part for part in wanted if part not in was) or "without that"
            return f"{one.get('name')} set up differently ({kept}; now {asked})"
    return None


def _settings(signature: str) -> list[str]:
    """The parts of a signature: a judge's parameters, the version, digests."""
    return [part for part in re.split(r"[ ,()]+", signature) if "=" in part]


def command_line(arguments: Sequence[str]) -> str:
    """The command as it can be typed again; what may be a secret in an address is left out.

    >>> command_line(["judge", "a b.csv", "--ledger", "postgresql://me:secret@host/replies"])
    "markscheme judge 'a b.csv' --ledger postgresql://host/replies"
    """
    bare = (re.sub(r"://(?:\S*|[^()]*)@", "://", one) for one in arguments)
    shown = (re.sub(r"(://[^?\s]*)\?\S*", r"\1", one) for one in bare)
    return shlex.join(["markscheme", *shown])


_TABLES = ("*.parquet", "*.arrow", "*/*.arrow")
"""What may be answers in a folder: Parquet files, or a dataset's."""


def default_folder(
    files: Sequence[str],
    judges: Sequence[Judge],
    clean: Cleaning,
    models: ModelSource | None,
    *,
    read: ReadOptions | None = None,
) -> Path:
    """`runs/<file>-<eight digits>`: equal commands on an unchanged file meet again.

    The digits are of judges, options (of reading as well: with other columns the same file holds
    other answers) and the files' names, sizes and times; standard input, which
    has none of these, gets a folder of its own each time.

    Raises:
        DataError: a file's name is empty, or not valid UTF-8.
    """
    from markscheme.contract import signature
    from markscheme.engine.execute import kept_cleaning
    from markscheme.tables import DATASET

    parts = [*(signature(one, models) for one in judges), str(kept_cleaning(clean, judges))]
    parts += [] if read is None else read.changed()
    for name in files:
        check_named(name)
        file = Path(name)
        if name.startswith(DATASET):
            parts.append(name)
            continue
        tables = [file] if name != "-" and file.is_file() else []
        if name != "-" and file.is_dir():
            tables = sorted(one for kind in _TABLES for one in file.glob(kind))
        stamps = [f"{one.stat().st_size} {one.stat().st_mtime_ns}" for one in tables]
        parts += [str(file.absolute()), *(stamps or [str(time.time_ns())])]
    text = "\n".join(parts)
    first = files[0].removeprefix(DATASET)
    stem = "stdin" if first == "-" else name_without_endings(first).strip("*?[]")
    stem = stem or Path(files[0]).parent.name or "answers"
    return Path("runs") / f"{stem}-{blake2b(text.encode(), digest_size=4).hexdigest()}"
