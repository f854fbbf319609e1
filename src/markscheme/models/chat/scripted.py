"""A chat model that answers from a script: for tests, ours and those of users' pipelines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from markscheme.contract import ChatReply, ChatRequest

Script = Mapping[str, str | ChatReply] | Callable[[str], str | ChatReply]


@dataclass(kw_only=True)
class ScriptedChat:
    """Answers from a mapping, or a function, of the last user message.

    Attributes:
        replies: last user message to reply; a text, or a whole `ChatReply` to play a refusal, a
            failure or log-probabilities. A message that a mapping lacks is a failed reply.
        name, revision: as a real model would give them.
        seen: every request so far, in order, for tests to look at.

    Example:
        >>> from markscheme.contract import ChatRequest, Message
        >>> chat = ScriptedChat(replies=lambda text: "Yes" if "Paris" in text else "No")
        >>> request = ChatRequest(messages=(Message(role="user", content="Is it Paris?"),))
        >>> chat.complete([request])[0].text
        'Yes'
    """

    replies: Script
    name: str = "scripted"
    revision: str = ""
    seen: list[ChatRequest] = field(default_factory=list, repr=False)

    def complete(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """A reply to each request, from the script."""
        self.seen += requests
        return [self._reply(request.last_user) for request in requests]

    def _reply(self, text: str) -> ChatReply:
        if callable(self.replies):
            answer = self.replies(text)
        elif text in self.replies:
            answer = self.replies[text]
        else:
            return ChatReply(status="failed", error="the script has no reply to this message")
        if isinstance(answer, ChatReply):
            return answer
        return ChatReply(status="ok", text=answer, finish_reason="stop", model=self.name)
