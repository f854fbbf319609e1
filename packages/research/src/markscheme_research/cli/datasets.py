"""`markscheme research datasets`: list, describe, check, fetch and export public datasets."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from markscheme.cli import OutFile, Shown, command, console, flagged, group, notes
from markscheme.flags import Argument, Option
from markscheme_research.options import DataDir


class NameOrAction(TyperGroup):
    """A group in which a word that is no action is the name of a dataset to show."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The action that the first word names, else `show` with that word."""
        if args and self.get_command(ctx, args[0]) is None:
            args = ["show", *args]
        return super().resolve_command(ctx, args)


actions = group("research datasets", cls=NameOrAction, no_args_is_help=False)

Name = Annotated[str, Argument("A dataset's name, as `markscheme research datasets` lists it.")]


def datasets(context: typer.Context, shown: Shown, data_dir: DataDir = None) -> None:
    """List the datasets of the catalogue."""
    context.obj = data_dir
    if context.invoked_subcommand is not None:
        return
    from markscheme_research.datasets import list_datasets

    shown.show(list_datasets(data_dir))
    notes.print(
        "next: markscheme research datasets NAME, or markscheme research datasets fetch NAME"
    )


actions.callback(
    invoke_without_command=True,
    help="List public datasets; `markscheme research datasets NAME` describes one.",
    subcommand_metavar="[NAME | ACTION NAME]",
)(flagged(datasets))


@command("research datasets show", example="markscheme research datasets show nq-open")
def show(context: typer.Context, name: Name, shown: Shown, data_dir: DataDir = None) -> None:
    """Describe one dataset: licence, citation, files, sizes, and where it is searched for."""
    from markscheme_research.datasets import describe_dataset

    shown.show(describe_dataset(name, data_dir or context.obj))


@command("research datasets check", example="markscheme research datasets check nq-open")
def check(context: typer.Context, name: Name, shown: Shown, data_dir: DataDir = None) -> None:
    """Compare the local copy with recorded sizes and checksums; exit with code 1 if they differ."""
    from markscheme_research.datasets import check_dataset

    found = check_dataset(name, data_dir or context.obj)
    shown.show(found)
    if found.different:
        notes.print(
            f"{found.different} of {found.frame.height} checks of {name} differ", style="bold red"
        )
        raise typer.Exit(1)


@command("research datasets fetch", example="markscheme research datasets fetch nq-open")
def fetch(
    context: typer.Context,
    names: Annotated[
        list[str],
        Argument("Names as `markscheme research datasets` lists them.", metavar="NAME..."),
    ],
    data_dir: DataDir = None,
    file: Annotated[tuple[str, ...], Option("Fetch only this file; repeatable.")] = (),
    force: Annotated[bool, Option("Replace files that differ from the recorded checksum.")] = False,
) -> None:
    """Download datasets from where their authors published them, and verify their checksums."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    from markscheme.errors import DataError
    from markscheme_research.datasets import dataset
    from markscheme_research.datasets import fetch as download

    entries = [dataset(name) for name in names]
    if file and len(entries) > 1:
        raise DataError("--file names a file of one dataset; fetch the others by themselves")
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=notes) as bars:
        tasks: dict[str, Any] = {}

        def progress(file_name: str, done: int, expected: int | None) -> None:
            if file_name not in tasks:
                tasks[file_name] = bars.add_task(file_name, total=expected)
            bars.update(tasks[file_name], completed=done, total=expected)

        for entry in entries:
            paths = download(
                entry,
                data_dir=data_dir or context.obj,
                files=file,
                force=force,
                progress=progress,
            )
            for path in paths:
                console.print(str(path), markup=False, soft_wrap=True)
            notes.print(
                f"licence: {entry.licence}. What to cite: "
                f"'markscheme research datasets {entry.name}'"
            )


@command(
    "research datasets export",
    example="markscheme research datasets export nq-open --out nq-open.jsonl",
)
def export(
    context: typer.Context,
    name: Name,
    out: OutFile,
    data_dir: DataDir = None,
    option: Annotated[
        tuple[str, ...], Option("NAME=VALUE, as `markscheme research datasets NAME` lists them.")
    ] = (),
) -> None:
    """Write a dataset as an answers table, which all other commands read."""
    from markscheme.errors import DataError
    from markscheme_research.datasets import export_answers

    options = {}
    for text in option:
        key, equals, value = text.partition("=")
        if not equals:
            raise DataError(f"--option {text!r} must be NAME=VALUE, such as split=train")
        options[key.strip().replace("-", "_")] = value.strip()
    answers = export_answers(name, out, data_dir=data_dir or context.obj, **options)
    console.print(f"{answers.height:,} rows of {name} written to {out}", markup=False)
