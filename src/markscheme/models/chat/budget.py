"""How much a run may ask and spend, how much it has, and what it would: counted as it goes."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from markscheme.contract import ChatReply


@dataclass(frozen=True, kw_only=True, slots=True)
class Spending:
    """What a run has spent so far, or, where nothing is sent, what it would spend.

    Attributes:
        calls: requests sent.
        known: requests that the ledger answered.
        skipped: requests not sent because the budget was spent.
        failed: requests to which no answer came.
        tokens_in, tokens_out: as servers counted; of a dry run, counted here, and the most that
            may come out.
        cost_usd: money; of a dry run, at most.
        unpriced: calls of which it is not known what they cost.
        unread: calls whose reply was lost or could not be read, and may have been billed: they are
            in `cost_usd` at the highest possible price where money is limited.
    """

    calls: int = 0
    known: int = 0
    skipped: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    unread: int = 0

    def __str__(self) -> str:
        """`1,204 calls, $0.1234, 310 known`; what is not known to cost nothing is not $0."""
        words = [f"{self.calls:,} call{'s' * (self.calls != 1)}"]
        if self.cost_usd and self.unpriced:
            words.append(f"${self.cost_usd:,.4f} with {self.unpriced:,} of unknown cost")
        elif self.unpriced:
            words.append("cost unknown")
        elif self.calls:
            words.append(f"${self.cost_usd:,.4f}")
        for count, word in (
            (self.known, "known"),
            (self.unread, "unread"),
            (self.failed, "failed"),
            (self.skipped, "skipped"),
        ):
            words += [f"{count:,} {word}"] * bool(count)
        return ", ".join(words)


@dataclass(kw_only=True)
class Budget:
    """Limits, and what was used of them. One for all models of a run; safe between threads.

    Attributes:
        max_cost: US dollars that may be spent; None for no limit.
        max_calls: requests that may be sent; None for no limit.
        on_change: called after every reply.
        remarks: where requests or replies differ from what the user chose, with the number of
            replies.
    """

    max_cost: float | None = None
    max_calls: int | None = None
    on_change: Callable[[Spending], None] | None = None
    remarks: Counter[str] = field(default_factory=Counter, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _spending: dict[str, float] = field(default_factory=dict, init=False, repr=False)
    _under_way: float = field(default=0.0, init=False, repr=False)
    _open: int = field(default=0, init=False, repr=False)
    _ended: int = field(default=0, init=False, repr=False)
    _billed: bool = field(default=False, init=False, repr=False)
    _dearer: float = field(default=1.0, init=False, repr=False)
    """The most that a reply cost, as a multiple of what was reserved for it; at least 1."""

    @property
    def spending(self) -> Spending:
        """What was used so far."""
        with self._lock:
            return self._read()

    def admit(self, worst: float, *, probe: bool = True) -> str | Literal[False] | None:
        """Ask to send one request that costs `worst` dollars at most.

        A server may bill more than its price list says. So until one reply has shown its cost,
        no more requests are under way than have ended, and one; and what is reserved is as many
        times more as the dearest reply was.

        Args:
            worst: by the price list.
            probe: wait for the first reply's cost; not where the request is one that is under way
                and is sent once more, or one of a batch, whose first reply comes with its last.

        Returns:
            None: go on; `settle` must follow. False: not yet, but what is under way may turn out
            cheaper than it could be. A text: no, and why.
        """
        with self._lock:
            if self.max_calls is not None and self._spending.get("calls", 0) >= self.max_calls:
                return f"the budget of {self.max_calls:,} calls (--max-calls) is spent"
            if self.max_cost is not None:
                if probe and not self._billed and self._open > self._ended:
                    return False
                spent, one = self._spending.get("cost_usd", 0.0), worst * self._dearer
                if spent + self._under_way * self._dearer + one > self.max_cost:
                    if self._under_way > 0 and spent + one <= self.max_cost:
                        return False
                    return self._refusal(spent, one)
            self._under_way += worst
            self._open += 1
            self._add(calls=1)
            return None

    def _refusal(self, spent: float, one: float) -> str:
        budget = f"the budget of ${self.max_cost:g} (--max-cost)"
        if spent > (self.max_cost or 0.0):
            return f"{budget} is spent: replies cost more than their price list says, ${spent:,.4f}"
        return (
            f"{budget} is spent"
            if spent
            else f"{budget} is less than a request may cost, ${one:,.4f}"
        )

    def settle(self, worst: float, reply: ChatReply, *, bill: float | None = None) -> None:
        """Count the reply to a request that was admitted at `worst` dollars.

        Args:
            worst: all that was reserved for it.
            reply: what came.
            bill: dollars, where the reply itself does not say; None for what is not known, which is
                taken at `worst` if anything was generated.
        """
        generated = reply.status in ("ok", "refused") or reply.tokens_in is not None
        cost = reply.cost_usd if reply.cost_usd is not None else bill
        if cost is None:
            cost = worst if generated else 0.0
        with self._lock:
            self._end(worst)
            self._billed = self._billed or (
                generated and (reply.cost_usd is not None or bill is not None)
            )
            if worst > 0:
                self._dearer = max(self._dearer, cost / worst)
            self._add(
                failed=reply.status == "failed",
                tokens_in=reply.tokens_in or 0,
                tokens_out=reply.tokens_out or 0,
                cost_usd=cost,
                unpriced=generated and reply.cost_usd is None,
            )
        self._tell()

    def lose(self, worst: float) -> None:
        """Count a request that was sent, may be billed, and gave no reply that could be read."""
        with self._lock:
            self._end(worst)
            self._add(cost_usd=worst * self._dearer, unread=1, unpriced=1)
        self._tell()

    def remark(self, text: str) -> None:
        """Note something that a reply showed."""
        with self._lock:
            self.remarks[text] += 1

    def count(self, *, known: int = 0, skipped: int = 0) -> None:
        """Count requests that were not sent."""
        with self._lock:
            self._add(known=known, skipped=skipped)
        self._tell()

    def plan(self, *, tokens_in: int, tokens_out: int, cost: float | None) -> None:
        """Count a request that would be sent, if this were not a dry run."""
        with self._lock:
            self._add(
                calls=1,
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                cost_usd=cost or 0.0,
                unpriced=cost is None,
            )

    def _end(self, worst: float) -> None:
        """A request that was admitted is under way no longer."""
        self._under_way = max(0.0, self._under_way - worst)
        self._open, self._ended = max(0, self._open - 1), self._ended + 1

    def _add(self, **counts: float) -> None:
        for name, count in counts.items():
            self._spending[name] = self._spending.get(name, 0) + count

    def _read(self) -> Spending:
        whole = {name: int(n) for name, n in self._spending.items() if name != "cost_usd"}
        return Spending(**whole, cost_usd=self._spending.get("cost_usd", 0.0))

    def _tell(self) -> None:
        if self.on_change is not None:
            self.on_change(self.spending)
