"""A run on Ray: the same judges and the same judgments, over as many workers as there are.

The input is cut into pieces (Parquet row groups, or whole files). Ray Data's `map_batches` hands
them to actors that have loaded the judges once; an actor writes the piece's answers and judgments
itself, whole or not at all, so that nothing large passes through the driver, and a run that was
stopped resumes with the pieces that are missing.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from markscheme.contract import Judge, version
from markscheme.engine.execute import kept_cleaning, reading_for
from markscheme.engine.local_run import RunReport, closing_texts, judge_batches, met_by
from markscheme.engine.run_folder import (
    DIGITS,
    FORMAT,
    RunFolder,
    check_unused,
    checked_plan,
    plan_difference,
    run_of,
)
from markscheme.engine.shards import (
    Piece,
    input_pieces,
    read_piece,
    scan_parts,
    write_whole,
)
from markscheme.engine.stream import OnProgress, Prepared, prepare
from markscheme.engine.summary import CLUSTERS, summarise
from markscheme.errors import (
    BadRowsError,
    DataError,
    MarkschemeError,
    MissingExtraError,
    RunError,
)
from markscheme.flags import CLEANING, Cleaning, columns_option
from markscheme.models import ModelOptions, Models
from markscheme.tables import (
    MANIFEST,
    Met,
    ReadOptions,
    bytes_digest,
    check_named,
    file_digest,
    file_system,
    json_bytes,
    manifest_bytes,
    mark_of,
    scan_parquet,
    seal_of,
    without_secrets,
)

ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Each worker has a core of its own; libraries that take all cores would fight over them."""


@dataclass(frozen=True, kw_only=True)
class RayOptions:
    """Where and how wide to run.

    Attributes:
        address: of a cluster to join (`auto`, or `ray://host:port`); None starts one here.
        workers: actors; None takes every core of the cluster.
        retries: how often a piece that failed is tried again before it is reported.
    """

    address: str | None = None
    workers: int | None = None
    retries: int = 2


def run_on_ray(
    paths: Sequence[str],
    judges: Sequence[Judge],
    out: str,
    *,
    ray_options: RayOptions,
    read: ReadOptions,
    clean: Cleaning = CLEANING,
    models: ModelOptions | None = None,
    on_progress: OnProgress | None = None,
    render: Callable[[RunReport], str] | None = None,
    command: str | None = None,
    again: bool = False,
) -> RunReport:
    """Judge files through Ray Data into a run's folder, and resume where an earlier run stopped.

    Args:
        paths: Parquet files, folders of them or patterns, or JSONL files, on any file system that
            fsspec knows (`s3://...`); local files of the other kinds as well.
        judges: what judges them.
        out: the run's folder, local or an address.
        ray_options: where and how wide.
        read: how rows become answers.
        clean: how the answers that judges see are cleaned.
        models: the run's models. Limits of requests and tokens a minute and of requests at a time
            are shared out among the workers, so that they hold for the whole cluster.
        on_progress: called with the number of finished judgments.
        render: makes the text of `summary.md`.
        command: what was typed.
        again: judge pieces again in which answers failed or were left out, from the ledger where it
            has replies.

    Returns:
        As the local engine. `judgments.parquet` and `answers.parquet` are folders of parts.

    Raises:
        MissingExtraError: Ray is not installed.
        DataError: the input cannot be read.
        RunError: the folder holds another run, or pieces failed for good; they are named, the
            others are saved.
    """
    if find_spec("ray") is None:  # Before the folder is claimed for a run that cannot be.
        raise MissingExtraError("--engine ray", "ray")
    named = prepare(judges, Models(options=models or ModelOptions()), clean)
    pieces, mark = input_pieces(paths)
    folder = _Folder(out)
    wanted = {
        "format": FORMAT,
        "markscheme": version(),
        "judges": [{"name": one.name, "signature": one.signature} for one in named],
        "options": {"clean": kept_cleaning(clean, judges)},
        "engine": "ray",
        "input": " ".join([mark, *read.changed()]),
        **({} if command is None else {"command": command}),
    }
    with folder.locked():
        folder.begin(wanted)
        reports = folder.reports(pieces, again=again)
        there = {report["number"] for report in reports}
        left = [piece for piece in pieces if piece.number not in there]
        if left:
            # What it holds of a finished run goes: its tables are no longer those of its manifest.
            folder.write("run.json", {**wanted, "state": "running", "run": folder.run})
            job = Job(
                judges=tuple(judges),
                out=folder.address,
                read=reading_for(read, judges),
                clean=clean,
                models=models or ModelOptions(),
            )
            with _Cluster(ray_options) as cluster:
                reports += cluster.judge(job, left, len(judges), on_progress, folder.keep)
        return folder.finish(wanted, pieces, reports, len(pieces) - len(left), render)


# --- What a worker does: open the judges once, then judge one piece after another ---------------


@dataclass(frozen=True, kw_only=True)
class Job:
    """All that a worker must know; sent to it once.

    Attributes:
        judges: the judges, values as they are.
        out: the run's folder or address.
        read: how raw rows become answers.
        clean: the cleaning of answers, by name.
        models: the run's models; limits are shared out already.
    """

    judges: tuple[Judge, ...]
    out: str
    read: ReadOptions
    clean: Cleaning
    models: ModelOptions


def part_name(table: str, number: int) -> str:
    """Where a piece of the judgments or answers is in a run's folder."""
    return f"{table}.parquet/part-{number:06d}.parquet"


class PieceJudge:
    """A Ray Data actor: its models are loaded once and serve all pieces that it is given."""

    def __init__(self, job: Job, pieces: Mapping[int, Piece]) -> None:
        self.job = job
        self.pieces = pieces
        self.models = Models(options=job.models)
        self.prepared: list[Prepared] = prepare(job.judges, self.models, job.clean)
        self.cleaning = kept_cleaning(job.clean, job.judges)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Judge pieces, given by number; one that fails is reported and leaves the others be."""
        found = [self._one(self.pieces[int(number)]) for number in batch["number"]]
        return {"report": [orjson.dumps(one) for one in found]}

    def _one(self, piece: Piece) -> dict[str, Any]:
        before = self.models.budget.spending
        report: dict[str, Any] = {"number": piece.number, "error": "", "data_error": False}
        try:
            report |= self._judged(piece)
        except (DataError, BadRowsError) as error:
            report |= {"error": f"{piece}: {error}", "data_error": True}
        except MarkschemeError as error:
            report["error"] = f"{piece}: {error}"
        except Exception as error:  # must not end the whole run
            report["error"] = f"{piece}: {type(error).__name__}: {error}"
        after = self.models.budget.spending
        report["calls"] = after.calls - before.calls
        report["cost_usd"] = after.cost_usd - before.cost_usd
        return report

    def _judged(self, piece: Piece) -> dict[str, Any]:
        reader = read_piece(piece, self.job.read)
        answers = list(reader)
        judgments, tally = judge_batches(
            answers, self.prepared, models=self.models, cleaning=self.cleaning
        )
        # Answers first: a piece is finished when its judgments are there.
        written = (
            self._write("answers", piece.number, pl.concat(answers)),
            self._write("judgments", piece.number, judgments),
        )
        files = dict(written)
        return {
            "files": files,
            "ledger": sorted(self.models.used_entries()),
            "items": tally.items,
            "met": met_by(reader, tally),
        }

    def _write(self, table: str, number: int, frame: pl.DataFrame) -> tuple[str, dict[str, Any]]:
        """Write a part; its name in the run's folder, and its digest."""
        content = io.BytesIO()
        frame.write_parquet(content, compression="zstd", compression_level=1)
        name, written = part_name(table, number), content.getvalue()
        write_whole(f"{self.job.out}/{name}", written)
        return name, bytes_digest(written)


# --- The driver ----------------------------------------------------------------------------------


class _Cluster:
    """A Ray cluster for the time of a run: joined, or started here and stopped after."""

    def __init__(self, options: RayOptions) -> None:
        self.options = options

    def __enter__(self) -> _Cluster:
        try:
            import ray
            import ray.data
        except ImportError:
            raise MissingExtraError("--engine ray", "ray") from None
        self._started = False
        if not ray.is_initialized():
            own: dict[str, Any] = {"include_dashboard": False, "num_cpus": self.options.workers}
            try:
                ray.init(
                    # Without "local", Ray would join whatever cluster it finds on this machine.
                    address=self.options.address or "local",
                    runtime_env={"env_vars": ONE_THREAD},
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    **(own if self.options.address is None else {}),
                )
            except ConnectionError as error:
                where = self.options.address or "on this machine"
                raise RunError(f"no Ray cluster {where} can be reached: {error}") from None
            self._started = self.options.address is None
        resources: Any = ray.cluster_resources
        self.workers = self.options.workers or max(1, int(resources().get("CPU", 1)))
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        for name in ("ray.data", "ray"):
            logging.getLogger(name).setLevel(logging.ERROR)
        return self

    def __exit__(self, *_: object) -> None:
        import ray

        if self._started:  # Not a cluster that the caller had joined before.
            ray.shutdown()

    def judge(
        self,
        job: Job,
        pieces: Sequence[Piece],
        judges: int,
        on_progress: OnProgress | None,
        keep: Callable[[dict[str, Any]], None],
    ) -> list[dict[str, Any]]:
        """Judge pieces; those that fail are tried again, and named in the end.

        Raises:
            DataError: a piece of the input is not as it should be.
            RunError: pieces failed each time.
        """
        done: list[dict[str, Any]] = []
        left = list(pieces)
        failed: list[dict[str, Any]] = []
        for _ in range(1 + self.options.retries):
            failed, reports = [], []
            for report in self._stream(job, left):
                reports.append(report)
                if report["data_error"]:
                    raise DataError(report["error"])
                if report["error"]:
                    failed.append(report)
                    continue
                keep(report)
                done.append(report)
                if on_progress is not None:
                    on_progress(report["met"]["rows"] * judges)
            numbers = {report["number"] for report in failed}
            left = [piece for piece in left if piece.number in numbers]
            if not left:
                return done
            job = replace(job, models=_less(job.models, reports))
        shown = "\n".join(report["error"] for report in failed[:20])
        raise RunError(
            f"{len(failed)} pieces of the input failed {1 + self.options.retries} times; the "
            f"others are saved, and the same command tries these again:\n{shown}"
        )

    def _stream(self, job: Job, pieces: Sequence[Piece]) -> Any:
        import ray

        workers = _enough(min(self.workers, len(pieces)), job.models)
        shared = replace(job, models=_share(job.models, workers))
        numbers = [{"number": piece.number} for piece in pieces]
        rows = ray.data.from_items(numbers, override_num_blocks=len(pieces)).map_batches(
            PieceJudge,
            fn_constructor_args=(shared, {piece.number: piece for piece in pieces}),
            batch_size=1,
            num_cpus=1,
            compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=2),
        )
        return (orjson.loads(row["report"]) for row in rows.iter_rows())


def _enough(most: int, models: ModelOptions) -> int:
    """How many workers there are to be: no more than calls, of which each has one at least."""
    calls = models.max_calls
    return most if calls is None else max(1, min(most, calls))


def _less(models: ModelOptions, reports: Sequence[dict[str, Any]]) -> ModelOptions:
    """What is left of the run's calls and money for another round."""
    calls = sum(report["calls"] for report in reports)
    cost = sum(report["cost_usd"] for report in reports)
    return replace(
        models,
        max_calls=None if models.max_calls is None else max(0, models.max_calls - calls),
        max_cost=None if models.max_cost is None else max(0.0, models.max_cost - cost),
    )


def _share(models: ModelOptions, workers: int) -> ModelOptions:
    """A worker's part of the limits that hold for the whole run."""

    def part(value: float | None) -> float | None:
        return None if value is None else value / workers

    server = models.server
    if server is not None:
        server = replace(
            server,
            concurrency=max(1, server.concurrency // workers),
            requests_per_minute=part(server.requests_per_minute),
            tokens_per_minute=part(server.tokens_per_minute),
        )
    calls = models.max_calls
    return replace(
        models,
        server=server,
        max_calls=None if calls is None else calls // workers,
        max_cost=part(models.max_cost),
    )


class _Folder:
    """A run's folder whose tables are folders of parts, on any file system."""

    def __init__(self, out: str) -> None:
        check_named(str(out), "folder")
        self.system, self.inside = file_system(str(out))
        self.local = "file" in self.system.protocol
        self.address = self.inside if self.local else str(out).rstrip("/")
        self.shown: str = without_secrets(self.address)
        self.damaged: list[str] = []
        self.run: dict[str, str] = {}
        self.bound: dict[str, Any] = {}

    def locked(self) -> Any:
        """The lock of a local folder; addresses have none."""
        from contextlib import nullcontext

        return RunFolder(self.inside).locked() if self.local else nullcontext()

    def begin(self, wanted: dict[str, Any]) -> None:
        """Claim the folder for this run, or see that it is this run's already."""
        found = self._plan()
        self.run = run_of(found, self.shown)
        signatures = [one["signature"] for one in wanted["judges"]]
        self.bound = {"run": self.run["id"], "rows": wanted.get("input"), "judges": signatures}
        if found is None:
            there = self.system.exists(self.inside)
            others = self.system.ls(self.inside, detail=False) if there else []
            check_unused(map(_name, others), self.shown)
            self.system.makedirs(self.inside, exist_ok=True)
            self.write("run.json", {**wanted, "state": "running", "run": self.run})
        elif difference := plan_difference(found, wanted):
            raise RunError(f"{self.shown} holds a run with {difference}; choose another --out")
        elif found.get("input") != wanted["input"]:
            raise RunError(
                f"{self.shown} holds a run on other answers, on files that have changed since, "
                "or with other options of reading, such as --columns; choose another --out"
            )
        for table in ("judgments.parquet", "answers.parquet", "reports"):
            self.system.makedirs(f"{self.inside}/{table}", exist_ok=True)

    def keep(self, report: dict[str, Any]) -> None:
        """Remember what a finished piece reported; its file's name binds it to the run."""
        content = json_bytes(report)
        write_whole(f"{self.address}/{self._report_name(report['number'], content)}", content)

    def _report_name(self, number: int, content: bytes) -> str:
        digest = bytes_digest(content)["sha256"]
        mark = mark_of({**self.bound, "piece": number, "sha256": digest})[:DIGITS]
        return f"reports/part-{number:06d}-{mark}.json"

    def reports(self, pieces: Sequence[Piece], *, again: bool = False) -> list[dict[str, Any]]:
        """What finished pieces reported; a piece whose files are not as reported is not finished.

        Files here are read for that; of files far away only the sizes are looked at. With `again`,
        a piece with answers that failed or were left out is not finished either.
        """
        wanted = {piece.number for piece in pieces}
        found: dict[int, dict[str, Any]] = {}
        for name in self._listed("reports"):
            content = self.system.cat_file(name)
            number = _name(name).removeprefix("part-")[:6]
            bound = number.isdigit() and name.endswith(self._report_name(int(number), content))
            if bound and int(number) in wanted:
                report = orjson.loads(content)
                if self._holds(report["files"]):
                    if again and self._lacks(int(number)):
                        self.system.rm_file(name)
                    else:
                        found[int(number)] = report
                    continue
            self.damaged.append(f"reports/{_name(name)}")
            self.system.rm_file(name)
        return [found[number] for number in sorted(found)]

    def _holds(self, files: dict[str, dict[str, Any]]) -> bool:
        for name, listed in files.items():
            place = f"{self.inside}/{name}"
            try:
                if self.system.info(place)["size"] != listed["bytes"]:
                    return False
            except FileNotFoundError:
                return False
            if self.local and file_digest(Path(place)) != listed:
                return False
        return True

    def _lacks(self, number: int) -> bool:
        """Whether answers of a piece failed, or were left out."""
        lacking = pl.col("status").is_in(["failed", "skipped"]).any()
        return bool(self._table("judgments", [number]).select(lacking).collect().item())

    def finish(
        self,
        wanted: dict[str, Any],
        pieces: Sequence[Piece],
        reports: list[dict[str, Any]],
        resumed: int,
        render: Callable[[RunReport], str] | None,
    ) -> RunReport:
        """Figures over all parts, and the run's closing files.

        Raises:
            DataError: different rows of several pieces have the same id.
        """
        numbers = [piece.number for piece in pieces]
        judgments = self._table("judgments", numbers)
        answers = self._table("answers", numbers)
        _check_ids(answers)
        clusters = answers.select(CLUSTERS).collect(engine="streaming")
        met = Met()
        for one in sorted(reports, key=itemgetter("number")):  # They came in any order.
            met.add(one["met"])
        report = RunReport(
            **vars(met),
            address=self.shown,
            judgments=judgments,
            answers=answers,
            records=summarise(judgments, clusters),
            resumed=sum(one["met"]["rows"] for one in reports[:resumed]) * len(wanted["judges"]),
            items=sum(one["items"] for one in reports),
            damaged=self.damaged,
        )
        texts = closing_texts(report, wanted, render)
        for name, content in texts.items():
            write_whole(f"{self.address}/{name}", content)
        files = {name: bytes_digest(content) for name, content in texts.items()}
        for one in reports:
            files |= one["files"]
        manifest = manifest_bytes(
            wanted, files, ledger=[k for one in reports for k in one["ledger"]]
        )
        write_whole(f"{self.address}/{MANIFEST}", manifest)
        self.write("run.json", {**wanted, "state": "done", "run": self.run, **seal_of(manifest)})
        return report

    def write(self, name: str, value: Any) -> None:
        """Write JSON, whole or not at all."""
        write_whole(f"{self.address}/{name}", json_bytes(value))

    def _plan(self) -> dict[str, Any] | None:
        place = f"{self.inside}/run.json"
        if not self.system.exists(place):
            return None
        file = f"{self.shown}/run.json"
        try:
            value = orjson.loads(self.system.cat_file(place))
        except (OSError, orjson.JSONDecodeError) as error:
            raise RunError(f"{file} is damaged ({error}); choose a new --out") from None
        return checked_plan(value if isinstance(value, dict) else {}, file)

    def _listed(self, table: str) -> list[str]:
        place = f"{self.inside}/{table}"
        found = self.system.ls(place, detail=False) if self.system.exists(place) else []
        return sorted(name for name in found if not name.endswith(".part"))

    def _table(self, table: str, numbers: Sequence[int]) -> pl.LazyFrame:
        names = [f"{self.inside}/{part_name(table, number)}" for number in numbers]
        if self.local:
            return scan_parquet(names)
        return scan_parts(self.system, names)


def _check_ids(answers: pl.LazyFrame) -> None:
    """Refuse ids that different rows share: a worker knows those of its own piece alone.

    Raises:
        DataError: there are some; up to five are named.
    """
    key = pl.col("answer_id").hash()
    keys = answers.select(key).collect(engine="streaming").to_series()
    several = keys.filter(keys.is_duplicated()).unique()
    if several.is_empty():
        return
    rows = answers.filter(key.is_in(several.implode())).unique().collect(engine="streaming")
    wrong = rows.filter(pl.col("answer_id").is_duplicated())["answer_id"].unique().sort()
    if wrong.len():
        raise DataError(
            f"{wrong.len():,} ids are of different rows in several pieces of the input, such as "
            f"{', '.join(map(repr, wrong.head(5)))}; if that column numbers questions rather than "
            f"answers, pass {columns_option({'answer_id': 'none'})}, with another --out"
        )


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
