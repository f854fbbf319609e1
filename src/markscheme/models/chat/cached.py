"""A chat model whose replies go through the ledger, within a budget."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import re
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from markscheme.contract import ChatModel, ChatReply, ChatRequest
from markscheme.models.chat.budget import Budget
from markscheme.models.chat.event_loop import for_each, loop_thread
from markscheme.models.chat.profiles import Price
from markscheme.models.chat.token_counts import rough_tokens
from markscheme.models.ledger import Ledger, LedgerEntry

_FEWEST_CLAIMED = 64
_CLAIMED_A_PLACE = 4
_SIDE_BY_SIDE = 64
_LOOK_AGAIN_SECONDS = 0.2
_BUDGET_SECONDS = 0.02

CHANGED = "entries of the ledger are damaged, changed or not signed, and were not used"


@runtime_checkable
class AsyncChat(Protocol):
    """A chat model that takes one request at a time, many of them concurrently."""

    @property
    def concurrency(self) -> int: ...

    def limit(self, request: ChatRequest) -> int: ...

    async def ask(
        self, request: ChatRequest, *, again: Callable[[int, bool], bool] = ...
    ) -> ChatReply: ...


class _Work:
    """One call of `complete`: its requests, equal ones once, and what has arrived."""

    def __init__(self, model: ChatModel, requests: Sequence[ChatRequest]) -> None:
        ordered = [LedgerEntry.of(model.name, model.revision, one) for one in requests]
        self._keys = [entry.key for entry in ordered]
        self.entries = {entry.key: entry for entry in ordered}
        self._replies: dict[str, ChatReply] = {}

    def deliver(self, key: str, reply: ChatReply) -> None:
        """Note the reply under a key."""
        self._replies[key] = reply

    def replies(self) -> list[ChatReply]:
        """All replies, in order of the requests."""
        return [self._replies[key] for key in self._keys]


@dataclass(kw_only=True)
class CachedChat:
    """Wraps a chat model: known replies are reused, new ones are stored and counted.

    Equal requests are sent once. A request that another process is sending is waited for.

    Attributes:
        model: who answers.
        ledger: where replies are stored; None stores nothing.
        budget: limits, and the count of what was used.
        price: dollars for tokens; None where unknown.
        assumed: dollars for tokens of a model without a price, where money is limited: what is
            unknown is assumed to cost.
        share: what a call costs as a share of its price: less than 1 where it goes in a batch.
        image_tokens: tokens of an image, at most; None for what its size says.
        send: whether to send what is not known; False plans it (`budget.plan`) and skips it.
        replay: send nothing: what the ledger lacks is a failed reply that says so.
        on_used: called with the keys of the ledger's entries that replies were taken from.
        on_missing: called with every request that `send=False` does not send.
    """

    model: ChatModel
    ledger: Ledger | None = None
    budget: Budget = field(default_factory=Budget)
    price: Price | None = field(default=None, repr=False)
    assumed: Price | None = field(default=None, repr=False)
    share: float = 1.0
    image_tokens: int | None = None
    send: bool = True
    replay: bool = False
    on_missing: Callable[[LedgerEntry], None] | None = None
    on_used: Callable[[Iterable[str]], None] | None = None
    _under_way: dict[str, asyncio.Future[ChatReply]] = field(
        default_factory=dict, init=False, repr=False
    )
    _one_by_one: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self.model.name

    @property
    def revision(self) -> str:
        """The wrapped model's revision."""
        return self.model.revision

    def complete(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """A reply to each request, in order; each is on disk before it is handed on.

        Raises:
            ModelError: no request could succeed, or the ledger cannot be written.
        """
        work = _Work(self.model, requests)
        known = self._known(work)
        self._deliver_known(work, known)
        missing = [key for key in work.entries if key not in known]
        if self.replay:
            assert self.ledger is not None
            lacking = f"{self.ledger.shown} has no reply of {self.name} {self.revision}".strip()
            error = f"{lacking} to this request, and replay sends none"
            for key in missing:
                work.deliver(key, ChatReply(status="failed", error=error))
        elif not self.send:
            for key in missing:
                self._plan(work.entries[key])
                work.deliver(key, ChatReply(status="skipped", error="nothing is sent"))
        elif missing:
            self._ask(work, missing)
        if self.ledger and self.send and self.on_used is not None:
            self.on_used(known if self.replay else work.entries)
        return work.replies()

    def _known(self, work: _Work) -> dict[str, ChatReply]:
        """Replies that the ledger has; what was changed there is not there, and a note says so."""
        if self.ledger is None:
            return {}
        known = self.ledger.find(work.entries)
        changed = self.ledger.changed.intersection(work.entries)
        self.ledger.changed -= changed
        for _ in changed:
            self.budget.remark(CHANGED)
        return known

    def _deliver_known(self, work: _Work, known: Mapping[str, ChatReply]) -> None:
        for key, reply in known.items():
            self._remark(reply)
            work.deliver(key, reply)
        if known:
            self.budget.count(known=len(known))

    def _plan(self, entry: LedgerEntry) -> None:
        tokens = rough_tokens(entry.request.messages, self.image_tokens)
        limit = self._limit(entry.request)
        cost = None if self.price is None else self.share * self.price.cost(tokens, limit)
        self.budget.plan(tokens_in=tokens, tokens_out=limit, cost=cost)
        if self.on_missing is not None:
            self.on_missing(entry)

    def _limit(self, request: ChatRequest) -> int:
        """The most tokens that may come for a request."""
        limit = getattr(self.model, "limit", None)
        return request.max_tokens if limit is None else int(limit(request))

    # --- asking -------------------------------------------------------------------------------

    def _ask(self, work: _Work, missing: list[str]) -> None:
        """Ask for everything that is missing; come back for what other processes are asking."""
        at_once = min(getattr(self.model, "concurrency", _SIDE_BY_SIDE), len(missing))
        ours = _Claims(self.ledger, missing, max(_FEWEST_CLAIMED, _CLAIMED_A_PLACE * at_once))
        with contextlib.closing(ours):
            while True:
                jobs = (work.entries[key] for key in ours.next())
                try:
                    self._ask_round(work, jobs, at_once)
                finally:
                    if self.ledger is not None:
                        self.ledger.flush()
                    ours.release()
                self._deliver_known(work, ours.take_found())
                if not ours.waiting:
                    return
                time.sleep(_LOOK_AGAIN_SECONDS)

    def _ask_round(self, work: _Work, jobs: Iterator[LedgerEntry], at_once: int) -> None:
        """Ask for what is ours to ask."""
        if isinstance(self.model, AsyncChat):
            one = self._asker(work, self.model)
            loop_thread().run(for_each(jobs, one, at_once=at_once))
            return
        # Weights and scripts are no servers.
        together = getattr(self.model, "side_by_side", False)
        with contextlib.nullcontext() if together else self._one_by_one:
            self._ask_in_groups(work, jobs, at_once, probe=not together)

    def _asker(self, work: _Work, model: AsyncChat) -> Callable[[LedgerEntry], Awaitable[None]]:
        """What takes one request all the way: budget, model, ledger."""

        async def ask(entry: LedgerEntry) -> None:
            elsewhere = self._under_way.get(entry.key)
            if elsewhere is not None:
                # Another chunk of this run asks the same: one is paid for.
                work.deliver(entry.key, await asyncio.shield(elsewhere))
                return
            mine: asyncio.Future[ChatReply] = asyncio.get_running_loop().create_future()
            self._under_way[entry.key] = mine
            try:
                await self._ask_one(work, entry, model, mine)
            finally:
                self._under_way.pop(entry.key, None)
                mine.cancel()

        return ask

    async def _ask_one(
        self, work: _Work, entry: LedgerEntry, model: AsyncChat, mine: asyncio.Future[ChatReply]
    ) -> None:
        worst = self._worst(entry.request, model.limit(entry.request))
        while (answer := self.budget.admit(worst)) is False:
            await asyncio.sleep(_BUDGET_SECONDS)
        if answer is not None:
            mine.set_result(self._skip(work, entry, answer))
            return
        reserved = [worst]

        def again(limit: int, known: bool) -> bool:
            if not known:  # It may have been billed, and nobody will say how much.
                self.budget.lose(reserved.pop())
            if not limit:
                return False
            next_one = self._worst(entry.request, limit)
            if self.budget.admit(next_one, probe=False) is not None:
                return False
            reserved.append(next_one)
            return True

        try:
            reply = await model.ask(entry.request, again=again)
        except BaseException:  # It ends with the run, sent or not; what it may cost is not free.
            self.budget.lose(sum(reserved))
            raise
        mine.set_result(self._settle(work, entry, sum(reserved), reply))

    def _ask_in_groups(
        self, work: _Work, jobs: Iterator[LedgerEntry], size: int, *, probe: bool
    ) -> None:
        """Ask a model that only knows `complete`, a group at a time; `probe` as of `admit`."""
        group: list[tuple[LedgerEntry, float]] = []

        def finish() -> None:
            try:
                replies = self.model.complete([entry.request for entry, _ in group])
            except BaseException:  # Whoever waits for room in the budget must not wait for these.
                for _, worst in group:
                    self.budget.lose(worst)
                raise
            for (entry, worst), reply in zip(group, replies, strict=True):
                self._settle(work, entry, worst, reply)
            group.clear()

        for entry in jobs:
            worst = self._worst(entry.request, self._limit(entry.request))
            while (answer := self.budget.admit(worst, probe=probe)) is False:
                if group:
                    finish()
                else:  # What another judge has under way may leave room.
                    loop_thread().run(asyncio.sleep(_BUDGET_SECONDS))
            if answer is not None:
                self._skip(work, entry, answer)
                continue
            group.append((entry, worst))
            if len(group) >= size:
                finish()
        if group:
            finish()

    def _worst(self, request: ChatRequest, limit: int) -> float:
        """The most a request may cost; nothing where there is no limit of money."""
        if self.budget.max_cost is None:
            return 0.0
        price = self.price or self.assumed
        tokens = rough_tokens(request.messages, self.image_tokens)
        worst = price.cost(tokens, limit) if price else 0.0
        return self.share * worst

    def _skip(self, work: _Work, entry: LedgerEntry, reason: str) -> ChatReply:
        self.budget.count(skipped=1)
        reply = ChatReply(status="skipped", error=reason)
        work.deliver(entry.key, reply)
        return reply

    def _settle(self, work: _Work, entry: LedgerEntry, worst: float, reply: ChatReply) -> ChatReply:
        """Price a reply, count it, store it, and deliver it once it is stored."""
        bill = cost_of(reply, self.price, share=self.share)
        if reply.cost_usd is None and self.price is not None:
            reply = dataclasses.replace(reply, cost_usd=bill)
        if bill is None and self.budget.max_cost is not None:
            bill = cost_of(reply, self.assumed, share=self.share)
        self.budget.settle(worst, reply, bill=bill)
        self._remark(reply)
        if self.ledger is None:
            work.deliver(entry.key, reply)
        else:
            self.ledger.put(entry, reply, lambda stored: work.deliver(entry.key, stored))
        return reply

    def _remark(self, reply: ChatReply) -> None:
        """Count requests and replies that differ from what the user chose."""
        for name, value in (reply.changed or {}).items():
            if value is None:
                self.budget.remark(f"{self.name}: {name} was not sent; the model does not take it")
            else:
                self.budget.remark(f"{self.name}: sent with another {name} than the prompt's")
        if reply.model and not _same_model(reply.model, self.name):
            self.budget.remark(f"{self.name}: answered by {reply.model!r}")


def cost_of(reply: ChatReply, price: Price | None, *, share: float) -> float | None:
    """US dollars that a reply cost: as the server billed it, else a share of its price."""
    if reply.cost_usd is not None:
        return reply.cost_usd
    if price is None or reply.tokens_in is None or reply.tokens_out is None:
        return None
    return share * price.cost(
        reply.tokens_in,
        reply.tokens_out,
        cached=reply.tokens_cached or 0,
        reasoning=reply.tokens_reasoning or 0,
    )


def _same_model(served: str, requested: str) -> bool:
    """Whether a server's name for a model is the requested one, if perhaps more exact."""
    here, there = (
        re.sub(r"[^a-z0-9]+", "-", re.split(r"[/:](?=[^/:]*[a-z])", name.lower())[-1]).strip("-")
        for name in (requested.removesuffix(":latest"), served.removesuffix(":latest"))
    )
    return f"{there}-".startswith(f"{here}-") or f"{here}-".startswith(f"{there}-")


class _Claims:
    """Keys to ask for, claimed a few at a time so that processes share the work.

    The event loop's thread takes them. A caller that is cancelled does not wait for that thread,
    which claims nothing more once they are closed.
    """

    def __init__(self, ledger: Ledger | None, keys: list[str], at_a_time: int) -> None:
        self._ledger = ledger
        self._at_a_time = at_a_time
        self._found: dict[str, ChatReply] = {}
        self._mine: set[str] = set()
        self._lock = threading.Lock()
        self._closed = False
        self.waiting = keys

    def next(self) -> Iterator[str]:
        """Keys that are ours to ask. Those of others go on `waiting` for the next round."""
        keys, self.waiting = self.waiting, []
        for at in range(0, len(keys), self._at_a_time):
            some = keys[at : at + self._at_a_time]
            if self._ledger is None:
                yield from some
                continue
            with self._lock:
                if self._closed:
                    return
                mine, found = self._ledger.claim(some)
                self._mine |= mine
                self._found.update(found)
            self.waiting += [key for key in some if key not in mine and key not in found]
            yield from (key for key in some if key in mine)

    def take_found(self) -> dict[str, ChatReply]:
        """Replies that others gave meanwhile."""
        found, self._found = self._found, {}
        return found

    def release(self) -> None:
        """Give up what was claimed and not answered."""
        with self._lock:
            if self._ledger is not None and self._mine:
                self._ledger.release(self._mine)
                self._mine = set()

    def close(self) -> None:
        """Give up all claims and make no more."""
        with self._lock:
            self._closed = True
        self.release()
