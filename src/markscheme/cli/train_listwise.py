"""`markscheme train-listwise`: make the listwise examiner from graded passages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from markscheme.cli.app import app, console, notes


@app.command("train-listwise")
def train_listwise(
    out: Annotated[Path, typer.Option("--out", help="Folder for the weights.")],
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder with the data.")
    ] = None,
    part: Annotated[str, typer.Option(help="Part of ANTIQUE: auto, all or dev.")] = "dev",
    draws: Annotated[int, typer.Option(min=3, help="Reference lists drawn a question.")] = 7,
) -> None:
    """Train the listwise examiner on ANTIQUE and TREC-DL-NF, cross-validated by question.

    Prints correlations with people's grades of questions that were not trained on, for many, one
    and no reference; the judge `listwise_examiner(weights='FOLDER')` uses the result.
    """
    from markscheme.datasets import passages
    from markscheme.models.encoder import MiniLM
    from markscheme.report.table import Table
    from markscheme.training.listwise import ListwiseOptions, draw_all, train

    options = ListwiseOptions(draws=draws)
    sets = {
        "antique": passages("antique", data_dir=data_dir, part=part),
        "trec-dl-nf": passages("trec-dl-nf", data_dir=data_dir),
    }
    drawn = draw_all(sets, MiniLM(), options)
    found = train(drawn, out, options, say=lambda text: notes.print(text, markup=False))
    for encoded, figures in found.items():
        table = Table(
            title="with embeddings" if encoded else "words alone",
            header=tuple(figures.columns),
            rows=tuple(
                tuple(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row)
                for row in figures.iter_rows()
            ),
        )
        console.print(table.rich())
