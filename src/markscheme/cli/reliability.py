"""`markscheme reliability`: does a judge say the same thing twice?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli import model_options
from markscheme.cli.app import app, notes
from markscheme.cli.output import Format, Judges, Out, PositiveFrom, Printed, emit, read_judged

if TYPE_CHECKING:
    from markscheme.contract import Judge
    from markscheme.models import Models
    from markscheme.tables import ReadOptions


@app.command("reliability")
def reliability(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Answers to judge several times; or, without --judge, the judgments or folders of "
            "two or more runs that are there already.",
        ),
    ],
    judge: Annotated[str | None, typer.Option("--judge", "-j", help="The judge to repeat.")] = None,
    seeds: Annotated[
        str, typer.Option(help="A run for each seed, by comma, as the paper's 0,1,2,3.")
    ] = "",
    samples: Annotated[
        int | None,
        typer.Option(min=2, help="Or so many runs that differ in nothing but being asked anew."),
    ] = None,
    runs: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the runs; an interrupted one goes on there. [default: runs/ and a "
            "name made from file and judge]"
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="People's labels, for the spread of F1 and accuracy. [default: the runs]"
        ),
    ] = None,
    label_column: Annotated[str | None, typer.Option(help="The column with labels.")] = None,
    judges: Judges = "",
    columns: Annotated[
        str, typer.Option(help="Columns with unusual names: question=q,answer=pred.")
    ] = "",
    reference_separator: Annotated[
        str, typer.Option(help="What separates references in one text; see 'markscheme judge'.")
    ] = "auto",
    positive_from: PositiveFrom = None,
    texts: Annotated[
        str | None, typer.Option(help="Compare these texts too: raw or explanation.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    output: Printed = Format.TABLE,
    out: Out = None,
    model: model_options.Model = None,
    model_revision: model_options.Revision = "",
    base_url: model_options.BaseUrl = None,
    api_key_env: model_options.ApiKeyEnv = "OPENAI_API_KEY",
    ledger: model_options.LedgerPlace = None,
    concurrency: model_options.Concurrency = 16,
    timeout: model_options.Timeout = 120.0,
    max_cost: model_options.MaxCost = None,
    max_calls: model_options.MaxCalls = None,
    replay: model_options.Replay = False,
) -> None:
    """Run a judge several times, or take several runs, and say how far they agree.

    Cohen's kappa of verdicts and relations for every two runs, the spread of F1 and accuracy where
    there are labels; and of the entailment judge the agreement of statements (BLEU and identical
    ones) and of entailment tests (Yao & Barbosa 2024, appendix A.2, Tables 4 to 7).
    """
    from markscheme.cli.reading import read_options
    from markscheme.cli.repeat_tables import repeat_tables, repeats_of
    from markscheme.errors import MarkschemeError
    from markscheme.results import plain

    kept: dict[str, Any] = {
        "model": model, "revision": model_revision, "base_url": base_url,
        "api_key_env": api_key_env, "ledger": ledger, "max_cost": max_cost, "max_calls": max_calls,
        "replay": replay, "server": {"concurrency": concurrency, "timeout": timeout},
    }  # fmt: skip
    if judge is None:
        if seeds or samples:
            raise MarkschemeError("--seeds and --samples need --judge: what is to be repeated?")
        folders = list(files)
    else:
        models = model_options.open_models(**kept)
        try:
            folders = _judged(
                files, judge, models,
                settings=_settings(seeds, samples), folder=runs, quiet=quiet,
                options=read_options(columns=columns, reference_separator=reference_separator),
            )  # fmt: skip
        finally:
            models.close()
        notes.print(f"language models: {models.budget.spending}", markup=False)
    if len(folders) < 2:
        raise MarkschemeError(
            "reliability needs two runs or more: name their folders, or a file to judge with "
            "--judge and --seeds 0,1,2,3 (or --samples 4)"
        )
    read = [
        read_judged(one, judges=judges, columns="", answers=None, threshold=0.5) for one in folders
    ]
    names = [Path(one).name for one in folders]
    if len(set(names)) < len(names):
        names = [f"run{place}" for place, _ in enumerate(folders, start=1)]
    found = repeats_of(
        read,
        _labelled(folders[0], judges, labels, label_column),
        positive_from,
        texts=texts,
        names=names,
    )
    for name, one in zip(names, folders, strict=True):
        notes.print(f"{name}: {one}", markup=False)
    emit(
        repeat_tables(found),
        {"command": "reliability", "runs": folders, **plain(found)},
        output=output,
        out=out,
    )


def _settings(seeds: str, samples: int | None) -> list[dict[str, int]]:
    """What differs from run to run.

    Raises:
        MarkschemeError: not exactly one of the two, or seeds that are no whole numbers.
    """
    from markscheme.errors import MarkschemeError

    if bool(seeds) == (samples is not None):
        raise MarkschemeError("name either --seeds 0,1,2,3 or --samples 4, and not both")
    if samples is not None:
        return [{"sample": sample} for sample in range(samples)]
    try:
        return [{"seed": int(seed)} for seed in seeds.split(",")]
    except ValueError:
        raise MarkschemeError(
            f"--seeds {seeds!r} must be whole numbers with commas, as in 0,1,2,3"
        ) from None


def _judged(
    files: list[str],
    judge: str,
    models: Models,
    *,
    settings: list[dict[str, int]],
    folder: Path | None,
    quiet: bool,
    options: ReadOptions,
) -> list[str]:
    """Judge the files once for each setting, each in a folder of its own; the folders."""
    from markscheme.api import run
    from markscheme.cli.progress import progress
    from markscheme.contract import parse_judge
    from markscheme.engine import default_folder
    from markscheme.judges.prompted import SamplingOverrides
    from markscheme.tables import AnswersReader, count_rows

    base = parse_judge(judge)
    # Not the folder of 'markscheme judge' on the same file, which is a run's own.
    once = default_folder(files, [base], None, models)
    target = folder or once.with_name(f"{once.name}-repeated")
    total = None if quiet else count_rows(files)
    found = []
    with progress("judging", total=total and total * len(settings), quiet=quiet) as advance:
        for setting in settings:
            seed = setting.get("seed")
            one = base if seed is None else _seeded(base, seed)
            word, number = next(iter(setting.items()))
            place = target / f"{word}-{number}"
            run(
                AnswersReader(list(files), options),
                [one],
                out=place,
                models=SamplingOverrides(models=models, seed=seed, sample=setting.get("sample", 0)),
                on_progress=advance,
            )
            found.append(str(place))
    if _seeded(base, 1) == _seeded(base, 2):
        notes.print(
            f"note: {judge} has no seed; its runs differ only where it asks a language model",
            markup=False,
        )
    return found


def _seeded(judge: Judge, seed: int) -> Judge:
    """The judge with its seeds, and those of judges inside it, set."""
    import dataclasses

    changed: dict[str, Any] = {}
    for field in dataclasses.fields(judge):  # type: ignore[arg-type]
        value = getattr(judge, field.name)
        if field.name == "seed" or field.name.endswith("_seed"):
            changed[field.name] = seed
        elif isinstance(value, tuple):
            changed[field.name] = tuple(
                _seeded(one, seed) if _is_judge(one) else one for one in value
            )
        elif _is_judge(value):
            changed[field.name] = _seeded(value, seed)
    return dataclasses.replace(judge, **changed)  # type: ignore[type-var]


def _is_judge(value: Any) -> bool:
    import dataclasses

    return dataclasses.is_dataclass(value) and hasattr(value, "judge")


def _labelled(source: str, judges: str, labels: str | None, label_column: str | None) -> Any:
    """The first run with labels, None where there are none to be had."""
    from markscheme.agreement import join_labels
    from markscheme.cli.output import read_both
    from markscheme.errors import DataError

    try:
        rows, known = read_both(
            source, labels, judges=judges, columns="", answers=None, threshold=0.5,
            label_column=label_column,
        )  # fmt: skip
    except DataError:
        if labels is not None or label_column is not None:
            raise
        notes.print("no labels beside the runs, so no spread of F1 and accuracy; see --labels")
        return None
    return join_labels(rows, known)
