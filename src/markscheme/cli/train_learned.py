"""`markscheme train learned`: fine-tune a language model into a judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal

from markscheme.cli.app import console, notes
from markscheme.cli.options import OutFile, command
from markscheme.cli.train import train_app
from markscheme.options import LIMIT, Columns, DataDir, Default, Option, Seed, TrainingData

if TYPE_CHECKING:
    from markscheme.training import HeldOutFigures


@command("learned", to=train_app)
def learned(
    out: OutFile,
    columns: Columns,
    model: Annotated[
        str,
        Option(
            "Causal language model to train: folder, .gguf file or name on the hub.",
            ("--base-model",),
            aliases=("--model", "-m"),
        ),
    ],
    data: Annotated[TrainingData, Default("EVOUNA-NQ")] = (),
    variant: Annotated[
        Literal["plain", "nli", "cvi"],
        Option(
            "plain: question, references, answer. nli: with the entailment's outcome, too. "
            "cvi: what the answer tells about the references."
        ),
    ] = "plain",
    data_dir: DataDir = None,
    limit: Annotated[int | None, LIMIT] = None,
    report_limit: Annotated[
        int | None, Option("Held-out answers to try it on, at most.", minimum=1)
    ] = None,
    report_on: Annotated[
        Literal["development", "test"],
        Option("The part held out for the figures: development or test."),
    ] = "development",
    epochs: Annotated[int, Option("How often each answer is seen.", minimum=1)] = 2,
    steps: Annotated[
        int | None, Option("Updates of the weights, instead of --epochs.", minimum=1)
    ] = None,
    batch: Annotated[int, Option("Answers run together.", minimum=1)] = 8,
    accumulate: Annotated[int, Option("Batches an update.", minimum=1)] = 2,
    rate: Annotated[float, Option("Highest learning rate.", minimum=0.0)] = 2e-4,
    rank: Annotated[int, Option("Of the LoRA adapters.", minimum=1)] = 16,
    seed: Seed = 0,
) -> None:
    """Fine-tune a language model with LoRA into a judge, with a held-out report before it saves.

    A question's part (40% train, 10% development, 50% test) follows from a hash of its text: what
    is learned from and what is tried on never share a question, and the test part is left alone.
    Use it with `markscheme judge FILE --judge "learned(weights='FOLDER')"`.
    """
    from markscheme.training import (
        LearnOptions,
        LoraOptions,
        check_new_folder,
        labelled_answers,
        shipped_data,
        train_finetuned,
    )

    check_new_folder(out)
    options = LearnOptions(
        variant=variant,
        report_on=report_on,
        limit=limit,
        report_limit=report_limit,
        lora=LoraOptions(
            epochs=epochs, steps=steps, batch=batch, accumulate=accumulate, rate=rate, rank=rank,
            seed=seed,
        ),
    )  # fmt: skip
    trained = train_finetuned(
        labelled_answers(data, columns) if data else shipped_data(data_dir=data_dir),
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
