"""The same models with another seed, temperature or sample: for repeats and judges in stages."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markscheme.contract import ChatModel, ChatReply, ChatRequest, ModelSource, OnReply


@dataclass(frozen=True, kw_only=True)
class SampledChat:
    """A chat model whose requests get these settings; what is None stays as requested.

    Attributes:
        chat: who answers.
        seed, temperature, max_tokens: of every request.
        sample: added to the number of every request's sample.
    """

    chat: ChatModel
    seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    sample: int = 0

    @property
    def name(self) -> str:
        """The model's own."""
        return self.chat.name

    @property
    def revision(self) -> str:
        """The model's own."""
        return self.chat.revision

    def complete(
        self, requests: Sequence[ChatRequest], *, on_reply: OnReply | None = None
    ) -> list[ChatReply]:
        """Replies to the requests with the settings put in."""
        return self.chat.complete([self._set(one) for one in requests], on_reply=on_reply)

    def _set(self, request: ChatRequest) -> ChatRequest:
        return dataclasses.replace(
            request,
            seed=request.seed if self.seed is None else self.seed,
            temperature=request.temperature if self.temperature is None else self.temperature,
            max_tokens=request.max_tokens if self.max_tokens is None else self.max_tokens,
            sample=request.sample + self.sample,
        )


@dataclass(frozen=True, kw_only=True)
class SamplingOverrides:
    """Models whose chat requests get these settings, in every stage of a judge alike.

    Attributes:
        models: where the models come from.
        model: name of the chat model for judges that name none.
        seed, temperature, max_tokens, sample: see `SampledChat`.
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
        return SampledChat(
            chat=self.models.chat(name or self.model),
            seed=self.seed,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            sample=self.sample,
        )

    def __getattr__(self, name: str) -> Any:
        """Everything else is the models' own."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.models, name)
