"""What all commands of `markscheme study` share: options, opening data and models, printing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from markscheme.cli import model_options
from markscheme.cli.app import app, console
from markscheme.results import Table

if TYPE_CHECKING:
    import polars as pl

    from markscheme.analysis import Material, Plan
    from markscheme.contract import Judge
    from markscheme.models import Models

study = typer.Typer(
    help="Studies of judges of non-factoid answers: lists, draws, shots, order, cost.",
    no_args_is_help=True,
)
app.add_typer(study, name="study")


@study.callback()
def group() -> None:
    """Studies of judges of non-factoid answers, beside people's grades."""


class Rule(StrEnum):
    """Whether drawn references leave the candidates."""

    REST = "rest"
    BUTREF = "butref"


class Form(StrEnum):
    """How a table is printed."""

    TABLE = "table"
    MARKDOWN = "markdown"
    CSV = "csv"
    LATEX = "latex"


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="antique, trec-dl-nf, webglm, or a file with question, answer and a grade in label "
        "(and references with reference_grades; else they are drawn from the answers).",
    ),
]
Composition = Annotated[
    str | None,
    typer.Option(
        "--composition",
        "-c",
        help="A digit a reference, its grade above the lowest: 3210, 33221100; or top, none. "
        "[default: the paper's]",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a command line asks to be studied.

    Attributes:
        material: candidates and references.
        plan: draws of references, and candidates kept.
        judges: who is studied.
        models: what they may ask.
    """

    material: Material
    plan: Plan
    judges: Sequence[Judge]
    models: Models

    def tables(self, composition: str | None) -> list[pl.DataFrame]:
        """A table of candidates a draw."""
        return self.plan.tables(self.material, composition or self.material.usual)

    def title(self, composition: str | None, about: str) -> str:
        """Above a table: data, list, rule, draws."""
        many = f"{self.plan.seeds} draw{'s' * (self.plan.seeds != 1)}"
        made = composition or self.material.usual
        return f"{self.material.name}, list {made}, {self.plan.protocol}, {many}: {about}"


def _common(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="antique, trec-dl-nf, webglm, or a file with question, answer and a grade in "
            "label (with references and reference_grades; else these are drawn from the answers).",
        ),
    ],
    judge: Annotated[
        list[str] | None,
        typer.Option(
            "--judge", "-j", help='A judge, such as "pairwise(positions=both)"; may be repeated.'
        ),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Draws of references.")] = 1,
    protocol: Annotated[
        Rule,
        typer.Option(
            help="rest: drawn references leave the candidates; butref: they stay, which leaks."
        ),
    ] = Rule.REST,
    questions: Annotated[
        int | None, typer.Option(min=1, help="Only so many questions, at random: to try things.")
    ] = None,
    per_question: Annotated[
        int | None, typer.Option("--per-question", min=1, help="Only so many answers of each.")
    ] = None,
    part: Annotated[str, typer.Option(help="Of ANTIQUE: auto, all or dev.")] = "auto",
    columns: Annotated[
        str, typer.Option(help="Columns with unusual names: answer=passage,label=grade.")
    ] = "",
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Folder with the datasets.")
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="How the table is printed.")] = Form.TABLE,
    model: model_options.Model = None,
    base_url: model_options.BaseUrl = None,
    api_key_env: model_options.ApiKeyEnv = "OPENAI_API_KEY",
    ledger: model_options.LedgerPlace = None,
    concurrency: model_options.Concurrency = 16,
    max_calls: model_options.MaxCalls = None,
    max_cost: model_options.MaxCost = None,
) -> None:
    """The options of every study; never called, only looked at."""


def study_command(
    name: str, *, usual: Sequence[str], seeds: int = 1
) -> Callable[[Callable[..., Table]], Callable[..., Table]]:
    """Make a command of a function that gives a table from a `Setup` and its own options.

    Args:
        name: of the command.
        usual: judges where none is named.
        seeds: draws where no number is given.
    """

    def register(work: Callable[..., Table]) -> Callable[..., Table]:
        common = dict(inspect.signature(_common, eval_str=True).parameters)
        own = list(inspect.signature(work, eval_str=True).parameters.values())[1:]
        common["seeds"] = common["seeds"].replace(default=seeds)

        def command(**values: Any) -> None:
            given = {key: values.pop(key) for key in common}
            setup = _set_up(given, usual)
            try:
                table = work(setup, **values)
            finally:
                setup.models.close()
            show(table, given["form"])

        data, *others = (*common.values(),)
        parameters = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (data, *own, *others)
        ]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        command.__doc__ = work.__doc__
        study.command(name)(command)
        return work

    return register


def _set_up(given: dict[str, Any], usual: Sequence[str]) -> Setup:
    from markscheme.analysis import Plan, open_material
    from markscheme.contract import parse_judge
    from markscheme.options import parse_columns

    judges = [parse_judge(one) for one in given["judge"] or usual]
    folder = given["data_dir"]
    return Setup(
        material=open_material(
            given["data"], data_dir=None if folder is None else str(folder), part=given["part"],
            columns=parse_columns(given["columns"]), questions=given["questions"],
        ),
        plan=Plan(
            seeds=given["seeds"], protocol=given["protocol"].value,
            per_question=given["per_question"],
        ),
        judges=judges,
        models=model_options.open_models(
            model=given["model"], base_url=given["base_url"], api_key_env=given["api_key_env"],
            ledger=given["ledger"], server={"concurrency": given["concurrency"]},
            max_calls=given["max_calls"], max_cost=given["max_cost"],
        ),
    )  # fmt: skip


def show(table: Table, form: Form) -> None:
    """Print a table; what stands beside it too."""
    if form is Form.TABLE:
        console.print(table.rich())
        for note in table.notes:
            console.print(note, markup=False, soft_wrap=True)
    else:
        print(
            {
                Form.MARKDOWN: table.markdown,
                Form.CSV: table.csv,
                Form.LATEX: table.latex,
            }[form]()
        )


def number(value: float | None, *, digits: int = 3, sign: bool = False) -> str:
    """A figure, or n/a."""
    return "n/a" if value is None else f"{value:{'+' if sign else ''}.{digits}f}"
