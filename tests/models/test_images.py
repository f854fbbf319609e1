"""Images in rows: what is sent, what never is, what the ledger knows, what they may cost."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import markscheme
from batch_endpoints import BatchServer
from markscheme.contract import ChatRequest, Image, Message
from markscheme.errors import JudgeError
from markscheme.models import ModelOptions, Models, ServerOptions
from markscheme.models.chat import ScriptedChat, UnusableImageError, image_at, write_batch
from markscheme.models.chat.images import kind_and_size
from markscheme.models.chat.profiles import model_table
from markscheme.models.chat.token_counts import image_tokens, rough_tokens
from markscheme.models.chat.wire import Sending, wire_of
from markscheme.models.ledger import failure_reasons, request_from, request_record
from markscheme.models.ledger.ledger import LedgerEntry, key_of
from markscheme.testing import FaultServer, ServerReply

PROMPT = """summary = "By the chart."
parser = "yes_no"
images = ["chart"]
user = "{{ question }} {{ answer }} Reply Yes or No."
"""


def png(width: int, height: int, shade: int = 0) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress((b"\0" + bytes([shade] * 3 * width)) * height)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts" / "a.png").write_bytes(png(64, 48))
    (tmp_path / "charts" / "b.png").write_bytes(png(64, 48, shade=200))
    (tmp_path / "secret.png").write_bytes(png(8, 8))
    (tmp_path / "look.toml").write_text(PROMPT)
    return tmp_path


def judge_at(place: Path, **more: str) -> str:
    given = {"image_folder": str(place / "charts"), **more}
    inside = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return f"llm_prompt(prompt={str(place / 'look.toml')!r}, {inside})"


def row(chart: Any, **more: Any) -> dict[str, Any]:
    return {"question": "How high is bar 3?", "references": ["4"], "answer": "four",
            "chart": chart, **more}  # fmt: skip


def models_at(place: Path, url: str, model: str = "gpt-4o", **more: Any) -> Models:
    return Models(
        options=ModelOptions(
            model=model, ledger=str(place / "ledger.sqlite"),
            server=ServerOptions(base_url=url, retries=0), **more,
        )
    )  # fmt: skip


PARTS = {
    "chat": lambda data: {"type": "image_url",
                          "image_url": {"url": f"data:image/png;base64,{data}"}},
    "responses": lambda data: {"type": "input_image",
                               "image_url": f"data:image/png;base64,{data}"},
    "messages": lambda data: {"type": "image", "source": {
        "type": "base64", "media_type": "image/png", "data": data}},
    "gemini": lambda data: {"inlineData": {"mimeType": "image/png", "data": data}},
}  # fmt: skip


@pytest.mark.parametrize("protocol", PARTS)
def test_each_protocol_gets_its_own_image_parts_before_the_text(place: Path, protocol: str) -> None:
    names = {"chat": "m", "responses": "openai-responses:m", "messages": "anthropic:m"}
    profile = model_table().profile(names.get(protocol, "gemini:m"))
    image = image_at("a.png", place / "charts")
    request = ChatRequest(
        messages=(
            Message(role="system", content="Be strict."),
            Message(role="user", content="Look.", images=(image,)),
        )
    )
    body = wire_of(profile).body(Sending(request=request, profile=profile, limit=10))
    data = base64.b64encode(png(64, 48)).decode()
    turn = (body.get("messages") or body.get("input") or body.get("contents"))[-1]
    parts = turn.get("content") or turn.get("parts")
    assert parts[0] == PARTS[protocol](data)
    assert parts[1]["text"] == "Look."
    assert len(parts) == 2


def test_images_are_sent_and_the_ledger_knows_them_by_their_bytes(place: Path) -> None:
    with FaultServer([ServerReply(content="Yes")]) as server:
        models = models_at(place, server.url)
        inline = "data:image/png;base64," + base64.b64encode(png(5, 5)).decode()
        rows = [row("a.png", id="1"), row(["a.png", "b.png"], id="2"), row(inline, id="3")]
        found = markscheme.judge(rows, judge_at(place), models=models).judgments
        models.close()
        assert found["verdict"].to_list() == [True, True, True]
        sent = [len(body["messages"][-1]["content"]) for body in server.requests]
        assert sorted(sent) == [2, 2, 3]

        # The same bytes under another name are known; other bytes under the same name are not.
        (place / "charts" / "copy.png").write_bytes(png(64, 48))
        models = models_at(place, server.url)
        markscheme.judge([row("copy.png")], judge_at(place), models=models)
        assert len(server.requests) == 3
        (place / "charts" / "a.png").write_bytes(png(64, 48, shade=7))
        markscheme.judge([row("a.png")], judge_at(place), models=models)
        models.close()
        assert len(server.requests) == 4
    stored = (place / "ledger.sqlite").read_bytes()
    assert base64.b64encode(png(64, 48))[:60] not in stored
    assert png(64, 48)[:40] not in stored


def test_any_prompted_judge_may_look_and_none_does_unless_asked(place: Path) -> None:
    chat = ScriptedChat(replies=lambda _: "Yes")
    rows = [row("a.png", id="1"), row("b.png", id="2")]
    folder = str(place / "charts")
    plain = markscheme.judge(rows, "llm_evouna", models=Models(chat=chat))
    assert [one.images for one in chat.seen] == [()]  # Equal rows without the column, asked once.
    looking = f"llm_evouna(images=[chart], image_folder={folder!r})"
    seen = markscheme.judge(rows, looking, models=Models(chat=chat))
    assert [len(one.images) for one in chat.seen[1:]] == [1, 1]
    assert plain.judgments["verdict"].to_list() == seen.judgments["verdict"].to_list()
    assert plain.judgments["signature"][0] != seen.judgments["signature"][0]


UNSENT = {
    "../secret.png": "is outside",
    "link.png": "is outside",
    "/etc/passwd": "is outside",
    "nothing.png": "there is no 'nothing.png'",
    "pipe.png": "is not a file",
    "text.png": "is no PNG, JPEG, GIF or WebP",
    "wide.png": "is 9,000 x 2 pixels, and at most 8,000",
    "large.png": "bytes, and at most 3,932,160 are sent",
    "https://example.org/a.png": "is an address, and nothing is fetched",
    "file:///etc/passwd": "is an address",
    "data:image/png;base64,!!": "not valid base64",
    "data:image/png;base64,AAAA": "is no PNG",
    ".": "is not a file",
    "x" * 5000: "there is no",
}


def test_what_lies_elsewhere_or_is_no_image_is_never_sent(place: Path) -> None:
    charts = place / "charts"
    (charts / "link.png").symlink_to(place / "secret.png")
    (charts / "text.png").write_text("secret words")
    (charts / "wide.png").write_bytes(png(9000, 2))
    (charts / "large.png").write_bytes(png(4, 4) + b"\0" * 4_000_000)
    os.mkfifo(charts / "pipe.png")
    chat = ScriptedChat(replies=lambda _: "Yes")
    rows = [row(cell, id=str(n)) for n, cell in enumerate([*UNSENT, None, ["a.png", "link.png"]])]
    found = markscheme.judge(rows, judge_at(place), models=Models(chat=chat)).judgments
    assert chat.seen == []
    assert set(found["status"]) == {"skipped"}
    for why, reason in zip(
        [*UNSENT.values(), "no chart", "is outside"], found["explanation"], strict=True
    ):
        assert why in reason


def test_without_a_folder_no_path_is_read(place: Path) -> None:
    chat = ScriptedChat(replies=lambda _: "Yes")
    judge = f"llm_prompt(prompt={str(place / 'look.toml')!r})"
    rows = [row(str(place / "charts" / "a.png"))]
    found = markscheme.judge(rows, judge, models=Models(chat=chat)).judgments
    assert chat.seen == []
    assert "name its folder with image_folder=" in found["explanation"][0]


def test_an_image_that_changes_after_it_was_checked_is_not_sent(place: Path) -> None:
    path = place / "charts" / "a.png"

    def says(_body: Any, _place: int) -> ServerReply:
        path.write_bytes(png(64, 48, shade=99))  # While the first of the two is answered.
        return ServerReply(content="Yes")

    with FaultServer(says) as server:
        models = models_at(place, server.url)
        chat = models.chat()
        image = image_at("a.png", place / "charts")
        requests = [
            ChatRequest(messages=(Message(role="user", content=text, images=(image,)),))
            for text in ("one", "two")
        ]
        first = chat.complete(requests[:1])[0]
        second = chat.complete(requests[1:])[0]
        models.close()
    assert first.status == "ok"
    assert second.status == "failed"
    assert "changed during the run" in (second.error or "")
    assert len(server.requests) == 1


def test_a_model_that_cannot_look_fails_instead_of_judging_blindly(place: Path) -> None:
    with FaultServer([ServerReply(content="Yes")]) as server:
        models = models_at(place, server.url, model="base:m")
        found = markscheme.judge([row("a.png")], judge_at(place), models=models).judgments
        models.close()
        assert server.requests == []
    assert found["status"].to_list() == ["failed"]
    assert "no images" in found["explanation"][0]


def test_batches_carry_images_too(place: Path) -> None:
    with BatchServer([ServerReply(content="Yes")]) as server:
        models = models_at(place, server.url, batch=True)
        found = markscheme.judge([row("a.png")], judge_at(place), models=models).judgments
        models.close()
        assert server.requests[0]["messages"][0]["content"][0]["type"] == "image_url"
    assert found["verdict"].to_list() == [True]


def test_an_image_that_cannot_be_sent_fails_its_row_of_a_batch_file_only(place: Path) -> None:
    path = place / "charts" / "a.png"
    image = image_at("a.png", place / "charts")
    looking = ChatRequest(messages=(Message(role="user", content="Look.", images=(image,)),))
    blind = ChatRequest(messages=(Message(role="user", content="Think."),))
    path.write_bytes(png(64, 48, shade=99))
    models = Models(options=ModelOptions(model="m", ledger=str(place / "l.sqlite")))
    entries = [LedgerEntry.of("m", "", request) for request in (looking, blind)]
    counts = write_batch(entries, place / "b.jsonl", models.ledger(), models.profile("m"))
    written = [json.loads(line)["custom_id"] for line in (place / "b.jsonl").open()]
    failures = failure_reasons(models.ledger())
    models.close()
    assert (counts.done, counts.failed, written) == (1, 1, [entries[1].key])
    assert list(counts.reasons) == [reason for reason, _ in failures]
    assert "changed during the run" in failures[0][0]
    assert not list(place.glob("*.part"))


def test_images_count_in_budgets_at_the_most_that_they_may_cost(place: Path) -> None:
    bare = (Message(role="user", content="Look."),)
    image = Image(media_type="image/png", sha256="0" * 64, size=9, width=4032, height=3024)
    looking = (Message(role="user", content="Look.", images=(image,)),)
    # Tokens that providers were seen to bill for an image of this size, and of 256 x 256.
    assert rough_tokens(looking) - rough_tokens(bare) >= 14_364
    small = Image(media_type="image/png", sha256="0" * 64, size=9, width=256, height=256)
    assert image_tokens([small]) >= 1_090
    assert image_tokens([image, small], 48_169) == 2 * 48_169
    models = Models(options=ModelOptions(model="gpt-4o-mini", dry_run=True,
                                         ledger=str(place / "l.sqlite")))  # fmt: skip
    markscheme.judge([row("a.png")], judge_at(place), models=models)
    spent = models.budget.spending
    models.close()
    assert spent.tokens_in > 48_169
    assert spent.cost_usd >= 48_169 * 0.15 / 1e6

    with FaultServer([ServerReply(content="Yes")]) as server:
        capped = models_at(place, server.url, model="gpt-4o-mini", max_cost=0.005)
        found = markscheme.judge([row("a.png")], judge_at(place), models=capped).judgments
        capped.close()
        assert server.requests == []
    assert found["status"].to_list() == ["skipped"]
    assert "--max-cost" in found["explanation"][0]


def test_a_request_with_images_is_stored_without_bytes_and_has_the_same_key(place: Path) -> None:
    image = image_at("a.png", place / "charts")
    request = ChatRequest(messages=(Message(role="user", content="Look.", images=(image,)),))
    again = request_from(json.loads(json.dumps(request_record(request))))
    assert again == request
    assert key_of("m", "", again) == key_of("m", "", request)
    other = image_at("b.png", place / "charts")
    changed = ChatRequest(messages=(Message(role="user", content="Look.", images=(other,)),))
    assert key_of("m", "", changed) != key_of("m", "", request)
    bare = ChatRequest(messages=(Message(role="user", content="Look."),))
    assert "images" not in request_record(bare)["messages"][0]  # Keys of before stay.


def test_a_signature_sees_other_images(place: Path) -> None:
    chat = ScriptedChat(replies=lambda _: "Yes")
    before = markscheme.judge([row("a.png")], judge_at(place), models=Models(chat=chat))
    (place / "charts" / "a.png").write_bytes(png(64, 48, shade=1))
    after = markscheme.judge([row("a.png")], judge_at(place), models=Models(chat=chat))
    assert before.judgments["signature"][0] != after.judgments["signature"][0]


@pytest.mark.parametrize(
    ("judge", "why"),
    [
        ("llm_grader(image_folder='.')", "without images"),
        ("llm_grader(images=[chart], image_folder='no_such_folder')", "is not a folder"),
        ("llm_grader(images=[context])", "is a column of texts"),
        ("listwise(images=[chart])", "not for graded lists"),
    ],
)
def test_images_that_cannot_be_are_refused_when_the_judge_is_made(judge: str, why: str) -> None:
    with pytest.raises(JudgeError, match=why):
        markscheme.judge([row("a.png")], judge, models=Models(chat=ScriptedChat(replies={})))


def test_a_prompt_names_columns_of_images(place: Path) -> None:
    (place / "look.toml").write_text(PROMPT.replace('["chart"]', "[3]"))
    with pytest.raises(JudgeError, match="must be a list, each text"):
        markscheme.judge(
            [row("a.png")], judge_at(place), models=Models(chat=ScriptedChat(replies={}))
        )


SOF = b"\xff\xc0\x00\x11\x08\x00\x30\x00\x40\x03"
KINDS = {
    "png": png(64, 48),
    "gif": b"GIF89a\x40\x00\x30\x00\x00\x00\x00",
    "jpeg": b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xdb\x00\x02" + SOF,
    "webp": b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x3f\x00\x00\x2f\x00\x00",
}


@pytest.mark.parametrize("kind", KINDS)
def test_kind_and_size_are_read_from_the_header(kind: str) -> None:
    assert kind_and_size(KINDS[kind]) == (kind, 64, 48)


def test_the_other_two_forms_of_webp() -> None:
    head = b"RIFF\x00\x00\x00\x00WEBP"
    lossy = head + b"VP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\x40\x00\x30\x00"
    lossless = head + b"VP8L\x00\x00\x00\x00\x2f" + struct.pack("<I", 63 | 47 << 14)
    assert kind_and_size(lossy) == ("webp", 64, 48)
    assert kind_and_size(lossless) == ("webp", 64, 48)


@given(st.sampled_from(sorted(KINDS)), st.integers(0, 40), st.binary(max_size=40))
def test_damaged_headers_are_never_an_error(kind: str, keep: int, rest: bytes) -> None:
    found = kind_and_size(KINDS[kind][:keep] + rest)
    assert found is None or len(found) == 3
    encoded = base64.b64encode(KINDS[kind][:keep] + rest).decode()
    with contextlib.suppress(UnusableImageError):
        assert image_at(f"data:image/png;base64,{encoded}", None).width > 0
