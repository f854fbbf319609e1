"""A chat model that only repeats recorded replies, from a ledger or an exported file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markscheme.contract import ChatReply, ChatRequest, OnReply
from markscheme.errors import ModelError
from markscheme.models.ledger.entries import key_of
from markscheme.models.ledger.exchange import is_export, read_export
from markscheme.models.ledger.ledger import Ledger
from markscheme.storage import is_postgres


class ReplayChat:
    """Answers from a recording only; nothing is ever sent.

    A request that the recording lacks is a failed reply that says so. Model and revision must be
    those under which the replies were recorded.
    """

    def __init__(self, source: str | Path | Ledger, *, name: str, revision: str = "") -> None:
        """Open a recording.

        Args:
            source: a ledger, its path or URL, or a JSONL file from `markscheme llm ledger export`.
            name, revision: of the model that was recorded.

        Raises:
            ModelError: there is no such recording.
            DataError: the file is malformed; names the lines.
        """
        self.name = name
        self.revision = revision
        self._recorded: dict[str, ChatReply] | None = None
        self._ledger: Ledger | None = None
        if isinstance(source, Ledger):
            self._ledger = source
        elif is_postgres(source):
            self._ledger = Ledger(source)
        else:
            path = Path(source)
            if not path.is_file():
                raise ModelError(
                    f"no recording {path}; give a ledger, or a file that "
                    "'markscheme llm ledger export' wrote"
                )
            if is_export(path):
                self._recorded = {line.key: line.reply for line in read_export(path)}
            else:
                self._ledger = Ledger(path)
        self._shown = self._ledger.shown if self._ledger else str(source)

    def __repr__(self) -> str:
        return f"ReplayChat({self._shown!r}, name={self.name!r}, revision={self.revision!r})"

    def complete(
        self, requests: Sequence[ChatRequest], *, on_reply: OnReply | None = None
    ) -> list[ChatReply]:
        """The recorded reply to each request, in order."""
        keys = [key_of(self.name, self.revision, request) for request in requests]
        recorded = self._recorded
        if recorded is None:
            assert self._ledger is not None
            recorded = self._ledger.find(dict.fromkeys(keys))
        named = f"{self.name} {self.revision}".strip()
        missing = ChatReply(
            status="failed",
            error=f"{self._shown} has no reply of {named} to this request, and replay sends none",
        )
        replies = [recorded.get(key, missing) for key in keys]
        if on_reply is not None:
            for place, reply in enumerate(replies):
                on_reply(place, reply)
        return replies
