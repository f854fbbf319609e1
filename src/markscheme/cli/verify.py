"""`markscheme verify`: whether a finished run is as it was left."""

from __future__ import annotations

from typing import Annotated

import typer

from markscheme.cli.options import Shown, command
from markscheme.flags import Argument


@command("verify", example="markscheme verify runs/answers-6dae129e")
def verify(
    run: Annotated[str, Argument("A run's folder.", metavar="RUN")],
    shown: Shown,
) -> None:
    """Check a finished run: files against their digests, figures against the judgments.

    Exits with code 1 if something was changed or damaged.
    """
    from markscheme.analysis import verify as check

    found = check(run)
    shown.show(found)
    if not found:
        raise typer.Exit(1)
