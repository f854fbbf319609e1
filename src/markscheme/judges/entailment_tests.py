"""Does a premise entail a hypothesis? Three ways to find out, behind one protocol.

`embedded` ships and needs nothing; `chat` asks a language model as Yao & Barbosa 2024 did;
`nli:NAME_OR_FOLDER` runs an entailment cross-encoder. Each takes a table of pairs and gives the
same rows with what it found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import polars as pl

from markscheme.errors import JudgeError
from markscheme.grammar import check_range
from markscheme.judges.entailment_outcomes import OUTCOME, SPENT, distinct_pairs, placed
from markscheme.judges.llm_replies import expectation
from markscheme.models.chat import ChatModel, ChatReply, ChatRequest, Message
from markscheme.text.entailment_replies import CONTRADICTION, ENTAILMENT, NEUTRAL, read_entailment
from markscheme.text.replies import Reading

if TYPE_CHECKING:
    from markscheme.prompts import Prompt

EMBEDDED, CHAT, NLI = "embedded", "chat", "nli"
_ASKED_AGAIN = "\n\n[asked again]\n\n"
_CUT = ("length", "max_tokens")
_LEAST_OF_A_LABEL = 2
"""Letters that a token must have to be the beginning of a label."""


@runtime_checkable
class EntailmentTest(Protocol):
    """Whatever says whether premises entail hypotheses."""

    def test(self, pairs: pl.DataFrame, models: Any) -> pl.DataFrame:
        """The same rows in the same order, with the columns of `OUTCOME`; equal pairs tested once.

        Args:
            pairs: `question`, `premise`, `hypothesis` (statements), `premise_answer`,
                `hypothesis_answer` (the bare answers); all String. A pair without texts is
                `skipped`.
            models: where models come from, as judges get it.
        """
        ...

    def identity(self, models: Any) -> Mapping[str, str]:
        """What decides besides the test's own fields, for signatures."""
        ...

    def requests(self, pairs: pl.DataFrame) -> list[ChatRequest]:
        """What a language model would be asked about these pairs, for estimates."""
        ...


def entailment_test(name: str) -> EntailmentTest:
    """The test called `name`.

    Args:
        name: `embedded`, or `embedded:FOLDER` for one that `markscheme train entailment` wrote;
            `chat`, or `chat:MODEL` for another model than the run's; `nli:NAME_OR_FOLDER`.

    Raises:
        JudgeError: there is no such test.
    """
    kind, colon, rest = name.partition(":")
    if kind == EMBEDDED and bool(colon) == bool(rest):
        from markscheme.judges.entailment_embedded import EmbeddedEntailment

        return EmbeddedEntailment(weights=rest or None)
    if kind == CHAT and bool(colon) == bool(rest):
        return ChatEntailment(model=rest or None)
    if kind == NLI and rest:
        return NliEntailment(name=rest)
    raise JudgeError(
        f"no entailment test named {name!r}; choose 'embedded', 'chat', or 'nli:NAME_OR_FOLDER', "
        "as in 'nli:cross-encoder/nli-deberta-v3-large'"
    )


@dataclass(frozen=True, kw_only=True)
class ChatEntailment:
    """A language model is asked with the paper's zero-shot prompt (Yao & Barbosa 2024, Table 14).

    The score is the probability of the label at the reply's first word, where the server gives
    log-probabilities.

    Attributes:
        model: name of the chat model; the run's own if none.
        temperature, max_tokens: the prompt's if none.
        seed: for servers that can repeat a sample; none sends none (the paper sends 42).
        repair: ask once more where a reply cannot be read.
    """

    model: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    repair: bool = True

    @property
    def template(self) -> Prompt:
        """The prompt itself."""
        from markscheme.prompts import shipped

        return shipped()["entailment_yao"]

    def test(self, pairs: pl.DataFrame, models: Any) -> pl.DataFrame:
        """Ask about every different pair of statements; see `EntailmentTest.test`.

        Raises:
            ModelError: no chat model was given.
        """
        distinct, place = distinct_pairs(pairs, ("premise", "hypothesis"))
        rows: list[dict[str, Any]] = []
        if distinct:
            chat = self._chat(models)
            requests = [self._request(*pair) for pair in distinct]
            replies = chat.complete(requests)
            rows = [_outcome(reply) for reply in replies]
            if self.repair:
                self._ask_again(chat, requests, rows)
        return placed(pairs, rows, place)

    def identity(self, models: Any) -> Mapping[str, str]:
        """Hash of the prompt, and name and revision of the model."""
        found = {"prompt": self.template.hash}
        if models is not None:
            chat = self._chat(models)
            found |= {"chat": chat.name}
            found |= {"chat_revision": chat.revision} if chat.revision else {}
        return found

    def requests(self, pairs: pl.DataFrame) -> list[ChatRequest]:
        """One request for each different pair of statements."""
        distinct, _ = distinct_pairs(pairs, ("premise", "hypothesis"))
        return [self._request(*pair) for pair in distinct]

    def _chat(self, models: Any) -> ChatModel:
        from markscheme.models.container import Models

        chat: ChatModel = (models if models is not None else Models()).chat(self.model)
        return chat

    def _request(self, premise: str, hypothesis: str) -> ChatRequest:
        prompt = self.template
        turns = prompt.turns({"premise": premise, "hypothesis": hypothesis})
        return ChatRequest(
            messages=tuple(Message(role=role, content=text) for role, text in turns),  # type: ignore[arg-type]
            max_tokens=prompt.max_tokens if self.max_tokens is None else self.max_tokens,
            temperature=prompt.temperature if self.temperature is None else self.temperature,
            seed=self.seed,
            logprobs=prompt.logprobs,
        )

    def _ask_again(
        self, chat: ChatModel, requests: Sequence[ChatRequest], rows: list[dict[str, Any]]
    ) -> None:
        """Repair, in place, the outcomes of replies that could not be read."""
        broken = [place for place, row in enumerate(rows) if row["status"] == "unparsed"]
        again = []
        for place in broken:
            said, trouble = rows[place]["raw"] or "", rows[place]["reason"]
            turns = (
                # Servers refuse an empty turn of the assistant.
                Message(role="assistant", content=said.strip() or "(no reply)"),
                Message(role="user", content=self.template.repair_message(trouble)),
            )
            again.append(replace(requests[place], messages=requests[place].messages + turns))
        for place, reply in zip(broken, chat.complete(again) if again else [], strict=True):
            first, second = rows[place], _outcome(reply)
            kept = second if second["status"] == "judged" else first
            note = "asked again" + ("" if kept is second else " in vain")
            rows[place] = (
                kept
                | {
                    "reason": f"{kept['reason']}; {note}",
                    "raw": f"{first['raw'] or ''}{_ASKED_AGAIN}{second['raw'] or ''}",
                }
                | {name: _sum(first[name], second[name]) for name in SPENT}
            )


@dataclass(frozen=True, kw_only=True)
class NliEntailment:
    """An entailment cross-encoder reads both statements; which output is which its config says.

    Attributes:
        name: folder with ONNX or transformers weights, or a name on the hub.
        threshold: entailed from this probability; none takes the likeliest label, as is usual.
    """

    name: str
    threshold: float | None = None

    def validate(self) -> None:
        """Raises JudgeError if the threshold is not within 0 and 1."""
        if self.threshold is not None:
            check_range("threshold", self.threshold, 0, 1)

    def test(self, pairs: pl.DataFrame, models: Any) -> pl.DataFrame:
        """Classify every different pair of statements; see `EntailmentTest.test`.

        Raises:
            MissingExtraError: the model needs transformers, which is not installed.
            ModelError: it cannot be loaded, or does not say which of its outputs is entailment.
        """
        from markscheme.models.nli import entailment_column

        distinct, place = distinct_pairs(pairs, ("premise", "hypothesis"))
        if not distinct:
            return placed(pairs, [], place)
        model = self._model(models)
        column = entailment_column(model.labels, self.name)
        scores = model.scores(distinct)
        likeliest = scores.argmax(axis=1)
        names = [label.strip().lower() for label in model.labels]
        entailed = (
            likeliest == column if self.threshold is None else scores[:, column] >= self.threshold
        )
        rows = [
            {
                "entailed": bool(holds),
                "score": float(share),
                "status": "judged",
                "label": ENTAILMENT if best == column else names[best],
            }
            for holds, share, best in zip(
                entailed.tolist(), scores[:, column].tolist(), likeliest.tolist(), strict=True
            )
        ]
        return placed(pairs, rows, place)

    def identity(self, models: Any) -> Mapping[str, str]:
        """The model's name and what else is known of its weights."""
        revision = str(getattr(self._model(models), "revision", ""))
        return {"nli": self.name} | ({"nli_revision": revision} if revision else {})

    def requests(self, pairs: pl.DataFrame) -> list[ChatRequest]:
        """None: no language model is asked."""
        del pairs
        return []

    def _model(self, models: Any) -> Any:
        from markscheme.models.container import Models

        return (models if models is not None else Models()).nli(self.name)


def _outcome(reply: ChatReply) -> dict[str, Any]:
    """A reply as an outcome; what is no answer keeps its status: refused, failed or skipped."""
    row: dict[str, Any] = {name: getattr(reply, name) for name in SPENT} | {"raw": reply.text}
    if reply.status != "ok":
        reason = reply.error or {
            "refused": "the model declined to answer", "skipped": "not asked: the budget is spent"
        }.get(reply.status, "no reply came")  # fmt: skip
        return dict.fromkeys(OUTCOME) | row | {"status": reply.status, "reason": reason}
    reading = read_entailment(reply.text or "", finished=reply.finish_reason not in _CUT)
    return (
        dict.fromkeys(OUTCOME)
        | row
        | {
            "entailed": reading.verdict,
            "score": _score(reply, reading),
            "status": reading.status,
            "label": reading.relation if reading.relation in _LABELS else None,
            "reason": reading.reason,
        }
    )


_LABELS = {ENTAILMENT: 1.0, CONTRADICTION: 0.0, NEUTRAL: 0.0}


def _score(reply: ChatReply, reading: Reading) -> float | None:
    """Probability of entailment at the first word, if the server gives log-probabilities."""
    if reading.status != "judged" or not reply.token_logprobs:
        return None
    return expectation(reply.token_logprobs, _worth)


def _worth(token: str) -> float | None:
    """What a token says that begins a label."""
    if len(token) < _LEAST_OF_A_LABEL:
        return None
    return next((worth for label, worth in _LABELS.items() if label.startswith(token)), None)


def _sum(*values: float | None) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
