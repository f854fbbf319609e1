"""`markscheme train-listwise`: make the listwise examiner from graded passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from markscheme.cli.app import console, notes
from markscheme.cli.options import OutFile, command
from markscheme.errors import MarkschemeError
from markscheme.options import DRAWS, DataDir, Part, Seed

if TYPE_CHECKING:
    import polars as pl


@command("train-listwise")
def train_listwise(
    out: OutFile,
    data_dir: DataDir = None,
    part: Part = "dev",
    draws: Annotated[int, DRAWS] = 7,
    seed: Seed = 0,
) -> None:
    """Train the listwise examiner on ANTIQUE and TREC-DL-NF, cross-validated by question.

    Prints, before anything is saved, correlations with people's grades on questions that were not
    trained on, for many, one and no reference, and how well the scores are calibrated. The judge
    `listwise_examiner(weights='FOLDER')` uses the result. The defaults make the shipped weights,
    byte for byte on the same kind of machine.
    """
    from markscheme.datasets import passages
    from markscheme.models.local import TokenEncoder
    from markscheme.training import (
        ListwiseOptions,
        draw_all,
        need_trainers,
        save_listwise,
        train_mode,
    )

    if draws < 3:
        raise MarkschemeError(f"--draws {draws} is too few; three draws or more are needed")
    need_trainers()

    def say(text: str) -> None:
        notes.print(text, markup=False)

    options = ListwiseOptions(draws=draws, seed=seed)
    sets = {
        "antique": passages("antique", data_dir=data_dir, part=part),
        "trec-dl-nf": passages("trec-dl-nf", data_dir=data_dir),
    }
    say("encoding every passage, drawing lists, computing features ...")
    drawn = draw_all(sets, TokenEncoder(), draws=draws, seed=seed)
    say(f"{drawn.rows.height:,} candidates beside drawn lists")
    meaning = train_mode(drawn, options, encoded=True, say=say)
    _show("held out, with embeddings", meaning.report)
    words = train_mode(drawn, options, encoded=False, say=say)
    _show("held out, words alone (encoder=never)", words.report)
    save_listwise(drawn, meaning, words, out)
    console.print(f"weights in {out}: listwise_examiner(weights='{out}') uses them", markup=False)


def _show(title: str, report: pl.DataFrame) -> None:
    from markscheme.results import Table

    table = Table(
        title=title,
        header=tuple(report.columns),
        rows=tuple(
            tuple(
                "" if cell is None else f"{cell:.3f}" if isinstance(cell, float) else str(cell)
                for cell in row
            )
            for row in report.iter_rows()
        ),
    )
    console.print(table.rich())
