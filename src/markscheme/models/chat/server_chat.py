"""Chat models behind a server, whatever its protocol: limits, retries, what the model lacks."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter

import orjson

from markscheme.contract import ChatReply, ChatRequest
from markscheme.errors import DataError, ModelError
from markscheme.models.chat.event_loop import for_each, loop_thread
from markscheme.models.chat.http import (
    ConnectFailedError,
    ConnectionBrokeError,
    HttpClient,
    HttpResponse,
    RejectedResponseError,
)
from markscheme.models.chat.openai_format import chat_usage, is_refusal, is_unpaid
from markscheme.models.chat.profiles import ModelProfile, model_table
from markscheme.models.chat.reading import (
    SHOWN,
    BrokenGenerationError,
    MalformedReplyError,
    added,
    dollars,
    error_in,
    mapping,
    on_a_line,
    plausible,
)
from markscheme.models.chat.run_stop import RunStop
from markscheme.models.chat.throttle import (
    LONGEST_PAUSE,
    Pace,
    Throttle,
    no_requests_left,
    retry_after,
)
from markscheme.models.chat.token_counts import rough_tokens
from markscheme.models.chat.wire import (
    LackingFeature,
    Sending,
    address_of,
    body_of,
    changes,
    key_in_words,
    lacking_feature,
    larger,
    no_text,
    read_reply,
    wire_of,
    without,
)
from markscheme.models.options import ServerOptions

_LONGEST_BACKOFF = 60.0
_SHORTEST_KEY = 8
_VAIN = 3
_PASSING = (408, 409, 425)
_PERHAPS_PASSING = (403, 404)
"""Of a server that has answered: of this row or of all, which only other requests can show."""

Again = Callable[[int, bool], bool]
"""Whether a request may be sent once more. Called with the largest number of tokens that may come,
0 if it is not to be sent again, and whether what the last attempt used is known (it is then in the
reply); otherwise it may have been billed."""


class _PassingError(Exception):
    """An attempt failed in a way that another may not. `billed`: it may have cost something that
    nobody will ever say."""

    def __init__(self, message: str, *, billed: bool = False) -> None:
        super().__init__(message)
        self.billed = billed


class _TurnedAwayError(Exception):
    """The server takes no more requests now. `wait`: seconds it requires, if stated."""

    def __init__(self, message: str, wait: float | None) -> None:
        super().__init__(message)
        self.wait = wait


class _OtherwiseError(Exception):
    """The server reported that it does not support `feature`."""

    def __init__(self, feature: LackingFeature, message: str) -> None:
        super().__init__(message)
        self.feature = feature


class _LastingError(Exception):
    """An attempt failed in a way that every other would. `reply`: as far as there was one.
    `billed`: as in `_PassingError`."""

    def __init__(self, reply: ChatReply, *, billed: bool = False) -> None:
        super().__init__(reply.error)
        self.reply = reply
        self.billed = billed


class ServerChat:
    """A model at a server.

    What a model lacks is left out once an error has named it, and remembered once a request has
    succeeded without it. Where a reply ends before it has begun, for all its tokens went into
    reasoning, the request is sent again with a larger limit, which is remembered as well. A reply's
    `changed` names what was sent differently from the request.

    Attributes:
        name: as the user wrote it.
        options: limits, retries.
        profile: address, protocol, parameters.

    Raises (when first used):
        MissingExtraError: the HTTP library is not installed.
        ModelError: no key, no server at the address, no such model, or no credit.
        RunStoppedError: no further request can succeed; see `RunStop`.
    """

    def __init__(
        self,
        *,
        name: str,
        revision: str = "",
        options: ServerOptions | None = None,
        profile: ModelProfile | None = None,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Nothing is opened here, so that a model can be named without a server.

        Args:
            name: the model; see `ModelTable.profile`.
            revision: anything that distinguishes two models under one name.
            options: address, key's place, limits.
            profile: the model's own; None for what the model files say.
            on_wait: called with a few words while the server turns requests away.
        """
        self.name = name
        self.options: ServerOptions = options or ServerOptions()
        self.profile: ModelProfile = profile or model_table().profile(name, self.options)
        self.revision: str = f"{revision} {self.profile.settings()}".strip()
        if "$" not in (self.profile.base_url or ""):
            _ = self.profile.address  # Named before anything is sent: a password in it.
        self._wire = wire_of(self.profile)
        self._http = HttpClient(timeout=self.options.timeout, connections=self.concurrency)
        self._key = ""
        self._where: tuple[str, dict[str, str]] | None = None
        self._requests = Pace(self.options.requests_per_minute)
        self._tokens = Pace(self.options.tokens_per_minute)
        self._throttle = Throttle(most=self.concurrency)
        self._learned = self.profile
        self._in_vain = 0
        self._run = RunStop(name, tries=self.options.retries, on_wait=on_wait)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, revision={self.revision!r})"

    @property
    def concurrency(self) -> int:
        """Requests under way at the same time, at most."""
        return self.options.concurrency

    def limit(self, request: ChatRequest) -> int:
        """The most tokens that may come for a request, reasoning included."""
        return request.max_tokens + self._learned.room

    def complete(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """A reply to each request, in order. See `ChatModel`."""
        replies: dict[int, ChatReply] = {}

        async def one(item: tuple[int, ChatRequest]) -> None:
            place, request = item
            replies[place] = await self.ask(request)

        at_once = min(self.concurrency, len(requests))
        loop_thread().run(for_each(enumerate(requests), one, at_once=at_once))
        return [replies[place] for place in range(len(requests))]

    async def ask(
        self, request: ChatRequest, *, again: Again = lambda _limit, _known: True
    ) -> ChatReply:
        """The reply to one request, after as many attempts as it takes and the options allow.

        Args:
            request: what to ask.
            again: called before an attempt that follows one which may have been billed.

        Raises:
            ModelError: no request could succeed.
        """
        with self._run.request():
            return await self._asked(request, again)

    async def _asked(self, request: ChatRequest, again: Again) -> ChatReply:
        began = perf_counter()
        before: ChatReply | None = None
        attempt = 0
        sending = Sending.first(request, self._learned)
        while True:
            try:
                reply = added(before, await self._through_the_gate(sending))
            except _OtherwiseError as error:
                otherwise = without(sending, error.feature)
                if otherwise is None:
                    return self._failed(str(error), before, began)
                sending = otherwise
            except _TurnedAwayError as error:
                if perf_counter() - began > LONGEST_PAUSE:
                    return self._failed(str(error), before, began)
            except _LastingError as error:
                if error.billed:
                    again(0, False)
                reply = added(before, replace(error.reply, seconds=_since(began)))
                self._run.failed_alike(reply.error or "")
                return reply
            except _PassingError as error:
                waits = self._waits_for_server(request, str(error))
                ended = attempt >= self.options.retries and not waits
                allowed = not error.billed or again(0 if ended else sending.limit, False)
                if ended or not allowed:
                    tries = f"{attempt + 1} attempts, the last: " if attempt and ended else ""
                    spent = "" if ended else "; the budget allows no more"
                    return self._failed(f"{tries}{error}{spent}", before, began)
                if not waits:
                    await self._back_off(attempt)
                    attempt += 1
            else:
                more = self._larger(reply, sending)
                if more is None or not again(more.limit, True):
                    return self._finished(replace(reply, seconds=_since(began)), sending)
                before, sending = reply, more

    # --- one attempt --------------------------------------------------------------------------

    async def _through_the_gate(self, sending: Sending) -> ChatReply:
        """One attempt, when the server's limits allow it."""
        sent_at = await self._throttle.enter()
        try:
            await self._requests.take(1)
            return await self._attempt(sending)
        except _TurnedAwayError as error:
            wait = self._throttle.turned_away(sent_at, error.wait)
            self._run.turned_away(
                str(error), rounds=self._throttle.in_a_row, wait=wait, longest=LONGEST_PAUSE
            )
        finally:
            self._throttle.leave()
        await asyncio.sleep(wait)
        raise _TurnedAwayError("the server went on turning the request away", None)

    async def _attempt(self, sending: Sending) -> ChatReply:
        expected = 0
        if self.options.tokens_per_minute:
            expected = (
                rough_tokens(sending.request.messages, self.profile.image_tokens) + sending.limit
            )
            await self._tokens.take(expected)
        url, headers = self._address()
        try:
            body = body_of(self._wire, sending)
        except DataError as error:
            raise _LastingError(ChatReply(status="failed", error=str(error))) from None
        try:
            response = await self._http.send("POST", url, headers, orjson.dumps(body))
        except ConnectFailedError as error:
            raise self._unreachable(self._clean(str(error))) from None
        except ConnectionBrokeError as error:
            # A reply that comes too late for us, or not all of it, is made and billed all the same.
            raise _PassingError(self._clean(str(error)), billed=True) from None
        except RejectedResponseError as error:
            raise (
                ModelError(str(error))
                if "redirect" in str(error)
                else _LastingError(ChatReply(status="failed", error=str(error)), billed=True)
            ) from None
        if response.status != 200:
            raise self._judged(response.status, response.body, response, sending)
        reply = self._read(response, sending)
        self._run.succeeded()
        self._throttle.taken()
        self._throttle.probing = False
        hold = no_requests_left(response.headers)
        if hold:
            self._throttle.pause(hold)
        if reply.tokens_in is not None and reply.tokens_out is not None:
            self._tokens.give_back(expected - reply.tokens_in - reply.tokens_out)
        return reply

    def _read(self, response: HttpResponse, sending: Sending) -> ChatReply:
        """The reply in a response with status 200: it is billed, so it is not requested again."""
        body = response.body
        if body is None:
            raise _PassingError("the server's reply is not JSON", billed=True)
        trouble = mapping(body).get("error")
        if isinstance(trouble, Mapping) and trouble and not mapping(body).get("choices"):
            # Gateways report what went wrong behind them in a response of status 200.
            code = trouble.get("code")
            status = code if isinstance(code, int) and 400 <= code < 600 else 500
            raise self._judged(status, body, response, sending)
        try:
            reply = read_reply(self._wire, body)
        except BrokenGenerationError as broken:
            raise _PassingError(self._clean(str(broken)), billed=True) from None
        except MalformedReplyError as malformed:
            usage = chat_usage(body).fields()
            failed = plausible(ChatReply(status="failed", error=str(malformed), **usage))
            raise _LastingError(failed, billed=failed.tokens_in is None) from None
        if reply.cost_usd is None and "x-litellm-response-cost" in response.headers:
            reply = replace(reply, cost_usd=_cost(response.headers["x-litellm-response-cost"]))
        return self._without_key(reply)

    def _judged(
        self, status: int, body: object, response: HttpResponse, sending: Sending
    ) -> Exception:
        """What an error status means for the request, and for the run."""
        error, message = error_in(body)
        message = message or response.content[:SHOWN].decode("utf-8", "replace")
        detail = f"HTTP {status}: {self._clean(message)}"
        if is_refusal(error):
            return _LastingError(ChatReply(status="refused", error=detail))
        lacking = lacking_feature(self._wire, status, error, message, sending)
        if lacking:
            return _OtherwiseError(lacking, detail)
        answered = self._run.answered
        if status == 402 or is_unpaid(error, message):
            return self._run.stopped(f"no credit left ({detail})", "once the account has credit")
        if status == 401 and answered:
            return self._run.stopped(
                f"the server no longer accepts {key_in_words(self.profile)} ({detail})",
                f"with a new {self.profile.key_env}",
            )
        if status in (401, 403) and not answered:
            return ModelError(f"the server does not accept {key_in_words(self.profile)} ({detail})")
        if status == 404 and not answered:
            return ModelError(
                f"no model {self.profile.served!r} at {self.profile.base_url or 'OpenAI'} "
                f"({detail}); check --model and --base-url (most addresses end in /v1)"
            )
        wait = retry_after(response.headers)
        if status in (429, 529) or (status == 503 and wait is not None):
            return _TurnedAwayError(detail, wait)
        if status in (*_PASSING, *_PERHAPS_PASSING) or status >= 500:
            # A gateway that gives up, or a server that breaks, may have had the reply made.
            return _PassingError(detail, billed=status >= 500)
        return _LastingError(ChatReply(status="failed", error=detail))

    def _address(self) -> tuple[str, dict[str, str]]:
        """Where to post, and with which headers."""
        if self._where is None:
            url, headers, self._key = address_of(self.profile, self._wire)
            self._where = url, headers
        return self._where

    # --- over several attempts ----------------------------------------------------------------

    def _finished(self, reply: ChatReply, sending: Sending) -> ChatReply:
        """The reply with what was sent otherwise, which is now known to be what works."""
        lacks, room = sending.without.union(self._learned.lacks), self._learned.room
        if no_text(reply):
            self._run.failed_alike(
                f"no text within {sending.limit:,} tokens; the model may reason: give it more with "
                "--reasoning-room, or less with --reasoning-effort"
            )
        else:
            self._run.useful_reply()
            room = max(room, sending.limit - sending.request.max_tokens)
        self._learned = replace(
            self._learned, lacks=tuple(sorted(lacks)), limit_name=sending.limit_name, room=room
        )
        return replace(reply, changed=changes(sending))

    def _larger(self, reply: ChatReply, sending: Sending) -> Sending | None:
        """The request with a larger limit, where reasoning left no token for the reply."""
        if not no_text(reply) or self._in_vain >= _VAIN:
            return None
        found = larger(sending, self._learned.room)
        if found is None:
            self._in_vain += 1
        return found

    def _waits_for_server(self, request: ChatRequest, reason: str) -> bool:
        """Whether the server fails every request; everything then waits, and one request
        at a time tries."""
        outages = self._run.failed(request)
        if outages is None:
            return False
        self._throttle.probing = True
        if self._throttle.pause_again(min(_LONGEST_BACKOFF, self.options.backoff * 2**outages)):
            self._run.waited_for(reason)
        return True

    def _failed(self, error: str, before: ChatReply | None, began: float) -> ChatReply:
        reply = ChatReply(status="failed", error=error, seconds=_since(began))
        reply = added(before, reply)
        self._run.failed_alike(error)
        return reply

    async def _back_off(self, attempt: int) -> None:
        doubled = min(_LONGEST_BACKOFF, self.options.backoff * 2**attempt)
        # Jitter keeps a crowd that failed together from coming back together.
        await asyncio.sleep(doubled * random.uniform(0.5, 1.0))

    def _unreachable(self, reason: str) -> Exception:
        """What it means that no connection could be made: of a server never heard from, that it
        is not there; of one that answered before, that it may come back, up to a point."""
        if self._run.answered:
            return _PassingError(f"no connection: {reason}")
        return ModelError(
            f"the server at {self.profile.address}/ does not answer ({reason}); start it, or fix "
            "--base-url. The replies received are saved"
        )

    def _clean(self, text: str) -> str:
        """Text of an error on one line, shortened, without the key."""
        if len(self._key) >= _SHORTEST_KEY:
            text = text.replace(self._key, "[key]")
        return on_a_line(text)

    def _without_key(self, reply: ChatReply) -> ChatReply:
        """The reply itself, unless the server sent the key back in it."""
        parts = (reply.text, reply.model, reply.finish_reason)
        if len(self._key) < _SHORTEST_KEY or not any(t and self._key in t for t in parts):
            return reply
        return replace(
            reply,
            status="failed",
            text=None,
            model=None,
            finish_reason=None,
            token_logprobs=None,
            error="the reply contained the key",
        )


def _cost(text: str) -> float | None:
    try:
        return dollars(float(text))
    except ValueError:
        return None


def _since(began: float) -> float:
    """Seconds since `began`, to the microsecond, so that text and binary hold the same number."""
    return round(perf_counter() - began, 6)
