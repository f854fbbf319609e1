"""Behaviours of providers, each tried on the shipped judges that ask a language model.

    PYTHONPATH=tests/support python -m conformance     # prints a table of all outcomes

A behaviour is played by `FaultServer`; a run of three rows must end as the behaviour says: every
row in a named status, no call that is of no use, the cost that the server billed.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import markscheme
from markscheme.contract import parse_judge
from markscheme.contract.registry import judges
from markscheme.errors import MarkschemeError
from markscheme.judges.prompted import Prompted
from markscheme.models import ModelOptions, Models, ServerOptions
from markscheme.tables import STATUSES
from markscheme.testing import FaultServer, ServerReply

ROWS = [
    {"id": str(n), "question": f"Question {n}: who wrote Emma?", "references": ["Jane Austen"],
     "answer": answer, "context": "Emma is a novel by Jane Austen.",
     "other_answer": "Charlotte Brontë"}
    for n, answer in enumerate(("It was Austen.", "Miss Austen of Steventon", "Jane A."))
]  # fmt: skip

PRICE_IN, PRICE_OUT = 2.0, 10.0
PRICES = f'["m"]\ninput = {PRICE_IN}\ncached = 0.2\noutput = {PRICE_OUT}\n'

Script = Callable[[dict[str, Any], int], ServerReply]
Good = str | Callable[[Mapping[str, Any]], str]
"""A reply that a judge can read, or one for each request."""


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """What a server does, and what must come of it.

    Attributes:
        name: in words.
        script: from the good reply for the judge, the server's script.
        status: what rows may end in, where the judge asks for each of them; "stop" where the run
            ends with an error.
        calls: requests at most, as a multiple of those that a good server gets, and more.
        billed: whether what the server bills can be known.
        remark: part of what the run must say at its end.
        issue: the number in the list of what had been wrong.
    """

    name: str
    script: Callable[[str], Script]
    status: tuple[str, ...] = ("judged",)
    calls: tuple[int, int] = (1, 0)
    billed: bool = True
    remark: str = ""
    issue: str = ""


def completion(text: Any, *, usage: Any = None, model: str = "m", **choice: Any) -> ServerReply:
    message = text if isinstance(text, Mapping) else {"content": text}
    whole = {
        "model": model,
        "choices": [
            {"message": {"role": "assistant", **message}, "finish_reason": "stop", **choice}
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100} if usage is None else usage,
    }
    return ServerReply(body=json.dumps(whole).encode())


def error(status: int, message: str, headers: Mapping[str, str] | None = None, **more: Any) -> Any:
    body = json.dumps({"error": {"message": message, **more}}).encode()
    return ServerReply(status=status, body=body, headers=headers or {})


def always(make: Callable[[str], ServerReply]) -> Callable[[str], Script]:
    return lambda good: lambda _body, _place: make(good)


def once(bad: ServerReply) -> Callable[[str], Script]:
    """The first request of a run meets it; all others are answered well."""
    return lambda good: lambda _body, place: completion(good) if place else bad


def refuses(status: int, message: str, name: str, param: str | None = None) -> Any:
    def script(good: str) -> Script:
        return lambda body, _: (
            error(status, message, param=param) if name in body else completion(good)
        )

    return script


def needs_room(good: str) -> Script:
    def reply(body: dict[str, Any], _place: int) -> ServerReply:
        out = min(body["max_tokens"], 3000)
        usage = {"prompt_tokens": 1000, "completion_tokens": out}
        if body["max_tokens"] < 3000:
            return completion("", usage=usage, finish_reason="length")
        return completion(good, usage=usage)

    return reply


def second_row_is_odd(good: str) -> Script:
    def reply(body: dict[str, Any], _place: int) -> ServerReply:
        odd = "Question 1:" in json.dumps(body)
        return error(400, "something is odd here") if odd else completion(good)

    return reply


def logprobs(*tokens: Mapping[str, Any]) -> dict[str, Any]:
    return {"content": list(tokens)}


def over_reasoning(good: str) -> ServerReply:
    """vLLM with a reasoning parser: log-probabilities of the reasoning, which says No."""
    tokens = [
        {"token": t, "logprob": -0.02, "top_logprobs": [{"token": "No", "logprob": -0.02}]}
        for t in ("No", ",", " wait", ".")
    ]
    return completion({"content": good, "reasoning_content": "No, wait."},
                      logprobs=logprobs(*tokens))  # fmt: skip


TEXT = {"prompt_tokens": 1000, "completion_tokens": 100}
UNREADABLE = ("unparsed", "refused")

BEHAVIOURS = [
    Behaviour(name="an ordinary reply", script=always(completion)),
    Behaviour(name="content as a list of text parts", issue="2",
              script=always(lambda g: completion([{"type": "text", "text": g}]))),
    Behaviour(name="a thinking part before the text part", issue="2",
              script=always(lambda g: completion([{"type": "thinking", "thinking": "No?"},
                                                  {"type": "text", "text": g}]))),
    Behaviour(name="reasoning in a field of its own",
              script=always(lambda g: completion({"content": g, "reasoning_content": "No?"}))),
    Behaviour(name="reasoning between tags in the text",
              script=always(lambda g: completion(f"<think>No, it is not.</think>\n\n{g}"))),
    Behaviour(name="reasoning leaves no room below 3,000 tokens", issue="1", script=needs_room,
              calls=(2, 0), remark="max_tokens"),
    Behaviour(name="403: not allowed to request logprobs", issue="1", calls=(2, 0),
              script=refuses(403, "You are not allowed to request logprobs from this model",
                             "logprobs")),
    Behaviour(name="400: temperature is not supported", issue="1", calls=(2, 0),
              script=refuses(400, "Unsupported value: 'temperature' does not support 0.0",
                             "temperature", "temperature"), remark="temperature"),
    Behaviour(name="400: response_format is not supported", calls=(2, 0),
              script=refuses(400, "response_format of type json_schema is not supported",
                             "response_format")),
    Behaviour(name="400: max_completion_tokens instead of max_tokens", calls=(2, 0),
              script=refuses(400, "Use 'max_completion_tokens' instead.", "max_tokens")),
    Behaviour(name="an odd 400 for one row", issue="3", script=second_row_is_odd,
              status=("judged", "failed")),
    Behaviour(name="log-probabilities of the reasoning's tokens", issue="4",
              script=always(over_reasoning)),
    Behaviour(name="top_logprobs is a number", issue="5", script=always(lambda g: completion(
        g, logprobs=logprobs({"token": g, "logprob": -1, "top_logprobs": 5})))),
    Behaviour(name="a log-probability of 1e308", issue="5", script=always(lambda g: completion(
        g, logprobs=logprobs({"token": g, "logprob": 1e308, "top_logprobs": []})))),
    Behaviour(name="negative tokens of 20 digits", issue="5", billed=False,
              script=always(lambda g: completion(g, usage={"prompt_tokens": -(10**20) + 1}))),
    Behaviour(name="no usage", billed=False, script=always(lambda g: completion(g, usage={}))),
    Behaviour(name="a reply of 9 MiB", issue="5", status=("failed",), billed=False,
              script=always(lambda _: completion("x" * (9 << 20)))),
    Behaviour(name="another model answers", issue="5", remark="cheap",
              script=always(lambda g: completion(g, model="cheap"))),
    Behaviour(name="a refusal, then a verdict", issue="5", status=UNREADABLE, calls=(2, 0),
              script=always(lambda _: completion("I'm sorry, I can't help with that. Yes."))),
    Behaviour(name="a redirect to another host", issue="5", status=("stop",), calls=(1, 0),
              script=always(lambda _: ServerReply(
                  status=307, headers={"Location": "http://127.0.0.2:9/v1/chat/completions"}))),
    Behaviour(name="the content filter ended the reply", status=("refused",),
              script=always(lambda g: completion(g, finish_reason="content_filter"))),
    Behaviour(name="the message is a refusal", status=("refused",),
              script=always(lambda _: completion({"content": None, "refusal": "I cannot."}))),
    Behaviour(name="400: the content filter", status=("refused",),
              script=always(lambda _: error(400, "filtered", code="content_filter"))),
    Behaviour(name="no choices", status=("failed",), script=always(
        lambda _: ServerReply(body=json.dumps({"choices": [], "usage": TEXT}).encode()))),
    Behaviour(name="content is null", status=("unparsed",), calls=(2, 0),
              script=always(lambda _: completion({"content": None}))),
    Behaviour(name="429 with Retry-After", issue="7", calls=(1, 1),
              script=once(error(429, "slow down", {"Retry-After": "0.02"}))),
    Behaviour(name="429 without a time", issue="7", calls=(1, 1), script=once(error(429, "slow"))),
    Behaviour(name="529: overloaded", issue="7", calls=(1, 1),
              script=once(error(529, "overloaded", {"Retry-After": "0.02"}))),
    Behaviour(name="500 once", calls=(1, 1), script=once(error(500, "broken"))),
    Behaviour(name="503 with a page of HTML once", calls=(1, 1),
              script=once(ServerReply(status=503, body=b"<html>Unavailable</html>"))),
    Behaviour(name="the connection breaks once", calls=(1, 1), script=once(ServerReply(drop=True))),
    Behaviour(name="half a JSON body once", calls=(1, 1), billed=False,
              script=once(ServerReply.malformed_json())),
    Behaviour(name="200 with an error inside once", calls=(1, 1), script=once(ServerReply(
        body=b'{"error": {"code": 502, "message": "the provider is down"}}'))),
    Behaviour(name="a stream though none was requested", status=("failed",), calls=(2, 0),
              billed=False, script=always(lambda _: ServerReply(
                  body=b'data: {"choices":[{"delta":{"content":"Yes"}}]}\n\ndata: [DONE]\n\n'))),
    Behaviour(name="500 always", issue="7", status=("failed",), calls=(2, 0),
              script=always(lambda _: error(500, "broken"))),
    Behaviour(name="401: the key", issue="1", status=("stop",),
              script=always(lambda _: error(401, "bad key"))),
    Behaviour(name="402: no credit", status=("stop",),
              script=always(lambda _: error(402, "no credit"))),
    Behaviour(name="the gateway's own bill", issue="8", script=always(lambda g: completion(
        g, usage={**TEXT, "cost": 0.123}))),
    Behaviour(name="cached tokens", issue="8", script=always(lambda g: completion(
        g, usage={**TEXT, "prompt_tokens_details": {"cached_tokens": 800}}))),
    Behaviour(name="reasoning counted in addition to the reply", issue="8", script=always(
        lambda g: completion(g, usage={"prompt_tokens": 1000, "completion_tokens": 10,
                                       "total_tokens": 1100,
                                       "completion_tokens_details": {"reasoning_tokens": 90}}))),
    *(Behaviour(name=f"the model says {text!r}", issue="9", status=UNREADABLE, calls=(2, 0),
                script=always(lambda _, text=text: completion(text)))  # type: ignore[misc]
      for text in ("N/A", "Error 5", '{"x":1}', "Error: rate limit exceeded",
                   "Insufficient information to answer.", "Based on 2 references")),
]  # fmt: skip


def bill(reply: ServerReply) -> float:
    """What a reply costs by the prices above."""
    try:
        body = json.loads(reply.body or b"")
    except ValueError:
        return 0.0
    usage = body.get("usage") if isinstance(body, dict) and reply.status == 200 else None
    if not isinstance(usage, dict) or "prompt_tokens" not in usage:
        return 0.0
    if "cost" in usage:
        return float(usage["cost"])
    cached = usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)
    total = usage.get("total_tokens", 0) - usage["prompt_tokens"]
    out = max(total, usage.get("completion_tokens", 0))
    fresh = usage["prompt_tokens"] - cached
    return (fresh * PRICE_IN + cached * 0.2 + out * PRICE_OUT) / 1e6


def by_stage(body: Mapping[str, Any]) -> str:
    """A reply that fits the stage of a judge that asks several things about one answer.

    A repair repeats what was asked, so the first user message says which stage it is.
    """
    asked = next(each["content"] for each in body["messages"] if each["role"] == "user")
    if asked.endswith("S:"):
        question, _, answer = asked.rpartition("Q: ")[2].removesuffix("\nS:").partition("\nA: ")
        return f"{answer.rstrip('.')} is the answer to {question.rstrip('?')}."
    if "[[INFO]]" in asked:
        return "1. Who wrote it is named. [[INFO]]\n2. So it is the same person."
    return "entailment" if "Premise" in asked else "Yes"


STAGED: dict[str, Good] = dict.fromkeys(
    (
        "entailment(statements=chat, test=chat)",
        "entailment(statements=chat, test=chat, marks=CIA)",
        "claims(statements=chat, test=chat)",
        "cascade(first=token_f1, then=llm_kamalloo)",
        "panel(judges=[llm_kamalloo, llm_evouna], vote=majority)",
    ),
    by_stage,
)
"""Judges that ask in stages, or of several hands, and what answers them."""


def shipped() -> dict[str, str]:
    """The prompted judges that ship, and for each a reply that it can read."""
    found = {}
    for entry in judges().values():
        if not entry.needs.chat or "'" in entry.example:
            continue
        judge = parse_judge(entry.example)
        if isinstance(judge, Prompted):
            found[entry.example] = good_reply(judge)
    return found


def good_reply(judge: Prompted) -> str:
    """A reply that the judge's parser reads."""
    prompt = judge.template
    plain = {
        "yes_no": "Yes", "yes_no_last": "It is the same person. Yes", "score": "4",
        "ten": "[[9]]", "rank": "[[A]]", "pair": "[[A]]",
    }  # fmt: skip
    if prompt.parser in plain:
        return plain[prompt.parser]
    if prompt.parser == "grade":
        return json.dumps({"verdict": "correct", "relation": "equivalent", "marks": 1, "mark": 1,
                           "claims": [], "reason": "the same", "grade": 1})  # fmt: skip
    own = prompt.reader
    labels = getattr(own, "labels", None) or getattr(own, "choices", None)
    if labels:
        return str(next(iter(labels)))
    if hasattr(own, "high"):
        return str(own.high)
    return json.dumps(dict.fromkeys(getattr(own, "criteria", {}), 1))


@dataclass(kw_only=True)
class Outcome:
    """What came of one behaviour and judge."""

    statuses: dict[str, int] = field(default_factory=dict)
    stopped: str = ""
    calls: int = 0
    cost: float = 0.0
    billed: float = 0.0
    remarks: str = ""
    table: pl.DataFrame | None = None


class Laboratory:
    """One server for all behaviours."""

    def __init__(self, server: FaultServer) -> None:
        self._server = server
        self._script: Callable[[str], Script] = lambda _: lambda _body, _place: ServerReply()
        self._good: Good = ""
        self._place = 0
        self.billed = 0.0
        self._usual: dict[str, int] = {}

    def reply(self, body: Mapping[str, Any], _: int) -> ServerReply:
        place, self._place = self._place, self._place + 1
        good = self._good if isinstance(self._good, str) else self._good(body)
        found = self._script(good)(dict(body), place)
        self.billed += bill(found)
        return found

    def run(self, behaviour: Behaviour, judge: str, good: Good) -> Outcome:
        """Judge the rows."""
        self._script, self._good = behaviour.script, good
        self._place, self.billed = 0, 0.0
        found = Outcome()
        with tempfile.TemporaryDirectory() as folder:
            prices = Path(folder) / "models.toml"
            prices.write_text(PRICES)
            reach = ServerOptions(
                base_url=self._server.url, backoff=0.001, retries=1, concurrency=1, timeout=20
            )
            models = Models(options=ModelOptions(
                model="m", server=reach, ledger=f"{folder}/l.sqlite", models=prices))  # fmt: skip
            try:
                table = markscheme.judge(ROWS, judge, models=models).judgments
                found.table = table
                found.statuses = dict(table["status"].value_counts().iter_rows())
            except MarkschemeError as error:
                found.stopped = str(error)
            found.cost = models.budget.spending.cost_usd
            found.remarks = "; ".join(models.budget.remarks)
            models.close()
        found.calls, found.billed = self._place, self.billed
        return found

    def usual(self, judge: str, good: Good) -> int:
        """Requests that a good server gets."""
        if judge not in self._usual:
            self._usual[judge] = self.run(BEHAVIOURS[0], judge, good).calls
        return self._usual[judge]

    def check(self, behaviour: Behaviour, judge: str, good: Good) -> Outcome:
        """Judge the rows, and raise an AssertionError where they do not end as they must."""
        usual = self.usual(judge, good)
        found = self.run(behaviour, judge, good)
        times, more = behaviour.calls
        assert found.calls <= times * usual + more, f"{found.calls} calls, {usual} with no fault"
        if behaviour.status == ("stop",):
            assert found.stopped
            return found
        assert not found.stopped, found.stopped
        assert found.table is not None
        assert found.table.height == len(ROWS)
        assert set(found.statuses) <= set(STATUSES)
        assert set(found.statuses) <= set(behaviour.status), found.table.to_dicts()
        unjudged = found.table.filter(pl.col("status") != "judged")
        assert unjudged["explanation"].null_count() == 0
        assert unjudged["verdict"].null_count() == unjudged.height
        if behaviour.billed:
            assert abs(found.cost - found.billed) <= 0.01 * found.billed
        sure = found.table.filter(pl.col("verdict").is_not_null() & pl.col("score").is_not_null())
        if "logprob" in behaviour.name or "log-prob" in behaviour.name:
            limit = getattr(parse_judge(judge), "accept_from", 0.5)
            assert all(
                verdict == (score >= limit)
                for verdict, score in sure.select("verdict", "score").iter_rows()
            )
        if behaviour.remark and found.calls > usual:
            assert behaviour.remark in found.remarks
        return found


@contextmanager
def laboratory() -> Iterator[Laboratory]:
    """A server, ready."""
    made: list[Laboratory] = []
    with FaultServer(lambda body, place: made[0].reply(body, place)) as server:  # noqa: PLW0108
        made.append(Laboratory(server))
        yield made[0]


def section() -> str:
    """Every behaviour on every judge, as a table in Markdown: everything is run."""
    every: dict[str, Good] = {**shipped(), **STAGED}
    lines = []
    with laboratory() as lab:
        for behaviour in BEHAVIOURS:
            outcomes = [lab.check(behaviour, judge, good) for judge, good in every.items()]
            rows: dict[str, int] = {}
            for one in outcomes:
                for status, count in one.statuses.items():
                    rows[status] = rows.get(status, 0) + count
            ends = ", ".join(f"{n} {status}" for status, n in sorted(rows.items()))
            calls = sum(one.calls for one in outcomes)
            usual = sum(lab.usual(judge, good) for judge, good in every.items())
            billed = sum(one.billed for one in outcomes)
            cost = sum(one.cost for one in outcomes)
            off = f"{abs(cost - billed) / billed:.1%}" if billed and behaviour.billed else ""
            ends = ends or "the run stops, and says why"
            lines.append(f"| {behaviour.name} | {ends} | {calls / usual:.2f} | {off} |")
    return HEAD.format(
        behaviours=len(BEHAVIOURS), judges=len(every), rows=len(ROWS) * len(every),
        names=", ".join(f"`{name}`" for name in STAGED),
    ) + "\n".join(lines) + "\n"  # fmt: skip


HEAD = """{behaviours} behaviours of servers, played by `markscheme.testing.FaultServer`, each tried
on {judges} judges with three rows: {rows} rows in each line. The judges are the prompted ones that
ship, and some that send requests in stages or combine several judges: {names}.
`tests/models/test_conformance.py` checks every cell: each row ends in a named status with its
reason, no useless call is sent, and the cost that the run reports is within 1% of what the server
billed. Calls are relative to those of an ordinary reply; the cost is empty where the server does
not report what it bills.

| the server | rows end | calls | cost off by |
|---|---|---:|---:|
"""


if __name__ == "__main__":
    os.environ.setdefault("OPENAI_API_KEY", "none")
    print(section())
