"""A chat server on loopback whose every answer is a function: well-behaved, slow, or broken.

Run as a script it answers "Yes" after a delay and prints its address, for `benchmarks.chat`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from batch_endpoints import BatchEndpoints


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server does with one request.

    Attributes:
        text: what the model says, in an ordinary completion.
        status: HTTP status.
        headers: further headers.
        delay: seconds before the answer.
        extra: further fields of the completion's only choice.
        body: the whole body, instead of a completion.
        cut: close the connection after so many bytes of the response.
        trickle: seconds between bytes of the response's last ten.
        length: tokens counted for the reply.
    """

    text: str | None = "Yes"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    extra: dict[str, Any] = field(default_factory=dict)
    body: bytes | None = None
    cut: int | None = None
    trickle: float = 0.0
    length: int = 1

    def payload(self, model: str) -> bytes:
        """The response's body."""
        if self.body is not None:
            return self.body
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": self.text},
            "finish_reason": "stop",
            **self.extra,
        }
        completion = {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [choice],
            "usage": {
                "prompt_tokens": 10,
                "completion_tokens": self.length,
                "total_tokens": 10 + self.length,
            },
        }
        return json.dumps(completion).encode()


Behaviour = Callable[[dict[str, Any], int], Answer]
"""From the request's body and how often its last message was seen before, what to do."""


def last_message(body: dict[str, Any]) -> str:
    """Text of the request's last message, after its images if it has any."""
    content = body["messages"][-1]["content"]
    return str(content if isinstance(content, str) else content[-1]["text"])


class ChatServer:
    """Serves while its `with` block runs; remembers every request that came in whole.

    Attributes:
        bodies: the requests' bodies, in order of arrival.
        headers: their headers.
        answered: last messages whose answer was sent to the last byte to a client that had not
            left, counted.
    """

    def __init__(self, behaviour: Behaviour | None = None, *, port: int = 0) -> None:
        self.behaviour = behaviour or (lambda _body, _seen: Answer())
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answered: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._port = port
        self._batches = BatchEndpoints(self._one_in_a_batch, seconds=0.0, most=50_000)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def asked(self) -> Counter[str]:
        """Last messages of the requests so far, counted."""
        return Counter(self._seen)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", self._port, backlog=1024)
        )
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                headers = {}
                for line in head.split("\r\n")[1:]:
                    key, _, value = line.partition(":")
                    headers[key.strip().lower()] = value.strip()
                raw = await reader.readexactly(int(headers.get("content-length", "0")))
                if not await self._answer(head, headers, raw, reader, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def _in_batches(
        self, method: str, path: str, headers: dict[str, str], raw: bytes
    ) -> tuple[int, bytes] | None:
        """The answer of OpenAI's batch interface; None where a request is none of its."""
        if method == "GET":
            return self._batches.get(path)
        return self._batches.post(path, headers, raw)

    def _one_in_a_batch(self, body: dict[str, Any], _anthropic: bool) -> tuple[int, bytes]:
        message = last_message(body)
        answer = self.behaviour(body, self._seen[message])
        self._seen[message] += 1
        self.bodies.append(body)
        return answer.status, answer.payload(body.get("model", ""))

    async def _answer(
        self,
        head: str,
        headers: dict[str, str],
        raw: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        method, path = head.split(" ", 2)[:2]
        found = self._in_batches(method, path.partition("?")[0].removeprefix("/v1"), headers, raw)
        if found is not None:
            top = f"HTTP/1.1 {found[0]} Status\r\nContent-Length: {len(found[1])}\r\n\r\n"
            writer.write(top.encode() + found[1])
            await writer.drain()
            return True
        if not head.startswith("POST /v1/chat/completions"):
            writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return True
        body = json.loads(raw)
        message = last_message(body)
        answer = self.behaviour(body, self._seen[message])
        self._seen[message] += 1
        self.bodies.append(body)
        self.headers.append(headers)
        if answer.delay:
            await asyncio.sleep(answer.delay)
        if reader.at_eof() or reader.exception() is not None or writer.is_closing():
            return False
        payload = answer.payload(body.get("model", ""))
        lines = {"Content-Type": "application/json", **answer.headers}
        lines["Content-Length"] = str(len(payload))
        top = "".join(f"{key}: {value}\r\n" for key, value in lines.items())
        response = f"HTTP/1.1 {answer.status} Status\r\n{top}\r\n".encode() + payload
        if answer.cut is not None:
            writer.write(response[: answer.cut])
            await writer.drain()
            return False
        if answer.trickle:
            writer.write(response[:-10])
            for byte in response[-10:]:
                await asyncio.sleep(answer.trickle)
                writer.write(bytes([byte]))
                await writer.drain()
        else:
            writer.write(response)
            await writer.drain()
        self.answered[message] += 1
        return True


if __name__ == "__main__":
    wait = float(sys.argv[1])
    with ChatServer(lambda _body, _seen: Answer(delay=wait)) as server:
        print(server.url, flush=True)
        sys.stdin.read()
