"""Who turns a question and an answer into a statement: rules, a chat model, a sequence model.

Each takes a table of pairs and gives the same rows with `OUTCOME`. A pair that occurs often is made
once; a pair of which no statement came has a status that says why, and a null statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import polars as pl

from markscheme.errors import JudgeError
from markscheme.models.chat import ChatModel, ChatReply, ChatRequest, Message
from markscheme.text.replies import Reading
from markscheme.text.statement_replies import read_statement

if TYPE_CHECKING:
    from markscheme.prompts import Prompt

RULES, CHAT, SEQ2SEQ = "rules", "chat", "seq2seq"

OUTCOME: Mapping[str, Any] = {
    "statement": pl.String, "status": pl.String, "reason": pl.String, "raw": pl.String,
    "cost_usd": pl.Float64, "tokens_in": pl.Int64, "tokens_out": pl.Int64, "seconds": pl.Float64,
}  # fmt: skip
"""What a maker adds to the pairs. `statement` is null unless `status` is `judged`; the others are
`unparsed` (nothing readable came, a loop, or there is no answer), `refused`, `failed` and `skipped`
(the budget is spent). What a request cost stands in the first of equal pairs."""

SPENT = ("cost_usd", "tokens_in", "tokens_out", "seconds")
_CUT = ("length", "max_tokens")
_ASKED_AGAIN = "\n\n[asked again]\n\n"
_SEPARATOR = ". "
"""Between question and answer, as the QA2D models on the hub were trained."""


@runtime_checkable
class StatementMaker(Protocol):
    """Whatever makes statements."""

    def make(self, pairs: pl.DataFrame, models: Any) -> pl.DataFrame:
        """The same rows in the same order, with the columns of `OUTCOME`.

        Args:
            pairs: `question` and `answer`, both String.
            models: where models come from, as judges get it.
        """
        ...

    def identity(self, models: Any) -> Mapping[str, str]:
        """What decides besides the maker's own fields, for signatures."""
        ...

    def requests(self, pairs: pl.DataFrame) -> list[ChatRequest]:
        """What a language model would be asked about these pairs, for estimates."""
        ...


def statement_maker(name: str) -> StatementMaker:
    """The maker called `name`.

    Args:
        name: `rules`; `chat`, or `chat:MODEL` for another model than the run's;
            `seq2seq:NAME_OR_FOLDER`, such as `seq2seq:domenicrosati/QA2D-t5-base`.

    Raises:
        JudgeError: there is no such maker.
    """
    kind, colon, rest = name.partition(":")
    if name == RULES:
        return RuleStatements()
    if kind == CHAT and bool(colon) == bool(rest):
        return ChatStatements(model=rest or None)
    if kind == SEQ2SEQ and rest:
        return SequenceStatements(name=rest)
    raise JudgeError(
        f"no maker of statements named {name!r}; choose 'rules', 'chat', or "
        "'seq2seq:NAME_OR_FOLDER', as in 'seq2seq:domenicrosati/QA2D-t5-base'"
    )


@dataclass(frozen=True, kw_only=True)
class RuleStatements:
    """Rules for English questions; no model (`markscheme.text.statements`)."""

    def make(self, pairs: pl.DataFrame, models: Any) -> pl.DataFrame:
        """Make a statement of every different pair; see `StatementMaker.make`."""
        from markscheme.text.statements import statements

        distinct, place = _distinct(pairs)
        questions, answers = zip(*distinct, strict=True) if distinct else ((), ())
        made = statements(
            pl.Series(questions, dtype=pl.String), pl.Series(answers, dtype=pl.String)
        )
        rows = [
            {"statement": text, "status": "judged"}
            if text
            else {"status": "unparsed", "reason": "the rules made nothing of it"}
            for text in made
        ]
        return _placed(pairs, rows, place)

    def identity(self, models: Any) -> Mapping[str, str]:
        """Nothing: the rules change only with the package."""
        return {}

    def requests(self, pairs: pl.DataFrame) -> list[ChatRequest]:
        """None: no language model is asked."""
        return []


@dataclass(frozen=True, kw_only=True)
class ChatStatements:
    """A language model is asked with the paper's two-shot prompt (Yao & Barbosa 2024, Table 14).

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

        return shipped()["statement_yao"]

    def make(self, pairs: pl.DataFrame, models: Any) -> pl.DataFrame:
        """Ask about every different pair; see `StatementMaker.make`.

        Raises:
            ModelError: no chat model was given.
        """
        distinct, place = _distinct(pairs)
        rows: list[dict[str, Any]] = []
        if distinct:
            chat = self._chat(models)
            requests = [self._request(*pair) for pair in distinct]
            replies = chat.complete(requests)
            rows = [_read(reply, *pair) for reply, pair in zip(replies, distinct, strict=True)]
            if self.repair:
                self._ask_again(chat, distinct, requests, rows)
        return _placed(pairs, rows, place)

    def identity(self, models: Any) -> Mapping[str, str]:
        """Hash of the prompt, and name and revision of the model."""
        found = {"prompt": self.template.hash}
        if models is not None:
            chat = self._chat(models)
            found |= {"chat": chat.name}
            found |= {"chat_revision": chat.revision} if chat.revision else {}
        return found

    def requests(self, pairs: pl.DataFrame) -> list[ChatRequest]:
        """One request for each different pair."""
        return [self._request(*pair) for pair in _distinct(pairs)[0]]

    def _chat(self, models: Any) -> ChatModel:
        from markscheme.models.container import Models

        chat: ChatModel = (models if models is not None else Models()).chat(self.model)
        return chat

    def _request(self, question: str, answer: str) -> ChatRequest:
        prompt = self.template
        turns = prompt.turns({"question": question, "answer": answer})
        return ChatRequest(
            messages=tuple(Message(role="user", content=text) for _, text in turns),
            max_tokens=prompt.max_tokens if self.max_tokens is None else self.max_tokens,
            temperature=prompt.temperature if self.temperature is None else self.temperature,
            seed=self.seed,
        )

    def _ask_again(
        self,
        chat: ChatModel,
        pairs: Sequence[tuple[str, str]],
        requests: Sequence[ChatRequest],
        rows: list[dict[str, Any]],
    ) -> None:
        """Repair, in place, the outcomes of replies that could not be read."""
        broken = [place for place, row in enumerate(rows) if row["status"] == "unparsed"]
        again = [
            replace(
                requests[place],
                messages=(
                    *requests[place].messages,
                    # Servers refuse an empty turn of the assistant; a loop need not be repeated.
                    Message(role="assistant", content=_short(rows[place]["raw"])),
                    Message(
                        role="user", content=self.template.repair_message(rows[place]["reason"])
                    ),
                ),
            )
            for place in broken
        ]
        for place, reply in zip(broken, chat.complete(again) if again else [], strict=True):
            first, second = rows[place], _read(reply, *pairs[place])
            kept = second if second["status"] == "judged" else first
            note = "asked again" if kept is second else f"{first['reason']}; asked again in vain"
            raw = f"{first['raw'] or ''}{_ASKED_AGAIN}{second['raw'] or ''}"
            spent = {name: _sum(first[name], second[name]) for name in SPENT}
            rows[place] = kept | {"reason": note, "raw": raw} | spent


@dataclass(frozen=True, kw_only=True)
class SequenceStatements:
    """A sequence-to-sequence model reads question and answer and writes the statement.

    Attributes:
        name: folder with transformers weights, or a name on the hub.
        max_tokens: of a statement.
    """

    name: str
    max_tokens: int = 128

    def make(self, pairs: pl.DataFrame, models: Any) -> pl.DataFrame:
        """Generate a statement for every different pair; see `StatementMaker.make`.

        Raises:
            MissingExtraError: transformers or torch is not installed.
            ModelError: the weights cannot be loaded.
        """
        distinct, place = _distinct(pairs)
        rows: list[dict[str, Any]] = []
        if distinct:
            model = self._model(models)
            texts = [f"{question}{_SEPARATOR}{answer}" for question, answer in distinct]
            made = model.generate(texts, max_tokens=self.max_tokens)
            for (question, answer), (text, finished) in zip(distinct, made, strict=True):
                found = read_statement(text, question=question, answer=answer, finished=finished)
                rows.append(_row(found) | {"raw": text})
        return _placed(pairs, rows, place)

    def identity(self, models: Any) -> Mapping[str, str]:
        """The model's name, and the hash of the weights of a folder."""
        revision = str(getattr(self._model(models), "revision", ""))
        return {"seq2seq": self.name} | ({"seq2seq_revision": revision} if revision else {})

    def requests(self, pairs: pl.DataFrame) -> list[ChatRequest]:
        """None: no language model is asked."""
        return []

    def _model(self, models: Any) -> Any:
        from markscheme.models.container import Models

        return (models if models is not None else Models()).seq2seq(self.name)


def _distinct(pairs: pl.DataFrame) -> tuple[list[tuple[str, str]], list[int | None]]:
    """The different pairs, and for each row which it is; None where it lacks a text.

    Raises:
        JudgeError: a column is missing.
    """
    missing = [name for name in ("question", "answer") if name not in pairs.columns]
    if missing:
        raise JudgeError(f"statements are made of question and answer; {missing} missing")
    known: dict[tuple[str, str], int] = {}
    place = [
        known.setdefault(row, len(known)) if all(text and text.strip() for text in row) else None
        for row in pairs.select("question", "answer").iter_rows()
    ]
    return list(known), place


def _placed(
    pairs: pl.DataFrame, rows: Sequence[Mapping[str, Any]], place: Sequence[int | None]
) -> pl.DataFrame:
    """The pairs with their outcomes; what a row cost stands where it is first used."""
    empty = dict.fromkeys(OUTCOME)
    table = pl.DataFrame(
        [{**empty, **row} for row in rows]
        + [empty | {"status": "unparsed", "reason": "no question or no answer"}],
        schema=dict(OUTCOME),
    )
    index = pl.Series([len(rows) if one is None else one for one in place], dtype=pl.UInt32)
    found = table[index].with_columns(
        pl.when(index.is_first_distinct()).then(pl.col(name)).alias(name) for name in SPENT
    )
    return pairs.drop(OUTCOME, strict=False).hstack(found)


def _read(reply: ChatReply, question: str, answer: str) -> dict[str, Any]:
    """A reply as an outcome; what is no answer keeps its status: refused, failed or skipped."""
    row: dict[str, Any] = {name: getattr(reply, name) for name in SPENT} | {"raw": reply.text}
    if reply.status != "ok":
        reason = reply.error or {
            "refused": "the model declined to answer", "skipped": "not asked: the budget is spent"
        }.get(reply.status, "no reply came")  # fmt: skip
        return row | {"statement": None, "status": reply.status, "reason": reason}
    finished = reply.finish_reason not in _CUT
    found = read_statement(
        reply.text or "", question=question, answer=answer, finished=finished
    )  # fmt: skip
    return row | _row(found)


def _row(found: Reading) -> dict[str, Any]:
    judged = found.status == "judged"
    return {
        "statement": found.reason if judged else None,
        "status": found.status,
        "reason": None if judged else found.reason,
    }


def _short(raw: str | None) -> str:
    return (raw or "").strip()[:400] or "(no reply)"


def _sum(*values: float | None) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
