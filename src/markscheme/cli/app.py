"""The command-line application that every command file adds itself to, and its consoles."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console

from markscheme.cli.front import Front
from markscheme.text import printable

app = typer.Typer(
    name="markscheme",
    cls=Front,
    help="Mark answers to questions, and learn how far to trust the marks.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
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

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; in texts, signs other than lines and tabs that would not be seen are escaped."""
        super().print(*(printable(one) if isinstance(one, str) else one for one in objects),
                      **options)  # fmt: skip

    def on_broken_pipe(self) -> None:
        """Go on in silence where the reader (head, less) has left: a check's exit code counts."""
        self.quiet = True
        silence(sys.stderr if self.stderr else sys.stdout)


console = _Console(width=_width(sys.stdout), highlight=False)
"""Results: standard output."""

notes = _Console(stderr=True, width=_width(sys.stderr), highlight=False)
"""Progress, warnings and errors: standard error, so that results can be piped."""


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
