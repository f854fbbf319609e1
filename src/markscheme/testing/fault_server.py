"""An OpenAI-compatible chat server on loopback that answers, or fails, as a script says.

Standard library only. For tests of whatever asks a chat model: retries, budgets, refusals, replies
that cannot be read.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit


@dataclass(frozen=True, kw_only=True)
class ServerReply:
    """What the server does with one request.

    Attributes:
        content: the reply of the model: a text, a list of content parts, or None for a reply
            without content.
        status: HTTP status; other than 200 the body is an error.
        headers: further headers, such as `Retry-After`.
        delay: seconds before anything is sent.
        body: the whole body, in place of a completion.
        finish_reason: `stop`, `length`, `content_filter`, ...
        drop: close the connection without an answer.
        tokens_in, tokens_out: as the server counts them.
    """

    content: str | Sequence[Mapping[str, Any]] | None = "Yes"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    body: bytes | None = None
    finish_reason: str = "stop"
    drop: bool = False
    tokens_in: int = 10
    tokens_out: int = 1

    @classmethod
    def rate_limited(cls, *, retry_after: float = 0.0) -> ServerReply:
        """429, with the seconds to wait."""
        return cls(status=429, headers={"Retry-After": f"{retry_after:g}"})

    @classmethod
    def server_error(cls, status: int = 500) -> ServerReply:
        """500, or another status of the kind."""
        return cls(status=status)

    @classmethod
    def slow(cls, seconds: float, content: str = "Yes") -> ServerReply:
        """A good reply that takes its time."""
        return cls(content=content, delay=seconds)

    @classmethod
    def malformed_json(cls) -> ServerReply:
        """200, with a body that ends in the middle."""
        return cls(body=b'{"id": "c", "object": "chat.completion", "choices": [{"index": 0, ')

    @classmethod
    def without_choices(cls) -> ServerReply:
        """200, with an empty list of choices."""
        return cls(body=b'{"id": "c", "object": "chat.completion", "choices": []}')

    def message_payload(self, model: str) -> bytes:
        """The body of the response in Anthropic's protocol."""
        if self.body is not None or self.status != 200:
            return self.payload(model)
        content: Any = self.content
        if not isinstance(content, list | tuple):
            content = [{"type": "text", "text": content or ""}]
        reason = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
        message = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": list(content),
            "stop_reason": reason.get(self.finish_reason, self.finish_reason),
            "usage": {"input_tokens": self.tokens_in, "output_tokens": self.tokens_out},
        }
        return json.dumps(message).encode()

    def payload(self, model: str) -> bytes:
        """The body of the response."""
        if self.body is not None:
            return self.body
        if self.status != 200:
            error = {"message": f"scripted {self.status}", "type": "scripted", "code": None}
            return json.dumps({"error": error}).encode()
        content = self.content if isinstance(self.content, str | None) else list(self.content)
        message = {"role": "assistant", "content": content}
        return json.dumps(
            {
                "id": "c",
                "object": "chat.completion",
                "created": 0,
                "model": model,
                "choices": [{"index": 0, "message": message, "finish_reason": self.finish_reason}],
                "usage": {
                    "prompt_tokens": self.tokens_in,
                    "completion_tokens": self.tokens_out,
                    "total_tokens": self.tokens_in + self.tokens_out,
                },
            }
        ).encode()


Script = Sequence[ServerReply] | Callable[[Mapping[str, Any], int], ServerReply]
"""Replies in the order of requests, the last one again and again; or a function of the request's
body and of how many requests came before it."""


class FaultServer:
    """Serves while its `with` block runs, and remembers every request.

    Attributes:
        url: the base address, for `ServerOptions(base_url=...)`.
        requests: the bodies of the requests, in order of arrival.
        headers: their headers, names in lower case.

    Example:
        >>> import urllib.request
        >>> with FaultServer([ServerReply(content="Yes")]) as server:
        ...     body = b'{"model": "m", "messages": []}'
        ...     reply = urllib.request.urlopen(server.url + "/chat/completions", body).read()
        >>> b'"Yes"' in reply, len(server.requests)
        (True, 1)
    """

    def __init__(self, script: Script = (ServerReply(),)) -> None:
        """Take the script; the server starts with the `with` block.

        Args:
            script: what it answers.

        Raises:
            ValueError: the script has no reply.
        """
        if not callable(script) and not script:
            raise ValueError("a script needs one reply at least")
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._script = script
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        """The base address of the server."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def reply_to(self, body: dict[str, Any], headers: dict[str, str]) -> ServerReply:
        """Note a request and choose its reply."""
        with self._lock:
            place = len(self.requests)
            self.requests.append(body)
            self.headers.append(headers)
        if callable(self._script):
            return self._script(body, place)
        return self._script[min(place, len(self._script) - 1)]

    def other_request(
        self,
        method: str,
        path: str,  # noqa: ARG002
        headers: Mapping[str, str],  # noqa: ARG002
        raw: bytes,  # noqa: ARG002
    ) -> tuple[int, bytes] | None:
        """Status and body of a request that asks for no completion: for subclasses to answer.

        Args:
            method: `GET` or `POST`.
            path: without `/v1` and without a query.
            headers: names in lower case.
            raw: the request's body.

        Returns:
            None where the request is none of the subclass's: the script answers it then.
        """
        return (404, b'{"error": {"message": "not found"}}') if method == "GET" else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    owner: FaultServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing where a client left in the middle of a connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._answer_other("GET", {}, b"")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if self._answer_other("POST", headers, raw):
            return
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        reply = self.server.owner.reply_to(body, headers)
        if reply.delay:
            time.sleep(reply.delay)
        if reply.drop:
            self.close_connection = True
            return
        payload = reply.message_payload if self._path.endswith("/messages") else reply.payload
        self._send(reply.status, payload(str(body.get("model", ""))), reply.headers)

    def _answer_other(self, method: str, headers: Mapping[str, str], raw: bytes) -> bool:
        other = self.server.owner.other_request(method, self._path, headers, raw)
        if other is not None:
            self._send(*other, {})
        return other is not None

    @property
    def _path(self) -> str:
        return urlsplit(self.path).path.removeprefix("/v1")

    def _send(self, status: int, content: bytes, headers: Mapping[str, str]) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
        except ConnectionError:
            self.close_connection = True  # The client gave up waiting.

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""
