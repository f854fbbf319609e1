"""The batch interfaces of OpenAI and of Anthropic, as a script's server plays them.

What a batch holds is answered line by line by the same script as single requests are. Limits, forms
and errors are those of the real ones, as far as a client can meet them.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from markscheme.testing.fault_server import FaultServer, Script

Answer = Callable[[dict[str, Any], bool], tuple[int, bytes]]
"""Status and body of the answer to one request's body; whether the form is Anthropic's."""

Response = tuple[int, bytes]

_CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(kw_only=True)
class _Batch:
    id: str
    made: float
    ends: float
    requests: list[tuple[str, dict[str, Any]]]
    more: dict[str, Any] = field(default_factory=dict)
    results: list[tuple[str, int, Any]] | None = None


class BatchEndpoints:
    """State of the batch endpoints of one server."""

    def __init__(self, answer: Answer, *, seconds: float, most: int) -> None:
        """Take how lines are answered, and how long and how large a batch may be."""
        self._answer = answer
        self._seconds, self._most = seconds, most
        self._lock = threading.RLock()
        self._files: dict[str, bytes] = {}
        self.batches: dict[str, _Batch] = {}

    def get(self, path: str) -> Response:
        """What a GET gives; `path` has no `/v1` and no query."""
        with self._lock:
            parts = path.strip("/").split("/")
            if parts[0] == "files" and parts[-1] == "content" and parts[1] in self._files:
                return 200, self._files[parts[1]]
            if parts == ["batches"]:
                return _json({"data": [self._openai(b) for b in self._newest()], "has_more": False})
            if parts[0] == "batches" and parts[1] in self.batches:
                return _json(self._openai(self.batches[parts[1]]))
            if parts == ["messages", "batches"]:
                return _json({"data": [self._anthropic(b) for b in self._newest()]})
            if parts[:2] == ["messages", "batches"] and parts[2] in self.batches:
                batch = self.batches[parts[2]]
                if parts[-1] != "results":
                    return _json(self._anthropic(batch))
                if not self._ended(batch):
                    return _error(404, "results are not there yet")
                return 200, b"".join(_anthropic_line(*one) for one in batch.results or ())
        return _error(404, f"no {path}")

    def post(self, path: str, headers: Mapping[str, str], raw: bytes) -> Response | None:
        """What a POST gives; None for a path that is none of the batch interfaces'."""
        with self._lock:
            if path == "/files":
                return self._upload(headers.get("content-type", ""), raw)
            if path == "/batches":
                return self._create(json.loads(raw))
            if path == "/messages/batches":
                requests = [
                    (one["custom_id"], one["params"]) for one in json.loads(raw)["requests"]
                ]
                return self._started(requests, {}) if requests else _error(400, "requests: empty")
        return None

    def _newest(self) -> list[_Batch]:
        return sorted(self.batches.values(), key=lambda one: one.made, reverse=True)

    def _upload(self, kind: str, raw: bytes) -> Response:
        mark = kind.partition("boundary=")[2].encode()
        if not kind.startswith("multipart/form-data") or not mark:
            return _error(400, "a file is uploaded as multipart/form-data")
        form = {}
        for part in raw.split(b"--" + mark)[1:-1]:
            head, _, content = part.partition(b"\r\n\r\n")
            named = re.search(rb'name="([^"]+)"', head)
            form[named[1].decode() if named else ""] = content.removesuffix(b"\r\n")
        if form.get("purpose") != b"batch" or "file" not in form:
            return _error(400, "purpose and file are needed")
        name = f"file-{len(self._files)}"
        self._files[name] = form["file"]
        return _json({"id": name, "object": "file", "status": "processed", "purpose": "batch"})

    def _create(self, body: Mapping[str, Any]) -> Response:
        content = self._files.get(body.get("input_file_id", ""))
        if content is None:
            return _error(400, "no such file")
        if body.get("completion_window") != "24h":
            return _error(400, "completion_window must be 24h")
        requests = []
        for text in content.splitlines():
            line = json.loads(text)
            if line["method"] != "POST" or line["url"] != body.get("endpoint"):
                return _error(400, "a line's url is not the batch's endpoint")
            requests.append((line["custom_id"], line["body"]))
        return self._started(requests, {"metadata": body.get("metadata") or {}})

    def _started(
        self, requests: list[tuple[str, dict[str, Any]]], more: dict[str, Any]
    ) -> Response:
        ids = [key for key, _ in requests]
        if len(set(ids)) < len(ids) or not all(_CUSTOM_ID.fullmatch(key) for key in ids):
            return _error(400, "custom_id: not unique, or not of its form")
        if len(requests) > self._most:
            return _error(400, f"a batch has at most {self._most} requests")
        now = time.time()
        batch = _Batch(
            id=f"batch_{len(self.batches)}", made=now, ends=now + self._seconds, requests=requests,
            more=more,
        )  # fmt: skip
        self.batches[batch.id] = batch
        return _json(self._openai(batch) if "metadata" in more else self._anthropic(batch))

    def _ended(self, batch: _Batch) -> bool:
        if batch.results is None and time.time() >= batch.ends:
            found = []
            for key, body in batch.requests:
                status, content = self._answer(body, "metadata" not in batch.more)
                found.append((key, status, json.loads(content)))
            batch.results = found
            for name, succeeded in (("out", True), ("err", False)):
                lines = [_openai_line(*one) for one in found if (one[1] == 200) is succeeded]
                if lines:
                    self._files[f"{batch.id}-{name}"] = b"".join(lines)
        return batch.results is not None

    def _openai(self, batch: _Batch) -> dict[str, Any]:
        ended = self._ended(batch)
        good = sum(status == 200 for _, status, _ in batch.results or ())
        files = {
            f"{kind}_file_id": f"{batch.id}-{name}" if f"{batch.id}-{name}" in self._files else None
            for kind, name in (("output", "out"), ("error", "err"))
        }
        return {
            "id": batch.id, "object": "batch", "status": "completed" if ended else "in_progress",
            "created_at": int(batch.made), **files, **batch.more,
            "request_counts": {
                "total": len(batch.requests), "completed": good,
                "failed": len(batch.requests) - good if ended else 0,
            },
        }  # fmt: skip

    def _anthropic(self, batch: _Batch) -> dict[str, Any]:
        ended = self._ended(batch)
        good = sum(status == 200 for _, status, _ in batch.results or ())
        return {
            "id": batch.id, "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "created_at": datetime.fromtimestamp(batch.made, UTC).isoformat(),
            "request_counts": {
                "processing": 0 if ended else len(batch.requests), "succeeded": good,
                "errored": len(batch.requests) - good if ended else 0,
                "canceled": 0, "expired": 0,
            },
        }  # fmt: skip


class BatchServer(FaultServer):
    """A `FaultServer` that has batch interfaces too.

    Requests in batches are answered by the same script when the batch ends.
    """

    def __init__(self, script: Script, *, seconds: float = 0.0, most: int = 50_000) -> None:
        """Take the script, how long a batch takes, and how many requests it may have."""
        super().__init__(script)
        self.batches = BatchEndpoints(self._in_a_batch, seconds=seconds, most=most)

    def other_request(
        self, method: str, path: str, headers: Mapping[str, str], raw: bytes
    ) -> Response | None:
        """The answers of the batch interfaces."""
        if method == "GET":
            return self.batches.get(path)
        return self.batches.post(path, headers, raw)

    def _in_a_batch(self, body: dict[str, Any], anthropic: bool) -> Response:
        reply = self.reply_to(body, {})
        payload = reply.message_payload if anthropic else reply.payload
        return reply.status, payload(str(body.get("model", "")))


def _openai_line(key: str, status: int, body: Any) -> bytes:
    response = {"status_code": status, "request_id": key, "body": body}
    line = {"id": key, "custom_id": key, "response": response, "error": None}
    return json.dumps(line).encode() + b"\n"


def _anthropic_line(key: str, status: int, body: Any) -> bytes:
    if status == 200:
        result: dict[str, Any] = {"type": "succeeded", "message": body}
    else:
        kind = "invalid_request_error" if status == 400 else "api_error"
        detail = {"type": kind, "message": body["error"]["message"]}
        result = {"type": "errored", "error": {"type": "error", "error": detail}}
    return json.dumps({"custom_id": key, "result": result}).encode() + b"\n"


def _json(body: Mapping[str, Any]) -> Response:
    return 200, json.dumps(body).encode()


def _error(status: int, message: str) -> Response:
    return status, json.dumps({"error": {"message": message, "type": "invalid"}}).encode()
