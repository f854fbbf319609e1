"""What judges and their parts share that ask a chat model with a shipped prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from markscheme.contract import ModelSource
from markscheme.models.chat import ChatModel, Message

if TYPE_CHECKING:
    from markscheme.judges.prompted.prompt import Prompt

ASKED_AGAIN = "\n\n[asked again]\n\n"
"""Between the first reply and the second, where both are kept."""


@dataclass(frozen=True, kw_only=True)
class AsksChat:
    """Whoever asks a chat model. Subclasses name their prompt in `PROMPT`.

    Attributes:
        model: name of the chat model; the run's own if none.
    """

    PROMPT: ClassVar[str] = ""

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

    def _repair_turns(self, said: str | None, trouble: str) -> tuple[Message, Message]:
        """What to add to a conversation whose last reply could not be read."""
        return (
            # Servers refuse an empty turn of the assistant.
            Message(role="assistant", content=(said or "").strip() or "(no reply)"),
            Message(role="user", content=self.template.repair_message(trouble)),
        )


def messages(turns: Iterable[tuple[str, str]]) -> tuple[Message, ...]:
    """A prompt's turns as messages."""
    return tuple(
        Message(role="system" if role == "system" else "user", content=text) for role, text in turns
    )


def total(values: Iterable[Any]) -> Any:
    """Sum of the figures that are known; None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
