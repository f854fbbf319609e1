"""`markscheme train-listwise`: make the listwise examiner from graded passages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markscheme.cli.app import app, console, notes

if TYPE_CHECKING:
    import polars as pl


@app.command("train-listwise")
def train_listwise(
    out: Annotated[Path, typer.Option("--out", help="Folder for the weights.")],
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder with the data.")
    ] = None,
    part: Annotated[str, typer.Option(help="Part of ANTIQUE: auto, all or dev.")] = "dev",
    draws: Annotated[int, typer.Option(min=3, help="Reference lists drawn a question.")] = 7,
    seed: Annotated[int, typer.Option(help="Of the draws and the trees.")] = 0,
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
