"""`markscheme datasets`: list, describe, check, fetch and export public datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from markscheme.cli.app import app, console, notes
from markscheme.cli.options import OutFile, command, flagged
from markscheme.options import Argument, DataDir, Option

if TYPE_CHECKING:
    from markscheme.datasets import Dataset, Local


class NameOrAction(TyperGroup):
    """A group in which a word that is no action is the name of a dataset to show."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The action that the first word names, else `show` with that word."""
        if args and self.get_command(ctx, args[0]) is None:
            args = ["show", *args]
        return super().resolve_command(ctx, args)


group = typer.Typer(cls=NameOrAction, rich_markup_mode="markdown")
app.add_typer(group, name="datasets")

Name = Annotated[str, Argument("A dataset's name, as `markscheme datasets` lists it.")]


def datasets(context: typer.Context, data_dir: DataDir = None) -> None:
    """List the datasets of the catalogue."""
    context.obj = data_dir
    if context.invoked_subcommand is not None:
        return
    from rich.table import Table

    from markscheme.datasets import catalog, find

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "rows", "licence", "here", "what it is"):
        table.add_column(heading, justify="right" if heading == "rows" else "left")
    for entry in catalog().values():
        here = "yes" if find(entry, data_dir) else "no"
        rows = f"{entry.rows:,}" if entry.rows else ""
        table.add_row(entry.name, rows, entry.licence, here, entry.title)
    console.print(table)
    console.print(
        "\n'markscheme datasets NAME' shows one, 'markscheme datasets fetch NAME' gets it"
    )


group.callback(
    invoke_without_command=True,
    help="List public datasets; `markscheme datasets NAME` describes one.",
    subcommand_metavar="[NAME | ACTION NAME]",
)(flagged(datasets))


@command("show", to=group)
def show(context: typer.Context, name: Name, data_dir: DataDir = None) -> None:
    """Describe one dataset: licence, citation, files, sizes, and where it is looked for."""
    from markscheme.datasets import data_folders, dataset, find, options_of

    data_dir = data_dir or context.obj
    entry = dataset(name)
    local = find(entry, data_dir)
    looked = [str(root / entry.folders[0]) for root in data_folders(data_dir)]
    place = str(local.folder) if local else f"no; looked in {', '.join(looked)}"
    _line(entry.name, entry.title)
    _line("licence", entry.licence)
    _line("homepage", entry.homepage)
    _line("here", place)
    _heading("files" if entry.need == "all" else "files (any one is enough)")
    _print_files(entry, local)
    if entry.counts:
        _heading("sizes")
        width = max(map(len, entry.counts)) + 2
        for what, number in entry.counts.items():
            _line(f"  {what}", f"{number:>9,}", width=width)
    options = options_of(name)
    if options:
        _heading("options (--option NAME=VALUE of export; keywords of markscheme.datasets.loading)")
        for option, phrase in options.items():
            _line(f"  {option}", phrase)
    if entry.notes:
        _heading("notes")
        for note in entry.notes:
            console.print(f"  {note}", markup=False, soft_wrap=True)
    _heading("citation")
    console.print(entry.citation.strip(), markup=False)


@command("check", to=group)
def check(context: typer.Context, name: Name, data_dir: DataDir = None) -> None:
    """Compare the copy here with recorded sizes and checksums. Exit code 1 if something differs."""
    from rich.table import Table

    from markscheme.datasets import check as compare

    checks = compare(name, data_dir=data_dir or context.obj)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("what", "recorded", "here", ""):
        table.add_column(heading, overflow="fold")
    for item in checks:
        found = "not here" if item.found is None else item.found
        verdict = "" if item.found is None else ("same" if item.ok else "DIFFERENT")
        table.add_row(item.what, _short(item.recorded), _short(found), verdict)
    console.print(table)
    wrong = [item for item in checks if not item.ok]
    if wrong:
        notes.print(f"{len(wrong)} of {len(checks)} checks of {name} differ", style="bold red")
        raise typer.Exit(1)


@command("fetch", to=group)
def fetch(
    context: typer.Context,
    names: Annotated[
        list[str],
        Argument("Names as `markscheme datasets` lists them.", metavar="NAME..."),
    ],
    data_dir: DataDir = None,
    file: Annotated[tuple[str, ...], Option("Only this file; may be repeated.")] = (),
    force: Annotated[bool, Option("Replace files that differ from the recorded checksum.")] = False,
) -> None:
    """Download datasets' files from where their authors published them, and check them."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    from markscheme.datasets import dataset
    from markscheme.datasets import fetch as download
    from markscheme.errors import DataError

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
                f"licence: {entry.licence}. What to cite: 'markscheme datasets {entry.name}'"
            )


@command("export", to=group)
def export(
    context: typer.Context,
    name: Name,
    out: OutFile,
    data_dir: DataDir = None,
    option: Annotated[
        tuple[str, ...], Option("NAME=VALUE, as `markscheme datasets NAME` lists them.")
    ] = (),
) -> None:
    """Write a dataset as an answers table, which every other command reads."""
    from markscheme.datasets import load
    from markscheme.errors import DataError
    from markscheme.tables import write_answers

    options = {}
    for text in option:
        key, equals, value = text.partition("=")
        if not equals:
            raise DataError(f"--option {text!r} must be NAME=VALUE, such as split=train")
        options[key.strip().replace("-", "_")] = value.strip()
    answers = load(name, data_dir=data_dir or context.obj, **options)
    if not out.parent.is_dir():
        raise DataError(f"there is no folder {out.parent} to write {out.name} in")
    write_answers(answers, out)
    console.print(f"{answers.height:,} rows of {name} written to {out}", markup=False)


def _print_files(entry: Dataset, local: Local | None) -> None:
    """A line a file, then the addresses they come from."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    for file in entry.files:
        table.add_row(
            f"  {file.name}",
            "here" if local and file.name in local.files else "not here",
            f"{file.size:,} bytes" if file.size else "",
            f"sha256 {_short(file.sha256)}" if file.sha256 else "no checksum recorded",
            "optional" if file.optional else "",
        )
    console.print(table)
    for address in dict.fromkeys(file.address.rpartition("/")[0] for file in entry.files):
        if address:
            console.print(f"  from {address}", markup=False, soft_wrap=True)


def _short(text: str) -> str:
    return text if len(text) < 64 else f"{text[:12]}..."


def _line(name: str, value: str, *, width: int = 24) -> None:
    console.print(f"{name:<{width}} {value}", markup=False, soft_wrap=True)


def _heading(text: str) -> None:
    console.print(f"\n{text}", markup=False, style="bold")
