"""What a Ray worker does: open the judges once, then judge one piece of the input after another."""

from __future__ import annotations

import io
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import orjson
import polars as pl

from markscheme.contract import Judge
from markscheme.engine.execute import Readings, cleaned_note, contradictions, kept_cleaning
from markscheme.engine.local_run import Prepared, prepare, rows_of
from markscheme.engine.shards import Piece, read_piece, write_whole
from markscheme.engine.stream import OutcomeSheet, Stream
from markscheme.errors import BadRowsError, DataError, MarkschemeError
from markscheme.flags import Cleaning
from markscheme.tables import ReadOptions, bytes_digest

if TYPE_CHECKING:
    from markscheme.models import ModelOptions, Models


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
        from markscheme.models import Models

        self.job = job
        self.pieces = pieces
        self.models: Models = Models(options=job.models)
        self.prepared: list[Prepared] = prepare(job.judges, self.models, job.clean)
        self.cleaning = kept_cleaning(job.clean, job.judges)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Judge pieces, given by number; one that fails is reported and leaves the others be."""
        found = [self._one(self.pieces[int(number)]) for number in batch["number"]]
        return {"report": [orjson.dumps(one) for one in found]}

    def _one(self, piece: Piece) -> dict[str, Any]:
        began, before = time.perf_counter(), self.models.budget.spending
        report: dict[str, Any] = {
            "number": piece.number, "rows": 0, "skipped": [], "repeats": 0, "items": 0,
            "ignored": [], "notes": {}, "recognised": [], "error": "", "data_error": False,
        }  # fmt: skip
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
        report["seconds"] = time.perf_counter() - began
        return report

    def _judged(self, piece: Piece) -> dict[str, Any]:
        reader = read_piece(piece, self.job.read)
        answers: list[pl.DataFrame] = []
        judgments: list[pl.DataFrame] = []
        items_seen = cleaned = 0
        for batch in reader:
            readings = Readings(batch, self.cleaning)
            items_seen += readings.items.height
            cleaned += readings.cleaned
            answers.append(batch)
            sheets = [
                OutcomeSheet(one.judge, readings.of(one.judge), one.sizes) for one in self.prepared
            ]
            with Stream(self.models) as stream:
                for sheet in sheets:
                    stream.judge(sheet)
                stream.finish(sheets)
            for one, sheet in zip(self.prepared, sheets, strict=True):
                judgments.append(rows_of(batch, readings.item, pl.concat(sheet.parts), one))
        # Answers first: a piece is finished when its judgments are there.
        files = dict([
            self._write("answers", piece.number, pl.concat(answers)),
            self._write("judgments", piece.number, pl.concat(judgments)),
        ])  # fmt: skip
        torn = contradictions(pl.concat(judgments).lazy(), reader.graded)
        return {
            "files": files,
            "contradictions": [[*of, *counts] for of, counts in torn.items()],
            "ledger": sorted(self.models.used_entries()),
            "rows": sum(frame.height for frame in answers),
            "skipped": [asdict(problem) for problem in reader.problems],
            "repeats": reader.repeats,
            "items": items_seen,
            "ignored": list(reader.ignored),
            "notes": reader.notes | cleaned_note(cleaned),
            "recognised": list(reader.recognised),
        }

    def _write(self, table: str, number: int, frame: pl.DataFrame) -> tuple[str, dict[str, Any]]:
        """Write a part; its name in the run's folder, and its digest."""
        content = io.BytesIO()
        frame.write_parquet(content, compression="zstd", compression_level=1)
        name, written = part_name(table, number), content.getvalue()
        write_whole(f"{self.job.out}/{name}", written)
        return name, bytes_digest(written)
