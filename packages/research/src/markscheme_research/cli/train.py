"""`markscheme research train`: make the judges that papers and recipes train."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Literal

from markscheme.cli import (
    OutFile,
    command,
    console,
    group,
    progress,
    say,
    show_tables,
    show_weights,
)
from markscheme.flags import LIMIT, Default, Option, Seed
from markscheme.tables import FileOptions, check_new_folder
from markscheme_research.options import (
    DRAWS,
    ENTAILED,
    FOLDS,
    ROUNDS,
    DataDir,
    Part,
    TrainingData,
)

group(
    "research train",
    "Train the papers' fine-tuned judges, the entailment test and the listwise examiner.",
)


@command(
    "research train entailment",
    example="markscheme research train entailment --data pairs.jsonl --out weights",
)
def entailment(
    out: OutFile,
    read: FileOptions,
    data: Annotated[
        TrainingData, Default("the training part of EVOUNA-NQ, which makes the test that ships")
    ] = (),
    pairs: Annotated[
        tuple[str, ...],
        Option("NLI files to train on as well (premise, hypothesis, label); several may be given."),
    ] = (),
    entailed: Annotated[str | None, ENTAILED] = None,
    data_dir: DataDir = None,
    rounds: Annotated[int | None, ROUNDS] = None,
    folds: Annotated[int, FOLDS] = 5,
    seed: Seed = 0,
) -> None:
    """Train the entailment test, with a held-out report before it saves.

    It is trained on generated pairs around the questions' references and on people's verdicts: an
    answer that people accepted entails the reference or follows from it. Use it with `markscheme
    judge FILE --judge "entailment(test='embedded:FOLDER')"`.
    """
    from markscheme_research.training import (
        EntailmentOptions,
        entailment_report,
        read_all_pairs,
        train_entailment,
        training_answers,
    )

    check_new_folder(out)
    given = read_all_pairs(pairs, entailed=entailed)
    trained = train_entailment(
        training_answers(data, read, part="train", data_dir=data_dir),
        out,
        EntailmentOptions(folds=folds, seed=seed).with_rounds(rounds),
        given=given,
        say=say,
        report=lambda held_out: show_tables(entailment_report(held_out)),
    )
    show_weights(trained.folder, f"entailment(test='embedded:{out}')")


@command(
    "research train learned",
    example="markscheme research train learned --data seen.jsonl --base-model FOLDER -o weights",
)
def learned(
    out: OutFile,
    read: FileOptions,
    model: Annotated[
        str,
        Option(
            "Causal language model to train: a folder, a .gguf file or a name on the Hugging Face "
            "hub.",
            ("--base-model",),
            aliases=("--model", "-m"),
        ),
    ],
    data: Annotated[TrainingData, Default("EVOUNA-NQ")] = (),
    variant: Annotated[
        Literal["plain", "nli", "cvi", "cvi-statements"],
        Option(
            "plain: question, references, answer. nli: with the entailment's outcome, too. "
            "cvi: what the answer tells about the references; cvi-statements: as a statement, per "
            "token."
        ),
    ] = "plain",
    recipe: Annotated[
        Literal["yao2024-sft", "yao2024-sft-nli", "yao2024-cvi"] | None,
        Option(
            "Settings of Yao & Barbosa's trained judges (2024, Table 2), in place of variant, "
            "epochs, batch-size, accumulate, rate, rank, report-on and split, and 4 bits."
        ),
    ] = None,
    bits: Annotated[
        Literal["4", "full"] | None,
        Option(
            "4: load the base model in 4 bits (needs a GPU and 'markscheme[four-bits]'). full: as "
            "it is. [default: full; with --recipe, 4]",
            rare=True,
        ),
    ] = None,
    split: Annotated[
        Literal["hash", "pandas"],
        Option(
            "How questions are split: by a hash of their text, or (pandas) into halves as pandas "
            "draws them, with random_state=42 and no development part.",
            rare=True,
        ),
    ] = "hash",
    data_dir: DataDir = None,
    limit: Annotated[int | None, LIMIT] = None,
    report_limit: Annotated[
        int | None, Option("Maximum number of held-out answers to judge.", minimum=1, rare=True)
    ] = None,
    report_on: Annotated[
        Literal["development", "test"],
        Option("Held-out part that the figures are for: development or test."),
    ] = "development",
    epochs: Annotated[int, Option("Passes over the training answers.", minimum=1)] = 2,
    steps: Annotated[
        int | None, Option("Number of weight updates, instead of --epochs.", minimum=1, rare=True)
    ] = None,
    batch: Annotated[
        int,
        Option("Number of answers in a batch.", ("--batch-size",), aliases=("--batch",), minimum=1),
    ] = 8,
    accumulate: Annotated[
        int, Option("Number of batches per weight update.", minimum=1, rare=True)
    ] = 2,
    rate: Annotated[float, Option("Peak learning rate.", minimum=0.0, rare=True)] = 2e-4,
    rank: Annotated[int, Option("Rank of the LoRA adapters.", minimum=1, rare=True)] = 16,
    seed: Seed = 0,
) -> None:
    """Fine-tune a language model with LoRA into a judge, with a held-out report before it saves.

    A hash of its text decides a question's part (40% train, 10% development, 50% test), so training
    and evaluation never share a question, and the test part stays unused unless --report-on test.
    Use the judge with `markscheme judge FILE --judge "learned(weights='FOLDER')"`.
    """
    from markscheme_research.training import (
        RECIPES,
        LearnOptions,
        LoraOptions,
        finetuned_report,
        train_finetuned,
        training_answers,
    )

    check_new_folder(out)
    options = LearnOptions(
        variant=variant,
        report_on=report_on,
        limit=limit,
        report_limit=report_limit,
        split=split,
        lora=LoraOptions(
            epochs=epochs, steps=steps, batch=batch, accumulate=accumulate, rate=rate, rank=rank,
            seed=seed,
        ),
    )  # fmt: skip
    if recipe is not None:
        own = RECIPES[recipe]
        options = replace(
            own, limit=limit, report_limit=report_limit,
            lora=replace(own.lora, steps=steps, seed=seed),
        )  # fmt: skip
    if bits is not None:
        options = replace(options, four_bits=bits == "4")
    trained = train_finetuned(
        training_answers(data, read, data_dir=data_dir),
        out,
        model,
        options,
        say=say,
        report=lambda figures: show_tables(finetuned_report(figures)),
        progress=_bar,
    )
    show_weights(trained.folder, f"learned(weights='{out}')")


@command("research train listwise", example="markscheme research train listwise --out weights")
def listwise(
    out: OutFile,
    data_dir: DataDir = None,
    part: Part = "dev",
    draws: Annotated[int, DRAWS] = 7,
    seed: Seed = 0,
) -> None:
    """Train the listwise examiner on ANTIQUE and TREC-DL-NF, cross-validated by question.

    Prints, before anything is saved, correlations with people's grades on held-out questions, for
    many, one and no reference, and how well the scores are calibrated. The judge
    `listwise_examiner(weights='FOLDER')` uses the result. The defaults reproduce the shipped
    weights, byte for byte on the same kind of machine.
    """
    from markscheme_research.training import ListwiseOptions, train_listwise

    check_new_folder(out)
    options = ListwiseOptions(draws=draws, seed=seed)
    train_listwise(out, options, data_dir=data_dir, part=part, say=say, report=show_tables)
    show_weights(out, f"listwise_examiner(weights='{out}')")


@command(
    "research train question-kind",
    example="markscheme research train question-kind --out weights",
)
def question_kind(out: OutFile, data_dir: DataDir = None) -> None:
    """Train the classifier of questions: factoid, or asking for an explanation or advice.

    Trains on the questions of EVOUNA-NQ and CuratedTREC (factoid), ANTIQUE-dev, TREC-DL-NF and
    WebGLM (the others). Prints, before it saves, the share classified correctly on held-out
    questions. The defaults reproduce the shipped file.
    """
    from markscheme_research.training import train_question_kind

    fitted = train_question_kind(out, data_dir=data_dir, report=show_tables)
    console.print(f"weights in {out}: {len(fitted.weights)} numbers", markup=False)


@contextmanager
def _bar(name: str, steps: int) -> Iterator[Callable[[int, str], None]]:
    with progress(f"training {name}", total=steps, unit="updates") as advance:

        def more(count: int, note: str) -> None:
            advance(count)
            advance.note(note)

        yield more
