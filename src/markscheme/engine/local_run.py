"""A whole run: read, plan, judge, save as it goes, resume, put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import orjson
import polars as pl

from markscheme.contract import Judge, ModelSource, version
from markscheme.engine.execute import (
    Ask,
    Readings,
    apply,
    blind_to_grades,
    cleaned_note,
    graded_note,
    graded_rows,
    kept_cleaning,
    reading_for,
)
from markscheme.engine.run_folder import (
    FORMAT,
    Bound,
    RunFolder,
    plan_difference,
    run_of,
)
from markscheme.engine.stream import OnProgress, Prepared, Sheet, Stream, prepare
from markscheme.engine.summary import CLUSTERS, summarise
from markscheme.errors import BadRowsError, Problem, RunError, signature_wanted
from markscheme.flags import CLEANING, Cleaning
from markscheme.models import Models
from markscheme.tables import (
    JUDGMENTS_SCHEMA,
    MANIFEST,
    OUTCOME,
    OUTPUTS,
    SUMMARIES,
    TABLES,
    AnswersReader,
    Met,
    damages,
    is_address,
    json_bytes,
    read_manifest,
    read_parquet,
    scan_parquet,
    slices_of,
)

T = TypeVar("T")

_SAVED_ITEMS = 1024
_SAVED_AFTER = 1.0
"""Items, and seconds, after which the outcomes that have come are saved."""

_LARGE = 256
"""Items of a table whose outcomes are saved as soon as they come."""


@dataclass(kw_only=True)
class RunReport(Met):
    """What a run did: where it is, its figures, and what the reader met.

    Attributes:
        address: its folder, or where it is elsewhere; empty where it is in memory.
        answers: the answers table that it stored; None where it is in memory.
        damaged: what of an earlier run was not as it had been written, and was made again.
    """

    address: str
    judgments: pl.LazyFrame
    answers: pl.LazyFrame | None
    records: list[dict[str, Any]]
    resumed: int = 0
    items: int = 0
    damaged: list[str] = field(default_factory=list)

    @property
    def unlabelled(self) -> list[Problem]:
        """Labels that could not be read; their answers were judged without one."""
        return [one for one in self.problems if one.kept]

    @property
    def left_out(self) -> list[Problem]:
        """Bad rows that were left out."""
        return [one for one in self.problems if not one.kept]

    @property
    def skipped(self) -> int:
        """How many bad rows were left out."""
        return len(self.left_out)

    @property
    def skipped_of(self) -> Counter[str]:
        """How many by system; those of no known system under ""."""
        return Counter(one.system for one in self.left_out)

    @property
    def folder(self) -> Path | None:
        """Where it is on this machine; None where it is elsewhere, or in memory."""
        return None if not self.address or is_address(self.address) else Path(self.address)


@dataclass(kw_only=True)
class Tally:
    """What a run counts and remembers of its batches.

    Attributes:
        chain: the mark of all of them; see `_chained`.
        ledger: keys of the ledger's entries that were used.
        blind: the run's judges that do not read grades of references.
        graded: rows whose references have several grades, counted where a judge is blind to them.
    """

    items: int = 0
    resumed: int = 0
    cleaned: int = 0
    chain: bytes = b""
    clusters: list[pl.DataFrame] = field(default_factory=list)
    ledger: set[str] = field(default_factory=set)
    blind: tuple[str, ...] = ()
    graded: int = 0

    def add(self, batch: pl.DataFrame, cleaning: Cleaning | None) -> Readings:
        """Count a batch, and give what judges read of it."""
        readings = Readings(batch, cleaning)
        self.items += readings.items.height
        self.cleaned += readings.cleaned
        self.graded += graded_rows(batch) if self.blind else 0
        self.clusters.append(batch.select(CLUSTERS))
        return readings


def judge_batches(
    batches: Iterable[pl.DataFrame],
    prepared: Sequence[Prepared],
    *,
    models: ModelSource | None,
    cleaning: Cleaning | None,
    ask: Ask = apply,
    on_progress: OnProgress | None = None,
) -> tuple[pl.DataFrame, Tally]:
    """The judgments of all batches, in memory, and what was counted."""
    tally = Tally(blind=blind_to_grades(one.judge for one in prepared))
    sheets: list[Sheet] = []
    with Stream(models, ask=ask) as stream:
        for batch in batches:
            readings = tally.add(batch, cleaning)
            for one in prepared:
                sheet = Sheet(one, batch=batch, readings=readings, on_progress=on_progress)
                stream.judge(sheet)
                sheets.append(sheet)
        stream.finish(sheets)
    return pl.concat(sheet.rows for sheet in sheets), tally


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
    judgments, tally = judge_batches(
        _batches_of(reader),
        prepared,
        models=models,
        cleaning=kept_cleaning(clean, judges),
        ask=ask,
        on_progress=on_progress,
    )
    return _report(reader, None, judgments.lazy(), tally)


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
    again: bool = False,
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
        again: judge a finished run on the same answers once more.

    Raises:
        RunError: the folder holds another run, is in use, or cannot be written.
        DataError, JudgeError: as reading and judging do.
    """
    prepared = prepare(judges, models, clean)
    reader.options = reading_for(reader.options, judges)
    folder, batches = RunFolder(out), _batches_of(reader)
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
        if difference:
            raise RunError(f"{folder.path} holds a run with {difference}; choose another --out")
        if found is not None and found["state"] == "done":
            if tables_hold(folder, again=again):
                tally = _read_again(reader, folder, found, judges, cleaning)
                if not again:
                    return _finished(reader, folder, found, tally, render)
                batches = _stored_batches(folder, tally)
            found = {**found, "run": None}
        run = run_of(found, folder.path)
        folder.run = run["id"]
        if found is None or found.get("run") is None:
            folder.write_json("run.json", {**wanted, "state": "running", "run": run})
        try:
            with folder.writing():
                tally = _judge_into(
                    folder,
                    batches,
                    prepared,
                    models=models,
                    cleaning=cleaning,
                    ask=ask,
                    on_progress=on_progress,
                )
        except BaseException as error:
            if isinstance(error, BadRowsError):
                folder.accept_other_input()
            if found is None:
                folder.forget()
            raise
        return _put_together(reader, folder, wanted, tally=tally, render=render)


def _judge_into(
    folder: RunFolder,
    batches: Iterable[pl.DataFrame],
    prepared: list[Prepared],
    *,
    models: ModelSource | None,
    cleaning: Cleaning | None,
    ask: Ask,
    on_progress: OnProgress | None,
) -> Tally:
    """Judge every batch that is not done yet, each into a piece of its own."""
    tally = Tally(blind=blind_to_grades(one.judge for one in prepared))
    folder.list_parts()
    used = _Used(models, folder, tally.ledger)
    earlier: list[_SavedSheet] = []
    sheets: list[_SavedSheet] = []

    def save() -> None:
        for sheet in (*earlier, *sheets):
            sheet.save_in_time()

    with Stream(models, ask=ask, on_wait=save) as stream:
        for number, batch in enumerate(batches):
            tally.chain = _chained(tally.chain, batch)
            _check_same_input(folder, number, tally.chain)
            readings = tally.add(batch, cleaning)
            rows = tally.chain.hex()
            folder.write_part(f"answers-{number:06d}", batch, Bound(rows))
            sheets = []
            for index, one in enumerate(prepared):
                stem = f"{number:06d}-{index:03d}"
                bound = Bound(rows, one.signature)
                if _is_judged(folder, f"judgments-{stem}", bound, batch, one):
                    tally.resumed += batch.height
                    if on_progress is not None and batch.height:
                        on_progress(batch.height)
                    continue
                sheet = _SavedSheet(
                    one,
                    batch=batch,
                    readings=readings,
                    on_progress=on_progress,
                    stem=stem,
                    bound=bound,
                    used=used,
                )
                tally.resumed += sheet.go_on()
                sheets.append(sheet)  # Before it is judged: what has come is saved while it waits.
                stream.judge(sheet)
            # Two batches are in memory at a time: this one, and what is left of the one before.
            stream.finish(earlier)
            earlier = sheets
        stream.finish(earlier)
    return tally


_OUTCOMES = {name: JUDGMENTS_SCHEMA[name] for name in OUTCOME}
_JUDGMENTS = {**JUDGMENTS_SCHEMA, "system": pl.String}


def _is_judged(
    folder: RunFolder, name: str, bound: Bound, batch: pl.DataFrame, one: Prepared
) -> bool:
    """Whether an earlier process left the judgments of a batch by a judge, row by row."""
    found = folder.read_part(name, bound, _JUDGMENTS)
    if found is None:
        return False
    wanted = batch.select(
        "answer_id",
        "system",
        pl.lit(one.name).alias("judge"),
        pl.lit(bound.judge).alias("signature"),
    )
    if not found.select(wanted.columns).equals(wanted):
        folder.refuse_part(name)
        return False
    return True


class _Used:
    """Keys of the ledger's entries that a run used, each on disk before what was judged with it.

    Each piece is bound to how many of these there were before it, so that none goes unseen.
    """

    def __init__(self, models: ModelSource | None, folder: RunFolder, keys: set[str]) -> None:
        self._models = models
        self.folder = folder
        self.keys = keys
        for name in folder.listed("ledger-"):
            found = None
            if name == f"ledger-{folder.used:06d}":
                found = folder.read_part(name, Bound(), {"key": pl.String})
            if found is None:
                break
            self.keys |= set(found["key"])
            folder.used += 1

    def write(self) -> None:
        """Write what was used since the last time; of what is still under way as well, perhaps."""
        found = self._models.used_entries() if isinstance(self._models, Models) else frozenset()
        new = found - self.keys
        if new:
            self.keys |= new
            frame = pl.DataFrame({"key": sorted(new)})
            self.folder.write_part(f"ledger-{self.folder.used:06d}", frame, Bound())
            self.folder.used += 1


class _SavedSheet(Sheet):
    """Saves outcomes piece by piece, and the judgments in their place when it is finished."""

    def __init__(
        self, one: Prepared, *, stem: str, bound: Bound, used: _Used, **batch: Any
    ) -> None:
        super().__init__(one, **batch)
        self._stem = stem
        self._bound = bound
        self._used = used
        self._chunks: list[str] = []
        self._saved = 0
        self._unsaved: list[pl.DataFrame] = []
        self._saved_at = monotonic()

    def go_on(self) -> int:
        """Take what an earlier process saved of it, up to a gap; how many items that is."""
        folder = self._used.folder
        for name in folder.listed(f"chunk-{self._stem}-"):
            if int(name[-8:]) != self.start:
                break
            part = folder.read_part(name, self._bound, _OUTCOMES)
            if part is None:
                break
            if not 0 < part.height <= self.items.height - self.start:
                folder.refuse_part(name)
                break
            self._chunks.append(name)
            self.parts.append(part)
            self.start += part.height
        self._saved = self.start
        self.tell(self.start)
        if self.finished:
            self.grown()
        return self.start

    def grown(self) -> None:
        """Save what has come when it is much or the last time is long ago."""
        if self.finished:
            self._used.write()
            super().grown()
            name = f"judgments-{self._stem}"
            self._used.folder.write_part(name, self.rows, self._bound, instead_of=self._chunks)
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
        name = f"chunk-{self._stem}-{self._saved:08d}"
        self._used.write()
        self._used.folder.write_part(name, pl.concat(self._unsaved), self._bound)
        self._chunks.append(name)
        self._unsaved.clear()
        self._saved, self._saved_at = self.start, monotonic()


def _put_together(
    reader: AnswersReader,
    folder: RunFolder,
    wanted: dict[str, Any],
    *,
    tally: Tally,
    render: Callable[[RunReport], str] | None,
) -> RunReport:
    """Make the run's final files from its pieces."""
    folder.join_parts("answers-", "answers.parquet")
    folder.join_parts("judgments-", "judgments.parquet")
    judgments = scan_parquet(folder.path / "judgments.parquet")
    report = _report(reader, folder, judgments, tally)
    texts = closing_texts(report, wanted, render)
    for name in set(OUTPUTS) - {"answers.parquet", "judgments.parquet", *texts}:
        (folder.path / name).unlink(missing_ok=True)  # Of an earlier run, or of nobody here.
    for name, content in texts.items():
        folder.write(name, content)
    folder.seal({**wanted, "input": tally.chain.hex()}, ledger=tally.ledger)
    folder.clear_parts()
    return report


def closing_texts(
    report: RunReport,
    plan_of_run: Mapping[str, Any],
    render: Callable[[RunReport], str] | None,
) -> dict[str, bytes]:
    """A run's files besides its tables; nothing in them differs from one equal run to the next."""
    summary = {
        "markscheme": plan_of_run["markscheme"],
        "options": plan_of_run["options"],
        "answers": {
            "rows": report.rows,
            "skipped_bad_rows": report.skipped,
            "repeated_rows": report.repeats,
            "ignored_columns": list(report.ignored),
            "notes": report.notes,
            "no_labels": report.no_labels,
            "blank_cells": report.blank_cells,
            "unread_labels": len(report.unlabelled),
        },
        "figures": report.records,
    }
    if report.annotators:
        summary["answers"]["annotators"] = report.annotators
    texts = {"summary.json": json_bytes(summary)}
    if report.problems:
        rows = (orjson.dumps(one) + b"\n" for one in report.problems)
        texts["bad_rows.jsonl"] = b"".join(rows)
    if render is not None:
        texts["summary.md"] = render(report).encode()
    return texts


def tables_hold(folder: RunFolder, *, again: bool) -> bool:
    """Whether a finished run's tables are as it left them; what is not is noted in the folder.

    Args:
        folder: the run.
        again: whether it is judged again, so that nothing of a run that does not hold is used.

    Raises:
        RunError: runs are to be signed, this one is not, and it is not judged again.
    """
    try:
        found = damages(folder.path, read_manifest(folder.path), TABLES)
    except RunError:
        if signature_wanted() and not again:
            raise  # An unsigned run may be anybody's: nothing of it is used.
        found = {MANIFEST: "was changed"}
    folder.damaged += found
    return not found


def _read_again(
    reader: AnswersReader,
    folder: RunFolder,
    found: dict[str, Any],
    judges: Sequence[Judge],
    cleaning: Cleaning | None,
) -> Tally:
    """What a run that was done before counts of its input, once that is seen to be the same.

    Raises:
        RunError: these are other answers.
    """
    tally = Tally(blind=blind_to_grades(judges))
    for batch in reader:
        tally.chain = _chained(tally.chain, batch)
        tally.add(batch, cleaning)
    if tally.chain.hex() != found["input"]:
        said = _other_answers(read_parquet(folder.path / "answers.parquet"), batch, reader.met.rows)
        raise RunError(f"{folder.path} holds a finished run {said}; choose another --out")
    return tally


def _stored_batches(folder: RunFolder, tally: Tally) -> Iterator[pl.DataFrame]:
    """The batches that were counted, from the run's table: standard input is read once only."""
    answers, start = scan_parquet(folder.path / "answers.parquet"), 0
    for one in tally.clusters:
        yield answers.slice(start, one.height).collect()
        start += one.height


def _finished(
    reader: AnswersReader,
    folder: RunFolder,
    found: dict[str, Any],
    tally: Tally,
    render: Callable[[RunReport], str] | None,
) -> RunReport:
    """The report of a run that was done before.

    The figures are computed from the judgments again: those that are in the folder are not
    trusted, and are written again where they were changed.
    """
    tally.items, tally.resumed = 0, reader.met.rows * len(found["judges"])
    folder.clear_parts()
    changed = damages(folder.path, read_manifest(folder.path), SUMMARIES)
    folder.damaged += changed
    report = _report(reader, folder, scan_parquet(folder.path / "judgments.parquet"), tally)
    if changed:
        for name, content in closing_texts(report, found, render).items():
            folder.write(name, content)
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
    tally: Tally,
) -> RunReport:
    return RunReport(
        **vars(met_by(reader, tally)),
        address="" if folder is None else str(folder.path),
        answers=None if folder is None else scan_parquet(folder.path / "answers.parquet"),
        damaged=[] if folder is None else folder.damaged,
        judgments=judgments,
        records=summarise(judgments, pl.concat(tally.clusters)),
        items=tally.items,
        resumed=tally.resumed,
    )


def met_by(reader: AnswersReader, tally: Tally) -> Met:
    """What a reader met, and what was met when its answers were prepared for judges."""
    notes = Counter(reader.met.notes)
    notes.update(cleaned_note(tally.cleaned))
    notes.update(graded_note(tally.graded, tally.blind))
    return replace(reader.met, notes=notes)


def _chained(chain: bytes, batch: pl.DataFrame) -> bytes:
    """The mark of all batches up to this one."""
    hashes = batch.hash_rows(seed=1).to_numpy().tobytes()
    return blake2b(chain + hashes, digest_size=16).digest()


def _check_same_input(folder: RunFolder, number: int, chain: bytes) -> None:
    """Refuse to mix pieces of different inputs: each batch leaves a mark of all up to it."""
    earlier = list(folder.parts.glob(f"input-{number:06d}-*"))
    mark = f"input-{number:06d}-{chain.hex()}"
    differs = bool(earlier) and earlier[0].name != mark
    if differs and not folder.accepts_other_input:
        raise RunError(
            f"{folder.path} holds an unfinished run on other answers (they differ in batch "
            f"{number + 1}); choose another --out, or delete that folder"
        )
    if differs:
        folder.remove_from(number)
    if differs or not earlier:
        try:
            (folder.parts / mark).touch()
        except OSError as error:
            raise RunError(f"cannot write {folder.parts / mark}: {error.strerror}") from None


def _batches_of(reader: AnswersReader) -> Iterator[pl.DataFrame]:
    """What a reader gives, read ahead; not of standard input: a thread that waits for it hears no
    interrupt, and the program would wait for the thread."""
    typed = any(isinstance(one, str | Path) and str(one) == "-" for one in reader.sources)
    return iter(reader) if typed else prefetch(reader)


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
