"""A chat model used through its provider's batch interface: half the price, within a day.

To a judge it is a model like any other, only slow: what it asks at the same time is one batch, or
as many as the provider's limits make of it. The ledger knows which requests are in which batch, so
a run that was killed while it waited continues to wait, and sends nothing twice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import orjson

from markscheme.contract import ChatReply, ChatRequest
from markscheme.errors import DataError, ModelError
from markscheme.models.chat.batch_services import (
    BatchResult,
    BatchState,
    NotTakenError,
    Sought,
    batch_service,
)
from markscheme.models.chat.event_loop import loop_thread
from markscheme.models.chat.http import ConnectFailedError, HttpClient
from markscheme.models.chat.openai_format import is_refusal
from markscheme.models.chat.profiles import ModelProfile
from markscheme.models.chat.reading import MalformedReplyError, added, error_in, on_a_line
from markscheme.models.chat.wire import (
    Sending,
    body_of,
    changes,
    lacking_feature,
    larger,
    no_text,
    read_reply,
    wire_of,
    without,
)
from markscheme.models.ledger import BatchJob, BatchJobs, Ledger, LedgerEntry
from markscheme.models.options import ServerOptions

_FIRST_LOOK = 1.0
_LOOKS_SLOW_DOWN = 1.3
_SLOWEST_LOOK = 60.0
_UPLOAD_SECONDS = 900.0
_TRIES = 6
_ROUNDS = 4


@dataclass(kw_only=True)
class _Waiting:
    """A batch at the provider, and which of our requests it holds."""

    job: BatchJob
    keys: list[str]
    state: BatchState = field(default_factory=lambda: BatchState(ended=False))


class BatchChat:
    """A model whose every `complete` is one batch or several. See the module.

    Attributes:
        name: as the user wrote it.
        revision: as of `ServerChat`: a reply is the same, by whichever interface it came.
        profile: address, protocol, parameters, limits of what it takes.
        concurrency: no limit: the more in a batch, the better.
        on_wait: called with a short description of what is waited for.
    """

    concurrency = 1 << 30
    side_by_side = True

    def __init__(
        self,
        *,
        name: str,
        profile: ModelProfile,
        ledger: Ledger,
        revision: str = "",
        options: ServerOptions | None = None,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Nothing is opened here.

        Args:
            name: the model.
            profile: the model's own; says what is left out because the model refuses it.
            ledger: where replies are stored, and which requests are in which batch.
            revision: anything that distinguishes two models under one name.
            options: time-outs.
            on_wait: called with what is waited for.

        Raises:
            ModelError: its protocol has no batch interface.
        """
        self.name = name
        self.profile = profile
        self.revision: str = f"{revision} {profile.settings()}".strip()
        self.on_wait = on_wait
        self._wire = wire_of(profile)
        seconds = max(_UPLOAD_SECONDS, (options or ServerOptions()).timeout)
        self._service = batch_service(
            HttpClient(timeout=seconds, connections=4), profile, self._wire
        )
        self._lock: asyncio.Lock | None = None
        self._jobs = BatchJobs(ledger, model=name, revision=self.revision)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, revision={self.revision!r})"

    def limit(self, request: ChatRequest) -> int:
        """The most tokens that may come for a request, reasoning included."""
        return request.max_tokens + self.profile.room

    def complete(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """A reply to each request, in order, when all batches have ended. See `ChatModel`.

        What a batch names as a feature that the model lacks is left out and sent once more, and
        what reasoning left no room for is sent once more with room.

        Raises:
            ModelError: the provider has no batches, or does not take ours.
        """
        keys = [LedgerEntry.of(self.name, self.revision, one).key for one in requests]
        sendings = {
            key: Sending.first(request, self.profile)
            for key, request in zip(keys, requests, strict=True)
        }
        found = self._unsendable(sendings)
        before: dict[str, ChatReply] = {}
        requested = {key: one for key, one in sendings.items() if key not in found}
        for last in (*[False] * (_ROUNDS - 1), True):
            again: dict[str, Sending] = {}
            for key, sending, result in loop_thread().run(self._round(requested)):
                reply, otherwise = read_result(sending, result)
                if key in before:
                    reply = added(before.pop(key), reply)
                if otherwise is not None and not last:
                    again[key] = otherwise
                    before[key] = reply
                else:
                    found[key] = reply
            for key in requested:
                if key not in found and key not in again:
                    found[key] = failed("the batch's results have nothing on this request")
            # Only of what will be in the ledger a batch need be remembered.
            gone = [key for key in requested if key in again or found[key].status == "failed"]
            self._jobs.forget(gone)
            if not again:
                break
            requested = again
        return [found[key] for key in keys]

    def _unsendable(self, sendings: Mapping[str, Sending]) -> dict[str, ChatReply]:
        """Requests whose images cannot be sent, as replies that say why."""
        found: dict[str, ChatReply] = {}
        for key, sending in sendings.items():
            if sending.request.images:
                try:
                    body_of(self._wire, sending)
                except DataError as error:
                    found[key] = failed(str(error))
        return found

    # --- one round ----------------------------------------------------------------------------

    async def _round(
        self, requested: Mapping[str, Sending]
    ) -> list[tuple[str, Sending, BatchResult]]:
        """Send what no batch holds, wait for all, and give the results with what was sent."""
        async with self._sending():
            waiting, sent = await self._taken_up(requested)
            held = {key for one in waiting for key in one.keys}
            parts = list(self._parts({key: s for key, s in requested.items() if key not in held}))
            while parts:
                waiting.append(await self._sent(parts.pop(0)))
        results: list[tuple[str, Sending, BatchResult]] = []
        look = _FIRST_LOOK
        while waiting:
            self._tell(waiting)
            await asyncio.sleep(look)
            look = min(_SLOWEST_LOOK, look * _LOOKS_SLOW_DOWN)
            for one in list(waiting):
                one.state = await self._looked(one)
                if not one.state.ended:
                    continue
                waiting.remove(one)
                how = {key: sent.get(key, requested[key]) for key in one.keys}
                if one.state.full and waiting:
                    parts.append({key: self._line(key, how[key]) for key in one.keys})
                    self._jobs.forget_job(one.job.job)
                    continue
                results += await self._fetched(one, how)
                if parts:  # What the provider had no room for goes when another has ended.
                    async with self._sending():
                        waiting.append(await self._sent(parts.pop(0)))
        return results

    def _sending(self) -> asyncio.Lock:
        """One at a time: judges in several threads may want to send the same request."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        return self._lock

    async def _taken_up(
        self, requested: Mapping[str, Sending]
    ) -> tuple[list[_Waiting], dict[str, Sending]]:
        """Batches that an earlier process sent and that contain requests of this call."""
        jobs, members = self._jobs.of(list(requested))
        waiting = []
        for job in jobs:
            keys = [key for key, (name, _) in members.items() if name == job.job]
            if job.service_id is None:
                # Killed between sending it and hearing of it.
                name = await self._service.find(self._sought(job))
                if name is None:
                    self._jobs.forget_job(job.job)
                    continue
                self._jobs.arrived(job.job, name)
                job = replace(job, service_id=name)  # noqa: PLW2901
            waiting.append(_Waiting(job=job, keys=keys))
        held = {key for one in waiting for key in one.keys}
        sent = {
            key: _as_sent(requested[key], text) for key, (_, text) in members.items() if key in held
        }
        return waiting, sent

    def _sought(self, job: BatchJob) -> Sought:
        return Sought(
            job=job.job,
            since=job.created_at,
            requests=job.requests,
            known=frozenset(self._jobs.known()),
        )

    def _line(self, key: str, sending: Sending) -> tuple[bytes, Sending]:
        return self._service.line(key, body_of(self._wire, sending)), sending

    def _parts(
        self, requested: Mapping[str, Sending]
    ) -> Iterator[dict[str, tuple[bytes, Sending]]]:
        """Requests in parts that the provider's limits allow."""
        part: dict[str, tuple[bytes, Sending]] = {}
        size = 0
        for key, sending in requested.items():
            line = self._line(key, sending)
            full = len(part) >= self._service.most_requests
            if part and (full or size + len(line[0]) > self._service.most_bytes):
                yield part
                part, size = {}, 0
            part[key] = line
            size += len(line[0]) + 1
        if part:
            yield part

    async def _sent(self, part: Mapping[str, tuple[bytes, Sending]]) -> _Waiting:
        """Send a part as a batch. Where it is unsure whether it arrived, it is looked for."""
        job = self._jobs.begin({key: _how(sending) for key, (_, sending) in part.items()})
        lines = [line for line, _ in part.values()]
        for attempt in range(_TRIES):
            try:
                name = await self._service.send(job.job, lines)
                break
            except (NotTakenError, ConnectFailedError) as error:
                passing = isinstance(error, ConnectFailedError) or error.unsure
                passing = passing or getattr(error, "status", 0) == 429
                if not passing or attempt == _TRIES - 1:
                    self._jobs.forget_job(job.job)
                    raise ModelError(
                        f"{self.name}: the provider takes no batch: {error}; the replies "
                        "received are saved, and the same command continues"
                    ) from None
                await asyncio.sleep(_FIRST_LOOK * 2**attempt)
                if isinstance(error, NotTakenError) and error.unsure:
                    there = await self._service.find(self._sought(job))
                    if there is not None:
                        name = there
                        break
        self._jobs.arrived(job.job, name)
        return _Waiting(job=replace(job, service_id=name), keys=list(part))

    async def _looked(self, one: _Waiting) -> BatchState:
        """The state of a batch; unchanged, where the provider does not report it just now."""
        try:
            return await self._service.state(one.job.service_id or "")
        except ConnectFailedError:
            return one.state
        except NotTakenError as error:
            if error.unsure or error.status == 429:
                return one.state
            return BatchState(ended=True, error=f"the batch is gone: {error}")

    async def _fetched(
        self, one: _Waiting, how: Mapping[str, Sending]
    ) -> list[tuple[str, Sending, BatchResult]]:
        """The results of a batch that has ended, for the requests of this call."""
        if one.state.error is not None:
            body = {"error": {"message": one.state.error}}
            return [(key, how[key], BatchResult(key=key, status=500, body=body)) for key in how]
        for attempt in range(_TRIES):
            try:
                found = await self._service.results(one.state)
                break
            except (NotTakenError, ConnectFailedError) as error:
                if attempt == _TRIES - 1:
                    raise ModelError(
                        f"{self.name}: the results of batch {one.job.service_id} cannot be "
                        f"fetched: {error}; the same command tries again"
                    ) from None
                await asyncio.sleep(_FIRST_LOOK * 2**attempt)
        # A result that comes twice counts once.
        named = {result.key: result for result in found if result.key in how}
        return [(key, how[key], result) for key, result in named.items()]

    def _tell(self, waiting: Sequence[_Waiting]) -> None:
        whole = sum(one.job.requests for one in waiting)
        done = sum(one.state.done for one in waiting)
        names = "a batch" if len(waiting) == 1 else f"{len(waiting)} batches"
        self.on_wait(f"{names}: {done:,} of {whole:,} done")


def read_result(sending: Sending, result: BatchResult) -> tuple[ChatReply, Sending | None]:
    """The reply in a result, and what to send in another round, if anything."""
    wire = wire_of(sending.profile)
    if result.status != 200:
        error, message = error_in(result.body)
        detail = on_a_line(message or str(error.get("code") or "no reason given"))
        if is_refusal(error):
            return ChatReply(status="refused", error=f"batch: {detail}"), None
        lacking = lacking_feature(wire, result.status, error, detail, sending)
        otherwise = without(sending, lacking) if lacking else None
        status = f"HTTP {result.status}: " if result.status else ""
        return failed(f"batch: {status}{detail}"), otherwise
    try:
        reply = read_reply(wire, result.body)
    except MalformedReplyError as malformed:
        return failed(f"batch: {malformed}"), None
    reply = replace(reply, changed=changes(sending))
    return reply, larger(sending, sending.profile.room) if no_text(reply) else None


def failed(error: str) -> ChatReply:
    """A reply to a request that failed, with the reason."""
    return ChatReply(status="failed", error=error)


def _how(sending: Sending) -> str:
    """What was sent otherwise than the profile says, as text for the ledger."""
    how = {
        "limit": sending.limit,
        "without": sorted(sending.without),
        "limit_name": sending.limit_name,
        "at": int(time.time()),
    }
    return orjson.dumps(how).decode()


def _as_sent(sending: Sending, text: str) -> Sending:
    how = orjson.loads(text)
    return replace(
        sending,
        limit=how["limit"],
        without=frozenset(how["without"]),
        limit_name=how["limit_name"],
    )
