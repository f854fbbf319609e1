"""Which language model a run asks, where, and how much it may; flags and values in one place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from markscheme.flags import Option

_PANEL = "Language models"


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """How to reach a server and how hard to press it.

    Attributes:
        base_url: address up to and including `/v1`; None for the model's own, else OpenAI's.
            Another one than these distinguishes replies, as a revision does.
        api_key_env: name of the environment variable that holds the key; None for the model's own,
            else OPENAI_API_KEY.
        concurrency: requests under way at the same time, at most.
        requests_per_minute, tokens_per_minute: limits enforced by the client; None for none.
        timeout: seconds for one attempt, from sending to the reply's last byte.
        retries: further attempts after one that failed for a passing reason.
        backoff: seconds before the second attempt; doubles with each, up to a minute, with jitter.
        reasoning_effort, verbosity, service_tier: sent to the model as its protocol calls them;
            None for what its entry in the model files says.
        reasoning_room: tokens for reasoning, added to the limit of every reply.
    """

    base_url: Annotated[
        str | None,
        Option(
            "Any OpenAI-compatible server, such as http://localhost:8000/v1. [default: the "
            "model's own in the model files, else OpenAI] Replies are stored by it: another "
            "address is another model.",
            panel=_PANEL,
        ),
    ] = None
    api_key_env: Annotated[
        str | None,
        Option(
            "The environment variable that holds the key. The key itself is never written "
            "anywhere. [default: the model's own, else OPENAI_API_KEY]",
            panel=_PANEL,
            rare=True,
        ),
    ] = None
    reasoning_effort: Annotated[
        str | None,
        Option("How much the model reasons: low, medium, high, ...", panel=_PANEL, rare=True),
    ] = None
    verbosity: Annotated[
        str | None, Option("How much the model writes: low, medium, high.", panel=_PANEL, rare=True)
    ] = None
    service_tier: Annotated[
        str | None, Option("The provider's queue: flex, priority, ...", panel=_PANEL, rare=True)
    ] = None
    reasoning_room: Annotated[
        int | None,
        Option(
            "Tokens for reasoning, in addition to the reply's.  [default: the model's own; raised "
            "automatically after empty replies]",
            minimum=0,
            panel=_PANEL,
            rare=True,
        ),
    ] = None
    concurrency: Annotated[
        int,
        Option(
            "Concurrent requests, at most; fewer where the server limits them.",
            minimum=1,
            panel=_PANEL,
            rare=True,
        ),
    ] = 16
    requests_per_minute: Annotated[
        float | None, Option("Limit of requests, enforced by the client.", panel=_PANEL, rare=True)
    ] = None
    tokens_per_minute: Annotated[
        float | None, Option("Limit of tokens, enforced by the client.", panel=_PANEL, rare=True)
    ] = None
    timeout: Annotated[
        float, Option("Timeout of one attempt, in seconds.", panel=_PANEL, rare=True)
    ] = 120.0
    retries: Annotated[
        int, Option("Retries after a temporary failure.", minimum=0, panel=_PANEL, rare=True)
    ] = 6
    backoff: float = 0.5


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Which language model a run asks, where, and how much it may.

    Attributes:
        model: its name at the server; `hf:FOLDER` for weights in this process
            (`markscheme[research,hf]`); None for none.
        revision: distinguishes models that share a name (a date, a commit).
        server: address, key, limits; None for OpenAI with the default limits.
        ledger: path or PostgreSQL URL; None for `default_ledger()`.
        models: a file of models and prices (`models.toml`), over the user's and the shipped one.
        prices: older name of the same.
        max_cost, max_calls: limits of the run; None for none.
        replay: use cached replies only, those in the ledger.
        dry_run: send nothing, count what would be sent.
        batch: ask through the provider's batch interface.
    """

    model: Annotated[
        str | None,
        Option(
            "The language model's name at its server; PROVIDER:NAME for another provider "
            "(anthropic:, gemini:, ...); hf:FOLDER runs weights in this process.",
            ("--model", "-m"),
            panel=_PANEL,
        ),
    ] = None
    revision: Annotated[
        str,
        Option(
            "Revision of the model, where one name has several.",
            ("--model-revision",),
            panel=_PANEL,
            rare=True,
        ),
    ] = ""
    server: ServerOptions | None = None
    ledger: Annotated[
        str | None,
        Option(
            "Where replies are stored: a file, or postgresql://USER@HOST/DATABASE. "
            "[default: $MARKSCHEME_LEDGER, else runs/ledger.sqlite]",
            panel=_PANEL,
            rare=True,
        ),
    ] = None
    models: Annotated[
        Path | None,
        Option(
            "Models and prices of your own (models.toml), before those that ship.",
            panel=_PANEL,
            rare=True,
        ),
    ] = None
    prices: Annotated[
        Path | None,
        Option("Prices of your own; --models holds them as well.", panel=_PANEL, rare=True),
    ] = None
    max_cost: Annotated[
        float | None,
        Option(
            "Stop at this budget in US dollars; skip the rest and report it.",
            minimum=0,
            panel=_PANEL,
        ),
    ] = None
    max_calls: Annotated[
        int | None,
        Option(
            "Requests to send, at most; the rest is skipped and reported as such.",
            minimum=0,
            panel=_PANEL,
            rare=True,
        ),
    ] = None
    replay: Annotated[
        bool, Option("Use cached replies only, those in the ledger.", panel=_PANEL, rare=True)
    ] = False
    dry_run: Annotated[
        bool,
        Option(
            "Send nothing: print calls, tokens and money, without what the ledger knows.",
            panel=_PANEL,
        ),
    ] = False
    batch: Annotated[
        bool,
        Option(
            "Ask in the provider's batches (OpenAI, Azure, Anthropic): half the price, within a "
            "day. If it is killed, the same command continues to wait.",
            panel=_PANEL,
            rare=True,
        ),
    ] = False
