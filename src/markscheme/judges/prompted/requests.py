"""What judges and their parts share that ask a chat model with a shipped prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from markscheme.contract import ModelSource, Role
from markscheme.judges.prompted.asking import Call, Sample, ask
from markscheme.models.chat import ChatModel, Message

if TYPE_CHECKING:
    from markscheme.judges.prompted.prompt import Prompt


@dataclass(frozen=True, kw_only=True)
class AsksChat:
    """A component that asks a chat model. Subclasses name their prompt in `PROMPT`.

    Attributes:
        model: name of the chat model; the run's own if none.
    """

    PROMPT: ClassVar[str] = ""
    REPEATED: ClassVar[int | None] = None

    model: str | None = None

    @property
    def template(self) -> Prompt:
        """The prompt itself."""
        from markscheme.judges.prompted.prompt import shipped

        return shipped()[self.PROMPT]

    def identity(self, models: ModelSource | None) -> Mapping[str, str]:
        """Hash of the prompt, and name and revision of the model, for signatures."""
        found = {"prompt": self.template.hash}
        if models is not None:
            chat = self._chat(models)
            found |= {"chat": chat.name}
            found |= {"chat_revision": chat.revision} if chat.revision else {}
        return found

    def _chat(self, models: ModelSource) -> ChatModel:
        from markscheme.models import Models

        chat: ChatModel = (models if models is not None else Models()).chat(self.model)
        return chat

    def _ask(self, chat: ChatModel, calls: Sequence[Call], *, repair: bool) -> list[Sample]:
        """A sample for each call, sent once more if `repair`; see `ask`."""
        prompt = self.template if repair else None
        return ask(chat, calls, repair=prompt, repeated=self.REPEATED)


def messages(turns: Iterable[tuple[str, str]]) -> tuple[Message, ...]:
    """A prompt's turns as messages."""
    roles: Mapping[str, Role] = {"system": "system", "assistant": "assistant"}
    return tuple(Message(role=roles.get(role, "user"), content=text) for role, text in turns)
