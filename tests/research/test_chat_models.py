"""`hf:` chat models: found by the entry point that the package declares."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from markscheme.contract import ChatRequest, Image, Message
from markscheme.models import ModelOptions, Models
from markscheme_research.transformers_models import HuggingFaceChat

PROJECT = Path(__file__).parents[2] / "packages" / "research" / "pyproject.toml"


@pytest.fixture
def chat_points(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The chat models that the research package declares, whether or not it is installed anew."""
    points = tomllib.loads(PROJECT.read_text())["project"]["entry-points"]["markscheme.chat_models"]
    folder = tmp_path_factory.mktemp("points")
    info = folder / "declared-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: declared\nVersion: 1.0\n")
    lines = "".join(f"{name} = {value}\n" for name, value in points.items())
    (info / "entry_points.txt").write_text(f"[markscheme.chat_models]\n{lines}")
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.usefixtures("chat_points")
def test_the_research_package_opens_folders_of_weights(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "training.bin").write_bytes(b"of a trainer")
    ledger = str(tmp_path / "ledger.sqlite")
    models = Models(options=ModelOptions(model=f"hf:{tmp_path}", ledger=ledger))
    chat = models._source(None)
    assert isinstance(chat, HuggingFaceChat)
    assert (chat.name, chat.folder) == (f"hf:{tmp_path}", str(tmp_path))
    first = chat.revision
    (tmp_path / "training.bin").write_bytes(b"later")
    assert HuggingFaceChat(name=chat.name).revision == first
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    assert HuggingFaceChat(name=chat.name).revision != first
    assert HuggingFaceChat(name="hf:some/name").revision == ""


@pytest.mark.usefixtures("chat_points")
def test_weights_in_this_process_take_no_images(tmp_path: Path) -> None:
    image = Image(media_type="image/png", sha256="0" * 64, size=9, width=4, height=3)
    looking = ChatRequest(messages=(Message(role="user", content="Look.", images=(image,)),))
    ledger = str(tmp_path / "ledger.sqlite")
    models = Models(options=ModelOptions(model="hf:nowhere", ledger=ledger))
    (reply,) = models.chat().complete([looking])
    models.close()
    assert (reply.status, reply.error) == ("failed", "hf:nowhere: models here take no images")
