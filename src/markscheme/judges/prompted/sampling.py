"""The same models with another seed, temperature or sample: for repeats and judges in stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from markscheme.contract import ChatModel, ChatReply, ChatRequest, ModelSource


@dataclass(frozen=True, kw_only=True)
class SampledChat:
    """A chat model whose requests get the settings of `overrides`."""

    chat: ChatModel
    overrides: SamplingOverrides

    @property
    def name(self) -> str:
        """The model's own."""
        return self.chat.name

    @property
    def revision(self) -> str:
        """The model's own."""
        return self.chat.revision

    def complete(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Replies to the requests with the settings put in."""
        settings = {
            name: value
            for name in ("seed", "temperature", "max_tokens")
            if (value := getattr(self.overrides, name)) is not None
        }
        changed = [
            replace(request, sample=request.sample + self.overrides.sample, **settings)
            for request in requests
        ]
        return self.chat.complete(changed)


@dataclass(frozen=True, kw_only=True)
class SamplingOverrides:
    """Models whose chat requests get these settings, in every stage of a judge alike.

    Attributes:
        models: where the models come from.
        model: name of the chat model for judges that name none.
        seed, temperature, max_tokens: of every request; what is None stays as requested.
        sample: added to the number of every request's sample.
    """

    models: ModelSource
    model: str | None = None
    seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    sample: int = 0

    def chat(self, name: str | None = None) -> ChatModel:
        """The chat model called `name`, with the settings.

        Raises:
            ModelError: as the models raise it.
        """
        return SampledChat(chat=self.models.chat(name or self.model), overrides=self)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the models' own."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.models, name)
