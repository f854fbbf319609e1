"""What the engine hands to judges as `models`: the run's chat models and encoder, opened late."""

from __future__ import annotations

import importlib.metadata
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from markscheme.errors import MissingExtraError, ModelError
from markscheme.models.options import ModelOptions, ServerOptions

if TYPE_CHECKING:
    from markscheme.contract import ChatModel, Encoder, PairClassifier
    from markscheme.models.chat import Budget, ModelProfile, ModelTable
    from markscheme.models.ledger import Ledger, LedgerEntry

LEDGER_ENV = "MARKSCHEME_LEDGER"
"""Environment variable that names the ledger: a path or a PostgreSQL URL."""

_BATCHES = 16
"""Judges, and parts of a file, that wait for batches at the same time, at most."""

ENTRY_POINTS = "markscheme.chat_models"
"""Entry-point group of other packages: the point PREFIX opens the chat models PREFIX:NAME. It is
called with `name`, all of it, and loads or connects at the first request, not before."""

_RESEARCH = {"hf": "research,hf"}
"""Prefixes that `markscheme_research` opens, with the extras that they take."""


def default_ledger() -> str:
    """Where replies are stored unless a place is named: MARKSCHEME_LEDGER, else `runs/`."""
    return os.environ.get(LEDGER_ENV) or str(Path("runs") / "ledger.sqlite")


class Models:
    """The models a run may use. Nothing is opened before its first use.

    Example:
        >>> from markscheme.models.chat.scripted import ScriptedChat
        >>> models = Models(chat=ScriptedChat(replies={"Is it so?": "Yes"}))
        >>> models.chat().name
        'scripted'
    """

    def __init__(
        self,
        *,
        chat: ChatModel | None = None,
        named: Mapping[str, ChatModel] | None = None,
        options: ModelOptions | None = None,
        on_missing: Callable[[LedgerEntry], None] | None = None,
        classifiers: Mapping[str, PairClassifier] | None = None,
    ) -> None:
        """Keep what is given.

        Args:
            chat: a chat model object: the run's model, in place of one named in `options`. Its
                replies are stored only if `options.ledger` is set.
            named: further chat models, for judges that name theirs.
            options: the model to open, ledger and budget.
            on_missing: in a dry run, called with every request that would be sent.
            classifiers: entailment models by the name that judges call them.
        """
        self.options: ModelOptions = options or ModelOptions()
        self._given = chat
        self._named = dict(named or {})
        self._on_missing = on_missing
        self._classifiers = dict(classifiers or {})
        self._open: dict[str | None, ChatModel] = {}
        self._ledger: Ledger | None = None
        self._budget: Budget | None = None
        self._used: set[str] = set()
        self._table: ModelTable | None = None
        self._lock = threading.RLock()
        self.on_wait: Callable[[str], None] = lambda _: None
        """Called with a few words on what the run is waiting for: batches, or a server that turns
        requests away."""

    @property
    def from_options(self) -> bool:
        """Whether `options` are all that these models are made of."""
        return self._given is None and not self._named and not self._classifiers

    @property
    def budget(self) -> Budget:
        """The run's limits, and what was used of them."""
        if self._budget is None:
            from markscheme.models.chat import Budget

            self._budget = Budget(max_cost=self.options.max_cost, max_calls=self.options.max_calls)
        return self._budget

    @property
    def side_by_side(self) -> int:
        """Requests that may be under way at the same time; 1 where one call follows another, as
        with weights in this process, scripts, recordings and dry runs."""
        options = self.options
        if options.replay or options.dry_run:
            return 1
        if options.batch:
            return _BATCHES
        given = [one for one in (self._given, *self._named.values()) if one is not None]
        found: list[int] = []
        if given:  # Most runs ask no model, and need not import what asks one.
            from markscheme.models.chat import AsyncChat

            found = [one.concurrency if isinstance(one, AsyncChat) else 1 for one in given]
        if options.model is not None:
            server = options.server or ServerOptions()
            elsewhere = _opener(options.model) is not None
            found.append(1 if elsewhere else server.concurrency)
        return min(found, default=1)

    def with_ledger(self, location: str | Path, *, replay: bool = False) -> Models:
        """The same models and budget, with replies stored elsewhere; replaying spends nothing.

        Args:
            location: the other ledger.
            replay: send nothing.
        """
        options = replace(self.options, ledger=str(location), replay=replay)
        found = Models(
            chat=self._given, named=self._named, options=options, classifiers=self._classifiers
        )
        if not replay:
            found._budget = self.budget
        found.on_wait = self.on_wait
        return found

    def used_entries(self) -> frozenset[str]:
        """Keys of the ledger's entries that were used since this was last called."""
        found = frozenset(self._used)
        self._used -= found
        return found

    @property
    def _location(self) -> str:
        return self.options.ledger or default_ledger()

    def ledger(self) -> Ledger:
        """The run's ledger, opened at its first use.

        Raises:
            ModelError: it cannot be opened, or is to be replayed and not there.
        """
        if self._ledger is None:
            from markscheme.models.ledger import open_ledger

            self._ledger = open_ledger(self._location, must_exist=self.options.replay)
        return self._ledger

    def chat(self, name: str | None = None) -> ChatModel:
        """The chat model called `name`; the run's own where a judge names none.

        Another name than the run's is another model: at its own address, if the model files have
        one for it, else at the run's.

        Raises:
            ModelError: there is no such model; says what to do.
        """
        with self._lock:
            if name not in self._open:
                self._open[name] = self._cached(self._source(name))
            return self._open[name]

    def profile(self, name: str) -> ModelProfile:
        """What the model files and this run's options say of a model.

        Raises:
            DataError: a model file cannot be read.
        """
        server = self.options.server or ServerOptions()
        return self._models().profile(name, server, elsewhere=name != self.options.model)

    def _models(self) -> ModelTable:
        if self._table is None:
            from markscheme.models.chat import model_table

            self._table = model_table(self.options.prices, self.options.models)
        return self._table

    def _source(self, name: str | None) -> ChatModel:
        if name is not None and name in self._named:
            return self._named[name]
        if self._given is not None and name in (None, self._given.name):
            return self._given
        wanted = name or self.options.model
        if wanted is None:
            raise ModelError(
                "this judge asks a language model and none was named; pass --model NAME (and "
                "--base-url URL for a server of your own), or in Python "
                "models=Models(options=ModelOptions(model=...))"
            )
        if self._given is not None and self.options.model is None:
            known = ", ".join(sorted({self._given.name, *self._named}))
            raise ModelError(f"no chat model named {wanted!r} was given; there is {known}")
        revision = self.options.revision if wanted == self.options.model else ""
        opener = _opener(wanted)
        if opener is not None:
            if not self.options.replay:
                return opener()
            from markscheme.models.chat import ScriptedChat

            # What has replied need not be here: it is its name and revision that count.
            return ScriptedChat(replies={}, name=wanted, revision=revision)
        server = self.options.server or ServerOptions()
        if self.options.batch and not self.options.replay:
            from markscheme.models.chat import BatchChat

            return BatchChat(
                name=wanted,
                revision=revision,
                options=server,
                profile=self.profile(wanted),
                ledger=self.ledger(),
                on_wait=self._waits,
            )
        from markscheme.models.chat import ServerChat

        return ServerChat(
            name=wanted,
            revision=revision,
            options=server,
            profile=self.profile(wanted),
            on_wait=self._waits,
        )

    def _waits(self, text: str) -> None:
        self.on_wait(text)  # Set after the model was opened, perhaps.

    def _cached(self, model: ChatModel) -> ChatModel:
        """The model with ledger and budget around it."""
        from markscheme.models.chat import CachedChat, batch_share

        profile = self.profile(model.name)
        price = profile.price
        objects = (self._given, *self._named.values())
        options = self.options
        named = options.ledger is not None or options.replay
        stored = named or not any(model is one for one in objects)
        return CachedChat(
            model=model,
            ledger=self.ledger() if stored else None,
            budget=self.budget,
            price=price,
            assumed=self._models().highest_price,
            share=batch_share(price) if options.batch else 1.0,
            image_tokens=profile.image_tokens,
            send=not options.dry_run,
            replay=options.replay,
            on_missing=self._on_missing,
            on_used=self._used.update,
        )

    def encoder(self) -> Encoder:
        """The sentence encoder that ships in the package."""
        from markscheme.models.local import token_encoder

        return token_encoder()

    def nli(self, name: str) -> PairClassifier:
        """The entailment model called `name`: a folder, or a name on the hub.

        Raises:
            MissingExtraError: it needs the research package or transformers, not installed.
            ModelError: it cannot be opened, or does not say which of its outputs is entailment.
        """
        if name not in self._classifiers:
            from markscheme.models.local import open_nli

            self._classifiers[name] = open_nli(name)
        return self._classifiers[name]

    def close(self) -> None:
        """Write what is left to the ledger and close it."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None
        self._open.clear()


def _opener(name: str) -> Callable[[], ChatModel] | None:
    """What opens a model that another package provides; None for a model behind a server.

    It raises MissingExtraError where the package is not installed.
    """
    prefix, colon, _ = name.partition(":")
    if not colon:
        return None
    for point in importlib.metadata.entry_points(group=ENTRY_POINTS, name=prefix):
        return lambda: point.load()(name=name)
    if prefix not in _RESEARCH:
        return None

    def missing() -> ChatModel:
        raise MissingExtraError(f"the model {name!r}", _RESEARCH[prefix])

    return missing
