"""Opening and closing the models that a command's options name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from markscheme.cli.progress_bar import Advance
from markscheme.flags import Fields
from markscheme.models import ModelOptions

if TYPE_CHECKING:
    from markscheme.models import Models
    from markscheme.models.ledger import LedgerEntry

AskedModels = Annotated[ModelOptions, Fields(without=("dry_run", "batch"))]
"""The options of a command that asks models and has no dry run."""


@contextmanager
def opened(
    options: ModelOptions,
    advance: Advance | None = None,
    *,
    on_missing: Callable[[LedgerEntry], None] | None = None,
) -> Iterator[Models]:
    """The models that options name, closed at the end; nothing is opened before it is used.

    Args:
        options: which models.
        advance: a progress bar that shows what is spent.
        on_missing: for dry runs, see `Models`.
    """
    from markscheme.models import Models

    models = Models(options=options, on_missing=on_missing)
    if advance is not None:
        show_on(advance, models)
    try:
        yield models
    finally:
        models.close()


def show_on(advance: Advance, models: Models) -> None:
    """Have a progress bar show what models spend and wait for."""
    models.budget.on_change = lambda spending: advance.note(str(spending))
    models.on_wait = advance.note
