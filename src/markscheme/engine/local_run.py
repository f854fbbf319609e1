"""A whole run: read, plan, judge, save as it goes, resume, put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import orjson
import polars as pl

from markscheme.contract import Judge, ModelSource, judge_name, version
from markscheme.engine.execute import (
    Ask,
    ChunkSizes,
    Readings,
    apply,
    cleaned_note,
    contradictions,
    contradictions_note,
    kept_cleaning,
    reading_for,
    signed,
)
from markscheme.engine.run_folder import FORMAT, TABLES, RunFolder, plan_difference
from markscheme.engine.stream import OutcomeSheet, Stream
from markscheme.engine.summary import CLUSTERS, summarise
from markscheme.errors import Problem, RunError
from markscheme.flags import CLEANING, Cleaning
from markscheme.models import Models
from markscheme.tables import (
    JUDGMENTS_SCHEMA,
    MANIFEST,
    AnswersReader,
    damages,
    read_manifest,
    read_parquet,
    row_texts,
    scan_parquet,
    signature_wanted,
    slices_of,
)

T = TypeVar("T")

OnProgress = Callable[[int], None]
"""Called with how many more judgments are finished."""

_SAVED_ITEMS = 1024
_SAVED_AFTER = 1.0
"""Items, and seconds, after which the outcomes that have come are saved."""

_LARGE = 256
"""Items of a table whose outcomes are saved as soon as they come."""


@dataclass(kw_only=True)
class RunReport:
    """What a run did: where it is, its figures, and what the reader met."""

    folder: Path | None
    judgments: pl.LazyFrame
    records: list[dict[str, Any]]
    rows: int
    skipped: int
    repeats: int
    ignored: list[str]
    notes: dict[str, int]
    resumed: int = 0
    items: int = 0
    damaged: list[str] = field(default_factory=list)
    """What of an earlier run was not as it had been written, and was made again."""
    recognised: list[str] = field(default_factory=list)
    unlabelled: list[Problem] = field(default_factory=list)
    """Labels that could not be read; their answers were judged without one."""


@dataclass(kw_only=True)
class Prepared:
    """A judge with all that a run writes besides its outcomes."""

    judge: Judge
    name: str
    signature: str
    sizes: ChunkSizes


@dataclass(frozen=True, kw_only=True)
class _Done:
    """The totals over all judged batches."""

    items: int
    resumed: int
    cleaned: int
    chain: bytes
    clusters: pl.DataFrame
    ledger: frozenset[str]


def prepare(judges: Sequence[Judge], models: ModelSource | None, clean: Cleaning) -> list[Prepared]:
    """Name and sign judges of answers that are cleaned so.

    Raises:
        DataError: no such cleaning.
        RunError: none is given, or one twice.
    """
    found = [
        Prepared(
            judge=judge,
            name=judge_name(judge),
            signature=signed(judge, models, clean),
            sizes=ChunkSizes(),
        )
        for judge in judges
    ]
    names = [item.name for item in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise RunError(f"requested {', '.join(sorted(twice))} twice; name each judge once")
    if not names:
        raise RunError("no judge was named; 'markscheme judges' lists all")
    return found


def rows_of(
    batch: pl.DataFrame, item: pl.Series, outcomes: pl.DataFrame, prepared: Prepared
) -> pl.DataFrame:
    """Judgments of every row of a batch from the outcomes of its distinct items."""
    spread = outcomes if outcomes.height == batch.height else outcomes[item]
    return pl.concat([batch.select("answer_id", "system"), spread], how="horizontal").select(
        "answer_id",
        pl.lit(prepared.name).alias("judge"),
        pl.lit(prepared.signature).alias("signature"),
        *(name for name in JUDGMENTS_SCHEMA if name not in ("answer_id", "judge", "signature")),
        "system",
    )


def run_in_memory(
    reader: AnswersReader,
    judges: Sequence[Judge],
    *,
    models: ModelSource | None = None,
    clean: Cleaning = CLEANING,
    ask: Ask = apply,
    on_progress: OnProgress | None = None,
) -> RunReport:
    """Judge all that a reader gives, and keep the judgments in memory.

    Raises:
        DataError, JudgeError, RunError: as reading, judging and naming judges do.
    """
    prepared = prepare(judges, models, clean)
    reader.options = reading_for(reader.options, judges)
    sheets: list[_Sheet] = []
    clusters: list[pl.DataFrame] = []
    cleaning = kept_cleaning(clean, judges)
    items_seen = cleaned = 0
    with Stream(models, ask=ask) as stream:
        for batch in prefetch(reader):
            readings = Readings(batch, cleaning)
            items_seen += readings.items.height
            cleaned += readings.cleaned
            clusters.append(batch.select(CLUSTERS))
            for one in prepared:
                sheet = _Sheet(one, batch=batch, readings=readings, on_progress=on_progress)
                stream.judge(sheet)
                sheets.append(sheet)
        stream.finish(sheets)
    table = pl.concat(sheet.rows for sheet in sheets).lazy()
    records = summarise(table, pl.concat(clusters))
    return _report(reader, None, table, records, items=items_seen, cleaned=cleaned)


def run_in_folder(
    reader: AnswersReader,
    judges: Sequence[Judge],
    out: str | Path,
    *,
    models: ModelSource | None = None,
    render: Callable[[RunReport], str] | None = None,
    clean: Cleaning = CLEANING,
    ask: Ask = apply,
    on_progress: OnProgress | None = None,
    command: str | None = None,
) -> RunReport:
    """Judge all that a reader gives into a run's folder; resume where an earlier run stopped.

    Killed at any moment and started again, the folder's judgments and summary are the same as
    without the kill, and no finished piece is judged again.

    Args:
        reader: the answers.
        judges: what judges them.
        out: the folder; made if it does not exist.
        models: opens weights and servers.
        render: makes the text of `summary.md`.
        clean: how the answers that judges see are cleaned.
        ask: how judges are run; see `markscheme.engine.processes`.
        on_progress: called with the number of finished judgments.
        command: what was typed, saved in `run.json` for reports; runs may differ in it.

    Raises:
        RunError: the folder holds another run, is in use, or cannot be written.
        DataError, JudgeError: as reading and judging do.
    """
    prepared = prepare(judges, models, clean)
    reader.options = reading_for(reader.options, judges)
    folder = RunFolder(out)
    cleaning = kept_cleaning(clean, judges)
    wanted = {
        "format": FORMAT,
        "markscheme": version(),
        "judges": [{"name": one.name, "signature": one.signature} for one in prepared],
        "options": {"clean": cleaning},
        **({} if command is None else {"command": command}),
    }
    with folder.locked():
        found = folder.read_plan()
        difference = None if found is None else plan_difference(found, wanted)
        if found is not None and "engine" in found:
            difference = f"--engine {found['engine']}"
        if difference:
            raise RunError(f"{folder.path} holds a run with {difference}; choose another --out")
        if found is None:
            folder.write_json("run.json", {**wanted, "state": "running"})
        elif found["state"] == "done":
            if tables_hold(folder):
                return _finished(reader, folder, found, render=render, cleaning=cleaning)
            folder.write_json("run.json", {**wanted, "state": "running"})
        try:
            with folder.writing():
                done = _judge_batches(
                    reader, prepared, folder, models=models, cleaning=cleaning, ask=ask,
                    on_progress=on_progress,
                )  # fmt: skip
        except BaseException:
            if found is None:
                folder.forget()
            raise
        return _put_together(reader, folder, wanted, done=done, render=render)


def _judge_batches(
    reader: AnswersReader,
    prepared: list[Prepared],
    folder: RunFolder,
    *,
    models: ModelSource | None,
    cleaning: Cleaning | None,
    ask: Ask,
    on_progress: OnProgress | None,
) -> _Done:
    """Judge every batch that is not done yet, each into a piece of its own."""
    resumed = items_seen = cleaned = 0
    chain = b""
    clusters: list[pl.DataFrame] = []
    pieces = folder.read_parts("")
    if any(name.startswith("ledger-") for name in folder.damaged):
        # What was judged with these entries is judged again; which it was, nobody can tell.
        pieces = {name: file for name, file in pieces.items() if name.startswith("answers-")}
    used = _Used(models, folder)
    for name, file in pieces.items():
        if name.startswith("ledger-"):
            used.keys |= set(read_parquet(file)["key"])
    earlier: list[_SavedSheet] = []
    sheets: list[_SavedSheet] = []

    def save() -> None:
        for sheet in (*earlier, *sheets):
            sheet.save_in_time()

    with Stream(models, ask=ask, on_wait=save) as stream:
        for number, batch in enumerate(prefetch(reader)):
            chain = _chained(chain, batch)
            _check_same_input(folder, number, chain)
            readings = Readings(batch, cleaning)
            items_seen += readings.items.height
            cleaned += readings.cleaned
            clusters.append(batch.select(CLUSTERS))
            if f"answers-{number:06d}" not in pieces:
                folder.write_part(f"answers-{number:06d}", batch)
            sheets = []
            for index, one in enumerate(prepared):
                stem = f"{number:06d}-{index:03d}"
                if f"judgments-{stem}" in pieces:
                    resumed += batch.height
                    ProgressTracker(on_progress, rows=batch.height, items=batch.height).all()
                    continue
                sheet = _SavedSheet(
                    one, batch=batch, readings=readings, on_progress=on_progress, stem=stem,
                    used=used,
                )  # fmt: skip
                resumed += sheet.go_on(pieces)
                sheets.append(sheet)  # Before it is judged: what has come is saved while it waits.
                stream.judge(sheet)
            # Two batches are in memory at a time: this one, and what is left of the one before.
            stream.finish(earlier)
            earlier = sheets
        stream.finish(earlier)
    return _Done(
        items=items_seen,
        resumed=resumed,
        cleaned=cleaned,
        chain=chain,
        clusters=pl.concat(clusters),
        ledger=frozenset(used.keys),
    )


_NO_ITEM = pl.Series(dtype=pl.UInt32)


class _Sheet(OutcomeSheet):
    """A batch and a judge: outcomes of the distinct items, and judgments once all are there."""

    def __init__(
        self,
        one: Prepared,
        *,
        batch: pl.DataFrame,
        readings: Readings,
        on_progress: OnProgress | None,
    ) -> None:
        items = readings.of(one.judge)
        self._tracker = ProgressTracker(on_progress, rows=batch.height, items=items.height)
        super().__init__(one.judge, items, one.sizes, on_items=self._tracker.items)
        self._one = one
        self._batch = batch
        self._item = readings.item
        self.rows = pl.DataFrame()

    def grown(self) -> None:
        """Make judgments of the outcomes when all of them are there."""
        if self.finished:
            self.rows = rows_of(self._batch, self._item, pl.concat(self.parts), self._one)
            self.parts.clear()
            self.items, self._batch, self._item = self.items.clear(), self._batch.clear(), _NO_ITEM
            self._tracker.all()


class _Used:
    """Keys of the ledger's entries that a run used, each on disk before what was judged with it."""

    def __init__(self, models: ModelSource | None, folder: RunFolder) -> None:
        self._models = models
        self.folder = folder
        self.keys: set[str] = set()

    def write(self, name: str) -> None:
        """Write what was used since the last time; of what is still under way as well, perhaps."""
        found = self._models.used_entries() if isinstance(self._models, Models) else frozenset()
        if found - self.keys:
            self.keys |= found
            self.folder.write_part(f"ledger-{name}", pl.DataFrame({"key": sorted(found)}))


class _SavedSheet(_Sheet):
    """Saves outcomes piece by piece, and the judgments in their place when it is finished."""

    def __init__(self, one: Prepared, *, stem: str, used: _Used, **batch: Any) -> None:
        super().__init__(one, **batch)
        self._stem = stem
        self._used = used
        self._chunks: list[str] = []
        self._saved = 0
        self._unsaved: list[pl.DataFrame] = []
        self._saved_at = monotonic()

    def go_on(self, pieces: dict[str, Path]) -> int:
        """Take what an earlier process saved of it; how many items that is."""
        self._chunks, self.parts = _saved_chunks(pieces, self._stem)
        if self._chunks and _separators_in(self.items):
            for name in self._chunks:
                pieces[name].unlink()
            self._chunks, self.parts = [], []
        self.start = self._saved = sum(part.height for part in self.parts)
        self._tracker.items(self.start)
        if self.finished:
            self.grown()
        return self.start

    def grown(self) -> None:
        """Save what has come when it is much or the last time is long ago."""
        if self.finished:
            self._used.write(f"{self._stem}-{self._saved:08d}")
            super().grown()
            name = f"judgments-{self._stem}"
            self._used.folder.write_part(name, self.rows, instead_of=self._chunks)
            self.rows = self.rows.clear()
            self._unsaved.clear()
            return
        self._unsaved.append(self.parts[-1])
        if self.start - self._saved >= _SAVED_ITEMS or self.parts[-1].height >= _LARGE:
            self._save()
        else:
            self.save_in_time()

    def save_in_time(self) -> None:
        """Save what has come if the last time is long ago, whether or not more is coming."""
        if self._unsaved and monotonic() - self._saved_at > _SAVED_AFTER:
            self._save()

    def _save(self) -> None:
        stem = f"{self._stem}-{self._saved:08d}"
        self._used.write(stem)
        self._used.folder.write_part(f"chunk-{stem}", pl.concat(self._unsaved))
        self._chunks.append(f"chunk-{stem}")
        self._unsaved.clear()
        self._saved, self._saved_at = self.start, monotonic()


def _put_together(
    reader: AnswersReader,
    folder: RunFolder,
    wanted: dict[str, Any],
    *,
    done: _Done,
    render: Callable[[RunReport], str] | None,
) -> RunReport:
    """Make the run's final files from its pieces."""
    folder.join_parts("answers-*.parquet", "answers.parquet")
    folder.join_parts("judgments-*.parquet", "judgments.parquet")
    judgments = scan_parquet(folder.path / "judgments.parquet")
    records = summarise(judgments, done.clusters)
    report = _report(
        reader, folder, judgments, records, items=done.items, resumed=done.resumed,
        cleaned=done.cleaned,
    )  # fmt: skip
    if reader.problems:
        lines = (orjson.dumps(problem).decode() for problem in reader.problems)
        folder.write_text("bad_rows.jsonl", "\n".join(lines) + "\n")
    _write_figures(folder, report, wanted, render)
    folder.seal({**wanted, "input": done.chain.hex()}, ledger=done.ledger)
    folder.clear_parts()
    return report


def _write_figures(
    folder: RunFolder,
    report: RunReport,
    plan_of_run: dict[str, Any],
    render: Callable[[RunReport], str] | None,
) -> None:
    folder.write_json("summary.json", summary_json(report, plan_of_run))
    if render is not None:
        folder.write_text("summary.md", render(report))


def summary_json(report: RunReport, plan_of_run: dict[str, Any]) -> dict[str, Any]:
    """What `summary.json` holds: nothing that differs from one equal run to the next."""
    return {
        "markscheme": plan_of_run["markscheme"],
        "options": plan_of_run["options"],
        "answers": {
            "rows": report.rows,
            "skipped_bad_rows": report.skipped,
            "repeated_rows": report.repeats,
            "ignored_columns": report.ignored,
            "notes": report.notes,
            "unread_labels": len(report.unlabelled),
        },
        "figures": report.records,
    }


def tables_hold(folder: RunFolder) -> bool:
    """Whether a finished run's tables are as it left them; what is not is noted in the folder.

    Raises:
        RunError: runs are to be signed, and this one is not.
    """
    try:
        found = damages(folder.path, read_manifest(folder.path), TABLES)
    except RunError:
        if signature_wanted():
            raise  # An unsigned run may be anybody's: nothing of it is used.
        found = {MANIFEST: "was changed"}
    folder.damaged += found
    return not found


def _finished(
    reader: AnswersReader,
    folder: RunFolder,
    found: dict[str, Any],
    *,
    render: Callable[[RunReport], str] | None,
    cleaning: Cleaning | None,
) -> RunReport:
    """The report of a run that was done before, once its input is seen to be the same.

    The figures are computed from the judgments again: those that are in the folder are not
    trusted, and are written again where they were changed.
    """
    chain, cleaned = b"", 0
    clusters: list[pl.DataFrame] = []
    for batch in reader:
        chain = _chained(chain, batch)
        cleaned += Readings(batch, cleaning).cleaned
        clusters.append(batch.select(CLUSTERS))
    if chain.hex() != found["input"]:
        said = _other_answers(read_parquet(folder.path / "answers.parquet"), batch, reader.rows)
        raise RunError(f"{folder.path} holds a finished run {said}; choose another --out")
    folder.clear_parts()
    changed = damages(folder.path, read_manifest(folder.path))
    folder.damaged += changed
    judgments = scan_parquet(folder.path / "judgments.parquet")
    report = _report(
        reader,
        folder,
        judgments,
        summarise(judgments, pl.concat(clusters)),
        resumed=reader.rows * len(found["judges"]),
        cleaned=cleaned,
    )
    if changed:
        _write_figures(folder, report, found, render)
    return report


def _other_answers(kept: pl.DataFrame, batch: pl.DataFrame, rows: int) -> str:
    """In words, how the answers of a finished run differ from those given, by their last batch."""
    before, now = slices_of(kept), slices_of(batch)
    if before != now:
        return f"with slices {', '.join(before) or 'none'}, not {', '.join(now) or 'none'}"
    if kept.height != rows:
        return f"on {kept.height:,} answers, not {rows:,}"
    last = kept.tail(batch.height)
    other = [
        name
        for name in batch.columns
        if name in last.columns and not last[name].equals(batch[name], null_equal=True)
    ]
    return f"on other answers (not the same: {', '.join(other) or 'earlier rows'})"


def _report(
    reader: AnswersReader,
    folder: RunFolder | None,
    judgments: pl.LazyFrame,
    records: list[dict[str, Any]],
    *,
    items: int = 0,
    resumed: int = 0,
    cleaned: int,
) -> RunReport:
    return RunReport(
        folder=None if folder is None else folder.path,
        damaged=[] if folder is None else folder.damaged,
        judgments=judgments,
        records=records,
        rows=reader.rows,
        skipped=sum(not one.kept for one in reader.problems),
        repeats=reader.repeats,
        ignored=list(reader.ignored),
        notes=reader.notes
        | contradictions_note(contradictions(judgments, reader.graded))
        | cleaned_note(cleaned),
        items=items,
        resumed=resumed,
        recognised=[*reader.recognised, *reader.offers],
        unlabelled=[one for one in reader.problems if one.kept],
    )


def _chained(chain: bytes, batch: pl.DataFrame) -> bytes:
    """The mark of all batches up to this one. Runs of 0.1.0, which had no `answer_error`, have the
    same mark where no call failed."""
    if batch["answer_error"].null_count() == batch.height:
        batch = batch.drop("answer_error")
    hashes = batch.hash_rows(seed=1).to_numpy().tobytes()
    return blake2b(chain + hashes, digest_size=16).digest()


def _check_same_input(folder: RunFolder, number: int, chain: bytes) -> None:
    """Refuse to mix pieces of different inputs: each batch leaves a mark of all up to it."""
    earlier = list(folder.parts.glob(f"input-{number:06d}-*"))
    mark = f"input-{number:06d}-{chain.hex()}"
    if earlier and earlier[0].name != mark:
        raise RunError(
            f"{folder.path} holds an unfinished run on other answers (they differ in batch "
            f"{number + 1}); choose another --out, or delete that folder"
        )
    if not earlier:
        try:
            (folder.parts / mark).touch()
        except OSError as error:
            raise RunError(f"cannot write {folder.parts / mark}: {error.strerror}") from None


def _separators_in(items: pl.DataFrame) -> bool:
    """Whether 0.1.0, which joined texts by separators, may have numbered these items otherwise.

    What it saved of such items may look like what is saved now, so they are judged again.
    """
    texts = row_texts(items)
    return bool(texts.str.contains("[\x00\x1e\x1f]").any())


def _saved_chunks(pieces: dict[str, Path], stem: str) -> tuple[list[str], list[pl.DataFrame]]:
    """Names and outcomes that an earlier process saved for a batch and judge, up to a gap."""
    upto, names, outcomes = 0, [], []
    for name, file in pieces.items():
        if name.startswith(f"chunk-{stem}-"):
            if int(name[-8:]) != upto:
                break
            part = read_parquet(file)
            names.append(name)
            outcomes.append(part)
            upto += part.height
    return names, outcomes


def prefetch(batches: Iterable[T]) -> Iterator[T]:
    """The same batches in the same order, each made in another thread while its forerunner is used.

    An error in making one is raised where that one would have come.
    """
    source = iter(batches)
    with ThreadPoolExecutor(1, thread_name_prefix="reader") as thread:
        coming = thread.submit(lambda: next(source, None))
        while (batch := coming.result()) is not None:
            coming = thread.submit(lambda: next(source, None))
            yield batch


class ProgressTracker:
    """Tells of one judge's progress in a batch: judged items count as their share of its rows."""

    def __init__(self, on_progress: OnProgress | None, *, rows: int, items: int) -> None:
        self._on_progress = on_progress
        self._rows = rows
        self._items = items
        self._judged = 0
        self._told = 0

    def items(self, count: int) -> None:
        """So many more items are judged."""
        self._judged += count
        self._tell(self._rows * self._judged // max(1, self._items))

    def all(self) -> None:
        """The batch is done."""
        self._tell(self._rows)

    def _tell(self, rows: int) -> None:
        if self._on_progress is not None and rows > self._told:
            self._on_progress(rows - self._told)
        self._told = rows
