"""The command line: one file a command, each of which parses, calls the library and prints."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import sys
from collections.abc import Sequence

from markscheme.cli.app import app, notes, silence
from markscheme.cli.front import add_examples, name_of_before
from markscheme.errors import MarkschemeError

_INTERRUPTED = 130

_COLLECT_FROM = 50_000
"""New objects after which Python looks for garbage. Starting makes hundreds of thousands that stay;
at Python's own 700 to 2,000, searching those took an eighth of a short command's time."""


def load_commands(arguments: Sequence[str] = ()) -> None:
    """Import command files, which registers their commands with the application.

    Where the first argument is a command with a file of its own, no other file is imported: a
    command starts in the time that it needs itself.
    """
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    typed = name_of_before(" ".join(arguments[:2])).split() if arguments else [""]
    first = typed[0].replace("-", "_")
    own = [name for name in names if name == first or name.startswith(f"{first}_")]
    for name in own if first in own else names:
        importlib.import_module(f"{__name__}.{name}")
    if own and arguments and typed[0] not in _registered():
        load_commands()
    add_examples(app)


def _registered() -> set[str | None]:
    commands = {one.name for one in app.registered_commands}
    return commands | {one.name for one in app.registered_groups}


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code.

    0: done. 1: done, and the check that was asked for failed or nothing was judged; or stopped,
    since no further request to a model could succeed. 2: an error, printed without a traceback
    unless `--debug` is given. 130: interrupted.
    """
    debug = "--debug" in arguments
    arguments = ["--debug", *(item for item in arguments if item != "--debug")][not debug :]
    load_commands([item for item in arguments if item != "--debug"])
    try:
        code = app(args=list(arguments), standalone_mode=False, prog_name="markscheme")
    except MarkschemeError as error:
        if debug:
            raise
        notes.print("error: ", style="bold red", end="")
        notes.print(str(error), markup=False, soft_wrap=True)
        return error.exit_code
    except BrokenPipeError:
        return _reader_left()
    except SystemExit as ended:
        # Typer ends the process with 1 where the reader has left, which would be a check failed.
        if not isinstance(ended.__context__, BrokenPipeError):
            raise
        return _reader_left()
    except OSError as error:
        if debug:
            raise
        reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        notes.print("error: ", style="bold red", end="")
        notes.print(reason, markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except Exception as error:
        # Usage errors of the command-line library show themselves; anything else is a bug.
        show, exit_code = getattr(error, "show", None), getattr(error, "exit_code", None)
        if show is None or exit_code is None:
            raise
        show()
        return int(exit_code)
    if code == _INTERRUPTED:  # Typer makes a code of an interrupt.
        notes.print("interrupted")
    return code if isinstance(code, int) else 0


def _reader_left() -> int:
    """The exit code where the reader (head, less) has left: no error, but no more to write."""
    silence(sys.stdout)
    return 0


def main() -> None:
    """Entry point of the `markscheme` command."""
    gc.set_threshold(_COLLECT_FROM, *gc.get_threshold()[1:])
    sys.exit(run(sys.argv[1:]))
