"""`markscheme judges`: which judges there are, and what one takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from markscheme.cli.app import console, notes
from markscheme.cli.options import Shown, command
from markscheme.flags import Argument

if TYPE_CHECKING:
    from markscheme.analysis import JudgeDescription


@command("judges", example='markscheme judges "token_f1(threshold=0.6)"')
def judges(
    shown: Shown,
    name: Annotated[
        str | None, Argument("Show this judge in full, with parameters or without.")
    ] = None,
) -> None:
    """List the judges, or show one: parameters, paper, what it needs, an example."""
    from markscheme.analysis import describe_judge, list_judges

    if name is not None:
        described = describe_judge(name)
        shown.show(described, lambda: _print(described))
        return
    listed = list_judges()
    shown.show(listed)
    for plugin, reason in listed.broken.items():
        notes.print(f"warning: plugin {plugin} did not load: {reason}")


def _print(found: JudgeDescription) -> None:
    console.print(found.name, style="bold")
    console.print(found.documentation)
    console.print("\nparameters:")
    for parameter in found.parameters or ["none"]:
        console.print(f"  {parameter}")
    console.print(f"paper: {found.paper or 'none; our own'}")
    for reference in found.references:
        console.print(f"  {reference}")
    console.print(f"needs: {found.needs}")
    # A shell takes quotes inside quotes of the same kind away.
    quote = '"' if "'" in found.example else "'"
    example = f"example: markscheme judge FILE --judge {quote}{found.example}{quote}"
    console.print(example, soft_wrap=True)
