"""Requests and replies as values: keys, records, the OpenAI format, tokens and prices."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from markscheme.contract import ChatReply, ChatRequest, Message
from markscheme.errors import DataError
from markscheme.models.chat.openai_format import ChatCompletions, is_refusal
from markscheme.models.chat.profiles import ModelProfile, Price, model_table, read_models
from markscheme.models.chat.reading import MalformedReplyError
from markscheme.models.chat.scripted import ScriptedChat
from markscheme.models.chat.token_counts import rough_tokens
from markscheme.models.chat.wire import Sending
from markscheme.models.ledger.ledger import (
    key_of,
    reply_from,
    reply_record,
    request_from,
    request_record,
)


def request(text: str = "Is it so?", **fields: Any) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), **fields)


def body_of(asked: ChatRequest, model: str, **fields: Any) -> dict[str, Any]:
    profile = ModelProfile(name=model, served=model)
    return ChatCompletions().body(
        Sending(request=asked, profile=profile, limit=asked.max_tokens, **fields)
    )


def reply_of(completion: object) -> ChatReply:
    return ChatCompletions().reply(completion)


OTHERS: dict[str, Any] = {
    "messages": (Message(role="user", content="Is it so ?"),),
    "max_tokens": 7,
    "temperature": 0.5,
    "top_p": 0.9,
    "seed": 0,
    "schema": '{"type":"object"}',
    "logprobs": True,
    "sample": 1,
}


def test_every_field_of_a_request_changes_its_key() -> None:
    assert set(OTHERS) == {field.name for field in dataclasses.fields(ChatRequest)}
    plain = key_of("m", "", request())
    keys = {key_of("m", "", dataclasses.replace(request(), **{k: v})) for k, v in OTHERS.items()}
    keys |= {key_of("n", "", request()), key_of("m", "2", request()), plain}
    assert len(keys) == len(OTHERS) + 3
    assert len(plain) == 32


def test_a_key_is_the_same_for_ever() -> None:
    """Ledgers outlive versions: a changed key would have everything paid twice."""
    assert key_of("m", "r", request(temperature=0)) == "86e2fcdecf456a249540dc9c11243031"
    assert key_of("m", "r", request(temperature=0)) == key_of("m", "r", request(temperature=0.0))


@pytest.mark.parametrize("one", [request(),
                                 dataclasses.replace(request(), **OTHERS),
                                 request(temperature=None)])  # fmt: skip
def test_requests_survive_being_written(one: ChatRequest) -> None:
    assert request_from(request_record(one)) == one


def test_replies_survive_being_written() -> None:
    reply = ChatReply(
        status="ok", text="Yes\u2028é", finish_reason="stop", tokens_in=1, tokens_out=2,
        cost_usd=0.1, seconds=0.25, token_logprobs=({"Yes": -0.1, "No": -2.5},), model="m-1",
        tokens_cached=1, tokens_reasoning=1, changed={"temperature": None, "max_tokens": 900},
    )  # fmt: skip
    assert reply_from(reply_record(reply)) == reply
    assert reply_from(reply_record(ChatReply(status="failed"))) == ChatReply(status="failed")


def test_a_body_holds_what_was_asked_and_nothing_else() -> None:
    assert body_of(request(temperature=None, max_tokens=9), "m") == {
        "model": "m",
        "messages": [{"role": "user", "content": "Is it so?"}],
        "max_tokens": 9,
    }
    whole = dataclasses.replace(request(), **OTHERS)
    body = body_of(whole, "m", limit_name="max_completion_tokens")
    assert body["max_completion_tokens"] == 7
    assert (body["temperature"], body["top_p"], body["seed"]) == (0.5, 0.9, 0)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert body["logprobs"] is True
    less = body_of(whole, "m", without=frozenset({"schema", "logprobs"}))
    assert not {"response_format", "logprobs", "top_logprobs"} & set(less)


def completion(**message: Any) -> dict[str, Any]:
    return {
        "model": "m-2026",
        "choices": [{"message": {"content": "Yes", **message}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3},
    }


def test_a_completion_is_read() -> None:
    assert reply_of(completion()) == ChatReply(
        status="ok", text="Yes", finish_reason="stop", tokens_in=12, tokens_out=3, model="m-2026",
    )  # fmt: skip


def test_refusals_and_empty_replies_are_told_apart() -> None:
    assert reply_of(completion(content=None)).text == ""
    assert reply_of(completion(content=None)).status == "ok"
    refused = reply_of(completion(content=None, refusal="I cannot."))
    assert (refused.status, refused.text) == ("refused", "I cannot.")
    filtered = completion()
    filtered["choices"][0]["finish_reason"] = "content_filter"
    assert reply_of(filtered).status == "refused"
    assert is_refusal({"code": "content_filter"})
    assert is_refusal({"innererror": {"code": "ResponsibleAIPolicyViolation"}})
    assert not is_refusal({"code": "context_length_exceeded"})


@pytest.mark.parametrize(
    "broken",
    [None, "Yes", [], {}, {"choices": []}, {"choices": ["Yes"]}, {"choices": [{}]},
     {"choices": [{"message": {"content": 3}}]}, {"choices": [{"message": {"refusal": []}}]}],
)  # fmt: skip
def test_what_is_no_completion_is_said_to_be_none(broken: object) -> None:
    with pytest.raises(MalformedReplyError, match="the server's reply"):
        reply_of(broken)


@pytest.mark.parametrize("odd", [None, 3, "x", {"content": 1}, {"content": [1]},
                                 {"content": [{"token": 1}]}, {"content": []}])  # fmt: skip
def test_odd_logprobs_are_no_logprobs(odd: object) -> None:
    body = completion()
    body["choices"][0]["logprobs"] = odd
    assert reply_of(body).token_logprobs is None


def test_logprobs_hold_alternatives_and_the_token_itself() -> None:
    body = completion()
    body["choices"][0]["logprobs"] = {
        "content": [
            {"token": "Yes", "logprob": -0.1, "top_logprobs": [{"token": "No", "logprob": -3}]}
        ]
    }
    assert reply_of(body).token_logprobs == ({"No": -3.0, "Yes": -0.1},)


def test_lone_surrogates_do_not_reach_anybody() -> None:
    text = reply_of(completion(content="a\ud800b é")).text
    assert text == "a\ufffdb é"


def test_tokens_are_guessed_on_the_safe_side() -> None:
    prose = "The capital of France is Paris, and it has been so for a long time indeed. " * 10
    assert 160 < rough_tokens([Message(role="user", content=prose)]) < 250  # o200k has 170


def test_prices_know_dated_names_and_the_users_file(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text('["gpt-4o"]\ninput = 1\noutput = 2\n["mine"]\ninput = 0\noutput = 0\n')
    table = model_table(own)
    assert table.profile("gpt-4o-2024-08-06").price == Price(input=1, output=2, cached=1.25)
    mini = table.profile("gpt-4o-mini-2024-07-18").price
    assert mini == Price(input=0.15, output=0.6, cached=0.075)
    assert table.profile("mine").price == Price(input=0, output=0)
    assert table.profile("gpt-4o-audio").price is None
    assert Price(input=2, output=8).cost(500_000, 250_000) == 3.0
    own.write_text('["x"]\ninput = "cheap"\n')
    with pytest.raises(DataError, match=r'\["x"\]: input=.cheap. must be a number'):
        read_models(own)


def test_a_script_says_what_it_lacks() -> None:
    refused = ChatReply(status="refused", error="no")
    chat = ScriptedChat(replies={"a": "Yes", "b": refused})
    a, b, c = chat.complete([request("a"), request("b"), request("c")])
    assert (a.text, b, c.status) == ("Yes", refused, "failed")
    assert "no reply" in str(c.error)
    assert [one.last_user for one in chat.seen] == ["a", "b", "c"]
