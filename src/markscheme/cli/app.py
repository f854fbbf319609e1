"""The command-line application: its headings and groups of commands, and its consoles."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from markscheme.text import printable

PANELS: dict[str, tuple[str, ...]] = {
    "Commands": (
        "judge",
        "explain",
        "failures",
        "view",
        "annotate",
        "plan-labels",
        "agree",
        "estimate",
        "compare",
        "rank",
        "diff",
        "report",
        "judges",
        "serve",
    ),
    "Groups": ("llm", "train", "research"),
    "Also": ("annotate-export", "calibrate", "columns", "init", "verify"),
}
"""The commands and groups under each heading, in the order they are shown; others come last."""

GROUPS: dict[str, str] = {
    "train": "Train the examiner on your own labelled answers.",
    "llm": "Language models as judges: batches, the ledger of replies, drift.",
    "research": "Reproduced papers, public datasets, studies of judges, further training.",
}
"""What each group on the front page is for."""


class Front(TyperGroup):
    """The application: its commands are under the headings of `PANELS`."""

    def get_params(self, ctx: Any) -> Any:
        """Its options, which take no value."""
        known = super().get_params(ctx)
        for parameter in known:
            parameter.metavar = ""
        return known

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of `PANELS`, others after them."""
        known = [name for names in PANELS.values() for name in names]
        place = {name: number for number, name in enumerate(known)}
        return sorted(super().list_commands(ctx), key=lambda name: place.get(name, len(place)))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command or group, with its heading."""
        found: Any = super().get_command(ctx, cmd_name)
        if found is not None:
            panels = (panel for panel, names in PANELS.items() if cmd_name in names)
            found.rich_help_panel = next(panels, "Also")
        return found


app = typer.Typer(
    name="markscheme",
    cls=Front,
    help="Judge answers to questions, and measure how reliable the judgments are.",
    epilog="Coding agents: SKILL.md in the installed package says what to run for which request.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_GROUPS: dict[str, typer.Typer] = {"": app}


def group(path: str, about: str = "", **options: Any) -> typer.Typer:
    """The group of commands at a path such as `llm batch`, made when it is first needed.

    Args:
        path: as it is typed after `markscheme`.
        about: what its help says.
        options: further arguments of typer's, for a group made now.
    """
    if path not in _GROUPS:
        above, _, name = path.rpartition(" ")
        made = typer.Typer(
            **{
                "help": about or GROUPS.get(path),
                "no_args_is_help": True,
                "rich_markup_mode": "markdown",
                **options,
            }
        )
        group(above).add_typer(made, name=name)
        _GROUPS[path] = made
    return _GROUPS[path]


def registrations() -> tuple[object, ...]:
    """What is registered by now: the commands and groups, those in groups too."""
    return tuple(
        one
        for made in _GROUPS.values()
        for one in (*made.registered_commands, *made.registered_groups)
    )


def _width(stream: TextIO) -> int | None:
    """Text that goes to a file or a pipe is not folded at 80 columns, unless COLUMNS says so."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return int(asked)
    return None if stream.isatty() else 200


def silence(stream: TextIO) -> None:
    """Have nothing more of a stream written, since its reader (head, less) has left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Console(Console):
    """Prints untrusted text (names, answers, replies) so that it cannot steer a terminal."""

    def __init__(self, stream: TextIO, *, stderr: bool = False) -> None:
        """Print on a stream. Texts are printed as they are: their brackets and `:words:` too."""
        super().__init__(
            stderr=stderr, width=_width(stream), highlight=False, markup=False, emoji=False
        )

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; in texts, signs other than lines and tabs that would not be seen are escaped.

        A terminal breaks long lines wherever they end, so notes are folded here between words.
        """
        if self.stderr and self.is_terminal and options.get("soft_wrap"):
            options |= {"soft_wrap": False}
        super().print(
            *(printable(one) if isinstance(one, str) else one for one in objects), **options
        )

    def on_broken_pipe(self) -> None:
        """Go on in silence where the reader (head, less) has left: a check's exit code counts."""
        self.quiet = True
        silence(sys.stderr if self.stderr else sys.stdout)


console = _Console(sys.stdout)
"""Results: standard output."""

notes = _Console(sys.stderr, stderr=True)
"""Progress, warnings and errors: standard error, so that results can be piped."""


def print_error(text: str) -> None:
    """An error as every command prints it."""
    notes.print(Text.assemble(("error: ", "bold red"), printable(text)), soft_wrap=True)


def print_warning(text: str) -> None:
    """A warning of what a server allows, which is to be seen."""
    notes.print(Text.assemble(("warning: ", "bold yellow"), printable(text)))


def print_version(value: bool) -> None:
    """Print the version and stop, for `--version`."""
    if value:
        from markscheme.contract import version

        console.print(f"markscheme {version()}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error.", is_eager=True)
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=print_version, is_eager=True),
    ] = False,
) -> None:
    """Options of every command; `main` reads `--debug` itself."""
