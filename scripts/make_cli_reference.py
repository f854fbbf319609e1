"""The reference of the command line, made from the commands.

python scripts/make_cli_reference.py > docs/reference/cli.md
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

import typer

from markscheme.cli.app import app
from markscheme.cli.options import placeholder

_TOP = """# Command line

Made from the commands by `python scripts/make_cli_reference.py`; a test compares it with them.
An option has the same meaning wherever it occurs. `-h` or `--help` prints the options that most
users of a command need, `--help-all` all of them; `--debug` shows the traceback of an error. Exit
codes: 0 done, 1 done and a check that was asked for failed, 2 an error, 130 interrupted.
"""


def reference() -> str:
    """The page: every command with what it does, its arguments and its options."""
    return "\n".join([_TOP, *(_section(name, one) for name, one in sorted(commands().items()))])


def commands() -> dict[str, Any]:
    """Every command by what is typed after `markscheme`, as the command-line library has it."""
    from markscheme.cli import load_commands

    load_commands()
    return dict(_inside(typer.main.get_command(app), ()))


def _inside(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield " ".join(path), command
        return
    for name, inner in sorted(command.commands.items()):
        yield from _inside(inner, (*path, name))


def _section(name: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [
        one
        for one in command.params
        if one.param_type_name == "option" and one.name not in ("help", "help_all")
    ]
    words = [placeholder(one) for one in arguments]
    words += [f"{one.opts[0]} ..." for one in options if one.required]
    if any(not one.required for one in options):
        words.append("[OPTIONS]")
    parts = [
        f"## {name}",
        "",
        f"`{' '.join(['markscheme', name, *words])}`",
        "",
        inspect.cleandoc(command.help or ""),
        "",
    ]
    if arguments:
        rows = [(f"`{placeholder(one)}`", _cell(one.help)) for one in arguments]
        parts += [_rows(("argument", "meaning"), rows), ""]
    if options:
        rows = [(_flags(one), _cell(_meaning(one))) for one in options]
        parts += [_rows(("option", "meaning"), rows), ""]
    return "\n".join(parts)


def _flags(option: Any) -> str:
    spelled = ", ".join(f"`{one}`" for one in (*option.opts, *option.secondary_opts))
    return f"{spelled} (required)" if option.required else spelled


def _meaning(option: Any) -> str:
    text = option.help or ""
    default = option.default
    if isinstance(default, list | tuple):
        default = ", ".join(map(str, default))
    unset = default is None or default == "" or default is False
    plain = not unset and "[default:" not in text and not option.required
    if plain and not callable(default):
        text += f" [default: {getattr(default, 'value', default)}]"
    return text


def _cell(text: str | None) -> str:
    """Text as it can be put into a Markdown table."""
    flat = " ".join((text or "").split())
    return flat.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def _rows(header: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    lines = [f"| {header[0]} | {header[1]} |", "|---|---|"]
    return "\n".join([*lines, *(f"| {left} | {right} |" for left, right in rows)])


if __name__ == "__main__":
    sys.stdout.write(reference())
