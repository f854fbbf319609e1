"""What providers do, each behaviour by a server that behaves so: no wasted call, no silent change.

The bodies that are sent, and the replies that are read, are those of the providers' protocols.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from markscheme.contract import ChatReply, ChatRequest, Message
from markscheme.errors import DataError, ModelError, RunStoppedError
from markscheme.models import ModelOptions, Models, ServerOptions
from markscheme.models.chat import Budget, ModelProfile, Price, ServerChat, model_table
from markscheme.models.chat.cached import CachedChat
from markscheme.models.chat.reading import MalformedReplyError
from markscheme.models.chat.wire import Sending, wire_of
from markscheme.testing import FaultServer
from markscheme.text.replies import read_yes_no
from servers import Answer, ChatServer

USAGE = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}


def asked(*texts: str, **fields: Any) -> list[ChatRequest]:
    system = Message(role="system", content="You judge.")
    return [
        ChatRequest(messages=(system, Message(role="user", content=t)), **fields) for t in texts
    ]


def completion(
    message: dict[str, Any] | None = None, usage: Any = None, **choice: Any
) -> dict[str, Any]:
    return {
        "model": "m",
        "choices": [{"message": message or {"content": "Yes"}, "finish_reason": "stop", **choice}],
        "usage": USAGE if usage is None else usage,
    }


def body(value: Any, **fields: Any) -> Answer:
    return Answer(body=json.dumps(value).encode(), **fields)


def refusal(status: int, message: str, **fields: Any) -> Answer:
    return body({"error": {"message": message, **fields}}, status=status)


def chat(server: ChatServer | FaultServer, **fields: Any) -> ServerChat:
    options = ServerOptions(base_url=server.url, backoff=0.001, timeout=20, **fields)
    return ServerChat(name="m", options=options)


def one(answer: Answer, **fields: Any) -> tuple[ChatReply, int]:
    """The reply to one request, and how many were sent for it."""
    with ChatServer(lambda _body, _seen: answer) as server:
        reply = chat(server, retries=2).complete(asked("a", **fields))[0]
        return reply, len(server.bodies)


# --- what models lack ------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "message", "param", "dropped"),
    [
        (403, "You are not allowed to request logprobs from this model", None, "logprobs"),
        (400, "Unsupported parameter", "logprobs", "logprobs"),
        (400, "'temperature' does not support 0.0 with this model.", "temperature", "temperature"),
        (400, "response_format json_schema is not supported", None, "schema"),
        (422, "extra fields not permitted: seed", None, "seed"),
    ],
)
def test_what_an_error_names_is_left_out_and_said(
    status: int, message: str, param: str | None, dropped: str
) -> None:
    field = {"schema": "response_format"}.get(dropped, dropped)

    def behaviour(sent: dict[str, Any], _seen: int) -> Answer:
        return refusal(status, message, param=param) if field in sent else Answer()

    with ChatServer(behaviour) as server:
        model = chat(server, concurrency=1)
        replies = model.complete(asked("a", "b", logprobs=True, seed=1, schema='{"type":"object"}'))
        assert [reply.status for reply in replies] == ["ok", "ok"]
        assert all(dict(reply.changed or {}) == {dropped: None} for reply in replies)
        assert len(server.bodies) == 3
        others = {"logprobs", "temperature", "response_format", "seed"} - {field}
        assert others <= set(server.bodies[-1])


def test_an_odd_error_switches_nothing_off() -> None:
    def behaviour(sent: dict[str, Any], _seen: int) -> Answer:
        odd = sent["messages"][-1]["content"] == "b"
        return refusal(400, "something is odd here") if odd else Answer()

    with ChatServer(behaviour) as server:
        replies = chat(server, concurrency=1).complete(asked("a", "b", "c", logprobs=True))
        assert [reply.status for reply in replies] == ["ok", "failed", "ok"]
        assert replies[1].error == "HTTP 400: something is odd here"
        assert all("logprobs" in sent for sent in server.bodies)


# --- reasoning ------------------------------------------------------------


def reasons(needs: int) -> Any:
    def behaviour(sent: dict[str, Any], _seen: int) -> Answer:
        limit = sent["max_tokens"]
        out = min(limit, needs)
        usage = {"prompt_tokens": 10, "completion_tokens": out}
        if limit >= needs:
            return body(completion(usage=usage))
        return body(completion({"content": ""}, usage=usage, finish_reason="length"))

    return behaviour


def test_a_reply_that_reasoning_left_no_room_for_is_asked_with_more_and_both_are_billed() -> None:
    budget = Budget(max_cost=10.0)
    with ChatServer(reasons(1000)) as server:
        model = CachedChat(
            model=chat(server, concurrency=1), budget=budget,
            price=Price(input=0, output=1000),
        )  # fmt: skip
        first, second = model.complete(asked("a", "b", max_tokens=256))
        limits = [sent["max_tokens"] for sent in server.bodies]
    assert (first.text, second.text) == ("Yes", "Yes")
    assert limits == [256, 256 + 4096, 256 + 4096]
    assert (first.tokens_out, first.cost_usd) == (1256, pytest.approx(1.256))
    assert dict(second.changed or {}) == {"max_tokens": 4352}
    assert budget.spending.cost_usd == pytest.approx(2.256)


def test_a_run_in_which_no_reply_ever_comes_stops_and_names_the_option() -> None:
    with ChatServer(reasons(10**9)) as server:
        with pytest.raises(RunStoppedError, match="--reasoning-room"):
            chat(server, concurrency=4).complete(asked(*map(str, range(500)), max_tokens=256))
        assert len(server.bodies) < 60


def test_effort_verbosity_tier_and_extra_fields_are_sent_and_signed() -> None:
    options = ServerOptions(reasoning_effort="low", verbosity="low", service_tier="flex")
    profile = replace(model_table().profile("x", options), extra={"top_k": 1})
    sent = wire_of(profile).body(Sending(request=asked("a")[0], profile=profile, limit=9))
    assert (sent["reasoning_effort"], sent["verbosity"], sent["service_tier"]) == (
        "low", "low", "flex",
    )  # fmt: skip
    assert sent["top_k"] == 1
    assert "effort=low" in profile.settings()
    assert "extra=" in profile.settings()


# --- replies ------------------------------------------------------------

GOOD: dict[str, tuple[dict[str, Any], str]] = {
    "text": (completion(), "Yes"),
    "parts": (completion({"content": [{"type": "text", "text": "Ye"},
                                      {"type": "text", "text": "s"}]}), "Yes"),
    "thinking part": (completion({"content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "No?"}]},
        {"type": "text", "text": "Yes"}]}), "Yes"),
    "reasoning beside": (completion({"content": "Yes", "reasoning_content": "Is it?"}), "Yes"),
    "unknown part": (completion({"content": [{"type": "audio"}, {"type": "text", "text": "Yes"}]}),
                     "Yes"),
    "null": (completion({"content": None}), ""),
    "no usage": (completion(usage={}), "Yes"),
    "usage that is not a number": (completion(usage={"prompt_tokens": "ten"}), "Yes"),
    "negative usage": (completion(usage={"prompt_tokens": -(10**20)}), "Yes"),
    "huge usage": (completion(usage={"prompt_tokens": 10**30, "completion_tokens": 1}), "Yes"),
    "top_logprobs is a number": (
        completion(logprobs={"content": [{"token": "Yes", "logprob": -1, "top_logprobs": 5}]}),
        "Yes"),
    "logprob is huge": (
        completion(logprobs={"content": [{"token": "Yes", "logprob": 1e308}]}), "Yes"),
    "tool call": (completion({"content": "Yes", "tool_calls": [{}]}), "Yes"),
}  # fmt: skip

BROKEN: dict[str, dict[str, Any] | list[Any]] = {
    "no choices": {"choices": [], "usage": USAGE},
    "a list": ["Yes"],
    "another format": {"object": "chat.completion", "answer": "Yes", "usage": USAGE},
    "content is a number": completion({"content": 3}),
    "a part is a number": completion({"content": [3]}),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_well_formed_reply_is_read_at_the_first_attempt(name: str) -> None:
    reply, sent = one(body(GOOD[name][0]), logprobs=True)
    assert (reply.status, reply.text, sent) == ("ok", GOOD[name][1], 1)
    assert all(value is None or 0 <= value < 2**31 for value in (reply.tokens_in, reply.tokens_out))
    for place in reply.token_logprobs or ():
        assert all(number <= 0 for number in place.values())


@pytest.mark.parametrize("name", BROKEN)
def test_a_reply_of_status_200_is_billed_and_not_asked_for_again(name: str) -> None:
    reply, sent = one(body(BROKEN[name]))
    assert (reply.status, sent) == ("failed", 1)
    if isinstance(BROKEN[name], dict):
        assert reply.tokens_in == 10


BROKEN_OFF = {
    "error with its words": ({"error": {"code": 502, "message": "upstream died"}}, "upstream died"),
    "error after a stop": (
        {"finish_reason": "stop", "error": {"code": 500, "message": "upstream died"}},
        "upstream died",
    ),
    "a text as error": ({"error": "upstream died"}, "upstream died"),
    "no words": ({}, "'error'"),
    "aborted": ({"finish_reason": "abort"}, "'abort'"),
    "no resources": ({"finish_reason": "insufficient_system_resource"}, "insufficient_system"),
}


@pytest.mark.parametrize("name", BROKEN_OFF)
def test_a_reply_that_broke_off_is_asked_for_again_and_never_judged(name: str) -> None:
    fields, words = BROKEN_OFF[name]
    broken = body(completion(**{"finish_reason": "error", **fields}))
    reply, sent = one(broken)
    assert (reply.status, reply.text, sent) == ("failed", None, 3)
    assert words in str(reply.error)
    with ChatServer(lambda _sent, seen: Answer() if seen else broken) as server:
        assert chat(server).complete(asked("a"))[0].text == "Yes"
        assert len(server.bodies) == 2


def test_a_reply_that_is_too_large_is_not_read() -> None:
    reply, sent = one(Answer(text="x" * (9 << 20)))
    assert (reply.status, sent) == ("failed", 1)
    assert "larger than 8 MiB" in str(reply.error)


def test_questions_do_not_follow_a_redirect_to_another_host() -> None:
    with ChatServer() as other:
        away = Answer(status=307, headers={"Location": other.url + "/chat/completions"})
        with ChatServer(lambda _sent, _seen: away) as server:
            model = chat(server)
            with pytest.raises(ModelError, match="questions are not sent on"):
                model.complete(asked("a"))
        assert other.bodies == []


def test_a_key_of_one_letter_hides_no_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "s")
    reply, _ = one(Answer(text="Yes, it is"))
    assert (reply.status, reply.text) == ("ok", "Yes, it is")


def test_log_probabilities_are_those_of_the_reply_and_not_of_the_reasoning() -> None:
    tokens = ["<think>", "No", "?", "</think>", "\n\n", "Yes", "<|end|>"]
    content = [
        {"token": token, "logprob": -0.01, "top_logprobs": [{"token": "No", "logprob": -4.0}]}
        for token in tokens
    ]
    reply, _ = one(body(completion({"content": "Yes"}, logprobs={"content": content})))
    assert reply.token_logprobs is not None
    assert dict(reply.token_logprobs[0]) == {"No": -4.0, "Yes": -0.01}
    other, _ = one(body(completion({"content": "Maybe"}, logprobs={"content": content})))
    assert other.token_logprobs is None


# --- money ------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        ({"prompt_tokens": 1000, "completion_tokens": 100}, 1.0 + 0.8),
        ({"prompt_tokens": 1000, "completion_tokens": 100,
          "prompt_tokens_details": {"cached_tokens": 900}}, 0.1 + 0.09 + 0.8),
        ({"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100,
          "completion_tokens_details": {"reasoning_tokens": 90}}, 1.0 + 0.8),
        ({"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1100,
          "completion_tokens_details": {"reasoning_tokens": 90}}, 1.0 + 0.8),
        ({"prompt_tokens": 1000, "completion_tokens": 100, "cost": 0.5}, 0.5),
    ],
)  # fmt: skip
def test_what_is_billed_is_what_it_costs(usage: dict[str, Any], dollars: float) -> None:
    price = Price(input=1000, cached=100, output=8000)
    with ChatServer(lambda _sent, _seen: body(completion(usage=usage))) as server:
        model = CachedChat(model=chat(server), budget=Budget(), price=price)
        reply = model.complete(asked("a"))[0]
    assert reply.cost_usd == pytest.approx(dollars, rel=0.01)


def test_an_unreadable_reply_may_be_billed_so_the_budget_counts_each_attempt() -> None:
    budget = Budget(max_cost=1.0)
    cut = Answer(body=b'{"choices":[{"message":')
    with ChatServer(lambda _sent, _seen: cut) as server:
        model = CachedChat(
            model=chat(server, retries=6, concurrency=1), budget=budget,
            price=Price(input=0, output=3000),
        )  # fmt: skip
        replies = model.complete(asked(*map(str, range(50)), max_tokens=100))
        assert len(server.bodies) == 3  # $0.3 each
    assert {reply.status for reply in replies} == {"failed", "skipped"}
    assert budget.spending.cost_usd <= 1.0


# --- limits ------------------------------------------------------------


def test_being_turned_away_is_no_failed_attempt() -> None:
    away = Answer(status=429, headers={"Retry-After": "0"}, body=b"{}")
    with ChatServer(lambda _sent, seen: Answer() if seen >= 9 else away) as server:
        assert chat(server, retries=0).complete(asked("a"))[0].status == "ok"


# --- the protocols ------------------------------------------------------------

REQUEST = asked("Is it?", max_tokens=99, schema='{"type":"object"}', logprobs=True)[0]


def sent_to(name: str) -> dict[str, Any]:
    profile = model_table().profile(name)
    sending = Sending(
        request=REQUEST, profile=profile, limit=99 + profile.room, without=profile.lacks
    )
    return wire_of(profile).body(sending)


def read(protocol: Any, value: Any) -> ChatReply:
    return wire_of(ModelProfile(name="m", served="m", protocol=protocol)).reply(value)


def test_anthropic_messages() -> None:
    assert sent_to("anthropic:claude-haiku-4-5") == {
        "model": "claude-haiku-4-5",
        "max_tokens": 99,
        "system": "You judge.",
        "messages": [{"role": "user", "content": "Is it?"}],
        "temperature": 0.0,
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
    }
    reply = read("messages", {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5-20251001",
        "content": [{"type": "thinking", "thinking": "No?", "signature": "x"},
                    {"type": "text", "text": "Yes"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 7},
    })  # fmt: skip
    assert (reply.text, reply.finish_reason) == ("Yes", "stop")
    assert (reply.tokens_in, reply.tokens_cached, reply.tokens_out) == (100, 90, 7)
    refused = read("messages", {"content": [], "stop_reason": "refusal", "usage": {}})
    assert refused.status == "refused"
    assert not read("messages", {"content": [], "stop_reason": "max_tokens"}).finished


def test_gemini_generate_content() -> None:
    sent = sent_to("gemini:gemini-2.5-flash")
    assert sent["systemInstruction"] == {"parts": [{"text": "You judge."}]}
    assert sent["contents"] == [{"role": "user", "parts": [{"text": "Is it?"}]}]
    assert sent["generationConfig"]["maxOutputTokens"] == 99 + 8192
    assert sent["generationConfig"]["responseMimeType"] == "application/json"
    reply = read("gemini", {
        "candidates": [{
            "content": {"parts": [{"text": "No?", "thought": True}, {"text": "Yes"}]},
            "finishReason": "STOP",
            "logprobsResult": {
                "chosenCandidates": [{"token": "Yes", "logProbability": -0.1}],
                "topCandidates": [{"candidates": [{"token": "No", "logProbability": -3.0}]}],
            },
        }],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 1,
                          "thoughtsTokenCount": 50},
        "modelVersion": "gemini-2.5-flash",
    })  # fmt: skip
    assert (reply.text, reply.tokens_out, reply.tokens_reasoning) == ("Yes", 51, 50)
    assert reply.token_logprobs == ({"No": -3.0, "Yes": -0.1},)
    blocked = read("gemini", {"promptFeedback": {"blockReason": "SAFETY"}})
    assert blocked.status == "refused"
    safety = read("gemini", {"candidates": [{"finishReason": "SAFETY"}]})
    assert safety.status == "refused"


def test_openai_responses() -> None:
    from openai.types.responses import Response

    sent = sent_to("openai-responses:gpt-4o")
    assert (sent["max_output_tokens"], sent["store"]) == (99, False)
    assert sent["text"]["format"]["type"] == "json_schema"
    value = {
        "id": "r", "object": "response", "created_at": 0, "model": "gpt-4o", "status": "completed",
        "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
        "output": [
            {"type": "reasoning", "id": "a", "summary": []},
            {"type": "message", "id": "b", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": "Yes", "annotations": [], "logprobs": [
                 {"token": "Yes", "logprob": -0.1, "bytes": [], "top_logprobs": []}]}]},
        ],
        "usage": {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4},
                  "output_tokens": 60, "output_tokens_details": {"reasoning_tokens": 50},
                  "total_tokens": 70},
    }  # fmt: skip
    reply = read("responses", value)
    assert (reply.text, reply.tokens_reasoning, reply.tokens_cached) == ("Yes", 50, 4)
    assert reply.token_logprobs == ({"Yes": -0.1},)
    Response.model_validate({**value, "usage": None})  # What the SDK takes for a response.
    cut = {**value, "output": [], "incomplete_details": {"reason": "max_output_tokens"}}
    assert not read("responses", cut).finished
    with pytest.raises(MalformedReplyError, match="overloaded"):
        read("responses", {"output": [], "status": "failed", "error": {"message": "overloaded"}})


def test_completions_for_base_models() -> None:
    assert sent_to("base:smol")["prompt"] == "You judge.\n\nIs it?\n"
    old = {"tokens": [" Yes"], "token_logprobs": [-0.1], "top_logprobs": [{" No": -3.0}]}
    value = {"choices": [{"text": " Yes", "finish_reason": "stop", "logprobs": old}]}
    assert read("completions", value).token_logprobs == ({" No": -3.0, " Yes": -0.1},)


def test_azure_addresses_keep_their_query_and_send_the_key_in_its_header() -> None:
    address = "https://me.openai.azure.com/openai/deployments/D?api-version=2024-10-21"
    model = ServerChat(name="D", options=ServerOptions(base_url=address))
    url, headers = model._address()
    assert url == (
        "https://me.openai.azure.com/openai/deployments/D/chat/completions?api-version=2024-10-21"
    )
    assert "api-key" in headers
    assert "Authorization" not in headers


# --- models.toml ------------------------------------------------------------


def test_each_judge_may_name_a_model_of_another_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECOND_KEY", "second-key-0123")
    with ChatServer() as first, ChatServer() as second:
        own = tmp_path / "models.toml"
        own.write_text(
            f'["second:"]\nbase_url = "{second.url}"\nkey_env = "SECOND_KEY"\n'
            'headers = { x-team = "a" }\nquery = { v = "1" }\n'
        )
        models = Models(options=ModelOptions(
            model="m", server=ServerOptions(base_url=first.url), models=own,
            ledger=str(tmp_path / "l.sqlite"),
        ))  # fmt: skip
        models.chat().complete(asked("a"))
        models.chat("second:x").complete(asked("a"))
        models.close()
        assert [sent["model"] for sent in first.bodies + second.bodies] == ["m", "x"]
        assert second.headers[0]["x-team"] == "a"
        assert second.headers[0]["authorization"] == "Bearer second-key-0123"
        assert "second-key" not in first.headers[0]["authorization"]


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("model = 3", "is not an entry"),
        ('["m"]\nprotocol = "smtp"', "must be one of .chat"),
        ('["m"]\nextra = { messages = [] }', "messages is what every request is made of"),
        ('["m"]\nlacks = ["taste"]', "must be a list, each one of .temperature"),
        ('["m"]\ncolour = 1', "no field of .* named .colour"),
        ('["m"]\ninput = 1', "needs output"),
    ],
)
def test_a_wrong_field_of_a_model_file_is_named(tmp_path: Path, text: str, trouble: str) -> None:
    path = tmp_path / "models.toml"
    path.write_text(text)
    with pytest.raises(DataError, match=trouble):
        model_table(path)


def test_every_shipped_entry_makes_a_profile() -> None:
    table = model_table()
    assert len(table.prices) > 30
    assert table.profile("gpt-5-2025-08-07").room > 0
    assert "without=logprobs,temperature,top_p" in table.profile("gpt-5").settings()


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4o-2024-08-06", "gpt-5", "ft:of-our-own"])
def test_openai_is_a_provider_too(model: str, tmp_path: Path) -> None:
    """The server was sent the name `openai:gpt-4o`, at no known price."""
    assert sent_to(f"openai:{model}") == sent_to(model)
    path = tmp_path / "models.toml"
    path.write_text('["gpt-5"]\nkey_env = "OURS"\n["openai:gpt-4o"]\ninput = 1\noutput = 2\n')
    table = model_table(path)
    plain, found = table.profile(model), table.profile(f"openai:{model}")
    assert found.key_env == plain.key_env == ("OURS" if model == "gpt-5" else "OPENAI_API_KEY")
    if model.startswith("gpt-4o"):  # an entry of the whole name is over that of the name alone
        assert found.price == Price(input=1, cached=1.25, output=2)
    else:
        assert replace(found, name=model) == plain


# --- whatever comes ------------------------------------------------------------


def odd_value(chance: random.Random, depth: int = 0) -> Any:
    plain = [None, True, -1, 10**40, 1e308, float(2**70), "", "Yes", "\ud800", [], {}]
    if depth > 3 or chance.random() < 0.5:
        return chance.choice(plain)
    if chance.random() < 0.5:
        return [odd_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    names = ["text", "type", "content", "token", "logprob", "top_logprobs", "parts", "usage"]
    return {chance.choice(names): odd_value(chance, depth + 1) for _ in range(chance.randrange(4))}


def damaged(value: Any, chance: random.Random) -> Any:
    """The value with some of what is in it replaced by something odd, or gone."""
    if chance.random() < 0.08:
        return odd_value(chance)
    if isinstance(value, dict):
        return {k: damaged(v, chance) for k, v in value.items() if chance.random() > 0.03}
    if isinstance(value, list):
        return [damaged(one, chance) for one in value if chance.random() > 0.03]
    return value


WHOLE = {
    "chat": completion({"content": [{"type": "text", "text": "Yes"}]}, logprobs={"content": [
        {"token": "Yes", "logprob": -0.1, "top_logprobs": [{"token": "No", "logprob": -3}]}]}),
    "completions": {"choices": [{"text": "Yes", "logprobs": {
        "tokens": ["Yes"], "token_logprobs": [-0.1], "top_logprobs": [{"No": -3}]}}]},
    "responses": {"output": [{"type": "message", "content": [
        {"type": "output_text", "text": "Yes", "logprobs": [{"token": "Yes", "logprob": -0.1}]}]}],
        "usage": {"input_tokens": 1}},
    "messages": {"content": [{"type": "text", "text": "Yes"}], "usage": {"input_tokens": 1}},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "Yes"}]}, "logprobsResult": {
        "chosenCandidates": [{"token": "Yes", "logProbability": -0.1}]}}]},
}  # fmt: skip


@pytest.mark.parametrize(
    "count", [2_000, pytest.param(100_000, marks=pytest.mark.proof(area="models"))]
)
def test_no_generated_reply_breaks_a_reader_or_leaves_a_number_that_cannot_be(count: int) -> None:
    chance = random.Random(17)
    for number in range(count):
        protocol = list(WHOLE)[number % len(WHOLE)]
        value = damaged(WHOLE[protocol], chance)
        try:
            reply = read(protocol, value)
        except MalformedReplyError:
            continue
        (reply.text or "").encode()
        said = read_yes_no(reply.text or "", finished=reply.finished)
        # A verdict rests on a text of the reply, never on what was put in a text's place.
        assert said.status != "judged" or "yes" in (reply.text or "").lower()
        counts = (reply.tokens_in, reply.tokens_out, reply.tokens_cached, reply.tokens_reasoning)
        assert all(one is None or 0 <= one < 2**33 for one in counts)
        assert all(n <= 0 for place in reply.token_logprobs or () for n in place.values())
