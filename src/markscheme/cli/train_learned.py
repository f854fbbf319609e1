"""`markscheme train learned`: fine-tune a language model into a judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli.app import console, notes
from markscheme.cli.train import labelled, train_app
from markscheme.errors import MarkschemeError, RunError

if TYPE_CHECKING:
    import polars as pl

    from markscheme.training import HeldOutFigures

_VARIANTS = ("plain", "nli", "cvi")
_REPORTED = ("development", "test")


@train_app.command("learned")
def learned(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the adapters; must be new.")],
    model: Annotated[
        str,
        typer.Option(
            "--model", "-m", help="Causal language model: folder, .gguf file or name on the hub."
        ),
    ],
    data: Annotated[
        list[str] | None,
        typer.Option("--data", help="Labelled answers; several files. [default: EVOUNA-NQ]"),
    ] = None,
    variant: Annotated[
        str,
        typer.Option(
            help="plain: question, references, answer. nli: with the entailment's outcome, too. "
            "cvi: what the answer tells about the references."
        ),
    ] = "plain",
    columns: Annotated[str, typer.Option(help="Columns with unusual names: label=human.")] = "",
    data_dir: Annotated[Path | None, typer.Option(help="Where EVOUNA-NQ lies.")] = None,
    limit: Annotated[
        int | None, typer.Option(help="Answers to learn from, at most; whole questions.", min=1)
    ] = None,
    report_limit: Annotated[
        int | None, typer.Option(help="Held-out answers to try it on, at most.", min=1)
    ] = None,
    report_on: Annotated[
        str, typer.Option(help="The part held out for the figures: development or test.")
    ] = "development",
    epochs: Annotated[int, typer.Option(help="How often each answer is seen.", min=1)] = 2,
    steps: Annotated[
        int | None, typer.Option(help="Updates of the weights, instead of --epochs.", min=1)
    ] = None,
    batch: Annotated[int, typer.Option(help="Answers run together.", min=1)] = 8,
    accumulate: Annotated[int, typer.Option(help="Batches an update.", min=1)] = 2,
    rate: Annotated[float, typer.Option(help="Highest learning rate.", min=0.0)] = 2e-4,
    rank: Annotated[int, typer.Option(help="Of the LoRA adapters.", min=1)] = 16,
    seed: Annotated[int, typer.Option(help="Of everything that is drawn.", min=0)] = 0,
) -> None:
    """Fine-tune a language model with LoRA into a judge, with a held-out report before it saves.

    A question's part (40% train, 10% development, 50% test) follows from a hash of its text: what
    is learned from and what is tried on never share a question, and the test part is left alone.
    Use it with `markscheme judge FILE --judge "learned(weights='FOLDER')"`.
    """
    from markscheme.training import LearnOptions, LoraOptions, train_finetuned

    for name, value, choices in (
        ("--variant", variant, _VARIANTS),
        ("--report-on", report_on, _REPORTED),
    ):
        if value not in choices:
            raise MarkschemeError(f"{name} {value!r} is none of {', '.join(choices)}")
    if out.exists() and any(out.iterdir()):
        raise RunError(f"{out} is not empty; choose a new --out")
    chosen: Any = {"variant": variant, "report_on": report_on}
    options = LearnOptions(
        **chosen,
        limit=limit,
        report_limit=report_limit,
        lora=LoraOptions(
            epochs=epochs, steps=steps, batch=batch, accumulate=accumulate, rate=rate, rank=rank,
            seed=seed,
        ),
    )  # fmt: skip
    trained = train_finetuned(
        labelled(data, columns) if data else _evouna(data_dir),
        out,
        model,
        options,
        say=lambda text: notes.print(text, markup=False, soft_wrap=True),
        report=_print_report,
        progress=_bar,
    )
    notes.print(f"written to {trained.folder}", markup=False)
    console.print(
        f"use it: markscheme judge FILE --judge \"learned(weights='{out}')\"", markup=False
    )


def _evouna(data_dir: Path | None) -> pl.DataFrame:
    from markscheme.datasets import load

    return load("evouna-nq", data_dir=data_dir)


@contextmanager
def _bar(name: str, steps: int) -> Iterator[Callable[[int, str], None]]:
    from markscheme.cli.progress import progress

    with progress(f"training {name}", total=steps, unit="updates") as advance:

        def more(count: int, note: str) -> None:
            advance(count)
            advance.note(note)

        yield more


def _print_report(figures: HeldOutFigures) -> None:
    """Agreement on questions that were held out, before anything is saved."""
    from markscheme.results import Table

    compared = {
        "this one": figures.trained,
        "contains (a reference occurs in the answer)": figures.contains,
        "every answer accepted": figures.accept_all,
    }
    table = Table(
        title=f"Agreement with {figures.rows:,} labels, {figures.questions:,} questions held out "
        f"({figures.part} part)",
        header=("judge", "accuracy", "F1 (accepted)", "AUROC"),
        rows=tuple(
            (
                name,
                f"{100 * found.accuracy:.1f}",
                f"{100 * found.f1:.1f}",
                f"{found.auroc:.3f}",
            )
            for name, found in compared.items()
        ),
        numeric=frozenset({"accuracy", "F1 (accepted)", "AUROC"}),
    )
    console.print(table.rich())
