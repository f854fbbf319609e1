"""What providers' batch interfaces have in common, and how each does it: send, look, fetch.

OpenAI (and Azure, and servers like it): a file of lines is uploaded, and a batch made of it.
Anthropic: the requests are the batch. Both are named after us, so that a batch whose arrival was
not heard of can be found again.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from markscheme.errors import ModelError
from markscheme.models.chat.http import ConnectionBrokeError, HttpClient, HttpResponse
from markscheme.models.chat.profiles import ModelProfile
from markscheme.models.chat.reading import SHOWN, error_in, mapping, objects, on_a_line, word
from markscheme.models.chat.wire import Wire, address_of, key_in_words

LARGEST_RESULTS = 1 << 30
OPENAI_PROTOCOLS = ("chat", "responses", "completions")
"""Protocols whose batches are files of lines."""
BATCH_PROTOCOLS = (*OPENAI_PROTOCOLS, "messages")
"""Protocols that `batch_service` has an interface for."""

_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class BatchState:
    """The state of a batch.

    Attributes:
        ended: nothing more will come.
        done: requests that are answered or have failed.
        error: why the batch as a whole failed; None if it did not.
        full: it failed because too much is waiting at the provider already.
        files: where results are.
    """

    ended: bool
    done: int = 0
    error: str | None = None
    full: bool = False
    files: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BatchResult:
    """What became of one request: `body` of a reply with status 200, or an error's.

    `status` is 0 where the provider never made a reply, as with a batch that expired.
    """

    key: str
    status: int
    body: object = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Sought:
    """A batch of ours that may have arrived.

    Attributes:
        job: our name for it.
        since: when it was about to be sent, in seconds since 1970.
        requests: how many it has.
        known: the provider's names of batches that are known here, and so are others.
    """

    job: str
    since: float
    requests: int
    known: frozenset[str]


class NotTakenError(Exception):
    """A provider did not take a call; it says why. `unsure`: it may have taken it all the same."""

    def __init__(self, message: str, *, unsure: bool = False, status: int = 0) -> None:
        super().__init__(message)
        self.unsure = unsure
        self.status = status


class Caller:
    """Calls of a provider's address, with its key."""

    def __init__(self, http: HttpClient, profile: ModelProfile, wire: Wire) -> None:
        self._http, self._profile, self._wire = http, profile, wire

    @property
    def endpoint(self) -> str:
        """The path that a batch names; Azure's batches name that within a deployment."""
        azure = self._profile.takes_api_key_header
        return self._wire.path if azure else f"/v1{self._wire.path}"

    async def json(self, path: str) -> Mapping[str, Any]:
        """What the provider says at a path: a JSON object."""
        body = (await self.call("GET", path)).body
        if body is None:
            raise NotTakenError("the provider's response is not JSON", unsure=True)
        return mapping(body)

    async def made(
        self, what: str, path: str, content: bytes, kind: str = "application/json"
    ) -> str:
        """The provider's name of what a call makes: a file, a batch.

        Raises:
            NotTakenError, ModelError: as `call`, or it gave none and may have taken it.
        """
        response = await self.call("POST", path, content, kind)
        name = word(mapping(response.body).get("id"))
        if not name:
            raise NotTakenError(
                f"the provider took a {what} and gave no name for it", unsure=what == "batch"
            )
        return name

    async def call(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        kind: str | None = None,
        *,
        largest: int | None = None,
    ) -> HttpResponse:
        """Any call.

        Raises:
            NotTakenError: the status is not 200, or no response came.
            ModelError: there is no batch interface at the address, or the key is not accepted.
        """
        url, headers, _ = address_of(self._profile, self._wire, path)
        if kind is not None:
            headers = {**headers, "Content-Type": kind}
        try:
            response = await self._http.send(method, url, headers, content, largest=largest)
        except ConnectionBrokeError as error:
            raise NotTakenError(str(error), unsure=True) from None
        if response.status in (200, 201):
            return response
        detail = _detail(response)
        if response.status in (401, 403):
            raise ModelError(f"the server does not accept {key_in_words(self._profile)} ({detail})")
        if response.status in (404, 405) and method == "POST":
            raise ModelError(
                f"{self._profile.address} has no batch interface ({detail}); leave out --batch"
            )
        raise NotTakenError(detail, unsure=response.status >= 500, status=response.status)


def _detail(response: HttpResponse) -> str:
    message = error_in(response.body)[1] or response.content[:SHOWN].decode("utf-8", "replace")
    return f"HTTP {response.status}: {on_a_line(message)}"


class OpenAIBatches:
    """`POST /files`, then `POST /batches`. A batch has at most so many requests and bytes."""

    most_requests = 50_000
    most_bytes = 190 * _MIB  # of 200

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def line(self, key: str, body: Mapping[str, Any]) -> bytes:
        """One request in a batch."""
        line = {"custom_id": key, "method": "POST", "url": self._caller.endpoint, "body": body}
        return orjson.dumps(line) + b"\n"

    async def send(self, job: str, lines: Sequence[bytes]) -> str:
        """Send a batch that is called `job` here; its name at the provider.

        Raises:
            NotTakenError: it was not taken.
        """
        mark = uuid.uuid4().hex
        head = (
            f'--{mark}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{job}.jsonl"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        )
        content = head.encode() + b"".join(lines) + f"\r\n--{mark}--\r\n".encode()
        kind = f"multipart/form-data; boundary={mark}"
        batch = {
            "input_file_id": await self._caller.made("file", "/files", content, kind),
            "endpoint": self._caller.endpoint,
            "completion_window": "24h",
            "metadata": {"markscheme": job},
        }
        return await self._caller.made("batch", "/batches", orjson.dumps(batch))

    async def find(self, sought: Sought) -> str | None:
        """The provider's name of a batch of ours that may have arrived; None if it has not."""
        after = ""
        while True:  # The newest batches come first.
            page = await self._caller.json(f"/batches?limit=100{after}")
            batches = objects(page.get("data"))
            for one in batches:
                if mapping(one.get("metadata")).get("markscheme") == sought.job:
                    return word(one.get("id"))
            made = batches[-1].get("created_at") if batches else None
            older = isinstance(made, int | float) and made < sought.since - 3600
            if not batches or not page.get("has_more") or older:
                return None
            after = f"&after={word(batches[-1].get('id'))}"

    async def state(self, name: str) -> BatchState:
        """The state of a batch.

        Raises:
            NotTakenError: the provider does not say.
        """
        found = await self._caller.json(f"/batches/{name}")
        status = found.get("status")
        counts = mapping(found.get("request_counts"))
        done = sum(n for n in (counts.get("completed"), counts.get("failed")) if isinstance(n, int))
        files = [word(found.get(key)) for key in ("output_file_id", "error_file_id")]
        first = next(iter(objects(mapping(found.get("errors")).get("data"))), {})
        error = None
        if status == "failed":
            error = f"the batch failed: {word(first.get('message')) or 'no reason given'}"
        return BatchState(
            ended=status in ("completed", "failed", "expired", "cancelled"),
            done=done,
            error=error,
            full=first.get("code") == "token_limit_exceeded",
            files=tuple(one for one in files if one),
        )

    async def results(self, state: BatchState) -> Iterator[BatchResult]:
        """The results of a batch that has ended.

        Raises:
            NotTakenError: the provider does not give them.
        """
        contents = [
            (
                await self._caller.call("GET", f"/files/{file}/content", largest=LARGEST_RESULTS)
            ).content
            for file in state.files
        ]
        return _results(contents, openai_result)


def openai_result(line: bytes) -> BatchResult:
    """The result in a line of a file of results.

    Raises:
        ValueError: there is none.
    """
    content = mapping(orjson.loads(line))
    key = content.get("custom_id")
    if not isinstance(key, str):
        raise ValueError("it has no 'custom_id'")
    response = mapping(content.get("response"))
    status = response.get("status_code")
    if isinstance(status, int) and not isinstance(status, bool):
        return BatchResult(key=key, status=status, body=response.get("body"))
    return BatchResult(key=key, status=0, body={"error": content.get("error")})


class AnthropicBatches:
    """`POST /messages/batches`."""

    most_requests = 100_000
    most_bytes = 240 * _MIB  # of 256

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def line(self, key: str, body: Mapping[str, Any]) -> bytes:
        """See `OpenAIBatches`."""
        return orjson.dumps({"custom_id": key, "params": body})

    async def send(self, job: str, lines: Sequence[bytes]) -> str:  # noqa: ARG002
        """See `OpenAIBatches`; the interface has no place for a name of ours."""
        content = b'{"requests":[' + b",".join(lines) + b"]}"
        return await self._caller.made("batch", "/messages/batches", content)

    async def find(self, sought: Sought) -> str | None:
        """See `OpenAIBatches`: one of as many requests, made since, of which we do not know."""
        from datetime import datetime

        page = await self._caller.json("/messages/batches?limit=100")
        for one in objects(page.get("data")):
            name, made = word(one.get("id")), one.get("created_at")
            try:
                at = datetime.fromisoformat(str(made)).timestamp()
            except ValueError:
                continue
            counts = mapping(one.get("request_counts")).values()
            whole = sum(n for n in counts if isinstance(n, int))
            alike = at >= sought.since - 5 and whole == sought.requests
            if name and name not in sought.known and alike:
                return name
        return None

    async def state(self, name: str) -> BatchState:
        """See `OpenAIBatches`."""
        found = await self._caller.json(f"/messages/batches/{name}")
        counts = mapping(found.get("request_counts"))
        waiting = counts.get("processing")
        whole = sum(n for n in counts.values() if isinstance(n, int))
        done = whole - waiting if isinstance(waiting, int) else 0
        ended = found.get("processing_status") == "ended"
        return BatchState(ended=ended, done=done, files=(name,))

    async def results(self, state: BatchState) -> Iterator[BatchResult]:
        """See `OpenAIBatches`."""
        path = f"/messages/batches/{state.files[0]}/results"
        response = await self._caller.call("GET", path, largest=LARGEST_RESULTS)
        return _results([response.content], _anthropic_result)


def _anthropic_result(line: bytes) -> BatchResult:
    content = mapping(orjson.loads(line))
    key, result = content.get("custom_id"), mapping(content.get("result"))
    if not isinstance(key, str):
        raise ValueError("it has no 'custom_id'")
    if result.get("type") == "succeeded":
        return BatchResult(key=key, status=200, body=result.get("message"))
    error = mapping(mapping(result.get("error")).get("error"))
    detail = error or {"message": f"the batch gave no answer: {word(result.get('type'))}"}
    wrong = error.get("type") == "invalid_request_error"
    return BatchResult(key=key, status=400 if wrong else 500, body={"error": detail})


def _results(
    contents: Iterable[bytes], read: Callable[[bytes], BatchResult]
) -> Iterator[BatchResult]:
    """The results in files of lines; a line without one is passed over."""
    for content in contents:
        for line in content.splitlines():
            try:
                result = read(line)
            except ValueError:
                continue
            yield result


def batch_service(
    http: HttpClient, profile: ModelProfile, wire: Wire
) -> OpenAIBatches | AnthropicBatches:
    """The batch interface of a model's provider.

    Raises:
        ModelError: its protocol has none that is known here.
    """
    caller = Caller(http, profile, wire)
    if profile.protocol == "messages":
        return AnthropicBatches(caller)
    if profile.protocol in OPENAI_PROTOCOLS:
        return OpenAIBatches(caller)
    raise ModelError(
        f"{profile.name}: --batch knows the batch interfaces of OpenAI, Azure, servers like them "
        f"and Anthropic, not that of {profile.protocol!r}; leave out --batch"
    )
