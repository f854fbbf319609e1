"""Options of every command that asks language models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from markscheme.models import Models
    from markscheme.models.ledger import LedgerEntry

_PANEL = "Language models"

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="The language model's name at its server; hf:FOLDER runs weights in this process.",
        rich_help_panel=_PANEL,
    ),
]
Revision = Annotated[
    str,
    typer.Option(
        "--model-revision", help="Tells apart models of one name.", rich_help_panel=_PANEL
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        help="Any OpenAI-compatible server, such as http://localhost:8000/v1. [default: OpenAI]",
        rich_help_panel=_PANEL,
    ),
]
ApiKeyEnv = Annotated[
    str,
    typer.Option(
        help="The environment variable that holds the key. The key itself is never written "
        "anywhere.",
        rich_help_panel=_PANEL,
    ),
]
LedgerPlace = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        help="Where replies are kept: a file, or postgresql://USER@HOST/DATABASE. "
        "[default: $MARKSCHEME_LEDGER, else runs/ledger.sqlite]",
        rich_help_panel=_PANEL,
    ),
]
Concurrency = Annotated[
    int, typer.Option(min=1, help="Requests side by side.", rich_help_panel=_PANEL)
]
RequestsPerMinute = Annotated[
    float | None, typer.Option(help="Limit kept from this side.", rich_help_panel=_PANEL)
]
TokensPerMinute = Annotated[
    float | None, typer.Option(help="Limit kept from this side.", rich_help_panel=_PANEL)
]
Timeout = Annotated[float, typer.Option(help="Seconds for one attempt.", rich_help_panel=_PANEL)]
Retries = Annotated[
    int,
    typer.Option(min=0, help="Attempts after one that failed in passing.", rich_help_panel=_PANEL),
]
Prices = Annotated[
    Path | None,
    typer.Option(
        help="Price table of your own (TOML), before the one that ships.", rich_help_panel=_PANEL
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Send nothing: print calls, tokens and money, without what the ledger knows.",
        rich_help_panel=_PANEL,
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        min=0, help="US dollars to spend; the rest is skipped, and named so.",
        rich_help_panel=_PANEL,
    ),
]  # fmt: skip
MaxCalls = Annotated[
    int | None,
    typer.Option(
        min=0, help="Requests to send; the rest is skipped, and named so.", rich_help_panel=_PANEL
    ),
]
Replay = Annotated[
    bool,
    typer.Option("--replay", help="Answer from the ledger only.", rich_help_panel=_PANEL),
]


def open_models(
    *,
    model: str | None,
    base_url: str | None,
    api_key_env: str,
    ledger: str | None,
    on_missing: Callable[[LedgerEntry], None] | None = None,
    server: dict[str, Any] | None = None,
    **options: Any,
) -> Models:
    """The models that a command line names; nothing is opened yet.

    Args:
        model, base_url, api_key_env, ledger: as the options say.
        on_missing: for dry runs, see `Models`.
        server: further fields of `ServerOptions`.
        options: further fields of `ModelOptions`.
    """
    from markscheme.models import ModelOptions, Models, ServerOptions

    reach = ServerOptions(base_url=base_url, api_key_env=api_key_env, **(server or {}))
    return Models(
        options=ModelOptions(model=model, server=reach, ledger=ledger, **options),
        on_missing=on_missing,
    )
