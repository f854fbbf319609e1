"""Chat models behind any OpenAI-compatible address, through the official SDK.

Hosted services, vLLM, Ollama, llama.cpp's server, `transformers serve`: all speak the same format.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markscheme.errors import MissingExtraError, ModelError
from markscheme.models.chat.event_loop import for_each, loop_thread
from markscheme.models.chat.openai_format import (
    MalformedReplyError,
    body_of,
    is_refusal,
    reply_of,
    well_formed,
)
from markscheme.models.chat.protocol import ChatReply, ChatRequest, OnReply
from markscheme.models.chat.rate_limits import Hold, Pace, retry_after
from markscheme.models.chat.token_counts import rough_tokens
from markscheme.models.options import ServerOptions

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_LONGEST_BACKOFF = 60.0
_LONGEST_WAIT = 900.0
_SHOWN = 400
_REFUSALS = 20
_TELEMETRY = tuple(
    f"X-Stainless-{name}"
    for name in (
        "Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Async",
        "Retry-Count", "Read-Timeout",
    )
)  # fmt: skip
"""Headers in which the SDK describes this machine; a call is also quicker without them."""


class _PassingError(Exception):
    """An attempt failed in a way that another may not. `wait`: seconds the server asked for."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class _OtherwiseError(Exception):
    """The server cannot do what `feature` names; the request may succeed without it."""

    def __init__(self, feature: str) -> None:
        super().__init__(feature)
        self.feature = feature


class _LastingError(Exception):
    """An attempt failed in a way that every other would."""


class _RefusedError(Exception):
    """The provider will not answer this request."""


@dataclass(kw_only=True)
class OpenAIChat:
    """A model at an OpenAI-compatible server.

    What a server cannot do is found out once and remembered: structured output,
    log-probabilities or the temperature are then left out, `max_tokens` is sent under its newer
    name.

    Attributes:
        name: the model's name at the server.
        revision: anything that tells apart two models under one name, "" if there is nothing.
        options: address, key's place, limits.

    Raises (when first used):
        MissingExtraError: the SDK is not installed.
        ModelError: no key, no server at the address, no such model, or no credit.
    """

    name: str
    revision: str = ""
    options: ServerOptions = field(default_factory=ServerOptions)

    def __post_init__(self) -> None:
        """Nothing is opened here, so that a model can be named without a server."""
        parts = urlsplit(self.options.base_url or "")
        if parts.password or parts.username:
            raise ModelError(
                "--base-url must not carry a name or password; put the key into the environment "
                "and name its variable with --api-key-env"
            )
        self._client: AsyncOpenAI | None = None
        self._key = ""
        self._requests = Pace(self.options.requests_per_minute)
        self._tokens = Pace(self.options.tokens_per_minute)
        self._hold = Hold()
        self._lacks: frozenset[str] = frozenset()
        self._answered = False
        self._refused = 0

    @property
    def concurrency(self) -> int:
        """Requests under way at the same time."""
        return self.options.concurrency

    def complete(
        self, requests: Sequence[ChatRequest], *, on_reply: OnReply | None = None
    ) -> list[ChatReply]:
        """A reply to each request, in order. See `ChatModel`."""
        replies: dict[int, ChatReply] = {}

        async def one(item: tuple[int, ChatRequest]) -> None:
            place, request = item
            replies[place] = reply = await self.ask(request)
            if on_reply is not None:
                on_reply(place, reply)

        at_once = min(self.concurrency, len(requests))
        loop_thread().run(for_each(enumerate(requests), one, at_once=at_once))
        return [replies[place] for place in range(len(requests))]

    async def ask(self, request: ChatRequest) -> ChatReply:
        """The reply to one request, after as many attempts as it takes and the options allow.

        Raises:
            ModelError: no request could succeed.
        """
        began = perf_counter()
        attempt = 0
        without: frozenset[str] = frozenset()
        while True:
            without |= self._lacks
            try:
                reply = await self._attempt(request, without, began)
                # Only a success shows that it was this which the server could not do.
                self._lacks |= without
                return reply
            except _OtherwiseError as error:
                without |= {error.feature}
            except _RefusedError as error:
                return ChatReply(status="refused", error=str(error), seconds=_since(began))
            except _LastingError as error:
                return ChatReply(status="failed", error=str(error), seconds=_since(began))
            except _PassingError as error:
                if attempt >= self.options.retries:
                    tries = f"{attempt + 1} attempts, the last: " if attempt else ""
                    return ChatReply(
                        status="failed", error=f"{tries}{error}", seconds=_since(began)
                    )
                await self._back_off(attempt, error.wait)
                attempt += 1

    async def _back_off(self, attempt: int, wait: float | None) -> None:
        doubled = min(_LONGEST_BACKOFF, self.options.backoff * 2**attempt)
        if wait is not None:
            self._hold.until(min(wait, _LONGEST_WAIT))
        # Jitter keeps a crowd that was turned away together from coming back together.
        await asyncio.sleep(doubled * random.uniform(0.5, 1.0))

    async def _attempt(
        self, request: ChatRequest, without: frozenset[str], began: float
    ) -> ChatReply:
        await self._hold.wait()
        await self._requests.take(1)
        expected = 0
        if self.options.tokens_per_minute:
            expected = rough_tokens(request.messages) + request.max_tokens
            await self._tokens.take(expected)
        body = body_of(
            request,
            self.name,
            with_schema="schema" not in without,
            with_logprobs="logprobs" not in without,
            with_temperature="temperature" not in without,
            limit_name="max_completion_tokens" if "max_tokens" in without else "max_tokens",
        )
        try:
            async with asyncio.timeout(self.options.timeout):
                completion = await self._send(body)
        except TimeoutError:
            raise _PassingError(f"no reply within {self.options.timeout:g} s") from None
        try:
            reply = reply_of(completion, seconds=_since(began))
        except MalformedReplyError as error:
            raise _PassingError(str(error)) from None
        self._answered = True
        self._refused = 0
        if reply.tokens_in is not None and reply.tokens_out is not None:
            self._tokens.give_back(expected - reply.tokens_in - reply.tokens_out)
        return self._without_key(reply)

    async def _send(self, body: dict[str, Any]) -> object:
        """Post a body and return the parsed reply; what goes wrong becomes one of our own."""
        client = self._opened()
        import openai

        try:
            # The SDK's general call: its typed one copies and validates both bodies, at twice the
            # processor time, and `reply_of` checks what comes back.
            return await client.post("/chat/completions", body=body, cast_to=object)
        except openai.APIStatusError as error:
            lacking = self._lacking(error, body)
            raise (_OtherwiseError(lacking) if lacking else self._judged(error)) from None
        except openai.APIConnectionError as error:
            reason = self._clean(str(error.__cause__ or error))
            if _cannot_connect(error.__cause__):
                raise self._unreachable(reason, str(client.base_url)) from None
            if isinstance(error, openai.APITimeoutError):
                raise _PassingError(f"no reply within {self.options.timeout:g} s") from None
            raise _PassingError(f"connection broke: {reason or 'no reason given'}") from None
        except (openai.APIResponseValidationError, ValueError) as error:
            reason = self._clean(str(error))
            raise _PassingError(f"the server's reply is no JSON: {reason}") from None

    def _unreachable(self, reason: str, address: str) -> Exception:
        """What it means that no connection could be made: of a server never heard from, that it
        is not there; of one that answered before, that it may come back, up to a point."""
        self._refused += 1
        if self._answered and self._refused <= _REFUSALS * self.concurrency:
            return _PassingError(f"no connection: {reason}")
        state = "stopped answering" if self._answered else "does not answer"
        return ModelError(
            f"the server at {address} {state} ({reason}); start it, or mend --base-url. "
            "What was answered is kept"
        )

    def _lacking(self, error: Any, body: Mapping[str, Any]) -> str | None:
        """What the request asks for that, by its answer, this server may not have."""
        found = _error_body(error)
        if error.status_code not in (400, 404, 415, 422, 501) or is_refusal(found):
            return None
        said = str(error.body or error.message).lower()
        if "max_tokens" in body and "max_completion_tokens" in said:
            return "max_tokens"
        if "temperature" in body and "temperature" in said:
            return "temperature"
        if "logprobs" in body and ("logprob" in said or "response_format" not in body):
            return "logprobs"
        return "schema" if "response_format" in body else None

    def _judged(self, error: Any) -> Exception:
        """What an error status means for the request, and for the run."""
        status, found = error.status_code, _error_body(error)
        message = found.get("message") or error.message
        said = f"HTTP {status}: {self._clean(str(message))}"
        if is_refusal(found):
            return _RefusedError(said)
        if found.get("code") == "insufficient_quota" or status == 402:
            return ModelError(f"{self.name}: no credit left ({said}); what was answered is kept")
        if status in (401, 403) and not self._answered:
            return ModelError(
                f"the server does not accept the key in {self.options.api_key_env} ({said})"
            )
        if status == 404 and not self._answered:
            return ModelError(
                f"no model {self.name!r} at {self.options.base_url or 'OpenAI'} ({said}); "
                "check --model and --base-url (most addresses end in /v1)"
            )
        if status in (408, 409, 425, 429) or status >= 500:
            return _PassingError(said, retry_after(error.response.headers))
        return _LastingError(said)

    def _opened(self) -> AsyncOpenAI:
        """The SDK's client, made in the loop's thread when first needed."""
        if self._client is None:
            try:
                import openai
            except ImportError:
                raise MissingExtraError("a model behind a server", "llm") from None
            self._key = os.environ.get(self.options.api_key_env, "")
            if not self._key and self.options.base_url is None:
                raise ModelError(
                    f"no key: set {self.options.api_key_env}, or name another variable with "
                    "--api-key-env, or give --base-url for a server of your own"
                )
            unsaid: Any = dict.fromkeys(_TELEMETRY, openai.Omit())
            client = openai.AsyncOpenAI(
                api_key=self._key or "none",
                base_url=self.options.base_url or "https://api.openai.com/v1",
                max_retries=0,
                timeout=self.options.timeout,
                http_client=_http_client(),
                default_headers=unsaid,
            )
            loop_thread().at_exit(client.close)
            self._client = client
        return self._client

    def _clean(self, text: str) -> str:
        """Text of an error on one line, shortened, without the key."""
        if self._key:
            text = text.replace(self._key, "[key]")
        text = " ".join(well_formed(text).split())
        return text if len(text) <= _SHOWN else text[:_SHOWN] + " ..."

    def _without_key(self, reply: ChatReply) -> ChatReply:
        """The reply itself, unless the server sent the key back in it."""
        said = (reply.text, reply.model, reply.finish_reason)
        if not self._key or not any(text and self._key in text for text in said):
            return reply
        return ChatReply(
            status="failed", error="the reply contained the key", seconds=reply.seconds
        )


def _since(began: float) -> float:
    """Seconds since `began`, to the microsecond, so that text and binary hold the same number."""
    return round(perf_counter() - began, 6)


def _error_body(error: Any) -> Mapping[str, Any]:
    """The `error` object of an error response, as the SDK hands it on."""
    body = error.body
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _cannot_connect(cause: BaseException | None) -> bool:
    """Whether no connection was made at all, as opposed to one that broke."""
    return type(cause).__name__ in ("ConnectError", "ConnectTimeout", "UnsupportedProtocol")


def _http_client() -> Any:
    """The quicker of the SDK's two transports if it is installed, else its usual one."""
    import openai

    try:
        import aiohttp  # noqa: F401

        return openai.DefaultAioHttpClient()
    except (ImportError, RuntimeError):
        return openai.DefaultAsyncHttpxClient()
