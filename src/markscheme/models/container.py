"""What the engine hands to judges as `models`: the run's chat models and encoder, opened late."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from markscheme.errors import ModelError

if TYPE_CHECKING:
    from markscheme.models.chat import ChatModel
    from markscheme.models.encoder import Encoder


class Models:
    """The models a run may use.

    Example:
        >>> from markscheme.models.scripted import ScriptedChat
        >>> models = Models(chat=ScriptedChat(replies={"Is it so?": "Yes"}))
        >>> models.chat().name
        'scripted'
    """

    def __init__(
        self,
        *,
        chat: ChatModel | None = None,
        named: Mapping[str, ChatModel] | None = None,
    ) -> None:
        """Keep what is given; nothing is opened before it is asked for.

        Args:
            chat: the run's model, for judges that name none.
            named: further models, for judges that name theirs.
        """
        self._chat = chat
        self._named = dict(named or {})

    def chat(self, name: str | None = None) -> ChatModel:
        """The chat model called `name`; the run's own where a judge names none.

        Raises:
            ModelError: there is no such model; says how to give one.
        """
        if name is None:
            if self._chat is None:
                raise ModelError(
                    "this judge asks a language model and none was named; pass --model NAME "
                    "(and --base-url URL for a server of your own), or in Python "
                    "models=Models(chat=...)"
                )
            return self._chat
        if name in self._named:
            return self._named[name]
        if self._chat is not None and self._chat.name == name:
            return self._chat
        raise ModelError(f"no chat model named {name!r} was given")

    def encoder(self) -> Encoder:
        """The sentence encoder that ships in the package."""
        from markscheme.models.encoder import MiniLM

        return MiniLM()
