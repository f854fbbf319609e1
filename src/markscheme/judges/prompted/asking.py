"""Requests to a chat model: equal ones sent once, replies read, unreadable ones requested again.

The one place where judges and their stages meet a chat model, so that what counts as an answer,
what is repaired and who pays is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from markscheme.contract import ChatModel, ChatReply, ChatRequest, Message, ModelSource, Role
from markscheme.tables import SPENT
from markscheme.text.replies import Reading

if TYPE_CHECKING:
    from markscheme.judges.prompted.prompt import Prompt


REPAIR_MARK = "\n\n[requested again]\n\n"
"""Separates the first reply from the second, where both are recorded."""

Reader = Callable[[ChatReply], Reading]
"""Reads a reply whose status is `ok`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request, how its reply is read, and what it weighs where several make one score."""

    request: ChatRequest
    reader: Reader
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample(Reading):
    """What became of a call: the reading of its last reply, and all its replies.

    Attributes:
        raw: the text of the reply, of both where it was repeated.
        replies: what the call paid for; none where an equal call paid.
    """

    raw: str | None = None
    replies: tuple[ChatReply, ...] = ()

    @property
    def spent(self) -> dict[str, Any]:
        """Sums over its replies, by the columns of `SPENT`; None where nothing gives the figure."""
        return spent([self])


def ask(
    chat: ChatModel,
    calls: Sequence[Call],
    *,
    repair: Prompt | None = None,
    repeated: int | None = None,
) -> list[Sample]:
    """A sample for each call. Equal requests are sent once, repaired once, and paid by the first.

    Args:
        chat: the model.
        calls: in any number; all are sent at once.
        repair: the prompt whose repair message follows an unreadable reply; none asks once only.
        repeated: characters of an unreadable reply that are sent back; all of them if none.
    """
    distinct = list(dict.fromkeys(call.request for call in calls))
    replies = dict(zip(distinct, chat.complete(distinct) if distinct else (), strict=True))
    # By call: one reply may be read in two ways, where answer and reference change places.
    found = [_sample(replies[call.request], call.reader) for call in calls]
    if repair is not None:
        broken: dict[ChatRequest, ChatRequest] = {}
        for call, sample in zip(calls, found, strict=True):
            if sample.status == "unparsed" and call.request not in broken:
                turns = _repair_turns(repair, sample, repeated)
                again = replace(call.request, messages=call.request.messages + turns)
                broken[call.request] = again
        second = dict(
            zip(broken, chat.complete(list(broken.values())) if broken else (), strict=True)
        )
        found = [
            _repaired(sample, _sample(second[call.request], call.reader))
            if sample.status == "unparsed"
            else sample
            for call, sample in zip(calls, found, strict=True)
        ]
    paid: set[ChatRequest] = set()
    for place, call in enumerate(calls):
        if call.request in paid:
            found[place] = replace(found[place], replies=())
        paid.add(call.request)
    return found


def spent(samples: Iterable[Sample]) -> dict[str, Any]:
    """Sums over all replies of some samples; None where no reply gives the figure."""
    replies = [reply for sample in samples for reply in sample.replies]
    return {name: total(getattr(reply, name) for reply in replies) for name in SPENT}


def total(values: Iterable[Any]) -> Any:
    """Sum of the figures that are known; None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _sample(reply: ChatReply, reader: Reader) -> Sample:
    """A reply as a sample; what is no answer keeps its status: refused, failed or skipped."""
    if reply.status != "ok":
        return Sample(status=reply.status, reason=reply.why_none, raw=reply.text, replies=(reply,))
    reading = reader(reply)
    found = {field.name: getattr(reading, field.name) for field in fields(reading)}
    return Sample(**found, raw=reply.text or "", replies=(reply,))


def _repair_turns(prompt: Prompt, sample: Sample, repeated: int | None) -> tuple[Message, Message]:
    """What to add to a conversation whose last reply could not be read."""
    reply_text = (sample.raw or "").strip()[:repeated]
    return (
        # Servers refuse an empty turn of the assistant.
        Message(role="assistant", content=reply_text.strip() or "(no reply)"),
        Message(role="user", content=prompt.repair_message(sample.reason)),
    )


def _repaired(first: Sample, second: Sample) -> Sample:
    """The result of a call that was repeated since its first reply could not be read."""
    raw = f"{first.raw or ''}{REPAIR_MARK}{second.raw or ''}"
    if second.status == "judged":
        note = f"requested again, since the first reply was unreadable ({first.reason})"
        chosen, reason = second, f"{second.reason}; {note}" if second.reason else note
    else:  # A repair that is not readable leaves what was; one without a reply may be sent again.
        status = second.status if second.status in ("failed", "skipped") else first.status
        why = "was not sent" if status == "skipped" else "failed too"
        reason = f"{first.reason}; the second request {why}: {second.reason}"
        chosen = replace(first, status=status)
    return replace(chosen, reason=reason, raw=raw, replies=first.replies + second.replies)


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


def request_of(
    prompt: Prompt,
    turns: Iterable[tuple[str, str]],
    *,
    temperature: float | None = None,
    max_tokens: int | None = None,
    seed: int | None = None,
) -> ChatRequest:
    """A prompt's turns, filled in, as a request; with the prompt's sampling where none is named."""
    roles: Mapping[str, Role] = {"system": "system", "assistant": "assistant"}
    return ChatRequest(
        messages=tuple(Message(role=roles.get(r, "user"), content=text) for r, text in turns),
        max_tokens=prompt.max_tokens if max_tokens is None else max_tokens,
        temperature=prompt.temperature if temperature is None else temperature,
        seed=seed,
        schema=prompt.schema,
        logprobs=prompt.logprobs,
    )
