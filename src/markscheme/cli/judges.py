"""`markscheme judges`: which judges there are, and what one takes."""

from __future__ import annotations

from typing import Annotated

from markscheme.cli.app import notes
from markscheme.cli.options import Shown, command
from markscheme.flags import Argument


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
        shown.show(describe_judge(name))
        return
    listed = list_judges()
    shown.show(listed)
    for plugin, reason in listed.broken.items():
        notes.print(f"warning: plugin {plugin} did not load: {reason}")
