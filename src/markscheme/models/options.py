"""Which language model a run asks, where, and how much it may; flags and values in one place."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from markscheme.flags import Option

_option = partial(Option, panel="Language models")


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
        _option(
            "Address of an OpenAI-compatible server, such as http://localhost:8000/v1; to the "
            "ledger, another address is another model. [default: the model's own in the model "
            "files, else OpenAI]",
        ),
    ] = None
    api_key_env: Annotated[
        str | None,
        _option(
            "Environment variable that holds the API key. The key itself is never written "
            "anywhere. [default: the model's own, else OPENAI_API_KEY]",
            rare=True,
        ),
    ] = None
    reasoning_effort: Annotated[
        str | None,
        _option("How much the model reasons: low, medium, high, ...", rare=True),
    ] = None
    verbosity: Annotated[
        str | None, _option("How much the model writes: low, medium, high.", rare=True)
    ] = None
    service_tier: Annotated[
        str | None,
        _option("The provider's service tier: flex, priority, ...", rare=True),
    ] = None
    reasoning_room: Annotated[
        int | None,
        _option(
            "Tokens allowed for reasoning, in addition to those of the reply. [default: the "
            "model's own; raised automatically after empty replies]",
            minimum=0,
            rare=True,
        ),
    ] = None
    concurrency: Annotated[
        int,
        _option(
            "Maximum number of concurrent requests; fewer if the server limits them.",
            minimum=1,
            rare=True,
        ),
    ] = 16
    requests_per_minute: Annotated[
        float | None,
        _option(
            "Maximum number of requests per minute, enforced by the client.",
            rare=True,
        ),
    ] = None
    tokens_per_minute: Annotated[
        float | None,
        _option("Maximum number of tokens per minute, enforced by the client.", rare=True),
    ] = None
    timeout: Annotated[
        float, _option("Timeout of one attempt, in seconds.", minimum=0.001, rare=True)
    ] = 120.0
    retries: Annotated[
        int,
        _option("Number of retries after a temporary failure.", minimum=0, rare=True),
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
        _option(
            "The language model's name at its server; PROVIDER:NAME for another provider "
            "(anthropic:, gemini:, ...); hf:FOLDER runs local weights in this process.",
            ("--model", "-m"),
        ),
    ] = None
    revision: Annotated[
        str,
        _option(
            "Revision of the model, where a name has several.",
            ("--model-revision",),
            rare=True,
        ),
    ] = ""
    server: ServerOptions | None = None
    ledger: Annotated[
        str | None,
        _option(
            "Where replies are stored: a file, or postgresql://USER@HOST/DATABASE. "
            "[default: $MARKSCHEME_LEDGER, else runs/ledger.sqlite]",
            rare=True,
        ),
    ] = None
    models: Annotated[
        Path | None,
        _option(
            "File of your own models and prices (models.toml), which override the built-in ones.",
            rare=True,
        ),
    ] = None
    prices: Annotated[
        Path | None,
        _option("File of your own prices; older form of --models.", rare=True),
    ] = None
    max_cost: Annotated[
        float | None,
        _option(
            "Stop at this budget in US dollars; skip the rest and report it.",
            minimum=0,
        ),
    ] = None
    max_calls: Annotated[
        int | None,
        _option(
            "Stop after this many requests; skip the rest and report it.",
            minimum=0,
            rare=True,
        ),
    ] = None
    replay: Annotated[
        bool,
        _option("Use only replies that the ledger holds; send no requests.", rare=True),
    ] = False
    dry_run: Annotated[
        bool,
        _option(
            "Send nothing; print the calls, tokens and cost to expect, without replies that the "
            "ledger has.",
        ),
    ] = False
    batch: Annotated[
        bool,
        _option(
            "Use the provider's batch API (OpenAI, Azure, Anthropic): half the price, replies "
            "within a day. If interrupted, the same command resumes waiting.",
            rare=True,
        ),
    ] = False
