"""Fetching, from a server on this machine: what is kept, what is refused, what is said."""

from __future__ import annotations

import io
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from markscheme.errors import DataError, UnknownNameError
from markscheme_research.datasets import fetch
from markscheme_research.datasets.catalogue import Dataset, File

BODY = b'{"question": "who", "answer": ["a"]}\n' * 5000


def archive() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as opened:
        for name, content in (("inner/dev.json", b"dev"), ("inner/train.json", b"train")):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            opened.addfile(member, io.BytesIO(content))
    return packed.getvalue()


class Handler(BaseHTTPRequestHandler):
    hits: list[str]

    def do_GET(self) -> None:
        Handler.hits.append(self.path)
        if self.path == "/missing":
            self.send_error(404)
            return
        body = archive() if self.path == "/archive" else BODY
        self.send_response(200)
        if self.path != "/unannounced":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.path == "/cut" else body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    Handler.hits = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def entry(*files: File) -> Dataset:
    return Dataset(
        name="made-up",
        title="A set for tests",
        format="nq-open",
        homepage="https://example.org/made-up",
        licence="none",
        citation="none",
        folders=("made-up",),
        files=files,
        counts={},
    )


def good(address: str) -> File:
    return File(
        name="part/one.jsonl", address=address, sha256=sha256(BODY).hexdigest(), size=len(BODY)
    )


def left(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_good_file_is_checked_and_put_in_place(server: str, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    made = entry(good(f"{server}/good"))
    paths = fetch(made, data_dir=tmp_path, progress=lambda *step: told.append(step))
    assert paths == [tmp_path / "made-up" / "part" / "one.jsonl"]
    assert paths[0].read_bytes() == BODY
    assert paths[0].stat().st_mode & 0o777 == 0o644
    assert left(tmp_path) == ["made-up/part/one.jsonl"]
    assert told[-1] == ("part/one.jsonl", len(BODY), len(BODY))
    before = len(Handler.hits)
    assert fetch(made, data_dir=tmp_path) == paths
    assert len(Handler.hits) == before


def test_a_server_that_announces_no_length_is_fine(server: str, tmp_path: Path) -> None:
    fetch(entry(good(f"{server}/unannounced")), data_dir=tmp_path)
    assert left(tmp_path) == ["made-up/part/one.jsonl"]


def test_a_wrong_checksum_keeps_nothing(server: str, tmp_path: Path) -> None:
    wrong = replace(good(f"{server}/good"), sha256="0" * 64)
    with pytest.raises(DataError, match="is not the file recorded for made-up") as error:
        fetch(entry(wrong), data_dir=tmp_path)
    assert "0" * 64 in str(error.value)
    assert "https://example.org/made-up" in str(error.value)
    assert left(tmp_path) == []


def test_a_missing_page_names_the_address_and_the_homepage(server: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"answered 404 .*/missing; see https://example.org"):
        fetch(entry(good(f"{server}/missing")), data_dir=tmp_path)
    assert left(tmp_path) == []


def test_a_cut_connection_keeps_nothing(server: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"broke off after .* of .* bytes|cannot download"):
        fetch(entry(replace(good(f"{server}/cut"), sha256="")), data_dir=tmp_path)
    assert left(tmp_path) == []


def test_without_a_network_the_error_says_where_to_put_the_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot download") as error:
        fetch(entry(good("http://127.0.0.1:9/none")), data_dir=tmp_path)
    assert str(tmp_path / "made-up" / "part" / "one.jsonl") in str(error.value)
    assert left(tmp_path) == []


def test_a_different_file_is_not_overwritten_unless_forced(server: str, tmp_path: Path) -> None:
    path = tmp_path / "made-up" / "part" / "one.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    made = entry(good(f"{server}/good"))
    with pytest.raises(DataError, match="move it away, or pass --force"):
        fetch(made, data_dir=tmp_path)
    assert path.read_text() == "mine"
    fetch(made, data_dir=tmp_path, force=True)
    assert path.read_bytes() == BODY


def test_members_of_one_archive_need_one_download(server: str, tmp_path: Path) -> None:
    dev, train, none = (
        File(name=f"{name}.json", address=f"{server}/archive", member=f"inner/{name}.json")
        for name in ("dev", "train", "none")
    )
    before = len(Handler.hits)
    paths = fetch(entry(dev, train), data_dir=tmp_path)
    assert len(Handler.hits) == before + 1
    assert [path.read_text() for path in paths] == ["dev", "train"]
    with pytest.raises(DataError, match=r"no readable file 'inner/none\.json'"):
        fetch(entry(none), data_dir=tmp_path)
    assert left(tmp_path) == ["made-up/dev.json", "made-up/train.json"]


def test_one_file_can_be_chosen_and_unpublished_ones_are_passed_over(
    server: str, tmp_path: Path
) -> None:
    made = entry(
        good(f"{server}/good"), File(name="two", address=f"{server}/two"), File(name="private")
    )
    assert fetch(made, data_dir=tmp_path, files=["two"]) == [tmp_path / "made-up" / "two"]
    assert left(tmp_path) == ["made-up/two"]
    with pytest.raises(UnknownNameError, match="no published file of made-up named 'private'"):
        fetch(made, data_dir=tmp_path, files=["private"])


def test_only_web_addresses_are_opened(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a web address"):
        fetch(entry(good("file:///etc/hostname")), data_dir=tmp_path)


def test_a_folder_that_cannot_be_written_is_named(server: str, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(DataError, match=r"cannot write .* choose another folder with --data-dir"):
        fetch(entry(good(f"{server}/good")), data_dir=blocked / "below")


def test_the_command_fetches_with_progress(
    server: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from markscheme.cli import run

    monkeypatch.setattr(
        "markscheme_research.datasets.dataset", lambda name: entry(good(f"{server}/good"))
    )
    assert run(["datasets", "fetch", "made-up", "--data-dir", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == str(tmp_path / "made-up" / "part" / "one.jsonl")
    assert "part/one.jsonl" in printed.err
    assert "licence: none" in printed.err
