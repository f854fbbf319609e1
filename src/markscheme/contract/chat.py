"""What a chat model is: requests in, replies out, in order, and no exception for a single failure.

Everything that talks to a language model in this package does so through `ChatModel`: a server
(`models.chat.server_chat`), what other packages provide (entry points `markscheme.chat_models`), a
script for tests (`models.chat.scripted`), a recording (`models.ledger.exchange`), and the ledger
that wraps any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from markscheme.errors import DataError

Role = Literal["system", "user", "assistant"]

ReplyStatus = Literal["ok", "refused", "failed", "skipped"]
"""`ok`: the model answered, which says nothing about whether the text can be read. `refused`: the
server or the model declined. `failed`: no answer came; `error` says why. `skipped`: not sent,
because the budget was spent."""

TokenLogprobs = tuple[Mapping[str, float], ...]
"""For each token of a reply, the likeliest tokens in its place and their natural log-probabilities,
the one that was chosen first. Of long replies the tokens at the start and at the end, with an empty
place between."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """An image in a message, known by the hash of its bytes: equal ones are equal wherever stored.

    The bytes themselves are read when the message is sent, so that a run holds few at a time, and
    are never written to a ledger.

    Attributes:
        media_type: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        sha256: of the bytes, in hex.
        size: their number.
        width, height: in pixels.
        source: the file, or the bytes; None for a request read back from a ledger.
    """

    media_type: str
    sha256: str
    size: int
    width: int
    height: int
    source: Path | bytes | None = field(default=None, compare=False, repr=False)

    def data(self) -> bytes:
        """The bytes.

        Raises:
            DataError: they cannot be read, or are others than when the request was made.
        """
        if self.source is None:
            raise DataError("the image's bytes are not stored; give the file that names it")
        if isinstance(self.source, bytes):
            return self.source
        try:
            found = self.source.read_bytes()
        except OSError as error:
            raise DataError(f"cannot read the image {self.source}: {error.strerror}") from None
        if sha256(found).hexdigest() != self.sha256:
            raise DataError(f"the image {self.source} changed during the run; start it again")
        return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One turn of a conversation: a text, after the images that it is about."""

    role: Role
    content: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatRequest:
    """One requested completion. Two equal requests to one model are the same request.

    Attributes:
        messages: the conversation so far, the last turn usually the user's.
        max_tokens: where the reply is cut off.
        temperature: 0 for the likeliest reply; None leaves it to the server.
        top_p: share of probability that is sampled from; None leaves it to the server.
        seed: for servers that can repeat a sample; None sends none. Samples of one request need
            seeds of their own.
        schema: JSON schema, as text, that the reply must keep to. To a server that cannot do
            so it is not sent, so the reply still has to be read with care.
        logprobs: ask for `token_logprobs`; they stay None where the server gives none.
        sample: which of several independent samples of the same request this is, from 0.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 512
    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    schema: str | None = None
    logprobs: bool = False
    sample: int = 0

    @property
    def images(self) -> tuple[Image, ...]:
        """All images of the conversation, in order."""
        return tuple(image for message in self.messages for image in message.images)

    @property
    def last_user(self) -> str:
        """Text of the last user turn, or "" where there is none."""
        for message in reversed(self.messages):
            if message.role == "user":
                return message.content
        return ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatReply:
    """What came back for one request.

    Attributes:
        status: see `ReplyStatus`.
        text: the reply; None unless the status is `ok` or the model refused in words.
        finish_reason: as the server says: `stop`, `length` (cut off at `max_tokens`), ...
        tokens_in, tokens_out: as the server counted, all billed attempts together, what was cached
            and what was reasoning included; None where it did not.
        cost_usd: the server's own bill, else from the price table; None where neither is known.
        seconds: from the first attempt to the reply, waiting between attempts included. A reply
            out of the ledger has the seconds it took when it was made.
        token_logprobs: see `TokenLogprobs`; None where not requested or not given.
        error: why there is no answer; None where there is one.
        model: the name the server answered under, which may be more exact than the requested one.
        tokens_cached, tokens_reasoning: those of the tokens in that the server had cached, and of
            the tokens out that were reasoning.
        changed: parameters of the request that were sent with another value; None for one that was
            not sent, since the model does not take it.
    """

    status: ReplyStatus
    text: str | None = None
    finish_reason: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None
    token_logprobs: TokenLogprobs | None = None
    error: str | None = None
    model: str | None = None
    tokens_cached: int | None = None
    tokens_reasoning: int | None = None
    changed: Mapping[str, float | None] | None = None

    @property
    def finished(self) -> bool:
        """Whether the model finished, as opposed to being cut off."""
        return self.finish_reason not in ("length", "max_tokens")

    @property
    def why_none(self) -> str:
        """Why there is no answer, for people to read; only where the status is not `ok`."""
        return self.error or _WHY_NONE.get(self.status, "no reply came")


_WHY_NONE = {
    "refused": "the model declined to answer",
    "skipped": "not sent: the budget is spent",
}


@runtime_checkable
class ChatModel(Protocol):
    """Whatever completes conversations.

    Attributes:
        name: as the user wrote it; goes into signatures.
        revision: what else must be equal for two replies to be of one model (a hash of weights, a
            date); "" where nothing is known.
    """

    @property
    def name(self) -> str: ...

    @property
    def revision(self) -> str: ...

    def complete(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """A reply to each request, in order; returns when all are there.

        A request that fails is a reply that says so; this raises only for what no request could
        survive (no such model, no key), as `ModelError` or `MissingExtraError`.
        """
        ...
