"""The fault server against the client that asks real servers."""

from __future__ import annotations

import pytest

from markscheme.contract.chat import ChatRequest, Message
from markscheme.models import ServerOptions
from markscheme.models.chat import ServerChat
from markscheme.testing import FaultServer, ServerReply

ASKED = ChatRequest(messages=(Message(role="user", content="Is it so?"),))


def client(server: FaultServer, *, retries: int = 2, timeout: float = 5) -> ServerChat:
    options = ServerOptions(base_url=server.url, retries=retries, timeout=timeout)
    return ServerChat(name="m", options=options)


@pytest.mark.parametrize(
    "fault",
    [
        ServerReply.rate_limited(retry_after=0.01),
        ServerReply.server_error(),
        ServerReply.server_error(503),
    ],
)
def test_a_fault_that_passes_is_tried_again(fault: ServerReply) -> None:
    with FaultServer([fault, ServerReply(content="Yes")]) as server:
        (reply,) = client(server).complete([ASKED])
        assert (reply.status, reply.text) == ("ok", "Yes")
        assert len(server.requests) == 2
        assert server.requests[0] == server.requests[1]
        assert server.requests[0]["messages"][-1]["content"] == "Is it so?"


@pytest.mark.parametrize(
    "fault",
    [
        ServerReply.server_error(),
        ServerReply.malformed_json(),
        ServerReply.without_choices(),
        ServerReply.slow(2.0),
    ],
)
def test_a_fault_that_stays_is_a_failed_reply(fault: ServerReply) -> None:
    with FaultServer([fault]) as server:
        (reply,) = client(server, retries=0, timeout=0.5).complete([ASKED])
        assert reply.status == "failed"
        assert reply.error


def test_a_closed_connection_is_tried_again_at_a_server_that_has_answered() -> None:
    with FaultServer([ServerReply(), ServerReply(drop=True), ServerReply(content="No")]) as server:
        chat = client(server)
        assert [chat.complete([ASKED])[0].text for _ in range(2)] == ["Yes", "No"]
        assert len(server.requests) == 3


def test_a_function_sees_the_request_and_its_number() -> None:
    def script(body: object, place: int) -> ServerReply:
        return ServerReply(content=f"reply {place}")

    with FaultServer(script) as server:
        texts = [client(server).complete([ASKED])[0].text for _ in range(3)]
    assert texts == ["reply 0", "reply 1", "reply 2"]


def test_a_script_without_replies_is_refused() -> None:
    with pytest.raises(ValueError, match="one reply"):
        FaultServer([])
