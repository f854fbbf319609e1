"""`markscheme probe`: what moves a judge's verdict that should not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli import model_options
from markscheme.cli.app import app
from markscheme.cli.output import Format, Out, Printed, Seed, emit, percent

if TYPE_CHECKING:
    import polars as pl

    from markscheme.results import Table


@app.command("probe")
def probe(
    judge: Annotated[str, typer.Argument(help="The judge, such as examiner or llm_grader.")],
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Answers to try it on; no labels needed.")
    ],
    probes: Annotated[str, typer.Option(help="Only these probes, by comma. [default: all]")] = "",
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Try so many answers, drawn at random; for judges that cost."),
    ] = None,
    seed: Seed = 0,
    columns: Annotated[
        str, typer.Option(help="Columns with unusual names: question=q,answer=pred.")
    ] = "",
    reference_separator: Annotated[
        str, typer.Option(help="What separates references in one text; see 'markscheme judge'.")
    ] = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
    output: Printed = Format.TABLE,
    out: Out = None,
    model: model_options.Model = None,
    model_revision: model_options.Revision = "",
    base_url: model_options.BaseUrl = None,
    api_key_env: model_options.ApiKeyEnv = "OPENAI_API_KEY",
    ledger: model_options.LedgerPlace = None,
    concurrency: model_options.Concurrency = 16,
    max_cost: model_options.MaxCost = None,
    max_calls: model_options.MaxCalls = None,
    replay: model_options.Replay = False,
) -> None:
    """Dress answers up, or turn the references around, and count the verdicts that flip.

    Padding, politeness, capitals, a lead-in, a system's name, an order to the judge, the order of
    sentences and of references: none of these changes what an answer says.
    """
    from markscheme.analysis import chosen
    from markscheme.analysis import probe as run_probes
    from markscheme.cli.output import split
    from markscheme.cli.progress import progress
    from markscheme.cli.reading import read_options
    from markscheme.contract import judge_name, parse_judge, signature
    from markscheme.tables import read_answers

    names = chosen(split(probes))
    tried = parse_judge(judge)
    options = read_options(columns=columns, reference_separator=reference_separator)
    answers = read_answers(list(files), options)
    found = answers.height
    if limit is not None and limit < found:
        answers = answers.sample(limit, seed=seed)
    models = model_options.open_models(
        model=model,
        revision=model_revision,
        base_url=base_url,
        api_key_env=api_key_env,
        ledger=ledger,
        server={"concurrency": concurrency},
        max_cost=max_cost,
        max_calls=max_calls,
        replay=replay,
    )
    with progress("probing", total=None, quiet=quiet) as advance:
        models.budget.on_change = lambda spending: advance.note(str(spending))
        try:
            table = run_probes(
                tried, answers, probes=names, models=models, seed=seed, on_progress=advance
            )
        finally:
            signed = signature(tried, models)
            models.close()
    data: dict[str, Any] = {
        "command": "probe",
        "judge": judge_name(tried),
        "signature": signed,
        "answers": answers.height,
        "of": found,
        "seed": seed,
        "probes": table.to_dicts(),
    }
    emit([_shown(table, judge_name(tried), answers.height, signed)], data, output=output, out=out)


def _shown(table: pl.DataFrame, judge: str, answers: int, signed: str) -> Table:
    from markscheme.results import Table, interval

    rows = []
    for row in table.iter_rows(named=True):
        has = row["flip_rate"] is not None
        rows.append(
            (
                row["probe"],
                row["meaning"],
                f"{row['answers']:,}",
                percent(row["flip_rate"]),
                interval(row["low"], row["high"]) if has else "-",
                f"{row['to_accepted']:,}" if has else "-",
                f"{row['to_rejected']:,}" if has else "-",
                percent(row["moved"]),
                "-" if row["mean_change"] is None else f"{100 * row['mean_change']:+.1f}",
                f"{row['not_judged']:,}",
            )
        )
    header = (
        "probe", "the answer or its references, changed", "answers", "flips, %", "95% interval",
        "to accepted", "to rejected", "scores moved, %", "mean change", "not judged",
    )  # fmt: skip
    return Table(
        title=f"Verdicts of {judge} that flip, of {answers:,} answers",
        header=header,
        rows=tuple(rows),
        numeric=frozenset(header[2:]),
        notes=(
            "Only answers that a probe can change are counted. Scores moved: by more than 5 points "
            "of 100. Under 'injection' the flips to accepted are what an attacker gains.",
            f"Signature: `{signed}`",
        ),
    )
