"""`markscheme linkage`: how a judge orders non-factoid answers beside drawn references."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from markscheme.cli.app import app, console, notes
from markscheme.cli.model_options import ApiKeyEnv, BaseUrl, LedgerPlace, Model, open_models

if TYPE_CHECKING:
    import polars as pl


class Rule(StrEnum):
    """Whether drawn references leave the candidates."""

    REST = "rest"
    BUTREF = "butref"


@app.command("linkage")
def linkage(
    dataset: Annotated[str, typer.Argument(help="antique or trec-dl-nf.")],
    judge: Annotated[
        list[str] | None, typer.Option("--judge", "-j", help="A judge; may be repeated.")
    ] = None,
    composition: Annotated[
        list[str] | None,
        typer.Option(
            "--composition",
            help="A digit a reference (3210, 33221100), top or none; may be repeated.",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Draws of references.")] = 3,
    protocol: Annotated[
        Rule, typer.Option(help="rest: references leave the candidates; butref: they stay.")
    ] = Rule.REST,
    questions: Annotated[int | None, typer.Option(help="Only so many questions.")] = None,
    part: Annotated[str, typer.Option(help="Part of ANTIQUE: auto, all or dev.")] = "auto",
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder with the data.")
    ] = None,
    model: Model = None,
    base_url: BaseUrl = None,
    api_key_env: ApiKeyEnv = "OPENAI_API_KEY",
    ledger: LedgerPlace = None,
) -> None:
    """Correlate judges with people's grades, question by question, over draws of references.

    Repeat --composition to study length and make-up of the list, --judge to compare approaches,
    shots ("listwise(examples='shots.jsonl', shown=3)") or position bias
    ("listwise(order=worst_first)"). The mean and its standard deviation are over the draws;
    calls, tokens and money are an answer.
    """
    import polars as pl

    from markscheme.agreement.list_figures import over_draws
    from markscheme.datasets import passages
    from markscheme.engine.apply import apply
    from markscheme.grammar import judge_name, parse_judge
    from markscheme.report.table import Table

    frame = passages(dataset, data_dir=data_dir, part=part)
    if questions is not None:
        kept = frame["question"].unique(maintain_order=True).head(questions)
        frame = frame.filter(pl.col("question").is_in(kept.implode()))
    models = open_models(model=model, base_url=base_url, api_key_env=api_key_env, ledger=ledger)
    usual = {"antique": "33221100"}.get(dataset, "3210")
    rows = []
    for one in map(parse_judge, judge or ["listwise_examiner"]):
        for made in composition or [usual]:
            outcomes: list[pl.DataFrame] = []
            calls: list[int] = []

            def score(drawn: pl.DataFrame, one=one, outcomes=outcomes, calls=calls) -> pl.Series:  # type: ignore[no-untyped-def]
                table = drawn.with_columns(
                    answer_id=pl.int_range(pl.len()).cast(pl.String),
                    system=pl.lit(dataset),
                    reference_kind=pl.lit("text"),
                )
                asked = getattr(one, "requests", None)
                calls.append(len(asked(table)) if asked else 0)
                outcomes.append(apply(one, table, models))
                scores: pl.Series = outcomes[-1]["score"]
                return scores

            found = over_draws(
                frame, score, composition=made, seeds=range(seeds), protocol=protocol.value
            )
            said = pl.concat(outcomes)
            cells = [judge_name(one), made, f"{found.questions:.0f}"]
            for name in ("kendall", "spearman", "pearson"):
                spread = found.spreads.get(name)
                around = "" if spread is None else f" ±{spread.value:.3f}"
                cells.append(f"{found.means[name].value:.3f}{around}")
            tokens = float(said["tokens_in"].sum() or 0) + float(said["tokens_out"].sum() or 0)
            money = float(said["cost_usd"].sum() or 0)
            cells += [
                str((said["status"] != "judged").sum()),
                f"{sum(calls) / said.height:.2f}",
                f"{tokens / said.height:.0f}",
                f"{money / said.height:.6f}",
            ]
            rows.append(tuple(cells))
            notes.print(f"{cells[0]} {made}: done", markup=False)
    models.close()
    header = (
        "judge", "list", "questions", "Kendall", "Spearman", "Pearson", "not judged",
        "calls", "tokens", "US dollars",
    )  # fmt: skip
    title = f"{dataset}, {protocol.value}, {seeds} draws"
    table = Table(
        title=title, header=header, rows=tuple(rows), numeric=frozenset(header[2:]),
        notes=("calls, tokens and US dollars are an answer",),
    )  # fmt: skip
    console.print(table.rich())
    console.print(table.notes[0], markup=False)
