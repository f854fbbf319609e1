"""`markscheme judges`: which judges there are, and what one takes."""

from __future__ import annotations

from typing import Annotated

from markscheme.cli.app import console, notes
from markscheme.cli.options import command
from markscheme.options import Argument


@command("judges")
def judges(
    name: Annotated[str | None, Argument("Show this judge in full.")] = None,
) -> None:
    """List the judges, or show one: parameters, paper, what it needs, an example."""
    from markscheme.contract import broken_plugins, entry
    from markscheme.contract import judges as registered

    if name is None:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(style="bold", no_wrap=True)
        table.add_column()
        for known in registered().values():
            table.add_row(Text(known.name), Text(known.summary))
        console.print(table)
        for plugin, reason in broken_plugins().items():
            notes.print(f"warning: plugin {plugin} did not load: {reason}", markup=False)
        return
    _show(entry(name))


def _show(found) -> None:  # type: ignore[no-untyped-def]
    import dataclasses
    import inspect

    from markscheme.contract import type_in_words

    doc = inspect.getdoc(found.judge) or ""
    console.print(found.name, style="bold", markup=False)
    console.print(doc, markup=False)
    console.print("\nparameters:")
    fields = dataclasses.fields(found.judge)
    for field in fields:
        default = (
            "required"
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            else f"default {field.default!r}"
        )
        words = type_in_words(found.judge, field.name)
        console.print(f"  {field.name}: {words}, {default}", markup=False)
    if not fields:
        console.print("  none")
    console.print(f"paper: {found.paper or 'none; our own'}", markup=False)
    console.print(f"needs: {found.needs}", markup=False)
    console.print(f"example: markscheme judge FILE --judge '{found.example}'", markup=False)
